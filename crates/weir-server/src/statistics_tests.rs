//! What is told by hand, and what is made of it: the collector, figures, checks, windows; whole runs and their books.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::collector::Collector;
use crate::generators::{class, high_bimodal, scenario};
use crate::job::{Ended, Job, Left};
use crate::model::{Burst, Process, Retry, ServerScenario, Service, Workload};
use crate::outcome::ServerOutcome;
use crate::record::{Done, Sink};
use crate::run::{Play, run, run_with};
use proptest::prelude::*;
use weir_core::discipline::DropReason;
use weir_core::units::{Instant, Nanos};
use weir_lab::control::{Control, Watch};
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::stats::figure::Figure;
use weir_workload::arrivals::Renewal;
use weir_workload::duration::Law;
use weir_workload::laws::Form;
use weir_workload::{Arrivals, ContinuousLaw};

pub(super) fn nanos(count: u64) -> Nanos {
    Nanos::new(count)
}

pub(super) fn constant(count: u64) -> Law {
    Law::Constant(nanos(count))
}

/// Two cores, classes `a` of 10 ns and `b` of 100 ns, measured from 100 ns to 1100 ns.
fn by_hand(replications: u32) -> ServerScenario {
    let classes = vec![class("a", 0.5, constant(10)), class("b", 0.5, constant(100))];
    let mut server = scenario(&["cfcfs", "rr"], 2, classes, 0.5).expect("specs");
    server.stop.warm_up = nanos(100);
    server.stop.duration = nanos(1_100);
    server.stop.replications = replications;
    server.measure.order = true;
    server.measure.window = Some(nanos(500));
    server
}

pub(super) fn with_control<T>(threads: usize, act: impl FnOnce(&mut Control<'_>) -> T) -> T {
    let (cancel, threads) = (AtomicBool::new(false), NonZeroUsize::new(threads).expect("threads"));
    act(&mut Control { threads, cancel: &cancel, progress: &mut |_| {}, records: None })
}

fn played_by(server: &ServerScenario, threads: usize, play: Play<'_>) -> ServerOutcome {
    with_control(threads, |control| run_with(server, &Frame::default(), control, play)).expect("a result")
}

fn played(server: &ServerScenario, threads: usize) -> Result<ServerOutcome, RunError> {
    with_control(threads, |control| run(server, &Frame::default(), control))
}

fn figure<'o>(outcome: &'o ServerOutcome, key: [&str; 4]) -> &'o Figure {
    let [discipline, name, metric, statistic] = key;
    let is_it = |row: &&Figure| {
        (row.discipline.as_deref(), row.subject.name.as_str()) == (Some(discipline), name)
            && (row.metric, row.statistic) == (metric, statistic)
    };
    outcome.estimates.iter().find(is_it).unwrap_or_else(|| panic!("{key:?}"))
}

fn value(outcome: &ServerOutcome, key: [&str; 4]) -> f64 {
    figure(outcome, key).value.unwrap_or_else(|| panic!("{key:?}"))
}

/// Served without interruption from `began`.
pub(super) fn done(class: u16, arrived: u64, began: u64, service: u64) -> Done {
    Done {
        arrived: Instant::new(arrived),
        began: Instant::new(began),
        ended: Instant::new(began + service),
        service: Nanos::new(service),
        class,
        flow: 0,
        server: 0,
        reordered: false,
        cold: false,
    }
}

fn busy(sink: &mut impl Sink, core: u32, from: u64, until: u64, overhead: u64) {
    sink.busy(core, Instant::new(from), Instant::new(until), Nanos::new(overhead));
}

/// Of `a` two that count and one that came too early, of `b` one that ends too late, and one that is dropped.
fn told(sink: &mut impl Sink) {
    sink.in_use(Instant::new(0), 2);
    sink.done(&done(0, 50, 110, 10));
    sink.done(&done(0, 100, 120, 10));
    sink.done(&Done { reordered: true, cold: true, ..done(0, 200, 200, 10) });
    sink.done(&done(1, 1_090, 1_095, 100));
    sink.dropped(1, Instant::new(1_099), Instant::new(1_099), DropReason::QueueFull);
    sink.dropped(0, Instant::new(99), Instant::new(120), DropReason::QueueFull);
    // Ten of overhead before the second.
    busy(sink, 0, 110, 120, 0);
    busy(sink, 0, 120, 140, 10);
    busy(sink, 0, 200, 210, 0);
    busy(sink, 1, 1_095, 1_195, 0);
    sink.in_use(Instant::new(600), 1);
}

