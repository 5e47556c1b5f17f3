//! What is kept of the processes of one run: whole numbers, so that merging them does not depend on order.
//!
//! Times are nanoseconds. What the engine tells counts where it lies in the measured time, from the end of the warm-up
//! to before the end of the run; spans are cut off at its ends. A response, and a wait, counts where it ends there. An
//! epoch counts where the whole of it lies there.
//!
//! | | |
//! |-|-|
//! | Work | O(1) for all that is told; of an epoch's end O(processes) |
//! | Memory | some numbers a process, queue and node; with tails two histograms for each of up to [`OWN_TAILS`] processes, and of the others in common |
//! | Allocates | where a histogram first holds a time of another power of two |

use weir_core::units::{Instant, Nanos};

use crate::node::model::NodeScenario;
use crate::node::record::{PATHS, Path, Sink};
use crate::stats::{Histogram, Times};

/// Up to this many processes each has histograms of its own.
pub const OWN_TAILS: usize = 1024;
/// Later than any response.
const NEVER: u64 = u64::MAX;

/// The measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// From when.
    pub from: u64,
    /// Until when; this instant is no part of it.
    pub until: u64,
}

impl Window {
    /// That of a scenario.
    #[must_use]
    pub fn of(node: &NodeScenario) -> Self {
        let until = node.stop.duration.get();
        Self { from: node.stop.warm_up.get().min(until), until }
    }

    /// How long it is.
    #[must_use]
    pub fn span(self) -> u64 {
        self.until - self.from
    }

    /// Whether an instant lies in it.
    #[inline]
    #[must_use]
    pub fn holds(self, at: u64) -> bool {
        at.wrapping_sub(self.from) < self.span()
    }

    /// How much of a span lies in it.
    #[inline]
    #[must_use]
    pub fn part(self, from: Instant, until: Instant) -> u64 {
        until.get().min(self.until).saturating_sub(from.get().max(self.from))
    }
}

/// Run times in whole epochs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epochs {
    /// How many epochs.
    pub count: u64,
    /// All of them together.
    pub sum: u64,
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl Epochs {
    fn record(&mut self, run: u64) {
        self.least = if self.count == 0 { run } else { self.least.min(run) };
        self.most = self.most.max(run);
        self.sum += run;
        self.count += 1;
    }
}

/// What was counted of a process, or of all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessTally {
    /// What it was charged for.
    pub run_time: u64,
    /// How often it was started, or went on at a decision.
    pub schedulings: u64,
    /// How often it became ready.
    pub wakeups: u64,
    /// How often it waited, or ended.
    pub waits: u64,
    /// Waits with a deadline.
    pub timed: u64,
    /// Of these, those later than it.
    pub late: u64,
    /// Data that it put in queues.
    pub enqueued: u64,
    /// Data that it took from queues.
    pub dequeued: u64,
    /// How often it moved.
    pub moves: u64,
    /// Its run times.
    pub epochs: Epochs,
    /// Epochs in which it was ready throughout.
    pub ready: u64,
    /// Of these, those in which it was promised something.
    pub promised: u64,
    /// Of these, those in which it ran less.
    pub missed: u64,
    /// The most that it lacked in one of these.
    pub shortfall: u64,
}

impl ProcessTally {
    /// Counts what `other` has counted too, but for the run times in epochs: those of two processes are no sum.
    pub fn add(&mut self, other: &Self) {
        self.run_time += other.run_time;
        self.schedulings += other.schedulings;
        self.wakeups += other.wakeups;
        self.waits += other.waits;
        self.timed += other.timed;
        self.late += other.late;
        self.enqueued += other.enqueued;
        self.dequeued += other.dequeued;
        self.moves += other.moves;
        self.ready += other.ready;
        self.promised += other.promised;
        self.missed += other.missed;
        self.shortfall = self.shortfall.max(other.shortfall);
    }
}

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessCounts {
    /// What was counted.
    pub tally: ProcessTally,
    /// What of its run time is of epochs that have ended.
    settled: u64,
    deadline: u64,
    need: u64,
    system: bool,
    /// A place in the histograms.
    tails: usize,
    /// From ready to waiting; without a histogram.
    pub response: Times,
    /// From ready to the first start; without a histogram.
    pub wait: Times,
}

impl ProcessCounts {
    /// An epoch is over, which counts where it is `whole`; returns what the process ran in it.
    fn settle(&mut self, whole: bool, ready: impl FnOnce() -> bool) -> u64 {
        let run = self.tally.run_time - self.settled;
        self.settled = self.tally.run_time;
        if !whole {
            return run;
        }
        self.tally.epochs.record(run);
        if ready() {
            self.tally.ready += 1;
            self.tally.promised += u64::from(self.need > 0);
            self.tally.missed += u64::from(run < self.need);
            self.tally.shortfall = self.tally.shortfall.max(self.need.saturating_sub(run));
        }
        run
    }
}

