//! Tests of the server's engine.

mod accelerated;
mod balancers;
mod by_hand;
mod naive;
mod properties;
mod queues;
mod random;
mod uneven;

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::engine::{check, play, seeded, step_by_step};
use crate::job::{Ended, Job, Left};
use crate::model::ServerScenario;
use crate::record::{Done, Lost, Part, Sink};
use weir_core::discipline::DropReason;
use weir_core::units::{Instant, Nanos};
use weir_lab::control::Watch;
use weir_lab::error::RunError;

/// All that an engine tells, in the order in which it does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) done: Vec<Done>,
    /// Requests that went to several cores, and what they were made of.
    pub(super) answered: Vec<Done>,
    pub(super) parts: Vec<Part>,
    /// Class, arrival, when and why.
    pub(super) dropped: Vec<(u16, u64, u64, DropReason)>,
    /// Class, arrival, when, and what they would have needed.
    pub(super) abandoned: Vec<(u16, u64, u64, u64)>,
    /// Those that are not served for another reason.
    pub(super) lost: Vec<Lost>,
    /// Class, arrival, and what they need.
    pub(super) retried: Vec<(u16, u64, u64)>,
    /// Core, from, until, overhead.
    pub(super) busy: Vec<(u32, u64, u64, u64)>,
    pub(super) in_use: Vec<(u64, u32)>,
}

impl Sink for Told {
    fn done(&mut self, done: &Done) {
        self.done.push(*done);
    }
    fn answered(&mut self, done: &Done) {
        self.answered.push(*done);
    }
    fn part(&mut self, part: &Part) {
        self.parts.push(*part);
    }
    fn dropped(&mut self, class: u16, arrived: Instant, now: Instant, reason: DropReason) {
        self.dropped.push((class, arrived.get(), now.get(), reason));
    }
    fn abandoned(&mut self, class: u16, arrived: Instant, now: Instant, service: Nanos) {
        self.abandoned.push((class, arrived.get(), now.get(), service.get()));
    }
    fn lost(&mut self, lost: &Lost) {
        self.lost.push(*lost);
    }
    fn retried(&mut self, class: u16, arrived: Instant, service: Nanos) {
        self.retried.push((class, arrived.get(), service.get()));
    }
    fn busy(&mut self, server: u32, from: Instant, until: Instant, overhead: Nanos) {
        self.busy.push((server, from.get(), until.get(), overhead.get()));
    }
    fn in_use(&mut self, now: Instant, servers: u32) {
        self.in_use.push((now.get(), servers));
    }
}

impl Told {
    /// The mean of what requests have of something, in nanoseconds.
    pub(super) fn mean(&self, of: impl Fn(&Done) -> u64) -> f64 {
        self.done.iter().map(|done| of(done) as f64).sum::<f64>() / self.done.len() as f64
    }
}

/// How long a request waited for its service to begin.
pub(super) fn delay(done: &Done) -> u64 {
    (done.began - done.arrived).get()
}

/// Runs a discipline in a replication by the engine that goes from event to event.
pub(super) fn run_stepwise(scenario: &ServerScenario, job: Job) -> Result<(Told, Left), RunError> {
    check(scenario)?;
    let spec = seeded(scenario, job)?;
    run_by(scenario, |told, watch| step_by_step(scenario, &spec, job, told, watch))
}

/// Runs a discipline in a replication by whichever engine there is for it.
pub(super) fn run_job(scenario: &ServerScenario, job: Job) -> Result<(Told, Left), RunError> {
    run_by(scenario, |told, watch| play(scenario, job, told, watch))
}

fn run_by(
    scenario: &ServerScenario,
    play: impl FnOnce(&mut Told, &Watch<'_>) -> Result<Ended, RunError>,
) -> Result<(Told, Left), RunError> {
    let (off, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let watch = Watch { cancel: &off, failed: &off, done: &done, duration: scenario.stop.duration.get() };
    let mut told = Told::default();
    match play(&mut told, &watch)? {
        Ended::Finished(left) => Ok((told, left)),
        Ended::Interrupted => unreachable!("nobody breaks it off"),
    }
}

/// Runs the first discipline from event to event, which must go well.
pub(super) fn run(scenario: &ServerScenario) -> (Told, Left) {
    run_stepwise(scenario, Job { replication: 0, discipline: 0 }).unwrap_or_else(|error| panic!("{error}"))
}
