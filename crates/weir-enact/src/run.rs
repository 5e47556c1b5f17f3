//! A run: an executor under one of the disciplines of the scenario, its processes as tasks, for as long as the scenario says.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use weir_exec::{BuildError, Executor, JoinError, Report, Terms, WorkerCounts, now, should_yield, yield_now};
use weir_node::model::NodeScenario;

use crate::program::{Late, World, interpret};

/// How long whoever waits for a run sleeps at a time.
const LOOK: Duration = Duration::from_millis(20);
/// A worker that does not answer within this time is left out.
const PATIENCE: Duration = Duration::from_secs(2);

/// How a scenario is to be enacted.
#[derive(Clone, Debug)]
pub struct Live {
    /// The place of the discipline in the scenario.
    pub discipline: usize,
    /// For how long.
    pub span: Duration,
    /// The file that the recording goes to.
    pub record: PathBuf,
    /// Whether each worker is bound to a processor of its own.
    pub pinned: bool,
    /// The priority of workers under SCHED_FIFO; `None`: they are ordinary threads.
    pub real_time: Option<u8>,
}

/// What a run results in, besides its recording.
#[derive(Clone, Debug)]
pub struct Enacted {
    /// What each worker counted.
    pub counts: Vec<WorkerCounts>,
    /// Where processes came late to an instant of their grid.
    pub late: Vec<Late>,
}

/// Why a scenario is not enacted.
#[derive(Debug)]
#[non_exhaustive]
pub enum EnactError {
    /// The executor cannot be built.
    Build(BuildError),
    /// The discipline does not admit a process.
    Refused {
        /// Its name.
        process: String,
        /// Why.
        why: JoinError,
    },
    /// Processes would move from node to node, which tasks do not.
    Moves,
}

impl fmt::Display for EnactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Refused { process, why } => write!(f, "process `{process}`: {why}"),
            Self::Moves => f.write_str("`balance` moves processes, and tasks stay on their worker"),
        }
    }
}

impl std::error::Error for EnactError {}

/// Runs the programs of a scenario, and returns what was counted. `heard` hears reports of the executor; the run is
/// broken off once `is_over` says so.
///
/// # Errors
/// The executor cannot be built, does not admit a process, or processes would move.
pub fn enact(
    node: &NodeScenario,
    live: &Live,
    heard: impl Fn(Report) + Send + Sync + 'static,
    is_over: &dyn Fn() -> bool,
) -> Result<Enacted, EnactError> {
    if node.balance.is_some() {
        return Err(EnactError::Moves);
    }
    let mut builder = Executor::builder()
        .discipline(&node.specs[live.discipline].to_string())
        .workers(node.nodes.len())
        .pinned(live.pinned)
        .record(&live.record)
        .reports(heard);
    if let Some(priority) = live.real_time {
        builder = builder.real_time(priority);
    }
    let executor = builder.build().map_err(EnactError::Build)?;
    let world = World::of(node);
    let mut tasks = Vec::new();
    for (place, process) in node.processes.iter().enumerate().filter(|(_, process)| !process.system) {
        let terms = Terms::named(&process.name)
            .declared(process.declared)
            .worker(process.node)
            .starts_after(Duration::from_nanos(process.starts.get()));
        let world = Arc::clone(&world);
        tasks.push((process, executor.handle().spawn_with(terms, move || interpret(world, place, compute))));
    }
    let began = std::time::Instant::now();
    while began.elapsed() < live.span && !is_over() {
        std::thread::sleep(LOOK.min(live.span.saturating_sub(began.elapsed())));
    }
    let counts = executor.handle().counts(PATIENCE);
    drop(executor);
    for (process, task) in tasks {
        if let Err(why @ JoinError::Refused(_)) = task.wait() {
            return Err(EnactError::Refused { process: process.name.clone(), why });
        }
    }
    Ok(Enacted { counts, late: world.late() })
}

/// Uses the processor for this long, and gives way where it should.
async fn compute(span: Duration) {
    let mut left = span;
    loop {
        let (began, mut used) = (now(), Duration::ZERO);
        while used < left && !should_yield() {
            std::hint::spin_loop();
            used = now().since(began);
        }
        left = left.saturating_sub(used);
        if left.is_zero() {
            return;
        }
        yield_now().await;
    }
}
