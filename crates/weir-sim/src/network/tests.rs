//! The network end to end: closed forms, shares, determinism.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use weir_tg::Distribution;

use crate::network::model::{Delay, Jitter, NodeKind};
use crate::network::outcome::{NetworkFigure, NetworkOutcome, Scope};
use crate::network::run::{Frame, run};
use crate::network::plan::{Plan, exponential, seconds};
use crate::port::run::Control;

fn outcome_of(plan: &Plan, threads: usize) -> NetworkOutcome {
    let threads = NonZeroUsize::new(threads).expect("positive");
    let (cancel, progress) = (AtomicBool::new(false), &mut |_| ());
    let control = &mut Control { threads, cancel: &cancel, progress, records: None };
    let outcome = run(&plan.0, &Frame::default(), control).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.checks.iter().all(|check| check.ok), "{:?}", outcome.checks);
    outcome
}

fn figure<'a>(outcome: &'a NetworkOutcome, of: (Scope, &str), metric: &str) -> &'a NetworkFigure {
    let found = outcome.estimates.iter().find(|figure| {
        (figure.scope, figure.name.as_str()) == of && figure.metric == metric && figure.statistic == "mean"
    });
    found.unwrap_or_else(|| panic!("no {metric} of {of:?}"))
}

/// The figure is within four standard errors of what it should be, which are a small part of it.
fn agrees(figure: &NetworkFigure, expected: f64, share: f64) {
    let (value, error) = (figure.value.expect("a value"), figure.standard_error.expect("an error"));
    assert!((value - expected).abs() < 4.0 * error, "{figure:?} for {expected}");
    assert!(error < share * expected.max(value), "{figure:?}");
}

#[test]
fn the_wait_of_poisson_packets_of_one_size_is_that_of_the_formula() {
    // 1000 B at 8 Mbit are 1 ms; at 70 % load they wait 0.7 / (2 x 0.3) ms.
    let mut plan = Plan::new(2, &["fifo"], 200.0);
    plan.0.stop.replications = 10;
    plan.0.stop.warm_up = seconds(1.0);
    plan.0.measure.intervals[0].0 = seconds(1.0);
    plan.link((0, 1), 8_000_000, None);
    plan.flow(&[0], Plan::poisson(1e-3 / 0.7, 1_000.0));
    let outcome = outcome_of(&plan, 2);
    let wait = 0.7 / 0.6 * 1e-3;
    agrees(figure(&outcome, (Scope::Link, "N0-N1"), "wait"), wait, 0.02);
    agrees(figure(&outcome, (Scope::Flow, "F0"), "delay"), wait + 1e-3, 0.02);
    agrees(figure(&outcome, (Scope::Link, "N0-N1"), "utilisation"), 0.7, 0.01);
    // Little's law over the same time.
    agrees(figure(&outcome, (Scope::Link, "N0-N1"), "queue"), 0.7 * 0.7 / 0.6, 0.02);
}

#[test]
fn a_full_queue_loses_the_share_of_the_formula() {
    // Exponential sizes: M/M/1/K, with K the queue and the ring.
    let load: f64 = 0.9;
    for (ring, limit) in [(1, 4), (2, 3)] {
        let mut plan = Plan::new(2, &[&format!("fifo:limit={limit}pkt"), "drr"], 100.0);
        plan.0.stop.replications = 10;
        plan.link((0, 1), 80_000_000, Some(&format!("fifo:limit={limit}pkt"))).ring = ring;
        plan.flow(&[0], Plan::drawn(exponential(1e-3 / load), exponential(10_000.0)));
        let outcome = outcome_of(&plan, 2);
        let states = |n: i32| load.powi(n);
        let loss = (1.0 - load) * states(5) / (1.0 - states(6));
        agrees(figure(&outcome, (Scope::Flow, "F0"), "loss"), loss, 0.02);
    }
}

