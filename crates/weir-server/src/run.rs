//! Runs a scenario of the server: from the checked model to the result. A cell is a discipline. What has no means is not
//! run.

use crate::collector::Collector;
use crate::job::{Ended, Job};
use crate::model::ServerScenario;
use crate::outcome::ServerOutcome;
use crate::over_time::OverTimeSink;
use crate::record::Sink;
use crate::recorder::{self, Recorder};
use crate::summary::{Cell, Summed};
use crate::{engine, report};
use weir_core::units::Nanos;
use weir_lab::control::{Control, Watch};
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::recorded::{self, Heading, Recorded, Table};
use weir_lab::replicated::{self, Simulated};
use weir_lab::runner::{self, Model};

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
    if control.records.is_none() {
        return replicated::run(server, frame, control);
    }
    with_records(server, frame, control)
}

/// Runs a scenario whose requests are recorded.
fn with_records(
    server: &ServerScenario,
    frame: &Frame,
    control: &mut Control<'_>,
) -> Result<ServerOutcome, RunError> {
    check(server)?;
    recorded::simulate(server, frame, control)
}

/// Runs a job by the engine that is fastest; what happens is reported to the collector.
///
/// # Errors
/// As [`engine::play`].
pub fn play(
    server: &ServerScenario,
    job: Job,
    collector: &mut Collector,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    engine::play(server, job, collector, watch)
}

/// Runs a job from event to event, whatever the discipline.
///
/// # Errors
/// As [`engine::step_by_step`].
pub fn step_by_step(
    server: &ServerScenario,
    job: Job,
    collector: &mut Collector,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    engine::step_by_step(server, &engine::seeded(server, job)?, job, collector, watch)
}

/// What runs a job and tells a collector.
pub(super) type Play<'p> =
    &'p (dyn Fn(&ServerScenario, Job, &mut Collector, &Watch<'_>) -> Result<Ended, RunError> + Sync);

impl Simulated for ServerScenario {
    type Outcome = ServerOutcome;
    type Model<'m> = Playing<'m>;

    fn model(&self) -> Result<Playing<'_>, RunError> {
        check(self)?;
        Ok(Playing { server: self, play: &play })
    }

    fn statement(&self, frame: &Frame) -> Option<ServerOutcome> {
        report::statement(self).map(|statement| report::without_means(self, frame, statement))
    }

    fn outcome(&self, frame: &Frame, _: &Playing<'_>, cells: Vec<Cell>) -> ServerOutcome {
        report::outcome(self, frame, &cells)
    }
}

/// Runs a scenario as [`run`], each job by `play`.
#[cfg(test)]
pub(super) fn run_with(
    server: &ServerScenario,
    frame: &Frame,
    control: &mut Control<'_>,
    play: Play<'_>,
) -> Result<ServerOutcome, RunError> {
    check(server)?;
    if let Some(statement) = Simulated::statement(server, frame) {
        return Ok(statement);
    }
    Ok(report::outcome(server, frame, &runner::run(&Playing { server, play }, control)?))
}

/// Refuses more than is counted.
fn check(server: &ServerScenario) -> Result<(), RunError> {
    check_length(server)?;
    check_windows(server)
}

/// A server with what runs its jobs.
pub struct Playing<'p> {
    server: &'p ServerScenario,
    play: Play<'p>,
}

impl Model for Playing<'_> {
    type Cell = Cell;

    fn replications(&self) -> u32 {
        self.server.stop.replications
    }

    fn duration(&self) -> Nanos {
        self.server.stop.duration
    }

    fn cells(&self) -> Vec<Cell> {
        self.server.disciplines.iter().map(|_| Cell::default()).collect()
    }

    fn play(&self, job: runner::Job, watch: &Watch<'_>) -> Result<Option<Summed>, RunError> {
        let (server, job) = (self.server, Job { replication: job.replication, discipline: job.cell });
        if server.measure.over_time {
            return collected(server, job, &mut |sink| followed(server, job, sink, watch));
        }
        let mut collector = Collector::new(server, job.replication);
        match (self.play)(server, job, &mut collector, watch)? {
            Ended::Finished(left) => Ok(Some(Summed::new(server, collector, left))),
            Ended::Interrupted => Ok(None),
        }
    }
}

/// Requests are recorded by the engine that follows them.
impl Recorded for Playing<'_> {
    fn headings(&self) -> Vec<Heading<'_>> {
        recorder::headings(self.server)
    }

    fn discipline(&self, cell: usize) -> &str {
        self.server.disciplines.get(cell).map_or("", String::as_str)
    }

    fn play_recorded(
        &self,
        job: runner::Job,
        table: &mut Table<'_, '_>,
        watch: &Watch<'_>,
    ) -> Result<Option<Summed>, RunError> {
        let (server, job) = (self.server, Job { replication: job.replication, discipline: job.cell });
        collected(server, job, &mut |inner| {
            followed(server, job, &mut Recorder::new(server, inner, table), watch)
        })
    }
}

/// Plays a job by the engine that goes from event to event, for a sink that is asked for seldom.
fn followed(
    server: &ServerScenario,
    job: Job,
    mut sink: &mut dyn Sink,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    engine::check(server)?;
    engine::step_by_step(server, &engine::seeded(server, job)?, job, &mut sink, watch)
}

/// What a job leaves that `play` plays into a collector; with figures over time where they are asked for.
fn collected(
    server: &ServerScenario,
    job: Job,
    play: &mut dyn FnMut(&mut dyn Sink) -> Result<Ended, RunError>,
) -> Result<Option<Summed>, RunError> {
    let mut collector = Collector::new(server, job.replication);
    let (ended, figures) = if server.measure.over_time {
        let mut timed = OverTimeSink::new(server, &mut collector);
        (play(&mut timed)?, timed.finish())
    } else {
        (play(&mut collector)?, Vec::new())
    };
    let Ended::Finished(left) = ended else { return Ok(None) };
    Ok(Some(Summed::new(server, collector, left).with_over_time(figures)))
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
