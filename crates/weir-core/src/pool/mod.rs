//! Pools: several servers that share one stream of requests, and the rules by which each request comes to one of them.
//! One algorithm a file.
//!
//! There are two places at which it can be decided. A **dispatcher** ([`Dispatcher`]) decides when a request arrives,
//! once and for all; each server then has a queue of its own, which a message discipline orders
//! (`per_server`). A **pool discipline** ([`Pool`]) may leave it open until a server is free: one central
//! queue, reserved servers, stealing. An engine drives pool disciplines alone; a dispatcher with its queues is one of
//! them.
//!
//! How an engine drives a pool discipline:
//!
//! ```text
//! arrival     enqueue(item, receiver)  ->  Ask(server)      that server is idle: dequeue(server)
//!                                      ->  Preempts(server) charge and requeue its open grant, then dequeue(server)
//! boundary    dequeue(server)  ->  Assigned { item, quantum, overhead }  ->  requeue | finish, then dequeue(server)
//!                              ->  None: the server is idle until the discipline asks for it
//!             wake(now)            ->  a server that is idle and has something to do: dequeue(server), and wake again
//! control     every period(): control(measured), then wake(now)
//! alarm       at wakes_at(): wake(now)
//! ```
//!
//! | | |
//! |-|-|
//! | Units | time: nanoseconds; the cost of a request: the service that it is known, or estimated, to need |
//! | Work | of each file its own; nothing here allocates in the steady state, locks, logs or panics on input |

mod apart;
pub mod bounded_hash;
mod build;
pub mod cfcfs;
pub mod core_allocation;
mod cycle;
pub mod darc;
mod drawn;
pub mod dynamic;
pub mod dynamic_separated;
pub mod flow_hash;
pub mod health;
mod heard;
pub mod jbsq;
pub mod jiq;
pub mod jsq;
mod least;
pub mod least_requests;
pub mod least_work;
mod lengths;
pub mod local;
#[cfg(test)]
mod machine;
pub mod peak_ewma;
pub mod per_server;
pub mod power_of_two;
pub mod preemptive;
mod queues;
pub mod racks;
pub mod random;
pub mod rr;
pub mod rr_separated;
mod rule;
mod server_set;
pub mod short_first;
mod signal;
pub mod stale;
pub mod subset;
mod terms;
#[cfg(test)]
mod testing;
pub mod weighted_rr;
mod weights;
pub mod work_stealing;

use crate::discipline::{Backlog, DropReason, Drops, Effort};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos, Speed};

pub use apart::Apart;
pub use build::{DispatcherVisitor, PoolVisitor, visit_pool};
use build::{dispatchers, in_box, pools};
pub use heard::{Heard, Step};
pub use rule::{Part, Rule};

/// The most servers of a pool.
pub const MAX_SERVERS: u32 = 1024;
/// The most receivers of a pool.
pub const MAX_RECEIVERS: u32 = 1024;
/// The most classes of requests.
pub const MAX_CLASSES: usize = 64;

/// One server of a pool, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub u32);

/// Where a request was received, from 0: a core that takes packets from a queue of the network card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiverId(pub u32);

/// What is known of a class before anything runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The share of all requests, from 0 to 1.
    pub share: f64,
    /// The mean of the service.
    pub service: Nanos,
}

/// The pool that a discipline is built for.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// How many servers there are, from 1 to [`MAX_SERVERS`].
    pub servers: u32,
    /// How many receivers there are, from 1 to [`MAX_RECEIVERS`].
    pub receivers: u32,
    /// The classes, by [`ClassId`](crate::item::ClassId); from 1 to [`MAX_CLASSES`].
    pub classes: Vec<Profile>,
    /// How many requests may wait in the queue of one server, the one that is served not counted; `None`: any number. A
    /// queue that all servers share holds as many for each of them.
    pub queue: Option<u32>,
    /// How fast each server is, none of them [`Speed::ZERO`]; empty where each does a nanosecond of service in a nanosecond.
    pub speeds: Vec<Speed>,
}

impl Site {
    /// Whether a discipline can be built for it; asked where a spec is built.
    ///
    /// # Errors
    /// A number is out of its bounds.
    pub fn check(&self) -> Result<(), SpecError> {
        let within = |what: &str, number: usize, most: usize| {
            let reason = || format!("has {number} {what}, must have from 1 to {most}");
            if (1..=most).contains(&number) { Ok(()) } else { Err(SpecError::Site { reason: reason() }) }
        };
        within("servers", self.servers as usize, MAX_SERVERS as usize)?;
        within("receivers", self.receivers as usize, MAX_RECEIVERS as usize)?;
        within("classes", self.classes.len(), MAX_CLASSES)?;
        let (speeds, servers) = (self.speeds.len(), self.servers);
        if speeds != 0 && (speeds != servers as usize || self.speeds.contains(&Speed::ZERO)) {
            let reason = format!("has {speeds} speeds for {servers} servers, must have one above 0 for each");
            return Err(SpecError::Site { reason });
        }
        Ok(())
    }

