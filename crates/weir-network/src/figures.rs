//! From what the jobs left to the rows of a result: one number a replication, its mean with the t interval;
//! quantiles by sectioning; differences from the reference replication by replication.

use crate::collector::{Bin, Counts, HopCounts};
use crate::model::NetworkScenario;
use crate::outcome::{NetworkDifference, NetworkDistribution, NetworkFigure, Scope, Series};
use crate::summary::{Subject, Summary, subjects};
use crate::wire::LinkTally;
use weir_lab::stats::{Bins, Histogram, Measure, QUANTILES, Unavailable, replications};

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;
/// Numbers that differ by less than this share of those they were computed from are equal: each is a count divided
/// by another and loses 1e-16 of itself at every step, so that a difference of two that are equal is not quite 0,
/// and differs in its last digits from replication to replication. An interval of such remainders would be read
/// as one of chance, and nothing so small is of use to anyone.
const ROUNDING: f64 = 1e-12;

/// What a figure is called.
#[derive(Clone, Debug, PartialEq)]
struct Title {
    scope: Scope,
    name: String,
    interval: String,
    metric: &'static str,
    statistic: &'static str,
    unit: &'static str,
}

/// A figure with the number of each replication, `None` where there was nothing to observe.
struct Row {
    title: Title,
    measure: Measure,
    parts: Vec<Option<f64>>,
    /// Packets behind it.
    count: u64,
}

/// The figures of one discipline.
pub struct Rows(Vec<Row>);

/// The name of an interval: `all`, `30s-60s`.
#[must_use]
pub fn interval_name(network: &NetworkScenario, place: usize) -> String {
    let (from, to) = network.measure.intervals[place];
    match (place, from.get()) {
        (0, _) => "all".to_owned(),
        (_, 0) => format!("0s-{to}"),
        _ => format!("{from}-{to}"),
    }
}

impl Row {
    /// The mean of one number a replication.
    fn mean(title: Title, parts: Vec<Option<f64>>, count: u64) -> Self {
        let values: Vec<f64> = parts.iter().copied().flatten().collect();
        let values = without_rounding(&values, largest(&values));
        Self { title, measure: replications::mean(&values), parts, count }
    }

    fn figure(&self, discipline: &str) -> NetworkFigure {
        let estimate = self.measure.as_estimate();
        let title = self.title.clone();
        NetworkFigure {
            discipline: discipline.to_owned(),
            scope: title.scope,
            name: title.name,
            interval: title.interval,
            metric: title.metric,
            statistic: title.statistic,
            value: self.measure.value(),
            low: estimate.map(|estimate| estimate.low()),
            high: estimate.map(|estimate| estimate.high()),
            standard_error: estimate.map(|estimate| estimate.standard_error()),
            count: if self.measure.value().is_some() { self.count } else { 0 },
            method: estimate.map(|estimate| estimate.method().to_string()),
            unit: title.unit,
            reason: reason(&self.measure),
        }
    }

    fn difference(&self, reference: &Self, names: [&str; 2]) -> NetworkDifference {
        let pairs = self.parts.iter().zip(&reference.parts);
        let pairs: Vec<[f64; 2]> = pairs.filter_map(|(own, other)| Some([(*own)?, (*other)?])).collect();
        let apart: Vec<f64> = pairs.iter().map(|[own, other]| own - other).collect();
        let measure = replications::mean(&without_rounding(&apart, largest(pairs.as_flattened())));
        let estimate = measure.as_estimate();
        let title = self.title.clone();
        NetworkDifference {
            discipline: names[0].to_owned(),
            reference: names[1].to_owned(),
            scope: title.scope,
            name: title.name,
            interval: title.interval,
            metric: title.metric,
            statistic: title.statistic,
            value: measure.value(),
            low: estimate.map(|estimate| estimate.low()),
            high: estimate.map(|estimate| estimate.high()),
            unit: title.unit,
            reason: reason(&measure),
        }
    }
}

/// The largest size of a number.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| value.abs().max(largest))
}

/// Numbers computed from such as are of this size: equal, and 0, where they are so but for rounding.
fn without_rounding(values: &[f64], size: f64) -> Vec<f64> {
    let bound = ROUNDING * size;
    let first = values.first().map_or(0.0, |&first| if first.abs() <= bound { 0.0 } else { first });
    values.iter().map(|&value| if (value - first).abs() <= bound { first } else { value }).collect()
}

