//! From what the runs left to the rows of a result: one number a replication, its mean with the t interval; quantiles
//! by sectioning; differences replication by replication.
//!
//! | figure | one number of a replication |
//! |-|-|
//! | `share`, `windfall`, `uncommitted` | run time, or that of a kind, over the measured time; of `all` over that of all nodes |
//! | `epoch_run` | mean over the whole epochs in the measured time; of `all` of all processes together |
//! | `need_met` | of the epochs in which it was ready throughout and promised something, those in which it ran as much |
//! | `response`, `wait`, `age` | mean and quantiles of those that ended in the measured time |
//! | `late` | of the responses of processes with a deadline, those that were longer; those that are not over at the end count once they are late |
//! | `schedulings`, `enqueue_rate`, `dequeue_rate`, `throughput` | events over the measured time |
//! | `busy`, `idle`, `uncharged` | times of the processor over the measured time |
//!
//! `all` is of all processes but the system's, of all queues, of all nodes. `min` and
//! `max` are the least and the longest of all replications, without an interval; the differences of these,
//! `replication_min` and `replication_max`, are means of the differences of each replication's own. Where nothing is random every replication is the same, and a figure is exact: its interval is
//! its value, for a quantile as far as the histogram tells it.

use weir_core::task::Used;
use weir_core::units::Nanos;

use crate::node::collector::OWN_TAILS;
use crate::node::model::{NodeScenario, Operation};
use crate::node::outcome::{NodeDifference, NodeDistribution, NodeFigure};
use crate::node::summary::{Cell, ProcessPart, Summary};
use crate::node::tally::{Epochs, ProcessTally, Window};
use crate::stats::{Histogram, Measure, QUANTILES, Spread, Unavailable, replications};

/// What all of a kind are called together.
pub const ALL: &str = "all";
/// Where an interval comes from if it is none.
const EXACT: &str = "exact: nothing is random";
/// Why there is none of the least and the longest.
const EXTREME: &str =
    "the extreme of all replications: more of them find one beyond it, so it has no interval";
/// How near a quantile is told.
const READING: f64 = Histogram::<7>::RELATIVE_ERROR;

/// What a figure is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Title<'f> {
    pub(crate) kind: &'static str,
    pub(crate) name: &'f str,
    pub(crate) metric: &'static str,
    pub(crate) statistic: &'static str,
    pub(crate) unit: &'static str,
}

/// A figure with the number of each replication, `None` where there was nothing to observe.
pub(crate) struct Row<'f> {
    pub(crate) title: Title<'f>,
    pub(crate) measure: Measure,
    /// Of the least and the longest too: their differences are of these.
    pub(crate) parts: Vec<Option<f64>>,
    /// Observations behind it.
    pub(crate) count: u64,
    /// How near it is told, as a part of it.
    pub(crate) reading: f64,
}

/// The figures of one discipline.
pub struct Rows<'f> {
    rows: Vec<Row<'f>>,
    is_random: bool,
}

/// A value with its interval.
#[derive(Default)]
struct Told {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    standard_error: Option<f64>,
    method: Option<String>,
    reason: Option<String>,
}

/// Whether anything of a scenario is random.
#[must_use]
pub fn is_random(node: &NodeScenario) -> bool {
    let draws = |operation: &Operation| match operation {
        Operation::Compute(law) | Operation::PostAfter(_, law) | Operation::Sleep(law) => law.is_random(),
        _ => false,
    };
    node.processes.iter().any(|process| process.program.operations.iter().any(draws))
}

/// A figure with its interval; one that is not random is told within `error`.
fn told(measure: &Measure, is_random: bool, error: f64) -> Told {
    let value = measure.value();
    match (measure, measure.as_estimate(), value) {
        (Measure::NotAvailable { reason }, _, _) => {
            Told { reason: Some(reason.to_string()), ..Told::default() }
        }
        (_, _, Some(exact)) if !is_random => Told {
            value,
            low: Some(exact - error),
            high: Some(exact + error),
            standard_error: Some(0.0),
            method: Some(EXACT.to_owned()),
            reason: None,
        },
        (_, Some(estimate), _) => Told {
            value,
            low: Some(estimate.low()),
            high: Some(estimate.high()),
            standard_error: Some(estimate.standard_error()),
            method: Some(estimate.method().to_string()),
            reason: None,
        },
        _ => Told {
            value,
            reason: Some("one replication tells a value, an interval needs at least 2".to_owned()),
            ..Told::default()
        },
    }
}