    /// How fast a server is.
    #[must_use]
    pub fn speed(&self, server: ServerId) -> Speed {
        self.speeds.get(server.0 as usize).copied().unwrap_or(Speed::ONE)
    }

    /// The same for some of its servers, which one receiver sends to.
    pub(crate) fn part(&self, servers: &[ServerId]) -> Self {
        let all_alike = self.speeds.is_empty();
        let speeds = if all_alike { &[] } else { servers }.iter().map(|server| self.speed(*server));
        Self { servers: servers.len() as u32, receivers: 1, speeds: speeds.collect(), ..self.clone() }
    }

    /// The servers, from the first.
    pub(crate) fn server_ids(&self) -> impl Iterator<Item = ServerId> + use<> {
        (0..self.servers).map(ServerId)
    }

    /// What part of all work is of a class: its share times its service, over the sum of all.
    #[must_use]
    pub fn work(&self, class: usize) -> f64 {
        let of = |profile: &Profile| profile.share * profile.service.get() as f64;
        let all: f64 = self.classes.iter().map(of).sum();
        if all > 0.0 { self.classes.get(class).map_or(0.0, of) / all } else { 0.0 }
    }
}

/// What a dispatcher sees of the servers.
pub trait Servers {
    /// How many there are.
    fn count(&self) -> u32;
    /// Requests at a server: those that wait and the one that is served.
    fn length(&self, server: ServerId) -> u32;
    /// What those requests are known to need still, together.
    fn work(&self, server: ServerId) -> Nanos;
    /// The one with the fewest requests, of several the lowest.
    #[inline]
    fn shortest(&self) -> ServerId {
        let mut best = (self.length(ServerId(0)), ServerId(0));
        for server in (1..self.count()).map(ServerId) {
            let length = self.length(server);
            if length < best.0 {
                best = (length, server);
            }
        }
        best.1
    }
}

/// What a dispatcher reads, so that nothing else needs to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sees {
    /// Nothing: it would decide the same over any queues.
    Nothing,
    /// How many requests are at each server.
    Lengths,
    /// What they need.
    Work,
}

/// What was measured of a class in one period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// Requests whose service has begun in the period.
    pub requests: u64,
    /// The sum of their queueing delays: from arrival to the begin of service.
    pub delay: Nanos,
}

impl Delays {
    /// The mean, where there is something.
    #[must_use]
    pub fn mean(&self) -> Option<Nanos> {
        (self.requests > 0).then(|| Nanos::new(self.delay.get() / self.requests))
    }
}

/// What is measured between two calls of `control`.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// By class.
    pub classes: &'a [Delays],
    /// How long the request that has waited longest now has waited; zero where nothing waits.
    pub oldest: Nanos,
    /// How long servers were busy together in the period.
    pub busy: Nanos,
}

impl Measured<'_> {
    /// All classes together.
    #[must_use]
    pub fn all(&self) -> Delays {
        self.classes.iter().fold(Delays::default(), |sum, one| Delays {
            requests: sum.requests + one.requests,
            delay: Nanos::new(sum.delay.get().saturating_add(one.delay.get())),
        })
    }
}

/// Decides, when a request arrives, which server it joins.
///
/// `now` never decreases. Nothing here allocates in the steady state, locks, logs or panics on input.
pub trait Dispatcher<I: Item<Cost = Nanos>> {
    /// What [`Self::dispatch`] reads.
    fn sees(&self) -> Sees {
        Sees::Nothing
    }

    /// The server that the item joins.
    ///
    /// # Errors
    /// It joins none, and is dropped for this reason.
    fn dispatch(
        &mut self,
        now: Instant,
        item: &I,
        receiver: ReceiverId,
        servers: &dyn Servers,
    ) -> Result<ServerId, DropReason>;

    /// The server that one of several items of a request joins, which is none of those that have others of it, as long as a
    /// server is left. Unless said otherwise: the one that [`Self::dispatch`] chooses where those seem full, or the next.
    ///
    /// # Errors
    /// As [`Self::dispatch`].
    fn dispatch_apart(
        &mut self,
        now: Instant,
        item: &I,
        receiver: ReceiverId,
        servers: &dyn Servers,
        apart: &Apart,
    ) -> Result<ServerId, DropReason> {
        let others = apart::Others { servers, apart };
        self.dispatch(now, item, receiver, &others).map(|server| apart.next_free(server))
    }

    /// How often [`Self::control`] is called; `None`: never.
    fn period(&self) -> Option<Nanos> {
        None
    }

    /// A period is over, in which this was measured.
    fn control(&mut self, now: Instant, measured: &Measured<'_>) {
        let _ = (now, measured);
    }

    /// How many servers new requests may be sent to at present; `None`: all.
    fn in_use(&self) -> Option<u32> {
        None
    }

    /// How many requests found their server not available, and were sent to another.
    fn redirected(&self) -> u64 {
        0
    }

    /// Whether it is to hear what becomes of requests at the servers, by [`Self::heard`]; always the same answer.
    #[inline]
    fn hears(&self) -> bool {
        false
    }

    /// A request has come to a server or left it.
    fn heard(&mut self, now: Instant, heard: &Heard) {
        let _ = (now, heard);
    }

