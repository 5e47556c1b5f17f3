//! From what the runs left to the rows of a result: one number a replication, its mean with the t intervals at 95 %
//! and at 90 %; quantiles by sectioning; differences and improvements replication by replication.
//!
//! | figure | one number of a replication |
//! |-|-|
//! | `offered`, `throughput` | wire bytes generated, delivered in the measured time, over what the links of all end-points carry |
//! | `accepted` | throughput over offered |
//! | latencies, `mean` | of packets, or messages, that are delivered in the measured time |
//! | latencies, `max` | the longest of them: the figure is the mean of the replications' longest |
//! | `improvement` | 100 times what it is below the reference's, over the reference's |

use crate::collector::{KINDS, measures_messages};
use crate::model::FabricScenario;
use crate::outcome::{FabricDifference, FabricDistribution, FabricFigure};
use crate::summary::{Cell, Part, Summary};
use crate::time::{TICKS_PER_SECOND, ticks, timing};
use crate::topology::Wiring;
use weir_lab::stats::{Bins, Measure, QUANTILES, replications};

/// The kinds of latency, as results call them.
const LATENCIES: [&str; KINDS] = ["latency", "total_latency", "message_latency"];
/// The confidence of the second interval.
pub const SECOND_CONFIDENCE: f64 = 0.9;
/// What all channels are called together.
pub const ALL: &str = "all";

/// What a figure is called.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Title<'f> {
    channel: &'f str,
    metric: &'static str,
    statistic: &'static str,
    unit: &'static str,
}

/// A figure with the number of each replication, `None` where there was nothing to observe.
struct Row<'f> {
    title: Title<'f>,
    measure: Measure,
    parts: Vec<Option<f64>>,
    /// Packets behind it.
    count: u64,
}

/// The figures of one discipline at one load.
pub struct Rows<'f>(Vec<Row<'f>>);

/// A value with its intervals.
#[derive(Default)]
struct Told {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    low_90: Option<f64>,
    high_90: Option<f64>,
    reason: Option<String>,
}

fn told(measure: &Measure) -> Told {
    let reason = match measure {
        Measure::NotAvailable { reason } => Some(reason.to_string()),
        _ => None,
    };
    let value = measure.value();
    let Some(estimate) = measure.as_estimate() else {
        return Told { value, reason, ..Told::default() };
    };
    let (low, high) = estimate.interval(SECOND_CONFIDENCE);
    Told {
        value,
        low: Some(estimate.low()),
        high: Some(estimate.high()),
        low_90: Some(low),
        high_90: Some(high),
        reason,
    }
}

impl<'f> Row<'f> {
    /// The mean of one number a replication.
    fn mean(title: Title<'f>, parts: Vec<Option<f64>>, count: u64) -> Self {
        let values: Vec<f64> = parts.iter().copied().flatten().collect();
        Self { title, measure: replications::mean(&values), parts, count }
    }

    fn figure(&self, (discipline, load): (&str, f64)) -> FabricFigure {
        let estimate = self.measure.as_estimate();
        let told = told(&self.measure);
        FabricFigure {
            discipline: discipline.to_owned(),
            load,
            channel: self.title.channel.to_owned(),
            metric: self.title.metric,
            statistic: self.title.statistic,
            count: if told.value.is_some() { self.count } else { 0 },
            value: told.value,
            low: told.low,
            high: told.high,
            low_90: told.low_90,
            high_90: told.high_90,
            standard_error: estimate.map(|estimate| estimate.standard_error()),
            method: estimate.map(|estimate| estimate.method().to_string()),
            unit: self.title.unit,
            reason: told.reason,
        }
    }

