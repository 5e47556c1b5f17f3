//! Servers by demand: one queue, and a number of servers that grows when a request has waited too long and shrinks when a
//! server has found nothing to do.
//!
//! At each period the control adds a server if the request that has waited longest has waited for `delay`, and gives those
//! back that have been idle for `idle`. A server that is added takes its first request `wake` later; until then what waits
//! is left to those that are awake. Of idle servers the lowest number is asked first, so that those with high numbers stay
//! idle and are given back.
//!
//! | | |
//! |-|-|
//! | Source | Ousterhout, Fried, Behrens, Belay and Balakrishnan, *Shenango: achieving high CPU efficiency for latency-sensitive datacenter workloads*, NSDI 2019; Fried, Ruan, Ousterhout and Belay, *Caladan: mitigating interference at microsecond timescales*, OSDI 2020 |
//! | Needs to know | how long the request that has waited longest has waited |
//! | Work per request | O(servers / 64); at each period O(servers) |
//! | Units | spans: nanoseconds; `min`: servers |
//! | Memory | one slot per waiting request, a few bytes per server; grows to the largest backlog and stays |
//! | Departs from the source | one central queue, where the sources have a queue for each server, from which idle servers steal (`work_stealing` has these, on all servers): who waits is seen at once by every server that is awake, and nothing is paid for a theft. A server is given back by the control, not by itself. Interference between applications is not seen |
//!
//! In Shenango a request that is found waiting at two checks in a row brings a server: `delay` equal to `period`.

use std::collections::VecDeque;

use super::queues::{Queues, shared_bound};
use super::server_set::ServerSet;
use super::terms::{A_SECOND, TO_A_SECOND};
use super::{Assigned, MAX_SERVERS, Measured, Placed, Pool, ReceiverId, ServerId, Site, WHOLE};
use crate::discipline::{Backlog, Drops};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "core_allocation",
    kind: Kind::Pool,
    title: "core allocation by demand",
    rule: "one queue; a server is added when the oldest request has waited for `delay`, and given back when \
        it has been idle for `idle`",
    source: "Ousterhout et al., Shenango, NSDI 2019; Fried et al., Caladan, OSDI 2020",
    work: "O(servers / 64), O(servers) a period",
    parameters: &[
        Parameter::new("period", Takes::Span(Nanos::new(100)..=A_SECOND), "10us")
            .meaning("how often servers are added and given back"),
        Parameter::new("delay", Takes::Span(TO_A_SECOND), "5us")
            .meaning("how long the oldest request has waited when a server is added"),
        Parameter::new("idle", Takes::Span(TO_A_SECOND), "10us")
            .meaning("how long a server has been idle when it is given back"),
        Parameter::new("min", Takes::Whole(1..=MAX_SERVERS as u64), "1")
            .listed("a whole number of servers, at least 1")
            .meaning("how many servers are always kept; the run begins with these"),
        Parameter::new("wake", Takes::Span(TO_A_SECOND), "0ns")
            .meaning("how long after being added a server takes its first request"),
    ],
    example: "core_allocation:period=5us,delay=5us",
};

/// Servers by demand.
pub struct CoreAllocation<I: Item> {
    queue: Queues<I>,
    /// The servers that may be given something.
    allocated: ServerSet,
    /// How many they are.
    count: u32,
    servers: u32,
    /// Of those, the ones that are idle, and since when.
    idle: ServerSet,
    since: Vec<Instant>,
    /// The servers that were added and are not awake, and when they will be, which is in this order.
    waking: VecDeque<(Instant, ServerId)>,
    period: Nanos,
    delay: Nanos,
    linger: Nanos,
    wake: Nanos,
    min: u32,
}

