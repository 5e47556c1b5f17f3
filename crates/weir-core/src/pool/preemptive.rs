//! One queue, preempted each quantum: a request that is not done after it goes to the end of the queue.
//!
//! Nothing needs to be known of a request: a short one waits for some quanta of long ones, rather than for all of them.
//! What an interruption costs is time of the server: before the next request, whoever that is, or with `before=resumed`
//! when the interrupted request goes on.
//!
//! | | |
//! |-|-|
//! | Source | Kaffes et al., *Shinjuku: preemptive scheduling for µsecond-scale tail latency*, NSDI 2019; Iyer, Unal, Kogias and Candea, *Achieving microsecond-scale tail latency efficiently with approximate optimal scheduling* (Concord), SOSP 2023 |
//! | Needs to know | nothing |
//! | Work per quantum | O(1), and O(servers / 64) to find an idle server |
//! | Units | `quantum`, `cost`: nanoseconds |
//! | Memory | one slot per waiting request, one bit and one span per server; grows to the largest backlog and stays |
//! | Departs from the source | one queue (Shinjuku may keep one a class and choose between them by their targets); the dispatcher itself takes no time; Concord has bounded queues at the servers: `jbsq` with a quantum |
//!
//! With `when=always` every quantum that ends before its request costs, though nobody waits: the timer fires all the
//! same. With `when=waiting` it costs only where another request takes over.
//!
//! In the sources the switch comes before the next request, which waits for it. Simulations that add the cost to the request
//! that was interrupted are those of `before=resumed`: there a short request never waits for a switch.

use std::collections::VecDeque;

use super::queues::{Queues, shared_bound};
use super::server_set::ServerSet;
use super::terms::{A_SECOND, COST};
use super::{Assigned, Placed, Pool, ReceiverId, ServerId, Site};
use crate::discipline::{Backlog, Drops};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "preemptive",
    kind: Kind::Pool,
    title: "one queue, preemption after each quantum",
    rule: "a free server takes the first request of one queue for a quantum at most; an unfinished request \
        goes to the end",
    source: "Kaffes et al., Shinjuku, NSDI 2019; Iyer et al., Concord, SOSP 2023",
    work: "O(servers / 64) a quantum",
    parameters: &[
        Parameter::new("quantum", Takes::Span(Nanos::ONE..=A_SECOND), "5us")
            .meaning("how long a request is served at a time"),
        COST,
        Parameter::new("when", Takes::Words(&["always", "waiting"]), "always")
            .meaning("whether the end of a quantum always costs, or only when another request waits"),
        Parameter::new("before", Takes::Words(&["next", "resumed"]), "next").meaning(
            "whether the server spends the cost before the next request, or before it resumes the \
             interrupted one",
        ),
    ],
    example: "preemptive:quantum=5us,cost=500ns",
};

/// One queue, preempted each quantum.
pub struct Preemptive<I: Item> {
    queue: Queues<I>,
    idle: ServerSet,
    quantum: Nanos,
    cost: Nanos,
    costs_always: bool,
    /// What each server pays before its next request.
    owed: Vec<Nanos>,
    /// What is paid before each request of the queue, where the interrupted one is to pay.
    resumed: Option<VecDeque<Nanos>>,
}

impl<I: Item<Cost = Nanos>> Preemptive<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        Ok(Self {
            queue: Queues::new(1, shared_bound(site)),
            idle: ServerSet::all(site.servers),
            quantum: arguments.span("quantum")?,
            cost: arguments.span(COST.name)?,
            costs_always: arguments.choice("when", [true, false])?,
            owed: vec![Nanos::new(0); site.servers as usize],
            resumed: arguments.choice("before", [false, true])?.then(VecDeque::new),
        })
    }
}

