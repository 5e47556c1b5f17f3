//! Transfers through networks, on the plain engine.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use crate::model::{Congestion, Delay, Jitter, NodeKind, Tcp, Traffic};
use crate::outcome::{NetworkOutcome, Scope};
use crate::plan::{Plan, seconds};
use crate::run::run;
use weir_core::units::Bytes;
use weir_lab::control::Control;
use weir_lab::provenance::Frame;
use weir_tg::Distribution;

fn outcome_of(plan: &Plan, threads: usize) -> NetworkOutcome {
    let threads = NonZeroUsize::new(threads).expect("positive");
    let (cancel, progress) = (AtomicBool::new(false), &mut |_| ());
    let control = &mut Control { threads, cancel: &cancel, progress, records: None };
    let outcome = run(&plan.0, &Frame::default(), control).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.checks.iter().all(|check| check.ok == Some(true)), "{:?}", outcome.checks);
    assert!(outcome.course.engines.iter().all(|used| used.engine == "plain"));
    outcome
}

fn value(outcome: &NetworkOutcome, of: (Scope, &str), metric: &str) -> f64 {
    statistic(outcome, of, (metric, "mean"))
}

fn statistic(outcome: &NetworkOutcome, of: (Scope, &str), what: (&str, &str)) -> f64 {
    let found = outcome.estimates.iter().find(|figure| {
        (figure.subject.scope, figure.subject.name.as_str()) == of
            && (figure.metric, figure.statistic) == what
    });
    found.and_then(|figure| figure.value).unwrap_or_else(|| panic!("no {what:?} of {of:?}"))
}

fn tcp(congestion: Congestion, packets: Option<u64>) -> Traffic {
    Traffic::Tcp(Tcp { congestion, packet: Bytes::new(1500), packets, ecn: false, window: 1000 })
}

/// Hosts 0 and 3, routers 1 and 2 with 12 Mbit between them: a packet a millisecond. The way there and back takes 22
/// ms plus the time in queues. Link 1 leads there, 4 back.
fn line(disciplines: &[&str], duration: f64) -> Plan {
    let mut plan = Plan::new(4, disciplines, duration);
    for ends in [(0, 1), (1, 2), (2, 3), (3, 2), (2, 1), (1, 0)] {
        let slow = matches!(ends, (1, 2) | (2, 1));
        let rate = if slow { 12_000_000 } else { 1_000_000_000 };
        let link = plan.link(ends, rate, if slow { None } else { Some("fifo") });
        link.propagation = seconds(if slow { 10e-3 } else { 0.5e-3 });
    }
    for host in [0, 3] {
        plan.0.nodes[host].kind = NodeKind::Host;
    }
    plan
}

fn transfer(plan: &mut Plan, traffic: Traffic) {
    plan.flow(&[0, 1, 2], traffic).back = vec![3, 4, 5];
}

#[test]
fn a_transfer_sends_what_it_has_once_where_nothing_is_lost() {
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        let mut plan = line(&["fifo"], 10.0);
        transfer(&mut plan, tcp(congestion, Some(3000)));
        let outcome = outcome_of(&plan, 1);
        let totals = &outcome.totals[0];
        assert_eq!((totals.offered, totals.delivered, totals.dropped), (3000, 3000, 0));
        // Three links there and, for the acknowledgements, three back.
        assert_eq!(totals.hops, 6 * 3000);
    }
}

#[test]
fn a_transfer_fills_a_line_with_a_buffer_and_waits_in_it() {
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        let mut plan = line(&["fifo:limit=30pkt"], 60.0);
        plan.0.stop.warm_up = seconds(10.0);
        plan.0.measure.intervals[0].0 = seconds(10.0);
        transfer(&mut plan, tcp(congestion, None));
        let outcome = outcome_of(&plan, 1);
        let throughput = value(&outcome, (Scope::Flow, "F0"), "throughput");
        assert!((11.6e6..12.1e6).contains(&throughput), "{congestion:?}: {throughput}");
        let loss = value(&outcome, (Scope::Flow, "F0"), "loss");
        assert!(loss > 0.0 && loss < 0.01, "{congestion:?}: {loss}");
        let delay = value(&outcome, (Scope::Flow, "F0"), "delay");
        assert!((0.012..0.042).contains(&delay), "{congestion:?}: {delay}");
    }
}

/// One transfer over 10 Mbit there and back, `one_way` seconds each way; its first 20 seconds do not count.
fn long_way(discipline: &str, congestion: Congestion, one_way: f64) -> NetworkOutcome {
    let mut plan = Plan::new(2, &[discipline], 120.0);
    plan.0.stop.warm_up = seconds(20.0);
    plan.0.measure.intervals[0].0 = seconds(20.0);
    plan.0.measure.tails = true;
    plan.0.nodes.iter_mut().for_each(|node| node.kind = NodeKind::Host);
    for ends in [(0, 1), (1, 0)] {
        plan.link(ends, 10_000_000, None).propagation = seconds(one_way);
    }
    plan.flow(&[0], tcp(congestion, None)).back = vec![1];
    outcome_of(&plan, 1)
}

