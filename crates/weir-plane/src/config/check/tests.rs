//! Refusals, word by word, and what accepted routers become.

use weir_core::registry::PACKET;
use weir_document::testing::{assert_refusals, filled, names};
use weir_document::{Refused, Source};

use super::super::{Class, Mark, Outer, PriorityFrom, Route, Router, Rule, TagType, Vlan};
use super::*;

/// What the blocks of `refusals.txt` have in common.
const PARTS: [(&str, &str); 2] = [
    ("...", "weir = 1\n[router]\nname = \"r\""),
    ("{a}", "[[interface]]\nname = \"a\"\naddresses = [\"10.0.1.1/24\", \"fd00:1::1/64\"]"),
];

fn parsed(text: &str) -> Result<Router, Refused> {
    read(&Source { name: "r.toml", text: &filled(&PARTS, text) })
}

fn router(text: &str) -> Router {
    let router = parsed(text).unwrap_or_else(|error| panic!("{error}"));
    let printed = router.to_toml();
    let again = read(&Source { name: "printed", text: &printed });
    assert_eq!(again.as_ref(), Ok(&router), "{printed}");
    router
}

#[test]
fn refusals_name_line_column_key_value_and_remedy() {
    let table = include_str!("refusals.txt").replace("{disciplines}", &names(PACKET));
    assert_refusals(&table, parsed);
}

/// Every key.
const RICH: &str = r#"
weir = 1
[router]
name = "edge-1"
discipline = "drr:1514B"
memory = "8MiB"
io = "af_packet"
on_failure = "stop"
checksums = "refuse"
flows = "addresses"
defaults = "simulation"
flow_buckets = 512
flow_key = 7
spin = "20us"
metrics = "[::1]:9100"
group = "adm"
user = "weir"
workers = 2
most_neighbours = 65536
[[interface]]
name = "eth0"
addresses = ["10.0.1.1/24", "10.0.1.9/24", "fe80::1/64", "fd00:1::1/64"]
rate = "1.5Mbit"
framing = "38B"
propagation = "12.5ms"
discipline = "sfq:queues=128"
mtu = "1500B"
neighbours = { "10.0.1.2" = "02:00:00:00:00:02", "fe80::2" = "2:0:0:0:0:3" }
[[interface]]
name = "eth1"
addresses = ["10.0.2.1/31", "fe80::1/64"]
[[route]]
to = "0.0.0.0/0"
via = "10.0.1.2"
[[route]]
to = "::/0"
via = "fe80::2"
interface = "eth0"
[[route]]
to = "10.9.0.0/16"
interface = "eth1"
[[class]]
name = "voice"
from = ["10.0.1.0/24", "fd00::/8"]
to = ["10.9.0.0/16"]
protocol = "udp"
ports = [5060, "16384-32767"]
dscp = [46, 0]
[[class]]
name = "ospf"
protocol = 89
[[class]]
name = "tagged"
vlan = [8, 1]
outer = [4094]
priority = [0, 7]
set_priority = 5
set_dscp = 46
[[interface]]
name = "trunk.8"
device = "eth1"
vlan = 8
priority_from = "dscp"
addresses = ["10.0.3.1/24"]
[[interface]]
name = "double"
device = "eth1"
vlan = 8
outer = 4094
[[interface]]
name = "customers"
device = "eth0"
vlan = 1
outer = 1
outer_type = "802.1Q"
"#;

