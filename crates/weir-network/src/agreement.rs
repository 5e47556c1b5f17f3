//! Two engines, one truth: on random networks the accelerated engine does with every packet what the plain
//! engine does, and measures the same. Transfers are run by the plain engine alone, with the special forms of links and
//! without them.

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::build::{self, Job};
use crate::collector::{Collector, Fate};
use crate::job::{self, Ended};
use crate::model::{Congestion, Delay, Jitter, NodeKind, Phase, Tcp, Tick, Traffic};
use crate::plain;
use crate::plan::{Plan, exponential, seconds};
use crate::wire::LinkTally;
use proptest::prelude::*;
use weir_core::item::ClassId;
use weir_core::units::{Bytes, Nanos};
use weir_lab::control::Watch;
use weir_lab::error::RunError;
use weir_tg::Distribution;
use weir_workload::curve::Interpolation;

const DISCIPLINES: [&str; 8] = [
    "fifo",
    "fifo:limit=3pkt",
    "fifo:limit=4kB",
    "drr:quantum=500B",
    "sfq:queues=3,depth=2pkt",
    "sfq:queues=4,depth=3pkt,perturb=idle",
    "sfq:queues=5,depth=3pkt,perturb=7ms",
    "tbf(drr:quantum=300B,rate=900kbit,burst=3kB)",
];

/// A rush, a pause, and the rest: milliseconds and rates.
const RUSH: [(u64, f64); 3] = [(0, 6.0), (20, 0.0), (40, 1.0)];

/// A link in a line or past a router, as it is drawn.
#[derive(Clone, Debug)]
struct Drawn {
    skips: bool,
    rate: u64,
    ring: u32,
    discipline: usize,
    propagation: u64,
    jitter: Jitter,
}

/// A flow, as it is drawn: its first link and how many, gaps, sizes.
#[derive(Clone, Debug)]
struct Sent {
    from: usize,
    links: usize,
    kind: u8,
    tick: bool,
    start: u64,
    curve: Option<Interpolation>,
}

fn jitter() -> impl Strategy<Value = Jitter> {
    let times = [0, 1, 1_000, 500_000, 20_000_000];
    let span = prop::sample::select(times.to_vec()).prop_map(Nanos::new);
    prop_oneof![
        Just(Jitter::None),
        span.clone().prop_map(Jitter::Uniform),
        span.prop_map(Jitter::Exponential),
    ]
}

fn link() -> impl Strategy<Value = Drawn> {
    let rates = prop::sample::select(vec![400_000_u64, 1_000_000, 8_000_000, 1_000_000_000_000]);
    let spans = prop::sample::select(vec![0_u64, 1_000_000, 30_000_000]);
    (any::<bool>(), rates, 1..4_u32, 0..DISCIPLINES.len(), spans, jitter()).prop_map(
        |(skips, rate, ring, discipline, propagation, jitter)| Drawn {
            skips,
            rate,
            ring,
            discipline,
            propagation,
            jitter,
        },
    )
}

fn flow() -> impl Strategy<Value = Sent> {
    let curves = prop::sample::select(vec![None, Some(Interpolation::Constant), Some(Interpolation::Linear)]);
    (0..6_usize, 1..6_usize, 0..5_u8, any::<bool>(), 0..3_u64, curves)
        .prop_map(|(from, links, kind, tick, start, curve)| Sent { from, links, kind, tick, start, curve })
}

fn traffic(kind: u8) -> Traffic {
    let sizes = Distribution::Uniform { min: 40.0, max: 1_500.0 };
    match kind {
        0 => Plan::poisson(4e-3, 500.0),
        // Equal gaps and sizes: ties at every link.
        1 => Plan::drawn(Distribution::Constant(4e-3), Distribution::Constant(500.0)),
        2 => Plan::drawn(exponential(2e-3), sizes),
        3 => {
            let bursts = [(8.0, Distribution::Constant(0.0)), (1.0, Distribution::Constant(4e-2))];
            Plan::drawn(Distribution::Markov2(Box::new(bursts)), sizes)
        }
        _ => {
            let packets = (0..40).map(|n| (Nanos::new(n / 4 * 8_000_000), Bytes::new(100 + n * 10)));
            Traffic::Replay(std::sync::Arc::new(packets.collect()))
        }
    }
}

