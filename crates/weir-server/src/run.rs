//! Runs a scenario of the server: from the checked model to the result.
//!
//! A job is one discipline in one replication; jobs share nothing. What they leave is put together by replication and
//! discipline, and merged only in ways that no order changes. So the result is the same, to the last byte, for any
//! number of threads. A replication counts where every discipline finished it. What has no means is not run.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weir_core::units::Nanos;

use crate::collector::Collector;
use crate::engine;
use crate::job::{Ended, Job};
use crate::model::ServerScenario;
use crate::outcome::ServerOutcome;
use crate::report;
use crate::summary::{self, Cell, Summed};
use weir_lab::control::Watch;
use weir_lab::control::{Control, Progress};
use weir_lab::error::RunError;
use weir_lab::gathered::Gathered;
use weir_lab::parallel::in_parallel_told;
use weir_lab::provenance::Frame;

/// The most time that all cores have together in all replications: some 292 years. No total of times overflows then.
const MOST_TIME: u64 = 1 << 63;
/// The most windows of all classes.
pub const MOST_WINDOWS: u64 = 1_000_000;

/// Runs a scenario. Progress counts simulated nanoseconds over all jobs.
///
/// # Errors
/// [`RunError`]: a discipline refuses its arguments or the pool; more is asked for than what is simulated; requests wait
/// that nothing will ever serve; or a verification fails.
pub fn run(
    server: &ServerScenario,
    frame: &Frame,
    control: &mut Control<'_>,
) -> Result<ServerOutcome, RunError> {
    run_with(server, frame, control, &play)
}

/// Runs a job by the engine; the collector is told what happens.
pub(super) fn play(
    server: &ServerScenario,
    job: Job,
    collector: &mut Collector,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    engine::play(server, job, collector, watch)
}

/// What runs a job and tells a collector.
pub(super) type Play<'p> =
    &'p (dyn Fn(&ServerScenario, Job, &mut Collector, &Watch<'_>) -> Result<Ended, RunError> + Sync);

/// Runs a scenario as [`run`], each job by `play`.
pub(super) fn run_with(
    server: &ServerScenario,
    frame: &Frame,
    control: &mut Control<'_>,
    play: Play<'_>,
) -> Result<ServerOutcome, RunError> {
    check(server)?;
    if let Some(statement) = report::statement(server) {
        return Ok(report::without_means(server, frame, statement));
    }
    let cells = cells(server, control, play)?;
    Ok(report::outcome(server, frame, &cells))
}

/// Refuses more than is counted.
fn check(server: &ServerScenario) -> Result<(), RunError> {
    check_length(server)?;
    check_windows(server)
}

/// As [`cells`], of a scenario that was not looked at yet.
pub(super) fn checked_cells(
    server: &ServerScenario,
    control: &mut Control<'_>,
    play: Play<'_>,
) -> Result<Vec<Cell>, RunError> {
    check(server)?;
    cells(server, control, play)
}

/// Runs all jobs; what they leave, discipline by discipline.
fn cells(server: &ServerScenario, control: &mut Control<'_>, play: Play<'_>) -> Result<Vec<Cell>, RunError> {
    let jobs = jobs(server);
    let duration = server.stop.duration.get();
    let total = duration.saturating_mul(jobs.len() as u64);
    let (done, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let watch = Watch { cancel: control.cancel, failed: &failed, done: &done, duration };
    let gathered = Mutex::new(summary::gathered(server));
    let work = |job| {
        let ended = one(server, job, &gathered, &watch, play);
        failed.fetch_or(ended.is_err(), Ordering::Relaxed);
        ended
    };
    let progress = || Progress { done: done.load(Ordering::Relaxed).min(total), total };
    let ended = in_parallel_told(jobs, control.threads, work, &mut || (control.progress)(progress()));
    ended.into_iter().collect::<Result<Vec<()>, _>>()?;
    (control.progress)(progress());
    Ok(gathered.into_inner().unwrap_or_else(PoisonError::into_inner).into_cells())
}

/// Refuses more time, of all cores in all replications, than totals can count.
fn check_length(server: &ServerScenario) -> Result<(), RunError> {
    let (duration, replications) = (server.stop.duration, server.stop.replications);
    let one = u128::from(duration.get()) * u128::from(server.site.servers);
    if one * u128::from(replications) <= u128::from(MOST_TIME) {
        return Ok(());
    }
    let reason = format!(
        "{replications} replications of {duration} on {} cores are together more than {}, the most that is counted: make \
         it {} or fewer replications",
        server.site.servers,
        Nanos::new(MOST_TIME),
        u128::from(MOST_TIME) / one.max(1),
    );
    Err(RunError::Refused { place: "stop.replications".to_owned(), reason })
}

/// Refuses more windows than are kept.
fn check_windows(server: &ServerScenario) -> Result<(), RunError> {
    let Some(window) = server.measure.window else { return Ok(()) };
    let classes = server.classes.len() as u64;
    let (duration, length) = (server.stop.duration.get(), window.get().max(1));
    let windows = duration.div_ceil(length);
    if window.get() > 0 && windows.saturating_mul(classes) <= MOST_WINDOWS {
        return Ok(());
    }
    let least = duration.div_ceil((MOST_WINDOWS / classes).max(1)).max(1);
    let reason = format!(
        "{windows} windows of {window} for {classes} classes are more than {MOST_WINDOWS} together: make it at least {}",
        Nanos::new(least)
    );
    Err(RunError::Refused { place: "measure.window".to_owned(), reason })
}

/// All jobs, replication by replication.
fn jobs(server: &ServerScenario) -> Vec<Job> {
    let of =
        |replication| (0..server.disciplines.len()).map(move |discipline| Job { replication, discipline });
    (0..server.stop.replications).flat_map(of).collect()
}

/// Runs a job; what it leaves is gathered where it is finished.
fn one(
    server: &ServerScenario,
    job: Job,
    gathered: &Mutex<Gathered<Cell>>,
    watch: &Watch<'_>,
    play: Play<'_>,
) -> Result<(), RunError> {
    if watch.cancelled() {
        return Ok(());
    }
    let mut collector = Collector::new(server);
    if let Ended::Finished(left) = play(server, job, &mut collector, watch)? {
        let summed = Summed::new(server, collector, left);
        gathered.lock().unwrap_or_else(PoisonError::into_inner).add(job.replication, job.discipline, summed);
    }
    Ok(())
}
