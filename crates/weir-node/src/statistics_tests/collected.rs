//! What the collector makes of the reports it gets, and the checks of it.

use super::{at, check, data, figure, four_epochs, nanos, outcome, responses, scenario};
use crate::collector::Collector;
use crate::model::Operation;
use crate::record::{Path, Sink};
use crate::tally::Epochs;
use weir_core::task::Used;

#[test]
fn epochs_by_hand() {
    let mut collector = Collector::new(&scenario(&["x"], 1));
    four_epochs(&mut collector);
    let tally = collector.processes[0].tally;
    assert_eq!(tally.epochs, Epochs { count: 3, sum: nanos(120), least: nanos(30), most: nanos(50) });
    // Ready throughout in the second and the third epoch; 40 of 50 in one of them.
    assert_eq!((tally.ready, tally.promised, tally.missed, tally.shortfall), (2, 2, 1, nanos(10)));
    assert_eq!((tally.run_time, tally.schedulings, tally.wakeups), (nanos(120), 3, 0));
    // The system's process is not among all: 40 + 50, 50 + 40, 30 + 0.
    assert_eq!(collector.together, Epochs { count: 3, sum: nanos(210), least: nanos(30), most: nanos(90) });
    let node = collector.nodes[0];
    assert_eq!((node.run_time, node.idle, node.uncharged), (nanos(240), nanos(60), nanos(0)));
    assert_eq!(node.paths, [0, 3, 0, 0, 0, 0]);
}

#[test]
fn spans_are_cut_at_the_ends_of_the_measured_time() {
    let mut collector = Collector::new(&scenario(&["x"], 1));
    collector.ran(0, 0, None, at(90), at(110));
    collector.nobody(0, true, at(390), at(420));
    collector.nobody(0, false, at(20), at(60));
    collector.path(0, at(99), Path::Restart);
    collector.path(0, at(100), Path::Restart);
    collector.path(0, at(399), Path::StayIdle);
    collector.path(0, at(400), Path::StayIdle);
    let node = collector.nodes[0];
    assert_eq!((node.run_time, node.idle, node.uncharged), (nanos(10), nanos(0), nanos(10)));
    assert_eq!(node.paths, [1, 0, 0, 0, 0, 1]);
}

#[test]
fn an_epoch_that_is_partly_measured_does_not_count() {
    let mut node = scenario(&["x"], 1);
    node.stop.duration = nanos(350);
    let mut collector = Collector::new(&node);
    four_epochs(&mut collector);
    assert_eq!(collector.processes[0].tally.epochs.count, 2);
}

#[test]
fn responses_by_hand() {
    let outcome = outcome(&scenario(&["x"], 1), |_, recorder| {
        responses(recorder);
        None
    });
    let totals = &outcome.process_totals[0];
    assert_eq!((totals.wakeups, totals.waits, totals.late), (4, 4, Some(1)));
    let response = |statistic| figure(&outcome, "a", "response", statistic).value.expect("a value") * 1e9;
    // 20, 30, 9 and 40.
    assert!((response("mean") - 24.75).abs() < 1e-9 && (response("max") - 40.0).abs() < 1e-9);
    assert!((response("p50") - 20.0).abs() < 1e-9);
    let wait = figure(&outcome, "all", "wait", "mean");
    assert!((wait.value.expect("a value") * 1e9 - 2.0).abs() < 1e-9);
    assert_eq!((wait.count, wait.unit), (3, "s"));
    assert_eq!(figure(&outcome, "a", "late", "mean").value, Some(0.25));
    assert!(outcome.estimates.iter().all(|row| row.metric != "late" || row.subject.name != "b"));
    let distribution =
        outcome.distributions.iter().find(|row| row.subject.process == "a").expect("a distribution");
    assert_eq!((distribution.metric, distribution.bins.count.iter().sum::<u64>()), ("response", 4));
    assert_eq!(outcome.process_totals[1].late, None);
}

#[test]
fn what_is_not_over_at_the_end_is_late_once_it_is_beyond_its_deadline() {
    let mut node = scenario(&["x"], 2);
    node.processes[2].program.operations.push(Operation::WaitAny);
    let outcome = outcome(&node, |job, recorder| {
        responses(recorder);
        recorder.responded(0, at(350), at(330));
        for process in 0..3 {
            recorder.unfinished(process, at(400), at(360 + 10 * u64::from(job.replication)));
        }
        None
    });
    let totals = &outcome.process_totals;
    // Of 5 responses one is longer than 30 ns; 40 and 30 are not over, and only 40 counts.
    assert_eq!((totals[0].waits, totals[0].late), (8, Some(3)));
    assert_eq!(figure(&outcome, "a", "late", "mean").count, 11);
    assert_eq!(figure(&outcome, "a", "response", "mean").count, 10);
    // `b` has no deadline and never waits, the system's process waits.
    let unfinished: Vec<_> = totals.iter().map(|row| row.unfinished).collect();
    assert_eq!(unfinished, [Some(4e-8), None, Some(4e-8)]);
}