impl<I: Item<Cost = Nanos>> CoreAllocation<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let min = arguments.whole_in("min", 1..=site.servers.into())?;
        let mut allocated = ServerSet::none(site.servers);
        (0..min).for_each(|server| allocated.add(ServerId(server)));
        Ok(Self {
            queue: Queues::new(1, shared_bound(site)),
            idle: allocated.clone(),
            allocated,
            count: min,
            servers: site.servers,
            since: vec![Instant::ZERO; site.servers as usize],
            waking: VecDeque::with_capacity(site.servers as usize),
            period: arguments.span("period")?,
            delay: arguments.span("delay")?,
            linger: arguments.span("idle")?,
            wake: arguments.span("wake")?,
            min,
        })
    }

    /// Gives back who has been idle for long, the highest number first.
    fn give_back(&mut self, now: Instant) {
        for server in (0..self.servers).rev().map(ServerId) {
            let is_idle =
                self.idle.contains(server) && now.since(self.since[server.0 as usize]) >= self.linger;
            if is_idle && self.count > self.min {
                self.idle.remove(server);
                self.allocated.remove(server);
                self.count -= 1;
            }
        }
    }

    /// Adds the lowest number that is not allocated.
    fn add(&mut self, now: Instant) {
        let free = (0..self.servers).map(ServerId).find(|&server| !self.allocated.contains(server));
        if let Some(server) = free {
            self.allocated.add(server);
            self.count += 1;
            let awake = Instant::new(now.get().saturating_add(self.wake.get()));
            self.waking.push_back((awake, server));
        }
    }
}

