//! Windows: by hand, and against the figures of the whole run.

use crate::model::FabricScenario;
use crate::outcome::FabricOutcome;
use crate::over_time::Windows;
use crate::record::{Delivery, Generation, Injection};
use crate::statistics_tests::{figure, run_on, small, text};
use crate::time::TICKS_PER_NANO;
use weir_core::units::Nanos;
use weir_lab::stats::windows::{OverTimeRow, over_replications};

fn row<'o>(
    all: &'o [OverTimeRow],
    discipline: &str,
    name: Option<&str>,
    what: (&str, &str),
) -> &'o OverTimeRow {
    let is = |row: &&OverTimeRow| {
        (row.discipline.as_str(), row.name.as_deref()) == (discipline, name)
            && (row.metric.as_str(), row.statistic.as_str()) == what
    };
    all.iter().find(is).unwrap_or_else(|| panic!("{what:?} of {name:?}"))
}

/// One load, from the beginning, in windows of 70 us: five, the last cut off.
fn whole(replications: u32) -> FabricScenario {
    let mut fabric = small();
    fabric.traffic.loads = vec![0.9];
    fabric.stop.replications = replications;
    fabric.stop.warm_up = Nanos::ZERO;
    fabric.over_time = Some(Nanos::new(70_000));
    fabric
}

#[test]
fn windows_by_hand() {
    let mut fabric = whole(1);
    (fabric.stop.duration, fabric.over_time) = (Nanos::new(250), Some(Nanos::new(100)));
    let mut windows = Windows::new(&fabric).expect("asked for");
    let at = |nanos: u64| nanos * TICKS_PER_NANO;
    // Outside for 40 ns of the first window and 20 of the second, inside for 100 of the second and third.
    windows.generated(&Generation { at: at(60), source: 0, channel: 1, size: 64 });
    windows.injected(&Injection { at: at(120), generated: at(60), source: 0, channel: 1, size: 64 });
    windows.delivered(&Delivery {
        generated: at(60),
        injected: at(120),
        delivered: at(220),
        source: 0,
        destination: 1,
        flow: 0,
        sequence: 0,
        size: 64,
        channel: 1,
        last: true,
    });
    // It never enters.
    windows.generated(&Generation { at: at(200), source: 1, channel: 0, size: 64 });
    let told = over_replications("drr", Nanos::new(100), &[&windows.figures(&fabric)]);
    let channels: Vec<&str> = fabric.channels.iter().map(|channel| channel.name.as_str()).collect();
    let values = |name, metric, statistic| row(&told, "drr", name, (metric, statistic)).values.clone();
    assert_eq!(values(Some(channels[1]), "outside", "mean"), [Some(0.4), Some(0.2), Some(0.0)]);
    assert_eq!(values(Some(channels[0]), "outside", "mean"), [Some(0.0), Some(0.0), Some(1.0)]);
    assert_eq!(values(None, "outside", "mean"), [Some(0.4), Some(0.2), Some(1.0)]);
    assert_eq!(values(None, "inside", "mean"), [Some(0.0), Some(0.8), Some(0.4)]);
    assert_eq!(values(None, "delivered", "count"), [Some(0.0), Some(0.0), Some(1.0)]);
    assert_eq!(values(None, "latency", "mean"), [None, None, Some(100e-9)]);
    assert_eq!(values(None, "latency", "p50"), [None; 3]);
    // Four links of 2 Gbit/s of data: 1 byte a nanosecond, 50 ns in the last window.
    assert_eq!(values(None, "throughput", "share"), [Some(0.0), Some(0.0), Some(64.0 / 50.0)]);
}

fn known(row: &OverTimeRow) -> Vec<f64> {
    row.values.iter().map(|value| value.unwrap_or(0.0)).collect()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs() + 1e-12, "{found} {expected}");
}

#[test]
fn windows_add_up_to_the_whole_run() {
    let fabric = whole(1);
    let outcome = run_on(&fabric, 2).expect("a result");
    let names = fabric.channels.iter().map(|channel| Some(channel.name.as_str()));
    for discipline in &fabric.disciplines {
        for name in std::iter::once(None).chain(names.clone()) {
            let of = |metric, statistic| known(row(&outcome.windows, discipline, name, (metric, statistic)));
            let told = |metric| {
                figure(&outcome, (discipline, 0.9, name.unwrap_or("all")), (metric, "mean"))
                    .value
                    .expect("a value")
            };
            let (delivered, latency) = (of("delivered", "count"), of("latency", "mean"));
            let sum: f64 = delivered.iter().zip(&latency).map(|(count, mean)| count * mean).sum();
            close(sum / delivered.iter().sum::<f64>(), told("latency"));
            let lengths = [70.0, 70.0, 70.0, 70.0, 20.0];
            let over_time = |values: Vec<f64>| {
                values.iter().zip(lengths).map(|(value, length)| value * length).sum::<f64>() / 300.0
            };
            let (throughput, inside) =
                (over_time(of("throughput", "share")), over_time(of("inside", "mean")));
            // Little's law: those that are delivered, and those that are inside at the end, some hundred.
            let spent = sum / 300e-6;
            assert!(inside >= spent && inside < 1.2 * spent, "{discipline} {name:?}: {inside} {spent}");
            close(throughput, told("throughput"));
        }
        let totals = outcome.totals.iter().find(|totals| totals.discipline == *discipline).expect("totals");
        let all = known(row(&outcome.windows, discipline, None, ("delivered", "count")));
        assert_eq!(all.iter().sum::<f64>(), totals.delivered as f64);
    }
}

fn without_windows(outcome: &FabricOutcome) -> String {
    text(&FabricOutcome { windows: Vec::new(), ..outcome.clone() })
}

#[test]
fn threads_do_not_show_and_no_other_figure_changes() {
    let mut fabric = whole(3);
    fabric.verify = false;
    let one = run_on(&fabric, 1).expect("a result");
    assert!(text(&one) == text(&run_on(&fabric, 8).expect("a result")));
    // A window has an interval where two replications have a value.
    for row in &one.windows {
        let ends = || row.low.iter().zip(&row.high).map(|(low, high)| low.zip(*high));
        let holds = |(ends, value): (Option<(f64, f64)>, &Option<f64>)| {
            ends.is_none_or(|(low, high)| value.is_some_and(|value| low <= value && value <= high))
        };
        assert!(ends().zip(&row.values).all(holds), "{row:?}");
        assert!(row.statistic.starts_with('p') || ends().all(|ends| ends.is_some()), "{row:?}");
    }
    fabric.over_time = None;
    let without = run_on(&fabric, 2).expect("a result");
    assert!(without.windows.is_empty() && !text(&without).contains("\"windows\""));
    assert!(without_windows(&one) == text(&without));
}