fn left() -> Left {
    Left { offered: 6, done: 4, dropped: 2, decisions: 4, last: 1_195, ..Left::default() }
}

/// The same in every run.
fn play_told(
    _server: &ServerScenario,
    _job: Job,
    collector: &mut Collector,
    _watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    told(collector);
    Ok(Ended::Finished(left()))
}

#[test]
fn figures_by_hand() {
    let outcome = played_by(&by_hand(2), 1, &play_told);
    let of = |name, metric, statistic| value(&outcome, ["cfcfs", name, metric, statistic]);
    assert!((of("a", "delay", "mean") - 10e-9).abs() < 1e-18);
    assert!((of("a", "delay", "max") - 20e-9).abs() < 1e-18);
    assert!((of("all", "response", "mean") - (30.0 + 10.0 + 105.0) / 3.0 * 1e-9).abs() < 1e-17);
    // Response over service: 3, 1 and 1.05.
    assert!((of("all", "slowdown", "mean") - 5.05 / 3.0).abs() < 1e-12);
    assert!((of("a", "slowdown", "max") - 3.0).abs() < 1e-12);
    assert_eq!((of("a", "dropped", "mean"), of("b", "dropped", "mean")), (0.0, 0.5));
    assert_eq!((of("a", "reordered", "mean"), of("a", "cold", "mean")), (0.5, 0.5));
    let mut server = by_hand(2);
    server.measure.order = false;
    let unordered = played_by(&server, 1, &play_told);
    for metric in ["reordered", "cold"] {
        let figure = figure(&unordered, ["cfcfs", "a", metric, "mean"]);
        assert_eq!((figure.value, figure.reason.as_deref()), (None, Some("not measured")));
    }
    assert!((of("all", "throughput", "mean") - 3e6).abs() < 1e-6);
    // 10 + 20 + 10 + 5 of 2000, 10 of them overhead; two cores for half of the time, one for the other.
    assert!((of("all", "utilisation", "mean") - 45.0 / 2_000.0).abs() < 1e-15);
    assert!((of("all", "overhead", "mean") - 10.0 / 2_000.0).abs() < 1e-15);
    assert!((of("all", "in_use", "mean") - 1.5).abs() < 1e-15);
    let totals = &outcome.class_totals[0];
    assert_eq!((totals.class.as_str(), totals.offered, totals.done, totals.dropped), ("all", 8, 6, 2));
    assert_eq!(outcome.discipline_totals[0].peak_in_use, 2);
    assert_eq!((outcome.in_use[0].count.as_slice(), outcome.in_use[0].truncated), (&[2, 1][..], false));
    assert!((outcome.core_totals[0].busy - 80e-9).abs() < 1e-18);
}

#[test]
fn windows_by_hand() {
    let outcome = played_by(&by_hand(1), 1, &play_told);
    let all = &outcome.windows[0];
    assert_eq!((all.class.as_str(), all.interval, all.counts.as_slice()), ("all", 500e-9, &[3, 0, 1][..]));
    // Delays of 60, 20 and 0, whether they count or not; none; 5.
    let expected = [Some(80.0 / 3.0 * 1e-9), None, Some(5e-9)];
    let near = |pair: (&Option<f64>, &Option<f64>)| match pair {
        (Some(found), Some(wanted)) => (found - wanted).abs() < 1e-17,
        (found, wanted) => found == wanted,
    };
    assert!(all.values.iter().zip(&expected).all(near), "{:?}", all.values);
    // The first window begins before the measured time.
    assert!((value(&outcome, ["cfcfs", "all", "delay", "window_max"]) - 5e-9).abs() < 1e-18);
    assert!(figure(&outcome, ["cfcfs", "a", "delay", "window_max"]).value.is_none());
}

/// Finding C1: delays over time, without being asked for, of the first replication only.
#[test]
fn c1_delay_over_time_by_hand() {
    let told = |replications| played_by(&by_hand(replications), 1, &play_told).delay_over_time;
    let (one, two) = (told(1), told(2));
    assert_eq!(one, two);
    let about: Vec<_> = one.iter().map(|row| (row.discipline.as_str(), row.class.as_str())).collect();
    assert_eq!(about[..4], [("cfcfs", "all"), ("cfcfs", "a"), ("cfcfs", "b"), ("rr", "all")]);
    let longest = one[0].longest.iter().flatten().copied().fold(0.0, f64::max);
    assert!((longest - 60e-9).abs() < 1e-18, "{longest}");
    assert!(one[0].mean.len() > 64 && one[0].mean.iter().flatten().count() < 7, "{:?}", one[0].mean);
}

