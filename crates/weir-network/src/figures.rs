//! From what the jobs left to the rows of a result (see [`weir_lab::stats::row`]): one number a replication, its mean with the t interval;
//! quantiles of all; differences from the reference replication by replication.

use crate::chance;
use crate::collector::{Bin, Counts, HopCounts};
use crate::model::NetworkScenario;
use crate::outcome::{Flows, NetworkDistribution, Scope, Series, Subject};
use crate::summary::{Summary, subjects};
use crate::wire::LinkTally;
use weir_lab::scenario::need::{ENDS, MEANS, Measured, Metric, Subjects, TAILS};
use weir_lab::stats::figure::{ALL, Title};
use weir_lab::stats::row::{self, Comparison, Row, Rows};
use weir_lab::stats::{Bins, Histogram, Measure, QUANTILES, Ranked, Tail, replications, settled};

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;
/// Numbers that differ by less than this share of those they were computed from are equal: each is a count divided
/// by another and loses 1e-16 of itself at every step, so that a difference of two that are equal is not quite 0,
/// and differs in its last digits from replication to replication. An interval of such remainders would be read
/// as one of chance, and nothing so small matters.
const ROUNDING: f64 = 1e-12;

/// The name of an interval: `all`, `30s-60s`.
#[must_use]
pub fn interval_name(network: &NetworkScenario, place: usize) -> String {
    let (from, to) = network.measure.intervals[place];
    match (place, from.get()) {
        (0, _) => ALL.to_owned(),
        (_, 0) => format!("0s-{to}"),
        _ => format!("{from}-{to}"),
    }
}

/// The mean of one number a replication.
fn mean(title: Title<Subject>, parts: Vec<Option<f64>>, count: u64) -> Row<Subject> {
    let values: Vec<f64> = parts.iter().copied().flatten().collect();
    let mut row = Row::mean(title, parts, count);
    let measure = replications::mean(&without_rounding(&values, largest(&values)));
    row.measure = settled::by_itself(measure, 0.0, settled::error_of(row.title.unit));
    row
}

/// The discipline's numbers less the reference's.
const DIFFERENCE: Comparison = Comparison { of: mean_difference, ..row::DIFFERENCE };

fn mean_difference(pairs: &[[f64; 2]]) -> Measure {
    let apart: Vec<f64> = pairs.iter().map(|[own, other]| own - other).collect();
    replications::mean(&without_rounding(&apart, largest(pairs.as_flattened())))
}

/// How a figure is compared; what all have in common is not, nor is the largest.
pub fn compared(title: &Title<Subject>) -> &'static [Comparison] {
    if title.statistic == "max" || title.metric == "offer" { &[] } else { &[DIFFERENCE] }
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

/// A figure of a subject in an interval: metric, unit, and the value in a replication over a number of seconds.
type Told = (&'static str, &'static str, fn(&Counts, f64) -> Option<f64>);

const TOLD: [Told; 6] = [
    ("offer", "bit/s", |counts, seconds| Some(counts.offered_bytes as f64 * 8.0 / seconds)),
    ("throughput", "bit/s", |counts, seconds| Some(counts.delivered_bytes as f64 * 8.0 / seconds)),
    ("delay", "s", |counts, _| over(counts.delay as f64 / SECOND, counts.delivered)),
    ("delay_variance", "s^2", |counts, _| variance(counts)),
    ("loss", "1", |counts, _| over(counts.dropped as f64, counts.offered)),
    ("reordered", "1", |counts, _| over(counts.reordered as f64, counts.delivered)),
];

/// What a figure is about, in words.
#[must_use]
pub fn words(subject: &Subject) -> String {
    let during = if subject.interval == ALL { String::new() } else { format!(" in {}", subject.interval) };
    if subject.name == ALL { during.trim_start().to_owned() } else { format!("{}{during}", subject.name) }
}

/// The packets behind a metric.
fn behind(metric: &str, counts: &Counts) -> u64 {
    if matches!(metric, "offer" | "loss") { counts.offered } else { counts.delivered }
}

/// What there are figures of, for needs.
#[must_use]
pub fn measured(network: &NetworkScenario) -> Measured {
    let delays = if network.measure.tails { TAILS } else { ENDS };
    let statistics = |metric| if metric == "delay" { delays } else { MEANS };
    let told = TOLD.iter().filter(|(_, unit, _)| *unit != "s^2");
    let of_flows: Vec<Metric> =
        told.map(|&(name, unit, _)| Metric::new(name, statistics(name), unit)).collect();
    let queue = |metric| if metric == "queue" { ENDS } else { MEANS };
    let of_links = TOLD_OF_LINKS.iter().map(|&(name, unit, _)| Metric::new(name, queue(name), unit));
    let even = [Metric::new("jain", MEANS, "1"), Metric::new("share", &["min"], "1")];
    let flows = network.flows.iter().filter(|_| network.measure.flows).map(|flow| flow.name.as_str());
    let subjects = vec![
        Subjects::all(of_flows.iter().copied().chain(even).collect()),
        Subjects::named("class", network.classes.iter().map(String::as_str), of_flows.clone()),
        Subjects::named("flow", flows, of_flows),
        Subjects::named("link", network.links.iter().map(|link| link.name.as_str()), of_links.collect()),
    ];
    Measured { subjects, loads: Vec::new() }
}