    /// The row of pairs of this and the reference's, as `kind` compares them.
    fn difference(&self, other: &Self, names: Names<'_>, kind: &Kind) -> FabricDifference {
        let pairs = self.parts.iter().zip(&other.parts);
        let apart: Vec<f64> = pairs.filter_map(|(own, other)| (kind.of)((*own)?, (*other)?)).collect();
        let told = told(&replications::mean(&apart));
        FabricDifference {
            discipline: names.discipline.to_owned(),
            reference: names.reference.to_owned(),
            load: names.load,
            channel: self.title.channel.to_owned(),
            metric: self.title.metric,
            kind: kind.name,
            statistic: self.title.statistic,
            value: told.value,
            low: told.low,
            high: told.high,
            low_90: told.low_90,
            high_90: told.high_90,
            unit: kind.unit.unwrap_or(self.title.unit),
            reason: told.reason,
        }
    }

    fn is_latency(&self) -> bool {
        LATENCIES.contains(&self.title.metric)
    }
}

/// What is compared with what.
#[derive(Clone, Copy)]
pub struct Names<'n> {
    /// The discipline.
    pub discipline: &'n str,
    /// The reference.
    pub reference: &'n str,
    /// At this load.
    pub load: f64,
}

/// How two numbers of a replication are compared.
struct Kind {
    name: &'static str,
    unit: Option<&'static str>,
    /// From the discipline's and the reference's.
    of: fn(f64, f64) -> Option<f64>,
}

const DIFFERENCE: Kind = Kind { name: "difference", unit: None, of: |own, other| Some(own - other) };
const IMPROVEMENT: Kind = Kind {
    name: "improvement",
    unit: Some("%"),
    of: |own, other| (other > 0.0).then(|| 100.0 * (other - own) / other),
};

/// The names of all channels together and of each.
fn subjects(fabric: &FabricScenario) -> impl Iterator<Item = &str> {
    std::iter::once(ALL).chain(fabric.channels.iter().map(|channel| channel.name.as_str()))
}

/// The kinds of latency that are measured of a subject.
fn kinds(fabric: &FabricScenario, subject: usize) -> impl Iterator<Item = usize> {
    let has_messages = match subject.checked_sub(1) {
        Some(channel) => measures_messages(fabric, channel),
        None => (0..fabric.channels.len()).any(|channel| measures_messages(fabric, channel)),
    };
    (0..KINDS).filter(move |&kind| kind < 2 || has_messages)
}

/// What the links of all end-points carry in the measured time, in bytes.
#[must_use]
pub fn capacity(fabric: &FabricScenario) -> f64 {
    let hosts = Wiring::new(fabric.topology).map_or(1, |wiring| wiring.hosts());
    let span = ticks(fabric.stop.duration).saturating_sub(ticks(fabric.stop.warm_up));
    f64::from(hosts) * timing(fabric).line.bytes_per_second() * span as f64 / TICKS_PER_SECOND as f64
}

fn seconds(ticks: f64) -> f64 {
    ticks / TICKS_PER_SECOND as f64
}

/// Delivered over offered bytes.
fn accepted(part: &Part) -> Option<f64> {
    (part.offered.bytes > 0).then(|| part.delivered.bytes as f64 / part.offered.bytes as f64)
}

impl<'f> Rows<'f> {
    /// All figures of a cell.
    #[must_use]
    pub fn new(fabric: &'f FabricScenario, cell: &Cell) -> Self {
        let mut rows = Vec::new();
        for (subject, channel) in subjects(fabric).enumerate() {
            volumes(fabric, &cell.runs, (subject, channel), &mut rows);
            for kind in kinds(fabric, subject) {
                latencies(fabric, cell, (subject, channel), kind, &mut rows);
            }
        }
        Self(rows)
    }

    /// As a result has them.
    pub fn figures(&self, name: (&str, f64)) -> impl Iterator<Item = FabricFigure> {
        self.0.iter().map(move |row| row.figure(name))
    }

