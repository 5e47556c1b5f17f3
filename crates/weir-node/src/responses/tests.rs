//! Responses one by one: rows that agree with the result, whatever the number of threads.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use crate::model::NodeScenario;
use crate::outcome::NodeOutcome;
use crate::run::run;
use crate::run::tests::{played, scenario};
use weir_core::registry;
use weir_core::units::Nanos;
use weir_lab::control::Control;
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::recorded::testing::{Kept, Row};

fn recorded(node: &NodeScenario, threads: usize, kept: &mut Kept) -> Result<NodeOutcome, RunError> {
    let (cancel, threads) = (AtomicBool::new(false), NonZeroUsize::new(threads).expect("positive"));
    let progress = &mut |_| ();
    run(node, &Frame::default(), &mut Control { threads, cancel: &cancel, progress, records: Some(kept) })
}

/// Under all disciplines, without a warm-up, so that all responses are counted.
fn whole(replications: u32) -> NodeScenario {
    let specs: Vec<String> = registry::TASK.iter().map(|info| info.example.to_owned()).collect();
    let specs: Vec<&str> = specs.iter().map(String::as_str).collect();
    let mut node = scenario(&specs, replications);
    node.stop.warm_up = Nanos::ZERO;
    node
}

fn text(outcome: &NodeOutcome) -> String {
    serde_json::to_string(outcome).expect("plain data")
}

#[test]
fn rows_add_up_to_the_totals() {
    let node = whole(2);
    let mut kept = Kept::default();
    let outcome = recorded(&node, 2, &mut kept).expect("a result");
    for totals in &outcome.process_totals {
        let is = |row: &&Row| {
            row.0 == totals.discipline && kept.name(row, "process") == Some(totals.process.as_str())
        };
        let rows: Vec<&Row> = kept.rows.iter().filter(is).collect();
        let of = |outcome: &str| {
            rows.iter().filter(|row| kept.name(row, "outcome") == Some(outcome)).count() as u64
        };
        // Those of the system are due every epoch: a response also ends where the next is due already, without a wait.
        let is_system = node.processes.iter().any(|process| process.system && process.name == totals.process);
        let ended = of("done") + of("late");
        assert!(ended == totals.waits || (is_system && ended > totals.waits), "{ended}: {totals:?}");
        let schedulings: u64 = rows.iter().filter_map(|row| kept.count(row, "schedulings")).sum();
        assert_eq!(schedulings, totals.schedulings, "{totals:?}");
        if let Some(late) = totals.late {
            assert!(of("late") <= late && late <= of("late") + of("unfinished"), "{totals:?}");
        }
    }
    for row in &kept.rows {
        let [ready, start, end] = ["ready_ns", "start_ns", "end_ns"].map(|name| kept.count(row, name));
        let is_unfinished = kept.name(row, "outcome") == Some("unfinished");
        assert_eq!(end.is_none(), is_unfinished, "{row:?}");
        assert!(ready.is_some() && start.is_none_or(|start| ready <= Some(start)), "{row:?}");
        assert!(is_unfinished || (start.is_some() && start <= end), "{row:?}");
    }
}

#[test]
fn responses_of_the_rows_have_the_means_of_the_result() {
    let node = whole(1);
    let mut kept = Kept::default();
    let outcome = recorded(&node, 1, &mut kept).expect("a result");
    let mut compared = 0;
    for figure in outcome.estimates.iter().filter(|row| (row.metric, row.statistic) == ("response", "mean")) {
        let Some(value) = figure.value else { continue };
        let is = |row: &&Row| {
            Some(row.0.as_str()) == figure.discipline.as_deref()
                && kept.name(row, "process") == Some(figure.subject.name.as_str())
                && kept.count(row, "end_ns").is_some()
        };
        let response =
            |row: &Row| kept.count(row, "end_ns").unwrap_or(0) - kept.count(row, "ready_ns").unwrap_or(0);
        let spans: Vec<u64> = kept.rows.iter().filter(is).map(response).collect();
        if spans.is_empty() {
            continue;
        }
        let mean = spans.iter().sum::<u64>() as f64 / spans.len() as f64 / 1e9;
        assert!((mean - value).abs() <= 1e-9 + 1e-9 * value, "{figure:?}: {mean}");
        compared += 1;
    }
    assert!(compared >= 3 * node.disciplines.len(), "{compared}");
}

#[test]
fn rows_are_the_same_for_any_number_of_threads_and_change_no_figure() {
    let mut node = whole(2);
    node.measure.sample = Some(Nanos::new(250_000_000));
    node.measure.timeline = Some((Nanos::new(1_000_000_000), Nanos::new(1_100_000_000)));
    let of = |threads| {
        let mut kept = Kept::default();
        let outcome = recorded(&node, threads, &mut kept).expect("a result");
        (kept, text(&outcome))
    };
    let one = of(1);
    assert!(one == of(2) && one == of(8));
    assert_eq!(one.1, text(&played(&node, 2, false).expect("a result")));
}

#[test]
fn rows_that_cannot_be_written_end_the_run() {
    let mut kept = Kept { most: Some(10), ..Kept::default() };
    let error = recorded(&whole(1), 1, &mut kept).expect_err("it is full");
    assert_eq!(error, RunError::Records("the disk is full".to_owned()));
}
