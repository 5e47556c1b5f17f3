//! The suite for pools: what every pool discipline owes the engines that drive it.
//!
//! [`check_pool`] drives a pool through random requests at several loads, with needs that are known and with ones that
//! are estimated wrongly, and checks every answer: each request leaves once; no grant is of a request that does not wait
//! or without a quantum; only idle servers are asked and only busy ones preempted; who is asked has something to do; the
//! backlog, in requests and in cost; what is promised ([`PoolPromises`]). Each plan is driven twice, and must go alike.
//! Then senseless sequences of operations, which must not panic ([`hostile_pool`]).

mod hostile;

use std::collections::BTreeMap;

use super::Random;
use crate::discipline::{Backlog, DropReason};
use crate::item::{ClassId, FlowId, Message};
use crate::pool::{Assigned, Delays, Measured, Placed, Pool, ReceiverId, ServerId, Site, WHOLE};
use crate::units::{Cost, Instant, Nanos};

pub use hostile::hostile_pool;

/// What the suite serves.
type Request = Message<Nanos>;

/// What a pool promises beyond the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolPromises {
    /// No server is idle while anything waits.
    pub work_conserving: bool,
    /// The requests of a flow begin in the order of their arrival.
    pub flow_order: bool,
    /// The requests that a server serves begin in the order of their arrival.
    pub server_order: bool,
}

/// Loads, in hundredths of what the servers can serve.
const LOADS: [u64; 4] = [30, 95, 130, 1000];
/// Requests of a plan.
const REQUESTS: usize = 150;
/// The mean need of a request.
const MEAN: u64 = 2_000;
/// For how long seldom nothing comes, of a pool without periods.
const PAUSE: Nanos = Nanos::new(100_000);
/// Senseless sequences.
const HOSTILE: u64 = 8;

/// Drives pools made by `make`, for this site, through every kind of plan, then through senseless sequences.
///
/// # Panics
/// The pool breaks the contract or a promise.
pub fn check_pool<P: Pool<Request>>(make: impl Fn() -> P, site: &Site, promises: PoolPromises) {
    let pause = make().period().map_or(PAUSE, |period| Nanos::new(3 * period.get()));
    for (seed, load) in (0..).zip(LOADS) {
        for estimated in [false, true] {
            let plan = plan(2 * seed + u64::from(estimated), Load { load, pause, estimated }, site);
            let [first, second] =
                [make(), make()].map(|mut pool| drive_pool(&mut pool, site, promises, &plan));
            assert_eq!(first, second, "the same requests are served in two ways");
        }
    }
    for seed in 0..HOSTILE {
        hostile_pool(&mut make(), site, seed, 400);
    }
}

/// A request as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// When.
    pub at: Instant,
    /// The request as the pool sees it.
    pub item: Message<Nanos>,
    /// What it needs.
    pub needs: Nanos,
    /// Where it was received.
    pub receiver: ReceiverId,
}

/// How requests come.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// In hundredths of what the servers can serve.
    load: u64,
    /// For how long seldom nothing comes.
    pause: Nanos,
    /// Whether the pool sees estimates in place of the true needs.
    estimated: bool,
}

/// Requests of a load; some come together.
fn plan(seed: u64, load: Load, site: &Site) -> Vec<Offered> {
    let Load { load, pause, estimated } = load;
    let mut random = Random::new(seed);
    let gap = (2 * MEAN * 100 / (load * u64::from(site.servers))).max(1);
    let mut at = Instant::ZERO;
    let mut offer = |id: usize| {
        at += Nanos::new(match random.below(50) {
            0 => pause.get(),
            1..10 => 0,
            _ => random.below(gap + 1),
        });
        let needs = Nanos::new(1 + random.below(2 * MEAN));
        let told = if estimated { Nanos::new(random.below(2 * MEAN)) } else { needs };
        let class = ClassId(random.below(site.classes.len() as u64) as u16);
        let item = Message { id: id as u32, flow: FlowId(random.below(9) as u32), class, remaining: told };
        Offered { at, item, needs, receiver: ReceiverId(random.below(u64::from(site.receivers)) as u32) }
    };
    (0..REQUESTS).map(&mut offer).collect()
}

/// One grant: which request was served where, from when, for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// The request.
    pub id: u32,
    /// Where.
    pub server: ServerId,
    /// When the server was given it.
    pub from: Instant,
    /// How long it was served.
    pub used: Nanos,
}

/// An open grant.
struct Open {
    item: Request,
    began: Instant,
    /// When service begins, after the overhead, and when the grant ends.
    from: Instant,
    until: Instant,
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Waiting(Request),
    Served,
    Left,
}

