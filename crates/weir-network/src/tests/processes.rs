//! Processes of packets: departures by hand, what streams they draw from, and closed forms.

use std::sync::Arc;

use super::curves::departures;
use super::{agrees, figure, outcome_of};
use crate::model::{Drawn, Gaps, Jitter, Traffic};
use crate::outcome::Scope;
use crate::plan::{Plan, seconds};
use weir_tg::Distribution;
use weir_theory::{Map, MapM1};
use weir_workload::Arrivals;
use weir_workload::arrivals::{BatchSize, Batches, MarkovArrivals, Part};
use weir_workload::curve::Interpolation::Constant;

const MILLISECOND: u64 = 1_000_000;

/// A flow of packets of 100 bytes, one each `gap` seconds in the mean.
fn traffic(arrivals: Arrivals, gap: f64) -> Traffic {
    let size = Distribution::Constant(100.0).into();
    Traffic::Drawn(Drawn { gap: Gaps::Process(arrivals, gap), size, packets: None, clock: None })
}

/// One flow over a link whose service is exponential, of mean 1 ms.
fn plan(arrivals: Arrivals, gap: f64, duration: f64) -> Plan {
    let mut plan = Plan::new(2, &["fifo"], duration);
    let link = plan.link((0, 1), 1_000_000_000_000, None);
    link.jitter = Jitter::Exponential(seconds(1e-3));
    plan.flow(&[0], traffic(arrivals, gap));
    plan
}

fn batches(of: Arrivals, size: BatchSize) -> Arrivals {
    Arrivals::Batches(Arc::new(Batches { of, size }))
}

/// From a random instant within the 3 ms between two batches on.
#[test]
fn batches_leave_together() {
    let mut plan = plan(batches(Arrivals::Deterministic, BatchSize::Constant(3)), 1e-3, 0.02);
    plan.0.flows[0].start = seconds(0.002);
    let sent = departures(&plan, 0);
    let first = sent[0];
    assert!((2 * MILLISECOND..5 * MILLISECOND).contains(&first), "{first}");
    assert_ne!(departures(&plan, 1)[0], first);
    let expected: Vec<u64> = (0..6).flat_map(|batch| [first + 3 * MILLISECOND * batch; 3]).collect();
    assert!(expected.starts_with(&sent) && sent.len() >= 15, "{sent:?}");
    // Three halves of the rate for 6 ms: a batch each 2 ms; then half of it, a batch each 6 ms.
    let steady = plan.0.flows[0].traffic.clone();
    plan.0.flows[0].traffic = Plan::following(steady, &[(0, 3.0), (6, 1.0)], Constant, Some(12));
    let sent = departures(&plan, 0);
    let fast: Vec<u64> = sent.iter().copied().filter(|&at| at < 8 * MILLISECOND).collect();
    assert!(fast.len() == 9 && fast.chunks(3).all(|batch| batch == [batch[0]; 3]), "{sent:?}");
    assert!(fast[8] - fast[5] <= 2 * MILLISECOND && fast[8] - fast[5] >= 2 * MILLISECOND - 2, "{sent:?}");
    assert!((8 * MILLISECOND..14 * MILLISECOND).contains(&sent[9]), "{sent:?}");
}

/// Parts of a process have streams of their own, which no part of another flow has.
#[test]
fn flows_of_one_process_are_independent() {
    let part = |share| Part { share, arrivals: Arrivals::Poisson };
    let several = Arrivals::Superposition(Arc::new(vec![part(0.5), part(0.5)]));
    let mut plan = plan(several.clone(), 1e-3, 1.0);
    let first = departures(&plan, 0);
    assert!((900..1100).contains(&first.len()), "{}", first.len());
    plan.flow(&[0], traffic(several, 1e-3));
    assert_eq!(departures(&plan, 0), first);
    plan.0.flows.swap(0, 1);
    plan.0.flows.remove(1);
    assert_ne!(departures(&plan, 1), first);
}

/// MAP/M/1 by matrix-geometric solution (Latouche and Ramaswami 1999).
#[test]
fn the_wait_behind_a_modulated_process_is_that_of_the_formula() {
    let (changes, rates) = (vec![vec![-0.02, 0.02], vec![0.1, -0.1]], vec![0.4, 1.6]);
    let map = Map::modulated(&changes, &rates).expect("a process");
    let formula = MapM1::new(&map, 1.0).expect("a queue");
    let arrivals = MarkovArrivals::modulated(&changes, &rates).expect("a process");
    let mut plan = plan(Arrivals::Markov(Arc::new(arrivals)), 1e-3 / map.rate(), 400.0);
    plan.0.stop.replications = 10;
    plan.0.stop.warm_up = seconds(2.0);
    plan.0.measure.intervals[0].0 = seconds(2.0);
    let outcome = outcome_of(&plan, 2);
    let (link, wait) = ((Scope::Link, "N0-N1"), formula.mean_wait() * 1e-3);
    agrees(figure(&outcome, link, "wait"), wait, 0.05);
    agrees(figure(&outcome, link, "utilisation"), formula.load(), 0.01);
}

/// Chaudhry and Templeton, *A First Course in Bulk Queues*, 1983: with batches of geometric size and mean `b`, the mean wait in
/// M^X/M/1 is `(ρ + b - 1) / (1 - ρ)` services.
#[test]
fn the_wait_behind_batches_is_that_of_the_formula() {
    let (load, mean) = (0.6, 3.0);
    let mut plan = plan(batches(Arrivals::Poisson, BatchSize::Geometric(mean)), 1e-3 / load, 400.0);
    plan.0.stop.replications = 10;
    plan.0.stop.warm_up = seconds(2.0);
    plan.0.measure.intervals[0].0 = seconds(2.0);
    let outcome = outcome_of(&plan, 2);
    let wait = (load + mean - 1.0) / (1.0 - load) * 1e-3;
    agrees(figure(&outcome, (Scope::Link, "N0-N1"), "wait"), wait, 0.03);
}
