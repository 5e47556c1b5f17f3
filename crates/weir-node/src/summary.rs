//! What is kept of the runs: a few numbers of each, and histograms of all that are finished.
//!
//! Histograms of single runs are given up as soon as the replication is finished under every discipline: then quantiles
//! of each run are taken, and the counts are merged. Merging is the same in any order, so the number of threads does
//! not show. Memory: linear in disciplines times processes, and in replications times disciplines times processes for
//! the few numbers. Samples and timelines are of the first replication.

use crate::collector::{Collector, ProcessCounts, QueueCounts, Tails};
use crate::job::{self, Tally};
use crate::model::NodeScenario;
use crate::outcome::{Samples, Timeline};
use crate::recorder::{Recorder, Shown};
use crate::tally::{NodeTally, ProcessTally, QueueTally};
use weir_core::task::{Overcommitted, Used};
use weir_core::units::{Cost, Nanos};
use weir_lab;
use weir_lab::stats::windows::Figures;
use weir_lab::stats::{Histogram, QUANTILES, Spread, Tail, Times};

/// A process, or all but the system's, in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessPart {
    /// What was counted.
    pub tally: ProcessTally,
    /// Its time by kind, where the discipline tells.
    pub used: Option<Used>,
    /// From ready to waiting.
    pub response: Spread,
    /// From ready to where its program first goes on.
    pub wait: Spread,
}

/// A queue, or all, in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueuePart {
    /// What was counted.
    pub tally: QueueTally,
    /// How long data lay there.
    pub age: Spread,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// All together but the system's, then process by process.
    pub processes: Vec<ProcessPart>,
    /// All together, then queue by queue.
    pub queues: Vec<QueuePart>,
    /// All together, then node by node.
    pub nodes: Vec<NodeTally>,
    /// As the engine has counted.
    pub tally: Tally,
    /// Nodes, by place, that promise, or after a move have promised, more than they have, and the most of it.
    pub overcommitted: Vec<(usize, Overcommitted)>,
    /// Who waits for ever, in words, each with the place of its node.
    pub stranded: Vec<(usize, String)>,
    /// Who was ready for all of the measured time and never ran: the places of node and process.
    pub starved: Vec<(usize, usize)>,
    /// Figures of windows over time, where they are asked for.
    pub windows: Vec<Figures>,
}

/// The histograms of all runs: of all processes together but the system's, then process by process where each has its
/// own; of the ages in all queues, then queue by queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histograms {
    /// Of responses and waits.
    pub processes: Vec<Tails>,
    /// Of ages.
    pub queues: Vec<Times>,
}

impl Histograms {
    fn merge(&mut self, other: Self) {
        self.processes.resize_with(other.processes.len(), Tails::default);
        self.queues.resize_with(other.queues.len(), Times::default);
        for (all, own) in self.processes.iter_mut().zip(&other.processes) {
            all.iter_mut().zip(own).for_each(|(all, own)| all.merge(own));
        }
        self.queues.iter_mut().zip(&other.queues).for_each(|(all, own)| all.merge(own));
    }
}

/// What a run has left.
#[derive(Debug)]
pub struct Summed {
    summary: Summary,
    histograms: Histograms,
    shown: Shown,
}

/// What a process has used of each kind in the measured time, where the discipline tells.
fn measured(left: &job::Left, process: usize) -> Option<Used> {
    let [before, after] = left.used.get(process).copied().flatten()?;
    let part = |of: fn(Used) -> Nanos| of(after).minus(of(before));
    let (need, uncommitted) = (part(|used| used.need), part(|used| used.uncommitted));
    Some(Used { need, uncommitted, windfall: part(|used| used.windfall) })
}

/// Both together, where both are reported.
fn both(first: Option<Used>, second: Option<Used>) -> Option<Used> {
    let (first, second) = (first?, second?);
    Some(Used {
        need: first.need + second.need,
        uncommitted: first.uncommitted + second.uncommitted,
        windfall: first.windfall + second.windfall,
    })
}

/// Times with the quantiles of a histogram.
fn spread(times: &Times, tails: Option<&Histogram>) -> Spread {
    let quantiles =
        tails.map_or_else(Default::default, |histogram| QUANTILES.map(|(_, p)| histogram.quantile(p)));
    let tail = tails.map(Tail::new).unwrap_or_default();
    Spread { quantiles, tail, ..times.spread() }
}

