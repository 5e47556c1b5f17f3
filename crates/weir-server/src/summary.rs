//! What is kept of the runs: a few numbers of each, and histograms of all that are finished.
//!
//! Histograms of single runs are given up as soon as the replication is finished under every discipline: then quantiles
//! of each run are taken, and the counts are merged. Merging is the same in any order, so the number of threads does
//! not show. Memory: linear in disciplines times classes, and in replications times disciplines times classes for the few
//! numbers. Windows and changes of the cores in use are of the first replication.

use crate::collector::{
    ClassCounts, Collector, CoreCounts, InUseCounts, METRICS, PartCounts, Told, WindowSum, WindowSums,
    measured,
};
use crate::job::Left;
use crate::model::ServerScenario;
use crate::record::Unserved;
use weir_lab;
use weir_lab::stats::windows::Figures;
use weir_lab::stats::{FAR_QUANTILES, Histogram, OverTime, Spread};

/// Times of one kind in one run.
pub type Far = Spread<{ FAR_QUANTILES.len() }>;

/// A class, or all, in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassPart {
    /// Requests that were done.
    pub done: u64,
    /// Those that left unserved.
    pub dropped: u64,
    /// Of them, those that left since their service did not begin in time.
    pub abandoned: u64,
    /// Of them, those that left for another reason, by [`Unserved`].
    pub lost: [u64; Unserved::COUNT],
    /// Attempts that were not the first of their request.
    pub retried: u64,
    /// Those that were done when their client had given up.
    pub late: u64,
    /// Those that ended after a later one of their flow.
    pub reordered: u64,
    /// Those that another core served than the request of their flow before.
    pub cold: u64,
    /// Sub-requests, where requests go to several cores.
    pub parts: PartCounts,
    /// Delays, responses (nanoseconds), what slowdowns have above 1 (thousandths).
    pub times: [Far; METRICS],
    /// The largest mean delay of a window that begins in the measured time, in nanoseconds.
    pub window_max: Option<f64>,
}

impl ClassPart {
    fn new(counts: &ClassCounts, window_max: Option<f64>) -> Self {
        let &ClassCounts { done, dropped, abandoned, lost, retried, late, reordered, cold, parts, ref times } =
            counts;
        let times = [0, 1, 2].map(|metric: usize| times[metric].spread_at(&FAR_QUANTILES));
        Self { done, dropped, abandoned, lost, retried, late, reordered, cold, parts, times, window_max }
    }

