//! One discipline at one load in one replication, whichever engine runs it.

use crate::model::FabricScenario;
use crate::record::Sink;
use crate::{accelerated, plain};
use weir_core::discipline::Effort;
use weir_lab::control::Watch;
use weir_lab::error::RunError;
use weir_lab::runner;

/// One discipline at one load in one replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The replication.
    pub replication: u32,
    /// A place in [`FabricScenario::specs`].
    pub discipline: usize,
    /// A place in the loads of the traffic.
    pub load: usize,
}

impl Job {
    /// The job of the cells, which are in order of the disciplines, each with all loads.
    #[must_use]
    pub fn of(fabric: &FabricScenario, job: runner::Job) -> Self {
        let loads = fabric.traffic.loads.len();
        Self { replication: job.replication, discipline: job.cell / loads, load: job.cell % loads }
    }
}

/// What was counted up to the end of the replication, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets generated.
    pub generated: u64,
    /// Packets that entered the buffers of their interfaces.
    pub injected: u64,
    /// Packets that arrived.
    pub delivered: u64,
    /// Packets over links, each counted at its start.
    pub traversals: u64,
    /// What the decisions of all schedulers took.
    pub effort: Effort,
    /// Events that were checked, those after the end included; none without verification.
    pub checked: u64,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The time is over.
    Finished(Tally),
    /// It was broken off.
    Interrupted,
}

/// Runs a job; `sink` hears of its packets. A scenario is checked once, by [`crate::build::check`], before
/// its jobs are run.
///
/// # Errors
/// A discipline refuses its arguments or drops a packet, the traffic is more than what is simulated, or, with
/// verification, something is violated.
pub fn play<S: Sink + ?Sized>(
    fabric: &FabricScenario,
    job: Job,
    sink: &mut S,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    match accelerated::play(fabric, job, sink, watch)? {
        Some(ended) => Ok(ended),
        None => plain::play(fabric, job, sink, watch),
    }
}

/// The engine that runs the jobs of a discipline, a place in [`FabricScenario::specs`]: `accelerated` or `plain`.
#[must_use]
pub fn engine(fabric: &FabricScenario, discipline: usize) -> &'static str {
    if accelerated::takes(fabric, discipline) { "accelerated" } else { "plain" }
}

weir_lab::encode! {
    Tally { generated, injected, delivered, traversals, effort, checked }
}