/// All processes but the system's, and the histograms of each subject.
fn all_processes(node: &NodeScenario, collector: &Collector, left: &job::Left) -> (ProcessPart, Tails) {
    let mut all = ProcessPart { used: Some(Used::default()), ..ProcessPart::default() };
    let (mut response, mut wait, mut tails) = (Times::default(), Times::default(), Tails::default());
    let processes = collector.processes.iter().enumerate();
    for (place, counts) in processes.filter(|&(place, _)| !node.processes[place].system) {
        all.tally.add(&counts.tally);
        all.used = both(all.used, measured(left, place));
        response.merge(&counts.response);
        wait.merge(&counts.wait);
    }
    for (place, own) in collector.tails.iter().enumerate() {
        if collector.is_counted(place) {
            tails.iter_mut().zip(own).for_each(|(all, own)| all.merge(own));
        }
    }
    all.tally.epochs = collector.together;
    let has_tails = !collector.tails.is_empty();
    all.response = spread(&response, has_tails.then_some(&tails[0]));
    all.wait = spread(&wait, has_tails.then_some(&tails[1]));
    (all, tails)
}

impl Summed {
    /// Sums up a run.
    #[must_use]
    pub fn new(node: &NodeScenario, discipline: &str, recorder: Recorder<'_>, left: job::Left) -> Self {
        let (collector, shown, windows) = recorder.ended(node, discipline);
        let (all, tails) = all_processes(node, &collector, &left);
        let process = |(place, counts): (usize, &ProcessCounts)| {
            let own = collector.tails_of(place);
            ProcessPart {
                tally: counts.tally,
                used: measured(&left, place),
                response: spread(&counts.response, own.map(|own| &own[0])),
                wait: spread(&counts.wait, own.map(|own| &own[1])),
            }
        };
        let each: Vec<ProcessPart> = collector.processes.iter().enumerate().map(process).collect();
        let (queues, ages) = queues(&collector);
        let mut together = NodeTally::default();
        collector.nodes.iter().for_each(|node| together.add(node));
        let never_ran = |&(_, process): &(usize, usize)| {
            let tally = &collector.processes[process].tally;
            tally.run_time.get() == 0 && tally.schedulings == 0
        };
        let is_measured = collector.window().span().get() > 0;
        let starved = left.ready.iter().copied().filter(never_ran).filter(|_| is_measured).collect();
        let summary = Summary {
            processes: std::iter::once(all).chain(each).collect(),
            queues,
            nodes: std::iter::once(together).chain(collector.nodes.iter().copied()).collect(),
            tally: left.tally,
            overcommitted: left.overcommitted,
            stranded: left.stranded,
            starved,
            windows,
        };
        let has_tails = !collector.tails.is_empty();
        let own = if collector.has_own_tails() { collector.tails } else { Vec::new() };
        let processes = std::iter::once(tails).chain(own).filter(|_| has_tails).collect();
        Self { summary, histograms: Histograms { processes, queues: ages }, shown }
    }
}

/// The queues, all together first, with the ages in them.
fn queues(collector: &Collector) -> (Vec<QueuePart>, Vec<Times>) {
    let mut together = (QueueTally::default(), Times::default());
    for counts in &collector.queues {
        together.0.enqueued += counts.tally.enqueued;
        together.0.dequeued += counts.tally.dequeued;
        together.1.merge(&counts.age);
    }
    let closed = |counts: &QueueCounts| (counts.tally.closed(collector.window()), counts.age.clone());
    let subjects = std::iter::once(together).chain(collector.queues.iter().map(closed));
    subjects.map(|(tally, age)| (QueuePart { tally, age: age.spread() }, age)).unzip()
}

/// One discipline, over the replications that are finished.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Replication by replication.
    pub runs: Vec<Summary>,
    /// Of all of them.
    pub histograms: Histograms,
    /// What the sampler saw of the first.
    pub samples: Vec<Samples>,
    /// Who ran when in the first.
    pub timeline: Option<Timeline>,
}

impl weir_lab::gathered::Cell for Cell {
    type Left = Summed;
    type Summary = Summary;

    fn merge(&mut self, left: Summed, is_first: bool) -> Summary {
        self.histograms.merge(left.histograms);
        if is_first {
            (self.samples, self.timeline) = (left.shown.samples, left.shown.timeline);
        }
        left.summary
    }

    fn push(&mut self, summary: Summary) {
        self.runs.push(summary);
    }
}

weir_lab::encode! {
    ProcessPart { tally, used, response, wait }
    QueuePart { tally, age }
    Summary { processes, queues, nodes, tally, overcommitted, stranded, starved, windows }
    Histograms { processes, queues }
    Summed { summary, histograms, shown }
}