    /// Requests that arrived.
    #[must_use]
    pub fn offered(&self) -> u64 {
        self.done + self.dropped
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// All together, then class by class.
    pub classes: Vec<ClassPart>,
    /// Core by core.
    pub cores: Vec<CoreCounts>,
    /// Cores in use times nanoseconds in the measured time.
    pub in_use: u128,
    /// The most cores in use at a time.
    pub peak: u32,
    /// How long after a burst clients were served again, in nanoseconds; `None` where there is no such time.
    pub recovered: Option<u64>,
    /// What was reported of all.
    pub told: Told,
    /// As the engine has counted.
    pub left: Left,
    /// Figures of windows over time, where they are asked for.
    pub over_time: Vec<Figures>,
}

impl Summary {
    /// What all cores did.
    #[must_use]
    pub fn all_cores(&self) -> CoreCounts {
        self.cores.iter().fold(CoreCounts::default(), |sum, core| CoreCounts {
            busy: sum.busy + core.busy,
            overhead: sum.overhead + core.overhead,
        })
    }
}

/// The histograms of a class.
pub type Tails = [Histogram; METRICS];

/// What a run has left.
#[derive(Debug)]
pub struct Summed {
    summary: Summary,
    /// Of all together, then class by class; none without tails.
    tails: Vec<Tails>,
    over_time: OverTime,
    windows: Option<WindowSums>,
    in_use: InUseCounts,
}

/// The means of the windows of a class, or of all where `class` is none.
pub fn means(windows: &[WindowSum], classes: usize, class: Option<usize>) -> impl Iterator<Item = WindowSum> {
    windows.chunks_exact(classes.max(1)).map(move |window| match class {
        Some(class) => window[class],
        None => window.iter().fold(WindowSum::default(), |all, one| WindowSum {
            count: all.count + one.count,
            sum: all.sum + one.sum,
        }),
    })
}

impl WindowSum {
    /// The mean delay in nanoseconds, where a service began.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// The largest mean of the windows that begin in the measured time.
fn window_max(server: &ServerScenario, windows: &WindowSums, class: Option<usize>) -> Option<f64> {
    let length = server.measure.window?.get().max(1);
    let from = measured(server).from.get();
    let first = usize::try_from(from.div_ceil(length)).unwrap_or(usize::MAX);
    let each = means(&windows.sums, server.classes.len(), class).skip(first);
    each.filter_map(|window| window.mean()).reduce(f64::max)
}

impl Summed {
    /// Sums up a run.
    #[must_use]
    pub fn new(server: &ServerScenario, collector: Collector, left: Left) -> Self {
        let collector = collector.closed();
        let recovered = collector.recovered();
        let mut together = ClassCounts::default();
        collector.classes.iter().for_each(|class| together.merge(class));
        let longest =
            |class| collector.windows.as_ref().and_then(|windows| window_max(server, windows, class));
        let all = ClassPart::new(&together, longest(None));
        let each = collector.classes.iter().enumerate();
        let each = each.map(|(class, counts)| ClassPart::new(counts, longest(Some(class))));
        let classes = std::iter::once(all).chain(each).collect();
        let tails = std::iter::once(together).chain(collector.classes).filter(|_| server.measure.tails);
        let tails = tails.map(|counts| counts.times.map(|times| times.histogram)).collect();
        let summary = Summary {
            classes,
            cores: collector.cores,
            in_use: collector.in_use.area,
            peak: collector.in_use.peak,
            recovered,
            told: collector.told,
            left,
            over_time: Vec::new(),
        };
        Self {
            summary,
            tails,
            over_time: collector.over_time,
            windows: collector.windows,
            in_use: collector.in_use,
        }
    }

    /// The same, with figures of windows over time.
    #[must_use]
    pub fn with_over_time(mut self, figures: Vec<Figures>) -> Self {
        self.summary.over_time = figures;
        self
    }
}

/// One discipline, over the replications that are finished.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Replication by replication.
    pub runs: Vec<Summary>,
    /// Of all of them: all together, then class by class; none without tails.
    pub tails: Vec<Tails>,
    /// Delays over time of the first.
    pub over_time: OverTime,
    /// Windows of the first.
    pub windows: Option<WindowSums>,
    /// The cores in use in the first.
    pub in_use: InUseCounts,
}

impl weir_lab::gathered::Cell for Cell {
    type Left = Summed;
    type Summary = Summary;

    fn merge(&mut self, left: Summed, is_first: bool) -> Summary {
        self.tails.resize_with(left.tails.len(), Tails::default);
        for (all, own) in self.tails.iter_mut().zip(&left.tails) {
            all.iter_mut().zip(own).for_each(|(all, own)| all.merge(own));
        }
        if is_first {
            (self.over_time, self.windows, self.in_use) = (left.over_time, left.windows, left.in_use);
        }
        left.summary
    }

    fn push(&mut self, summary: Summary) {
        self.runs.push(summary);
    }
}

weir_lab::encode! {
    CoreCounts { busy, overhead }
    Told { done, dropped, abandoned, retried, last, late, service, counted, longest, busy, overhead, present, reaching, before, after }
    WindowSum { count, sum }
    PartCounts { sent, copies, cancelled }
    ClassPart { done, dropped, abandoned, lost, retried, late, reordered, cold, parts, times, window_max }
    Summary { classes, cores, in_use, peak, recovered, told, left, over_time }
    Summed { summary, tails, over_time, windows, in_use }
}
