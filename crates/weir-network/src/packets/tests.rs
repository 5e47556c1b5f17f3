//! Packets one by one: rows that agree with the result, whatever the number of threads and the engine.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use crate::model::{Congestion, NetworkScenario, Tcp, Traffic};
use crate::outcome::{NetworkOutcome, Scope};
use crate::plan::{Plan, seconds};
use crate::run::run;
use crate::tests::{busy_network, outcome_of};
use weir_core::units::{Bytes, Nanos};
use weir_lab::control::Control;
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::recorded::testing::{Kept, Row};

fn recorded(network: &NetworkScenario, threads: usize, kept: &mut Kept) -> Result<NetworkOutcome, RunError> {
    let (cancel, threads) = (AtomicBool::new(false), NonZeroUsize::new(threads).expect("positive"));
    let progress = &mut |_| ();
    run(network, &Frame::default(), &mut Control { threads, cancel: &cancel, progress, records: Some(kept) })
}

fn text(outcome: &NetworkOutcome) -> String {
    serde_json::to_string(outcome).expect("plain data")
}

/// Rows of a discipline, of one outcome.
fn of<'k>(kept: &'k Kept, discipline: &str, outcome: &str) -> Vec<&'k Row> {
    let is = |row: &&Row| row.0 == discipline && kept.name(row, "outcome") == Some(outcome);
    kept.rows.iter().filter(is).collect()
}

/// A line with a transfer that fills it, and its acknowledgements.
fn transfer() -> Plan {
    let mut plan = Plan::new(2, &["fifo:limit=20pkt", "drr"], 2.0);
    plan.link((0, 1), 8_000_000, None);
    plan.link((1, 0), 8_000_000, None);
    let tcp = Tcp {
        congestion: Congestion::Reno,
        packet: Bytes::new(1_000),
        packets: None,
        ecn: false,
        window: 100,
    };
    plan.flow(&[0], Traffic::Tcp(tcp)).back = vec![1];
    plan
}

#[test]
fn rows_add_up_to_the_totals() {
    for (network, drops) in [(busy_network().0, true), (transfer().0, true)] {
        let mut kept = Kept::default();
        let outcome = recorded(&network, 2, &mut kept).expect("a result");
        for totals in &outcome.totals {
            let (delivered, dropped) =
                (of(&kept, &totals.discipline, "delivered"), of(&kept, &totals.discipline, "dropped"));
            assert_eq!((delivered.len() as u64, dropped.len() as u64), (totals.delivered, totals.dropped));
            assert!(delivered.iter().all(|row| kept.name(row, "link").is_none()));
            assert!(dropped.iter().all(|row| kept.name(row, "link").is_some()));
        }
        assert!(!drops || outcome.totals.iter().any(|totals| totals.dropped > 0));
        for row in &kept.rows {
            let [sent, end, wait] = ["sent_ns", "end_ns", "wait_ns"].map(|name| kept.count(row, name));
            assert!(sent <= end && wait <= end.zip(sent).map(|(end, sent)| end - sent), "{row:?}");
        }
        let at = |row: &Row| kept.count(row, "end_ns");
        let in_order =
            |pair: &[Row]| (&pair[0].0, pair[0].1) != (&pair[1].0, pair[1].1) || at(&pair[0]) <= at(&pair[1]);
        assert!(kept.rows.windows(2).all(in_order));
    }
}

/// The mean of a figure under a discipline.
fn mean(outcome: &NetworkOutcome, discipline: &str, (scope, name, metric): (Scope, &str, &str)) -> f64 {
    let found = outcome.estimates.iter().find(|row| {
        row.discipline.as_deref() == Some(discipline)
            && (row.subject.scope, row.subject.name.as_str()) == (scope, name)
            && (row.metric, row.statistic) == (metric, "mean")
    });
    found.and_then(|row| row.value).expect("a figure")
}

#[test]
fn delays_and_waits_of_the_rows_have_the_means_of_the_result() {
    let mut network = busy_network().0;
    network.stop.replications = 1;
    network.stop.warm_up = Nanos::ZERO;
    network.measure.intervals = vec![(Nanos::ZERO, network.stop.duration)];
    network.measure.flows = true;
    let mut kept = Kept::default();
    let outcome = recorded(&network, 1, &mut kept).expect("a result");
    for discipline in &network.disciplines {
        let rows = of(&kept, discipline, "delivered");
        let sum =
            |of: &dyn Fn(&Row) -> u64, rows: &[&Row]| rows.iter().map(|row| of(row)).sum::<u64>() as f64;
        let delay = |row: &Row| {
            kept.count(row, "end_ns").expect("an end") - kept.count(row, "sent_ns").expect("a beginning")
        };
        let wait = |row: &Row| kept.count(row, "wait_ns").expect("a wait");
        let means = |of: &dyn Fn(&Row) -> u64, rows: &[&Row]| sum(of, rows) / rows.len() as f64 / 1e9;
        let close = |found: f64, expected: f64| (found - expected).abs() <= 1e-9 + 1e-9 * expected;
        assert!(close(means(&delay, &rows), mean(&outcome, discipline, (Scope::All, "all", "delay"))));
        // A flow over one link waits there alone.
        let own: Vec<&Row> = rows.into_iter().filter(|row| kept.name(row, "flow") == Some("F2")).collect();
        let expected = mean(&outcome, discipline, (Scope::Hop, "F2 @ N1-N2", "wait"));
        assert!(close(means(&wait, &own), expected), "{discipline}: {} {expected}", means(&wait, &own));
    }
}

#[test]
fn rows_are_the_same_for_any_number_of_threads_and_change_no_figure() {
    for network in [busy_network().0, transfer().0] {
        let of = |threads| {
            let mut kept = Kept::default();
            let outcome = recorded(&network, threads, &mut kept).expect("a result");
            (kept, text(&outcome))
        };
        let one = of(1);
        assert!(one == of(2) && one == of(8));
        assert_eq!(one.1, text(&outcome_of(&Plan(network), 2)));
    }
}

#[test]
fn rows_that_cannot_be_written_end_the_run() {
    let mut plan = busy_network();
    plan.0.stop.duration = seconds(1e5);
    plan.0.measure.series = None;
    plan.0.flows.iter_mut().for_each(|flow| flow.stop = seconds(1e5));
    let mut kept = Kept { most: Some(100), ..Kept::default() };
    let error = recorded(&plan.0, 1, &mut kept).expect_err("it is full");
    assert_eq!(error, RunError::Records("the disk is full".to_owned()));
}