/// A line of routers, some of its links past a router, and flows along it.
fn plan(links: &[Drawn], flows: &[Sent], processing: Jitter, seed: u64) -> Plan {
    let mut plan = Plan::new(2 * links.len() + 1, &["fifo"], 0.3);
    plan.0.seed = seed;
    plan.0.stop.warm_up = seconds(0.05);
    plan.0.measure.tails = true;
    plan.0.measure.intervals.push((seconds(0.1), seconds(0.2)));
    for (place, node) in plan.0.nodes.iter_mut().enumerate() {
        node.kind = if place % 3 == 2 { NodeKind::Host } else { NodeKind::Router };
        let constant = Nanos::new(place as u64 % 2 * 100_000);
        node.processing = Delay { constant, jitter: processing };
    }
    let mut node = 0;
    for drawn in links {
        let to = node + if drawn.skips { 2 } else { 1 };
        let link = plan.link((node, to), drawn.rate, Some(DISCIPLINES[drawn.discipline]));
        link.ring = drawn.ring;
        link.propagation = Nanos::new(drawn.propagation);
        link.jitter = drawn.jitter;
        node = to;
    }
    for (place, sent) in flows.iter().enumerate() {
        let from = sent.from % links.len();
        let path: Vec<usize> = (from..links.len().min(from + sent.links)).collect();
        let traffic = traffic(sent.kind);
        let traffic = match sent.curve {
            None => traffic,
            Some(interpolation) => Plan::following(traffic, &RUSH, interpolation, Some(70)),
        };
        let flow = plan.flow(&path, traffic);
        flow.start = Nanos::new(sent.start * 20_000_000);
        let phase =
            if place % 3 == 0 { Phase::Random } else { Phase::At(Nanos::new(place as u64 * 3_000_000)) };
        flow.tick = sent.tick.then(|| Tick { every: Nanos::new(10_000_000), phase });
        flow.class = ClassId((place % 2) as u16);
    }
    plan.0.classes.push("other".to_owned());
    plan
}

/// Who does what.
type Played = (Vec<Fate>, Collector, Vec<LinkTally>);

const JOB: Job = Job { replication: 1, discipline: 0 };

fn played(plan: &Plan, accelerated: bool) -> Played {
    let order = build::order(&plan.0).filter(|_| accelerated);
    assert_eq!(order.is_some(), accelerated, "lines have an order");
    ended(plan, |watch| job::play(&plan.0, JOB, order.as_deref(), watch))
}

/// Plays transfers by the plain engine, over links of the special forms or without them.
fn transferred(plan: &Plan, fast: bool) -> Played {
    ended(plan, |watch| plain::play_by(&plan.0, JOB, fast, watch))
}

fn ended(plan: &Plan, play: impl FnOnce(&Watch<'_>) -> Result<Ended, RunError>) -> Played {
    let (off, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let duration = plan.0.stop.duration.get();
    let watch = Watch { cancel: &off, failed: &off, done: &done, duration };
    let Ok(Ended::Finished(collected)) = play(&watch) else {
        panic!("nobody breaks it off");
    };
    let (mut collector, links) = (collected.collector, collected.links);
    let mut fates = std::mem::take(&mut collector.fates);
    fates.sort_unstable();
    (fates, collector, links)
}

/// The same line with links back, and a transfer in the place of every flow.
fn with_transfers(mut plan: Plan, links: &[Drawn], window: u32) -> Plan {
    let there = plan.0.links.len();
    for (place, drawn) in links.iter().enumerate().rev() {
        let (from, to) = (plan.0.links[place].to, plan.0.links[place].from);
        let link = plan.link((from, to), drawn.rate, Some(DISCIPLINES[drawn.discipline % 2]));
        (link.ring, link.jitter, link.propagation) =
            (drawn.ring, drawn.jitter, Nanos::new(drawn.propagation));
    }
    for (place, flow) in plan.0.flows.iter_mut().enumerate() {
        let congestion = [Congestion::Reno, Congestion::Cubic][place % 2];
        let packets = Some([20, 300, 60][place % 3]);
        let tcp = Tcp { congestion, packet: Bytes::new(1_000), packets, ecn: place % 2 == 1, window };
        (flow.traffic, flow.tick) = (Traffic::Tcp(tcp), None);
        flow.back = flow.path.iter().rev().map(|link| 2 * there - 1 - link).collect();
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn the_engines_agree_packet_by_packet(
        links in prop::collection::vec(link(), 1..6),
        flows in prop::collection::vec(flow(), 1..14),
        processing in jitter(),
        seed in any::<u64>(),
    ) {
        let plan = plan(&links, &flows, processing, seed);
        let (plain, accelerated) = (played(&plan, false), played(&plan, true));
        prop_assert_eq!(plain.0.len() as u64, plain.1.offered, "every packet arrives or is dropped");
        for (own, other) in accelerated.0.iter().zip(&plain.0) {
            prop_assert_eq!(own, other);
        }
        prop_assert_eq!(accelerated.0.len(), plain.0.len());
        prop_assert_eq!(accelerated.1, plain.1);
        prop_assert_eq!(accelerated.2, plain.2);
    }
    #[test]
    fn transfers_fare_alike_over_links_of_special_forms(
        links in prop::collection::vec(link(), 1..5),
        flows in prop::collection::vec(flow(), 1..8),
        processing in jitter(),
        seed in any::<u64>(),
        window in 1..200_u32,
    ) {
        let plan = with_transfers(plan(&links, &flows, processing, seed), &links, window);
        let (driven, fast) = (transferred(&plan, false), transferred(&plan, true));
        prop_assert_eq!(fast.0, driven.0);
        prop_assert_eq!(fast.1, driven.1);
        prop_assert_eq!(fast.2, driven.2);
    }
}