#[test]
fn queues_by_hand() {
    let mut collector = Collector::new(&scenario(&["x"], 1));
    data(&mut collector);
    let tally = collector.queues[0].tally.closed(collector.window());
    assert_eq!((tally.enqueued, tally.dequeued, tally.first, tally.last), (3, 3, 1, 1));
    // 1 for 20, 2 for 30, 3 for 10, 2 for 20, 1 for 20, 2 for 60, 1 for 140.
    assert_eq!(tally.area, 20 + 60 + 30 + 40 + 20 + 120 + 140);
    // The first lay there for 60 ns of the measured time; the last of them was put in at 150.
    assert_eq!((tally.aged, tally.oldest), (60 + 60 + 110, at(150)));
    assert_eq!((collector.queues[0].age.sum, collector.queues[0].age.longest), (280, 110));
}

#[test]
fn the_books_of_a_queue_are_checked() {
    let checks = |told: fn(&mut dyn Sink)| {
        let outcome = outcome(&scenario(&["x"], 1), |_, recorder| {
            told(recorder);
            None
        });
        outcome.checks.into_iter().map(|check| (check.check, check.ok)).collect::<Vec<_>>()
    };
    // What is left over at the end is too much for Little's law to say anything.
    assert!(checks(data).contains(&("data", Some(true))));
    assert!(checks(data).contains(&("Little's law", None)));
    let emptied = |sink: &mut dyn Sink| {
        data(sink);
        sink.dequeued(0, 1, at(300), 0, nanos(100));
    };
    assert!(checks(emptied).contains(&("Little's law", Some(true))));
    let wrong_age = |sink: &mut dyn Sink| {
        data(sink);
        sink.dequeued(0, 1, at(300), 0, nanos(90));
    };
    assert!(checks(wrong_age).contains(&("Little's law", Some(false))));
    let lost = |sink: &mut dyn Sink| {
        sink.enqueued(0, 0, at(150), 2);
    };
    assert!(checks(lost).contains(&("data", Some(false))));
}

#[test]
fn time_is_conserved_or_the_result_says_so() {
    let whole = outcome(&scenario(&["x"], 2), |_, recorder| {
        four_epochs(recorder);
        None
    });
    let conserved = check(&whole, "conservation");
    assert!(conserved.ok == Some(true) && (conserved.expected - 6e-7).abs() < 1e-18, "{conserved:?}");
    let short = outcome(&scenario(&["x"], 1), |_, recorder| {
        four_epochs(recorder);
        recorder.ran(0, 0, None, at(390), at(391));
        None
    });
    assert_eq!(check(&short, "conservation").ok, Some(false));
}

#[test]
fn kinds_of_time_make_up_the_run_time() {
    // Each of three processes has used 80 ns of the 240.
    let used = |windfall: u64| {
        let before = Used { need: nanos(7), uncommitted: nanos(5), windfall: nanos(3) };
        let after = Used { need: nanos(27), uncommitted: nanos(45), windfall: nanos(3 + windfall) };
        Some([before, after])
    };
    let played = |windfall: u64| {
        outcome(&scenario(&["x"], 1), move |_, recorder| {
            four_epochs(recorder);
            used(windfall)
        })
    };
    assert_eq!(check(&played(20), "kinds of time").ok, Some(true));
    assert_eq!(check(&played(21), "kinds of time").ok, Some(false));
    let outcome = played(20);
    let totals = &outcome.process_totals[0];
    let near = |value: Option<f64>, expected: f64| (value.expect("a value") - expected).abs() < 1e-15;
    assert!(near(totals.need_time, 2e-8) && near(totals.uncommitted_time, 4e-8));
    assert!(near(figure(&outcome, "a", "windfall", "mean").value, 20.0 / 300.0));
    assert!(near(figure(&outcome, "all", "uncommitted", "mean").value, 80.0 / 300.0));
}

#[test]
fn what_is_not_told_is_not_measured() {
    let outcome = outcome(&scenario(&["x"], 1), |_, recorder| {
        four_epochs(recorder);
        None
    });
    let windfall = figure(&outcome, "a", "windfall", "mean");
    assert_eq!((windfall.value, windfall.reason.as_deref()), (None, Some("not measured")));
    assert!(outcome.checks.iter().all(|check| check.check != "kinds of time"));
    let met = figure(&outcome, "b", "need_met", "mean");
    assert_eq!((met.value, met.count), (None, 0));
    assert_eq!(outcome.process_totals[0].windfall_time, None);
}
