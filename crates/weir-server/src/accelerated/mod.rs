//! The engine without events, for disciplines under which a request's whole course is known when it arrives.
//!
//! With a queue of its own at each core, served in order of arrival, a request begins when the one before it on its core
//! has ended (Lindley); with one queue for all, when the first core is free of those before it (Kiefer and Wolfowitz). So
//! nothing is scheduled and nothing is looked for: a request is one step. What a dispatcher sees of the cores is brought up
//! to the moment when it looks. With reserved cores a request that finds none idle is put aside until one is free for it.
//!
//! | | |
//! |-|-|
//! | Source | Lindley, *The theory of queues with a single server*, Proc. Cambridge Phil. Soc. 48, 1952; Kiefer and Wolfowitz, *On the theory of queues with many servers*, Trans. AMS 78, 1955 |
//! | Work per request | O(1), and that of the dispatcher; with one queue, and where the shortest is looked for, O(cores) over a few cache lines |
//! | Memory | the ends of the requests present |
//! | Stands for | cores that are alike: `cfcfs`, `darc` whose classes use the cores of longer ones, and every dispatcher without control over first-in first-out queues; no cost of a cold cache, no measurement of order, no closed-loop clients, no retries, several cores a request only under dispatchers and where nothing is cancelled, no deadlines, nobody who does not join, patience only where neither cores are reserved nor work is seen, and one receiver, which keeps the order of arrival and whose ring has no bound |
//!
//! The plain engine gives the same, request by request, which the tests show.

mod apart;
mod at_once;
mod central;
mod per_core;
mod reserved;
mod ring;
mod scan;

use std::cell::Cell;

use at_once::AtOnce;
use central::Central;
use scan::TOGETHER;

use crate::engine::LATEST;
use crate::job::{Ended, Job, Left};
use crate::model::{Costs, Known, ServerScenario, Workload};
use crate::record::{Batch, Sink};
use crate::source::{FOR_EVER, Source, refused};
use weir_core::discipline::DropReason;
use weir_core::item::Message;
use weir_core::pool::darc::{self, Reservation};
use weir_core::pool::{Dispatcher, DispatcherVisitor, Sees, cfcfs};
use weir_core::registry;
use weir_core::spec::{Spec, SpecError};
use weir_core::units::{Instant, Nanos};
use weir_lab::control::Watch;
use weir_lab::dispatch::{Level, Work};
use weir_lab::error::RunError;
use weir_workload::requests::Requests;

/// A number of each core, where these are few and where they are many.
type Few = [Cell<u64>; TOGETHER];
type Many = Vec<Cell<u64>>;

/// Requests that are drawn at a time.
const BLOCK: usize = 1024;

/// One discipline under which a request is one step.
pub(crate) trait Course {
    /// Takes the requests of a block, one after the other, and reports them; those whose course is not known by then are
    /// reported with later ones. Returns how many leave unserved; the block is of no use from then on.
    fn take<S: Sink>(&mut self, door: &mut Door, block: &mut Requests, teller: &mut Teller<'_, S>) -> u64;
    /// No more requests come: those that wait begin.
    fn close<S: Sink>(&mut self, _teller: &mut Teller<'_, S>) {}
    /// How many grants there were, where `done` requests are done.
    fn grants(&self, done: u64) -> u64 {
        done
    }
    /// Requests that were sent elsewhere than they were first to be.
    fn moved(&self) -> u64 {
        0
    }
}

/// A request as it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// When it arrived, at its receiver.
    pub(crate) arrived: u64,
    pub(crate) class: u16,
    pub(crate) flow: u32,
    pub(crate) service: u64,
    /// When it leaves, if its service has not begun by then.
    pub(crate) leaves: u64,
}

impl Request {
    #[inline(always)]
    fn of(block: &Requests, place: usize) -> Self {
        let (arrived, class, flow) = (block.at[place], block.class[place], block.flow[place]);
        let leaves = block.patience.get(place).map_or(FOR_EVER, |patience| arrived.saturating_add(*patience));
        Self { arrived, class, flow, service: block.service[place], leaves }
    }
}

/// Why a request is not served.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leaves {
    /// It is dropped.
    Dropped(DropReason),
    /// Its turn does not come in time.
    Abandons,
}

impl From<DropReason> for Leaves {
    fn from(reason: DropReason) -> Self {
        Self::Dropped(reason)
    }
}

