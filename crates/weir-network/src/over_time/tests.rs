//! Windows: by hand, against the figures of the whole run, and by Little's law.

use crate::model::NetworkScenario;
use crate::outcome::{NetworkOutcome, Scope};
use crate::plan::{Plan, exponential, seconds};
use crate::tests::{busy_network, outcome_of};
use weir_core::units::Nanos;
use weir_lab::stats::windows::OverTimeRow;
use weir_workload::curve::Interpolation::Constant;

/// Rows of all kinds of a network, one replication, from its beginning, in windows of 0.3 s.
fn whole(mut network: NetworkScenario) -> Plan {
    network.stop.replications = 1;
    network.stop.warm_up = Nanos::ZERO;
    network.measure.intervals = vec![(Nanos::ZERO, network.stop.duration)];
    network.measure.over_time = Some(seconds(0.3));
    Plan(network)
}

fn row<'o>(
    outcome: &'o NetworkOutcome,
    discipline: &str,
    name: Option<&str>,
    what: (&str, &str),
) -> &'o OverTimeRow {
    let is = |row: &&OverTimeRow| {
        (row.discipline.as_str(), row.name.as_deref()) == (discipline, name)
            && (row.metric.as_str(), row.statistic.as_str()) == what
    };
    outcome.windows.iter().find(is).unwrap_or_else(|| panic!("{what:?} of {name:?}"))
}

fn known(row: &OverTimeRow) -> Vec<f64> {
    row.values.iter().map(|value| value.unwrap_or(0.0)).collect()
}

fn mean(outcome: &NetworkOutcome, discipline: &str, (scope, name, metric): (Scope, &str, &str)) -> f64 {
    let found = outcome.estimates.iter().find(|row| {
        row.discipline.as_deref() == Some(discipline)
            && (row.subject.scope, row.subject.name.as_str()) == (scope, name)
            && (row.metric, row.statistic) == (metric, "mean")
    });
    found.and_then(|row| row.value).expect("a figure")
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 2e-9 + 1e-9 * expected, "{found} {expected}");
}

#[test]
fn windows_add_up_to_the_whole_run() {
    let plan = whole(busy_network().0);
    let outcome = outcome_of(&plan, 2);
    let duration = plan.0.stop.duration.get() as f64 / 1e9;
    for totals in &outcome.totals {
        let name = totals.discipline.as_str();
        let sent = known(row(&outcome, name, None, ("sent", "count")));
        assert_eq!((sent.len(), sent.iter().sum::<f64>()), (17, totals.offered as f64));
        let lost = known(row(&outcome, name, None, ("loss", "share")));
        let lost: Vec<f64> = lost.iter().zip(&sent).map(|(share, sent)| share * sent).collect();
        close(lost.iter().sum(), totals.dropped as f64);
        // Means by the numbers that were delivered.
        let delays = known(row(&outcome, name, None, ("delay", "mean")));
        let sums =
            delays.iter().zip(sent.iter().zip(&lost)).map(|(delay, (sent, lost))| delay * (sent - lost));
        close(
            sums.sum::<f64>() / totals.delivered as f64,
            mean(&outcome, name, (Scope::All, "all", "delay")),
        );
        // Means over time; the last window is cut off.
        for link in &plan.0.links {
            for metric in ["queue", "utilisation"] {
                let values = known(row(&outcome, name, Some(&link.name), (metric, "mean")));
                let lengths = (0..17).map(|window| (duration - 0.3 * f64::from(window)).min(0.3));
                let area: f64 = values.iter().zip(lengths).map(|(value, length)| value * length).sum();
                close(area / duration, mean(&outcome, name, (Scope::Link, &link.name, metric)));
            }
        }
        let [p50, p99] = ["p50", "p99"].map(|statistic| row(&outcome, name, None, ("delay", statistic)));
        let below =
            |(low, high): (&Option<f64>, &Option<f64>)| low.zip(*high).is_none_or(|(low, high)| low <= high);
        assert!(p50.values.iter().zip(&p99.values).all(below));
    }
}

/// One link that holds an M/M/1 queue at a load of 0.5, in windows of 1 s.
fn single(replications: u32) -> Plan {
    let mut plan = Plan::new(2, &["fifo", "drr"], 40.0);
    plan.0.stop.replications = replications;
    plan.0.measure.over_time = Some(seconds(1.0));
    plan.link((0, 1), 80_000_000, None);
    plan.flow(&[0], Plan::drawn(exponential(2e-3), exponential(10_000.0)));
    plan
}

