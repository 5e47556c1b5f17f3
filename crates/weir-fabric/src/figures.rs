//! From what the runs left to the rows of a result (see [`weir_lab::stats::row`]): one number a replication, its mean with the t intervals at 95 %
//! and at 90 %; quantiles of all; differences and improvements replication by replication.
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
use crate::outcome::{FabricDistribution, Narrower, Subject};
use crate::summary::Cell;
use crate::time::{TICKS_PER_SECOND, ticks, timing};
use crate::topology::Wiring;
use weir_lab::scenario::need::{ENDS, MEANS, Measured, Metric, Subjects, TAILS};
use weir_lab::stats::figure::{ALL, Beside, Title};
use weir_lab::stats::row::{self, Comparison, Row, Rows, Tails, ratio};
use weir_lab::stats::{Bins, Measure, QUANTILES, Spread, replications};

/// The kinds of latency, as results call them.
const LATENCIES: [&str; KINDS] = ["latency", "total_latency", "message_latency"];
/// The confidence of the second interval.
pub const SECOND_CONFIDENCE: f64 = 0.9;

impl Beside for Narrower {
    fn of(measure: &Measure) -> Self {
        let ends = measure.as_estimate().map(|estimate| estimate.interval(SECOND_CONFIDENCE));
        Self { low_90: ends.map(|(low, _)| low), high_90: ends.map(|(_, high)| high) }
    }

    fn at_least(self, least: f64) -> Self {
        Self { low_90: self.low_90.map(|low| low.max(least)), ..self }
    }
}

const DIFFERENCE: Comparison = Comparison { name: Some("difference"), ..row::DIFFERENCE };
const IMPROVEMENT: Comparison =
    Comparison { name: Some("improvement"), unit: Some("%"), of: mean_improvement };

fn mean_improvement(pairs: &[[f64; 2]]) -> Measure {
    let compared = pairs.iter().filter(|[_, other]| *other > 0.0);
    let each: Vec<f64> = compared.map(|[own, other]| 100.0 * (other - own) / other).collect();
    replications::mean(&each)
}

/// How a figure is compared; what all have in common is not.
pub fn compared(title: &Title<Subject>) -> &'static [Comparison] {
    match title.metric {
        "offered" => &[],
        metric if LATENCIES.contains(&metric) => &[DIFFERENCE, IMPROVEMENT],
        _ => &[DIFFERENCE],
    }
}

/// The names of all channels together and of each.
pub fn channels(fabric: &FabricScenario) -> impl Iterator<Item = &str> {
    std::iter::once(ALL).chain(fabric.channels.iter().map(|channel| channel.name.as_str()))
}

/// The kinds of latency that are measured of the channels at a place among [`channels`].
fn kinds(fabric: &FabricScenario, place: usize) -> impl Iterator<Item = usize> {
    let has_messages = match place.checked_sub(1) {
        Some(channel) => measures_messages(fabric, channel),
        None => (0..fabric.channels.len()).any(|channel| measures_messages(fabric, channel)),
    };
    (0..KINDS).filter(move |&kind| kind < 2 || has_messages)
}

/// What the links of all end-points carry in the measured time, in bytes.
#[must_use]
pub fn capacity(fabric: &FabricScenario) -> f64 {
    let span = ticks(fabric.stop.duration).saturating_sub(ticks(fabric.stop.warm_up));
    carried(fabric) * span as f64 / TICKS_PER_SECOND as f64
}

/// What the links of all end-points carry, in bytes a second.
#[must_use]
pub fn carried(fabric: &FabricScenario) -> f64 {
    let hosts = Wiring::new(fabric.topology).map_or(1, |wiring| wiring.hosts());
    f64::from(hosts) * timing(fabric).line.bytes_per_second()
}

/// What there are figures of, for needs.
#[must_use]
pub fn measured(fabric: &FabricScenario) -> Measured {
    let statistics = if fabric.tails { TAILS } else { ENDS };
    let metrics = |place: usize| {
        let volumes = ["offered", "throughput", "accepted"].map(|name| Metric::new(name, MEANS, "1"));
        let latencies = kinds(fabric, place).map(|kind| Metric::new(LATENCIES[kind], statistics, "s"));
        latencies.chain(volumes).collect()
    };
    let of_one = |(place, name): (usize, &str)| match place {
        0 => Subjects::all(metrics(0)),
        place => Subjects::named("channel", [name], metrics(place)),
    };
    Measured {
        subjects: channels(fabric).enumerate().map(of_one).collect(),
        loads: fabric.traffic.loads.clone(),
    }
}

