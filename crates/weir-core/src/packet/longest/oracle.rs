//! The same turns and evictions over lists that are searched, for the tests of the disciplines that share them.

use std::collections::VecDeque;

use crate::conformance::{Sample, backlog_of};
use crate::discipline::{Backlog, Gate};
use crate::units::Cost;

/// One queue, known by a key.
struct Queue<I> {
    key: u64,
    packets: VecDeque<I>,
    allowance: i128,
    /// When it had another length last.
    changed: u64,
}

/// The queues that have packets, in the order of the round.
pub(in crate::packet) struct Queues<I> {
    round: VecDeque<Queue<I>>,
    quantum: i128,
    changes: u64,
}

impl<I: Sample> Queues<I> {
    pub(in crate::packet) fn new(quantum: u64) -> Self {
        Self { round: VecDeque::new(), quantum: quantum.into(), changes: 0 }
    }

    /// The keys of the queues that have packets.
    pub(in crate::packet) fn keys(&self) -> impl Iterator<Item = u64> {
        self.round.iter().map(|queue| queue.key)
    }

    /// What waits in a queue.
    pub(in crate::packet) fn packets(&self, key: u64) -> impl Iterator<Item = &I> {
        self.round.iter().filter(move |queue| queue.key == key).flat_map(|queue| &queue.packets)
    }

    pub(in crate::packet) fn append(&mut self, key: u64, item: I) {
        self.changes += 1;
        let changed = self.changes;
        if let Some(queue) = self.round.iter_mut().find(|queue| queue.key == key) {
            queue.packets.push_back(item);
            queue.changed = changed;
        } else {
            let packets = VecDeque::from([item]);
            self.round.push_back(Queue { key, packets, allowance: self.quantum, changed });
        }
    }

    /// A queue's head, in exchange for a packet at its end.
    pub(in crate::packet) fn exchange(&mut self, key: u64, item: I) -> Option<I> {
        let queue = self.round.iter_mut().find(|queue| queue.key == key)?;
        queue.packets.push_back(item);
        queue.packets.pop_front()
    }

    /// A packet of the longest queue.
    pub(in crate::packet) fn take_from_longest(&mut self, head: bool) -> Option<I> {
        let places = 0..self.round.len();
        let order = |&at: &usize| (self.round[at].packets.len(), self.round[at].changed);
        let longest = places.max_by_key(order)?;
        let at = if self.round[longest].packets.len() == 1 { 0 } else { longest };
        let queue = &mut self.round[at];
        let item = if head { queue.packets.pop_front() } else { queue.packets.pop_back() };
        self.changed(at);
        item
    }

    /// The packet whose turn it is.
    pub(in crate::packet) fn next(&mut self, gate: &dyn Gate<I>) -> Option<I> {
        let mut held = 0;
        loop {
            let queue = self.round.front_mut()?;
            let head = queue.packets.front()?;
            if !gate.permits(head) {
                held += 1;
            } else if queue.allowance <= 0 {
                queue.allowance += self.quantum;
                held = 0;
            } else {
                queue.allowance -= i128::from(head.cost().count());
                let item = queue.packets.pop_front();
                self.changed(0);
                return item;
            }
            self.round.rotate_left(1);
            if held == self.round.len() {
                return None;
            }
        }
    }

    /// All packets, queue by queue.
    pub(in crate::packet) fn gather(&mut self) -> Vec<I> {
        self.round.drain(..).flat_map(|queue| queue.packets).collect()
    }

    pub(in crate::packet) fn backlog(&self) -> Backlog<I::Cost> {
        backlog_of(self.round.iter().flat_map(|queue| &queue.packets))
    }

    /// The queue at this place has another length.
    fn changed(&mut self, at: usize) {
        self.changes += 1;
        self.round[at].changed = self.changes;
        if self.round[at].packets.is_empty() {
            self.round.remove(at);
        }
    }
}