/// All figures of a discipline from its replications.
#[must_use]
pub fn rows(network: &NetworkScenario, summaries: &[Summary]) -> Rows<Subject> {
    let mut rows = Vec::new();
    let subjects = subjects(network);
    for place in 0..network.measure.intervals.len() {
        for (at, flows) in subjects.iter().enumerate() {
            of_flows(network, summaries, place, (at, flows), &mut rows);
        }
        evenness(network, summaries, place, &mut rows);
    }
    if network.measure.tails {
        tails(&subjects, summaries, &mut rows);
    }
    (0..network.links.len()).for_each(|link| of_link(network, summaries, link, &mut rows));
    of_hops(network, summaries, &mut rows);
    if chance::is_random(network) { Rows::bare(rows) } else { Rows::new(rows, false) }
}

fn of_flows(
    network: &NetworkScenario,
    summaries: &[Summary],
    place: usize,
    (at, flows): (usize, &Flows),
    rows: &mut Vec<Row<Subject>>,
) {
    let (from, to) = network.measure.intervals[place];
    let seconds = to.get().saturating_sub(from.get()) as f64 / SECOND;
    let all: Vec<&Counts> = summaries.iter().map(|summary| &summary.counts[place][at]).collect();
    let subject = Subject::new(flows.scope, &flows.name).during(interval_name(network, place));
    for (metric, unit, number) in TOLD {
        let parts = all.iter().map(|counts| number(counts, seconds)).collect();
        let count = all.iter().map(|counts| behind(metric, counts)).sum();
        rows.push(mean(Title::mean(subject.clone(), metric, unit), parts, count));
    }
    let longest = |counts: &&Counts| (counts.delivered > 0).then(|| counts.longest as f64 / SECOND);
    let count = all.iter().map(|counts| counts.delivered).sum();
    let title = Title { subject, metric: "delay", statistic: "max", unit: "s" };
    rows.push(Row::longest(title, all.iter().map(longest).collect(), count));
}

/// Jain's index of the flows' throughputs, and the least of these over their mean.
fn evenness(network: &NetworkScenario, summaries: &[Summary], place: usize, rows: &mut Vec<Row<Subject>>) {
    let subject = Subject::new(Scope::All, ALL).during(interval_name(network, place));
    let count = summaries.iter().map(|summary| summary.counts[place][0].delivered).sum();
    let each = || summaries.iter().map(|summary| summary.evenness[place]);
    let jain = each().map(|evenness| Some(evenness?.jain)).collect();
    let least = each().map(|evenness| Some(evenness?.least)).collect();
    rows.push(mean(Title::mean(subject.clone(), "jain", "1"), jain, count));
    rows.push(mean(Title { subject, metric: "share", statistic: "min", unit: "1" }, least, count));
}

/// The quantiles of the delays over the whole run.
fn tails(subjects: &[Flows], summaries: &[Summary], rows: &mut Vec<Row<Subject>>) {
    for (at, (flows, all)) in subjects.iter().zip(histograms(summaries)).enumerate() {
        let ends: Vec<Tail> = summaries.iter().map(|summary| Tail::new(&summary.histograms[at])).collect();
        let ranked = Ranked::new(&all);
        for (statistic, p) in QUANTILES {
            let title = Title {
                subject: Subject::new(flows.scope, &flows.name),
                metric: "delay",
                statistic,
                unit: "s",
            };
            let parts =
                summaries.iter().zip(&ends).map(|(summary, end)| (summary.histograms[at].quantile(p), *end));
            rows.push(Row::quantile(title, (&ranked, p), parts.collect(), all.count(), |time| time / SECOND));
        }
    }
}

/// The histograms of all replications together, of the first subjects.
fn histograms(summaries: &[Summary]) -> Vec<Histogram> {
    let measured = summaries.first().map_or(0, |summary| summary.histograms.len());
    let mut all = vec![Histogram::new(); measured];
    for summary in summaries {
        all.iter_mut().zip(&summary.histograms).for_each(|(all, own)| all.merge(own));
    }
    all
}

/// A figure of a link: metric, unit, and the value in a replication over a number of nanoseconds.
type ToldOfLink = (&'static str, &'static str, fn(&LinkTally, f64) -> Option<f64>);

