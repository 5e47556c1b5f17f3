//! Thousands of mutations of valid inputs: none may panic, and whatever is refused must say where and why.
//!
//! The mutations are seeded, so a failure repeats; `fuzz/` holds the same targets for open-ended runs.

use std::path::Path;

use weir_core::spec::Spec;
use weir_sim::stream::{Purpose, Stream, StreamKey};
use weir_sim::workload::{Sizes, TimeUnit, Trace, TraceFormat};
use weir_sim::{Scenario, ScenarioError};

const CASES: u32 = 20_000;

const SCENARIO: &str = r#"weir = 1
model = "port"
title = "mutated"
seed = 7
disciplines = ["fifo", "rr", "alpha:10,update=recalculate", "in_order(sf)"]
reference = "rr"

[workload]
load = 0.95
arrivals = { bursty = { peak = 3.0, burst = 20.0, quiet = 0.1 } }
lengths = { mixture = [["1460B", 0.9], ["29200B", 0.1]] }
packet = "1460B"
flows = 4

[service]
rate = "10Gbit"

[stop]
packets = 100_000
precision = "1%"
replications = 8
warm_up = "5ms"

[measure]
latency = "completion"
classes = "decile"
queue_period = "2us"
verify = true
"#;

const CLOSED: &str = r#"weir = 1
model = "port"
disciplines = ["alpha_tracking:low=1,high=100"]
service = { packet = { shifted_exponential = ["0.5u", "0.5u"] } }
workload.closed = { applications = 8, think = { exponential = "10u" } }
stop.messages = 1000
"#;

const NETWORK: &str = r#"weir = 1
model = "network"
disciplines = ["fifo:limit=10pkt", "drr:quantum=1514B"]
reference = "drr:1514B"
network.hosts = ["a", "b"]
network.routers = ["r", "s"]
network.forwarding = { constant = "1ms", exponential = "2ms" }
network.addresses = { a = "10.0.0.1" }

[[link]]
between = ["a", "r"]
rate = "1Mbit"
overhead = { fifo = "1ms", default = "0s" }
jitter = "1ms"
mtu = "1500B"

[[link]]
between = ["r", "b"]
rate = "2Mbit"
overhead = "38B"
ring = 2
discipline = "fifo"

[[flow]]
from = "a"
to = "b"
via = ["r"]
gap = { markov2 = [[5, { constant = "1ms" }], [2, { uniform = ["1ms", "9ms"] }]] }
size = { bounded_exponential = ["500B", "40B", "1500B"] }
count = 3
stagger = "1s"
stop = "8s"
tick = "10ms"

[[flow]]
from = "b"
to = "a"
class = "bulk"
tcp = { congestion = "cubic", packets = 100, window = 10 }

[stop]
duration = "10s"
warm_up = "1s"
replications = 2

[measure]
intervals = ["1s", "5s", "10s"]
series = "100ms"
flows = true
"#;

const FABRIC: &str = r#"weir = 1
model = "fabric"
disciplines = ["drr:quantum=2048B,weights=3/1", "scfq"]
reference = "scfq"

[fabric]
topology = { tree = { arity = 2, levels = 2 } }
routing = "random_per_flow"
link = { rate = "10Gbit", coding = "64b/66b", propagation = "1us" }
switch = { speed_up = 1.25, input_buffer = "8KiB" }

[[channel]]
name = "a"
share = 0.5
size = { pareto = { minimum = "56B", maximum = "1000B", mean = "176B", bound = "capped" } }

[[channel]]
name = "b"

[traffic]
loads = [0.5, 0.8]
arrivals = { bursts = { shape = 1.5, cap = 100 } }
flow_rate = "5Mbit"
hot_spot = { host = 1, share = 0.25 }

[stop]
warm_up = "1ms"
duration = "2ms"
replications = 2

[measure]
tails = false
"#;

const NODE: &str = r#"weir = 1
model = "node"
disciplines = ["epoch", "epoch:allocate=at_dispatch"]
node.names = ["x", "y"]
node.costs = { restart = "29us", swap = "119us" }
node.system = "chrysalis"
event = [{ name = "done", owner = "b.2" }]
queue = [{ name = "q", node = "y" }]

[[template]]
name = "t"
need = "10ms"
program = """
loop {
  compute exponential($work)  # each
  enqueue q; post done
}
"""

[[process]]
name = "a"
template = "t"
set = { work = "5ms" }

[[process]]
name = "b"
count = 2
node = "y"
weight = 3
program = """
loop 5 { dequeue q; compute uniform(1us, 2.5us) }
post done after 5ms
sleep until every 100ms offset 5ms; sleep 1s
exit"""

[balance]
every = "1s"

[measure]
sample = "100ms"
timeline = { from = "0s", until = "1s" }
"#;

