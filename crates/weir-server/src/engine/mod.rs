//! The engine of the server: goes from event to event under a discipline, as [the crate](crate) states.
//!
//! | | |
//! |-|-|
//! | Time | whole nanoseconds, below 2^54 (208 days) |
//! | Work | of an event: the discipline's, and O(log cores); with receivers that take time O(log waiting there) more, with closed-loop clients O(log clients), with retries O(log attempts under way), with several cores a request as `fan_out` says; of a control: O(cores + classes) |
//! | Memory | that of the requests present, 4 bytes for each flow where a cold cache costs, 12 where order is measured; nothing is allocated once these have been as many as they become |
//!
//! One engine is compiled for each discipline and each sink.

mod arrivals;
mod audit;
mod breaker;
mod clients;
mod control;
mod cores;
mod fan_out;
mod flows;
mod grants;
mod leaving;
mod moments;
mod pace;
mod parts;
mod requests;
mod retries;
mod run;

use crate::accelerated;
use crate::job::{Ended, Job};
use crate::model::{FanOut, ServerScenario, Workload};
use crate::record::Sink;
use crate::source::refused;
use weir_core::item::Message;
use weir_core::pool::{Pool, PoolVisitor};
use weir_core::registry::visit_pool;
use weir_core::role::Role;
use weir_core::spec::Spec;
use weir_core::units::Nanos;
use weir_lab::control::Watch;
use weir_lab::error::RunError;
use weir_lab::stream::{Purpose, Stream, StreamKey};

pub(super) use cores::LATEST;
use run::Engine;

/// The longest run: half of what the clock of the cores can tell, so that what is there at its end can be served.
const LONGEST: Nanos = Nanos::new(LATEST.get() >> 1);
/// The most flows.
const MOST_FLOWS: u64 = 1 << 26;
/// The most clients.
const MOST_CLIENTS: u32 = 1 << 20;

/// What the disciplines order.
pub(crate) type Request = Message<Nanos>;

/// Runs a job; what happens is reported to `sink`.
///
/// # Errors
/// A discipline refuses its arguments or the pool; the scenario is senseless; requests wait though nothing will ever serve
/// them; the clock ends; or something is violated.
pub fn play<S: Sink>(
    scenario: &ServerScenario,
    job: Job,
    sink: &mut S,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    check(scenario)?;
    let spec = seeded(scenario, job)?;
    if let Some(ended) = accelerated::play(scenario, &spec, job, sink, watch)? {
        return Ok(ended);
    }
    step_by_step(scenario, &spec, job, sink, watch)
}

/// Runs a job from event to event, whatever the discipline.
///
/// # Errors
/// As [`play`].
pub fn step_by_step<S: Sink>(
    scenario: &ServerScenario,
    spec: &Spec,
    job: Job,
    sink: &mut S,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    visit_pool(spec, &scenario.site, Play { scenario, job, sink, watch })
        .map_err(|error| refused("disciplines", error.to_string()))?
}

/// The spec of a job, with seeds of its own for the discipline and all in it.
///
/// # Errors
/// There is no such discipline.
pub fn seeded(scenario: &ServerScenario, job: Job) -> Result<Spec, RunError> {
    let spec = scenario.specs.get(job.discipline).ok_or_else(|| {
        let known = scenario.specs.len();
        refused("disciplines", format!("there is no discipline {}, must be below {known}", job.discipline))
    })?;
    let key = StreamKey {
        seed: scenario.seed,
        replication: job.replication,
        purpose: Purpose::Decisions,
        index: job.discipline as u32,
    };
    let mut stream = Stream::new(key);
    Ok(Role::Pool.with_seeds(spec, &mut || stream.next_u64()))
}