#[test]
fn books_that_do_not_agree_are_told() {
    let wrong = |server: &ServerScenario, job: Job, sink: &mut Collector, watch: &Watch<'_>| {
        play_told(server, job, sink, watch)?;
        busy(sink, 0, 700, 707, 0);
        Ok(Ended::Finished(Left { offered: 7, ..left() }))
    };
    let outcome = played_by(&by_hand(2), 1, &wrong);
    let failed: Vec<_> =
        outcome.checks.iter().filter(|check| check.ok == Some(false)).map(|check| check.check).collect();
    assert_eq!(failed, ["conservation", "busy time", "conservation", "busy time"]);
    let outcome = played_by(&by_hand(2), 1, &play_told);
    let ok = |name| outcome.checks.iter().any(|check| check.check == name && check.ok == Some(true));
    assert!(ok("conservation") && ok("requests told") && ok("busy time"), "{:?}", outcome.checks);
}

#[test]
fn too_few_requests_have_no_far_quantile() {
    let outcome = played_by(&by_hand(3), 1, &play_told);
    let far = figure(&outcome, ["cfcfs", "all", "slowdown", "p99.99"]);
    assert_eq!((far.value, far.low, far.high, far.count), (None, None, None, 9));
    assert!(far.reason.as_ref().is_some_and(|reason| reason.contains("needs 100000 requests")), "{far:?}");
    let apart = outcome.differences.iter().find(|row| row.metric == "slowdown" && row.statistic == "p99.99");
    let apart = apart.expect("a row");
    assert!(apart.value.is_none() && apart.reason == far.reason, "{apart:?}");
    // Twenty are enough for a median: each replication has three.
    let median = |replications| {
        let outcome = played_by(&by_hand(replications), 1, &play_told);
        figure(&outcome, ["cfcfs", "all", "slowdown", "p50"]).value
    };
    assert!(median(6).is_none() && median(7).is_some());
}

/// Waits of constant services that are ten times those of the closed form.
fn wrong_delays(
    server: &ServerScenario,
    job: Job,
    sink: &mut Collector,
    _watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    let count = server.stop.duration.get() / 2_000;
    for number in 0..count {
        sink.done(&done(0, number * 2_000, number * 2_000 + 5_000 + u64::from(job.replication), 1_000));
    }
    Ok(Ended::Finished(Left { offered: count, done: count, ..Left::default() }))
}

#[test]
fn a_closed_form_that_disagrees_is_told_with_both_values_cause_and_remedy() {
    let mut server = scenario(&["cfcfs"], 1, vec![class("a", 1.0, constant(1_000))], 0.5).expect("specs");
    server.stop.replications = 8;
    server.stop.duration = nanos(20_000_000);
    let told = |server: &ServerScenario, part: &str| {
        let outcome = played_by(server, 1, &wrong_delays);
        let warning = outcome.warnings.iter().find(|one| one.text.contains("by its closed form"));
        let text = &warning.unwrap_or_else(|| panic!("{:?}", outcome.warnings)).text;
        assert!(text.contains("the mean delay of all requests is 500.0 ns by its closed form"), "{text}");
        assert!(text.contains("us in the simulation, 99.9 % interval 4.9") && text.contains(part), "{text}");
    };
    told(&server, "another seed and more than 8 replications");
}

/// Finding A1: nothing is judged by a run that is too short, and it says how long it must be.
#[test]
fn a1_a_closed_form_is_not_judged_by_a_short_run() {
    let mut server = scenario(&["cfcfs"], 1, vec![class("a", 1.0, constant(1_000))], 0.5).expect("specs");
    server.stop.replications = 8;
    server.stop.duration = nanos(20_000);
    let outcome = played_by(&server, 1, &wrong_delays);
    let delay = &outcome.theory[0];
    assert!(delay.value.is_some() && delay.agrees.is_none() && !delay.settled, "{delay:?}");
    assert!(outcome.warnings.iter().all(|one| !one.text.contains("by its closed form")));
    let settling = outcome.course.settling.expect("it is too short");
    let reason = settling.reason.expect("a reason");
    assert!(settling.longer > 1.0 && reason.contains("let a replication last at least"), "{reason}");
}