struct Driver<'a, P> {
    pool: &'a mut P,
    plan: &'a [Offered],
    promises: PoolPromises,
    now: Instant,
    servers: Vec<Option<Open>>,
    places: Vec<Place>,
    /// What each request needs still.
    needs: Vec<Nanos>,
    began: Vec<bool>,
    /// The last request of each flow that has begun.
    last: BTreeMap<FlowId, u32>,
    /// The last request that has begun at each server.
    last_here: Vec<Option<u32>>,
    backlog: Backlog<Nanos>,
    delays: Vec<Delays>,
    control: Option<Instant>,
    drops: Vec<(Request, DropReason)>,
    services: Vec<Service>,
}

/// Drives a pool until all requests have left. At one instant grants end first, then comes the control, then arrivals.
///
/// # Panics
/// The pool breaks the contract or a promise.
pub fn drive_pool<P: Pool<Message<Nanos>>>(
    pool: &mut P,
    site: &Site,
    promises: PoolPromises,
    plan: &[Offered],
) -> Vec<Service> {
    let control = pool.period().map(|period| Instant::ZERO + period);
    let mut driver = Driver {
        pool,
        plan,
        promises,
        now: Instant::ZERO,
        servers: (0..site.servers).map(|_| None).collect(),
        places: Vec::new(),
        needs: plan.iter().map(|offered| offered.needs).collect(),
        began: vec![false; plan.len()],
        last: BTreeMap::new(),
        last_here: vec![None; site.servers as usize],
        backlog: Backlog::default(),
        delays: vec![Delays::default(); site.classes.len()],
        control,
        drops: Vec::new(),
        services: Vec::new(),
    };
    driver.run();
    driver.services
}

