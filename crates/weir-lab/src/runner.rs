//! The runner: all jobs of a scenario on threads, and what they leave, cell by cell.
//!
//! A job is one cell in one replication; a cell is what is compared: a discipline, or a discipline at a load. Jobs share
//! nothing. What they leave is put together by replication and cell, and merged only in ways that no order changes. So the
//! result is the same, to the last byte, for any number of threads. A replication counts where all its cells finished it.
//!
//! Progress counts simulated nanoseconds over all jobs. Work and memory besides those of the jobs: O(cells x replications).

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::control::{Control, Progress, Watch};
use crate::error::RunError;
use crate::gathered::{Cell, Gathered};
use crate::parallel::in_parallel_told;
use crate::stream::{Purpose, Stream, StreamKey};
use weir_core::units::Nanos;

/// What is run: cells in replications.
pub trait Model: Sync {
    /// What is kept of a cell.
    type Cell: Cell<Left: Send, Summary: Send> + Send;

    /// How many replications.
    fn replications(&self) -> u32;

    /// The simulated time of one job.
    fn duration(&self) -> Nanos;

    /// The cells of a replication; nothing is in them yet.
    fn cells(&self) -> Vec<Self::Cell>;

    /// The cells, by their places, in the order in which those of a replication are begun.
    fn order(&self) -> Vec<usize> {
        (0..self.cells().len()).collect()
    }

    /// Plays the cell at a place in a replication; nothing where it was broken off.
    ///
    /// # Errors
    /// [`RunError`]; all jobs then end.
    fn play(&self, job: Job, watch: &Watch<'_>) -> Result<Option<<Self::Cell as Cell>::Left>, RunError>;
}

impl<M: Model> Model for &M {
    type Cell = M::Cell;

    fn replications(&self) -> u32 {
        (**self).replications()
    }

    fn duration(&self) -> Nanos {
        (**self).duration()
    }

    fn cells(&self) -> Vec<M::Cell> {
        (**self).cells()
    }

    fn order(&self) -> Vec<usize> {
        (**self).order()
    }

    fn play(&self, job: Job, watch: &Watch<'_>) -> Result<Option<<M::Cell as Cell>::Left>, RunError> {
        (**self).play(job, watch)
    }
}

/// One cell in one replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The replication.
    pub replication: u32,
    /// The place of the cell.
    pub cell: usize,
}

impl Job {
    /// The stream of this purpose in its replication: the same for all cells.
    #[must_use]
    pub fn stream(self, seed: u64, purpose: Purpose) -> Stream {
        Stream::new(StreamKey { seed, replication: self.replication, purpose, index: 0 })
    }
}

/// Runs all jobs to their end, and tells nobody meanwhile.
///
/// # Errors
/// As [`run`].
pub fn run_through<M: Model>(model: &M, threads: NonZeroUsize) -> Result<Vec<M::Cell>, RunError> {
    let cancel = AtomicBool::new(false);
    run(model, &mut Control { threads, cancel: &cancel, progress: &mut |_| (), records: None })
}

/// Runs all jobs, and reports progress meanwhile; returns the cells over the replications that were finished.
///
/// # Errors
/// The first, in the order of the jobs, of those that were met.
pub fn run<M: Model>(model: &M, control: &mut Control<'_>) -> Result<Vec<M::Cell>, RunError> {
    let jobs = jobs(model);
    let duration = model.duration().get();
    let total = duration.saturating_mul(jobs.len() as u64);
    let (done, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let watch = Watch { cancel: control.cancel, failed: &failed, done: &done, duration };
    let gathered = Mutex::new(Gathered::new(model.replications(), model.cells()));
    let work = |job| {
        let ended = one(model, job, &gathered, &watch);
        failed.fetch_or(ended.is_err(), Ordering::Relaxed);
        ended
    };
    let progress = || Progress { done: done.load(Ordering::Relaxed).min(total), total };
    let ended = in_parallel_told(jobs, control.threads, work, &mut || (control.progress)(progress()));
    ended.into_iter().collect::<Result<Vec<()>, _>>()?;
    (control.progress)(progress());
    Ok(gathered.into_inner().unwrap_or_else(PoisonError::into_inner).into_cells())
}

/// All jobs, replication by replication.
fn jobs<M: Model>(model: &M) -> Vec<Job> {
    let order = model.order();
    let of = |replication| order.iter().map(move |&cell| Job { replication, cell });
    (0..model.replications()).flat_map(of).collect()
}

/// Runs a job; what it leaves is gathered where it is finished.
fn one<M: Model>(
    model: &M,
    job: Job,
    gathered: &Mutex<Gathered<M::Cell>>,
    watch: &Watch<'_>,
) -> Result<(), RunError> {
    if watch.cancelled() {
        return Ok(());
    }
    if let Some(left) = model.play(job, watch)? {
        gathered.lock().unwrap_or_else(PoisonError::into_inner).add(job.replication, job.cell, left);
    }
    Ok(())
}
