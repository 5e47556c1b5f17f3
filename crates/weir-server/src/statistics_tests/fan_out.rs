//! Requests that go to several cores: closed forms, a split and merge, and the books.

use super::{constant, figure, nanos, played, value};
use crate::generators::{class, scenario};
use crate::model::{After, Cancel, Closed, Draws, FanOut, Hedge, ServerScenario, Workload};
use crate::outcome::ServerOutcome;
use weir_workload::duration::Law;

/// Exponential services of 10 us, `arrival` requests in the time of a service, on `cores` cores.
fn made(disciplines: &[&str], cores: u32, fan_out: FanOut, arrival: f64) -> ServerScenario {
    let classes = vec![class("all", 1.0, Law::Exponential(nanos(10_000)))];
    let mut server = scenario(disciplines, cores, classes, arrival / f64::from(cores)).expect("specs");
    server.load = None;
    server.fan_out = Some(fan_out);
    (server.stop.warm_up, server.stop.duration) = (nanos(20_000_000), nanos(220_000_000));
    server.stop.replications = 8;
    server
}

fn of(to: u32, need: u32, cancel: Cancel) -> FanOut {
    FanOut { to, need, cancel, service: Draws::Own, hedge: None }
}

fn outcome(server: &ServerScenario) -> ServerOutcome {
    let outcome = played(server, 2).expect("a result");
    assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
    outcome
}

/// Rows of closed forms are covered by the 99.9 % interval of what is simulated; all rows are judged.
fn agrees(server: &ServerScenario, formula: &str) {
    let outcome = outcome(server);
    assert_eq!(outcome.theory.len(), server.disciplines.len());
    for row in &outcome.theory {
        assert!(row.formula.starts_with(formula) && row.metric == "response", "{row:?}");
        assert_eq!(row.agrees, Some(true), "{row:?} {:?}", outcome.estimates);
    }
}

#[test]
fn two_cores_fork_and_join_as_flatto_and_hahn_say() {
    for arrival in [0.3, 0.7] {
        agrees(&made(&["random", "jsq", "flow_hash"], 2, of(2, 2, Cancel::Waiting), arrival), "Flatto-Hahn");
    }
}

#[test]
fn the_first_of_several_is_as_gardner_and_others_say() {
    for (cores, to, arrival) in [(4, 2, 2.4), (6, 3, 3.0), (5, 5, 3.5)] {
        agrees(&made(&["random"], cores, of(to, 1, Cancel::All), arrival), "Gardner");
    }
}

/// Nelson and Tantawi say within 5 % what many cores take, and are not held against the simulation.
#[test]
fn many_cores_fork_and_join_nearly_as_nelson_and_tantawi_say() {
    let outcome = outcome(&made(&["random"], 16, of(16, 16, Cancel::Waiting), 0.6));
    let row = &outcome.theory[0];
    let found = value(&outcome, ["random", "all", "response", "mean"]);
    assert!(
        row.agrees.is_none() && (row.value.expect("a form") / found - 1.0).abs() < 0.05,
        "{row:?} {found}"
    );
}

/// One client on idle cores: the answer takes as long as the `need`th shortest of the services, `H(k) - H(k - q)` of them.
#[test]
fn a_single_client_splits_and_merges() {
    for (to, need, cancel) in [(8, 8, Cancel::Waiting), (8, 5, Cancel::All), (6, 1, Cancel::All)] {
        let mut server = made(&["cfcfs", "random"], 8, of(to, need, cancel), 0.5);
        server.workload = Workload::Closed(Closed { clients: 1, think: Law::Constant(nanos(0)).into() });
        let outcome = outcome(&server);
        let expected: f64 = (to - need + 1..=to).map(|left| 10e-6 / f64::from(left)).sum();
        for discipline in ["cfcfs", "random"] {
            let found = figure(&outcome, [discipline, "all", "response", "mean"]);
            let (low, high) = (found.low.expect("an end"), found.high.expect("an end"));
            // Services are of whole nanoseconds, and at least one.
            let middle = found.value.expect("a mean");
            let wide = (high - low) * 0.75;
            assert!(
                (middle - expected).abs() < wide + 1e-9,
                "{discipline} {to} {need}: {found:?} {expected}"
            );
            assert!((value(&outcome, [discipline, "all", "slowdown", "mean"]) - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn a_fan_out_to_one_core_is_none() {
    let plain = |fan_out| {
        let mut server = made(&["jsq"], 3, of(1, 1, Cancel::Waiting), 2.0);
        server.fan_out = fan_out;
        let outcome = outcome(&server);
        ["delay", "response", "slowdown"].map(|metric| figure(&outcome, ["jsq", "all", metric, "p99"]).value)
    };
    assert_eq!(plain(None), plain(Some(of(1, 1, Cancel::Waiting))));
}

/// What is wasted and cancelled adds up, whatever is cancelled; and the answers come sooner where more is.
#[test]
fn what_is_not_needed_is_wasted_or_cancelled() {
    let run = |cancel: Cancel| {
        let outcome = outcome(&made(&["random"], 4, of(3, 2, cancel), 0.8));
        let of = |metric: &str| {
            let row = outcome.estimates.iter().find(|row| row.metric == metric && row.statistic == "mean");
            row.and_then(|row| row.value)
        };
        let totals = &outcome.class_totals[0];
        assert_eq!(totals.sent.expect("counted"), 3 * totals.offered);
        (of("wasted").expect("told"), of("cancelled"), of("response").expect("told"))
    };
    let (all, waiting, none) = (run(Cancel::All), run(Cancel::Waiting), run(Cancel::None));
    assert!(none.1.is_none() && all.1 > waiting.1 && waiting.1 > Some(0.0), "{all:?} {waiting:?} {none:?}");
    assert!(all.0 < waiting.0 && waiting.0 < none.0, "{all:?} {waiting:?} {none:?}");
    assert!(all.2 < waiting.2 && waiting.2 < none.2, "{all:?} {waiting:?} {none:?}");
}

/// A second copy after the quantile goes to as many as lie above it, and shortens the tail of services that vary.
#[test]
fn a_second_copy_after_a_quantile_goes_for_what_lies_above_it() {
    let run = |after: Option<After>| {
        let slow = Law::Exponential(nanos(400_000));
        let classes = vec![class("quick", 0.95, constant(10_000)), class("slow", 0.05, slow)];
        let mut server = scenario(&["random"], 8, classes, 0.1).expect("specs");
        let hedge = after.map(|after| Hedge { after, cancel: Cancel::Waiting, service: Draws::Own });
        server.fan_out = Some(FanOut { hedge, ..of(1, 1, Cancel::Waiting) });
        (server.stop.warm_up, server.stop.duration) = (nanos(40_000_000), nanos(400_000_000));
        server.stop.replications = 4;
        outcome(&server)
    };
    let (never, seen) = (run(None), run(Some(After::Quantile(0.9))));
    let hedged = value(&seen, ["random", "slow", "hedged", "mean"]);
    assert!((hedged - 0.1).abs() < 0.03, "{hedged}");
    let tail = |outcome: &ServerOutcome| value(outcome, ["random", "slow", "response", "p99"]);
    assert!(tail(&seen) < tail(&never), "{} {}", tail(&seen), tail(&never));
    let soon = run(Some(After::Span(nanos(1))));
    assert!((value(&soon, ["random", "all", "hedged", "mean"]) - 1.0).abs() < 1e-9);
}
