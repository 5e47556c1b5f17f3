//! Clients that give up and try again: whole runs, their books, and whether they come back.

use super::{figure, nanos, played, value};
use crate::generators::{class, scenario};
use crate::model::{Burst, Deadline, Hopeless, Retry, Workload};
use weir_workload::duration::Law;

/// Clients that give up, with a budget and without one: the books agree, and what is done in vain is reported.
#[test]
fn clients_that_try_again_bring_more_work_of_which_a_part_is_in_vain() {
    let of = |budget: Option<f64>, attempts: u32| {
        let classes = vec![class("all", 1.0, Law::Exponential(nanos(10_000)))];
        let mut server = scenario(&["cfcfs"], 2, classes, 0.85).expect("specs");
        server.classes[0].timeout = Some(nanos(60_000));
        (server.stop.warm_up, server.stop.duration) = (nanos(10_000_000), nanos(200_000_000));
        server.stop.replications = 8;
        server.retry = Some(Retry { attempts, backoff: nanos(20_000), factor: 2.0, jitter: 0.5, budget });
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        let storms = outcome.warnings.iter().filter(|one| one.text.contains("no budget")).count();
        assert_eq!(storms, usize::from(budget.is_none()));
        let of = |name, metric| value(&outcome, ["cfcfs", name, metric, "mean"]);
        let totals = &outcome.class_totals[0];
        let fresh = totals.offered - totals.retried.expect("counted");
        let attempts = totals.offered as f64 / fresh as f64;
        assert!((of("all", "attempts") / attempts - 1.0).abs() < 0.01);
        let in_time = (totals.done - totals.late.expect("counted")) as f64;
        let expected = in_time / (8.0 * 0.19);
        assert!((of("all", "goodput") - expected).abs() <= 1e-9 * expected);
        assert!((of("all", "late") - totals.late.expect("counted") as f64 / totals.done as f64).abs() < 0.01);
        assert!(of("all", "wasted") > 0.0 && of("all", "wasted") <= of("all", "utilisation") + 1e-12);
        (of("all", "attempts"), of("all", "goodput"))
    };
    let ((thrifty, good), (lavish, poor)) = (of(Some(0.1), 4), of(None, 4));
    // What was saved up before the measured time comes on top of the tenth.
    assert!(thrifty > 1.0 && thrifty < 1.105 && lavish > 2.0, "{thrifty} {lavish}");
    assert!(good > 2.0 * poor, "{good} {poor}");
}

/// At a load above 1: what would end late is not begun, or is cut off; the books agree, and what is done is useful.
#[test]
fn deadlines_keep_a_server_at_work_that_is_of_use() {
    let of = |deadline: Option<Deadline>| {
        let classes = vec![class("all", 1.0, Law::Exponential(nanos(10_000)))];
        let mut server = scenario(&["cfcfs"], 2, classes, 1.3).expect("specs");
        (server.classes[0].timeout, server.classes[0].deadline) = (Some(nanos(50_000)), deadline);
        (server.stop.warm_up, server.stop.duration) = (nanos(1_000_000), nanos(40_000_000));
        (server.stop.replications, server.site.queue) = (8, Some(100));
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        let of = |metric| value(&outcome, ["cfcfs", "all", metric, "mean"]);
        let missed = deadline.map(|_| of("missed"));
        assert_eq!(missed.is_some(), outcome.class_totals[0].missed.is_some());
        (of("goodput"), of("late"), of("wasted"), missed)
    };
    let within = nanos(50_000);
    let ignored = of(None);
    let before = of(Some(Deadline { within, drop: Hopeless::Before }));
    let during = of(Some(Deadline { within, drop: Hopeless::During }));
    assert!(ignored.1 > 0.9 && ignored.2 > 0.8, "{ignored:?}");
    // Nothing is begun in vain, and nothing ends late.
    assert!(before.1 == 0.0 && before.2 == 0.0 && before.3 > Some(0.05), "{before:?}");
    assert!(during.1 == 0.0 && during.2 > 0.0 && during.3 > Some(0.05), "{during:?}");
    assert!(before.0 > during.0 && during.0 > 3.0 * ignored.0, "{ignored:?} {during:?} {before:?}");
}

/// After a burst a system with a budget comes back, and one without it does not.
#[test]
fn a_burst_tips_what_has_no_budget() {
    let of = |budget: Option<f64>| {
        let classes = vec![class("all", 1.0, Law::Exponential(nanos(10_000)))];
        let mut server = scenario(&["cfcfs", "jsq"], 2, classes, 0.6).expect("specs");
        server.classes[0].timeout = Some(nanos(100_000));
        server.retry = Some(Retry { attempts: 4, backoff: nanos(20_000), factor: 2.0, jitter: 0.5, budget });
        let Workload::Open(open) = &mut server.workload else { panic!("open") };
        open.burst = Some(Burst { at: nanos(20_000_000), lasts: nanos(2_000_000), factor: 4.0 });
        (server.stop.duration, server.stop.replications) = (nanos(100_000_000), 12);
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        let storms = outcome.warnings.iter().filter(|one| one.text.contains("no budget")).count();
        assert_eq!(storms, usize::from(budget.is_none()));
        // Alike in every replication, which says something of the probabilities and not all.
        let apart = outcome.differences.iter().find(|row| row.metric == "tipped").expect("a row");
        let (value, low, high) = (apart.value, apart.low.expect("an end"), apart.high.expect("an end"));
        assert!(value == Some(0.0) && low < -0.2 && high > 0.2, "{apart:?}");
        // Who has not come back has no time, and no mean of the others takes its place.
        let recovery = figure(&outcome, ["cfcfs", "all", "recovery", "mean"]);
        match budget {
            Some(_) => {
                let (low, high) = (recovery.low.expect("an interval"), recovery.high.expect("an interval"));
                assert!(low > 0.0 && high < 0.03, "{recovery:?}");
            }
            None => assert!(recovery.value.is_none() && recovery.reason.is_some(), "{recovery:?}"),
        }
        let tipped = figure(&outcome, ["cfcfs", "all", "tipped", "mean"]);
        (tipped.value, tipped.low.expect("an interval"), tipped.high.expect("an interval"))
    };
    let (thrifty, lavish) = (of(Some(0.1)), of(None));
    assert_eq!((thrifty.0, lavish.0), (Some(0.0), Some(1.0)));
    // None of twelve, by Clopper and Pearson.
    assert!((thrifty.2 - 0.2646).abs() < 1e-3 && (lavish.1 - 0.7354).abs() < 1e-3, "{thrifty:?} {lavish:?}");
}
