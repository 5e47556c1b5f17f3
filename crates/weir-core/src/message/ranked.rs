//! Items in a binary heap, smallest rank first.

use core::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::discipline::Gate;

/// A place in the order of service: the key, and among equal keys the number of the insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) key: u64,
    pub(super) inserted: u64,
}

#[derive(Clone, Debug)]
struct Entry<I> {
    rank: Rank,
    item: I,
}

// Turned round: the standard heap yields its largest entry, and the smallest rank comes first.
impl<I> Ord for Entry<I> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.rank.cmp(&self.rank)
    }
}

impl<I> PartialOrd for Entry<I> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<I> PartialEq for Entry<I> {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl<I> Eq for Entry<I> {}

/// Waiting items by rank; O(log n), no allocation below the largest number held so far.
#[derive(Clone, Debug)]
pub(super) struct Ranked<I> {
    heap: BinaryHeap<Entry<I>>,
    inserted: u64,
}

impl<I> Default for Ranked<I> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), inserted: 0 }
    }
}

impl<I> Ranked<I> {
    /// The rank behind all present and former items of this key.
    pub(super) fn last(&mut self, key: u64) -> Rank {
        self.inserted += 1;
        Rank { key, inserted: self.inserted }
    }

    pub(super) fn insert(&mut self, rank: Rank, item: I) {
        self.heap.push(Entry { rank, item });
    }

    /// The first item, if the gate permits it.
    pub(super) fn take(&mut self, gate: &dyn Gate<I>) -> Option<(Rank, I)> {
        if !gate.permits(&self.heap.peek()?.item) {
            return None;
        }
        self.heap.pop().map(|entry| (entry.rank, entry.item))
    }

    /// The smallest key.
    pub(super) fn least(&self) -> Option<u64> {
        self.heap.peek().map(|entry| entry.rank.key)
    }
}