impl<P: Pool<Request>> Driver<'_, P> {
    fn run(&mut self) {
        let work: u64 = self.needs.iter().map(|needs| needs.get()).sum();
        // One step for each nanosecond of work, and a thousand for each request, are more than any pool takes.
        let mut steps = work + 1_000 * self.plan.len() as u64;
        while let Some(at) = self.next_instant() {
            self.now = at.max(self.now);
            self.step();
            steps = steps.checked_sub(1).expect("the pool makes no progress");
        }
        let stays = self.places.iter().position(|place| *place != Place::Left);
        assert_eq!(stays, None, "a request never left");
        assert_eq!(self.drops.len() + self.finished(), self.plan.len(), "each is served or dropped");
    }

    /// How many were served to the end.
    fn finished(&self) -> usize {
        self.needs.iter().filter(|needs| **needs == Nanos::ZERO).count()
    }

    /// When something happens next; `None` once all have left.
    fn next_instant(&self) -> Option<Instant> {
        let boundary = self.servers.iter().flatten().map(|open| open.until).min();
        let arrival = self.plan.get(self.places.len()).map(|offered| offered.at);
        let busy = boundary.is_some() || arrival.is_some() || !self.backlog.is_empty();
        let alarm = self.pool.wakes_at();
        let next = [boundary, arrival, alarm, self.control.filter(|_| busy)].into_iter().flatten().min();
        assert!(next.is_some() || !busy, "{:?} waits, and nothing is due", self.backlog);
        next
    }

    fn step(&mut self) {
        for server in 0..self.servers.len() {
            if self.servers[server].as_ref().is_some_and(|open| open.until <= self.now) {
                self.close(server);
                self.ask(server);
                self.wake();
            }
        }
        if self.control.is_some_and(|at| at <= self.now) {
            self.measure();
            self.wake();
        }
        if self.pool.wakes_at().is_some_and(|at| at <= self.now) {
            self.wake();
            assert!(self.pool.wakes_at().is_none_or(|at| at > self.now), "an alarm goes on at {}", self.now);
        }
        while self.plan.get(self.places.len()).is_some_and(|offered| offered.at <= self.now) {
            self.offer();
        }
        self.assert_state();
    }

    /// A period is over.
    fn measure(&mut self) {
        let waits = |place: &Place| matches!(place, Place::Waiting(_));
        let oldest =
            self.places.iter().position(waits).map_or(Nanos::ZERO, |id| self.now.since(self.plan[id].at));
        let measured = Measured { classes: &self.delays, oldest, busy: Nanos::ZERO };
        self.pool.control(self.now, &measured);
        self.delays.fill(Delays::default());
        self.control = self.pool.period().map(|period| self.now + period);
    }

    fn wake(&mut self) {
        // Each answer makes a server busy.
        for _ in 0..=self.servers.len() {
            let Some(server) = self.pool.wake(self.now) else { return };
            self.ask_for(server, "woken");
        }
        panic!("more servers are woken than there are");
    }

    fn offer(&mut self) {
        let Offered { item, receiver, .. } = self.plan[self.places.len()];
        self.places.push(Place::Waiting(item));
        self.backlog.add(item.remaining);
        let dropped = self.drops.len();
        let placed = self.pool.enqueue(self.now, item, receiver, &mut self.drops);
        self.settle(dropped);
        match placed {
            Placed::Queued => {}
            Placed::Ask(server) => self.ask_for(server, "asked for"),
            Placed::Preempts(server) => {
                let at = server.0 as usize;
                let busy = self.servers.get(at).is_some_and(Option::is_some);
                assert!(busy, "{server:?} is preempted, and serves nothing");
                self.close(at);
                self.ask(at);
                self.wake();
            }
        }
    }

    /// A server that the pool names has something to do.
    fn ask_for(&mut self, server: ServerId, how: &str) {
        let at = server.0 as usize;
        assert!(at < self.servers.len(), "{server:?} is {how}, and is none");
        assert!(self.servers[at].is_none(), "{server:?} is {how}, and is busy");
        self.ask(at);
        assert!(self.servers[at].is_some(), "{server:?} is {how}, and has nothing to do");
    }

    /// A server without an open grant takes the next.
    fn ask(&mut self, at: usize) {
        let dropped = self.drops.len();
        let assigned = self.pool.dequeue(self.now, ServerId(at as u32), &mut self.drops);
        if let Some(assigned) = assigned {
            self.start(at, assigned);
        }
        self.settle(dropped);
    }

    fn start(&mut self, at: usize, assigned: Assigned<Request>) {
        let Assigned { item, quantum, overhead } = assigned;
        let id = item.id as usize;
        assert_eq!(self.places.get(id), Some(&Place::Waiting(item)), "granted, yet it was not waiting");
        assert!(quantum > Nanos::ZERO, "the grant of {item:?} is empty");
        self.places[id] = Place::Served;
        self.backlog.remove(item.remaining);
        let served = if quantum == WHOLE { self.needs[id] } else { self.needs[id].min(quantum) };
        let from = self.now + overhead;
        self.servers[at] = Some(Open { item, began: self.now, from, until: from + served });
        if !core::mem::replace(&mut self.began[id], true) {
            self.note_begin(at, item);
        }
    }

    /// A request begins for the first time.
    fn note_begin(&mut self, at: usize, item: Request) {
        let delays = &mut self.delays[usize::from(item.class.0)];
        delays.requests += 1;
        delays.delay += self.now.since(self.plan[item.id as usize].at);
        let before = self.last.insert(item.flow, item.id);
        let in_order = !self.promises.flow_order || before.is_none_or(|before| before < item.id);
        assert!(in_order, "{item:?} begins after request {before:?} of the same flow");
        let before = self.last_here[at].replace(item.id);
        let in_order = !self.promises.server_order || before.is_none_or(|before| before < item.id);
        assert!(in_order, "{item:?} begins after request {before:?} at the same server");
    }

    /// The open grant of a server ends now.
    fn close(&mut self, at: usize) {
        let Some(Open { item, began, from, until }) = self.servers[at].take() else { return };
        let used = self.now.min(until).since(from);
        let (id, server) = (item.id as usize, ServerId(at as u32));
        self.services.push(Service { id: item.id, server, from: began, used });
        self.needs[id] = self.needs[id].minus(used);
        let item = Request { remaining: item.remaining.minus(used), ..item };
        if self.needs[id] == Nanos::ZERO {
            self.places[id] = Place::Left;
            return self.pool.finish(self.now, server, &item, used);
        }
        self.places[id] = Place::Waiting(item);
        self.backlog.add(item.remaining);
        let dropped = self.drops.len();
        self.pool.requeue(self.now, server, item, used, &mut self.drops);
        self.settle(dropped);
    }

    /// Settles the requests dropped since `before` of them had been.
    fn settle(&mut self, before: usize) {
        for (item, _) in &self.drops[before..] {
            let place = &mut self.places[item.id as usize];
            assert_eq!(*place, Place::Waiting(*item), "dropped, yet it was not waiting");
            *place = Place::Left;
            self.backlog.remove(item.remaining);
        }
        assert_eq!(self.pool.backlog(), self.backlog, "the backlog at {}", self.now);
    }

    /// What holds between two instants.
    fn assert_state(&self) {
        let busy = self.servers.iter().flatten().count() as u64;
        let servers = self.servers.len() as u64;
        let idle_over_backlog = self.promises.work_conserving && busy < servers && !self.backlog.is_empty();
        assert!(!idle_over_backlog, "{:?} waits, and a server is idle at {}", self.backlog, self.now);
        assert!(
            self.pool.in_use().is_none_or(|used| u64::from(used) <= servers),
            "more are in use than there are"
        );
        let lengths = (0..self.servers.len()).filter_map(|at| self.pool.length(ServerId(at as u32)));
        let together: u64 = lengths.map(u64::from).sum();
        assert!(
            together <= busy + self.backlog.items,
            "the servers have {together} requests, which is too many"
        );
    }
}

#[cfg(test)]
mod tests;