/// The receiver, through which requests come in order of arrival.
pub(crate) struct Door {
    costs: Costs,
    /// When it is free of those before.
    free: u64,
}

impl Door {
    /// When a request that has arrived comes before the discipline.
    #[inline(always)]
    fn passes(&mut self, arrived: u64) -> u64 {
        self.free = arrived.max(self.free) + self.costs.dispatch.get();
        self.free + self.costs.hand_over.get()
    }
}

/// Tells what becomes of requests.
pub(crate) struct Teller<'s, S> {
    sink: &'s mut S,
    /// When the last service ends.
    last: u64,
    /// Requests whose service did not begin in time.
    abandoned: u64,
}

impl<S: Sink> Teller<'_, S> {
    /// Requests are done.
    #[inline(never)]
    fn done(&mut self, batch: Batch<'_>) {
        let ends = batch.began.iter().zip(batch.service);
        self.last = ends.fold(self.last, |last, (began, service)| last.max(began + service));
        self.sink.all_done(batch);
    }

    /// A request has left unserved, or will, where it came before the discipline at `now`.
    fn left(&mut self, request: &Request, now: u64, reason: Leaves) {
        let (class, arrived) = (request.class, Instant::new(request.arrived));
        match reason {
            Leaves::Dropped(reason) => self.sink.dropped(class, arrived, Instant::new(now), reason),
            Leaves::Abandons => {
                self.abandoned += 1;
                let service = Nanos::new(request.service);
                self.sink.abandoned(class, arrived, Instant::new(request.leaves), service);
            }
        }
    }
}

/// Whether a scenario leaves the course of a request to its arrival alone, whatever the discipline.
fn is_open(scenario: &ServerScenario) -> bool {
    let costs = scenario.costs;
    let open = !matches!(scenario.workload, Workload::Closed(_)) && !scenario.tells_clients();
    let measure = scenario.measure;
    let open = open && !scenario.has_balking() && !scenario.has_deadline();
    let is_one = scenario.site.receivers == 1 && scenario.ring.is_none();
    open && is_one && scenario.is_even() && costs.cold.get() == 0 && !measure.order && !measure.verify
}

/// Runs a job, if it is one of those that this engine stands for.
///
/// # Errors
/// The discipline refuses its arguments or the pool, or the workload is senseless.
pub(crate) fn play<S: Sink>(
    scenario: &ServerScenario,
    spec: &Spec,
    job: Job,
    sink: &mut S,
    watch: &Watch<'_>,
) -> Result<Option<Ended>, RunError> {
    let (is_central, is_reserved) = (spec.name == cfcfs::INFO.name, spec.name == darc::INFO.name);
    let is_dispatcher = registry::DISPATCHER.iter().any(|info| info.name == spec.name);
    // Who leaves before its turn comes is met with the reserved cores' queues by the other engine.
    if is_reserved && scenario.has_patience() {
        return Ok(None);
    }
    if let Some(fan_out) = scenario.fan_out
        && !(is_dispatcher && apart::is_known(scenario, fan_out))
    {
        return Ok(None);
    }
    if !is_open(scenario) || !(is_central || is_reserved || is_dispatcher) {
        return Ok(None);
    }
    let Some(mut source) = Source::new(scenario, job.replication)? else { return Ok(None) };
    let source = &mut source;
    let overloaded = |reason| {
        let disciplines = scenario.disciplines[job.discipline].clone();
        RunError::Overloaded { disciplines, reason }
    };
    if is_central {
        let (servers, queue) = (scenario.site.servers, scenario.site.queue);
        let ended = match servers as usize <= TOGETHER {
            true => run(scenario, AtOnce::new(Central::<Few>::new(servers, queue)), source, sink, watch),
            false => run(scenario, AtOnce::new(Central::<Many>::new(servers, queue)), source, sink, watch),
        };
        return ended.map(Some).map_err(overloaded);
    }
    let no_such = |error: SpecError| refused("disciplines", error.to_string());
    if is_reserved {
        let reservation = Reservation::from_spec(spec, &scenario.site).map_err(no_such)?;
        let course = reserved::Reserved::new(reservation, scenario.site.servers, scenario.site.queue);
        let ended = course.map(|course| run(scenario, course, source, sink, watch));
        return ended.transpose().map_err(overloaded);
    }
    let visitor = PerCore { scenario, job, source, sink, watch };
    registry::visit_dispatcher(spec, &scenario.site, visitor)
        .map_err(no_such)?
        .transpose()
        .map_err(overloaded)
}

