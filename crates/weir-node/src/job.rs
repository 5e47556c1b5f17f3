//! One discipline in one replication of a node, and what it leaves besides what was reported to the sink.

use crate::engine;
use crate::model::NodeScenario;
use crate::record::Sink;
use weir_core::task::{Overcommitted, Used};
use weir_lab::control::Watch;
use weir_lab::error::RunError;

/// One discipline in one replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The replication.
    pub replication: u32,
    /// A place in [`NodeScenario::specs`].
    pub discipline: usize,
}

/// What was counted up to the end of the replication, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often a scheduler was entered, on all nodes.
    pub decisions: u64,
    /// Operations of programs that were begun, or gone on with.
    pub operations: u64,
    /// Posts and data over the switch.
    pub messages: u64,
    /// Processes that moved to another node.
    pub moves: u64,
    /// Transitions that were checked; none without verification.
    pub checked: u64,
}

/// What a replication leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// What was counted.
    pub tally: Tally,
    /// Nodes, by place, that promise, or after a move have promised, more than they have, and the most of it.
    pub overcommitted: Vec<(usize, Overcommitted)>,
    /// What each process had used of each kind of time at the end of the warm-up, and at the end; `None` where the
    /// discipline does not tell kinds apart. Overheads of the last time that it was left are not yet in it.
    pub used: Vec<Option<[Used; 2]>>,
    /// Who waits for ever, in words, each with the place of its node.
    pub stranded: Vec<(usize, String)>,
    /// Who has been ready, or begun to run, since before the measured time and is ready at its end: the places of node and
    /// process.
    pub ready: Vec<(usize, usize)>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The time is over.
    Finished(Box<Left>),
    /// It was broken off.
    Interrupted,
}

/// Runs a job; what happens is reported to `sink`.
///
/// # Errors
/// A discipline refuses its arguments, a need or a slice, or drops a process; the scenario is senseless; nothing moves any
/// more; a program comes to no end without using time; or, with verification, something is violated.
pub fn play<S: Sink>(
    node: &NodeScenario,
    job: Job,
    sink: &mut S,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    engine::play(node, job, sink, watch)
}

weir_lab::encode! {
    Tally { decisions, operations, messages, moves, checked }
}
