//! Work stealing: a queue for each server, and a server that has nothing takes from another's.
//!
//! A dispatcher sends each request to a server when it arrives; its queue is first in, first out. A server whose queue is
//! empty takes the request that has waited longest in the queue of a victim, which costs it some time. So no server is
//! idle while a request waits anywhere: an idle one is asked at once.
//!
//! | | |
//! |-|-|
//! | Source | Prekas, Kogias and Bugnion, *ZygOS: achieving low tail latency for microsecond-scale networked tasks*, SOSP '17; Ousterhout et al., *Shenango*, NSDI 2019; Fried et al., *Caladan*, OSDI 2020 |
//! | Needs to know | which queues hold something; with `victim=longest` how much |
//! | Work per request | O(servers / 64) and the dispatcher's; a theft with `victim=longest` O(servers) |
//! | Units | `cost`: nanoseconds |
//! | Memory | one slot per waiting request, three words per server; grows to the largest backlog of each queue and stays |
//! | Departs from the source | an idle server sees at once that something waits, and `cost` stands for its search, the theft and what it makes cold; one request is stolen at a time (Shenango: half of a queue). ZygOS sends by a hash of the connection and keeps the requests of one connection in order: `dispatcher=flow_hash` does the first |
//!
//! **Effort.** A decision has examined its own queue, and the queues that a theft has compared.

use super::queues::{Queues, own_bound};
use super::random::SEED;
use super::server_set::ServerSet;
use super::terms::TO_A_SECOND;
use super::{Assigned, Dispatcher, Measured, Placed, Pool, ReceiverId, ServerId, Servers, Site, WHOLE};
use crate::discipline::{Backlog, DropReason, Drops, Effort};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::random::Random;
use crate::registry::dispatcher;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Cost, Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "work_stealing",
    kind: Kind::Pool,
    title: "work stealing",
    rule: "a queue for each server; an idle server takes the oldest request from the queue of another",
    source: "Prekas, Kogias and Bugnion, ZygOS, SOSP '17; Ousterhout et al., Shenango, NSDI 2019",
    work: "O(servers / 64); a theft from the longest O(servers)",
    parameters: &[
        Parameter::new("dispatcher", Takes::Discipline(Role::Dispatcher), "random")
            .listed("a dispatcher")
            .meaning("sends a request to a server"),
        Parameter::new("victim", Takes::Words(&["random", "next", "longest"]), "random").meaning(
            "where an idle server steals: from the first server with a waiting request, searched from a \
             random server or from the next number on; or from the longest queue",
        ),
        Parameter::new("cost", Takes::Span(TO_A_SECOND), "0ns")
            .meaning("how much time a theft costs the server that steals"),
        SEED,
    ],
    example: "work_stealing:cost=200ns",
};

/// From whom is stolen.
#[derive(Clone, Debug)]
enum Victim {
    Random(Random),
    Next,
    Longest,
}

/// The request that a server has: what it was known to need, and since when it is served.
#[derive(Clone, Copy, Debug)]
struct Serving {
    cost: Nanos,
    since: Instant,
}

/// Work stealing.
pub struct WorkStealing<I: Item> {
    dispatcher: Box<dyn Dispatcher<I> + Send>,
    queues: Queues<I>,
    /// How much service what waits in each queue needs.
    costs: Vec<Nanos>,
    serving: Vec<Option<Serving>>,
    idle: ServerSet,
    victim: Victim,
    cost: Nanos,
    moved: u64,
    effort: Effort,
}

/// What the dispatcher sees.
struct View<'a, I: Item> {
    pool: &'a Queues<I>,
    costs: &'a [Nanos],
    serving: &'a [Option<Serving>],
    now: Instant,
}

impl<I: Item<Cost = Nanos>> Servers for View<'_, I> {
    fn count(&self) -> u32 {
        self.costs.len() as u32
    }
    fn length(&self, server: ServerId) -> u32 {
        let is_served = self.serving.get(server.0 as usize).is_some_and(Option::is_some);
        self.pool.len(server.0) as u32 + u32::from(is_served)
    }
    fn work(&self, server: ServerId) -> Nanos {
        let at = server.0 as usize;
        let left = |serving: &Serving| serving.cost.minus(self.now.since(serving.since));
        let served = self.serving.get(at).and_then(Option::as_ref).map_or(Nanos::ZERO, left);
        self.costs.get(at).map_or(WHOLE, |waiting| waiting.plus(served))
    }
}