#[test]
fn what_was_dropped_has_no_closed_form() {
    let mut server =
        scenario(&["cfcfs", "darc"], 1, vec![class("a", 1.0, constant(1_000))], 0.9).expect("specs");
    server.site.queue = Some(1);
    let outcome = played(&server, 1).expect("a result");
    assert!(outcome.theory[0].value.is_none() && outcome.theory[0].formula.contains("requests were dropped"));
    let alone = crate::report::theory_only(&server, &Frame::default());
    assert!(alone.estimates.is_empty() && alone.warnings.is_empty());
    assert!((alone.theory[0].value.expect("a delay") - 4_500e-9).abs() < 1e-15, "{:?}", alone.theory[0]);
    assert!(alone.theory[0].formula.ends_with("as long as no queue is full"));
    assert_eq!(alone.theory.last().expect("a row").formula, "no closed form for darc");
    server.load = Some(1.5);
    server.site.queue = None;
    let Workload::Open(open) = &mut server.workload else { panic!("open") };
    open.mean_gap = 1_000.0 / 1.5;
    assert!(crate::report::theory_only(&server, &Frame::default()).course.unstable.is_some());
}

#[test]
fn a_mean_slowdown_without_a_limit_is_noted() {
    let mut server = by_hand(1);
    assert!(played_by(&server, 1, &play_told).notes.is_empty());
    server.classes[1].service = crate::model::Service::Law(Law::Exponential(nanos(100)));
    let notes = played_by(&server, 1, &play_told).notes;
    assert!(
        notes.len() == 1 && notes[0].contains("mean slowdown of `b`") && notes[0].contains("grid of 1ns")
    );
}

#[test]
fn without_tails_only_means_and_the_longest_are_kept() {
    let with = played_by(&by_hand(2), 1, &play_told);
    let mut server = by_hand(2);
    server.measure.tails = false;
    let without = played_by(&server, 1, &play_told);
    assert!(without.distributions.is_empty() && !with.distributions.is_empty());
    assert!(without.estimates.iter().all(|row| !row.statistic.starts_with('p')));
    for row in &without.estimates {
        assert!(with.estimates.contains(row), "{row:?}");
    }
}

#[test]
fn more_load_than_cores_without_bound_is_a_statement() {
    let mut server = scenario(&["cfcfs"], 2, high_bimodal(), 1.25).expect("specs");
    let outcome = played(&server, 1).expect("a statement");
    assert!(outcome.estimates.is_empty());
    let statement = outcome.course.unstable.expect("a statement");
    assert!(statement.contains("1.25") && statement.contains("2 cores"), "{statement}");
    server.site.queue = Some(10);
    server.stop.replications = 3;
    let outcome = played(&server, 1).expect("a result");
    assert!(outcome.course.unstable.is_none() && value(&outcome, ["cfcfs", "all", "dropped", "mean"]) > 0.1);
    assert!(outcome.warnings[0].text.contains("1.25"), "{:?}", outcome.warnings);
    server.costs.dispatch = nanos(1_000_000);
    let outcome = played(&server, 1).expect("a statement");
    assert!(outcome.course.unstable.is_some_and(|statement| statement.contains("receivers")));
}

/// Finding B11: a ring before the receiver, at loads of it below and above 1, against M/D/1/N.
#[test]
fn b11_a_bounded_ring_loses_what_the_closed_form_says() {
    for (dispatch, ring) in [(900, 1), (900, 4), (1_200, 4), (600, 2)] {
        let classes = vec![class("all", 1.0, constant(500))];
        let mut server = scenario(&["cfcfs", "rr"], 1, classes, 0.5).expect("specs");
        (server.costs.dispatch, server.ring) = (nanos(dispatch), Some(ring));
        (server.stop.warm_up, server.stop.duration) = (nanos(1_000_000), nanos(20_000_000));
        server.stop.replications = 40;
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok == Some(true)), "{:#?}", outcome.checks);
        assert!(outcome.course.unstable.is_none());
        // One is seen to besides those in the ring; a request comes every 1000 ns.
        let expected = weir_theory::md1n_loss(ring + 1, dispatch as f64 / 1_000.0).expect("a load");
        let dropped = figure(&outcome, ["cfcfs", "all", "dropped", "mean"]);
        let (lost, error) = (dropped.value.expect("a value"), dropped.standard_error.expect("an error"));
        assert!((lost - expected).abs() < 4.0 * error, "{dispatch} {ring}: {lost} ±{error}, {expected}");
        assert!(error < 0.05 * expected, "{error}");
    }
    let classes = vec![class("all", 1.0, constant(500))];
    let mut server = scenario(&["cfcfs"], 1, classes, 0.5).expect("specs");
    (server.costs.dispatch, server.stop.duration) = (nanos(1_200), nanos(1_000_000));
    let statement = played(&server, 1).expect("a statement").course.unstable.expect("a statement");
    assert!(statement.contains("server.ring"), "{statement}");
}

