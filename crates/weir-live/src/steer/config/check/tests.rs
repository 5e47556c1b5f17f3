//! Refusals, word by word, and what accepted files become.

use weir_document::testing::assert_refusals;

use super::*;

/// What the blocks of `refusals.txt` begin with.
const START: (&str, &str) =
    ("...", "weir = 1\n[steer]\nname = \"kv\"\ninterface = \"eth0\"\nports = [9000]\nprocessors = \"1-7\"");

fn parsed(text: &str) -> Result<Steering, Refused> {
    read(&Source { name: "s.toml", text: &text.replace(START.0, START.1) })
}

fn steering(text: &str) -> Steering {
    let steering = parsed(text).unwrap_or_else(|error| panic!("{error}"));
    let printed = steering.to_toml();
    assert_eq!(read(&Source { name: "printed", text: &printed }).as_ref(), Ok(&steering), "{printed}");
    steering
}

#[test]
fn refusals_name_line_column_key_value_and_remedy() {
    assert_refusals(include_str!("refusals.txt"), parsed);
}

/// Every key.
const RICH: &str = r#"
weir = 1
[steer]
name = "kv"
interface = "eth0"
traffic = "udp"
ports = [9000, 9001]
policy = "dynamic_separated:add=50us,period=10ms"
processors = [4, 1, 2, 3]
queue = "2048pkt"
priority = "none"
window = "50ms"
pin = true
metrics = "127.0.0.1:9477"
group = "adm"
user = "weir"
[classes]
names = ["get", "scan"]
long = { byte = 3, at_least = 10 }
shares = [0.9, 0.1]
services = ["1.95us", "3.42us"]
[service]
field = 4
iterations = 16
reflect = true
"#;

#[test]
fn every_key_is_read_and_printed() {
    let it = steering(RICH);
    assert_eq!(
        (it.name.as_str(), it.interface.as_str(), it.ports.as_slice()),
        ("kv", "eth0", &[9000, 9001][..])
    );
    assert_eq!(it.policy.to_string(), "dynamic_separated:period=10ms");
    assert_eq!(
        (it.processors.0.as_slice(), it.queue, it.priority),
        (&[4, 1, 2, 3][..], 2048, Priority(None))
    );
    assert_eq!((it.window.get(), it.pin, it.group.as_deref()), (50_000_000, true, Some("adm")));
    assert_eq!(it.user.as_deref(), Some("weir"));
    assert_eq!(it.classes.names, ["get", "scan"]);
    assert_eq!(it.classes.rule, ClassRule::Byte { offset: 3, at_least: 10 });
    let site = it.site(4);
    assert_eq!((site.servers, site.queue, site.classes[1].service.get()), (4, Some(2048), 3_420));
    assert_eq!(it.service, Some(Service { field: 4, iterations: 16, reflect: true }));
}

#[test]
fn what_is_not_written_has_its_default() {
    let it = steering("...");
    assert_eq!((it.policy.to_string().as_str(), it.queue, it.priority), ("rr", 4096, Priority(Some(50))));
    assert_eq!((it.window, it.pin, it.service, it.metrics), (WINDOW, false, None, None));
    assert_eq!((it.classes.names.as_slice(), &it.classes.rule), (&["all".to_owned()][..], &ClassRule::One));
    assert_eq!(it.site(7).classes.len(), 1);
}

#[test]
fn other_traffic_has_no_ports() {
    let text = "weir = 1\n[steer]\nname = \"t\"\ninterface = \"e\"\nprocessors = \"0\"\ntraffic = \"encapsulated\"\n";
    assert_eq!(steering(text).traffic, Traffic::Encapsulated);
    let it = steering(&format!("{text}[classes]\nlong = {{ dscp = [8, 10] }}"));
    assert_eq!((it.classes.rule, it.classes.names.len()), (ClassRule::Dscp(vec![8, 10]), 2));
    let it = steering("...\n[classes]\nlong = { ports = [9000] }");
    assert_eq!(it.classes.rule, ClassRule::Ports(vec![9000]));
}

#[test]
fn mutations_of_a_file_are_read_or_refused_with_a_place() {
    let mut state = 7_u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..1_000 {
        let mut bytes = RICH.as_bytes().to_vec();
        for _ in 0..=draw(3) {
            let (from, to) = (draw(bytes.len()), draw(bytes.len()));
            match draw(4) {
                0 => bytes[from] = b" \"'=[]{},.:/-019azu\n"[draw(20)],
                1 => bytes.swap(from, to),
                2 => drop(bytes.drain(from..(from + 1 + draw(8)).min(bytes.len()))),
                _ => bytes.truncate(from.max(32)),
            }
        }
        let text = String::from_utf8(bytes).expect("of ASCII");
        match read(&Source { name: "s.toml", text: &text }) {
            Ok(it) => assert_eq!(read(&Source { name: "p", text: &it.to_toml() }), Ok(it), "{text}"),
            Err(error) => assert!(error.line.is_some() && error.column.is_some(), "{error}"),
        }
    }
}

#[test]
fn the_examples_are_accepted() {
    for text in [
        include_str!("../../../../../../examples/steer-udp/kv.toml"),
        include_str!("../../../../../../examples/steer-tunnels/tunnels.toml"),
    ] {
        steering(text);
    }
}