impl<I: Item<Cost = Nanos> + Send + 'static> WorkStealing<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let seed = arguments.whole(SEED.name)?;
        let mut random = Random::new(seed);
        // A dispatcher that is given no seed follows from that of the pool.
        let sends = Role::Dispatcher.with_seeds(&arguments.nested("dispatcher")?, &mut || random.bits());
        let dispatcher = dispatcher(&sends, site)?;
        if dispatcher.hears() {
            let reason = format!(
                "is `{}`, which must hear where requests end, and a stolen one ends elsewhere; take another, such as \
                 `random`",
                sends.name
            );
            return Err(arguments.error("dispatcher", reason));
        }
        let victim = arguments.choice("victim", [Victim::Random(random), Victim::Next, Victim::Longest])?;
        Ok(Self {
            dispatcher,
            queues: Queues::new(site.servers, own_bound(site)),
            costs: vec![Nanos::ZERO; site.servers as usize],
            serving: vec![None; site.servers as usize],
            idle: ServerSet::all(site.servers),
            victim,
            cost: arguments.span("cost")?,
            moved: 0,
            effort: Effort::default(),
        })
    }
}

impl<I: Item<Cost = Nanos>> WorkStealing<I> {
    fn servers(&self) -> u32 {
        self.costs.len() as u32
    }

    /// The queue from which a server that has nothing takes, and how many were compared.
    fn find(&mut self, thief: ServerId) -> Option<(ServerId, u64)> {
        let servers = self.servers();
        let filled = self.queues.filled();
        match &mut self.victim {
            Victim::Random(random) => Some((filled.next_from(random.pick(servers))?, 1)),
            Victim::Next => Some((filled.next_from(thief.0 + 1)?, 1)),
            Victim::Longest => {
                // Of equally long ones the lowest number: `max_by_key` would take the last.
                let all = filled.iter().map(|server| (self.queues.len(server.0), server));
                let longest = all.reduce(|best, one| if one.0 > best.0 { one } else { best })?;
                Some((longest.1, u64::from(servers)))
            }
        }
    }

    fn pop(&mut self, queue: ServerId) -> Option<I> {
        let item = self.queues.pop(queue.0)?;
        let cost = &mut self.costs[queue.0 as usize];
        *cost = cost.minus(item.cost());
        Some(item)
    }

    /// Which server is asked for what has just come to a queue: its own if that is idle, or another that steals it.
    fn ask(&mut self, queue: ServerId) -> Placed {
        let server = if self.idle.contains(queue) { Some(queue) } else { self.idle.lowest() };
        server.map_or(Placed::Queued, |server| {
            self.idle.remove(server);
            Placed::Ask(server)
        })
    }
}

impl<I: Item<Cost = Nanos>> Pool<I> for WorkStealing<I> {
    fn enqueue(&mut self, now: Instant, item: I, receiver: ReceiverId, drops: &mut dyn Drops<I>) -> Placed {
        let view = View { pool: &self.queues, costs: &self.costs, serving: &self.serving, now };
        let to = match self.dispatcher.dispatch(now, &item, receiver, &view) {
            Ok(server) if server.0 < self.servers() => server,
            refused => {
                drops.dropped(item, refused.err().unwrap_or(DropReason::NoServer));
                return Placed::Queued;
            }
        };
        let cost = item.cost();
        if !self.queues.offer(to.0, item, !self.idle.is_empty(), drops) {
            return Placed::Queued;
        }
        let waiting = &mut self.costs[to.0 as usize];
        *waiting = waiting.plus(cost);
        self.ask(to)
    }

    fn dequeue(&mut self, now: Instant, server: ServerId, _drops: &mut dyn Drops<I>) -> Option<Assigned<I>> {
        self.serving.get(server.0 as usize)?;
        let (mut overhead, mut examined) = (Nanos::ZERO, 1);
        let mut item = self.pop(server);
        if item.is_none()
            && let Some((victim, compared)) = self.find(server)
        {
            item = self.pop(victim);
            (overhead, examined) = (self.cost, 1 + compared);
            self.moved += 1;
        }
        let Some(item) = item else {
            self.idle.add(server);
            return None;
        };
        self.idle.remove(server);
        self.effort.count(examined, 1);
        let since = Instant::new(now.get().saturating_add(overhead.get()));
        self.serving[server.0 as usize] = Some(Serving { cost: item.cost(), since });
        Some(Assigned { item, quantum: WHOLE, overhead })
    }

    fn requeue(&mut self, _now: Instant, server: ServerId, item: I, _used: Nanos, drops: &mut dyn Drops<I>) {
        let Some(serving) = self.serving.get_mut(server.0 as usize) else {
            return drops.dropped(item, DropReason::NoServer);
        };
        *serving = None;
        let cost = &mut self.costs[server.0 as usize];
        *cost = cost.plus(item.cost());
        self.queues.push(server.0, item);
    }

    fn finish(&mut self, _now: Instant, server: ServerId, _item: &I, _used: Nanos) {
        if let Some(serving) = self.serving.get_mut(server.0 as usize) {
            *serving = None;
        }
    }