fn seconds(ticks: f64) -> f64 {
    ticks / TICKS_PER_SECOND as f64
}

/// All figures of the cell at a load.
#[must_use]
pub fn rows(fabric: &FabricScenario, load: f64, cell: &Cell) -> Rows<Subject> {
    let mut rows = Vec::new();
    for (place, channel) in channels(fabric).enumerate() {
        let subject = Subject { load, channel: channel.to_owned() };
        volumes(fabric, cell, (place, &subject), &mut rows);
        for kind in kinds(fabric, place) {
            latencies(fabric, cell, (place, &subject), kind, &mut rows);
        }
    }
    Rows::bare(rows)
}

/// What a figure is about, in words.
#[must_use]
pub fn words(subject: &Subject) -> String {
    match subject.channel.as_str() {
        ALL => format!("all channels at load {}", subject.load),
        channel => format!("{channel} at load {}", subject.load),
    }
}

/// What is offered by all channels together.
#[must_use]
pub fn offered(rows: &Rows<Subject>) -> Option<&Measure> {
    let mut of_all = rows.iter().filter(|row| row.title.metric == "offered");
    of_all.next().map(|row| &row.measure)
}

/// What arrives of what is offered, by all channels together and by each.
pub fn accepted(rows: &Rows<Subject>) -> impl Iterator<Item = &Row<Subject>> {
    rows.iter().filter(|row| row.title.metric == "accepted")
}

/// Offered, throughput, accepted.
fn volumes(
    fabric: &FabricScenario,
    cell: &Cell,
    (place, subject): (usize, &Subject),
    rows: &mut Vec<Row<Subject>>,
) {
    let capacity = capacity(fabric);
    let parts = || cell.runs.iter().map(|run| &run.parts[place]);
    let (offered, delivered) =
        (parts().map(|part| part.offered.packets).sum(), parts().map(|part| part.delivered.packets).sum());
    let title = |metric| Title::mean(subject.clone(), metric, "1");
    let each = parts().map(|part| Some(part.offered.bytes as f64 / capacity)).collect();
    rows.push(Row::mean(title("offered"), each, offered));
    let each = parts().map(|part| Some(part.delivered.bytes as f64 / capacity)).collect();
    rows.push(Row::mean(title("throughput"), each, delivered));
    let each = parts().map(|part| ratio(part.delivered.bytes, part.offered.bytes)).collect();
    rows.push(Row::mean(title("accepted"), each, delivered));
}

/// Mean, quantiles and maximum of the latencies of one kind.
fn latencies(
    fabric: &FabricScenario,
    cell: &Cell,
    (place, subject): (usize, &Subject),
    kind: usize,
    rows: &mut Vec<Row<Subject>>,
) {
    let each: Vec<Spread> = cell.runs.iter().map(|run| run.parts[place].latencies[kind]).collect();
    let all = Some(&cell.histograms[place][kind]);
    let tails = fabric.tails.then_some(Tails { all, quantiles: QUANTILES });
    let title = Title::mean(subject.clone(), LATENCIES[kind], "s");
    let mut spreads = Row::spreads(title, &each, tails.as_ref(), seconds);
    // The longest of each replication has a mean.
    let longest = spreads.pop().map(|row| Row::mean(row.title, row.parts, row.count));
    rows.extend(spreads.into_iter().chain(longest));
}

/// The distributions of the latencies of a cell.
pub fn distributions<'f>(
    fabric: &'f FabricScenario,
    cell: &'f Cell,
    (discipline, load): (&'f str, f64),
) -> impl Iterator<Item = FabricDistribution> {
    let channels = channels(fabric).enumerate().filter(|_| fabric.tails);
    let each =
        channels.flat_map(|(place, channel)| kinds(fabric, place).map(move |kind| (place, channel, kind)));
    each.map(move |(place, channel, kind)| FabricDistribution {
        discipline: discipline.to_owned(),
        subject: Subject { load, channel: channel.to_owned() },
        metric: LATENCIES[kind],
        bins: Bins::new(&cell.histograms[place][kind], "s", seconds),
    })
}
