//! Runs a scenario of the node: from the checked model to the result.
//!
//! A job is one discipline in one replication; jobs share nothing. What they leave is put together by replication and
//! discipline, and merged only in ways that no order changes. So the result is the same, to the last byte, for any
//! number of threads. A replication counts where every discipline finished it.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::engine::replications::in_parallel_told;
use crate::network::job::Watch;
use crate::network::run::Frame;
use crate::node::job::{self, Ended, Job};
use crate::node::model::NodeScenario;
use crate::node::outcome::NodeOutcome;
use crate::node::recorder::Recorder;
use crate::node::summary::{Gathered, Summed};
use crate::node::{report, sampler};
use crate::port::run::{Control, Progress, RunError};

/// Runs a scenario. Progress counts simulated nanoseconds over all jobs.
///
/// # Errors
/// [`RunError`]: a discipline refuses its arguments, a need or a slice; the programs come to a deadlock, or to no end
/// without using time; more is asked for than what is simulated; or a verification fails.
pub fn run(node: &NodeScenario, frame: &Frame, control: &mut Control<'_>) -> Result<NodeOutcome, RunError> {
    sampler::check(node)?;
    let jobs = jobs(node);
    let duration = node.stop.duration.get();
    let total = duration.saturating_mul(jobs.len() as u64);
    let (done, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let watch = Watch { cancel: control.cancel, failed: &failed, done: &done, duration };
    let gathered = Mutex::new(Gathered::new(node));
    let work = |job| {
        let ended = one(node, job, &gathered, &watch);
        failed.fetch_or(ended.is_err(), Ordering::Relaxed);
        ended
    };
    let progress = || Progress { done: done.load(Ordering::Relaxed).min(total), total };
    let ended = in_parallel_told(jobs, control.threads, work, &mut || (control.progress)(progress()));
    ended.into_iter().collect::<Result<Vec<()>, _>>()?;
    (control.progress)(progress());
    let cells = gathered.into_inner().unwrap_or_else(PoisonError::into_inner).into_cells();
    Ok(report::outcome(node, frame, cells))
}

/// All jobs, replication by replication.
fn jobs(node: &NodeScenario) -> Vec<Job> {
    let of = |replication| (0..node.disciplines.len()).map(move |discipline| Job { replication, discipline });
    (0..node.stop.replications).flat_map(of).collect()
}

/// Runs a job; what it leaves is gathered where it is finished.
fn one(node: &NodeScenario, job: Job, gathered: &Mutex<Gathered>, watch: &Watch<'_>) -> Result<(), RunError> {
    if watch.cancelled() {
        return Ok(());
    }
    let mut recorder = Recorder::new(node, job);
    if let Ended::Finished(left) = job::play(node, job, &mut recorder, watch)? {
        let summed = Summed::new(node, &node.disciplines[job.discipline], recorder, *left);
        gathered.lock().unwrap_or_else(PoisonError::into_inner).add(job, summed);
    }
    Ok(())
}