/// Of M/M/c+M, whose numbers present are a birth and death process: the share that abandons, and of cores that are busy.
/// Times in mean services.
fn erlang_a(cores: u32, load: f64, patience: f64) -> (f64, f64) {
    let (mut weight, mut all, mut waiting, mut busy) = (1.0, 0.0, 0.0, 0.0);
    let arrivals = load * f64::from(cores);
    for present in 0..2_000_u32 {
        all += weight;
        waiting += weight * f64::from(present.saturating_sub(cores));
        busy += weight * f64::from(present.min(cores));
        let next = present + 1;
        let leaves = f64::from(next.min(cores)) + f64::from(next.saturating_sub(cores)) / patience;
        weight *= arrivals / leaves;
    }
    (waiting / all / patience / arrivals, busy / all / f64::from(cores))
}

/// Palm, *Research on telephone traffic carried by full availability groups*, Tele 1, 1957.
#[test]
fn who_has_no_patience_abandons_as_the_closed_form_says() {
    for (cores, load, patience) in [(1, 0.9, 1.0), (3, 1.2, 2.0), (20, 1.0, 0.5)] {
        let service = 100_000;
        let mut classes = vec![class("all", 1.0, Law::Exponential(nanos(service)))];
        classes[0].patience = Some(Law::Exponential(nanos((service as f64 * patience) as u64)));
        let mut server = scenario(&["cfcfs"], cores, classes, load).expect("specs");
        server.stop.warm_up = nanos(20_000_000);
        server.stop.duration = nanos(400_000_000);
        server.stop.replications = 30;
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        assert!(outcome.course.unstable.is_none() && outcome.theory.len() == 2);
        assert!(outcome.theory.iter().all(|row| row.agrees != Some(false)), "{:#?}", outcome.theory);
        assert!(outcome.theory[1].metric == "abandoned" && outcome.theory[1].agrees == Some(true));
        let (abandons, busy) = erlang_a(cores, load, patience);
        for (name, metric, expected) in [("all", "abandoned", abandons), ("all", "utilisation", busy)] {
            let found = figure(&outcome, ["cfcfs", name, metric, "mean"]);
            let (value, error) = (found.value.expect("a value"), found.standard_error.expect("an error"));
            // The half-width of a 99 % interval with 29 degrees of freedom.
            assert!(
                (value - expected).abs() < 2.756 * error,
                "{metric} {cores} {load}: {value} ±{error}, {expected}"
            );
            assert!(error < 0.01 * expected, "{metric}: {error}");
        }
        let totals = &outcome.class_totals[0];
        assert_eq!(totals.abandoned, Some(totals.dropped));
    }
}

/// Clients that give up, with a budget and without one: the books agree, and what is done in vain is told.
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

/// After a burst a system with a budget comes back, and one without it does not.
#[test]
fn a_burst_tips_what_has_no_budget() {
    let of = |budget: Option<f64>| {
        let classes = vec![class("all", 1.0, Law::Exponential(nanos(10_000)))];
        let mut server = scenario(&["cfcfs"], 2, classes, 0.6).expect("specs");
        server.classes[0].timeout = Some(nanos(100_000));
        server.retry = Some(Retry { attempts: 4, backoff: nanos(20_000), factor: 2.0, jitter: 0.5, budget });
        let Workload::Open(open) = &mut server.workload else { panic!("open") };
        open.burst = Some(Burst { at: nanos(20_000_000), lasts: nanos(2_000_000), factor: 4.0 });
        (server.stop.duration, server.stop.replications) = (nanos(100_000_000), 12);
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        let tipped = figure(&outcome, ["cfcfs", "all", "tipped", "mean"]);
        (tipped.value, tipped.low.expect("an interval"), tipped.high.expect("an interval"))
    };
    let (thrifty, lavish) = (of(Some(0.1)), of(None));
    assert_eq!((thrifty.0, lavish.0), (Some(0.0), Some(1.0)));
    // None of twelve, by Clopper and Pearson.
    assert!((thrifty.2 - 0.2646).abs() < 1e-3 && (lavish.1 - 0.7354).abs() < 1e-3, "{thrifty:?} {lavish:?}");
}

#[test]
fn more_than_is_kept_is_refused() {
    let mut server = by_hand(1);
    server.stop.duration = nanos(1_000_000_000);
    server.measure.window = Some(nanos(100));
    let refused = played(&server, 1).expect_err("too many windows").to_string();
    assert!(refused.contains("measure.window") && refused.contains("at least 2us"), "{refused}");
    server.measure.window = None;
    server.stop.duration = nanos(1 << 62);
    server.stop.replications = 3;
    let refused = played(&server, 1).expect_err("too long").to_string();
    assert!(refused.contains("stop.replications"), "{refused}");
}

