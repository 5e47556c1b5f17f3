//! What is kept of the processes of one run: whole numbers, so that merging them does not depend on order.
//!
//! What the engine tells counts where it lies in the measured time, from the end of the warm-up
//! to before the end of the run; spans are cut off at its ends. A response, and a wait, counts where it ends there; a
//! response that is not over at the end counts only where it is late by then. An epoch counts where the whole of it lies there.
//!
//! | | |
//! |-|-|
//! | Work | O(1) for each report; of an epoch's end O(processes) |
//! | Memory | some numbers a process, queue and node; with tails two histograms for each of up to [`OWN_TAILS`] processes, and of the others in common |
//! | Allocates | where a histogram first holds a time of another power of two |

use crate::model::NodeScenario;
use crate::record::{Path, Sink};
use crate::tally::{Epochs, NodeTally, ProcessTally, QueueTally};
use weir_core::units::{Cost, Instant, Nanos};
use weir_lab::stats::window::Window;
use weir_lab::stats::{Histogram, Times};

/// Up to this many processes each has histograms of its own.
pub const OWN_TAILS: usize = 1024;
/// Later than any response.
const NEVER: Nanos = Nanos::new(u64::MAX);

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessCounts {
    /// What was counted.
    pub tally: ProcessTally,
    /// What of its run time is of epochs that have ended.
    settled: Nanos,
    deadline: Nanos,
    need: Nanos,
    system: bool,
    /// A place in the histograms.
    tails: usize,
    /// From ready to waiting, or from when a run was due to its end; without a histogram.
    pub response: Times,
    /// From ready to where its program first goes on; without a histogram.
    pub wait: Times,
}

impl ProcessCounts {
    /// An epoch is over, which counts where it is `whole`; returns what the process ran in it.
    fn settle(&mut self, whole: bool, ready: impl FnOnce() -> bool) -> Nanos {
        let run = self.tally.run_time - self.settled;
        self.settled = self.tally.run_time;
        if !whole {
            return run;
        }
        self.tally.epochs.record(run);
        if ready() {
            self.tally.ready += 1;
            self.tally.promised += u64::from(self.need > Nanos::ZERO);
            self.tally.missed += u64::from(run < self.need);
            self.tally.shortfall = self.tally.shortfall.max(self.need.minus(run));
        }
        run
    }
}

/// A queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// What was counted.
    pub tally: QueueTally,
    /// How long data lay there.
    pub age: Times,
}

/// Distributions of responses and of waits.
pub type Tails = [Histogram; 2];

/// Collects one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collector {
    /// Process by process.
    pub processes: Vec<ProcessCounts>,
    /// Queue by queue.
    pub queues: Vec<QueueCounts>,
    /// Node by node.
    pub nodes: Vec<NodeTally>,
    /// Run times in epochs of all processes together, but for the system's.
    pub together: Epochs,
    /// Of each process, if they are few; else of all but the system's, and of the system's. Empty without tails.
    pub tails: Vec<Tails>,
    window: Window,
    epoch: Nanos,
    has_tails: bool,
    has_own_tails: bool,
}

impl Collector {
    /// Nothing yet.
    #[must_use]
    pub fn new(node: &NodeScenario) -> Self {
        let own = node.processes.len() <= OWN_TAILS;
        let process = |(place, process): (usize, &crate::model::Process)| ProcessCounts {
            deadline: process.deadline.unwrap_or(NEVER),
            need: process.declared.need,
            system: process.system,
            tails: if own { place } else { usize::from(process.system) },
            ..ProcessCounts::default()
        };
        let processes: Vec<ProcessCounts> = node.processes.iter().enumerate().map(process).collect();
        let tails = match (node.measure.tails, own) {
            (false, _) => 0,
            (true, true) => processes.len(),
            (true, false) => 2,
        };
        Self {
            processes,
            queues: vec![QueueCounts::default(); node.queues.len()],
            nodes: vec![NodeTally::default(); node.nodes.len()],
            together: Epochs::default(),
            tails: vec![Tails::default(); tails],
            window: node.stop.window(),
            epoch: node.epoch,
            has_tails: node.measure.tails,
            has_own_tails: node.measure.tails && own,
        }
    }

    /// The measured time.
    #[must_use]
    pub fn window(&self) -> Window {
        self.window
    }

    /// Whether each process has histograms of its own.
    #[must_use]
    pub fn has_own_tails(&self) -> bool {
        self.has_own_tails
    }