const TOLD_OF_LINKS: [ToldOfLink; 4] = [
    ("utilisation", "1", |tally, time| Some(tally.busy as f64 / time)),
    ("queue", "pkt", |tally, time| Some(tally.queued as f64 / time)),
    ("wait", "s", |tally, _| over(tally.wait as f64 / SECOND, tally.transmitted)),
    ("drops", "pkt", |tally, _| Some(tally.dropped as f64)),
];

fn of_link(network: &NetworkScenario, summaries: &[Summary], link: usize, rows: &mut Vec<Row<Subject>>) {
    let stop = &network.stop;
    let time = stop.duration.get().saturating_sub(stop.warm_up.get()) as f64;
    let subject = Subject::new(Scope::Link, &network.links[link].name);
    let each = || summaries.iter().map(|summary| &summary.links[link]);
    let count = each().map(|tally| tally.transmitted).sum();
    for (metric, unit, number) in TOLD_OF_LINKS {
        let parts = each().map(|tally| number(tally, time)).collect();
        rows.push(mean(Title::mean(subject.clone(), metric, unit), parts, count));
    }
    let longest = each().map(|tally| Some(tally.longest as f64)).collect();
    let title = Title { subject, metric: "queue", statistic: "max", unit: "pkt" };
    rows.push(Row::longest(title, longest, count));
}

/// Waits and drops of each flow at each link of its path.
fn of_hops(network: &NetworkScenario, summaries: &[Summary], rows: &mut Vec<Row<Subject>>) {
    if summaries.first().is_none_or(|summary| summary.hops.is_empty()) {
        return;
    }
    for (at, flow) in network.flows.iter().enumerate() {
        for (hop, &link) in flow.path.iter().enumerate() {
            let name = format!("{} @ {}", flow.name, network.links[link].name);
            let title = |metric, unit| Title::mean(Subject::new(Scope::Hop, &name), metric, unit);
            let each = || summaries.iter().map(|summary| summary.hops[at][hop]);
            let count = each().map(|counts| counts.packets).sum();
            let wait = |counts: HopCounts| over(counts.wait as f64 / SECOND, counts.packets);
            rows.push(mean(title("wait", "s"), each().map(wait).collect(), count));
            let drops = each().map(|counts| Some(counts.dropped as f64)).collect();
            rows.push(mean(title("drops", "pkt"), drops, count));
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
    let of = |(subject, all): (Flows, Histogram)| NetworkDistribution {
        discipline: discipline.to_owned(),
        subject,
        metric: "delay",
        bins: Bins::new(&all, "s", |time| time / SECOND),
    };
    subjects(network).into_iter().zip(histograms(summaries)).map(of).collect()
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
    use crate::outcome::{NetworkDifference, NetworkFigure};

    fn rows(parts: &[f64]) -> Rows<Subject> {
        let title = Title::mean(Subject::new(Scope::All, ALL), "delay", "s");
        Rows::bare(vec![mean(title, parts.iter().copied().map(Some).collect(), 1)])
    }

    fn figure(parts: &[f64]) -> NetworkFigure {
        rows(parts).figures("fifo").next().expect("one")
    }

    fn compare(own: &[f64], other: &[f64]) -> NetworkDifference {
        let disciplines = ["drr", "fifo"].map(str::to_owned);
        row::differences(&disciplines, 1, &[rows(own), rows(other)], compared).remove(0)
    }

    #[test]
    fn rounding_is_no_spread() {
        let parts = [0.3, 0.1 + 0.2, 0.3];
        assert_ne!(parts[0], parts[1]);
        let figure = figure(&parts);
        assert_eq!((figure.low, figure.high, figure.standard_error), (Some(0.3), Some(0.3), Some(0.0)));

        // The same difference everywhere, from numbers that are not the same.
        let (own, other) = ([0.3, 0.4, 0.8], [0.2, 0.3, 0.7]);
        assert_ne!(own[0] - other[0], own[1] - other[1]);
        let difference = compare(&own, &other);
        assert_eq!((difference.low, difference.high), (difference.value, difference.value));
        // None at all.
        let difference = compare(&parts, &[0.3, 0.3, 0.1 + 0.2]);
        assert_eq!((difference.value, difference.low, difference.high), (Some(0.0), Some(0.0), Some(0.0)));
    }

    #[test]
    fn what_is_not_rounding_stays() {
        let parts = [1.0, 1.0 + 1e-9, 1.0 - 1e-9];
        let figure = figure(&parts);
        let error = figure.standard_error.expect("three parts");
        assert!((error - (2e-18_f64 / 6.0).sqrt()).abs() < 1e-15, "{error}");
        let difference = compare(&parts, &[1.0; 3]);
        assert!(difference.low < Some(-1e-9) && difference.high > Some(1e-9));
    }
}
