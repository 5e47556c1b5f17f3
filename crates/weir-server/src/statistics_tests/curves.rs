//! Rates that follow the time: what arrives, and how many are present, against M_t/M/∞.

use super::{figure, nanos, played};
use crate::generators::{class, scenario};
use crate::model::{ServerScenario, Workload};
use std::path::Path;
use weir_lab::scenario::Scenario;
use weir_theory::{Stretch, present_after};
use weir_workload::curve::{Interpolation, Points};
use weir_workload::duration::Law;

/// The mean service, in nanoseconds.
const SERVICE: u64 = 1_000_000;
/// Points of a period of six services: times in services, and rates.
const DAY: [(u64, f64); 3] = [(0, 1.0), (2, 6.0), (3, 0.5)];
const PERIOD: u64 = 6;

/// A server on which nobody waits: as many cores as a pool has, of which a fifth are busy in the mean.
fn day(interpolation: Interpolation, mean_present: f64) -> ServerScenario {
    let classes = vec![class("all", 1.0, Law::Exponential(nanos(SERVICE)))];
    let mut server = scenario(&["cfcfs"], 1_024, classes, mean_present / 1_024.0).expect("specs");
    let mut points = Points::default();
    DAY.iter().for_each(|&(time, rate)| points.add(time * SERVICE, rate).expect("a point"));
    let curve = points.curve(interpolation, Some(PERIOD * SERVICE)).expect("a curve").over_mean();
    let Workload::Open(open) = &mut server.workload else { panic!("open") };
    open.curve = Some(curve);
    server.stop.replications = 30;
    server
}

/// The mean number present over `[from, until)`, in services: one who arrives at 0, and the curve by short stretches.
fn present(server: &ServerScenario, (from, until): (f64, f64)) -> f64 {
    const STEPS: u32 = 2_000;
    let (open, curve) = server.curve().expect("a curve");
    let step = until / f64::from(STEPS);
    let arrived = |at: f64| curve.before(at * SERVICE as f64) / open.mean_gap;
    let stretch = |number: u32| {
        let begin = f64::from(number) * step;
        Stretch { lasts: step, rate: (arrived(begin + step) - arrived(begin)) / step }
    };
    let stretches: Vec<Stretch> = (0..STEPS).map(stretch).collect();
    let at = |time: f64| present_after(1.0, &stretches, 1.0, time).expect("stretches");
    let pieces = 200;
    let middle = |piece: u32| from + (until - from) * (f64::from(piece) + 0.5) / f64::from(pieces);
    (0..pieces).map(|piece| at(middle(piece))).sum::<f64>() / f64::from(pieces)
}

/// Eick, Massey and Whitt, *The physics of the M_t/G/∞ queue*, Operations Research 41, 1993, theorem 1: on the way up, at
/// the peak, after it, and in the second period.
#[test]
fn as_many_are_present_as_in_a_queue_where_nobody_waits() {
    for interpolation in [Interpolation::Constant, Interpolation::Linear] {
        for (from, until) in [(0.0, 1.0), (2.0, 2.5), (2.5, 3.0), (3.5, 4.5), (8.0, 9.0)] {
            let mut server = day(interpolation, 200.0);
            let at = |time: f64| nanos((time * SERVICE as f64) as u64);
            (server.stop.warm_up, server.stop.duration) = (at(from), at(until));
            server.measure.tails = false;
            let outcome = played(&server, 2).expect("a result");
            assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
            assert!(outcome.theory.iter().all(|row| row.formula.contains("follows a curve")));
            let busy = figure(&outcome, ["cfcfs", "all", "utilisation", "mean"]);
            let (found, error) = (busy.value.expect("a value"), busy.standard_error.expect("an error"));
            let expected = present(&server, (from, until)) / 1_024.0;
            // The half-width of a 99 % interval with 29 degrees of freedom.
            assert!(
                (found - expected).abs() < 2.756 * error,
                "{interpolation:?} {from}: {found} ±{error}, {expected}"
            );
            assert!(error < 0.02 * expected, "{error} {expected}");
        }
    }
}

/// Windows, which are those of the first replication, hold as many requests as the integral of the rate over them, within four
/// deviations of a Poisson law.
#[test]
fn windows_show_the_course() {
    for interpolation in [Interpolation::Constant, Interpolation::Linear] {
        let mut server = day(interpolation, 200.0);
        (server.stop.duration, server.measure.window) =
            (nanos(2 * PERIOD * SERVICE), Some(nanos(SERVICE / 2)));
        let outcome = played(&server, 2).expect("a result");
        let (open, curve) = server.curve().expect("a curve");
        let windows = &outcome.windows[0];
        assert_eq!(windows.counts.len(), 24);
        for (place, &count) in (0_u32..).zip(&windows.counts) {
            let end = |place: u32| curve.before(f64::from(place) * SERVICE as f64 / 2.0) / open.mean_gap;
            // One at time 0 comes on top.
            let first = f64::from(u8::from(place == 0));
            let expected = end(place + 1) - end(place) + first;
            let apart = (count as f64 - expected).abs() / expected.sqrt();
            assert!(apart < 4.0, "{interpolation:?} {place}: {count} {expected}");
        }
        let note = outcome.notes.iter().find(|note| note.contains("workload.curve")).expect("a note");
        assert!(note.contains("over its period of 6ms, at most 0."), "{note}");
        assert!(!outcome.warnings.iter().any(|warning| warning.text.contains("periods of")));
    }
}

#[test]
fn what_a_curve_does_not_have_is_said() {
    let mut server = day(Interpolation::Constant, 200.0);
    (server.stop.duration, server.stop.replications) = (nanos(9 * SERVICE), 2);
    let outcome = played(&server, 1).expect("a result");
    let warned = |text: &str| outcome.warnings.iter().any(|warning| warning.text.contains(text));
    assert!(warned("9ms are measured, 1.50 periods of workload.curve"), "{:?}", outcome.warnings);
    // More comes in a period than can be done: no mean, though at night queues are short.
    let mut server = day(Interpolation::Constant, 1_100.0);
    server.stop.duration = nanos(12 * SERVICE);
    let statement = played(&server, 1).expect("a statement").course.unstable.expect("a statement");
    assert!(statement.contains("queues grow without end"), "{statement}");
}

/// The example of a day: fourteen workers meet its need in the afternoon, thirteen do not, and as many as the mean of the day
/// would take are far from it.
#[test]
fn the_day_of_the_example_needs_fourteen_workers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/day-profile/reports.toml");
    let scenario = Scenario::<ServerScenario>::from_file(Path::new(path)).expect("a scenario");
    let needed = 8.0;
    let mut server = scenario.model;
    let mut p99 = |cores: u32| {
        server.site.servers = cores;
        let outcome = played(&server, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        let found = figure(&outcome, ["cfcfs", "all", "response", "p99"]);
        [found.low, found.high].map(|end| end.expect("an interval"))
    };
    let (eight, thirteen, fourteen) = (p99(8), p99(13), p99(14));
    assert!(eight[0] > 100.0 * needed, "{eight:?}");
    assert!(thirteen[0] > needed && fourteen[1] < needed, "{thirteen:?} {fourteen:?}");
}