    /// The paired differences from the reference, and the improvements over it; what all have in common is left out.
    pub fn differences(&self, reference: &Self, names: Names<'_>) -> Vec<FabricDifference> {
        let mut rows = Vec::new();
        for (own, other) in self.0.iter().zip(&reference.0) {
            if own.title.metric != "offered" {
                rows.push(own.difference(other, names, &DIFFERENCE));
            }
            if own.is_latency() {
                rows.push(own.difference(other, names, &IMPROVEMENT));
            }
        }
        rows
    }

    /// What arrives of what is offered, subject by subject.
    pub fn accepted(&self) -> impl Iterator<Item = &Measure> {
        let rows = self.0.iter().filter(|row| row.title.metric == "accepted");
        rows.map(|row| &row.measure)
    }

    /// What is offered by all channels together.
    #[must_use]
    pub fn offered(&self) -> Option<&Measure> {
        let of_all = |row: &&Row<'_>| row.title.metric == "offered" && row.title.channel == ALL;
        self.0.iter().find(of_all).map(|row| &row.measure)
    }
}

/// Offered, throughput, accepted.
fn volumes<'f>(
    fabric: &FabricScenario,
    runs: &[Summary],
    (subject, channel): (usize, &'f str),
    rows: &mut Vec<Row<'f>>,
) {
    let capacity = capacity(fabric);
    let parts = || runs.iter().map(|run| &run.parts[subject]);
    let (offered, delivered) =
        (parts().map(|part| part.offered.packets).sum(), parts().map(|part| part.delivered.packets).sum());
    let title = |metric| Title { channel, metric, statistic: "mean", unit: "1" };
    let each = parts().map(|part| Some(part.offered.bytes as f64 / capacity)).collect();
    rows.push(Row::mean(title("offered"), each, offered));
    let each = parts().map(|part| Some(part.delivered.bytes as f64 / capacity)).collect();
    rows.push(Row::mean(title("throughput"), each, delivered));
    rows.push(Row::mean(title("accepted"), parts().map(accepted).collect(), delivered));
}

/// Mean, quantiles and maximum of the latencies of one kind.
fn latencies<'f>(
    fabric: &FabricScenario,
    cell: &Cell,
    (subject, channel): (usize, &'f str),
    kind: usize,
    rows: &mut Vec<Row<'f>>,
) {
    let title = |statistic| Title { channel, metric: LATENCIES[kind], statistic, unit: "s" };
    let each = || cell.runs.iter().map(|run| &run.parts[subject].latencies[kind]);
    let count = each().map(|spread| spread.count).sum();
    rows.push(Row::mean(title("mean"), each().map(|spread| spread.mean().map(seconds)).collect(), count));
    if fabric.tails {
        let all = &cell.histograms[subject][kind];
        for (place, (statistic, p)) in QUANTILES.into_iter().enumerate() {
            let parts: Vec<Option<f64>> = each().map(|spread| spread.quantiles[place]).collect();
            let held: Vec<f64> = parts.iter().copied().flatten().collect();
            let measure = replications::quantile_of_parts(all, &held, p).times(seconds(1.0));
            let parts = parts.into_iter().map(|part| part.map(seconds)).collect();
            rows.push(Row { title: title(statistic), measure, parts, count });
        }
    }
    rows.push(Row::mean(title("max"), each().map(|spread| spread.longest().map(seconds)).collect(), count));
}

/// The distributions of the latencies of a cell.
pub fn distributions<'f>(
    fabric: &'f FabricScenario,
    cell: &'f Cell,
    (discipline, load): (&'f str, f64),
) -> impl Iterator<Item = FabricDistribution> {
    let subjects = subjects(fabric).enumerate().filter(|_| fabric.tails);
    let each = subjects
        .flat_map(|(subject, channel)| kinds(fabric, subject).map(move |kind| (subject, channel, kind)));
    each.map(move |(subject, channel, kind)| FabricDistribution {
        discipline: discipline.to_owned(),
        load,
        channel: channel.to_owned(),
        metric: LATENCIES[kind],
        bins: Bins::new(&cell.histograms[subject][kind], "s", seconds),
    })
}
