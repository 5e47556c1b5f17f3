//! What waits in all queues of all tins: the packets, how much room each queue takes, and which takes the most.
//!
//! A packet takes as much room as its size, and 64 bytes at least, so that many small ones are bounded too.

use super::fattest::Fattest;
use crate::discipline::Backlog;
use crate::item::Item;
use crate::packet::slots::{Chain, Slots};
use crate::units::{Bytes, Instant};

/// The room of the smallest packet.
const LEAST: u64 = 64;

/// The room that a packet takes.
pub(super) fn room<I: Item<Cost = Bytes>>(item: &I) -> u64 {
    item.cost().get().max(LEAST)
}

/// The queues, by number.
#[derive(Clone, Debug)]
pub(super) struct Store<I: Item> {
    slots: Slots<(I, Instant)>,
    queues: Vec<Chain>,
    fattest: Fattest,
    used: u64,
    backlog: Backlog<I::Cost>,
}

impl<I: Item<Cost = Bytes>> Store<I> {
    /// Makes `queues` empty queues.
    pub(super) fn new(queues: usize) -> Self {
        Self {
            slots: Slots::default(),
            queues: vec![Chain::default(); queues],
            fattest: Fattest::new(queues),
            used: 0,
            backlog: Backlog::default(),
        }
    }

    /// What waits.
    pub(super) fn backlog(&self) -> Backlog<Bytes> {
        self.backlog
    }

    /// The room that all queues take.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// The queue that takes the most.
    pub(super) fn fattest(&self) -> usize {
        self.fattest.first()
    }

    /// Whether a queue has nothing.
    #[inline]
    pub(super) fn is_empty(&self, queue: usize) -> bool {
        self.queues[queue].len() == 0
    }

    /// The first packet of a queue.
    #[inline]
    pub(super) fn head(&self, queue: usize) -> Option<&I> {
        self.slots.head(&self.queues[queue]).map(|(item, _)| item)
    }

    /// Puts a packet at the end of a queue.
    #[inline]
    pub(super) fn append(&mut self, queue: usize, item: I, now: Instant) {
        let room = room(&item);
        self.used += room;
        self.fattest.grow(queue, room);
        self.backlog.add(item.cost());
        self.slots.append(&mut self.queues[queue], (item, now));
    }

    /// Takes the first packet of a queue, with the moment it came.
    #[inline]
    pub(super) fn take(&mut self, queue: usize) -> Option<(I, Instant)> {
        let (item, since) = self.slots.take(&mut self.queues[queue])?;
        let room = room(&item);
        self.used -= room;
        self.fattest.shrink(queue, room);
        self.backlog.remove(item.cost());
        Some((item, since))
    }
}
