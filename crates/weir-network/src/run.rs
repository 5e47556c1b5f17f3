//! Runs a scenario of the network: from the checked model to the result.
//!
//! A job is one discipline in one replication; jobs share nothing, and what they leave is put together in the
//! order of the replications. So the result is the same, to the last byte, for any number of threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use weir_lab::provenance::Frame;

use crate::build::{self, Job};
use crate::job::{self, Ended};
use crate::model::NetworkScenario;
use crate::outcome::NetworkOutcome;
use crate::report;
use crate::summary::Summary;
use weir_lab::control::Watch;
use weir_lab::control::{Control, Progress};
use weir_lab::error::RunError;
use weir_lab::parallel::in_parallel_told;

/// What a job left, or nothing where it was broken off.
type Left = Result<Option<Box<Summary>>, RunError>;

/// Runs a scenario. Progress counts simulated nanoseconds over all jobs.
///
/// # Errors
/// [`RunError`]: a discipline refuses its arguments, or the run is larger than what is simulated.
pub fn run(
    network: &NetworkScenario,
    frame: &Frame,
    control: &mut Control<'_>,
) -> Result<NetworkOutcome, RunError> {
    build::check(network)?;
    let order = build::order(network);
    let left = play(network, order.as_deref(), control)?;
    let disciplines = network.disciplines.len();
    // A replication counts where every discipline finished it.
    let finished = left.chunks(disciplines).filter(|jobs| jobs.iter().all(Option::is_some));
    let finished: Vec<Vec<&Summary>> =
        finished.map(|jobs| jobs.iter().flatten().map(|job| &**job).collect()).collect();
    let engine = if order.is_some() { "accelerated" } else { "plain" };
    Ok(report::outcome(network, frame, &finished, engine))
}

/// All jobs, replication by replication.
fn jobs(network: &NetworkScenario) -> Vec<Job> {
    let disciplines = 0..network.disciplines.len();
    let of = |replication| disciplines.clone().map(move |discipline| Job { replication, discipline });
    (0..network.stop.replications).flat_map(of).collect()
}

/// Runs all jobs, and tells of the progress meanwhile.
fn play(
    network: &NetworkScenario,
    order: Option<&[usize]>,
    control: &mut Control<'_>,
) -> Result<Vec<Option<Box<Summary>>>, RunError> {
    let jobs = jobs(network);
    let duration = network.stop.duration.get();
    let total = duration.saturating_mul(jobs.len() as u64);
    let (done, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let watch = Watch { cancel: control.cancel, failed: &failed, done: &done, duration };
    let work = |job| {
        let left = one(network, job, order, &watch);
        failed.fetch_or(left.is_err(), Ordering::Relaxed);
        left
    };
    let progress = || Progress { done: done.load(Ordering::Relaxed).min(total), total };
    let left: Vec<Left> =
        in_parallel_told(jobs, control.threads, work, &mut || (control.progress)(progress()));
    let left = left.into_iter().collect::<Result<Vec<_>, _>>()?;
    (control.progress)(progress());
    Ok(left)
}

fn one(network: &NetworkScenario, job: Job, order: Option<&[usize]>, watch: &Watch<'_>) -> Left {
    if watch.cancelled() {
        return Ok(None);
    }
    match job::play(network, job, order, watch)? {
        Ended::Finished(collected) => Ok(Some(Box::new(Summary::new(network, *collected)))),
        Ended::Interrupted => Ok(None),
    }
}