impl<'f> Row<'f> {
    /// The mean of one number a replication.
    pub(crate) fn mean(title: Title<'f>, parts: Vec<Option<f64>>, count: u64) -> Self {
        let values: Vec<f64> = parts.iter().copied().flatten().collect();
        Self { title, measure: replications::mean(&values), parts, count, reading: 0.0 }
    }

    /// The longest of all replications.
    pub(crate) fn longest(title: Title<'f>, parts: Vec<Option<f64>>, count: u64) -> Self {
        let measure = match parts.iter().copied().flatten().reduce(f64::max) {
            Some(longest) => Measure::maximum(longest, count),
            None => Unavailable::NoObservations.into(),
        };
        Self { title, measure, parts, count, reading: 0.0 }
    }

    /// The least of all replications.
    fn least(title: Title<'f>, parts: Vec<Option<f64>>, count: u64) -> Self {
        let measure = match parts.iter().copied().flatten().reduce(f64::min) {
            Some(least) => Measure::observed(least, count),
            None => Unavailable::NoObservations.into(),
        };
        Self { title, measure, parts, count, reading: 0.0 }
    }

    pub(crate) fn figure(&self, discipline: &str, is_random: bool) -> NodeFigure {
        let error = self.reading * self.measure.value().unwrap_or(0.0).abs();
        let mut told = told(&self.measure, is_random, error);
        if told.low.is_none()
            && told.value.is_some()
            && matches!(self.title.statistic, "min" | "max" | "window_max")
        {
            told.reason = Some(EXTREME.to_owned());
        }
        NodeFigure {
            discipline: discipline.to_owned(),
            kind: self.title.kind,
            name: self.title.name.to_owned(),
            metric: self.title.metric,
            statistic: self.title.statistic,
            count: if told.value.is_some() { self.count } else { 0 },
            value: told.value,
            low: told.low,
            high: told.high,
            standard_error: told.standard_error,
            method: told.method,
            unit: self.title.unit,
            reason: told.reason,
        }
    }

    /// The row of pairs of this and the reference's.
    pub(crate) fn difference(&self, other: &Self, names: Names<'_>, is_random: bool) -> NodeDifference {
        let pairs = self.parts.iter().zip(&other.parts);
        let apart: Vec<f64> = pairs.filter_map(|(own, other)| Some((*own)? - (*other)?)).collect();
        let either = [self, other].map(|row| row.measure.value().unwrap_or(0.0).abs());
        let error = self.reading * (either[0] + either[1]);
        let told = told(&replications::mean(&apart), is_random, error);
        NodeDifference {
            discipline: names.discipline.to_owned(),
            reference: names.reference.to_owned(),
            kind: self.title.kind,
            name: self.title.name.to_owned(),
            metric: self.title.metric,
            statistic: match self.title.statistic {
                "max" => "replication_max",
                "min" => "replication_min",
                "window_max" => "replication_window_max",
                statistic => statistic,
            },
            value: told.value,
            low: told.low,
            high: told.high,
            unit: self.title.unit,
            reason: told.reason,
        }
    }
}

/// What is compared with what.
#[derive(Clone, Copy)]
pub struct Names<'n> {
    /// The discipline.
    pub discipline: &'n str,
    /// The reference.
    pub reference: &'n str,
}

impl<'f> Rows<'f> {
    /// All figures of a cell. The order is the same for every discipline.
    #[must_use]
    pub fn new(node: &'f NodeScenario, cell: &Cell) -> Self {
        let mut making = Making { node, cell, span: Window::of(node).span() as f64, rows: Vec::new() };
        let names = node.processes.iter().map(|process| process.name.as_str());
        for (subject, name) in std::iter::once(ALL).chain(names).enumerate() {
            making.process(subject, name);
        }
        let names = node.queues.iter().map(|queue| queue.name.as_str());
        let queues = std::iter::once(ALL).chain(names).enumerate();
        queues.filter(|_| !node.queues.is_empty()).for_each(|(subject, name)| making.queue(subject, name));
        let names = node.nodes.iter().map(String::as_str);
        for (subject, name) in std::iter::once(ALL).chain(names).enumerate() {
            making.node(subject, name);
        }
        Self { rows: making.rows, is_random: is_random(node) }
    }

    /// As a result has them.
    pub fn figures(&self, discipline: &str) -> impl Iterator<Item = NodeFigure> {
        self.rows.iter().map(move |row| row.figure(discipline, self.is_random))
    }

