//! Bounded queues at the servers, the rest in one queue: a request is sent ahead to the server with the fewest, if that
//! has fewer than `depth`.
//!
//! A server finds its next request at hand, while only few requests are bound to a server before it is free. With a
//! depth of 1 it is one central queue. With more, a server may be idle while a request waits behind another. With a
//! quantum, who is not done after it goes to the end of the central queue, which costs the server some time (Concord).
//!
//! | | |
//! |-|-|
//! | Source | Kogias, Prekas, Ghosn, Fietz and Bugnion, *R2P2: making RPCs first-class datacenter citizens*, USENIX ATC 2019 (join bounded shortest queue); Ibanez et al., *The nanoPU: a nanosecond network stack for datacenters*, OSDI 2021; Iyer, Unal, Kogias and Candea, *Achieving microsecond-scale tail latency efficiently with approximate optimal scheduling* (Concord), SOSP 2023 |
//! | Needs to know | how many requests each server has |
//! | Work per request | O(depth * servers / 64) |
//! | Units | `depth`: requests, the one that is served counts; `quantum`, `cost`: nanoseconds |
//! | Memory | one slot per waiting request, `depth` bits per server; grows to the largest backlog and stays |
//! | Departs from the source | of servers with equally few requests the lowest number is chosen; that a request is under way to a server takes no time. Concord's dispatcher also serves requests itself where it has nothing else to do |

use super::queues::{Queues, shared_bound};
use super::server_set::ServerSet;
use super::terms::{A_SECOND, COST};
use super::{Assigned, Placed, Pool, ReceiverId, ServerId, Site, WHOLE};
use crate::discipline::{Backlog, DropReason, Drops};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Cost, Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "jbsq",
    kind: Kind::Pool,
    title: "join the bounded shortest queue",
    rule: "sends a request to the server with the fewest requests if that has fewer than `depth`; the \
        others wait in one queue",
    source: "Kogias et al., R2P2, USENIX ATC 2019; Ibanez et al., The nanoPU, OSDI 2021",
    work: "O(depth * servers / 64)",
    parameters: &[
        Parameter::new("depth", Takes::Whole(1..=64), "2")
            .meaning("how many requests a server has at most, including the one that it serves"),
        Parameter::new("quantum", Takes::Span(Nanos::ONE..=A_SECOND), "none")
            .or(&["none"])
            .meaning("how long a request is served at a time; `none`: until it is done"),
        COST,
    ],
    example: "jbsq:depth=2",
};

/// Join the bounded shortest queue.
pub struct Jbsq<I: Item> {
    central: Queues<I>,
    own: Queues<I>,
    /// How many requests each server has.
    lengths: Vec<u32>,
    /// By number of requests below `depth`, the servers that have as many.
    shorter: Vec<ServerSet>,
    depth: u32,
    quantum: Nanos,
    cost: Nanos,
    /// What each server pays before its next request.
    owed: Vec<Nanos>,
}

impl<I: Item<Cost = Nanos>> Jbsq<I> {
    pub(crate) fn from_spec(arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        let depth: u32 = arguments.whole("depth")?;
        let mut shorter = vec![ServerSet::none(site.servers); depth as usize];
        shorter[0] = ServerSet::all(site.servers);
        let quantum = match arguments.word("quantum")? {
            Some(_) => WHOLE,
            None => arguments.span("quantum")?,
        };
        Ok(Self {
            central: Queues::new(1, shared_bound(site)),
            own: Queues::new(site.servers, u64::MAX),
            lengths: vec![0; site.servers as usize],
            shorter,
            depth,
            quantum,
            cost: arguments.span(COST.name)?,
            owed: vec![Nanos::ZERO; site.servers as usize],
        })
    }

    /// The server with the fewest requests, if it has fewer than the depth.
    fn shortest(&self) -> Option<ServerId> {
        self.shorter.iter().find_map(ServerSet::lowest)
    }

    fn set_length(&mut self, server: ServerId, length: u32) {
        let before = core::mem::replace(&mut self.lengths[server.0 as usize], length);
        if let Some(set) = self.shorter.get_mut(before as usize) {
            set.remove(server);
        }
        if let Some(set) = self.shorter.get_mut(length as usize) {
            set.add(server);
        }
    }

    fn send(&mut self, server: ServerId, item: I) {
        self.own.push(server.0, item);
        self.set_length(server, self.lengths[server.0 as usize] + 1);
    }

    /// A request has left the server, which makes room for one.
    fn left(&mut self, server: ServerId) {
        let Some(&length) = self.lengths.get(server.0 as usize) else { return };
        self.set_length(server, length.saturating_sub(1));
        while self.lengths[server.0 as usize] < self.depth
            && let Some(item) = self.central.pop(0)
        {
            self.send(server, item);
        }
    }

    fn waiting(&self) -> u64 {
        self.central.backlog().items + self.own.backlog().items
    }
}

