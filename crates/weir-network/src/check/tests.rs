//! Refusals, word by word, and what accepted networks become.

mod curves;
mod processes;

use std::path::Path;

use super::flows::{FIRST_DESTINATION, FIRST_SOURCE};
use crate::model::{
    Congestion, Delay, Drawn, Jitter, Link, NetworkScenario, Node, NodeKind, Stop, Tcp, Tick, Traffic,
};
use weir_core::item::{Addresses, ClassId};
use weir_core::registry::PACKET;
use weir_core::units::{Bytes, Nanos};
use weir_document::testing::{Folder, names};
use weir_lab::scenario::Scenario;
use weir_lab::scenario::testing::Texts;
use weir_tg::{Distribution, RandomMode};

/// With what the blocks of `refusals.txt` have in common.
const TEXTS: Texts<NetworkScenario> = Texts::new(&[
    ("...", "weir = 1\nmodel = \"network\"\ndisciplines = [\"fifo\"]"),
    ("{nodes}", "[network]\nhosts = [\"a\", \"b\"]\nrouters = [\"r\", \"s\"]"),
    (
        "{links}",
        "[[link]]\nbetween = [\"a\", \"r\"]\nrate = \"1Mbit\"\n[[link]]\nbetween = [\"r\", \"b\"]\nrate = \"1Mbit\"",
    ),
    ("{flow}", "[[flow]]\nfrom = \"a\"\nto = \"b\"\nrate = \"100kbit\"\nsize = \"1000B\""),
    ("{stop}", "[stop]\nduration = \"10s\""),
]);

#[test]
fn refusals_name_line_column_key_value_and_remedy() {
    TEXTS.assert_refusals(include_str!("refusals.txt"), &names(PACKET));
}

#[test]
fn the_file_of_a_megabyte_is_the_most_that_is_read() {
    let many = (0..60_000).map(|number| format!("\"host {number}\"")).collect::<Vec<_>>().join(", ");
    let error = TEXTS.read(&format!("...\n[network]\nhosts = [{many}]\n{{links}}\n{{flow}}\n{{stop}}"));
    let error = error.expect_err("the links are of other hosts");
    assert!(error.contains("link.between \"a\" is not a host") && error.len() < 2000, "{error}");
}

/// Every key of a network but those of data files.
const RICH: &str = r#"
weir = 1
model = "network"
title = "Two routers"
seed = 7
disciplines = ["fifo:limit=100pkt", "sfq(9)", "drr(quantum=1514B)"]
reference = "drr:1514B"
network.hosts = ["a", "b", "c"]
network.routers = ["r", "s"]
network.classes = ["control", "bulk", "default"]
network.forwarding = { constant = "0.5ms", exponential = "0.3ms" }
network.host_processing = "0.3ms"
network.addresses = { a = "10.0.2.1", b = "10.0.2.2" }

[[link]]
between = ["a", "r"]
rate = "10Mbit"
overhead = "38B"
mtu = "1500B"
discipline = "fifo(limit=50pkt)"

[[link]]
name = "trunk"
between = ["r", "s"]
rate = "1344kbit"
propagation = "5ms"
overhead = { fifo = "0.143ms", "sfq:9" = "0.252ms", default = "0s" }
jitter = "0.2ms"
ring = 2

[[link]]
between = ["s", "b"]
rate = "10Mbit"

[[link]]
from = "s"
to = "c"
rate = "10Mbit"
overhead = "0.1ms"
jitter = { exponential = "0.1ms" }

[[flow]]
from = "a"
to = "b"
class = "bulk"
gap = { exponential = "7.692ms" }
size = "782B"
stop = "245s"
tick = "10ms"

[[flow]]
name = "many"
from = "a"
to = "c"
via = ["r", "s"]
rate = "100kbit"
size = { uniform = ["100B", "300B"] }
count = 3
start = "10s"
stagger = "5s"
source_address = "10.1.0.255"
packets = 1000

[[flow]]
name = "back"
from = "b"
to = "a"
class = "control"
dscp = 46
tcp = { congestion = "cubic", packets = 1000, ecn = true, window = 64 }

[[flow]]
name = "bursts"
from = "b"
to = "a"
gap = { markov2 = [[20, { constant = "1ms" }], [1, { bounded_exponential = ["1s", "0.1s", "5s"] }]] }
size = "64B"
destination_address = "10.9.9.9"

[stop]
duration = "335s"
warm_up = "5s"
replications = 3

[measure]
intervals = ["5s", "30s", "335s"]
series = "1s"
tails = false
"#;

fn ms(count: u64) -> Nanos {
    Nanos::new(count * 1_000_000)
}

fn us(count: u64) -> Nanos {
    Nanos::new(count * 1_000)
}

