//! One discipline in one replication, whichever engine runs it.

use crate::build::Job;
use crate::collector::Collector;
use crate::model::NetworkScenario;
use crate::wire::LinkTally;
use crate::{accelerated, plain};
use weir_lab::control::Watch;
use weir_lab::error::RunError;

/// What a job has collected.
pub struct Collected {
    /// Of its packets.
    pub collector: Collector,
    /// Of its links.
    pub links: Vec<LinkTally>,
}

/// How a job ended.
pub enum Ended {
    /// All packets have arrived or were dropped.
    Finished(Box<Collected>),
    /// It was broken off.
    Interrupted,
}

/// Runs a job by the engine that `order` says: the accelerated one goes through the links in it.
///
/// # Errors
/// A discipline refuses its arguments, or the job is larger than what is simulated.
pub fn play(
    network: &NetworkScenario,
    job: Job,
    order: Option<&[usize]>,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    match order {
        Some(order) => accelerated::play(network, job, order, watch),
        None => plain::play(network, job, watch),
    }
}
