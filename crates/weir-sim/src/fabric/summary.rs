//! What is kept of the runs: a few numbers of each, and histograms of all that are finished.
//!
//! A cell is one discipline at one load. Histograms of single runs are given up as soon as the replication is
//! finished in every cell: then quantiles of each run are taken, and the counts are merged. Merging is the same in any
//! order, so the number of threads does not show. Memory: linear in cells times channels, and in replications times
//! cells times channels for the few numbers.

use crate::fabric::collector::{Collector, Counts, Inside, KINDS, Volume};
use crate::fabric::job::{Job, Tally};
use crate::fabric::model::FabricScenario;
use crate::stats::{Histogram, Spread};

/// One subject, a channel or all, in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// Generated.
    pub offered: Volume,
    /// Delivered.
    pub delivered: Volume,
    /// By kind.
    pub latencies: [Spread; KINDS],
    /// From entries and deliveries.
    pub inside: Inside,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// All channels together, then channel by channel.
    pub parts: Vec<Part>,
    /// Told of, warm-up included: generated, entered, delivered.
    pub told: [u64; 3],
    /// As the engine has counted.
    pub tally: Tally,
}

/// The histograms of a subject, by kind.
pub type Histograms = [Histogram; KINDS];

/// What a run has left: its numbers, and its histograms by subject.
#[derive(Clone, Debug)]
pub struct Left {
    summary: Summary,
    histograms: Vec<Histograms>,
}

impl Left {
    /// Sums up a run.
    #[must_use]
    pub fn new(collector: Collector, tally: Tally) -> Self {
        let mut all = Counts::default();
        collector.counts.iter().for_each(|counts| all.merge(counts));
        let subjects: Vec<Counts> = std::iter::once(all).chain(collector.counts).collect();
        let part = |counts: &Counts| Part {
            offered: counts.offered,
            delivered: counts.delivered,
            latencies: [0, 1, 2].map(|kind| counts.latencies[kind].spread()),
            inside: counts.inside,
        };
        let summary = Summary {
            parts: subjects.iter().map(part).collect(),
            told: [collector.generated, collector.injected, collector.delivered],
            tally,
        };
        let histograms = subjects.into_iter().map(|counts| counts.latencies.map(|of| of.histogram));
        Self { summary, histograms: histograms.collect() }
    }
}

/// One discipline at one load, over the replications that are finished.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Replication by replication.
    pub runs: Vec<Summary>,
    /// Of all of them, by subject.
    pub histograms: Vec<Histograms>,
}

/// All cells in the making.
#[derive(Debug)]
pub struct Gathered {
    loads: usize,
    /// Replication by replication, cell by cell: what has come.
    waiting: Vec<Vec<Option<Left>>>,
    /// Replication by replication, cell by cell, where all cells have come.
    finished: Vec<Option<Vec<Summary>>>,
    /// Cell by cell.
    histograms: Vec<Vec<Histograms>>,
}

impl Gathered {
    /// Nothing yet.
    #[must_use]
    pub fn new(fabric: &FabricScenario) -> Self {
        let loads = fabric.traffic.loads.len();
        let (cells, subjects) = (fabric.disciplines.len() * loads, fabric.channels.len() + 1);
        let none = || Histograms::default();
        Self {
            loads,
            waiting: (0..fabric.stop.replications).map(|_| Vec::new()).collect(),
            finished: (0..fabric.stop.replications).map(|_| None).collect(),
            histograms: (0..cells).map(|_| (0..subjects).map(|_| none()).collect()).collect(),
        }
    }

    /// A job has left this.
    pub fn add(&mut self, job: Job, left: Left) {
        let (replication, cells) = (job.replication as usize, self.histograms.len());
        let waiting = &mut self.waiting[replication];
        waiting.resize_with(cells, || None);
        waiting[job.discipline * self.loads + job.load] = Some(left);
        if waiting.iter().any(Option::is_none) {
            return;
        }
        let whole = std::mem::take(waiting).into_iter().flatten();
        let merged = whole.zip(&mut self.histograms).map(|(left, cell)| {
            for (all, own) in cell.iter_mut().zip(&left.histograms) {
                all.iter_mut().zip(own).for_each(|(all, own)| all.merge(own));
            }
            left.summary
        });
        self.finished[replication] = Some(merged.collect());
    }

    /// The cells over the replications that are finished, discipline by discipline, load by load.
    #[must_use]
    pub fn into_cells(self) -> Vec<Cell> {
        let empty = |histograms| Cell { runs: Vec::new(), histograms };
        let mut cells: Vec<Cell> = self.histograms.into_iter().map(empty).collect();
        for replication in self.finished.into_iter().flatten() {
            cells.iter_mut().zip(replication).for_each(|(cell, run)| cell.runs.push(run));
        }
        cells
    }
}