/// Of packets that wait in a window, and of the waits of those sent in it, the difference is in the queue at its two ends.
#[test]
fn little_holds_by_window() {
    let plan = single(1);
    let outcome = outcome_of(&plan, 1);
    let queue = known(row(&outcome, "fifo", Some("N0-N1"), ("queue", "mean")));
    let busy = known(row(&outcome, "fifo", Some("N0-N1"), ("utilisation", "mean")));
    let sent = known(row(&outcome, "fifo", None, ("sent", "count")));
    let delays = known(row(&outcome, "fifo", None, ("delay", "mean")));
    assert_eq!(queue.len(), 40);
    let mut all = [0.0; 2];
    for window in 0..40 {
        // In the queue and on the line, over time, and by the packets; links have no propagation.
        let (inside, spent) = (queue[window] + busy[window], sent[window] * delays[window]);
        assert!((inside - spent).abs() < 0.1, "{window}: {inside} {spent}");
        all = [all[0] + inside, all[1] + spent];
    }
    assert!((all[0] / all[1] - 1.0).abs() < 1e-3, "{all:?}");
}

#[test]
fn intervals_over_replications_hold_the_closed_form_about_as_often_as_they_should() {
    let outcome = outcome_of(&single(10), 2);
    // M/M/1 at 0.5: half a packet waits, from when the queue has filled on; service is of 1 ms.
    let row = row(&outcome, "fifo", Some("N0-N1"), ("queue", "mean"));
    let hits = row.low.iter().zip(&row.high).skip(1);
    let hits =
        hits.filter(|(low, high)| low.is_some_and(|low| low <= 0.5) && high.is_some_and(|high| 0.5 <= high));
    let hits = hits.count();
    assert!((32..=39).contains(&hits), "{hits} of 39");
}

/// Packets of 1 ms, of which 200 come in a second, then 600: what is sent and how busy the link is follow the curve, and 95 %
/// intervals hold the integrals of the rate about as often as they should.
#[test]
fn windows_follow_the_curve_of_a_flow() {
    let mut plan = single(20);
    plan.0.flows[0].traffic =
        Plan::following(Plan::poisson(2.5e-3, 10_000.0), &[(0, 1.0), (5_000, 3.0)], Constant, Some(10_000));
    let outcome = outcome_of(&plan, 2);
    let rate = |window: usize| if window % 10 < 5 { 200.0 } else { 600.0 };
    let whole = |window: &usize| !window.is_multiple_of(5);
    for (name, what, unit) in [(None, ("sent", "count"), 1.0), (Some("N0-N1"), ("utilisation", "mean"), 1e-3)]
    {
        let row = row(&outcome, "fifo", name, what);
        let is_held = |window: &usize| {
            let (expected, ends) = (unit * rate(*window), row.low[*window].zip(row.high[*window]));
            ends.is_some_and(|(low, high)| low <= expected && expected <= high)
        };
        // Next to a step the work of packets that wait is in the other window.
        let held = (0..40).filter(whole).filter(is_held).count();
        assert!((27..=32).contains(&held), "{what:?}: {held} of 32");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_windows_and_no_other_figure_changes() {
    let mut plan = busy_network();
    plan.0.measure.over_time = Some(seconds(0.7));
    let one = outcome_of(&plan, 1);
    assert_eq!(
        serde_json::to_string(&one).expect("text"),
        serde_json::to_string(&outcome_of(&plan, 8)).expect("text")
    );
    plan.0.measure.over_time = None;
    let without = outcome_of(&plan, 2);
    assert!(
        without.windows.is_empty() && !serde_json::to_string(&without).expect("text").contains("\"windows\"")
    );
    assert_eq!(without.estimates, one.estimates);
}

#[test]
fn without_a_packet_a_window_has_no_share() {
    let mut plan = single(2);
    plan.0.flows[0].stop = seconds(2.5);
    let outcome = outcome_of(&plan, 1);
    let loss = row(&outcome, "fifo", None, ("loss", "share"));
    assert!(loss.values[2].is_some() && loss.values[3..].iter().all(Option::is_none));
    let queue = row(&outcome, "fifo", Some("N0-N1"), ("queue", "mean"));
    assert_eq!(queue.values[10], Some(0.0));
}