    /// The paired differences from the reference.
    pub fn differences(&self, reference: &Self, names: Names<'_>) -> impl Iterator<Item = NodeDifference> {
        let pairs = self.rows.iter().zip(&reference.rows);
        pairs.map(move |(own, other)| own.difference(other, names, self.is_random))
    }
}

/// The rows of a cell in the making.
struct Making<'f, 'c> {
    node: &'f NodeScenario,
    cell: &'c Cell,
    /// The measured time, in nanoseconds.
    span: f64,
    rows: Vec<Row<'f>>,
}

fn seconds(nanoseconds: f64) -> f64 {
    nanoseconds / 1e9
}

fn mean_run(epochs: Epochs) -> Option<f64> {
    (epochs.count > 0).then(|| seconds(epochs.sum as f64 / epochs.count as f64))
}

/// `part` of `whole`, where there is any.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl<'f, 'c> Making<'f, 'c> {
    fn runs(&self) -> impl Iterator<Item = &'c Summary> + use<'c> {
        self.cell.runs.iter()
    }

    /// The measured time of a subject, in nanoseconds: all have that of all nodes.
    fn elapsed(&self, subject: usize) -> f64 {
        self.span * if subject == 0 { self.node.nodes.len() as f64 } else { 1.0 }
    }

    /// The mean of one number a replication.
    fn push(
        &mut self,
        title: Title<'f>,
        value: impl Fn(&Summary) -> Option<f64>,
        count: impl Fn(&Summary) -> u64,
    ) {
        let (parts, count) = (self.runs().map(value).collect(), self.runs().map(count).sum());
        self.rows.push(Row::mean(title, parts, count));
    }

    /// Events a second.
    fn rate(&mut self, title: Title<'f>, count: impl Fn(&Summary) -> u64) {
        let span = seconds(self.span);
        self.push(title, |run| Some(count(run) as f64 / span), &count);
    }

    fn process(&mut self, subject: usize, name: &'f str) {
        let title = |metric, unit| Title { kind: "process", name, metric, statistic: "mean", unit };
        let tally = |run: &Summary| run.processes[subject].tally;
        let elapsed = self.elapsed(subject);
        let share = |run: &Summary| Some(tally(run).run_time as f64 / elapsed);
        self.push(title("share", "1"), share, |run| tally(run).schedulings);
        self.epochs(subject, name);
        let met = |tally: ProcessTally| ratio(tally.promised - tally.missed, tally.promised);
        self.push(title("need_met", "1"), |run| met(tally(run)), |run| tally(run).promised);
        self.kind(title("windfall", "1"), subject, |used| used.windfall);
        self.kind(title("uncommitted", "1"), subject, |used| used.uncommitted);
        self.times(title("response", "s"), |part| &part.response, (subject, 0));
        self.times(title("wait", "s"), |part| &part.wait, (subject, 1));
        if self.has_deadline(subject) {
            let late = |tally: ProcessTally| ratio(tally.late, tally.timed);
            self.push(title("late", "1"), |run| late(tally(run)), |run| tally(run).timed);
        }
        self.rate(title("schedulings", "1/s"), |run| tally(run).schedulings);
        self.rate(title("enqueue_rate", "1/s"), |run| tally(run).enqueued);
        self.rate(title("dequeue_rate", "1/s"), |run| tally(run).dequeued);
    }

    /// Whether a process, or any but the system's, has a deadline.
    fn has_deadline(&self, subject: usize) -> bool {
        let processes = &self.node.processes;
        match subject.checked_sub(1) {
            Some(process) => processes[process].deadline.is_some(),
            None => processes.iter().any(|process| !process.system && process.deadline.is_some()),
        }
    }

    /// Run times in epochs.
    fn epochs(&mut self, subject: usize, name: &'f str) {
        let epochs = |run: &Summary| run.processes[subject].tally.epochs;
        let some = |epochs: Epochs, value: u64| (epochs.count > 0).then(|| seconds(value as f64));
        let title = |statistic| Title { kind: "process", name, metric: "epoch_run", statistic, unit: "s" };
        self.push(title("mean"), |run| mean_run(epochs(run)), |run| epochs(run).count);
        let count = self.runs().map(|run| epochs(run).count).sum();
        let least = self.runs().map(|run| some(epochs(run), epochs(run).least)).collect();
        let most = self.runs().map(|run| some(epochs(run), epochs(run).most)).collect();
        self.rows.push(Row::least(title("min"), least, count));
        self.rows.push(Row::longest(title("max"), most, count));
    }

    /// Time of a kind, where the discipline tells kinds apart.
    fn kind(&mut self, title: Title<'f>, subject: usize, of: fn(Used) -> Nanos) {
        let elapsed = self.elapsed(subject);
        let part = |run: &Summary| run.processes[subject].used.map(|used| of(used).get() as f64 / elapsed);
        self.push(title, part, |run| run.processes[subject].tally.schedulings);
        let row = self.rows.last_mut().filter(|row| row.parts.iter().all(Option::is_none));
        if let Some(row) = row {
            row.measure = Unavailable::NotMeasured.into();
        }
    }

    /// Mean, quantiles and longest of times of a process; with its place among the histograms.
    fn times(&mut self, title: Title<'f>, of: fn(&ProcessPart) -> &Spread, (subject, tails): (usize, usize)) {
        let cell = self.cell;
        let all = cell.histograms.processes.get(subject).map(|both| &both[tails]);
        let has_tails = self.node.measure.tails && (subject == 0 || self.node.processes.len() <= OWN_TAILS);
        let each: Vec<Spread> = cell.runs.iter().map(|run| *of(&run.processes[subject])).collect();
        self.spreads(title, &each, all, has_tails);
    }

    fn spreads(&mut self, title: Title<'f>, each: &[Spread], all: Option<&Histogram>, has_tails: bool) {
        let count = each.iter().map(|spread| spread.count).sum();
        let of = |statistic| Title { statistic, ..title };
        let parts = each.iter().map(|spread| spread.mean().map(seconds)).collect();
        self.rows.push(Row::mean(of("mean"), parts, count));
        let none = Histogram::new();
        for (place, (statistic, p)) in QUANTILES.into_iter().enumerate().filter(|_| has_tails) {
            let parts: Vec<Option<f64>> = each.iter().map(|spread| spread.quantiles[place]).collect();
            let held: Vec<f64> = parts.iter().copied().flatten().collect();
            let measure = replications::quantile_of_parts(all.unwrap_or(&none), &held, p).times(seconds(1.0));
            let parts = parts.into_iter().map(|part| part.map(seconds)).collect();
            self.rows.push(Row { title: of(statistic), measure, parts, count, reading: READING });
        }
        let parts = each.iter().map(|spread| spread.longest().map(seconds)).collect();
        self.rows.push(Row::longest(of("max"), parts, count));
    }

    fn queue(&mut self, subject: usize, name: &'f str) {
        let title = |metric, unit| Title { kind: "queue", name, metric, statistic: "mean", unit };
        self.rate(title("throughput", "1/s"), |run| run.queues[subject].tally.dequeued);
        let all = self.cell.histograms.queues.get(subject).map(|times| &times.histogram);
        let each: Vec<Spread> = self.runs().map(|run| run.queues[subject].age).collect();
        self.spreads(title("age", "s"), &each, all, self.node.measure.tails);
    }

    fn node(&mut self, subject: usize, name: &'f str) {
        let title = |metric| Title { kind: "node", name, metric, statistic: "mean", unit: "1" };
        let elapsed = self.elapsed(subject);
        let decisions = |run: &Summary| run.nodes[subject].paths.iter().sum();
        let share = |time: u64| Some(time as f64 / elapsed);
        self.push(title("busy"), |run| share(run.nodes[subject].run_time), decisions);
        self.push(title("idle"), |run| share(run.nodes[subject].idle), decisions);
        self.push(title("uncharged"), |run| share(run.nodes[subject].uncharged), decisions);
    }
}

/// The distributions of a cell.
pub fn distributions<'f>(
    node: &'f NodeScenario,
    cell: &'f Cell,
    discipline: &'f str,
) -> impl Iterator<Item = NodeDistribution> {
    let names = node.processes.iter().map(|process| process.name.as_str());
    let subjects = std::iter::once(ALL).chain(names).zip(&cell.histograms.processes);
    let each = subjects.flat_map(|(name, both)| {
        let metrics = ["response", "wait"].into_iter().zip(both);
        metrics.map(move |(metric, histogram)| (name, metric, histogram))
    });
    each.map(move |(name, metric, histogram)| {
        let buckets: Vec<_> = histogram.buckets().collect();
        NodeDistribution {
            discipline: discipline.to_owned(),
            process: name.to_owned(),
            metric,
            relative_error: READING,
            unit: "s",
            low: buckets.iter().map(|bucket| seconds(bucket.low as f64)).collect(),
            high: buckets.iter().map(|bucket| seconds((bucket.high + 1) as f64)).collect(),
            count: buckets.iter().map(|bucket| bucket.count).collect(),
        }
    })
}