#[test]
fn a_transfer_fills_a_long_way_under_codel_and_hardly_waits() {
    for (congestion, least) in [(Congestion::Reno, 0.75), (Congestion::Cubic, 0.85)] {
        let outcome = long_way("codel", congestion, 0.05);
        let utilisation = value(&outcome, (Scope::Link, "N0-N1"), "utilisation");
        assert!(utilisation >= least, "{congestion:?}: {utilisation}");
        let tail = statistic(&outcome, (Scope::Flow, "F0"), ("delay", "p99"));
        assert!(tail - 0.0512 < 0.05, "{congestion:?}: {tail}");
        let loss = value(&outcome, (Scope::Flow, "F0"), "loss");
        assert!(loss < 0.002, "{congestion:?}: {loss}");
    }
}

#[test]
fn a_transfer_fills_a_way_of_a_fifth_of_a_second() {
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        let outcome = long_way("fifo:limit=100pkt", congestion, 0.1);
        let utilisation = value(&outcome, (Scope::Link, "N0-N1"), "utilisation");
        assert!(utilisation >= 0.85, "{congestion:?}: {utilisation}");
    }
}

#[test]
fn what_is_sent_again_is_not_out_of_order() {
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        let outcome = long_way("fifo:limit=20pkt", congestion, 0.02);
        assert!(value(&outcome, (Scope::Flow, "F0"), "loss") > 0.0);
        assert_eq!(value(&outcome, (Scope::Flow, "F0"), "reordered"), 0.0);
    }
}

#[test]
fn transfers_share_a_line_where_each_has_a_queue() {
    let mut plan = line(&["sfq:queues=2,depth=30pkt,map=0/1"], 60.0);
    transfer(&mut plan, tcp(Congestion::Reno, None));
    transfer(&mut plan, tcp(Congestion::Cubic, None));
    let outcome = outcome_of(&plan, 1);
    let of = |name| value(&outcome, (Scope::Flow, name), "throughput");
    let (one, other) = (of("F0"), of("F1"));
    assert!((one / other - 1.0).abs() < 0.2, "{one} and {other}");
    assert!(one + other > 11e6, "{one} and {other}");
}

#[test]
fn a_transfer_gives_way_to_packets_that_do_not() {
    let mut plan = line(&["fifo:limit=30pkt"], 60.0);
    transfer(&mut plan, tcp(Congestion::Reno, None));
    plan.flow(
        &[1],
        Plan::drawn(Distribution::Exponential { mean: 2e-3, bounds: None }, Distribution::Constant(1500.0)),
    );
    let outcome = outcome_of(&plan, 1);
    let of = |name, metric| value(&outcome, (Scope::Flow, name), metric);
    // The transfer has what the other leaves: 6 Mbit, and what that one loses.
    let (own, lost) = (of("F0", "throughput"), of("F1", "offer") - of("F1", "throughput"));
    assert!((own - lost - 6e6).abs() < 0.6e6, "{own} and {lost} lost");
    assert!(lost < 1e6, "{lost}");
}

#[test]
fn nothing_departs_before_the_start_or_after_the_end() {
    let mut plan = line(&["fifo:limit=30pkt"], 3.0);
    transfer(&mut plan, tcp(Congestion::Cubic, None));
    plan.0.flows[0].start = seconds(0.5);
    plan.0.flows[0].stop = seconds(2.0);
    plan.0.measure.series = Some(seconds(0.5));
    let outcome = outcome_of(&plan, 1);
    let offer = outcome.series.iter().find(|series| series.metric == "offer").expect("asked for");
    let sends: Vec<bool> = offer.values.iter().map(|value| value.is_some_and(|value| value > 0.0)).collect();
    assert_eq!(sends, [false, true, true, true, false, false]);
}

#[test]
fn every_number_of_threads_gives_the_same_bytes() {
    let mut plan = line(&["fifo:limit=20pkt", "sfq:queues=9,depth=20pkt"], 5.0);
    plan.0.stop.replications = 3;
    for node in &mut plan.0.nodes {
        node.processing = Delay { constant: seconds(1e-4), jitter: Jitter::Exponential(seconds(1e-4)) };
    }
    for _ in 0..3 {
        transfer(&mut plan, tcp(Congestion::Cubic, None));
    }
    let text = |threads| serde_json::to_string(&outcome_of(&plan, threads)).expect("plain data");
    assert_eq!(text(1), text(4));
}