/// Several disciplines over a few thousand requests of two classes.
pub(super) fn several(replications: u32) -> ServerScenario {
    let names = ["cfcfs", "rr", "random", "jsq"];
    let mut server = scenario(&names, 4, high_bimodal(), 0.7).expect("specs");
    server.stop.warm_up = nanos(2_000_000);
    server.stop.duration = nanos(40_000_000);
    server.stop.replications = replications;
    server.measure.order = true;
    server.measure.window = Some(nanos(1_000_000));
    server
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let text = |threads| {
        let outcome = played(&several(4), threads).expect("a result");
        serde_json::to_string(&outcome).expect("json")
    };
    let one = text(1);
    assert!(one == text(2) && one == text(8));
}

#[test]
fn the_books_agree_and_every_interval_holds_its_value() {
    let outcome = played(&several(8), 2).expect("a result");
    let wrong: Vec<_> = outcome.checks.iter().filter(|check| check.ok == Some(false)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for wanted in ["conservation", "requests told", "busy time", "work", "Little's law", "utilisation"] {
        assert!(outcome.checks.iter().any(|check| check.check == wanted), "{wanted}");
    }
    let holds = |row: &Figure| match (row.value, row.low, row.high) {
        (Some(value), Some(low), Some(high)) => low <= value && value <= high,
        _ => row.reason.is_some(),
    };
    assert!(outcome.estimates.iter().all(holds));
    let json = serde_json::to_string(&outcome).expect("json");
    assert!(!json.contains("NaN"));
}

/// Each closed form is held against its simulation.
#[test]
fn closed_forms_agree_with_the_simulation() {
    let alike = vec![class("a", 0.5, constant(1_000)), class("b", 0.5, constant(1_000))];
    let exponential = vec![class("a", 1.0, Law::Exponential(nanos(1_000)))];
    let mixed = vec![class("short", 0.9, constant(1_000)), class("long", 0.1, constant(10_000))];
    let cases = [
        (&["cfcfs", "rr", "random"][..], 4, &alike, 0.8),
        (&["cfcfs", "random"][..], 3, &exponential, 0.7),
        (&["random"][..], 3, &mixed, 0.6),
        (&["cfcfs", "rr", "jsq", "flow_hash", "jbsq", "work_stealing"][..], 1, &mixed, 0.6),
        (&["short_first"][..], 1, &mixed, 0.8),
    ];
    for (names, cores, classes, load) in cases {
        let mut server = scenario(names, cores, classes.clone(), load).expect("specs");
        server.stop.warm_up = nanos(1_000_000);
        server.stop.duration = nanos(if classes.len() == 2 { 40_000_000 } else { 20_000_000 });
        server.stop.replications = 8;
        server.measure.tails = false;
        let outcome = played(&server, 2).expect("a result");
        for name in names {
            let of = |row: &&weir_lab::result::TheoryRow| row.discipline.as_deref() == Some(name);
            let rows: Vec<_> = outcome.theory.iter().filter(of).collect();
            assert!(!rows.is_empty(), "{name}");
            for row in rows {
                assert!(
                    row.agrees == Some(true),
                    "{row:?} on {cores}: {:?}",
                    figure(&outcome, [name, &row.class, row.metric, "mean"])
                );
            }
        }
    }
}

/// Pollaczek–Khinchine with the second moment of the law, on one core in order of arrival.
#[test]
fn services_of_the_textbooks_wait_as_pollaczek_and_khinchine_say() {
    let laws = [
        ContinuousLaw::lognormal(10_000.0, 1.5),
        ContinuousLaw::bounded_pareto(1.5, 3_000.0, 300_000.0),
        ContinuousLaw::gamma_of_mean(10_000.0, 0.5),
    ];
    for law in laws.map(|law| law.expect("valid")) {
        let (mean, square) = (law.mean().expect("finite"), law.second_moment().expect("finite"));
        let mut one = class("all", 1.0, constant(1));
        one.service = Service::Textbook(Arc::new(law.clone()));
        let mut server = scenario(&["cfcfs"], 1, vec![one], 0.6).expect("specs");
        server.stop.warm_up = nanos((2e3 * mean) as u64);
        server.stop.duration = nanos((4e4 * mean) as u64);
        server.stop.replications = 30;
        let outcome = played(&server, 2).expect("a result");
        // λ E[S²] / 2(1 - ρ), in seconds.
        let expected = 0.6 / mean * square / (2.0 * 0.4) / 1e9;
        let found = figure(&outcome, ["cfcfs", "all", "delay", "mean"]);
        let (value, error) = (found.value.expect("a value"), found.standard_error.expect("an error"));
        assert!((value - expected).abs() < 2.756 * error, "{law:?}: {value} ±{error}, {expected}");
        assert!(error < 0.05 * expected, "{law:?}: {error} for {expected}");
        let stated = &outcome.theory[0];
        assert!(stated.formula.contains("Pollaczek") && stated.agrees == Some(true), "{stated:?}");
    }
}

/// GI/M/1: `σ = A*(μ (1 - σ))`, and the mean wait is `σ / (μ (1 - σ))` (Kleinrock, *Queueing Systems* 1, section 6.4).
#[test]
fn renewal_arrivals_wait_as_the_closed_form_of_exponential_services_says() {
    let (load, service) = (0.7, 10_000.0);
    let gap = service / load;
    let root = |transform: &dyn Fn(f64) -> f64| {
        (0..10_000).fold(0.5, |sigma: f64, _| transform((1.0 - sigma) / service))
    };
    let erlang = |s: f64| (1.0 + s * gap / 4.0).powi(-4);
    let hyper = Renewal::Hyperexponential(2.0).law(gap).expect("valid");
    let Form::Hyperexponential(branches) = hyper.form() else { panic!("branches") };
    let mixed = |s: f64| branches.iter().map(|(p, mean)| p / (1.0 + s * mean)).sum::<f64>();
    for (renewal, sigma) in
        [(Renewal::Erlang(4), root(&erlang)), (Renewal::Hyperexponential(2.0), root(&mixed))]
    {
        let classes = vec![class("all", 1.0, Law::Exponential(nanos(10_000)))];
        let mut server = scenario(&["cfcfs"], 1, classes, load).expect("specs");
        let Workload::Open(open) = &mut server.workload else { panic!("open") };
        open.process = Process::Arrivals(Arrivals::Renewal(renewal));
        server.stop.warm_up = nanos(20_000_000);
        server.stop.duration = nanos(300_000_000);
        server.stop.replications = 30;
        let outcome = played(&server, 2).expect("a result");
        let expected = sigma / (1.0 - sigma) * service / 1e9;
        let found = figure(&outcome, ["cfcfs", "all", "delay", "mean"]);
        let (value, error) = (found.value.expect("a value"), found.standard_error.expect("an error"));
        assert!((value - expected).abs() < 2.756 * error, "{renewal:?}: {value} ±{error}, {expected}");
        assert!(error < 0.03 * expected, "{renewal:?}: {error} for {expected}");
    }
}

#[test]
fn services_of_infinite_variance_have_no_closed_form_and_a_warning() {
    let mut one = class("all", 1.0, constant(1));
    one.service = Service::Textbook(Arc::new(ContinuousLaw::pareto_of_mean(1.8, 1_000.0).expect("valid")));
    let mut server = scenario(&["cfcfs"], 1, vec![one], 0.5).expect("specs");
    server.stop.duration = nanos(5_000_000);
    let outcome = played(&server, 1).expect("a result");
    assert!(
        outcome.warnings.iter().any(|warning| warning.text.contains("variance of the services is infinite"))
    );
    let refused = crate::closed_form::form(&server, &server.specs[0]).expect_err("no form");
    assert!(refused.contains("variance of the services is infinite"), "{refused}");
}

#[test]
fn a_class_without_a_share_has_no_figures() {
    let classes = vec![class("none", 0.0, constant(500)), class("a", 1.0, constant(1_000))];
    let mut server =
        scenario(&["darc", "rr_separated", "short_first", "cfcfs"], 4, classes, 0.5).expect("specs");
    server.stop.duration = nanos(4_000_000);
    server.stop.replications = 2;
    let outcome = played(&server, 1).expect("a result");
    let timed = |row: &Figure| ["delay", "response", "slowdown", "dropped"].contains(&row.metric);
    for row in outcome.estimates.iter().filter(|row| row.subject.name == "none" && timed(row)) {
        assert_eq!(
            (row.value, row.reason.as_deref()),
            (None, Some("no observations in this run")),
            "{row:?}"
        );
    }
    assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:?}", outcome.checks);
    assert!(!serde_json::to_string(&outcome).expect("json").contains("NaN"));
}

