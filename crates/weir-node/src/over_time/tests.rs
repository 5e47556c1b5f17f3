//! Windows against the figures of the whole run.

use crate::model::NodeScenario;
use crate::outcome::NodeOutcome;
use crate::run::tests::{played, scenario};
use weir_core::units::Nanos;
use weir_lab::stats::figure::Figure;
use weir_lab::stats::windows::OverTimeRow;

fn ms(count: u64) -> Nanos {
    Nanos::new(count * 1_000_000)
}

/// From its beginning, in windows of 300 ms, of which the last is cut off.
fn whole(replications: u32) -> NodeScenario {
    let mut node = scenario(&["epoch:length=100ms", "eevdf"], replications);
    node.stop.warm_up = ms(0);
    node.stop.duration = ms(2_000);
    node.measure.over_time = Some(ms(300));
    node
}

fn row<'o>(outcome: &'o NodeOutcome, name: Option<&str>, what: (&str, &str)) -> &'o OverTimeRow {
    let is = |row: &&OverTimeRow| {
        (row.discipline.as_str(), row.name.as_deref()) == ("eevdf", name)
            && (row.metric.as_str(), row.statistic.as_str()) == what
    };
    outcome.windows.iter().find(is).unwrap_or_else(|| panic!("{what:?} of {name:?}"))
}

fn known(row: &OverTimeRow) -> Vec<f64> {
    row.values.iter().map(|value| value.unwrap_or(0.0)).collect()
}

/// The mean over time; the last window is of 200 ms.
fn over_time(row: &OverTimeRow) -> f64 {
    let lengths = [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.2];
    known(row).iter().zip(lengths).map(|(value, length)| value * length).sum::<f64>() / 2.0
}

fn mean(outcome: &NodeOutcome, kind: &str, name: &str, metric: &str) -> f64 {
    let is_that = |row: &&Figure| {
        row.discipline.as_deref() == Some("eevdf")
            && (row.subject.kind, &*row.subject.name) == (kind, name)
            && (row.metric, row.statistic) == (metric, "mean")
    };
    outcome.estimates.iter().find(is_that).and_then(|row| row.value).expect("a figure")
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
}

#[test]
fn windows_add_up_to_the_whole_run() {
    let node = whole(1);
    let outcome = played(&node, 1, false).expect("a result");
    for process in &node.processes {
        let share = row(&outcome, Some(&process.name), ("share", "mean"));
        close(over_time(share), mean(&outcome, "process", &process.name, "share"));
    }
    let of_node = &node.nodes[0];
    for metric in ["busy", "uncharged"] {
        close(
            over_time(row(&outcome, Some(of_node), (metric, "mean"))),
            mean(&outcome, "node", of_node, metric),
        );
    }
    // Means by the numbers of responses.
    let counts = known(row(&outcome, None, ("responses", "count")));
    let means = known(row(&outcome, None, ("response", "mean")));
    let sum: f64 = counts.iter().zip(&means).map(|(count, mean)| count * mean).sum();
    close(sum / counts.iter().sum::<f64>(), mean(&outcome, "process", "all", "response"));
    // Little's law: the mean number of messages is their rate times their age, but for what is there at the end.
    let length = over_time(row(&outcome, Some("messages"), ("length", "mean")));
    let little =
        mean(&outcome, "queue", "messages", "throughput") * mean(&outcome, "queue", "messages", "age");
    assert!((length / little - 1.0).abs() < 0.02, "{length} {little}");
}

#[test]
fn intervals_are_of_the_replications() {
    let outcome = played(&whole(4), 2, false).expect("a result");
    let share = row(&outcome, None, ("share", "mean"));
    let ends = share.low.iter().zip(&share.values).zip(&share.high);
    assert!(ends.clone().all(|((low, value), high)| low <= value && value <= high));
    assert_eq!((share.values.len(), share.interval), (7, 0.3));
}

#[test]
fn what_is_not_asked_for_is_not_there() {
    let (mut node, asked) = (whole(2), whole(2));
    node.measure.over_time = None;
    let [without, with] = [node, asked].map(|node| played(&node, 1, false).expect("a result"));
    assert!(without.windows.is_empty() && !with.windows.is_empty());
    assert_eq!(without.estimates, with.estimates);
}