impl<I: Item<Cost = Nanos>> Pool<I> for Preemptive<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _receiver: ReceiverId, drops: &mut dyn Drops<I>) -> Placed {
        let server = self.idle.lowest();
        if !self.queue.offer(0, item, server.is_some(), drops) {
            return Placed::Queued;
        }
        if let Some(resumed) = &mut self.resumed {
            resumed.push_back(Nanos::new(0));
        }
        server.map_or(Placed::Queued, |server| {
            self.idle.remove(server);
            Placed::Ask(server)
        })
    }

    fn dequeue(&mut self, _now: Instant, server: ServerId, _drops: &mut dyn Drops<I>) -> Option<Assigned<I>> {
        let owed = self.owed.get_mut(server.0 as usize).map(core::mem::take).unwrap_or_default();
        let Some(item) = self.queue.pop(0) else {
            self.idle.add(server);
            return None;
        };
        self.idle.remove(server);
        let own = self.resumed.as_mut().and_then(VecDeque::pop_front);
        Some(Assigned { item, quantum: self.quantum, overhead: own.unwrap_or(owed) })
    }

    fn requeue(&mut self, _now: Instant, server: ServerId, item: I, _used: Nanos, _drops: &mut dyn Drops<I>) {
        let costs = self.costs_always || self.queue.len(0) > 0;
        let cost = if costs { self.cost } else { Nanos::new(0) };
        match &mut self.resumed {
            Some(resumed) => resumed.push_back(cost),
            None => self.owed.get_mut(server.0 as usize).into_iter().for_each(|owed| *owed = cost),
        }
        self.queue.push(0, item);
    }

    fn backlog(&self) -> Backlog<Nanos> {
        self.queue.backlog()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pool::machine::{Arrival, made, requests, run};
    use crate::pool::testing::{Request, refused, site_of};

    fn preemptive(spec: &str, servers: u32) -> Preemptive<Request> {
        let site = site_of(servers, &[(1.0, 10)]);
        made(&INFO, spec, |arguments| Preemptive::from_spec(arguments, &site))
    }

    fn request(at: u64, service: u64) -> Arrival {
        Arrival { at, class: 0, flow: 0, service }
    }

    #[test]
    fn a_short_request_waits_for_quanta_of_long_ones() {
        let arrivals = [request(0, 25), request(0, 20), request(1, 5)];
        let run = run(&mut preemptive("preemptive:quantum=10ns,cost=2ns", 1), 1, &arrivals);
        assert_eq!(run.order(), [0, 1, 2, 0, 1, 0]);
        // 10 served, 2 to switch, 10 served, 2 to switch, 5 served; who is done costs nothing, and so at 29 and at 51.
        assert_eq!(run.spans_of(2), [(0, 24, 29)]);
        assert_eq!(run.spans_of(0), [(0, 0, 10), (0, 29, 39), (0, 51, 56)]);
        assert_eq!(run.spans_of(1), [(0, 12, 22), (0, 41, 51)]);
    }

    #[test]
    fn an_interrupted_request_pays_where_it_is_to() {
        let arrivals = [request(0, 25), request(0, 20), request(1, 5)];
        let spec = "preemptive:quantum=10ns,cost=2ns,before=resumed";
        let run = run(&mut preemptive(spec, 1), 1, &arrivals);
        assert_eq!(run.order(), [0, 1, 2, 0, 1, 0]);
        // Nobody waits for a switch who was not interrupted; who was pays when it goes on.
        assert_eq!(run.spans_of(2), [(0, 20, 25)]);
        assert_eq!(run.spans_of(0), [(0, 0, 10), (0, 27, 37), (0, 51, 56)]);
        assert_eq!(run.spans_of(1), [(0, 10, 20), (0, 39, 49)]);
    }

    #[test]
    fn a_request_that_nobody_waits_behind_pays_or_not() {
        let costs = |spec: &str| {
            let run = run(&mut preemptive(spec, 2), 2, &[request(0, 25), request(0, 9)]);
            run.pieces.iter().map(|piece| piece.overhead).sum::<u64>()
        };
        assert_eq!(costs("preemptive:quantum=10ns,cost=2ns"), 4);
        assert_eq!(costs("preemptive:quantum=10ns,cost=2ns,when=waiting"), 0);
    }

    #[test]
    fn a_preempted_request_is_taken_back_beyond_the_bound() {
        let site = Site { queue: Some(1), ..site_of(1, &[(1.0, 10)]) };
        let spec = "preemptive:quantum=10ns,cost=0ns";
        let mut pool = made(&INFO, spec, |arguments| Preemptive::from_spec(arguments, &site));
        let run = run(&mut pool, 1, &[request(0, 15), request(1, 15), request(2, 5), request(9, 5)]);
        assert_eq!(run.dropped, [2, 3]);
        assert_eq!(run.order(), [0, 1, 0, 1]);
    }

    #[test]
    fn spans_are_refused_with_bound() {
        let site = site_of(1, &[(1.0, 10)]);
        assert_eq!(
            refused("preemptive:0ns", &site),
            "`preemptive`: quantum is `0ns`, must be a span from 1ns to 1s"
        );
        assert_eq!(
            refused("preemptive:5us,cost=2s", &site),
            "`preemptive`: cost is `2s`, must be a span from 0ns to 1s"
        );
    }

    proptest! {
        #[test]
        fn everybody_is_served_in_whole(
            servers in 1_u32..6, arrivals in requests(1), waiting: bool, resumed: bool,
        ) {
            let when = if waiting { "waiting" } else { "always" };
            let before = if resumed { "resumed" } else { "next" };
            let spec = format!("preemptive(quantum=7ns,cost=1ns,when={when},before={before})");
            let run = run(&mut preemptive(&spec, servers), servers, &arrivals);
            prop_assert!(!run.idled_over_backlog);
            for (id, request) in (0..).zip(&arrivals) {
                let served = run.spans_of(id).iter().map(|(_, from, to)| to - from).sum::<u64>();
                prop_assert_eq!(served, request.service);
                prop_assert_eq!(run.spans_of(id).len() as u64, request.service.div_ceil(7));
            }
        }
    }
}