#[test]
fn a_slowdown_of_one_is_read_as_one() {
    let mut server = scenario(&["cfcfs"], 4, vec![class("a", 1.0, constant(1_000))], 0.1).expect("specs");
    server.stop.replications = 4;
    let outcome = played(&server, 1).expect("a result");
    let median = figure(&outcome, ["cfcfs", "a", "slowdown", "p50"]);
    assert_eq!((median.value, median.low, median.high), (Some(1.0), Some(1.0), Some(1.0)));
    let mut slowdowns = outcome.distributions.iter().filter(|row| row.metric == "slowdown");
    assert!(slowdowns.all(|row| row.bins.low.first() == Some(&1.0)));
}

#[test]
fn no_interval_of_a_slowdown_is_below_one_nor_of_a_delay_below_none() {
    // Nearly nobody waits, and once in a while one waits long.
    let rarely = |_: &ServerScenario, job: Job, sink: &mut Collector, _: &Watch<'_>| {
        let waits = if job.replication == 0 { 9_000 } else { 0 };
        (0..400).for_each(|number| sink.done(&done(0, number, number + waits, 1_000)));
        // One of no service, which ends when it arrives.
        sink.done(&done(0, 500, 500, 0));
        Ok(Ended::Finished(Left { offered: 401, done: 401, ..Left::default() }))
    };
    let mut server = by_hand(3);
    server.stop.warm_up = nanos(0);
    server.stop.duration = nanos(1_000_000);
    let outcome = played_by(&server, 1, &rarely);
    let least = |metric| if metric == "slowdown" { 1.0 } else { 0.0 };
    let timed = |row: &&Figure| ["delay", "response", "slowdown"].contains(&row.metric);
    // Too few for the far quantiles, which are withheld.
    let told = |row: &&Figure| !["p99.9", "p99.99"].contains(&row.statistic);
    for row in outcome.estimates.iter().filter(|row| row.subject.name == "a").filter(timed).filter(told) {
        assert!(row.value.is_some_and(|value| value >= least(row.metric)), "{row:?}");
        assert!(row.low.is_none_or(|low| low >= least(row.metric)), "{row:?}");
    }
    let mean = figure(&outcome, ["cfcfs", "a", "slowdown", "mean"]);
    assert_eq!(mean.low, Some(1.0), "{mean:?}");
}

