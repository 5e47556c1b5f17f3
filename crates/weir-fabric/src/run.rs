//! Runs a scenario of the fabric: from the checked model to the result.
//!
//! A job is one discipline at one load in one replication; jobs share nothing. What they leave is put together by
//! replication, load and discipline, and merged only in ways that no order changes. So the result is the same, to the
//! last byte, for any number of threads. A replication counts where every discipline finished it at every load.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::build;
use crate::collector::Collector;
use crate::job::{self, Ended, Job};
use crate::model::FabricScenario;
use crate::outcome::FabricOutcome;
use crate::report;
use crate::summary::{self, Cell, Left};
use weir_lab::control::Watch;
use weir_lab::control::{Control, Progress};
use weir_lab::error::RunError;
use weir_lab::gathered::Gathered;
use weir_lab::parallel::in_parallel_told;
use weir_lab::provenance::Frame;

/// Runs a scenario. Progress counts simulated nanoseconds over all jobs.
///
/// # Errors
/// [`RunError`]: a discipline refuses its arguments or drops a packet, the run is larger than what is simulated, or a
/// verification fails.
pub fn run(
    fabric: &FabricScenario,
    frame: &Frame,
    control: &mut Control<'_>,
) -> Result<FabricOutcome, RunError> {
    build::check(fabric)?;
    let jobs = jobs(fabric);
    let duration = fabric.stop.duration.get();
    let total = duration.saturating_mul(jobs.len() as u64);
    let (done, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let watch = Watch { cancel: control.cancel, failed: &failed, done: &done, duration };
    let gathered = Mutex::new(summary::gathered(fabric));
    let work = |job| {
        let ended = one(fabric, job, &gathered, &watch);
        failed.fetch_or(ended.is_err(), Ordering::Relaxed);
        ended
    };
    let progress = || Progress { done: done.load(Ordering::Relaxed).min(total), total };
    let ended = in_parallel_told(jobs, control.threads, work, &mut || (control.progress)(progress()));
    ended.into_iter().collect::<Result<Vec<()>, _>>()?;
    (control.progress)(progress());
    let cells = gathered.into_inner().unwrap_or_else(PoisonError::into_inner).into_cells();
    Ok(report::outcome(fabric, frame, &cells))
}

/// All jobs, replication by replication.
fn jobs(fabric: &FabricScenario) -> Vec<Job> {
    let (loads, disciplines) = (fabric.traffic.loads.len(), fabric.disciplines.len());
    let of = |replication| {
        let at = move |load| (0..disciplines).map(move |discipline| Job { replication, discipline, load });
        (0..loads).flat_map(at)
    };
    (0..fabric.stop.replications).flat_map(of).collect()
}

/// Runs a job; what it leaves is gathered where it is finished.
fn one(
    fabric: &FabricScenario,
    job: Job,
    gathered: &Mutex<Gathered<Cell>>,
    watch: &Watch<'_>,
) -> Result<(), RunError> {
    if watch.cancelled() {
        return Ok(());
    }
    let mut collector = Collector::new(fabric);
    if let Ended::Finished(tally) = job::play(fabric, job, &mut collector, watch)? {
        let left = Left::new(collector, tally);
        gathered.lock().unwrap_or_else(PoisonError::into_inner).add(job.replication, job.cell(fabric), left);
    }
    Ok(())
}