fn seconds(count: u64) -> Nanos {
    ms(count * 1000)
}

#[test]
fn nodes_and_links_are_as_they_are_written() {
    let network = TEXTS.model(RICH);
    assert_eq!((network.title.as_str(), network.seed, network.reference), ("Two routers", 7, 2));
    assert_eq!(network.disciplines, ["fifo:limit=100pkt", "sfq(9)", "drr(quantum=1514B)"]);
    let kinds: Vec<_> = network.nodes.iter().map(|node| (node.name.as_str(), node.kind)).collect();
    use NodeKind::{Host, Router};
    assert_eq!(kinds, [("a", Host), ("b", Host), ("c", Host), ("r", Router), ("s", Router)]);
    let router = Delay { constant: us(500), jitter: Jitter::Exponential(us(300)) };
    assert_eq!(network.nodes[3], Node { name: "r".to_owned(), kind: Router, processing: router });
    assert_eq!(network.nodes[0].processing, Delay { constant: us(300), jitter: Jitter::None });
    let names: Vec<_> = network.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["a-r", "r-a", "trunk", "trunk reverse", "s-b", "b-s", "s-c"]);
    let ends: Vec<_> = network.links.iter().map(|link| (link.from, link.to)).collect();
    assert_eq!(ends, [(0, 3), (3, 0), (3, 4), (4, 3), (4, 1), (1, 4), (4, 2)]);
    let Link { ring, propagation, jitter, overhead, .. } = &network.links[3];
    assert_eq!((*ring, *propagation, *jitter), (2, ms(5), Jitter::Uniform(us(200))));
    assert_eq!(*overhead, [us(143), us(252), Nanos::new(0)]);
    assert_eq!(
        (network.links[0].overhead_bytes, network.links[0].mtu),
        (Bytes::new(38), Some(Bytes::new(1500)))
    );
    assert_eq!(
        (network.links[6].overhead[1], network.links[6].jitter),
        (us(100), Jitter::Exponential(us(100)))
    );
    let specs =
        |link: usize| network.links[link].disciplines.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(specs(2), ["fifo:100pkt", "sfq:9", "drr:1514B"].map(String::from).map(canonical_of));
    assert_eq!(specs(1), vec![canonical_of("fifo:50pkt".to_owned()); 3]);
}

fn canonical_of(text: String) -> String {
    weir_core::canonical::canonical(&text.parse().expect("a spec")).expect("known").to_string()
}

#[test]
fn flows_are_as_they_are_written() {
    let network = TEXTS.model(RICH);
    let names: Vec<_> = network.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["a to b", "many 1", "many 2", "many 3", "back", "bursts"]);
    assert_eq!(network.classes, ["control", "bulk", "default"]);
    let classes: Vec<_> = network.flows.iter().map(|flow| flow.class).collect();
    assert_eq!(classes, [1, 2, 2, 2, 0, 2].map(ClassId));
    let paths: Vec<_> = network.flows.iter().map(|flow| flow.path.as_slice()).collect();
    assert_eq!(paths, [[0, 2, 4], [0, 2, 6], [0, 2, 6], [0, 2, 6], [5, 3, 1], [5, 3, 1]]);
    let backs: Vec<_> = network.flows.iter().map(|flow| flow.back.len()).collect();
    assert_eq!((backs, network.flows[4].back.as_slice()), (vec![0, 0, 0, 0, 3, 0], &[0, 2, 4][..]));
    let points: Vec<_> = network.flows.iter().map(|flow| flow.dscp.get()).collect();
    assert_eq!(points, [0, 0, 0, 0, 46, 0]);
    let times: Vec<_> = network.flows[..4].iter().map(|flow| (flow.start, flow.stop)).collect();
    let end = seconds(335);
    assert_eq!(
        times,
        [(seconds(0), seconds(245)), (seconds(10), end), (seconds(15), end), (seconds(20), end)]
    );
    assert_eq!((network.flows[0].tick, network.flows[1].tick), (Some(Tick::aligned(ms(10))), None));
    let address = |a: u32, b: u32, c: u32, d: u32| (a << 24) + (b << 16) + (c << 8) + d;
    let addresses: Vec<_> = network.flows.iter().map(|flow| flow.addresses).collect();
    let of = |source, destination| Addresses { source, destination };
    assert_eq!(addresses[0], of(address(10, 0, 2, 1), address(10, 0, 2, 2)));
    assert_eq!(addresses[1], of(address(10, 1, 0, 255), FIRST_DESTINATION + 2));
    assert_eq!(addresses[2].source, address(10, 1, 1, 0));
    assert_eq!(addresses[5], of(address(10, 0, 2, 2), address(10, 9, 9, 9)));
}