    /// What it decides by until the next [`Self::control`], so that a program in the kernel decides the same; `None`:
    /// none can.
    fn rule(&self) -> Option<Rule<'_>> {
        None
    }
}

/// What became of a request that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an idle server must be asked, and a preemption acted on"]
pub enum Placed {
    /// It waits, or was dropped.
    Queued,
    /// This server is idle and has something to do now.
    Ask(ServerId),
    /// It outranks the item of this server's open grant.
    Preempts(ServerId),
}

/// What a server does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assigned<I: Item> {
    /// Who is served.
    pub item: I,
    /// For how much at most; [`WHOLE`]: until it is done.
    pub quantum: Nanos,
    /// What the server spends before it serves: a theft, a switch. It is no service of the item.
    pub overhead: Nanos,
}

/// Without bound: an item that is served until it is done.
pub const WHOLE: Nanos = Nanos::new(u64::MAX);

/// Decides which waiting request a free server takes, and for how long at most.
///
/// Each item enqueued leaves once, by `finish` or through `drops`. Every grant of a server is closed, before its next
/// `dequeue`, by `requeue` or `finish`. A server for which `dequeue` has returned `None` is idle, and is not asked again
/// until the discipline says so ([`Placed::Ask`], [`Self::wake`]). `now` never decreases.
pub trait Pool<I: Item<Cost = Nanos>> {
    /// Takes the item, or drops it or another.
    fn enqueue(&mut self, now: Instant, item: I, receiver: ReceiverId, drops: &mut dyn Drops<I>) -> Placed;

    /// Takes one of several items of a request, as [`Self::enqueue`]. Where items are bound to a server as they arrive, it joins
    /// none of those in `apart`, as long as a server is left, and the one that it joins is added to them; elsewhere whoever is
    /// free takes it.
    fn enqueue_apart(
        &mut self,
        now: Instant,
        item: I,
        receiver: ReceiverId,
        apart: &mut Apart,
        drops: &mut dyn Drops<I>,
    ) -> Placed {
        let _ = apart;
        self.enqueue(now, item, receiver, drops)
    }

    /// What a server without an open grant does next; `None`: it is idle.
    fn dequeue(&mut self, now: Instant, server: ServerId, drops: &mut dyn Drops<I>) -> Option<Assigned<I>>;

    /// The server's open grant ends and its item is not done: the quantum is used, or another preempts it. `used` is what
    /// it was served; the engine has lowered the cost by it, where that is known.
    fn requeue(&mut self, now: Instant, server: ServerId, item: I, used: Nanos, drops: &mut dyn Drops<I>);

    /// The server's open grant ends and its item is done.
    fn finish(&mut self, now: Instant, server: ServerId, item: &I, used: Nanos) {
        let _ = (now, server, item, used);
    }

    /// What waits; the items of open grants do not.
    fn backlog(&self) -> Backlog<Nanos>;

    /// How many requests a server has: those that wait for it alone, and the one it serves; `None` where nobody waits for
    /// one server.
    fn length(&self, server: ServerId) -> Option<u32> {
        let _ = server;
        None
    }

    /// An idle server that has something to do though nothing arrived for it; asked for again until there is none, after
    /// `finish`, `requeue` and `control`.
    fn wake(&mut self, now: Instant) -> Option<ServerId> {
        let _ = now;
        None
    }

    /// When [`Self::wake`] is to be asked though nothing else happens, which is later than now; `None`: at no time of its
    /// own. It changes in [`Self::control`] and [`Self::wake`] alone, so that a discipline without a period has none.
    fn wakes_at(&self) -> Option<Instant> {
        None
    }

    /// How often [`Self::control`] is called; `None`: never.
    fn period(&self) -> Option<Nanos> {
        None
    }

    /// A period is over, in which this was measured.
    fn control(&mut self, now: Instant, measured: &Measured<'_>) {
        let _ = (now, measured);
    }

    /// How many servers may be given new requests at present; `None`: all.
    fn in_use(&self) -> Option<u32> {
        None
    }

    /// How many requests were moved from the server they were first sent to: stolen, or redirected.
    fn moved(&self) -> u64 {
        0
    }

    /// What its decisions have taken so far; `None` where nothing is looked through.
    fn effort(&self) -> Option<Effort> {
        None
    }
}

dispatchers!(
    rr::Rr,
    rr_separated::RrSeparated,
    dynamic::Dynamic,
    dynamic_separated::DynamicSeparated,
    random::AtRandom,
    flow_hash::FlowHash,
    jsq::Jsq,
    power_of_two::PowerOfTwo,
    least_work::LeastWork;
    in boxes:
    jiq::Jiq,
    least_requests::LeastRequests,
    weighted_rr::WeightedRr,
    peak_ewma::PeakEwma,
    bounded_hash::BoundedHash,
    subset::Subset,
    stale::Stale,
    local::Local,
    health::Health,
);
pools!(
    cfcfs::Cfcfs,
    work_stealing::WorkStealing,
    jbsq::Jbsq,
    preemptive::Preemptive,
    short_first::ShortFirst,
    darc::Darc,
    core_allocation::CoreAllocation,
    racks::Racks,
);
