//! What a run has to do with the outside: threads, an end asked for, progress, records.
//!
//! Engines check a [`Watch`] now and then; the clock of progress is simulated time or work done, never that of a wall.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::record::{Block, Rows};

/// Takes the records of a run, round by round, in each replication by replication and discipline by discipline.
pub trait RecordSink: Send {
    /// Messages that a discipline has served in one replication.
    ///
    /// # Errors
    /// They cannot be written; the run ends.
    fn take(&mut self, block: &Block<'_>) -> Result<(), String>;

    /// Rows of a table. The first call of a run has none, and tells the columns.
    ///
    /// # Errors
    /// As [`Self::take`].
    fn rows(&mut self, rows: &Rows<'_>) -> Result<(), String>;
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Ticks served, over all replications and disciplines.
    pub done: u64,
    /// Ticks to serve at most.
    pub total: u64,
}

/// What a run has to do with the outside.
pub struct Control<'a> {
    /// How many threads run it; the result does not depend on it.
    pub threads: NonZeroUsize,
    /// Set to break the run off; what is finished counts.
    pub cancel: &'a AtomicBool,
    /// Called after every round.
    pub progress: &'a mut dyn FnMut(Progress),
    /// Where records go, if anywhere.
    pub records: Option<&'a mut dyn RecordSink>,
}

/// What a job has to do with the outside.
pub struct Watch<'a> {
    /// Set to break it off.
    pub cancel: &'a AtomicBool,
    /// Set where another job has failed.
    pub failed: &'a AtomicBool,
    /// The simulated nanoseconds of all jobs.
    pub done: &'a AtomicU64,
    /// The simulated nanoseconds of one job.
    pub duration: u64,
}

impl Watch<'_> {
    /// Whether to break off.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    /// Reports that the job has come to `now`; `told` is how far was reported before.
    pub fn passed(&self, told: &mut u64, now: u64) {
        let now = now.min(self.duration);
        self.done.fetch_add(now.saturating_sub(*told), Ordering::Relaxed);
        *told = (*told).max(now);
    }
}
