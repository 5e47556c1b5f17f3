//! Searches on made slowdowns and on small servers; shares by hand; refusals word by word.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use super::{Asked, SloError, SloSearch, Verdict, highest_load, highest_load_with};
use crate::collector::Collector;
use crate::generators::{class, lab, scenario};
use crate::job::{Ended, Job, Left};
use crate::model::{Closed, ServerScenario, Workload};
use crate::record::Sink;
use crate::statistics_tests::{constant, done, nanos, several, with_control};
use weir_core::discipline::DropReason;
use weir_core::units::Instant;
use weir_lab::control::{Control, Watch};
use weir_lab::error::RunError;
use weir_lab::stats::testing::Noise;

/// A queue whose slowdowns are exponential, 1 and beyond by `load / (1 - load)` in the mean.
fn exponential_slowdowns(
    server: &ServerScenario,
    job: Job,
    sink: &mut Collector,
    _watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    let load = server.load.expect("a load");
    let Workload::Open(open) = &server.workload else { panic!("open") };
    let mut noise = Noise::new(u64::from(job.replication) + 1);
    let count = (server.stop.duration.get() as f64 / open.mean_gap) as u64;
    for number in 0..count {
        let arrived = (number as f64 * open.mean_gap) as u64;
        let delay = (noise.exponential() * 1e6 * load / (1.0 - load)) as u64;
        sink.done(&done(0, arrived, arrived + delay, 1_000_000));
    }
    Ok(Ended::Finished(Left { offered: count, done: count, ..Left::default() }))
}

fn searched(server: &ServerScenario) -> SloSearch {
    let asked = Asked { class: Some("all".to_owned()), quantile: "p99", bound: 10.0 };
    with_control(2, |control| highest_load_with(server, 0, &asked, 0.01, control, &exponential_slowdowns))
        .expect("a search")
}

#[test]
fn the_highest_load_is_bracketed() {
    let mut server = scenario(&["cfcfs"], 1, vec![class("a", 1.0, constant(1_000_000))], 0.5).expect("specs");
    server.stop.replications = 8;
    server.stop.duration = nanos(50_000_000_000);
    let found = searched(&server);
    // 1 + 4.60517 load / (1 - load) = 10.
    let exact = 9.0 / (9.0 + 100.0_f64.ln());
    let (met, not_met) = (found.met.expect("met"), found.not_met.expect("not met"));
    assert!(met.load < exact && exact < not_met.load, "{met:?}, {not_met:?}");
    // The share of those beyond the bound decides, and the quantile says the same.
    let left_out = 1.0 - 0.99;
    assert!(met.high.is_some_and(|high| high <= left_out) && met.value.is_some_and(|value| value <= 10.0));
    assert!(not_met.low.is_some_and(|low| low > left_out) && not_met.value.is_some_and(|value| value > 10.0));
    assert!(not_met.load - met.load < 0.05 && found.probes >= 6, "{met:?}, {not_met:?}");
    assert_eq!(found.reached, not_met.load - met.load <= 0.01 * not_met.load);
    let is_ordered = found.tried.is_sorted_by(|a, b| a.load <= b.load);
    assert!(is_ordered && found.tried.len() == found.probes as usize);
}

#[test]
fn what_a_run_cannot_decide_stays_open() {
    let mut server = scenario(&["cfcfs"], 1, vec![class("a", 1.0, constant(1_000_000))], 0.5).expect("specs");
    server.stop.replications = 2;
    server.stop.duration = nanos(4_000_000_000);
    let found = searched(&server);
    assert!(!found.reached && found.probes < 60);
    assert!(found.tried.iter().any(|probe| probe.verdict == Verdict::Undecided), "{found:?}");
}

/// What is wrong with a question, and what to ask instead.
fn told(error: &SloError) -> (String, String) {
    let SloError::Asked { remedy, .. } = error else { panic!("{error:?}") };
    (error.to_string(), remedy.clone())
}

/// Of a question that is refused.
fn question(server: &ServerScenario, place: usize, asked: &Asked, precision: f64) -> (String, String) {
    let found = with_control(1, |control| highest_load(server, place, asked, precision, control));
    told(&found.expect_err("refused"))
}

