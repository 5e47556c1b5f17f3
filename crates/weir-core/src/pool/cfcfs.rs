//! Centralised first come, first served: one queue for all servers.
//!
//! Whoever has waited longest goes to the server that is free first. Of several idle servers the one of the lowest
//! number takes a newcomer.
//!
//! | | |
//! |-|-|
//! | Source | the G/G/k queue; as `c-FCFS` in Prekas, Kogias and Bugnion, *ZygOS*, SOSP '17, section 2 |
//! | Needs to know | which servers are idle |
//! | Work per request | O(1), and O(servers / 64) to find an idle one |
//! | Units | none of its own; the one queue holds as many as queues of all servers would |
//! | Memory | one slot per waiting request; grows to the largest backlog and stays |
//! | Departs from the source | no |

use std::collections::VecDeque;

use super::queues::shared_bound;
use super::server_set::ServerSet;
use super::{Assigned, Placed, Pool, ReceiverId, ServerId, Site, WHOLE};
use crate::discipline::{Backlog, DropReason, Drops};
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos};

/// What the listings say.
pub const INFO: Info = Info {
    name: "cfcfs",
    kind: Kind::Pool,
    title: "centralised first come, first served",
    rule: "one queue for all servers: the request that has waited longest goes to the next free server",
    source: "the G/G/k queue; Prekas, Kogias and Bugnion, ZygOS, SOSP '17, section 2",
    work: "O(1)",
    parameters: &[],
    example: "cfcfs",
};

/// One queue for all servers.
#[derive(Clone, Debug)]
pub struct Cfcfs<I> {
    queue: VecDeque<I>,
    bound: u64,
    backlog: Backlog<Nanos>,
    idle: ServerSet,
}

impl<I: Item<Cost = Nanos>> Cfcfs<I> {
    /// An empty queue, all servers idle.
    #[must_use]
    pub fn new(site: &Site) -> Self {
        Self {
            queue: VecDeque::new(),
            bound: shared_bound(site),
            backlog: Backlog::default(),
            idle: ServerSet::all(site.servers),
        }
    }

    /// As a spec names it; it has no parameters.
    ///
    /// # Errors
    /// None: a spec with arguments was refused before.
    pub fn from_spec(_arguments: &Arguments<'_>, site: &Site) -> Result<Self, SpecError> {
        Ok(Self::new(site))
    }
}

impl<I: Item<Cost = Nanos>> Pool<I> for Cfcfs<I> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, _receiver: ReceiverId, drops: &mut dyn Drops<I>) -> Placed {
        let idle = self.idle.lowest();
        // Who goes to an idle server at once does not wait.
        if self.backlog.items >= self.bound && !(idle.is_some() && self.backlog.is_empty()) {
            drops.dropped(item, DropReason::QueueFull);
            return Placed::Queued;
        }
        self.backlog.add(item.cost());
        self.queue.push_back(item);
        idle.map_or(Placed::Queued, Placed::Ask)
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, server: ServerId, _drops: &mut dyn Drops<I>) -> Option<Assigned<I>> {
        let Some(item) = self.queue.pop_front() else {
            self.idle.add(server);
            return None;
        };
        self.backlog.remove(item.cost());
        self.idle.remove(server);
        Some(Assigned { item, quantum: WHOLE, overhead: Nanos::new(0) })
    }

    /// Nobody takes its place: it was admitted, and is the one that has waited longest.
    #[inline]
    fn requeue(
        &mut self,
        _now: Instant,
        _server: ServerId,
        item: I,
        _used: Nanos,
        _drops: &mut dyn Drops<I>,
    ) {
        self.backlog.add(item.cost());
        self.queue.push_front(item);
    }

    #[inline]
    fn backlog(&self) -> Backlog<Nanos> {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::testing::{pool_named, request, site};

    #[test]
    fn the_lowest_idle_server_takes_a_newcomer_and_the_free_one_the_oldest() {
        let mut pool = pool_named("cfcfs", &site(3));
        assert_eq!(
            [0, 1, 2, 3, 4].map(|id| pool.offer(0, request(id, 0, 100))),
            [Some(0), Some(1), Some(2), None, None]
        );
        assert_eq!(pool.serving(), [Some(0), Some(1), Some(2)]);
        pool.finish(100, 1);
        pool.finish(100, 0);
        pool.finish(100, 2);
        assert_eq!(pool.serving(), [Some(4), Some(3), None]);
        pool.finish(200, 1);
        assert_eq!(pool.offer(200, request(5, 0, 100)), Some(1));
    }

    #[test]
    fn the_bound_counts_those_that_wait() {
        let mut pool = pool_named("cfcfs", &Site { queue: Some(1), ..site(2) });
        pool.offer_all(6);
        // Two are served, one waits for each server.
        assert_eq!(pool.dropped(), [4, 5]);
        let mut lossy = pool_named("cfcfs", &Site { queue: Some(0), ..site(2) });
        lossy.offer_all(4);
        assert_eq!((lossy.serving(), lossy.dropped()), (vec![Some(0), Some(1)], vec![2, 3]));
    }
}