impl<I: Item<Cost = Nanos>> Pool<I> for CoreAllocation<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _receiver: ReceiverId, drops: &mut dyn Drops<I>) -> Placed {
        let server = self.idle.lowest();
        if !self.queue.offer(0, item, server.is_some(), drops) {
            return Placed::Queued;
        }
        server.map_or(Placed::Queued, |server| {
            self.idle.remove(server);
            Placed::Ask(server)
        })
    }

    fn dequeue(&mut self, now: Instant, server: ServerId, _drops: &mut dyn Drops<I>) -> Option<Assigned<I>> {
        if !self.allocated.contains(server) {
            return None;
        }
        let Some(item) = self.queue.pop(0) else {
            self.idle.add(server);
            self.since[server.0 as usize] = now;
            return None;
        };
        self.idle.remove(server);
        Some(Assigned { item, quantum: WHOLE, overhead: Nanos::new(0) })
    }

    fn requeue(
        &mut self,
        _now: Instant,
        _server: ServerId,
        item: I,
        _used: Nanos,
        _drops: &mut dyn Drops<I>,
    ) {
        self.queue.push(0, item);
    }

    fn backlog(&self) -> Backlog<Nanos> {
        self.queue.backlog()
    }

    fn wake(&mut self, now: Instant) -> Option<ServerId> {
        while let Some(&(at, server)) = self.waking.front().filter(|(at, _)| *at <= now) {
            self.waking.pop_front();
            if !self.queue.backlog().is_empty() {
                return Some(server);
            }
            self.idle.add(server);
            self.since[server.0 as usize] = at;
        }
        None
    }

    fn wakes_at(&self) -> Option<Instant> {
        self.waking.front().map(|&(at, _)| at)
    }

    fn period(&self) -> Option<Nanos> {
        Some(self.period)
    }

    fn control(&mut self, now: Instant, measured: &Measured<'_>) {
        self.give_back(now);
        if measured.oldest >= self.delay && !self.queue.backlog().is_empty() {
            self.add(now);
        }
    }

    fn in_use(&self) -> Option<u32> {
        Some(self.count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pool::machine::{Arrival, made, requests, run};
    use crate::pool::testing::{Request, refused, site_of};

    fn allocation(spec: &str, servers: u32) -> CoreAllocation<Request> {
        let site = site_of(servers, &[(1.0, 10)]);
        made(&INFO, spec, |arguments| CoreAllocation::from_spec(arguments, &site))
    }

    fn request(at: u64, service: u64) -> Arrival {
        Arrival { at, class: 0, flow: 0, service }
    }

    #[test]
    fn a_server_is_added_each_period_until_nobody_waits_for_long() {
        let spec = "core_allocation:period=100ns,delay=50ns,idle=100ns,wake=7ns";
        let mut arrivals = vec![request(0, 250); 4];
        arrivals.push(request(900, 1));
        let run = run(&mut allocation(spec, 3), 3, &arrivals);
        // A server more at 100 and at 200, each of which is awake 7 later.
        assert_eq!(run.spans_of(1), [(1, 107, 357)]);
        assert_eq!(run.spans_of(2), [(2, 207, 457)]);
        assert_eq!(run.spans_of(3), [(0, 250, 500)]);
        // Server 1 is idle from 357, 2 from 457 on, 0 from 500: given back at 500 and at 600.
        assert_eq!(run.in_use, [2, 3, 3, 3, 2, 1, 1, 1, 1]);
        assert_eq!(run.spans_of(4), [(0, 900, 901)]);
    }

    #[test]
    fn while_a_server_wakes_those_that_are_awake_take_what_waits() {
        let spec = "core_allocation:period=100ns,delay=50ns,wake=70ns";
        let arrivals = [request(0, 110), request(0, 50), request(0, 50), request(165, 10)];
        let run = run(&mut allocation(spec, 2), 2, &arrivals);
        // Server 1 is added at 100 for request 1, which server 0 takes at 110, and request 2 at 160, while server 1 wakes.
        assert_eq!((run.spans_of(1), run.spans_of(2)), (vec![(0, 110, 160)], vec![(0, 160, 210)]));
        assert_eq!(run.spans_of(3), [(1, 170, 180)]);
        assert!(run.pieces.iter().all(|piece| piece.overhead == 0));
    }

    #[test]
    fn a_server_that_wakes_to_nothing_is_idle_and_then_asked() {
        let spec = "core_allocation:period=100ns,delay=50ns,idle=1us,wake=70ns";
        let arrivals = [request(0, 110), request(0, 50), request(175, 20), request(176, 20)];
        let run = run(&mut allocation(spec, 2), 2, &arrivals);
        // Server 0 is idle from 160 and server 1 from 170.
        assert_eq!(run.spans_of(1), [(0, 110, 160)]);
        assert_eq!((run.spans_of(2), run.spans_of(3)), (vec![(0, 175, 195)], vec![(1, 176, 196)]));
    }

    #[test]
    fn servers_wake_in_the_order_in_which_they_were_added() {
        let spec = "core_allocation:period=100ns,delay=50ns,wake=250ns";
        let run = run(&mut allocation(spec, 3), 3, &[request(0, 1_000); 4]);
        assert_eq!(run.spans_of(1), [(1, 350, 1_350)]);
        assert_eq!(run.spans_of(2), [(2, 450, 1_450)]);
        assert_eq!(run.spans_of(3), [(0, 1_000, 2_000)]);
    }

    #[test]
    fn a_request_that_has_not_waited_for_long_brings_none() {
        let arrivals = [request(0, 150), request(60, 10)];
        let run = run(&mut allocation("core_allocation:period=100ns,delay=50ns", 2), 2, &arrivals);
        assert_eq!(run.spans_of(1), [(0, 150, 160)]);
    }

    #[test]
    fn more_servers_than_there_are_cannot_be_kept() {
        assert_eq!(
            refused("core_allocation:min=5", &site_of(4, &[(1.0, 10)])),
            "`core_allocation`: min is `5`, must be a whole number from 1 to 4"
        );
        assert_eq!(allocation("core_allocation:min=4", 4).in_use(), Some(4));
    }

    proptest! {
        #[test]
        fn the_number_stays_within_its_bounds(servers in 2_u32..6, arrivals in requests(1)) {
            let spec = "core_allocation:period=100ns,delay=20ns,idle=30ns,min=2";
            let run = run(&mut allocation(spec, servers), servers, &arrivals);
            prop_assert!(run.in_use.iter().all(|count| (2..=servers).contains(count)));
            prop_assert_eq!(run.order(), (0..arrivals.len() as u32).collect::<Vec<_>>());
        }

        #[test]
        fn with_all_servers_kept_it_is_a_central_queue(servers in 1_u32..6, arrivals in requests(1)) {
            let spec = format!("core_allocation:min={servers}");
            let run = run(&mut allocation(&spec, servers), servers, &arrivals);
            prop_assert!(!run.idled_over_backlog);
            prop_assert!(run.in_use.iter().all(|count| *count == servers));
        }
    }
}