/// Refuses what is senseless in a scenario.
pub(crate) fn check(scenario: &ServerScenario) -> Result<(), RunError> {
    let site = &scenario.site;
    if site.servers == 0 || site.servers > weir_core::pool::MAX_SERVERS {
        let most = weir_core::pool::MAX_SERVERS;
        return Err(refused("server.cores", format!("there are {}, must be 1 to {most}", site.servers)));
    }
    check_fan_out(scenario)?;
    if site.receivers == 0 {
        return Err(refused("server.receivers", "there are 0, must be at least 1"));
    }
    if scenario.classes.is_empty() || scenario.classes.len() != site.classes.len() {
        let (drawn, told) = (scenario.classes.len(), site.classes.len());
        return Err(refused(
            "classes",
            format!("there are {drawn}, and {told} for the disciplines, must be equal"),
        ));
    }
    let sent = |clients: u32| u64::from(clients) * u64::from(scenario.parts());
    let duration = scenario.stop.duration;
    if duration > LONGEST {
        let (duration, longest) = (duration.get(), LONGEST.get());
        return Err(refused("stop.duration", format!("it is {duration}ns, must be at most {longest}ns")));
    }
    if let Workload::Closed(closed) = &scenario.workload
        && closed.clients > MOST_CLIENTS
    {
        return Err(RunError::TooLarge {
            place: "clients".to_owned(),
            reason: format!("there are {}, must be at most {MOST_CLIENTS}", closed.clients),
        });
    }
    if let Workload::Closed(closed) = &scenario.workload
        && closed.is_without_thinking()
        && site
            .queue
            .is_some_and(|queue| sent(closed.clients) > u64::from(site.servers) * (u64::from(queue) + 1))
    {
        let reason = format!(
            "{} clients without think time are more than {} cores and their queues hold: a dropped client \
             would try again at once, for ever; lower clients, lengthen the queues, or give a think time",
            closed.clients, site.servers
        );
        return Err(refused("workload.closed", reason));
    }
    if let (Workload::Closed(closed), Some(ring)) = (&scenario.workload, scenario.ring)
        && closed.is_without_thinking()
        && u64::from(closed.clients) > u64::from(site.receivers) * (u64::from(ring) + 1)
    {
        let reason = format!(
            "{} clients without think time are more than {} receivers and their rings hold: a dropped client \
             would try again at once, for ever; lower clients, lengthen server.ring, or give a think time",
            closed.clients, site.receivers
        );
        return Err(refused("workload.closed", reason));
    }
    let flows = flows(scenario);
    if flows > MOST_FLOWS {
        let reason = format!("there are {flows}, must be at most {MOST_FLOWS}");
        return Err(RunError::TooLarge { place: "flows".to_owned(), reason });
    }
    Ok(())
}

/// Refuses more sub-requests than cores, and more answers than sub-requests.
fn check_fan_out(scenario: &ServerScenario) -> Result<(), RunError> {
    let Some(FanOut { to, need, .. }) = scenario.fan_out else { return Ok(()) };
    let cores = scenario.site.servers;
    if (1..=cores).contains(&to) && (1..=to).contains(&need) {
        return Ok(());
    }
    let reason = format!(
        "a request has {to} sub-requests and needs {need} of them, must have 1 to {cores}, as many as cores, and need 1 to as many"
    );
    Err(refused("workload.fan_out", reason))
}

/// How many flows there are at most.
fn flows(scenario: &ServerScenario) -> u64 {
    match &scenario.workload {
        Workload::Open(open) => u64::from(open.flows.max(1)),
        Workload::Closed(closed) => u64::from(closed.clients),
        Workload::Trace(requests) => requests.flow.iter().max().map_or(0, |&flow| u64::from(flow) + 1),
    }
}

/// Plays a job with the discipline that it visits.
struct Play<'a, S> {
    scenario: &'a ServerScenario,
    job: Job,
    sink: &'a mut S,
    watch: &'a Watch<'a>,
}

impl<S: Sink> PoolVisitor<Request> for Play<'_, S> {
    type Output = Result<Ended, RunError>;
    fn visit<D: Pool<Request> + Send + 'static>(self, make: impl Fn() -> D) -> Self::Output {
        Engine::new(self.scenario, self.job, make(), self.sink)?.run(self.watch)
    }
}
