//! What a run hands out: batches of latencies, single latencies, decisions.

use core::ops::ControlFlow;

use weir_lab::stats::batch::Total;

/// Sums over a window of ticks; the entry of a strategy and class is at `strategy * classes + class`.
///
/// A message counts in the window of its last tick, a reading of the queue in that of the tick that had
/// come. Sums are exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The first tick of the window.
    pub first_tick: u64,
    /// One past its last tick.
    pub end_tick: u64,
    /// Classes per strategy.
    pub classes: usize,
    /// Messages completed.
    pub count: Vec<u64>,
    /// Their latencies together, in clock counts.
    pub sum: Vec<u128>,
    /// Readings of the queue monitor.
    pub queue_readings: u64,
    /// Packets they found together.
    pub queue_packets: u128,
}

impl Batch {
    pub(super) fn new(strategies: usize, classes: usize) -> Self {
        let size = strategies * classes;
        Self {
            first_tick: 0,
            end_tick: 0,
            classes,
            count: vec![0; size],
            sum: vec![0; size],
            queue_readings: 0,
            queue_packets: 0,
        }
    }

    /// Messages of `class` that `strategy` completed, and their latencies together.
    #[must_use]
    pub fn of(&self, strategy: usize, class: usize) -> Total {
        let place = strategy * self.classes + class;
        Total { count: self.count[place], sum: self.sum[place] }
    }

    /// What happened since `earlier`, both counted from the beginning of the run.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        Self {
            first_tick: earlier.end_tick,
            end_tick: self.end_tick,
            classes: self.classes,
            count: self.count.iter().zip(&earlier.count).map(|(now, before)| now - before).collect(),
            sum: self.sum.iter().zip(&earlier.sum).map(|(now, before)| now - before).collect(),
            queue_readings: self.queue_readings - earlier.queue_readings,
            queue_packets: self.queue_packets - earlier.queue_packets,
        }
    }
}

/// Receives the batches of a run, in order.
pub trait BatchObserver {
    /// A window of ticks is complete (the last of a run may be shorter). `Break` ends the run here.
    fn batch(&mut self, batch: Batch) -> ControlFlow<()>;
}

/// Keeps every batch.
impl BatchObserver for Vec<Batch> {
    fn batch(&mut self, batch: Batch) -> ControlFlow<()> {
        self.push(batch);
        ControlFlow::Continue(())
    }
}

/// Receives single events of a run; what is not asked for costs nothing.
pub trait Probe {
    /// Whether `completed` is wanted.
    const COMPLETIONS: bool = false;
    /// Whether `served` is wanted.
    const DECISIONS: bool = false;

    /// `strategy` completed the next message of `class` (within a class, messages complete in order of
    /// arrival) after `latency` clock counts.
    #[inline(always)]
    fn completed(&mut self, strategy: usize, class: usize, latency: u64) {
        let _ = (strategy, class, latency);
    }

    /// `strategy` served `packets` packets from `tick` on, all of one message of `class` of which
    /// `remaining` packets were left before. Of two messages of a class that reach the same number of
    /// remaining packets, the one that arrived first does so first; so the n-th packet at which `remaining`
    /// is left of a message of `class` is that of the n-th message of the class.
    #[inline(always)]
    fn served(&mut self, strategy: usize, tick: u64, class: usize, remaining: u64, packets: u64) {
        let _ = (strategy, tick, class, remaining, packets);
    }
}

/// Asks for nothing.
impl Probe for () {}