fn reason(measure: &Measure) -> Option<String> {
    match measure {
        Measure::NotAvailable { reason } => Some(reason.to_string()),
        _ => None,
    }
}

/// `a / b`, where there is something to divide by.
fn over(a: f64, b: u64) -> Option<f64> {
    (b > 0).then(|| a / b as f64)
}

/// The variance of the delays, in square seconds.
fn variance(counts: &Counts) -> Option<f64> {
    let packets = u128::from(counts.delivered);
    let exact = || Some(packets.checked_mul(counts.squares)? - counts.delay.checked_mul(counts.delay)?);
    let mean = over(counts.delay as f64, counts.delivered)?;
    let apart = || (counts.squares as f64 / packets as f64 - mean * mean).max(0.0);
    let nanoseconds = exact().map_or_else(apart, |sum| sum as f64 / (packets as f64 * packets as f64));
    Some(nanoseconds / (SECOND * SECOND))
}

/// What is told of a subject in an interval: metric, unit, the number of a replication over so many seconds.
type Told = (&'static str, &'static str, fn(&Counts, f64) -> Option<f64>);

const TOLD: [Told; 6] = [
    ("offer", "bit/s", |counts, seconds| Some(counts.offered_bytes as f64 * 8.0 / seconds)),
    ("throughput", "bit/s", |counts, seconds| Some(counts.delivered_bytes as f64 * 8.0 / seconds)),
    ("delay", "s", |counts, _| over(counts.delay as f64 / SECOND, counts.delivered)),
    ("delay_variance", "s^2", |counts, _| variance(counts)),
    ("loss", "1", |counts, _| over(counts.dropped as f64, counts.offered)),
    ("reordered", "1", |counts, _| over(counts.reordered as f64, counts.delivered)),
];

/// The packets behind a metric.
fn behind(metric: &str, counts: &Counts) -> u64 {
    if matches!(metric, "offer" | "loss") { counts.offered } else { counts.delivered }
}

impl Rows {
    /// All figures of a discipline from its replications.
    #[must_use]
    pub fn new(network: &NetworkScenario, summaries: &[Summary]) -> Self {
        let mut rows = Vec::new();
        let subjects = subjects(network);
        for place in 0..network.measure.intervals.len() {
            for (at, subject) in subjects.iter().enumerate() {
                of_subject(network, summaries, place, (at, subject), &mut rows);
            }
            evenness(network, summaries, place, &mut rows);
        }
        if network.measure.tails {
            tails(&subjects, summaries, &mut rows);
        }
        (0..network.links.len()).for_each(|link| of_link(network, summaries, link, &mut rows));
        of_hops(network, summaries, &mut rows);
        Self(rows)
    }

    /// As a result has them.
    pub fn figures(&self, discipline: &str) -> impl Iterator<Item = NetworkFigure> {
        self.0.iter().map(move |row| row.figure(discipline))
    }

    /// The paired differences from the figures of the reference; what all have in common is left out.
    pub fn differences(&self, reference: &Self, names: [&str; 2]) -> impl Iterator<Item = NetworkDifference> {
        let pairs = self.0.iter().zip(&reference.0);
        let told = pairs.filter(|(row, _)| row.title.statistic != "max" && row.title.metric != "offer");
        told.map(move |(own, reference)| own.difference(reference, names))
    }
}

fn of_subject(
    network: &NetworkScenario,
    summaries: &[Summary],
    place: usize,
    (at, subject): (usize, &Subject),
    rows: &mut Vec<Row>,
) {
    let (from, to) = network.measure.intervals[place];
    let seconds = to.get().saturating_sub(from.get()) as f64 / SECOND;
    let of = |summary: &Summary| summary.counts[place][at].clone();
    let all: Vec<Counts> = summaries.iter().map(of).collect();
    let title = |metric, statistic, unit| Title {
        scope: subject.scope,
        name: subject.name.clone(),
        interval: interval_name(network, place),
        metric,
        statistic,
        unit,
    };
    for (metric, unit, number) in TOLD {
        let parts = all.iter().map(|counts| number(counts, seconds)).collect();
        let count = all.iter().map(|counts| behind(metric, counts)).sum();
        rows.push(Row::mean(title(metric, "mean", unit), parts, count));
    }
    let longest = all.iter().filter(|counts| counts.delivered > 0).map(|counts| counts.longest).max();
    let count = all.iter().map(|counts| counts.delivered).sum();
    let measure = longest.map_or(Unavailable::NoObservations.into(), |longest| {
        Measure::maximum(longest as f64 / SECOND, count)
    });
    rows.push(Row { title: title("delay", "max", "s"), measure, parts: Vec::new(), count });
}

