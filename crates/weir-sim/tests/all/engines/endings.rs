//! How a run ends: broken off, at its precision or short of it, or before it begins.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use super::script::{all_checks_hold, broken_off, mean, outcome, scenario};
use weir_sim::port::build::{Layout, flows, lanes, metrics};
use weir_sim::port::collector::Plan;
use weir_sim::port::rounds::{Grain, Rounds, Standing};

const ENDLESS: &str = "[workload]\nload = 0.9\n[stop]\npackets = 1_000_000_000\nreplications = 2\n\
                       warm_up = \"none\"\n[measure]\ntails = false\n";

#[test]
fn a_run_broken_off_keeps_what_is_finished() {
    let scenario = scenario(&["fifo", "sf", "hrrn", "psjf"], ENDLESS);
    let result = broken_off(&scenario, 2, true);
    assert!(result.interrupted && result.unstable.is_none());
    assert!(result.ticks > 0 && result.ticks < 100_000_000);
    for discipline in ["fifo", "sf", "hrrn", "psjf"] {
        assert!(mean(&result, discipline, "latency").is_some_and(|mean| mean > 1.0));
    }
    all_checks_hold(&result);
}

#[test]
fn broken_off_all_disciplines_have_served_as_much() {
    let scenario = scenario(&["fifo", "sf", "hrrn", "psjf", "outstanding(rr,limit=1)"], ENDLESS);
    let port = scenario.port().expect("a port");
    let (metrics, flows) = (metrics(port), flows(port));
    let plan = Plan { flows, batch: 1 << 12, ..Plan::means(metrics, port.classes.len()) };
    let layout = Layout { plan, records: false };
    let placed = lanes(port, &layout, 0).expect("lanes").into_iter().map(|lane| (0, lane)).collect();
    let mut rounds = Rounds::new(
        placed,
        u64::MAX,
        Grain { batch: 1 << 12, records: false },
        NonZeroUsize::new(2).expect("two"),
    );
    let round = 5 << 12;
    assert_eq!(rounds.advance(round, &AtomicBool::new(false)), Standing::Going);
    assert_eq!(rounds.advance(2 * round, &AtomicBool::new(true)), Standing::Interrupted);
    for running in &rounds.lanes {
        for place in 0..running.placed.disciplines.len() {
            assert_eq!(running.placed.lane.state(place).ticks, 2 * round);
        }
    }
}

#[test]
fn there_is_no_mean_at_a_load_of_one() {
    for load in ["1", "1.0001", "40"] {
        let result = outcome(&scenario(&["fifo", "sf"], &format!("[workload]\nload = {load}\n")), 1);
        assert!(result.estimates.is_empty() && result.differences.is_empty() && result.theory.is_empty());
        let statement = result.unstable.expect("a statement");
        assert!(statement.contains(&format!("offered load {load}")), "{statement}");
        assert_eq!(result.disciplines, ["fifo", "sf"]);
    }
}

#[test]
fn a_precision_within_reach_ends_the_run_early() {
    let rest = "[workload]\nload = 0.5\n[stop]\npackets = 50_000_000\nprecision = \"5%\"\n";
    let result = outcome(&scenario(&["fifo", "sf"], rest), 1);
    let precision = result.precision.expect("it was asked for");
    assert!(precision.met && precision.unmet.is_empty() && precision.target == 0.05);
    assert!(result.ticks < 50_000_000 && !result.interrupted);
    for figure in result.estimates.iter().filter(|f| f.statistic == "mean" && f.metric == "latency") {
        let (value, low, high) =
            figure.value.zip(figure.low).zip(figure.high).map(|((v, l), h)| (v, l, h)).expect("an interval");
        assert!((high - low) / 2.0 <= 0.05 * value, "{figure:?}");
    }
}

#[test]
fn a_precision_out_of_reach_is_said_to_be() {
    let rest = "[workload]\nload = 0.9\n[stop]\npackets = 40_000\nprecision = \"0.1%\"\n";
    let result = outcome(&scenario(&["fifo", "sf"], rest), 1);
    let precision = result.precision.expect("it was asked for");
    assert!(!precision.met && precision.unmet.iter().any(|series| series == "fifo all"), "{precision:?}");
    assert_eq!(result.ticks, 40_000);
}