#[test]
fn flows_without_addresses_differ() {
    let network = TEXTS.model("...\n{nodes}\n{links}\n{flow}\ncount = 3\n{stop}");
    let sources: Vec<_> = network.flows.iter().map(|flow| flow.addresses.source).collect();
    assert_eq!(sources, [FIRST_SOURCE + 1, FIRST_SOURCE + 2, FIRST_SOURCE + 3]);
}

#[test]
fn what_is_sent_is_as_it_is_written() {
    let network = TEXTS.model(RICH);
    let traffic = |place: usize| match &network.flows[place].traffic {
        Traffic::Drawn(drawn) => drawn.clone(),
        other => panic!("{other:?}"),
    };
    let exponential = |mean| Distribution::Exponential { mean, bounds: None };
    let expected = Drawn {
        gap: exponential(0.007_692).into(),
        size: Distribution::Constant(782.0).into(),
        packets: None,
        clock: None,
    };
    assert_eq!(traffic(0), expected);
    let size = Distribution::Uniform { min: 100.0, max: 300.0 };
    let gap = exponential(0.016).into();
    assert_eq!(traffic(2), Drawn { gap, size: size.into(), packets: Some(1000), clock: None });
    let long = Distribution::Exponential { mean: 1.0, bounds: Some((0.1, 5.0)) };
    let states = [(20.0, Distribution::Constant(0.001)), (1.0, long)];
    assert_eq!(traffic(5).gap, Distribution::Markov2(Box::new(states)).into());
    let tcp = Tcp {
        congestion: Congestion::Cubic,
        packet: Bytes::new(1500),
        packets: Some(1000),
        ecn: true,
        window: 64,
    };
    assert!(matches!(network.flows[4].traffic, Traffic::Tcp(written) if written == tcp));
}

#[test]
fn the_end_and_the_intervals_are_as_they_are_written() {
    let written = TEXTS.model(RICH);
    let stop = Stop { duration: seconds(335), warm_up: seconds(5), replications: 3 };
    assert_eq!(written.stop, stop);
    let intervals = [(5, 335), (5, 30), (30, 335)].map(|(from, to)| (seconds(from), seconds(to)));
    assert_eq!(written.measure.intervals, intervals);
    assert_eq!(
        (written.measure.series, written.measure.tails, written.measure.flows),
        (Some(seconds(1)), false, true)
    );
    let plain = TEXTS.model("...\n{nodes}\n{links}\n{flow}\ncount = 1_025\n{stop}");
    assert_eq!((plain.stop.replications, plain.measure.tails, plain.measure.flows), (8, true, false));
    assert_eq!(plain.measure.intervals, [(seconds(0), seconds(10))]);
}

