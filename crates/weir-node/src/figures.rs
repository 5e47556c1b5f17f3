//! From what the runs left to the rows of a result (see [`weir_lab::stats::row`]): one number a replication.
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
//! `all` is of all processes but the system's, of all queues, of all nodes. `min` and `max` are the least and the longest
//! of all replications. Work O(replications) a figure. Units: seconds.

use crate::collector::OWN_TAILS;
use crate::model::{NodeScenario, Operation};
use crate::outcome::{NodeDistribution, OfProcess};
use crate::summary::{Cell, ProcessPart, Summary};
use crate::tally::{Epochs, ProcessTally};
use weir_core::task::Used;
use weir_core::units::Nanos;
use weir_lab::scenario::need::{ENDS, MEANS, Measured, Metric, Subjects, TAILS};
use weir_lab::stats::figure::{ALL, Subject, Title};
use weir_lab::stats::row::{Row, Rows, Tails, ratio};
use weir_lab::stats::{Bins, Histogram, QUANTILES, Spread, Unavailable};

/// Whether anything of a scenario is random.
#[must_use]
pub fn is_random(node: &NodeScenario) -> bool {
    let draws = |operation: &Operation| match operation {
        Operation::Compute(law) | Operation::PostAfter(_, law) | Operation::Sleep(law) => law.is_random(),
        _ => false,
    };
    node.processes.iter().any(|process| process.program.operations.iter().any(draws))
}

/// What there are figures of, for needs.
#[must_use]
pub fn measured(node: &NodeScenario) -> Measured {
    let tails = |wanted: bool| if wanted && node.measure.tails { TAILS } else { ENDS };
    let process = |own_tails: bool, has_deadline: bool| -> Vec<Metric> {
        let times = ["response", "wait"].map(|name| Metric::new(name, tails(own_tails), "s"));
        let shares =
            ["share", "need_met", "windfall", "uncommitted"].map(|name| Metric::new(name, MEANS, "1"));
        let rates =
            ["schedulings", "enqueue_rate", "dequeue_rate"].map(|name| Metric::new(name, MEANS, "1/s"));
        let late = has_deadline.then_some(Metric::new("late", MEANS, "1"));
        let run = Metric::new("epoch_run", &["mean", "min", "max"], "s");
        times.into_iter().chain(late).chain(shares).chain([run]).chain(rates).collect()
    };
    let own_tails = node.processes.len() <= OWN_TAILS;
    let with = |has_deadline: bool| {
        let chosen = node.processes.iter().filter(move |each| each.deadline.is_some() == has_deadline);
        let names = chosen.map(|process| process.name.as_str());
        Subjects::named("process", names, process(own_tails, has_deadline))
    };
    let any_deadline = node.processes.iter().any(|each| !each.system && each.deadline.is_some());
    let of_nodes = ["busy", "idle", "uncharged"].map(|name| Metric::new(name, MEANS, "1"));
    let of_queues = vec![Metric::new("age", tails(true), "s"), Metric::new("throughput", MEANS, "1/s")];
    let subjects = vec![
        Subjects::all(process(true, any_deadline).into_iter().chain(of_nodes).collect()),
        with(true),
        with(false),
        Subjects::named("queue", node.queues.iter().map(|queue| queue.name.as_str()), of_queues),
    ];
    Measured { subjects, loads: Vec::new() }
}

/// All figures of a cell. The order is the same for every discipline.
#[must_use]
pub fn rows(node: &NodeScenario, cell: &Cell) -> Rows {
    let mut making = Making { node, cell, span: node.stop.window().span().get() as f64, rows: Vec::new() };
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
    Rows::new(making.rows, is_random(node))
}

/// The rows of a cell in the making.
struct Making<'c> {
    node: &'c NodeScenario,
    cell: &'c Cell,
    /// The measured time, in nanoseconds.
    span: f64,
    rows: Vec<Row>,
}

fn seconds(nanoseconds: f64) -> f64 {
    nanoseconds / 1e9
}

fn mean_run(epochs: Epochs) -> Option<f64> {
    (epochs.count > 0).then(|| seconds(epochs.sum.get() as f64 / epochs.count as f64))
}