#[test]
fn a_question_that_cannot_be_answered_is_refused() {
    let server = several(2);
    let asked = Asked { class: None, quantile: "p99.9", bound: 10.0 };
    let of_class = |name: &str| Asked { class: Some(name.to_owned()), ..asked.clone() };
    let of_bound = |bound| Asked { bound, ..asked.clone() };
    for (place, asked, precision, reason, remedy) in [
        (4, &asked, 0.01, "discipline is the one at place 4, must be below 4", "name one of the scenario"),
        (0, &asked, 0.0, "precision is 0, must be from 0.0001 to 0.5", "write one such as 0.01"),
        (
            0,
            &of_bound(1.0),
            0.01,
            "bound is 1, must be above 1: a request that never waits has slowdown 1",
            "write one such as 10.0",
        ),
        (
            0,
            &of_bound(1.0004),
            0.01,
            "bound is 1.0004, finer than the measurement: slowdowns are known to the nearest 0.001, so it must be at least 1.001",
            "raise it",
        ),
        (
            0,
            &of_class("shrt"),
            0.01,
            "class `shrt` is not a class of the scenario",
            "did you mean `short`? choose one of `short`, `long`, and `all` of them together",
        ),
    ] {
        assert_eq!(question(&server, place, asked, precision), (reason.to_owned(), remedy.to_owned()));
    }
    let quantile = told(&Asked::new(None, "p98", 10.0).expect_err("refused"));
    let reason = "quantile is `p98`, must be one of p50, p90, p99, p99.9, p99.99";
    assert_eq!(quantile, (reason.to_owned(), "write one such as p99.9".to_owned()));
    for bound in [f64::NAN, f64::INFINITY, -2.0] {
        assert!(question(&server, 0, &of_bound(bound), 0.01).0.contains("must be above 1"), "{bound}");
    }
}

#[test]
fn a_scenario_without_one_load_is_refused_at_its_key() {
    let asked = Asked { class: None, quantile: "p99.9", bound: 10.0 };
    let refused = |server: &ServerScenario| {
        with_control(1, |control| highest_load(server, 0, &asked, 0.01, control)).expect_err("refused")
    };
    let key = |server: &ServerScenario| match refused(server) {
        SloError::Scenario(wrong) => wrong.key.join("."),
        other => panic!("{other:?}"),
    };
    let mut server = several(1);
    assert_eq!(key(&server), "stop.replications");
    server = several(2);
    server.workload = Workload::Trace(Default::default());
    assert_eq!(key(&server), "workload.trace");
    server.workload = Workload::Closed(Closed { clients: 2, think: constant(10) });
    assert_eq!(key(&server), "workload.closed");
    server = lab(&["rr"], false, nanos(1_000_000)).expect("specs");
    assert_eq!(key(&server), "workload.levels");
    server = several(2);
    let few = Asked { quantile: "p99.99", ..asked.clone() };
    let few = with_control(1, |control| highest_load(&server, 0, &few, 0.01, control)).expect_err("refused");
    assert!(matches!(&few, SloError::Run(error) if error.to_string().contains("too few")), "{few:?}");
}

/// Of every thousand requests of a replication so many are dropped, and so many slow: a slowdown of 20 where the others
/// have exactly 1.
fn played_as(
    each: [(u64, u64); 2],
) -> impl Fn(&ServerScenario, Job, &mut Collector, &Watch<'_>) -> Result<Ended, RunError> {
    move |_server, job, sink, _watch| {
        let (dropped, slow) = each[job.replication as usize % 2];
        for number in 0..20_000_u64 {
            let (arrived, place) = (number * 10, number % 1_000);
            match place {
                _ if place < dropped => {
                    sink.dropped(0, Instant::new(arrived), Instant::new(arrived), DropReason::QueueFull)
                }
                _ if place < dropped + slow => sink.done(&done(0, arrived, arrived + 19_000, 1_000)),
                _ => sink.done(&done(0, arrived, arrived, 1_000)),
            }
        }
        let dropped = dropped * 20;
        Ok(Ended::Finished(Left { offered: 20_000, done: 20_000 - dropped, dropped, ..Left::default() }))
    }
}

/// One class of requests that are all alike, in two replications.
fn alike() -> ServerScenario {
    let mut server = scenario(&["cfcfs"], 1, vec![class("a", 1.0, constant(1_000))], 0.5).expect("specs");
    server.stop.replications = 2;
    server.stop.duration = nanos(1_000_000_000);
    server
}

/// What is found where the load changes nothing.
fn judged_at_any_load(each: [(u64, u64); 2], bound: f64) -> SloSearch {
    let asked = Asked { class: None, quantile: "p99", bound };
    let play = played_as(each);
    with_control(1, |control| highest_load_with(&alike(), 0, &asked, 0.4, control, &play)).expect("a search")
}

#[test]
fn drops_and_slow_requests_have_one_budget() {
    // Ten in a thousand may be beyond the bound: eight that are dropped or eight that are slow, and not six and six.
    for (dropped, slow, verdict, value) in [
        (8, 0, Verdict::Met, Some(1.0)),
        (0, 8, Verdict::Met, Some(1.0)),
        (5, 5, Verdict::Met, Some(1.0)),
        (6, 6, Verdict::NotMet, Some(20.0)),
        (12, 0, Verdict::NotMet, None),
    ] {
        let found = judged_at_any_load([(dropped, slow); 2], 10.0);
        let probe = &found.tried[0];
        assert_eq!((probe.verdict, probe.value), (verdict, value), "{dropped}, {slow}: {found:?}");
        assert!(probe.beyond.is_some_and(|beyond| (beyond - (dropped + slow) as f64 / 1e3).abs() < 1e-12));
        assert!((probe.dropped - dropped as f64 / 1e3).abs() < 1e-12);
    }
}