    fn backlog(&self) -> Backlog<Nanos> {
        self.queues.backlog()
    }

    fn length(&self, server: ServerId) -> Option<u32> {
        let is_served = self.serving.get(server.0 as usize)?.is_some();
        Some(self.queues.len(server.0) as u32 + u32::from(is_served))
    }

    fn period(&self) -> Option<Nanos> {
        self.dispatcher.period()
    }

    fn control(&mut self, now: Instant, measured: &Measured<'_>) {
        self.dispatcher.control(now, measured);
    }

    fn in_use(&self) -> Option<u32> {
        self.dispatcher.in_use()
    }

    fn moved(&self) -> u64 {
        self.moved + self.dispatcher.redirected()
    }

    fn effort(&self) -> Option<Effort> {
        Some(self.effort)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pool::machine::{Arrival, made, requests, run};
    use crate::pool::testing::{Request, request as item, site_of};

    fn stealing(spec: &str, servers: u32, queue: Option<u32>) -> WorkStealing<Request> {
        let site = Site { queue, ..site_of(servers, &[(1.0, 10)]) };
        made(&INFO, spec, |arguments| WorkStealing::from_spec(arguments, &site))
    }

    fn request(at: u64, service: u64) -> Arrival {
        Arrival { at, class: 0, flow: 0, service }
    }

    #[test]
    fn an_idle_server_steals_the_oldest_at_a_cost() {
        // Round robin sends 0, 2 and 4 to server 0, 1 and 3 to server 1.
        let arrivals = [request(0, 100), request(0, 10), request(1, 30), request(2, 10), request(3, 50)];
        let mut pool = stealing("work_stealing(rr,victim=longest,cost=5ns)", 2, None);
        let run = run(&mut pool, 2, &arrivals);
        assert_eq!(run.spans_of(3), [(1, 10, 20)]);
        // Server 1 has nothing of its own any more.
        assert_eq!(run.spans_of(2), [(1, 25, 55)]);
        assert_eq!(run.spans_of(4), [(1, 60, 110)]);
        assert_eq!(pool.moved(), 2);
        assert_eq!(pool.effort().map(|effort| (effort.decisions, effort.examined)), Some((5, 5 + 2 * 2)));
    }

    #[test]
    fn a_request_for_a_busy_server_is_stolen_at_once() {
        let mut pool = stealing("work_stealing(rr:available=0,victim=next,cost=5ns)", 3, None);
        let run = run(&mut pool, 3, &[request(0, 100), request(1, 10), request(2, 10), request(3, 10)]);
        assert_eq!(run.spans_of(1), [(1, 6, 16)]);
        assert_eq!(run.spans_of(2), [(2, 7, 17)]);
        assert_eq!(run.spans_of(3), [(1, 21, 31)]);
    }

    #[test]
    fn the_victim_is_the_next_or_the_longest() {
        // Servers 0 to 3; long requests keep 1, 2 and 3 busy, with one behind 1, two behind 2, one behind 3.
        let arrivals = [0, 1, 2, 3, 1, 2, 2, 3].map(|_| request(0, 100));
        let first_theft = |victim: &str| {
            let spec = format!("work_stealing(rr:available=0/1/2/3,victim={victim})");
            let mut pool = stealing(&spec, 4, None);
            for (id, arrival) in (0..).zip(&arrivals) {
                let item = item(id, 0, arrival.service);
                if let Placed::Ask(server) = pool.enqueue(Instant::ZERO, item, ReceiverId(0), &mut Vec::new())
                {
                    let _ = pool.dequeue(Instant::ZERO, server, &mut Vec::new());
                }
            }
            // Server 0 serves its own second request, then steals.
            let mut next =
                || pool.dequeue(Instant::ZERO, ServerId(0), &mut Vec::new()).map(|one| one.item.id);
            [next(), next(), next()]
        };
        assert_eq!(first_theft("next"), [Some(4), Some(5), Some(6)]);
        assert_eq!(first_theft("longest"), [Some(4), Some(5), Some(6)]);
    }

    #[test]
    fn each_queue_has_its_bound() {
        let mut pool = stealing("work_stealing(rr:available=0,victim=next)", 2, Some(1));
        let run = run(&mut pool, 2, &[request(0, 10); 5]);
        assert_eq!(run.dropped, [3, 4]);
    }

    proptest! {
        #[test]
        fn no_server_idles_while_somebody_waits(
            servers in 1_u32..6,
            victim in prop::sample::select(vec!["random", "next", "longest"]),
            arrivals in requests(1),
        ) {
            let spec = format!("work_stealing(rr,victim={victim},cost=3ns)");
            let run = run(&mut stealing(&spec, servers, None), servers, &arrivals);
            prop_assert!(!run.idled_over_backlog);
            prop_assert_eq!(run.order().len(), arrivals.len());
        }
    }
}