#[test]
fn every_key_is_read_and_printed() {
    let router = router(RICH);
    assert_eq!((router.memory.get(), router.flow_buckets, router.hash_key), (8 << 20, 512, Some(7)));
    assert_eq!((router.workers, router.most_neighbours), (2, 65_536));
    let eth0 = &router.interfaces[0];
    assert_eq!(eth0.discipline.to_string(), "sfq:128");
    assert_eq!((eth0.rate.map(|rate| rate.get()), eth0.propagation.get()), (Some(1_500_000), 12_500_000));
    assert_eq!((eth0.addresses.len(), eth0.neighbours.len()), (4, 2));
    assert_eq!(router.interfaces[1].discipline.name, "drr");
    let routes: Vec<String> = router.routes.iter().map(told).collect();
    let expected = [
        "10.0.1.0/24 at 0",
        "fd00:1::/64 at 0",
        "10.0.2.0/31 at 1",
        "10.0.3.0/24 at 2",
        "0.0.0.0/0 via 10.0.1.2 at 0",
        "::/0 via fe80::2 at 0",
        "10.9.0.0/16 at 1",
    ];
    assert_eq!(routes, expected);
    let names: Vec<&str> = router.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["voice", "ospf", "tagged", "default"]);
    assert_eq!(router.classes[0].rule.ports, [5060..=5060, 16384..=32767]);
}

fn told(route: &Route) -> String {
    let via = route.via.map_or(String::new(), |via| format!(" via {via}"));
    format!("{}{via} at {}", route.to, route.interface)
}

#[test]
fn what_is_not_written_has_its_default() {
    let router = router("...\n{a}");
    assert_eq!((router.memory, router.flow_buckets, router.spin), (MEMORY, FLOWS, SPIN));
    assert_eq!(router.most_neighbours, SOME_NEIGHBOURS);
    assert_eq!(router.interfaces[0].discipline.to_string(), "fifo");
    assert_eq!((router.interfaces[0].framing.get(), router.interfaces[0].rate), (14, None));
    assert_eq!(
        router.classes,
        [Class { name: "default".to_owned(), rule: Rule::default(), mark: Mark::default() }]
    );
}

#[test]
fn an_example_of_every_discipline_is_accepted() {
    for info in PACKET {
        router(&format!("...\ndiscipline = \"{}\"\n{{a}}", info.example));
    }
}

#[test]
fn a_successor_has_the_same_sockets_memory_and_files() {
    let old = router(RICH);
    let later = |from: &str, to: &str| {
        assert!(RICH.contains(from), "{from}");
        let text = RICH.replace(from, to);
        read_successor(&Source { name: "r.toml", text: &text }, &old).map_err(|error| error.to_string())
    };
    let changed = later("1.5Mbit", "2Mbit").expect("rates may change");
    assert_eq!(changed.interfaces[0].rate.map(|rate| rate.get()), Some(2_000_000));
    assert!(later("[[class]]\nname = \"ospf\"\nprotocol = 89", "").is_ok());
    let remedy = "write what it began with, or restart the daemon";
    for (from, to, expected) in [
        (
            "edge-1",
            "edge-2",
            "4:8: router.name is \"edge-2\", cannot change while the daemon runs: the daemon's name is `edge-1`",
        ),
        (
            "8MiB",
            "9MiB",
            "6:10: router.memory is \"9MiB\", cannot change while the daemon runs: it began with memory = \"8388608B\"",
        ),
        (
            "io = \"af_packet\"\n",
            "",
            "3:1: router cannot change while the daemon runs: it began with io = \"af_packet\"",
        ),
        (
            "\"stop\"",
            "\"pass\"",
            "8:14: router.on_failure is \"pass\", cannot change while the daemon runs: it began with on_failure = \"stop\"",
        ),
        (
            "9100",
            "9101",
            "15:11: router.metrics is \"[::1]:9101\", cannot change while the daemon runs: it began with metrics at [::1]:9100",
        ),
        (
            "adm",
            "users",
            "16:9: router.group is \"users\", cannot change while the daemon runs: it began with `adm`",
        ),
        (
            "user = \"weir\"",
            "user = \"nobody\"",
            "17:8: router.user is \"nobody\", cannot change while the daemon runs: it began with `weir`",
        ),
        (
            "workers = 2",
            "workers = 1",
            "18:11: router.workers is 1, cannot change while the daemon runs: it began with workers = 2",
        ),
    ] {
        assert_eq!(later(from, to).expect_err("fixed"), format!("r.toml:{expected}: {remedy}"));
    }
    let error = later(
        "[[interface]]\nname = \"eth1\"",
        "[[interface]]\nname = \"eth2\"\n[[interface]]\nname = \"eth1\"",
    );
    assert!(error.expect_err("fixed").contains("its devices are `eth0`, `eth1`"));
}