#[test]
fn the_interval_of_the_share_by_hand() {
    // Shares of 8 and 10 in a thousand: 9 with a standard error of 1, and t of one degree of freedom.
    let found = judged_at_any_load([(8, 0), (4, 6)], 10.0);
    let probe = &found.tried[0];
    let half = 12.706_204_736 * 1e-3;
    assert!(probe.beyond.is_some_and(|beyond| (beyond - 9e-3).abs() < 1e-12), "{probe:?}");
    assert!(probe.high.is_some_and(|high| (high - (9e-3 + half)).abs() < 1e-9), "{probe:?}");
    assert_eq!((probe.low, probe.verdict), (Some(0.0), Verdict::Undecided));
    // Nobody of 40,000 is beyond it.
    let found = judged_at_any_load([(0, 0); 2], 10.0);
    assert_eq!((found.tried[0].low, found.tried[0].high), (Some(0.0), Some(3.0 / 40_000.0)));
    assert!(found.reached && found.not_met.is_none(), "{found:?}");
    let found = judged_at_any_load([(12, 0); 2], 10.0);
    assert!(found.reached && found.met.is_none() && found.from < found.tried[0].load, "{found:?}");
}

#[test]
fn a_bound_of_one_thousandth_is_told_from_none() {
    let play = |delay: u64| {
        move |_: &ServerScenario, _: Job, sink: &mut Collector, _: &Watch<'_>| {
            (0..2_000).for_each(|number| sink.done(&done(0, number, number + delay, 10_000)));
            Ok(Ended::Finished(Left { offered: 2_000, done: 2_000, ..Left::default() }))
        }
    };
    let asked = Asked { class: None, quantile: "p99", bound: 1.001 };
    let verdict = |delay| {
        let search =
            with_control(1, |control| highest_load_with(&alike(), 0, &asked, 0.5, control, &play(delay)));
        search.expect("a search").tried[0].verdict
    };
    assert_eq!([0, 10, 20].map(verdict), [Verdict::Met, Verdict::Met, Verdict::NotMet]);
}

#[test]
fn a_central_queue_carries_more_than_queues_at_random() {
    let classes = vec![class("short", 0.95, constant(500)), class("long", 0.05, constant(5_000))];
    let mut server = scenario(&["cfcfs", "random"], 4, classes, 0.5).expect("specs");
    server.stop.duration = nanos(3_000_000);
    server.stop.replications = 4;
    let asked = Asked { class: None, quantile: "p99", bound: 5.0 };
    let found = [0, 1].map(|place| {
        with_control(2, |control| highest_load(&server, place, &asked, 0.1, control)).expect("a search")
    });
    let met = found.each_ref().map(|search| search.met.as_ref().map_or(0.0, |probe| probe.load));
    assert!(met[0] > 1.5 * met[1], "{found:#?}");
}

#[test]
fn a_class_without_a_share_is_not_searched() {
    let classes = vec![class("none", 0.0, constant(500)), class("a", 1.0, constant(1_000))];
    let mut server = scenario(&["cfcfs"], 4, classes, 0.5).expect("specs");
    server.stop.replications = 2;
    let asked = Asked { class: None, quantile: "p99", bound: 10.0 };
    let found = with_control(1, |control| highest_load(&server, 0, &asked, 0.3, control)).expect("a search");
    assert!(found.tried.iter().all(|probe| probe.class == "a"), "{found:?}");
    let none = Asked { class: Some("none".to_owned()), ..asked };
    assert!(question(&server, 0, &none, 0.3).0.contains("has a share of 0"));
}

#[test]
fn a_search_that_was_broken_off_and_one_that_has_not_begun() {
    let (cancel, threads) = (AtomicBool::new(true), NonZeroUsize::MIN);
    let asked = Asked { class: None, quantile: "p99", bound: 10.0 };
    let mut control = Control { threads, cancel: &cancel, progress: &mut |_| {}, records: None };
    let begun = highest_load(&several(2), 0, &asked, 0.1, &mut control).expect("a search");
    let never = SloSearch::not_begun(&several(2), 1, &asked, 0.1);
    for (search, name) in [(begun, "cfcfs"), (never, "rr")] {
        assert_eq!((search.discipline.as_str(), search.probes, search.interrupted), (name, 0, true));
        assert!(search.met.is_none() && search.not_met.is_none() && !search.reached, "{search:?}");
    }
}
