//! Refusals, word by word, and what accepted fabrics become.

use std::sync::Arc;

use crate::model::{Arrivals, FabricScenario, HotSpot, Link, Pareto, Routing, Size, Stop, Switch, Topology};
use weir_core::registry::PACKET;
use weir_core::units::{Bytes, Nanos, Rate};
use weir_document::testing::{Folder, assert_bounds, grouped, names};
use weir_lab::scenario::Scenario;
use weir_lab::scenario::testing::Texts;

/// With what the blocks of `refusals.txt` have in common.
const TEXTS: Texts<FabricScenario> = Texts::new(&[
    ("...", "weir = 1\nmodel = \"fabric\"\ndisciplines = [\"fifo\"]"),
    ("{channels}", "[[channel]]\nname = \"a\"\n[[channel]]\nname = \"b\""),
    ("{traffic}", "[traffic]\nload = 0.5"),
]);

#[test]
fn refusals_name_line_column_key_value_and_remedy() {
    TEXTS.assert_refusals(include_str!("refusals.txt"), &names(PACKET));
}

#[test]
fn what_is_not_said_is_the_fabric_of_the_source() {
    let fabric = TEXTS.model("...\n{channels}\n{traffic}");
    assert_eq!(
        (fabric.topology, fabric.routing),
        (Topology::Tree { arity: 4, levels: 3 }, Routing::Deterministic)
    );
    let link = Link {
        rate: Rate::new(2_500_000_000),
        coding: (8, 10),
        propagation: Nanos::new(20),
        credit_return: Nanos::new(50),
        header: Bytes::new(8),
    };
    let switch = Switch {
        speed_up: (3, 2),
        latency: Nanos::new(145),
        input_buffer: Bytes::new(16_384),
        output_buffer: Bytes::new(16_384),
    };
    assert_eq!((fabric.link, fabric.switch), (link, switch));
    assert_eq!(fabric.interface_buffer, Bytes::new(32_768));
    assert_eq!((fabric.credit, fabric.mtu), (Bytes::new(64), Bytes::new(2048)));
    let millisecond = |count: u64| Nanos::new(count * 1_000_000);
    let stop = Stop { warm_up: millisecond(1), duration: millisecond(5), replications: 10 };
    assert_eq!((fabric.stop, fabric.tails, fabric.verify, fabric.seed), (stop, true, false, 1));
    assert_eq!((fabric.traffic.header, fabric.traffic.flow_rate), (Bytes::new(8), Rate::new(1_000_000)));
    assert_eq!((fabric.traffic.arrivals, fabric.traffic.hot_spot), (Arrivals::Poisson, None));
    assert_eq!(fabric.traffic.loads, [0.5]);
    for channel in &fabric.channels {
        let Size::Pareto(law) = channel.size else { panic!("{channel:?}") };
        assert_eq!((law.minimum, law.maximum, law.truncated), (Bytes::new(56), Bytes::new(2040), true));
        assert!((law.shape - 1.190_291).abs() < 1e-6 && channel.share == 1.0);
    }
}

/// Every key of a fabric but those of data files.
const RICH: &str = r#"
weir = 1
model = "fabric"
title = "Two leaves"
seed = 7
disciplines = ["drr(quantum=2048B,weights=4/02/1)", "scfq"]
reference = "scfq"

[fabric]
topology = { leaf_spine = { leaves = 2, spines = 3, hosts = 5 } }
routing = "adaptive_up"
mtu = "4096B"
credit = "128B"
link = { rate = "10Gbit", coding = "64b/66b", propagation = "1us", credit_return = "0ns", header = "16B" }
switch = { speed_up = 1.25, latency = "0.3us", input_buffer = "8KiB", output_buffer = "4096B" }
interface_buffer = "64KiB"

[[channel]]
name = "control"
share = 0.5
size = { constant = "56B" }

[[channel]]
name = "storage"
size = { pareto = { minimum = "100B", maximum = "4000B", shape = 1.1, bound = "capped" } }

[[channel]]
name = "rest"
share = 3

[traffic]
loads = [0.5, 1.2]
arrivals = { bursts = { shape = 1.5, cap = 1000 } }
size = { constant = "1000B" }
header = "24B"
flow_rate = "5Mbit"
hot_spot = { host = 9, share = 0.25 }

[stop]
warm_up = "0s"
duration = "2ms"
replications = 3

[measure]
tails = false
verify = true
"#;