#[test]
fn a_successor_has_the_same_devices_and_its_own_vlans() {
    let old = router(RICH);
    let later = |text: &str| read_successor(&Source { name: "r.toml", text }, &old);
    let fewer =
        later(&RICH[..RICH.find("[[interface]]\nname = \"trunk").expect("there")]).expect("the same devices");
    assert_eq!(fewer.devices(), ["eth0", "eth1"]);
    assert!(later(&RICH.replace("device = \"eth1\"\nvlan = 8", "device = \"eth2\"\nvlan = 8")).is_err());
    assert!(later(&RICH.replace("device = \"eth1\"\nvlan = 8", "device = \"eth1\"\nvlan = 9")).is_ok());
}

#[test]
fn interfaces_share_devices_by_their_vlans() {
    let router = router(RICH);
    let vlan = |id, outer| Some(Vlan { id, outer });
    let outer = |id, kind| Some(Outer { id, kind });
    let vlans: Vec<_> = router.interfaces.iter().map(|it| (it.device.as_str(), it.vlan)).collect();
    let expected = [
        ("eth0", None),
        ("eth1", None),
        ("eth1", vlan(8, None)),
        ("eth1", vlan(8, outer(4094, TagType::Service))),
        ("eth0", vlan(1, outer(1, TagType::Customer))),
    ];
    assert_eq!(vlans, expected);
    assert_eq!((router.devices(), router.device_places()), (vec!["eth0", "eth1"], vec![0, 1, 1, 1, 0]));
    assert_eq!(router.interfaces[2].priority_from, PriorityFrom::Dscp);
    assert_eq!(router.vlans_of("eth0"), [None, expected[4].1]);
    let class = &router.classes[2];
    assert_eq!(
        (&class.rule.vlan, &class.rule.outer, &class.rule.priority),
        (&vec![8, 1], &vec![4094], &vec![0, 7])
    );
    assert_eq!(class.mark, Mark { priority: Some(5), dscp: Some(46) });
}

#[test]
fn long_files_and_absent_ones_are_refused() {
    let long = "#".repeat(LONGEST as usize + 1);
    let error = read(&Source { name: "r.toml", text: &long }).expect_err("too long");
    assert!(error.to_string().contains("at most 786432 are read"), "{error}");
    let error = read_file(Path::new("/nonexistent/r.toml")).expect_err("absent");
    assert!(error.to_string().starts_with("/nonexistent/r.toml: cannot be read: "), "{error}");
    assert!(read_file(Path::new("/")).is_err());
    assert!(read_file(Path::new("/dev/zero")).is_err());
}

#[test]
fn many_routes_are_read_in_no_time_and_no_more_than_that() {
    let mut text = String::from("weir = 1\nrouter.name = \"r\"\n[[interface]]\nname = \"a\"\n");
    text.push_str("addresses = [\"10.0.0.1/24\"]\n[[interface]]\nname = \"b\"\n");
    for number in 0..10_000_u32 {
        let [_, a, b, c] = number.to_be_bytes();
        text.push_str(&format!("[[route]]\nto = \"172.{a}.{b}.{c}/32\"\nvia = \"10.0.0.2\"\n"));
    }
    assert_eq!(router(&text).routes.len(), 10_001);
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
        match read(&Source { name: "r.toml", text: &text }) {
            Ok(router) => {
                let printed = router.to_toml();
                assert_eq!(read(&Source { name: "printed", text: &printed }), Ok(router), "{text}");
            }
            Err(error) => assert!(error.line.is_some() && error.column.is_some(), "{error}"),
        }
    }
}