    /// The histograms of a process, where it has its own.
    #[must_use]
    pub fn tails_of(&self, process: usize) -> Option<&Tails> {
        self.tails.get(process).filter(|_| self.has_own_tails())
    }

    /// Whether histograms are of processes that count among all.
    #[must_use]
    pub fn is_counted(&self, tails: usize) -> bool {
        if self.has_own_tails() { !self.processes[tails].system } else { tails == 0 }
    }
}

impl Sink for Collector {
    #[inline]
    fn path(&mut self, node: usize, at: Instant, path: Path) {
        self.nodes[node].paths[path as usize] += u64::from(self.window.holds(at));
    }

    #[inline]
    fn high_over_low(&mut self, node: usize, at: Instant) {
        self.nodes[node].high_over_low += u64::from(self.window.holds(at));
    }

    #[inline]
    fn woke(&mut self, process: usize, at: Instant) {
        self.processes[process].tally.wakeups += u64::from(self.window.holds(at));
    }

    #[inline]
    fn dispatched(&mut self, _node: usize, process: usize, at: Instant, woke: Option<Instant>) {
        if !self.window.holds(at) {
            return;
        }
        let counts = &mut self.processes[process];
        counts.tally.schedulings += 1;
        if let Some(woke) = woke {
            let wait = at.since(woke).get();
            counts.wait.record(wait, false);
            if self.has_tails {
                self.tails[counts.tails][1].record(wait);
            }
        }
    }

    #[inline]
    fn ran(&mut self, node: usize, process: usize, _level: Option<i8>, from: Instant, until: Instant) {
        let part = self.window.part(from, until);
        self.processes[process].tally.run_time += part;
        self.nodes[node].run_time += part;
    }

    #[inline]
    fn nobody(&mut self, node: usize, overhead: bool, from: Instant, until: Instant) {
        let part = self.window.part(from, until);
        let node = &mut self.nodes[node];
        *(if overhead { &mut node.uncharged } else { &mut node.idle }) += part;
    }

    #[inline]
    fn waits(&mut self, process: usize, at: Instant, since: Instant) {
        self.processes[process].tally.waits += u64::from(self.window.holds(at));
        self.responded(process, at, since);
    }

    fn unfinished(&mut self, process: usize, at: Instant, since: Instant) {
        let counts = &mut self.processes[process];
        let response = at.since(since);
        let late = u64::from(response > counts.deadline);
        counts.tally.timed += late;
        counts.tally.late += late;
        counts.tally.unfinished = counts.tally.unfinished.max(response);
    }

    #[inline]
    fn responded(&mut self, process: usize, at: Instant, since: Instant) {
        if !self.window.holds(at) {
            return;
        }
        let counts = &mut self.processes[process];
        let response = at.since(since);
        counts.tally.timed += u64::from(counts.deadline != NEVER);
        counts.tally.late += u64::from(response > counts.deadline);
        counts.response.record(response.get(), false);
        if self.has_tails {
            self.tails[counts.tails][0].record(response.get());
        }
    }

    #[inline]
    fn enqueued(&mut self, queue: usize, process: usize, at: Instant, length: usize) {
        let inside = u64::from(self.window.holds(at));
        self.processes[process].tally.enqueued += inside;
        let tally = &mut self.queues[queue].tally;
        tally.enqueued += inside;
        tally.change(at, length, self.window);
    }

    #[inline]
    fn dequeued(&mut self, queue: usize, process: usize, at: Instant, length: usize, age: Nanos) {
        let counts = &mut self.queues[queue];
        counts.tally.change(at, length, self.window);
        counts.tally.oldest = Instant::new(at.get().saturating_sub(age.get()));
        if !self.window.holds(at) {
            return;
        }
        counts.tally.dequeued += 1;
        counts.tally.aged += u128::from(age.min(at - self.window.from).get());
        counts.age.record(age.get(), self.has_tails);
        self.processes[process].tally.dequeued += 1;
    }

    fn epoch(&mut self, at: Instant, always_ready: &dyn Fn(usize) -> bool) {
        let began = at.get().checked_sub(self.epoch.get());
        let whole = began.is_some_and(|began| began >= self.window.from.get()) && at <= self.window.until;
        let mut together = Nanos::ZERO;
        for (place, process) in self.processes.iter_mut().enumerate() {
            let run = process.settle(whole, || always_ready(place));
            together += if process.system { Nanos::ZERO } else { run };
        }
        if whole {
            self.together.record(together);
        }
    }

    #[inline]
    fn moved(&mut self, process: usize, _node: usize, at: Instant) {
        self.processes[process].tally.moves += u64::from(self.window.holds(at));
    }
}