#[test]
fn everything_is_as_it_is_written() {
    let fabric = TEXTS.model(RICH);
    assert_eq!((fabric.title.as_str(), fabric.seed, fabric.reference), ("Two leaves", 7, 1));
    assert_eq!(fabric.disciplines, ["drr(quantum=2048B,weights=4/02/1)", "scfq"]);
    assert_eq!(
        fabric.specs.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["drr:weights=4/2/1", "scfq"]
    );
    assert_eq!(fabric.topology, Topology::LeafSpine { leaves: 2, spines: 3, hosts: 5 });
    assert_eq!(fabric.routing, Routing::AdaptiveUp);
    assert_eq!((fabric.mtu, fabric.credit), (Bytes::new(4096), Bytes::new(128)));
    let link = fabric.link;
    assert_eq!((link.rate, link.coding), (Rate::new(10_000_000_000), (64, 66)));
    assert_eq!((link.propagation, link.credit_return), (Nanos::new(1000), Nanos::new(0)));
    let switch = fabric.switch;
    assert_eq!((switch.speed_up, switch.latency), ((5, 4), Nanos::new(300)));
    assert_eq!((switch.input_buffer, switch.output_buffer), (Bytes::new(8192), Bytes::new(4096)));
    assert_eq!((link.header, fabric.interface_buffer), (Bytes::new(16), Bytes::new(65_536)));
    let shares: Vec<_> =
        fabric.channels.iter().map(|channel| (channel.name.as_str(), channel.share)).collect();
    assert_eq!(shares, [("control", 0.5), ("storage", 1.0), ("rest", 3.0)]);
    assert!(matches!(fabric.channels[0].size, Size::Constant(size) if size == Bytes::new(56)));
    let law = Pareto { minimum: Bytes::new(100), maximum: Bytes::new(4000), truncated: false, shape: 1.1 };
    assert!(matches!(fabric.channels[1].size, Size::Pareto(other) if other == law));
    assert!(matches!(fabric.channels[2].size, Size::Constant(size) if size == Bytes::new(1000)));
    let traffic = &fabric.traffic;
    assert_eq!(traffic.loads, [0.5, 1.2]);
    assert_eq!(traffic.arrivals, Arrivals::Bursts { shape: 1.5, cap: 1000 });
    assert_eq!((traffic.header, traffic.flow_rate), (Bytes::new(24), Rate::new(5_000_000)));
    assert_eq!(traffic.hot_spot, Some(HotSpot { host: 9, share: 0.25 }));
    let stop = Stop { warm_up: Nanos::new(0), duration: Nanos::new(2_000_000), replications: 3 };
    assert_eq!((fabric.stop, fabric.tails, fabric.verify), (stop, false, true));
}

#[test]
fn default_buffers_hold_a_packet_of_a_large_mtu() {
    let fabric =
        TEXTS.model("...\nfabric.mtu = \"32768B\"\nfabric.credit = \"1000B\"\n{channels}\n{traffic}");
    assert_eq!(fabric.switch.input_buffer, Bytes::new(33_000));
    assert_eq!(fabric.interface_buffer, Bytes::new(33_000));
}

/// With a file of message sizes.
fn read(folder: &Folder, text: &str, cdf: &str) -> Result<Scenario<FabricScenario>, String> {
    folder.write("w.csv", cdf);
    TEXTS.read_in(folder.path(), text)
}

#[test]
fn message_sizes_come_from_a_file_that_is_part_of_the_fingerprint() {
    let folder = Folder::new("messages");
    let text = "...\n{channels}\n[traffic]\nload = 0.5\nsize = { messages = \"w.csv\" }";
    let first = read(&folder, text, "size_bytes,cdf\n0,0\n100,0.5\n10000,1\n").expect("valid");
    let channels = &first.model.channels;
    let (Size::Messages(a), Size::Messages(b)) = (&channels[0].size, &channels[1].size) else {
        panic!("{channels:?}")
    };
    assert!(Arc::ptr_eq(a, b), "a file is read once");
    assert!((a.mean() - 2550.5).abs() < 1e-6, "{}", a.mean());
    let second = read(&folder, text, "size_bytes,cdf\n0,0\n100,0.5\n10001,1\n").expect("valid");
    assert_eq!(first.frame.scenario, second.frame.scenario);
    assert_ne!(first.frame.fingerprint, second.frame.fingerprint);
    let error = read(&folder, text, "size_bytes,cdf\n0,0\n100,0.5\n").expect_err("refused");
    assert!(error.contains("w.csv:3:") && error.contains("must be 1"), "{error}");
    let bursts = format!("{text}\narrivals = {{ bursts = {{ shape = 1.5, cap = 10 }} }}");
    let error = read(&folder, &bursts, "size_bytes,cdf\n0,0\n100,1\n").expect_err("refused");
    assert!(error.contains("channel `a` has messages, which come whole"), "{error}");
    let rare = format!("...\nfabric.link.rate = \"2Mbit\"\n{}\nflow_rate = \"4bit\"", &text[4..]);
    let error = read(&folder, &rare, "size_bytes,cdf\n4000000000,0\n4294967295,1\n").expect_err("refused");
    assert!(error.contains("traffic.flow_rate: an arrival of channel `a` has 4"), "{error}");
}