/// Something that is told.
#[derive(Clone, Debug)]
enum Told {
    Done(Done),
    Dropped(u16, u64),
    Busy(u32, u64, u64, u64),
}

fn anything() -> impl Strategy<Value = Told> {
    let request = (0..2_u16, 0..1_200_u64, 0..300_u64, 1..200_u64, any::<bool>(), any::<bool>());
    let done = request.prop_map(|(class, arrived, delay, service, reordered, cold)| {
        Told::Done(Done { reordered, cold, ..done(class, arrived, arrived + delay, service) })
    });
    let dropped = (0..2_u16, 0..1_200_u64).prop_map(|(class, arrived)| Told::Dropped(class, arrived));
    let busy = (0..2_u32, 0..1_200_u64, 1..100_u64)
        .prop_map(|(core, from, span)| Told::Busy(core, from, from + span, span / 3));
    prop_oneof![done, dropped, busy]
}

fn collected(server: &ServerScenario, all: &[Told]) -> Collector {
    let mut collector = Collector::new(server, 0);
    for told in all {
        match told {
            Told::Done(done) => collector.done(done),
            Told::Dropped(class, arrived) => collector.dropped(
                *class,
                Instant::new(*arrived),
                Instant::new(*arrived),
                DropReason::QueueFull,
            ),
            Told::Busy(core, from, until, overhead) => busy(&mut collector, *core, *from, *until, *overhead),
        }
    }
    collector.closed()
}

proptest! {
    #[test]
    fn what_is_kept_does_not_depend_on_the_order(
        all in prop::collection::vec(anything(), 0..60).prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        tails in any::<bool>(),
    ) {
        let mut server = by_hand(1);
        server.measure.tails = tails;
        let (one, other) = (collected(&server, &all.0), collected(&server, &all.1));
        prop_assert_eq!(&one.classes, &other.classes);
        prop_assert_eq!((&one.cores, one.told), (&other.cores, other.told));
        let sums = |collector: &Collector| collector.windows.as_ref().map(|windows| windows.sums.clone());
        let (mut one, mut other) = (sums(&one).expect("windows"), sums(&other).expect("windows"));
        let longer = one.len().max(other.len());
        one.resize(longer, Default::default());
        other.resize(longer, Default::default());
        prop_assert_eq!(one, other);
    }
}