#[test]
fn what_leaves_an_exponential_server_is_poisson() {
    // Burke: the second of two servers in line waits as if it were alone. Service is the jitter of the link.
    let mut plan = Plan::new(3, &["fifo"], 400.0);
    plan.0.stop.replications = 10;
    plan.0.stop.warm_up = seconds(2.0);
    plan.0.measure.intervals[0].0 = seconds(2.0);
    for ends in [(0, 1), (1, 2)] {
        let link = plan.link(ends, 1_000_000_000_000, None);
        link.jitter = Jitter::Exponential(seconds(1e-3));
        link.propagation = seconds(5e-3);
    }
    plan.flow(&[0, 1], Plan::poisson(1e-3 / 0.6, 100.0));
    let outcome = outcome_of(&plan, 2);
    for link in ["N0-N1", "N1-N2"] {
        agrees(figure(&outcome, (Scope::Link, link), "wait"), 0.6 / 0.4 * 1e-3, 0.02);
    }
    agrees(figure(&outcome, (Scope::Flow, "F0"), "delay"), 2.0 / 0.4 * 1e-3 + 10e-3, 0.02);
}

#[test]
fn deficit_round_robin_shares_an_overloaded_link_by_its_weights() {
    let mut plan = Plan::new(2, &["drr:quantum=1500B,weights=3/1", "fifo:limit=50pkt"], 60.0);
    plan.0.stop.replications = 4;
    let own = "drr:quantum=1500B,weights=3/1";
    plan.0.disciplines[0] = own.to_owned();
    plan.link((0, 1), 8_000_000, None);
    // The drr of this test has no limit, so that its queue grows: the run is short.
    for size in [500.0, 1_500.0] {
        plan.flow(&[0], Plan::poisson(size / 1e6, size));
    }
    let outcome = outcome_of(&plan, 2);
    // Packets belong to the time they were sent in, so shares are seen in what waited.
    let wait = |name: &str| figure(&outcome, (Scope::Hop, name), "wait").value.expect("a value");
    assert!(wait("F0 @ N0-N1") < wait("F1 @ N0-N1") / 1.8, "{} {}", wait("F0 @ N0-N1"), wait("F1 @ N0-N1"));
}

fn busy_network() -> Plan {
    let mut plan = Plan::new(4, &["fifo:limit=20pkt", "sfq:queues=9,depth=20pkt", "drr"], 5.0);
    plan.0.stop.replications = 3;
    plan.0.measure.tails = true;
    plan.0.measure.series = Some(seconds(1.0));
    plan.0.measure.intervals.extend([(seconds(0.0), seconds(2.0)), (seconds(2.0), seconds(5.0))]);
    plan.0.nodes[3].kind = NodeKind::Host;
    for node in &mut plan.0.nodes {
        node.processing = Delay { constant: seconds(1e-4), jitter: Jitter::Exponential(seconds(1e-4)) };
    }
    for ends in [(0, 1), (1, 2), (2, 3)] {
        plan.link(ends, 8_000_000, None).jitter = Jitter::Uniform(seconds(1e-4));
    }
    for path in [&[0, 1, 2][..], &[1, 2], &[1], &[2]] {
        plan.flow(path, Plan::drawn(exponential(2.5e-3), Distribution::Uniform { min: 64.0, max: 1_500.0 }));
    }
    plan
}

#[test]
fn every_number_of_threads_gives_the_same_bytes() {
    let plan = busy_network();
    let text = |threads| serde_json::to_string(&outcome_of(&plan, threads)).expect("plain data");
    let one = text(1);
    assert_eq!(one, text(2));
    assert_eq!(one, text(8));
    assert!(!one.contains("NaN") && !one.contains("null,null,null,null"));
}

#[test]
fn a_replication_alone_has_values_without_intervals() {
    let mut plan = busy_network();
    plan.0.stop.replications = 1;
    let outcome = outcome_of(&plan, 1);
    let delay = figure(&outcome, (Scope::Flow, "F0"), "delay");
    assert!(delay.value.is_some() && delay.low.is_none() && delay.method.is_none());
}

#[test]
fn a_run_broken_off_at_once_says_so() {
    let (cancel, progress) = (AtomicBool::new(true), &mut |_| ());
    let control = &mut Control { threads: NonZeroUsize::MIN, cancel: &cancel, progress, records: None };
    let outcome = run(&busy_network().0, &Frame::default(), control).expect("a result");
    assert!(outcome.interrupted && outcome.replications == 0);
    assert!(outcome.estimates.iter().all(|figure| figure.value.is_some() != figure.reason.is_some()));
}