#[test]
fn more_queues_than_fit_are_refused() {
    let channels: String = (0..16).map(|number| format!("[[channel]]\nname = \"{number}\"\n")).collect();
    let tree = |levels: u32| {
        TEXTS.read(&format!(
            "...\nfabric.topology = {{ tree = {{ arity = 4, levels = {levels} }} }}\n{channels}{{traffic}}"
        ))
    };
    assert!(tree(4).is_ok());
    let error = tree(7).expect_err("refused");
    assert!(error.contains("has 7602176 queues for 16 channels, must have at most 4194304"), "{error}");
}

#[test]
fn the_schema_knows_the_keys() {
    TEXTS.assert_keys(&["speed_up", "leaf_spine", "hot_spot", "credit_return", "random_per_flow"]);
}

#[test]
fn a_table_without_an_entry_for_a_channel_is_refused_by_its_name() {
    let table = |distances: &str, weights: &str| {
        let spec = format!("dtable:distances={distances},weights={weights}");
        TEXTS.read(&format!(
            "weir = 1\nmodel = \"fabric\"\ndisciplines = [\"{spec}\"]\n{{channels}}\n{{traffic}}"
        ))
    };
    table("2/4", "32cr/64cr").unwrap_or_else(|error| panic!("{error}"));
    let error = table("2", "32cr").expect_err("refused");
    assert!(error.contains("does not serve channel `b`, which is its flow 1"), "{error}");
}

#[test]
fn the_document_has_the_bounds_of_the_code() {
    use super::{hardware, topology, traffic};
    use crate::topology::{MOST_HOSTS, MOST_PORTS, MOST_SWITCHES};
    let whole = |number: f64| grouped(number as u64);
    let [mib, gib] = [hardware::MAX_BUFFER >> 20, topology::MAX_BUFFERED >> 30];
    let bounds = [
        ("`tree.arity`", format!("| 2 to {};", MOST_PORTS / 2)),
        ("`tree.arity`", grouped(MOST_HOSTS.into()) + " end-points"),
        ("`tree.arity`", grouped(MOST_SWITCHES.into()) + " switches"),
        ("`single.ports`", format!("| 2 to {MOST_PORTS} |")),
        (
            "`leaf_spine.leaves`",
            format!("| 2 to {MOST_PORTS}, 1 to {}, 1 to {MOST_PORTS} less the spines |", MOST_PORTS - 1),
        ),
        ("any topology", format!("{} queues", grouped(topology::MAX_QUEUES))),
        ("any topology", format!("{gib} GiB of buffers")),
        ("`fabric.mtu`", format!("to {}B |", grouped(hardware::MAX_MTU))),
        ("`fabric.credit`", format!("| {}B to {}B |", hardware::CREDITS.0, hardware::CREDITS.1)),
        (
            "`fabric.link.rate`",
            format!("{} Mbit/s to {} Tbit/s", hardware::RATES.0 / 1e6, hardware::RATES.1 / 1e12),
        ),
        (
            "`fabric.link.propagation`",
            format!("| 0 to {} s |", hardware::LONGEST_DELAY.get() / 1_000_000_000),
        ),
        (
            "`fabric.switch.speed_up`",
            format!("| {} to {}, three", hardware::SPEED_UPS.0, hardware::SPEED_UPS.1),
        ),
        ("`fabric.switch.input_buffer`", format!("to {mib} MiB |")),
        ("`channel`", format!("| 1 to {} |", super::MAX_CHANNELS)),
        ("`channel.share`", format!("| {} to {} |", 1.0 / traffic::MAX_SHARE, whole(traffic::MAX_SHARE))),
        ("`traffic.load`", format!("at most {}; up to {} loads", traffic::MAX_LOAD, traffic::MAX_LOADS)),
        ("`traffic.arrivals`", format!("`shape` {} to {}", traffic::BURST_SHAPES.0, traffic::BURST_SHAPES.1)),
        ("`traffic.arrivals`", format!("`cap` 1 to {} packets", grouped(traffic::MAX_BURST))),
        ("`traffic.flow_rate`", format!("up to {} flows", whole(traffic::MAX_FLOWS))),
        ("`stop.warm_up`", format!("at most {} s |", super::LONGEST_RUN.get() / 1_000_000_000)),
    ];
    assert_bounds(include_str!("../../../../docs/scenario.md"), bounds);
    for (topology, fits) in [("arity = 2, levels = 13", true), ("arity = 2, levels = 14", false)] {
        let text = format!("...\nfabric.topology = {{ tree = {{ {topology} }} }}\n{{channels}}\n{{traffic}}");
        let refused = TEXTS.read(&text).err().is_some_and(|error| error.contains("levels"));
        assert_eq!(!refused, fits, "{topology}");
    }
}