/// Jain's index of the flows' throughputs, and the least of these over their mean.
fn evenness(network: &NetworkScenario, summaries: &[Summary], place: usize, rows: &mut Vec<Row>) {
    let title = |metric, statistic| Title {
        scope: Scope::All,
        name: "all".to_owned(),
        interval: interval_name(network, place),
        metric,
        statistic,
        unit: "1",
    };
    let count = summaries.iter().map(|summary| summary.counts[place][0].delivered).sum();
    let each = || summaries.iter().map(|summary| summary.evenness[place]);
    let jain = each().map(|evenness| Some(evenness?.jain)).collect();
    let least = each().map(|evenness| Some(evenness?.least)).collect();
    rows.push(Row::mean(title("jain", "mean"), jain, count));
    rows.push(Row::mean(title("share", "min"), least, count));
}

/// The quantiles of the delays over the whole run.
fn tails(subjects: &[Subject], summaries: &[Summary], rows: &mut Vec<Row>) {
    let measured = summaries.first().map_or(0, |summary| summary.histograms.len());
    for (at, subject) in subjects.iter().enumerate().take(measured) {
        let sections: Vec<Histogram> =
            summaries.iter().map(|summary| summary.histograms[at].clone()).collect();
        let count = sections.iter().map(Histogram::count).sum();
        for (statistic, p) in QUANTILES {
            let title = Title {
                scope: subject.scope,
                name: subject.name.clone(),
                interval: "all".to_owned(),
                metric: "delay",
                statistic,
                unit: "s",
            };
            let measure = replications::quantile(&sections, p).times(1.0 / SECOND);
            let part = |section: &Histogram| section.quantile(p).map(|value| value / SECOND);
            rows.push(Row { title, measure, parts: sections.iter().map(part).collect(), count });
        }
    }
}

/// What is told of a link: metric, unit, the number of a replication over so many nanoseconds.
type ToldOfLink = (&'static str, &'static str, fn(&LinkTally, f64) -> Option<f64>);

const TOLD_OF_LINKS: [ToldOfLink; 4] = [
    ("utilisation", "1", |tally, time| Some(tally.busy as f64 / time)),
    ("queue", "pkt", |tally, time| Some(tally.queued as f64 / time)),
    ("wait", "s", |tally, _| over(tally.wait as f64 / SECOND, tally.transmitted)),
    ("drops", "pkt", |tally, _| Some(tally.dropped as f64)),
];

fn of_link(network: &NetworkScenario, summaries: &[Summary], link: usize, rows: &mut Vec<Row>) {
    let stop = &network.stop;
    let time = stop.duration.get().saturating_sub(stop.warm_up.get()) as f64;
    let title = |metric, statistic, unit| Title {
        scope: Scope::Link,
        name: network.links[link].name.clone(),
        interval: "all".to_owned(),
        metric,
        statistic,
        unit,
    };
    let each = || summaries.iter().map(|summary| &summary.links[link]);
    let count = each().map(|tally| tally.transmitted).sum();
    for (metric, unit, number) in TOLD_OF_LINKS {
        let parts = each().map(|tally| number(tally, time)).collect();
        rows.push(Row::mean(title(metric, "mean", unit), parts, count));
    }
    let longest = each().map(|tally| tally.longest).max();
    let measure =
        longest.map_or(Unavailable::NoObservations.into(), |longest| Measure::maximum(longest as f64, count));
    rows.push(Row { title: title("queue", "max", "pkt"), measure, parts: Vec::new(), count });
}

/// Waits and drops of each flow at each link of its path.
fn of_hops(network: &NetworkScenario, summaries: &[Summary], rows: &mut Vec<Row>) {
    if summaries.first().is_none_or(|summary| summary.hops.is_empty()) {
        return;
    }
    for (at, flow) in network.flows.iter().enumerate() {
        for (hop, &link) in flow.path.iter().enumerate() {
            let title = |metric, unit| Title {
                scope: Scope::Hop,
                name: format!("{} @ {}", flow.name, network.links[link].name),
                interval: "all".to_owned(),
                metric,
                statistic: "mean",
                unit,
            };
            let each = || summaries.iter().map(|summary| summary.hops[at][hop]);
            let count = each().map(|counts| counts.packets).sum();
            let wait = |counts: HopCounts| over(counts.wait as f64 / SECOND, counts.packets);
            rows.push(Row::mean(title("wait", "s"), each().map(wait).collect(), count));
            let drops = each().map(|counts| Some(counts.dropped as f64)).collect();
            rows.push(Row::mean(title("drops", "pkt"), drops, count));
        }
    }
}

