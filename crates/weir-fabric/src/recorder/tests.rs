//! Packets one by one: rows that agree with the result, whatever the number of threads and the engine.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use crate::job;
use crate::model::FabricScenario;
use crate::outcome::FabricOutcome;
use crate::run::run;
use crate::statistics_tests::{figure, run_on, small, text};
use weir_core::units::Nanos;
use weir_lab::control::Control;
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::recorded::testing::{Kept, Row};

fn recorded(fabric: &FabricScenario, threads: usize, kept: &mut Kept) -> Result<FabricOutcome, RunError> {
    let (cancel, threads) = (AtomicBool::new(false), NonZeroUsize::new(threads).expect("positive"));
    let progress = &mut |_| ();
    run(fabric, &Frame::default(), &mut Control { threads, cancel: &cancel, progress, records: Some(kept) })
}

/// Rows of a discipline at a load.
fn of<'k>(kept: &'k Kept, discipline: &str, load: f64) -> Vec<&'k Row> {
    let is = |row: &&Row| row.0 == discipline && kept.number(row, "load") == Some(load);
    kept.rows.iter().filter(is).collect()
}

#[test]
fn rows_add_up_to_the_totals_and_come_in_order() {
    let fabric = small();
    let mut kept = Kept::default();
    let outcome = recorded(&fabric, 2, &mut kept).expect("a result");
    for totals in &outcome.totals {
        let rows = of(&kept, &totals.discipline, totals.load);
        assert_eq!(rows.len() as u64, totals.delivered);
        let at = |row: &Row| kept.number(row, "delivered_ns").expect("a time");
        assert!(rows.windows(2).all(|pair| pair[0].1 != pair[1].1 || at(pair[0]) <= at(pair[1])));
    }
    for row in &kept.rows {
        let [generated, injected, delivered] = ["generated_ns", "injected_ns", "delivered_ns"]
            .map(|name| kept.number(row, name).expect("a time"));
        assert!(generated <= injected && injected < delivered, "{row:?}");
        assert_ne!(kept.count(row, "source"), None);
        assert!(kept.count(row, "destination") < Some(4) && kept.name(row, "channel").is_some());
    }
}

#[test]
fn latencies_of_the_rows_have_the_means_of_the_result() {
    let mut fabric = small();
    fabric.stop.replications = 1;
    fabric.stop.warm_up = Nanos::ZERO;
    let mut kept = Kept::default();
    let outcome = recorded(&fabric, 1, &mut kept).expect("a result");
    for name in &fabric.disciplines {
        for &load in &fabric.traffic.loads {
            let rows = of(&kept, name, load);
            for (metric, from) in [("latency", "injected_ns"), ("total_latency", "generated_ns")] {
                let latency = |row: &&Row| {
                    kept.number(row, "delivered_ns").expect("an end")
                        - kept.number(row, from).expect("a beginning")
                };
                let mean = rows.iter().map(latency).sum::<f64>() / rows.len() as f64 / 1e9;
                let expected =
                    figure(&outcome, (name, load, "all"), (metric, "mean")).value.expect("a value");
                assert!((mean / expected - 1.0).abs() < 1e-9, "{name} {load} {metric}: {mean} {expected}");
            }
        }
    }
}

#[test]
fn rows_are_the_same_for_any_number_of_threads_and_change_no_figure() {
    let mut fabric = small();
    fabric.verify = false;
    assert!((0..2).any(|discipline| job::engine(&fabric, discipline) == "accelerated"));
    let of = |threads| {
        let mut kept = Kept::default();
        let outcome = recorded(&fabric, threads, &mut kept).expect("a result");
        (kept, text(&outcome))
    };
    let one = of(1);
    assert!(one == of(2) && one == of(8));
    assert_eq!(one.1, text(&run_on(&fabric, 2).expect("a result")));
}

#[test]
fn rows_that_cannot_be_written_end_the_run() {
    let mut kept = Kept { most: Some(100), ..Kept::default() };
    let error = recorded(&small(), 1, &mut kept).expect_err("it is full");
    assert_eq!(error, RunError::Records("the disk is full".to_owned()));
}