impl<I: Item<Cost = Nanos>> Pool<I> for Jbsq<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _receiver: ReceiverId, drops: &mut dyn Drops<I>) -> Placed {
        let idle = self.shorter[0].lowest();
        if let Some(server) = idle {
            self.send(server, item);
            return Placed::Ask(server);
        }
        if self.waiting() >= self.central.bound() {
            drops.dropped(item, DropReason::QueueFull);
        } else if let Some(server) = self.shortest() {
            self.send(server, item);
        } else {
            self.central.push(0, item);
        }
        Placed::Queued
    }

    fn dequeue(&mut self, _now: Instant, server: ServerId, _drops: &mut dyn Drops<I>) -> Option<Assigned<I>> {
        let item = self.own.pop(server.0)?;
        let overhead = core::mem::take(&mut self.owed[server.0 as usize]);
        Some(Assigned { item, quantum: self.quantum, overhead })
    }

    fn requeue(&mut self, _now: Instant, server: ServerId, item: I, _used: Nanos, _drops: &mut dyn Drops<I>) {
        if let Some(owed) = self.owed.get_mut(server.0 as usize) {
            *owed = self.cost;
        }
        self.central.push(0, item);
        self.left(server);
    }

    fn finish(&mut self, _now: Instant, server: ServerId, _item: &I, _used: Nanos) {
        self.left(server);
    }

    fn backlog(&self) -> Backlog<Nanos> {
        let (central, own) = (self.central.backlog(), self.own.backlog());
        Backlog { items: central.items + own.items, cost: central.cost.plus(own.cost) }
    }

    fn length(&self, server: ServerId) -> Option<u32> {
        self.lengths.get(server.0 as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pool::machine::{Arrival, made, requests, run};
    use crate::pool::testing::{Request, request as item, site_of};

    fn jbsq(depth: u32, servers: u32, queue: Option<u32>) -> Jbsq<Request> {
        let site = Site { queue, ..site_of(servers, &[(1.0, 10)]) };
        made(&INFO, &format!("jbsq:{depth}"), |arguments| Jbsq::from_spec(arguments, &site))
    }

    fn request(at: u64, service: u64) -> Arrival {
        Arrival { at, class: 0, flow: 0, service }
    }

    #[test]
    fn the_shortest_queue_is_joined_and_the_rest_waits_for_room() {
        let arrivals = [100, 10, 10, 10, 10, 10].map(|service| request(0, service));
        let run = run(&mut jbsq(2, 2, None), 2, &arrivals);
        // 2 is sent behind 0 and waits for it, though server 1 is done with all others long before.
        assert_eq!(run.spans_of(2), [(0, 100, 110)]);
        let (at, on) = (|id| run.spans_of(id)[0].1, |id| run.spans_of(id)[0].0);
        assert_eq!([1, 3, 4, 5].map(at), [0, 10, 20, 30]);
        assert_eq!([1, 3, 4, 5].map(on), [1; 4]);
        assert!(run.idled_over_backlog);
    }

    #[test]
    fn all_that_waits_is_bounded_together() {
        let run = run(&mut jbsq(2, 2, Some(2)), 2, &[request(0, 10); 9]);
        // Two are served, two wait at the servers, two in the central queue.
        assert_eq!(run.dropped, [6, 7, 8]);
        assert_eq!(run.order().len(), 6);
    }

    #[test]
    fn with_a_quantum_who_is_not_done_waits_behind_all_others() {
        let site = site_of(1, &[(1.0, 10)]);
        let spec = "jbsq(depth=2,quantum=10ns,cost=2ns)";
        let mut pool = made(&INFO, spec, |arguments| Jbsq::from_spec(arguments, &site));
        let run = run(&mut pool, 1, &[request(0, 25), request(0, 5), request(0, 5)]);
        assert_eq!(run.order(), [0, 1, 2, 0, 0]);
        // Its second quantum begins after the first switch and the two others, its third after another switch.
        assert_eq!(run.spans_of(0), [(0, 0, 10), (0, 22, 32), (0, 34, 39)]);
    }

    proptest! {
        #[test]
        fn a_depth_of_one_is_a_central_queue(servers in 1_u32..6, arrivals in requests(1)) {
            let run = run(&mut jbsq(1, servers, None), servers, &arrivals);
            prop_assert!(!run.idled_over_backlog);
            prop_assert_eq!(run.order(), (0..arrivals.len() as u32).collect::<Vec<_>>());
        }

        #[test]
        fn no_server_has_more_than_its_depth(depth in 1_u32..5, servers in 1_u32..6, arrivals in requests(1)) {
            // Nobody leaves: what is sent ahead is counted by the discipline itself.
            let mut pool = jbsq(depth, servers, None);
            for (id, request) in (0..).zip(&arrivals) {
                let item = item(id, 0, request.service);
                let _ = pool.enqueue(Instant::ZERO, item, ReceiverId(0), &mut Vec::new());
            }
            let lengths: Vec<u32> = (0..servers).filter_map(|server| pool.length(ServerId(server))).collect();
            let sent = (servers * depth).min(arrivals.len() as u32);
            prop_assert_eq!(lengths.iter().sum::<u32>(), sent);
            prop_assert!(lengths.iter().max() <= lengths.iter().min().map(|least| least + 1).as_ref());
        }
    }
}
