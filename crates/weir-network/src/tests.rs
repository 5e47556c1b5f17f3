//! The network end to end: closed forms, shares, determinism.

mod curves;
mod processes;

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use crate::collector::Collector;
use crate::model::{Congestion, Delay, Drawn, Gaps, Jitter, NodeKind, Phase, Tcp, Tick, Traffic};
use crate::outcome::{NetworkFigure, NetworkOutcome, Scope};
use crate::plan::{Plan, exponential, seconds};
use crate::run::run;
use crate::source::Source;
use weir_core::item::{Addresses, Dscp};
use weir_core::units::{Bytes, Instant, Nanos};
use weir_lab::control::Control;
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_tg::Distribution;
use weir_workload::ContinuousLaw;

pub(crate) fn outcome_of(plan: &Plan, threads: usize) -> NetworkOutcome {
    let threads = NonZeroUsize::new(threads).expect("positive");
    let (cancel, progress) = (AtomicBool::new(false), &mut |_| ());
    let control = &mut Control { threads, cancel: &cancel, progress, records: None };
    let outcome = run(&plan.0, &Frame::default(), control).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.checks.iter().all(|check| check.ok == Some(true)), "{:?}", outcome.checks);
    outcome
}

fn figure<'a>(outcome: &'a NetworkOutcome, of: (Scope, &str), metric: &str) -> &'a NetworkFigure {
    let found = outcome.estimates.iter().find(|figure| {
        (figure.subject.scope, figure.subject.name.as_str()) == of
            && figure.metric == metric
            && figure.statistic == "mean"
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

/// Kleinrock, *Queueing Systems* I, 1975, section 6.4: in GI/M/1 the mean wait is σ/(1-σ) services, where σ is the transform of
/// the gaps at (1-σ) over the mean service.
#[test]
fn gaps_of_the_textbooks_make_the_wait_of_the_formula() {
    let gap = 1e6 / 0.7;
    let erlang = |s: f64| (1.0 + s * gap / 3.0).powi(-3);
    // Balanced means: both branches bring as much of the time.
    let hyperexponential = |s: f64| {
        let p = 0.5 * (1.0 + (3.0_f64 / 5.0).sqrt());
        let [one, other] = [p, 1.0 - p].map(|p| p / (1.0 + s * gap / (2.0 * p)));
        one + other
    };
    let laws: [(_, &dyn Fn(f64) -> f64); 2] = [
        (ContinuousLaw::erlang(3, gap), &erlang),
        (ContinuousLaw::hyperexponential(gap, 2.0), &hyperexponential),
    ];
    for (law, transform) in laws {
        let mut plan = Plan::new(2, &["fifo"], 200.0);
        plan.0.stop.replications = 10;
        plan.0.stop.warm_up = seconds(1.0);
        plan.0.measure.intervals[0].0 = seconds(1.0);
        let link = plan.link((0, 1), 1_000_000_000_000, None);
        link.jitter = Jitter::Exponential(seconds(1e-3));
        let gap = Gaps::Law(law.expect("a law"));
        let size = Distribution::Constant(100.0);
        plan.flow(&[0], Traffic::Drawn(Drawn { gap, size: size.into(), packets: None, clock: None }));
        let outcome = outcome_of(&plan, 2);
        let sigma = (0..200).fold(0.5, |sigma, _| transform((1.0 - sigma) / 1e6));
        agrees(figure(&outcome, (Scope::Link, "N0-N1"), "wait"), sigma / (1.0 - sigma) * 1e-3, 0.03);
    }
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

pub(crate) fn busy_network() -> Plan {
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

/// Finding C1: delays over time, without being asked for: the longest of all steps is that of the run.
#[test]
fn c1_delay_over_time_agrees_with_the_figures() {
    let mut plan = busy_network();
    plan.0.stop.replications = 1;
    (plan.0.stop.warm_up, plan.0.measure.series) = (Nanos::ZERO, None);
    plan.0.measure.intervals[0].0 = Nanos::ZERO;
    let outcome = outcome_of(&plan, 1);
    assert_eq!(outcome.delay_over_time.len(), plan.0.disciplines.len());
    for row in &outcome.delay_over_time {
        let wanted = outcome.estimates.iter().find(|each| {
            each.discipline.as_deref() == Some(row.discipline.as_str())
                && (each.subject.scope, each.metric, each.statistic) == (Scope::All, "delay", "max")
        });
        let longest = row.longest.iter().flatten().copied().fold(0.0, f64::max);
        assert_eq!(Some(longest), wanted.and_then(|each| each.value), "{}", row.discipline);
        assert!(
            row.mean.len() > 64 && row.mean.iter().zip(&row.longest).all(|(mean, longest)| mean <= longest)
        );
    }
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
    assert!(outcome.course.interrupted && outcome.provenance.replications == 0);
    assert!(outcome.estimates.iter().all(|figure| figure.value.is_some() != figure.reason.is_some()));
}

/// Transfers over one link there and one back, 20 ms each way, at most 10 Mbit/s.
fn transfers(discipline: &str, congestions: &[Congestion], packets: Option<u64>) -> Plan {
    let mut plan = Plan::new(2, &[discipline], 60.0);
    plan.0.stop.replications = 2;
    plan.0.nodes.iter_mut().for_each(|node| node.kind = NodeKind::Host);
    for ends in [(0, 1), (1, 0)] {
        let link = plan.link(ends, 10_000_000, None);
        link.propagation = seconds(0.02);
        link.jitter = Jitter::Uniform(seconds(1e-4));
    }
    for &congestion in congestions {
        let packet = Bytes::new(1_500);
        let tcp = Tcp { congestion, packet, packets, ecn: true, window: 10_000 };
        plan.flow(&[0], Traffic::Tcp(tcp)).back = vec![1];
    }
    plan
}

#[test]
fn transfers_fill_a_link_and_share_it() {
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        let outcome = outcome_of(&transfers("fifo:limit=50pkt", &[congestion; 2], None), 2);
        assert_eq!(outcome.course.engines[0].engine, "plain");
        let value = |of, metric| figure(&outcome, of, metric).value.expect("a value");
        assert!(value((Scope::Link, "N0-N1"), "utilisation") > 0.9, "{congestion:?}");
        assert!(value((Scope::All, "all"), "jain") > 0.8, "{congestion:?}");
        assert!(value((Scope::All, "all"), "loss") > 0.0);
        // Acknowledgements cross the other link and are no packets of the flows.
        assert!(value((Scope::Link, "N1-N0"), "utilisation") > 0.02);
        // The queue holds 50 packets of 1.2 ms, and the way takes 20 ms.
        let delay = value((Scope::All, "all"), "delay");
        assert!((0.021..0.021 + 51.0 * 1.3e-3).contains(&delay), "{delay}");
    }
}

#[test]
fn a_transfer_of_so_many_packets_ends_when_they_have_arrived() {
    let outcome = outcome_of(&transfers("fifo:limit=20pkt", &[Congestion::Reno], Some(5_000)), 1);
    let totals = &outcome.totals[0];
    assert_eq!(totals.offered, totals.delivered + totals.dropped);
    assert!((10_000..10_500).contains(&totals.delivered), "{totals:?}");
    assert!(totals.dropped > 0);
}

#[test]
fn transfers_are_the_same_for_any_number_of_threads() {
    let plan = transfers("sfq", &[Congestion::Reno, Congestion::Cubic], None);
    let text = |threads| serde_json::to_string(&outcome_of(&plan, threads)).expect("plain data");
    assert_eq!(text(1), text(3));
}

/// A greedy transfer of the first host, ten of the second and a call, over 10 Mbit/s and 20 ms each way: what of it the
/// first host has, the mean delay of the call, and what is lost.
fn home(discipline: &str) -> (f64, f64, f64) {
    let mut plan = Plan::new(2, &[discipline], 20.0);
    plan.0.stop.replications = 2;
    plan.0.nodes.iter_mut().for_each(|node| node.kind = NodeKind::Host);
    plan.link((0, 1), 10_000_000, None).propagation = seconds(0.02);
    plan.link((1, 0), 10_000_000, None).propagation = seconds(0.02);
    let packet = Bytes::new(1_500);
    for place in 0..11 {
        let congestion = Congestion::Cubic;
        let tcp = Tcp { congestion, packet, packets: None, ecn: true, window: 10_000 };
        let flow = plan.flow(&[0], Traffic::Tcp(tcp));
        flow.back = vec![1];
        flow.addresses = Addresses { source: u32::from(place > 0), destination: 9 };
    }
    let call = plan.flow(&[0], Plan::drawn(Distribution::Constant(0.02), Distribution::Constant(200.0)));
    call.dscp = Dscp::new(46);
    call.addresses = Addresses { source: 1, destination: 8 };
    let outcome = outcome_of(&plan, 2);
    let value = |flow: &str, metric| figure(&outcome, (Scope::Flow, flow), metric).value.expect("a value");
    let each: Vec<_> = (0..11).map(|place| value(&format!("F{place}"), "throughput")).collect();
    let lost = figure(&outcome, (Scope::All, "all"), "loss").value.expect("a value");
    (each[0] / each.iter().sum::<f64>(), value("F11", "delay"), lost)
}

#[test]
fn cake_shares_between_hosts_marks_what_can_be_marked_and_hurries_the_call() {
    // By source: all have one destination, which alone would make all of their hosts as busy (triple_isolate).
    let (share, delay, lost) = home("cake:rate=9Mbit,fairness=dual_srchost");
    // Half, less what one transfer alone leaves unused each time that it is marked.
    assert!((0.4..0.55).contains(&share), "{share}");
    // 20 ms of propagation and its own 0.16 ms, behind a packet of 1.33 ms at most: its tin goes first.
    assert!((0.02016..0.0216).contains(&delay), "{delay}");
    assert!(lost < 1e-4, "transfers that support ECN lose nothing: {lost}");
    let (share, _, _) = home("cake:rate=9Mbit,fairness=flows");
    assert!((0.06..0.13).contains(&share), "{share}");
    let (_, alike, _) = home("fifo:limit=100pkt");
    assert!(alike > 0.05, "{alike}");
}

/// The error of a network of one link, after `change`.
fn refused(discipline: &str, change: impl FnOnce(&mut Plan)) -> RunError {
    let mut plan = Plan::new(2, &[discipline], 1_000.0);
    plan.link((0, 1), 1_000, None);
    change(&mut plan);
    let (cancel, progress) = (AtomicBool::new(false), &mut |_| ());
    let control = &mut Control { threads: NonZeroUsize::MIN, cancel: &cancel, progress, records: None };
    match run(&plan.0, &Frame::default(), control) {
        Err(error) => error,
        Ok(_) => panic!("it is refused"),
    }
}

#[test]
fn what_is_too_large_is_refused_with_its_place_and_bound() {
    let endless = |plan: &mut Plan| {
        plan.flow(&[0], Plan::drawn(Distribution::Constant(0.0), Distribution::Constant(100.0)));
    };
    let error = refused("fifo", endless).to_string();
    assert_eq!(error, "flow `F0`: it sends packets without end, at most 4000000000 are simulated");
    let steps = |plan: &mut Plan| {
        plan.flow(&[0], Plan::poisson(1.0, 100.0));
        plan.0.measure.series = Some(Nanos::new(1));
    };
    assert!(refused("fifo", steps).to_string().contains("at most 4194304 are kept"));
    let alone = |plan: &mut Plan| {
        let packet = Bytes::new(1_500);
        let tcp = Tcp { congestion: Congestion::Reno, packet, packets: None, ecn: false, window: 10 };
        plan.flow(&[0], Traffic::Tcp(tcp));
    };
    assert!(refused("fifo", alone).to_string().contains("no route back"));
}

#[test]
fn a_queue_without_a_limit_ends_the_run_and_not_the_memory() {
    for discipline in ["fifo", "drr"] {
        let flood = |plan: &mut Plan| {
            plan.flow(&[0], Plan::poisson(1e-5, 100.0));
        };
        let error = refused(discipline, flood);
        let expected = "more than 10000000 packets wait at link `N0-N1`, give its discipline a limit";
        assert_eq!(error.to_string(), format!("`{discipline}`: {expected}"));
    }
}

#[test]
fn packets_larger_than_a_link_takes_are_dropped_there() {
    let mut plan = Plan::new(2, &["fifo:limit=10pkt", "drr"], 10.0);
    plan.link((0, 1), 1_000_000_000, None).mtu = Some(Bytes::new(1_000));
    plan.flow(&[0], Plan::drawn(exponential(1e-3), Distribution::Uniform { min: 500.0, max: 1_500.0 }));
    let outcome = outcome_of(&plan, 1);
    for totals in &outcome.totals {
        let share = totals.dropped as f64 / totals.offered as f64;
        assert!((0.47..0.53).contains(&share), "{totals:?}");
    }
}

/// Finding A8: hosts of a testbed do not tick together.
#[test]
fn a8_the_ticks_of_hosts_have_a_phase_of_their_own() {
    let every = seconds(0.01);
    let departures = |phase: Phase, replication: u32| {
        let mut plan = Plan::new(3, &["fifo"], 1.0);
        plan.link((0, 2), 8_000_000, None);
        plan.link((1, 2), 8_000_000, None);
        for path in [[0], [0], [1]] {
            let traffic = Plan::drawn(Distribution::Constant(4e-3), Distribution::Constant(1_000.0));
            plan.flow(&path, traffic).tick = Some(Tick { every, phase });
        }
        let sources = crate::build::sources(&plan.0, replication).map(|source| source.expect("a source"));
        let first = |source: Option<Source>| {
            let mut taken = Vec::new();
            let mut source = source.expect("an open loop");
            let mut collector = Collector::new(&plan.0, 0);
            assert!(source.head(&mut collector) < Instant::NEVER);
            source.take(&mut taken);
            taken[0].sent.get()
        };
        sources.map(first).collect::<Vec<u64>>()
    };
    // The first packet is due at 4 ms.
    assert_eq!(departures(Phase::At(seconds(0.0)), 0), [10_000_000; 3]);
    assert_eq!(departures(Phase::At(seconds(0.003)), 0), [13_000_000; 3]);
    assert_eq!(departures(Phase::At(seconds(0.005)), 0), [5_000_000; 3]);
    let (one, other) = (departures(Phase::Random, 0), departures(Phase::Random, 1));
    assert_eq!(
        (one[0], one.clone()),
        (one[1], departures(Phase::Random, 0)),
        "flows of a host tick together"
    );
    assert!(one[0] != one[2] && one[0] != other[0] && one[2] != other[2], "{one:?} {other:?}");
    let phases: Vec<u64> = (0..200).map(|number| departures(Phase::Random, number)[0]).collect();
    let mean = phases.iter().sum::<u64>() as f64 / 200.0;
    // Evenly from 4 to 14 ms.
    assert!(phases.iter().all(|&at| (4_000_000..14_000_000).contains(&at)) && (mean / 9e6 - 1.0).abs() < 0.1);
}

#[test]
fn departures_wait_for_the_tick_and_delays_are_counted_from_it() {
    let mut plan = Plan::new(2, &["fifo"], 10.0);
    plan.link((0, 1), 8_000_000, None);
    plan.flow(&[0], Plan::drawn(Distribution::Constant(4e-3), Distribution::Constant(1_000.0))).tick =
        Some(Tick::aligned(seconds(0.01)));
    let outcome = outcome_of(&plan, 1);
    // Bursts of two and three at every tick, 1 ms each: 1, 2, 1, 2, 3 of each five.
    let delay = figure(&outcome, (Scope::Flow, "F0"), "delay").value.expect("a value");
    assert!((delay - 1.8e-3).abs() < 1e-5, "{delay}");
}
