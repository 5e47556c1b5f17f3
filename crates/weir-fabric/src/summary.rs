//! What is kept of the runs: a few numbers of each, and histograms of all that are finished.
//!
//! A cell is one discipline at one load. Histograms of single runs are given up as soon as the replication is
//! finished in every cell: then quantiles of each run are taken, and the counts are merged. Merging is the same in any
//! order, so the number of threads does not show. Memory: linear in cells times channels, and in replications times
//! cells times channels for the few numbers.

use crate::collector::{Collector, Counts, Inside, KINDS, Volume};
use crate::job::Tally;
use crate::model::FabricScenario;
use weir_lab;
use weir_lab::stats::windows::Figures;
use weir_lab::stats::{Histogram, Spread};

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
    /// Packets reported, warm-up included: generated, entered, delivered.
    pub told: [u64; 3],
    /// As the engine has counted.
    pub tally: Tally,
    /// Figures of windows, where they are asked for.
    pub windows: Vec<Figures>,
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
            windows: Vec::new(),
        };
        let histograms = subjects.into_iter().map(|counts| counts.latencies.map(|of| of.histogram));
        Self { summary, histograms: histograms.collect() }
    }

    /// The same with figures of windows.
    #[must_use]
    pub fn with_windows(mut self, windows: Vec<Figures>) -> Self {
        self.summary.windows = windows;
        self
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

impl weir_lab::gathered::Cell for Cell {
    type Left = Left;
    type Summary = Summary;

    fn merge(&mut self, left: Left, _is_first: bool) -> Summary {
        for (all, own) in self.histograms.iter_mut().zip(&left.histograms) {
            all.iter_mut().zip(own).for_each(|(all, own)| all.merge(own));
        }
        left.summary
    }

    fn push(&mut self, summary: Summary) {
        self.runs.push(summary);
    }
}

/// The cells, discipline by discipline, load by load; nothing is in them yet.
#[must_use]
pub fn cells(fabric: &FabricScenario) -> Vec<Cell> {
    let (cells, subjects) =
        (fabric.disciplines.len() * fabric.traffic.loads.len(), fabric.channels.len() + 1);
    let histograms = || (0..subjects).map(|_| Histograms::default()).collect();
    let empty = |_| Cell { runs: Vec::new(), histograms: histograms() };
    (0..cells).map(empty).collect()
}

weir_lab::encode! {
    Part { offered, delivered, latencies, inside }
    Summary { parts, told, tally, windows }
    Left { summary, histograms }
}
