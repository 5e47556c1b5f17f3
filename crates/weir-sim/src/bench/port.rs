//! Benchmarks of the port: whole lanes, built as a run builds them and advanced round by round.

use std::path::Path;

use crate::Scenario;
use crate::bench::{Bench, Round, Unit};
use weir_port::build::{self, Layout, Placed};
use weir_port::collector::Plan;
use weir_port::model::PortScenario;

/// The strategies of the report, in the order of its tables.
const REPORT: [&str; 13] = [
    "rr_head",
    "rr",
    "fifo",
    "alpha:1",
    "alpha:2",
    "alpha:3",
    "alpha:6",
    "alpha:10",
    "alpha:20",
    "alpha:30",
    "alpha:60",
    "alpha:100",
    "sf",
];
/// Single disciplines, by the names of their benchmarks.
const SINGLE: [(&str, &str); 5] =
    [("fifo", "fifo"), ("alpha", "alpha:10"), ("sf", "sf"), ("rr", "rr"), ("rr_head", "rr_head")];
/// Further disciplines, which only the plain engine runs.
const PLAIN: [&str; 1] = ["alpha_tracking"];
/// Disciplines of messages served whole.
const WHOLE: [&str; 5] = ["fifo", "sf", "sjf", "psjf", "hrrn"];

const OF_PACKETS: &str = "\"report\"";
const UNIFORM: &str = "{ uniform = [\"100B\", \"20kB\"] }";
const EXPONENTIAL: &str = "{ exponential = \"10kB\" }";
const BY_PACKETS: &str = "";
const BY_THE_BYTE: &str = "[service]\nrate = \"10Gbit\"";

/// Ticks of a round, and how many more where it hands over histograms at its end.
const TICKS: u64 = 1 << 17;
const TICKS_WITH_TAILS: u64 = 1 << 19;
const BATCH: u64 = 1 << 14;

const PACKETS: Unit = Unit::Rate("packets/s");
const MESSAGES: Unit = Unit::Rate("messages/s");
const TIME: Unit = Unit::Time("ns/packet");

pub(super) fn benches() -> Vec<Bench> {
    let mut all = Vec::new();
    for (name, spec) in SINGLE.into_iter().chain(PLAIN.map(|name| (name, name))) {
        all.push(Bench::new(format!("port/{name}"), PACKETS, move || plain(spec, OF_PACKETS, BY_PACKETS)));
    }
    for (name, spec) in SINGLE {
        all.push(Bench::new(format!("port/accelerated/{name}"), PACKETS, move || fast(&[spec], false)));
    }
    all.push(Bench::new("port/accelerated/13", TIME, || fast(&REPORT, false)));
    all.push(Bench::new("port/accelerated/13/tails", TIME, || fast(&REPORT, true)));
    all.push(Bench::new("port/accelerated/13/rate", PACKETS, || fast(&REPORT, false)));
    for name in WHOLE {
        all.push(Bench::new(format!("port/whole/{name}"), MESSAGES, move || whole(name, UNIFORM, false)));
    }
    all.push(Bench::new("port/whole/las", MESSAGES, || whole("las:quantum=1us", UNIFORM, false)));
    for name in ["fifo", "sf"] {
        let round = move || whole(name, EXPONENTIAL, true);
        all.push(Bench::new(format!("port/whole/{name}/exponential/tails"), MESSAGES, round));
    }
    all.push(Bench::new("port/whole/fifo/plain", MESSAGES, || plain("fifo", UNIFORM, BY_THE_BYTE)));
    all.push(Bench::new("port/fluid/ps", MESSAGES, || whole("ps", UNIFORM, false)));
    all
}

/// Poisson arrivals at 95 % load.
fn scenario(disciplines: &[&str], lengths: &str, service: &str, tails: bool) -> PortScenario {
    let text = format!(
        "weir = 1\nmodel = \"port\"\ndisciplines = {disciplines:?}\n\
         [workload]\nload = 0.95\nlengths = {lengths}\n{service}\n[measure]\ntails = {tails}\n"
    );
    let scenario = Scenario::from_toml(&text, "bench", Path::new(""));
    let scenario = scenario.expect("the scenarios of the benchmarks are valid");
    scenario.port().expect("a port").clone()
}

fn layout(scenario: &PortScenario) -> Layout {
    let plan = Plan {
        batch: BATCH,
        tails: scenario.measure.tails,
        ..Plan::means(build::metrics(scenario), scenario.classes.len())
    };
    Layout { plan, records: false }
}

/// The engine of messages served whole that a run takes.
fn whole(discipline: &str, lengths: &str, tails: bool) -> Round {
    let scenario = scenario(&[discipline], lengths, BY_THE_BYTE, tails);
    let mut placed = build::lanes(&scenario, &layout(&scenario), 0).expect("the scenario is valid");
    rounds(placed.remove(0), TICKS)
}

/// The engine that drives the contract.
fn plain(discipline: &str, lengths: &str, service: &str) -> Round {
    let scenario = scenario(&[discipline], lengths, service, false);
    let placed = build::contract(&scenario, &layout(&scenario), 0, 0);
    rounds(placed.expect("the scenario is valid"), TICKS)
}

/// The accelerated engine, all `disciplines` in lockstep.
fn fast(disciplines: &[&str], tails: bool) -> Round {
    let scenario = scenario(disciplines, OF_PACKETS, BY_PACKETS, tails);
    let mut placed = build::lanes(&scenario, &layout(&scenario), 0).expect("the scenario is valid");
    assert_eq!(placed.len(), 1, "the accelerated engine takes all of them");
    rounds(placed.remove(0), if tails { TICKS_WITH_TAILS } else { TICKS })
}

fn rounds(mut placed: Placed, ticks: u64) -> Round {
    let mut until = 0;
    Box::new(move || {
        until += ticks;
        std::hint::black_box(placed.lane.advance(until));
        ticks
    })
}