const TRACE: &str = "# requests\ntime,length,flow,class,alpha\n0.5,100,a,x,1\n0.75,7,b,y,inf\n1.5e1,4294967295,a,\"x, y\",0.25\n";
const CDF: &str = "# sizes\nsize_bytes,prob,cdf\n8,0.25,0.25\n100,0.5,0.75\n1000,0.25,1\n";
const SPEC: &str = "outstanding(in_order(alpha(10,update=recalculate,classes=1/inf)),limit=4)";

/// What mutations put into a text: tokens of the formats, numbers at the bounds, and bytes of no format.
const PIECES: &[&str] = &[
    "",
    "0",
    "-1",
    "nan",
    "inf",
    "1e308",
    "9223372036854775807",
    "18446744073709551616",
    "0.0000000001",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "\n",
    "#",
    "u",
    "ms",
    "pkt",
    "B",
    "%",
    "0pkt",
    "\"1u\"",
    "\"0B\"",
    "true",
    "[workload]",
    "[a.b]",
    "trace = {}",
    "[[flow]]",
    "[[link]]",
    "\"r\"",
    "\"b\"",
    "{ exponential = \"1s\" }",
    "é",
    "\u{0}",
    "\u{feff}",
    "\r\n",
    "2023-11-16 18:17:03",
    "(",
    ")",
    ":",
    "/",
    ";",
    "$work",
    "loop",
    "wait any",
    "[[process]]",
    "[[event]]",
];

fn below(draws: &mut Stream, bound: usize) -> usize {
    draws.next_below(bound as u64) as usize
}

/// One to four edits: bytes removed, doubled, changed, or replaced by a piece; or the end cut off.
fn mutate(text: &str, draws: &mut Stream) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=below(draws, 4) {
        let from = below(draws, bytes.len() + 1);
        let to = (from + below(draws, 12)).min(bytes.len());
        match below(draws, 6) {
            0 => drop(bytes.drain(from..to)),
            1 => drop(bytes.splice(to..to, bytes[from..to].to_vec())),
            2 => bytes.truncate(from),
            3 if from < bytes.len() => bytes[from] = draws.next_u64() as u8,
            _ => {
                let piece = PIECES[below(draws, PIECES.len())];
                drop(bytes.splice(from..to, piece.bytes()));
            }
        }
    }
    bytes
}

/// Runs `read` over mutations of each text; it returns a refusal that must be well formed, if there is one.
/// Both outcomes must occur, or the mutations would test nothing.
fn mutations(index: u32, texts: &[&str], read: impl Fn(&[u8]) -> Result<(), ScenarioError>) {
    let mut draws = Stream::new(StreamKey { seed: 1, replication: 0, purpose: Purpose::Test, index });
    let (mut accepted, mut refused) = (0, 0);
    for case in 0..CASES {
        let bytes = mutate(texts[case as usize % texts.len()], &mut draws);
        match read(&bytes) {
            Ok(()) => accepted += 1,
            Err(error) => {
                refused += 1;
                let text = error.to_string();
                assert!(!error.reason.is_empty() && !error.remedy.is_empty(), "{text}");
                assert!(text.lines().count() == 1 && text.len() < 2000, "{text}");
            }
        }
    }
    assert!(accepted > 20 && refused > 20, "{accepted} accepted, {refused} refused");
}

#[test]
fn scenarios() {
    mutations(0, &[SCENARIO, CLOSED, NETWORK, FABRIC, NODE], |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let read = Scenario::from_toml(&text, "mutated.toml", Path::new("/nonexistent"));
        read.map(|scenario| {
            let again =
                Scenario::from_toml(&scenario.frame().scenario, "normalised", Path::new("/nonexistent"));
            assert_eq!(
                again.expect("the normalised form is valid").frame().fingerprint,
                scenario.frame().fingerprint
            );
        })
        .inspect_err(|error| assert!(error.line.is_some() && error.column.is_some(), "{error}"))
    });
}

#[test]
fn traces() {
    let format = TraceFormat::new(TimeUnit::S);
    mutations(1, &[TRACE], |bytes| {
        Trace::read(bytes, "mutated.csv", &format).map(|trace| {
            assert!(trace.times().is_sorted() && trace.lengths().iter().all(|length| *length > 0));
        })
    });
}

#[test]
fn size_distributions() {
    mutations(2, &[CDF], |bytes| {
        let read = Sizes::parse_cdf(&String::from_utf8_lossy(bytes), "mutated.csv");
        read.map(|sizes| assert!(sizes.mean() >= 1.0))
            .map_err(|error| ScenarioError::of_file("mutated.csv", error.to_string(), "none"))
    });
}

#[test]
fn specs() {
    mutations(3, &[SPEC], |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let refused = |error: weir_core::spec::SpecError| {
            let reason = error.to_string().replace(['\n', '\r'], " ");
            ScenarioError::of_file("spec", reason, "none")
        };
        let spec: Spec = text.parse().map_err(refused)?;
        assert_eq!(spec.to_string().parse::<Spec>().as_ref(), Ok(&spec));
        weir_core::registry::message_discipline::<weir_core::item::Message>(&spec).map(drop).map_err(refused)
    });
}