/// What was counted of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueTally {
    /// Data put in.
    pub enqueued: u64,
    /// Data taken out.
    pub dequeued: u64,
    /// The area under its length, in data times nanoseconds.
    pub area: u128,
    /// The ages of what was taken out, those parts that lie in the measured time.
    pub aged: u128,
    /// Its length where the measured time begins.
    pub first: u64,
    /// Its length where that ends.
    pub last: u64,
    /// No data that is still there was put in before this, or before the measured time.
    pub oldest: u64,
    /// Since when its length is [`Self::last`].
    since: u64,
}

impl QueueTally {
    /// Its length changes.
    #[inline]
    fn change(&mut self, at: Instant, length: usize, window: Window) {
        self.area += u128::from(self.last) * u128::from(window.part(Instant::new(self.since), at));
        self.since = at.get();
        self.last = length as u64;
        if at.get() < window.from {
            self.first = self.last;
        }
    }

    /// The measured time is over.
    #[must_use]
    pub fn closed(mut self, window: Window) -> Self {
        self.change(Instant::new(window.until.max(self.since)), self.last as usize, window);
        self
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

/// What was counted of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeTally {
    /// What processes were charged for.
    pub run_time: u64,
    /// Idle.
    pub idle: u64,
    /// Busy for nobody.
    pub uncharged: u64,
    /// By path.
    pub paths: [u64; PATHS],
    /// A process of a normal queue took the processor from one of a low queue.
    pub high_over_low: u64,
}

impl NodeTally {
    /// Counts what `other` has counted too.
    pub fn add(&mut self, other: &Self) {
        self.run_time += other.run_time;
        self.idle += other.idle;
        self.uncharged += other.uncharged;
        self.paths.iter_mut().zip(other.paths).for_each(|(own, other)| *own += other);
        self.high_over_low += other.high_over_low;
    }
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
    epoch: u64,
    has_tails: bool,
    has_own_tails: bool,
}

impl Collector {
    /// Nothing yet.
    #[must_use]
    pub fn new(node: &NodeScenario) -> Self {
        let own = node.processes.len() <= OWN_TAILS;
        let process = |(place, process): (usize, &crate::node::model::Process)| ProcessCounts {
            deadline: process.deadline.map_or(NEVER, Nanos::get),
            need: process.declared.need.get(),
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
            window: Window::of(node),
            epoch: node.epoch.get(),
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
        self.nodes[node].paths[path as usize] += u64::from(self.window.holds(at.get()));
    }

    #[inline]
    fn high_over_low(&mut self, node: usize, at: Instant) {
        self.nodes[node].high_over_low += u64::from(self.window.holds(at.get()));
    }

    #[inline]
    fn woke(&mut self, process: usize, at: Instant) {
        self.processes[process].tally.wakeups += u64::from(self.window.holds(at.get()));
    }

    #[inline]
    fn dispatched(&mut self, _node: usize, process: usize, at: Instant, woke: Option<Instant>) {
        if !self.window.holds(at.get()) {
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
    fn waits(&mut self, process: usize, at: Instant, woke: Instant) {
        if !self.window.holds(at.get()) {
            return;
        }
        let counts = &mut self.processes[process];
        let response = at.since(woke).get();
        counts.tally.waits += 1;
        counts.tally.timed += u64::from(counts.deadline != NEVER);
        counts.tally.late += u64::from(response > counts.deadline);
        counts.response.record(response, false);
        if self.has_tails {
            self.tails[counts.tails][0].record(response);
        }
    }

    #[inline]
    fn enqueued(&mut self, queue: usize, process: usize, at: Instant, length: usize) {
        let inside = u64::from(self.window.holds(at.get()));
        self.processes[process].tally.enqueued += inside;
        let tally = &mut self.queues[queue].tally;
        tally.enqueued += inside;
        tally.change(at, length, self.window);
    }

    #[inline]
    fn dequeued(&mut self, queue: usize, process: usize, at: Instant, length: usize, age: Nanos) {
        let counts = &mut self.queues[queue];
        counts.tally.change(at, length, self.window);
        counts.tally.oldest = at.get().saturating_sub(age.get());
        if !self.window.holds(at.get()) {
            return;
        }
        counts.tally.dequeued += 1;
        counts.tally.aged += u128::from(age.get().min(at.get() - self.window.from));
        counts.age.record(age.get(), self.has_tails);
        self.processes[process].tally.dequeued += 1;
    }

    fn epoch(&mut self, at: Instant, always_ready: &dyn Fn(usize) -> bool) {
        let began = at.get().saturating_sub(self.epoch);
        let whole = at.get() >= self.epoch && began >= self.window.from && at.get() <= self.window.until;
        let mut together = 0;
        for (place, process) in self.processes.iter_mut().enumerate() {
            let run = process.settle(whole, || always_ready(place));
            together += if process.system { 0 } else { run };
        }
        if whole {
            self.together.record(together);
        }
    }

    #[inline]
    fn moved(&mut self, process: usize, _node: usize, at: Instant) {
        self.processes[process].tally.moves += u64::from(self.window.holds(at.get()));
    }
}