#[test]
fn ties_of_paths_go_by_the_order_of_the_file() {
    let link = |a: &str, b: &str| format!("[[link]]\nbetween = [\"{a}\", \"{b}\"]\nrate = \"1Mbit\"\n");
    let text = |links: &[(&str, &str)]| {
        let links: String = links.iter().map(|(a, b)| link(a, b)).collect();
        format!("...\n{{nodes}}\n{links}{{flow}}\n{{stop}}")
    };
    let path = |links| {
        let network = TEXTS.model(&text(links));
        let names = network.flows[0].path.iter().map(|&link| network.links[link].name.clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(path(&[("a", "r"), ("a", "s"), ("r", "b"), ("s", "b")]), ["a-r", "r-b"]);
    assert_eq!(path(&[("a", "s"), ("a", "r"), ("r", "b"), ("s", "b")]), ["a-s", "s-b"]);
    assert_eq!(path(&[("a", "r"), ("r", "s"), ("s", "b"), ("r", "b")]), ["a-r", "r-b"]);
}

#[test]
fn parallel_links_need_names_and_the_first_is_taken() {
    let second = "[[link]]\nname = \"spare\"\nbetween = [\"a\", \"r\"]\nrate = \"1Mbit\"";
    let network = TEXTS.model(&format!("...\n{{nodes}}\n{{links}}\n{second}\n{{flow}}\n{{stop}}"));
    assert_eq!(network.flows[0].path, [0, 2]);
}

/// The scenario of one flow that sends as `sent` says.
fn sending(folder: &Path, sent: &str) -> Result<Scenario<NetworkScenario>, String> {
    let flow = format!("[[flow]]\nfrom = \"a\"\nto = \"b\"\n{sent}");
    TEXTS.read_in(folder, &format!("...\n{{nodes}}\n{{links}}\n{flow}\n{{stop}}"))
}

fn replayed(scenario: &Scenario<NetworkScenario>) -> Vec<(u64, u64)> {
    match &scenario.model.flows[0].traffic {
        Traffic::Replay(packets) => packets.iter().map(|(at, size)| (at.get(), size.get())).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn packets_of_a_file_are_replayed() {
    let folder = Folder::new("replay");
    folder.write("p.csv", "time,size,dir\n5,60,f\n6,1500,r\n7.5,61,f\n");
    let trace = |rest: &str| format!("trace = {{ file = \"p.csv\", time_unit = \"s\"{rest} }}");
    let forth = sending(folder.path(), &trace(", keep = { dir = \"f\" }")).expect("valid");
    assert_eq!(replayed(&forth), [(0, 60), (2_500_000_000, 61)]);
    // A turn is the 2.5 s of the file and its mean gap of 1.25 s.
    let turns = sending(folder.path(), &trace(", keep = { dir = \"r\" }, repeat = true")).expect("valid");
    assert_eq!(replayed(&turns), [1_000_000_000, 4_750_000_000, 8_500_000_000].map(|at| (at, 1500)));
    assert_ne!(forth.frame.fingerprint, turns.frame.fingerprint);
    folder.write("p.csv", "time,size,dir\n5,60,f\n6,1500,r\n7.5,62,f\n");
    let other = sending(folder.path(), &trace(", keep = { dir = \"f\" }")).expect("valid");
    assert_eq!(other.frame.scenario, forth.frame.scenario);
    assert_ne!(other.frame.fingerprint, forth.frame.fingerprint);
    let error = sending(folder.path(), &trace(", keep = { dri = \"f\" }")).expect_err("refused");
    assert!(error.contains("p.csv:1:1: dri is not a column of the file: did you mean `dir`?"), "{error}");
    folder.write("p.csv", "time,size\n5,60\n5,60\n");
    let error = sending(folder.path(), &trace(", repeat = true")).expect_err("refused");
    assert!(
        error.contains("flow.trace.repeat is true, cannot be with a file whose rows are all of one time"),
        "{error}"
    );
    folder.write("p.csv", "time,size\n0,60\n0.000000001,60\n");
    let error = sending(folder.path(), &trace(", repeat = true")).expect_err("refused");
    assert!(error.contains("at most 100000000 are kept of all flows"), "{error}");
}

#[test]
fn scripts_are_read_with_what_they_include() {
    let folder = Folder::new("script");
    let script = "on 15 udp 10.0.2.1.4000 at 5 setup include \"burst.tg\"\n";
    folder.write("x.tg", script);
    folder.write("burst.tg", "at 10 arrival exponential 0.007692 length 750 time 245\n");
    let tg = |random: &str| sending(folder.path(), &format!("tg = {{ file = \"x.tg\"{random} }}"));
    let scenario = tg(", random = \"compatible\"").expect("valid");
    let Traffic::Script(traffic, RandomMode::Compatible) = &scenario.model.flows[0].traffic else {
        panic!("a script");
    };
    assert_eq!((traffic.bursts.len(), traffic.largest_size()), (1, Bytes::new(782)));
    folder.write("burst.tg", "at 10 arrival exponential 0.007692 length 751 time 245\n");
    assert_ne!(tg(", random = \"compatible\"").expect("valid").frame.fingerprint, scenario.frame.fingerprint);
    folder.write("burst.tg", "at 10 arrival exponential 0.007692 lenght 750\n");
    let error = tg("").expect_err("refused");
    assert!(error.contains("burst.tg:1:36: "), "{error}");
    folder.write("x.tg", "on 15 udp 10.0.2.1.4000 server\n");
    let error = tg("").expect_err("refused");
    assert!(error.contains("flow.tg.file is \"x.tg\""), "{error}");
}

#[test]
fn the_packet_schedules_of_the_repository_are_read() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/packets");
    for file in std::fs::read_dir(&data).expect("packet schedules") {
        let name = file.expect("an entry").file_name().into_string().expect("plain names");
        if !name.ends_with(".csv") {
            continue;
        }
        for direction in ["f", "r"] {
            let trace = format!(
                "trace = {{ file = \"{name}\", time = \"t_ns\", time_unit = \"ns\", size = \"frame_bytes\", \
                 keep = {{ dir = \"{direction}\" }} }}"
            );
            let read = sending(&data, &trace).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(replayed(&read).len() > 10, "{name}");
        }
    }
}

#[test]
fn keys_can_be_replaced() {
    let replaced = [("stop.replications", "2"), ("reference", "sfq:9"), ("network.forwarding", "1ms")];
    let text = weir_lab::scenario::replace::keys(RICH, "s.toml", &replaced).expect("valid");
    let network = TEXTS.model(&text);
    assert_eq!((network.stop.replications, network.reference), (2, 1));
    assert_eq!(network.nodes[3].processing.constant, ms(1));
}
