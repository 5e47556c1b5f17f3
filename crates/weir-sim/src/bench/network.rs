//! Benchmarks of the network: whole jobs, one discipline in one replication, with all statistics but quantiles
//! (`…/tails`: with these too).

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::bench::{Bench, Round, Unit};
use weir_core::units::{Bytes, Nanos};
use weir_lab::control::Watch;
use weir_network::build::{self, Job};
use weir_network::job::{self, Collected, Ended};
use weir_network::model::{Congestion, Delay, Jitter, NetworkScenario, NodeKind, Tcp, Tick, Traffic};
use weir_network::plan::{Plan, exponential, seconds};
use weir_tg::Distribution;

/// The line of the report, and packets with which it is offered 60 % by each of three sources.
const T1: u64 = 1_344_000;
const SIZE: f64 = 782.0;
const GAP: f64 = 0.007_692;

/// The disciplines at the bottleneck.
const BOTTLENECK: [(&str, &str); 5] = [
    ("fifo", "fifo:limit=100pkt"),
    ("sfq", "sfq:queues=9,depth=100pkt,hash=xor"),
    ("sfq_keyed", "sfq:queues=9,depth=100pkt,hash=keyed"),
    ("drr", "drr:quantum=2048B"),
    ("bytes", "fifo:limit=78200B"),
];

/// The disciplines at the links of transfers.
const QUEUES: [(&str, &str); 2] = [("fifo", "fifo:limit=1000pkt"), ("fq_codel", "fq_codel")];

pub(super) fn benches() -> Vec<Bench> {
    let (packets, hops) = (Unit::Rate("packets/s"), Unit::Rate("packet-hops/s"));
    let mut all = Vec::new();
    for (name, spec) in BOTTLENECK {
        if name != "drr" {
            all.push(Bench::new(format!("network/line/{name}"), packets, move || offered(line(spec, false))));
        }
    }
    all.push(Bench::new("network/line/fifo/tails", packets, || offered(line(BOTTLENECK[0].1, true))));
    all.push(Bench::new("network/line/fifo/plain", packets, || plain(line(BOTTLENECK[0].1, false))));
    all.push(Bench::new("network/many/fifo", hops, || transmitted(many(BOTTLENECK[0].1))));
    all.push(Bench::new("network/many/drr", hops, || transmitted(many(BOTTLENECK[3].1))));
    for (name, spec) in QUEUES {
        all.push(Bench::new(format!("network/tcp/1/{name}"), hops, move || {
            transmitted(transfers(spec, 1, 100, 1.0))
        }));
        all.push(Bench::new(format!("network/tcp/10/{name}"), hops, move || {
            transmitted(transfers(spec, 10, 1000, 0.5))
        }));
    }
    for (name, spec) in &BOTTLENECK[..2] {
        let unit = Unit::Rate("simulated s/s");
        all.push(Bench::new(format!("network/report/{name}"), unit, move || simulated(report(spec))));
    }
    all
}

/// Three routers in a line, the second link the bottleneck, and three Poisson sources before the first.
fn line(spec: &str, tails: bool) -> NetworkScenario {
    let mut plan = Plan::new(3, &[spec], 400.0);
    plan.0.measure.tails = tails;
    plan.link((0, 1), 10_000_000, Some("fifo:limit=100pkt")).propagation = seconds(1e-3);
    plan.link((1, 2), T1, None).propagation = seconds(1e-3);
    for _ in 0..3 {
        plan.flow(&[0, 1], Plan::poisson(GAP, SIZE));
    }
    plan.0
}

/// Ten rows of ten links, ten thousand flows over ten links each.
fn many(spec: &str) -> NetworkScenario {
    const ROWS: usize = 10;
    const LINKS: usize = 10;
    const FLOWS: usize = 10_000;
    let mut plan = Plan::new(ROWS * (LINKS + 1), &[spec], 1.0);
    plan.0.measure.flows = false;
    for link in 0..ROWS * LINKS {
        let from = link / LINKS * (LINKS + 1) + link % LINKS;
        plan.link((from, from + 1), 1_000_000_000, None).propagation = seconds(1e-3);
    }
    for flow in 0..FLOWS {
        let row = flow % ROWS * LINKS;
        let path: Vec<usize> = (row..row + LINKS).collect();
        // A thousand flows of 5 packets a second on every link.
        plan.flow(&path, Plan::poisson(0.2, SIZE));
    }
    plan.0
}