/// The distributions of the delays.
#[must_use]
pub fn distributions(
    network: &NetworkScenario,
    discipline: &str,
    summaries: &[Summary],
) -> Vec<NetworkDistribution> {
    let measured = summaries.first().map_or(0, |summary| summary.histograms.len());
    let of = |(at, subject): (usize, Subject)| {
        let mut whole = Histogram::<7>::new();
        summaries.iter().for_each(|summary| whole.merge(&summary.histograms[at]));
        NetworkDistribution {
            discipline: discipline.to_owned(),
            scope: subject.scope,
            name: subject.name,
            metric: "delay",
            bins: Bins::new(&whole, "s", |time| time / SECOND),
        }
    };
    subjects(network).into_iter().enumerate().take(measured).map(of).collect()
}

/// The time series of a discipline, means over the replications.
#[must_use]
pub fn series(network: &NetworkScenario, discipline: &str, summaries: &[Summary]) -> Vec<Series> {
    let Some(first) = summaries.first().and_then(|summary| summary.series.as_ref()) else {
        return Vec::new();
    };
    let mut sums = vec![Bin::default(); first.bins.len()];
    for bins in summaries.iter().filter_map(|summary| summary.series.as_ref()) {
        for (sum, bin) in sums.iter_mut().zip(&bins.bins) {
            sum.offered += bin.offered;
            sum.delivered += bin.delivered;
            sum.packets += bin.packets;
            sum.delay += bin.delay;
        }
    }
    let seconds = first.step.get() as f64 / SECOND;
    let bits = 8.0 / seconds / summaries.len() as f64;
    let mut rows = Vec::new();
    for (flow, bins) in network.flows.iter().zip(sums.chunks(first.steps.max(1))) {
        let row = |metric, unit, value: &dyn Fn(&Bin) -> Option<f64>| Series {
            discipline: discipline.to_owned(),
            flow: flow.name.clone(),
            metric,
            unit,
            step: seconds,
            values: bins.iter().map(value).collect(),
        };
        rows.push(row("offer", "bit/s", &|bin| Some(bin.offered as f64 * bits)));
        rows.push(row("throughput", "bit/s", &|bin| {
            (bin.offered > 0).then_some(bin.delivered as f64 * bits)
        }));
        rows.push(row("delay", "s", &|bin| over(bin.delay as f64 / SECOND, bin.packets)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(parts: &[f64]) -> Row {
        let title = Title {
            scope: Scope::All,
            name: "all".to_owned(),
            interval: "all".to_owned(),
            metric: "delay",
            statistic: "mean",
            unit: "s",
        };
        Row::mean(title, parts.iter().copied().map(Some).collect(), 1)
    }

    #[test]
    fn rounding_is_no_spread() {
        let parts = [0.3, 0.1 + 0.2, 0.3];
        assert_ne!(parts[0], parts[1]);
        let figure = row(&parts).figure("fifo");
        assert_eq!((figure.low, figure.high, figure.standard_error), (Some(0.3), Some(0.3), Some(0.0)));

        // The same difference everywhere, from numbers that are not the same.
        let (own, other) = ([0.3, 0.4, 0.8], [0.2, 0.3, 0.7]);
        assert_ne!(own[0] - other[0], own[1] - other[1]);
        let difference = row(&own).difference(&row(&other), ["drr", "fifo"]);
        assert_eq!((difference.low, difference.high), (difference.value, difference.value));
        // None at all.
        let difference = row(&parts).difference(&row(&[0.3, 0.3, 0.1 + 0.2]), ["drr", "fifo"]);
        assert_eq!((difference.value, difference.low, difference.high), (Some(0.0), Some(0.0), Some(0.0)));
    }

    #[test]
    fn what_is_not_rounding_stays() {
        let parts = [1.0, 1.0 + 1e-9, 1.0 - 1e-9];
        let figure = row(&parts).figure("fifo");
        let error = figure.standard_error.expect("three parts");
        assert!((error - (2e-18_f64 / 6.0).sqrt()).abs() < 1e-15, "{error}");
        let difference = row(&parts).difference(&row(&[1.0; 3]), ["drr", "fifo"]);
        assert!(difference.low < Some(-1e-9) && difference.high > Some(1e-9));
    }
}
