//! The whole numbers that are counted of processes, queues and nodes in the measured time.
//!
//! All are sums, least and most, so adding them up does not depend on order.

use crate::record::Path;
use weir_core::units::{Instant, Nanos};
use weir_lab::stats::window::Window;

/// Run times in whole epochs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epochs {
    /// How many epochs.
    pub count: u64,
    /// All of them together.
    pub sum: Nanos,
    /// The least.
    pub least: Nanos,
    /// The most.
    pub most: Nanos,
}

impl Epochs {
    /// An epoch is over.
    pub(super) fn record(&mut self, run: Nanos) {
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
    pub run_time: Nanos,
    /// How often it was started, or went on at a decision.
    pub schedulings: u64,
    /// How often it became ready.
    pub wakeups: u64,
    /// How often it waited, or ended.
    pub waits: u64,
    /// Responses that have ended and have a deadline, and those that have not and are late.
    pub timed: u64,
    /// Of these, those longer than it.
    pub late: u64,
    /// The longest response that was not over at the end, as long as it had been.
    pub unfinished: Nanos,
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
    pub shortfall: Nanos,
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
        self.unfinished = self.unfinished.max(other.unfinished);
        self.enqueued += other.enqueued;
        self.dequeued += other.dequeued;
        self.moves += other.moves;
        self.ready += other.ready;
        self.promised += other.promised;
        self.missed += other.missed;
        self.shortfall = self.shortfall.max(other.shortfall);
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
    pub oldest: Instant,
    /// Since when its length is [`Self::last`].
    since: Instant,
}

impl QueueTally {
    /// Its length changes.
    #[inline]
    pub(super) fn change(&mut self, at: Instant, length: usize, window: Window) {
        self.area += u128::from(self.last) * u128::from(window.part(self.since, at).get());
        self.since = at;
        self.last = length as u64;
        if at < window.from {
            self.first = self.last;
        }
    }

    /// The measured time is over.
    #[must_use]
    pub fn closed(mut self, window: Window) -> Self {
        self.change(window.until.max(self.since), self.last as usize, window);
        self
    }
}

/// What was counted of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeTally {
    /// What processes were charged for.
    pub run_time: Nanos,
    /// Idle.
    pub idle: Nanos,
    /// Busy for nobody.
    pub uncharged: Nanos,
    /// By path.
    pub paths: [u64; Path::COUNT],
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

weir_lab::encode! {
    Epochs { count, sum, least, most }
    ProcessTally { run_time, schedulings, wakeups, waits, timed, late, unfinished, enqueued, dequeued, moves, epochs,
        missed, promised, ready, shortfall,
    }
    QueueTally { enqueued, dequeued, area, aged, first, last, oldest, since }
    NodeTally { run_time, idle, uncharged, paths, high_over_low }
}