/// Transfers without end over a line of `links` links of 1 Gbit/s there, and as many back; 20 ms a round trip. They begin
/// one after the other within a tenth of a second.
fn transfers(spec: &str, links: usize, flows: usize, duration: f64) -> NetworkScenario {
    let mut plan = Plan::new(links + 1, &[spec], duration);
    let there = (0..links).map(|place| (place, place + 1));
    let back = there.clone().rev().map(|(from, to)| (to, from));
    for ends in there.chain(back) {
        plan.link(ends, 1_000_000_000, None).propagation = seconds(1e-2 / links as f64);
    }
    for host in [0, links] {
        plan.0.nodes[host].kind = NodeKind::Host;
    }
    let (path, back): (Vec<usize>, Vec<usize>) = ((0..links).collect(), (links..2 * links).collect());
    let packet = Bytes::new(1500);
    let tcp = Tcp { congestion: Congestion::Cubic, packet, packets: None, ecn: false, window: 1024 };
    for place in 0..flows {
        let flow = plan.flow(&path, Traffic::Tcp(tcp));
        flow.back.clone_from(&back);
        flow.start = seconds(0.1 * place as f64 / flows as f64);
    }
    plan.0
}

/// The report's experiment of staggered streams: a tail for each host, two bottlenecks, jitter everywhere.
fn report(spec: &str) -> NetworkScenario {
    let mut plan = Plan::new(9, &[spec], 335.0);
    plan.0.measure.tails = true;
    plan.0.measure.series = Some(seconds(1.0));
    let bounds = [0.0, 30.0, 60.0, 90.0, 120.0, 245.0, 275.0, 305.0, 335.0];
    let intervals = bounds.windows(2).map(|pair| (seconds(pair[0]), seconds(pair[1])));
    plan.0.measure.intervals.extend(intervals);
    let jitter = Jitter::Exponential(seconds(3e-4));
    for node in &mut plan.0.nodes {
        node.processing = Delay { constant: seconds(5e-4), jitter };
    }
    // SRI, AMES, LA, DC; the tails of Lawndart and LBL; Malarky, Dart5, Dart3.
    for ends in [(0, 1), (4, 1), (5, 2), (1, 2), (2, 3), (2, 8), (3, 6), (3, 7), (3, 8)] {
        let link = plan.link(ends, T1, None);
        link.propagation = seconds(2e-3);
        link.overhead = vec![Nanos::new(143_000)];
        link.overhead_bytes = Bytes::new(0);
        link.jitter = Jitter::Uniform(seconds(2e-4));
        link.ring = 2;
    }
    for (place, path) in [&[0, 3, 4, 6][..], &[2, 4, 8], &[1, 3, 4, 7], &[0, 3, 5]].into_iter().enumerate() {
        let flow = plan.flow(path, Plan::drawn(exponential(GAP), Distribution::Constant(SIZE)));
        flow.start = seconds(30.0 * place as f64);
        flow.stop = seconds(30.0 * place as f64 + 245.0);
        flow.tick = Some(Tick::aligned(seconds(1e-2)));
    }
    plan.0
}

/// Plays a replication, a new one every time.
fn play(network: &NetworkScenario, accelerated: bool, replication: &mut u32) -> Box<Collected> {
    let (off, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let duration = network.stop.duration.get();
    let watch = Watch { cancel: &off, failed: &off, done: &done, duration };
    let order = build::order(network).filter(|_| accelerated);
    *replication += 1;
    let job = Job { replication: *replication, discipline: 0 };
    match job::play(network, job, order.as_deref(), &watch) {
        Ok(Ended::Finished(collected)) => collected,
        _ => unreachable!("the networks of the benchmarks are valid, and nobody breaks them off"),
    }
}

fn rounds(network: NetworkScenario, accelerated: bool, units: fn(&Collected) -> u64) -> Round {
    let mut replication = 0;
    Box::new(move || units(&play(&network, accelerated, &mut replication)))
}

fn offered(network: NetworkScenario) -> Round {
    rounds(network, true, |collected| collected.collector.offered)
}

fn plain(network: NetworkScenario) -> Round {
    rounds(network, false, |collected| collected.collector.offered)
}

fn transmitted(network: NetworkScenario) -> Round {
    rounds(network, true, |collected| collected.links.iter().map(|tally| tally.hops).sum())
}

/// Seconds of network time.
fn simulated(network: NetworkScenario) -> Round {
    let seconds = network.stop.duration.get() / 1_000_000_000;
    let mut replication = 0;
    Box::new(move || {
        std::hint::black_box(play(&network, true, &mut replication));
        seconds
    })
}