/// Runs what a dispatcher is visited for.
struct PerCore<'r, 'w, S> {
    scenario: &'r ServerScenario,
    job: Job,
    source: &'r mut Source,
    sink: &'r mut S,
    watch: &'r Watch<'w>,
}

impl<S: Sink> DispatcherVisitor<Message<Nanos>> for PerCore<'_, '_, S> {
    type Output = Option<Result<Ended, String>>;
    fn visit<D: Dispatcher<Message<Nanos>> + Send + 'static>(self, make: impl Fn() -> D) -> Self::Output {
        let dispatcher = make();
        let sees_work = dispatcher.sees() == Sees::Work;
        // Of who will leave, the work is seen until then, though no core will do it.
        let leaves = self.scenario.has_patience() || apart::may_leave(self.scenario);
        let is_seen = self.scenario.known == Known::Exact && !leaves;
        // Nothing happens here when a request ends, of which a dispatcher could hear.
        if dispatcher.period().is_some() || dispatcher.hears() || (sees_work && !is_seen) {
            return None;
        }
        let (servers, queue) = (self.scenario.site.servers, self.scenario.site.queue);
        let Self { scenario, job, source, sink, watch } = self;
        if let Some(fan_out) = scenario.fan_out {
            // Sub-requests examine several cores each, so that it does not pay to have these loops for few cores too.
            let cores = per_core::PerCore::<_, Many>::new(dispatcher, servers, queue);
            let course = apart::Parted::new(cores, scenario, fan_out, job.replication);
            return Some(run(scenario, course, source, sink, watch));
        }
        Some(match servers as usize <= TOGETHER {
            true => {
                let course = per_core::PerCore::<_, Few>::new(dispatcher, servers, queue);
                run(scenario, AtOnce::new(course), source, sink, watch)
            }
            false => {
                let course = per_core::PerCore::<_, Many>::new(dispatcher, servers, queue);
                run(scenario, AtOnce::new(course), source, sink, watch)
            }
        })
    }
}

/// Takes request after request to its end, with the widest instructions of the machine.
///
/// # Errors
/// The clock ends.
fn run<C: Course, S: Sink>(
    scenario: &ServerScenario,
    course: C,
    source: &mut Source,
    sink: &mut S,
    watch: &Watch<'_>,
) -> Result<Ended, String> {
    Level::detect().run(Run { scenario, course, source, sink, watch })
}

/// A run.
struct Run<'r, 'w, C, S> {
    scenario: &'r ServerScenario,
    course: C,
    source: &'r mut Source,
    sink: &'r mut S,
    watch: &'r Watch<'w>,
}

impl<C: Course, S: Sink> Work for Run<'_, '_, C, S> {
    type Output = Result<Ended, String>;

    #[inline(always)]
    fn run(mut self) -> Self::Output {
        let (mut told, mut block) = (0, Requests::default());
        let mut left = Left { accelerated: true, ..Left::default() };
        let mut door = Door { costs: self.scenario.costs, free: 0 };
        let mut teller = Teller { sink: self.sink, last: 0, abandoned: 0 };
        teller.sink.in_use(Instant::ZERO, self.scenario.site.servers);
        loop {
            if self.watch.cancelled() {
                return Ok(Ended::Interrupted);
            }
            self.source.fill(&mut block, BLOCK);
            let Some(&until) = block.at.last() else { break };
            left.offered += block.len() as u64;
            left.dropped += self.course.take(&mut door, &mut block, &mut teller);
            if teller.last >= LATEST.get() {
                return Err(too_late());
            }
            self.watch.passed(&mut told, until);
        }
        self.course.close(&mut teller);
        if teller.last >= LATEST.get() {
            return Err(too_late());
        }
        (left.last, left.abandoned) = (teller.last, teller.abandoned);
        left.done = left.offered - left.dropped;
        (left.decisions, left.moved) = (self.course.grants(left.done), self.course.moved());
        Ok(Ended::Finished(left))
    }
}

#[cold]
fn too_late() -> String {
    format!("a service would end after {}ns, where the clock ends", LATEST.get())
}
