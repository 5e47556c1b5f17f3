//! One discipline in one replication, whichever engine runs it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::network::accelerated;
use crate::network::build::Job;
use crate::network::collector::Collector;
use crate::network::model::NetworkScenario;
use crate::network::plain;
use crate::network::wire::LinkTally;
use crate::port::run::RunError;

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

/// What a job has to do with the outside.
pub struct Watch<'a> {
    /// Set to break it off.
    pub cancel: &'a AtomicBool,
    /// Set where another job has failed.
    pub failed: &'a AtomicBool,
    /// The simulated nanoseconds of all jobs.
    pub done: &'a AtomicU64,
    /// The simulated nanoseconds of one job.
    pub duration: u64,
}

impl Watch<'_> {
    /// Whether to break off.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }

    /// The job has come to `now`, after it had `told` of so much.
    pub fn passed(&self, told: &mut u64, now: u64) {
        let now = now.min(self.duration);
        self.done.fetch_add(now.saturating_sub(*told), Ordering::Relaxed);
        *told = (*told).max(now);
    }
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
