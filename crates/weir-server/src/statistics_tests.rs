//! Reports made by hand, and what becomes of them: the collector, figures, checks, windows; whole runs and their books. Closed
//! forms, clients that give up and requests that go to several cores have files of their own.

mod closed_forms;
mod curves;
mod fan_out;
mod gives_up;
mod over_time;
mod records;

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use crate::collector::Collector;
use crate::generators::{class, high_bimodal, scenario};
use crate::job::{Ended, Job, Left};
use crate::model::ServerScenario;
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
use weir_workload::duration::Law;

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
    assert!(ok("conservation") && ok("requests reported") && ok("busy time"), "{:?}", outcome.checks);
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
    for wanted in ["conservation", "requests reported", "busy time", "work", "Little's law", "utilisation"] {
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

/// Something that is reported.
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