impl<'c> Making<'c> {
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
        title: Title,
        value: impl Fn(&Summary) -> Option<f64>,
        count: impl Fn(&Summary) -> u64,
    ) {
        let (parts, count) = (self.runs().map(value).collect(), self.runs().map(count).sum());
        self.rows.push(Row::mean(title, parts, count));
    }

    /// Events a second.
    fn rate(&mut self, title: Title, count: impl Fn(&Summary) -> u64) {
        let span = seconds(self.span);
        self.push(title, |run| Some(count(run) as f64 / span), &count);
    }

    fn process(&mut self, subject: usize, name: &str) {
        let title = |metric, unit| Title::mean(Subject::new("process", name), metric, unit);
        let tally = |run: &Summary| run.processes[subject].tally;
        let elapsed = self.elapsed(subject);
        let share = |run: &Summary| Some(tally(run).run_time.get() as f64 / elapsed);
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
    fn epochs(&mut self, subject: usize, name: &str) {
        let epochs = |run: &Summary| run.processes[subject].tally.epochs;
        let some = |epochs: Epochs, value: Nanos| (epochs.count > 0).then(|| seconds(value.get() as f64));
        let subject = Subject::new("process", name);
        let title = |statistic| Title { subject: subject.clone(), metric: "epoch_run", statistic, unit: "s" };
        self.push(title("mean"), |run| mean_run(epochs(run)), |run| epochs(run).count);
        let count = self.runs().map(|run| epochs(run).count).sum();
        let least = self.runs().map(|run| some(epochs(run), epochs(run).least)).collect();
        let most = self.runs().map(|run| some(epochs(run), epochs(run).most)).collect();
        self.rows.push(Row::least(title("min"), least, count));
        self.rows.push(Row::longest(title("max"), most, count));
    }

    /// Time of a kind, where the discipline tells kinds apart.
    fn kind(&mut self, title: Title, subject: usize, of: fn(Used) -> Nanos) {
        let elapsed = self.elapsed(subject);
        let part = |run: &Summary| run.processes[subject].used.map(|used| of(used).get() as f64 / elapsed);
        self.push(title, part, |run| run.processes[subject].tally.schedulings);
        let row = self.rows.last_mut().filter(|row| row.parts.iter().all(Option::is_none));
        if let Some(row) = row {
            row.measure = Unavailable::NotMeasured.into();
        }
    }

    /// Mean, quantiles and longest of times of a process; with its place among the histograms.
    fn times(&mut self, title: Title, of: fn(&ProcessPart) -> &Spread, (subject, tails): (usize, usize)) {
        let cell = self.cell;
        let all = cell.histograms.processes.get(subject).map(|both| &both[tails]);
        let has_tails = self.node.measure.tails && (subject == 0 || self.node.processes.len() <= OWN_TAILS);
        let each: Vec<Spread> = cell.runs.iter().map(|run| *of(&run.processes[subject])).collect();
        self.spreads(title, &each, all, has_tails);
    }

    fn spreads(&mut self, title: Title, each: &[Spread], all: Option<&Histogram>, has_tails: bool) {
        let tails = has_tails.then_some(Tails { all, quantiles: QUANTILES });
        self.rows.extend(Row::spreads(title, each, tails.as_ref(), seconds));
    }

    fn queue(&mut self, subject: usize, name: &str) {
        let title = |metric, unit| Title::mean(Subject::new("queue", name), metric, unit);
        self.rate(title("throughput", "1/s"), |run| run.queues[subject].tally.dequeued);
        let all = self.cell.histograms.queues.get(subject).map(|times| &times.histogram);
        let each: Vec<Spread> = self.runs().map(|run| run.queues[subject].age).collect();
        self.spreads(title("age", "s"), &each, all, self.node.measure.tails);
    }

    fn node(&mut self, subject: usize, name: &str) {
        let title = |metric| Title::mean(Subject::new("node", name), metric, "1");
        let elapsed = self.elapsed(subject);
        let decisions = |run: &Summary| run.nodes[subject].paths.iter().sum();
        let share = |time: Nanos| Some(time.get() as f64 / elapsed);
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
    each.map(move |(name, metric, histogram)| NodeDistribution {
        discipline: discipline.to_owned(),
        subject: OfProcess { process: name.to_owned() },
        metric,
        bins: Bins::new(histogram, "s", seconds),
    })
}
