//! What waits, in queues of which each is first in, first out: one for all, one a class, or one a server.
//!
//! | | |
//! |-|-|
//! | Work | O(1) for each request |
//! | Units | the bound: requests that wait in one queue |
//! | Memory | one slot per waiting request; grows to the largest backlog of each queue and stays |

use std::collections::VecDeque;

use super::server_set::ServerSet;
use super::{ServerId, Site};
use crate::discipline::{Backlog, DropReason, Drops};
use crate::item::Item;
use crate::units::Nanos;

/// How many requests may wait in a queue that all servers share: as many as in a queue for each of them.
pub(super) fn shared_bound(site: &Site) -> u64 {
    site.queue.map_or(u64::MAX, |each| u64::from(each) * u64::from(site.servers))
}

/// How many requests may wait in the queue of one server.
pub(super) fn own_bound(site: &Site) -> u64 {
    site.queue.map_or(u64::MAX, u64::from)
}

/// Queues of requests.
#[derive(Clone, Debug)]
pub(super) struct Queues<I: Item> {
    queues: Vec<VecDeque<I>>,
    /// Those that hold something.
    filled: ServerSet,
    backlog: Backlog<Nanos>,
    /// How many may wait in each.
    bound: u64,
}

impl<I: Item<Cost = Nanos>> Queues<I> {
    /// Makes `count` queues, for `bound` requests each.
    pub(super) fn new(count: u32, bound: u64) -> Self {
        let queues = (0..count).map(|_| VecDeque::new()).collect();
        Self { queues, filled: ServerSet::none(count), backlog: Backlog::default(), bound }
    }

    /// How many requests wait in a queue.
    #[inline]
    pub(super) fn len(&self, queue: u32) -> usize {
        self.queues.get(queue as usize).map_or(0, VecDeque::len)
    }

    /// Adds a newcomer at the end if there is room, or if it is `taken` out again at once by an idle server. Otherwise it
    /// is dropped, and the answer is no.
    #[inline]
    pub(super) fn offer(&mut self, queue: u32, item: I, taken: bool, drops: &mut dyn Drops<I>) -> bool {
        let admitted = taken || (self.len(queue) as u64) < self.bound;
        if admitted {
            self.push(queue, item);
        } else {
            drops.dropped(item, DropReason::QueueFull);
        }
        admitted
    }

    /// Adds a request at the end, however many there are.
    #[inline]
    pub(super) fn push(&mut self, queue: u32, item: I) {
        self.backlog.add(item.cost());
        self.queues[queue as usize].push_back(item);
        self.filled.add(ServerId(queue));
    }

    /// Takes the first request out.
    #[inline]
    pub(super) fn pop(&mut self, queue: u32) -> Option<I> {
        let waiting = self.queues.get_mut(queue as usize)?;
        let item = waiting.pop_front()?;
        if waiting.is_empty() {
            self.filled.remove(ServerId(queue));
        }
        self.backlog.remove(item.cost());
        Some(item)
    }

    /// The queues that hold something.
    #[inline]
    pub(super) fn filled(&self) -> &ServerSet {
        &self.filled
    }

    /// What waits in all of them.
    #[inline]
    pub(super) fn backlog(&self) -> Backlog<Nanos> {
        self.backlog
    }

    /// How much may wait in each.
    #[inline]
    pub(super) fn bound(&self) -> u64 {
        self.bound
    }
}
