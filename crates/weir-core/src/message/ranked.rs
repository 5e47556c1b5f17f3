//! Items in a binary heap, smallest rank first.

use core::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::discipline::Gate;

/// A place in the order of service: the key, and among equal keys the number of the insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank<K> {
    pub(super) key: K,
    pub(super) inserted: u64,
}

#[derive(Clone, Debug)]
struct Entry<K, I> {
    rank: Rank<K>,
    item: I,
}

// Turned round: the standard heap yields its largest entry, and the smallest rank comes first.
impl<K: Ord, I> Ord for Entry<K, I> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.rank.cmp(&self.rank)
    }
}

impl<K: Ord, I> PartialOrd for Entry<K, I> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: PartialEq, I> PartialEq for Entry<K, I> {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl<K: Eq, I> Eq for Entry<K, I> {}

/// Waiting items by rank; O(log n), no allocation below the largest number held so far.
#[derive(Clone, Debug)]
pub(super) struct Ranked<K, I> {
    heap: BinaryHeap<Entry<K, I>>,
    inserted: u64,
}

impl<K: Ord, I> Default for Ranked<K, I> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), inserted: 0 }
    }
}

impl<K: Copy + Ord, I> Ranked<K, I> {
    /// The rank behind all present and former items of this key.
    pub(super) fn last(&mut self, key: K) -> Rank<K> {
        self.inserted += 1;
        Rank { key, inserted: self.inserted }
    }

    pub(super) fn insert(&mut self, rank: Rank<K>, item: I) {
        self.heap.push(Entry { rank, item });
    }

    /// The first item, if the gate permits it.
    pub(super) fn take(&mut self, gate: &dyn Gate<I>) -> Option<(Rank<K>, I)> {
        if !gate.permits(&self.heap.peek()?.item) {
            return None;
        }
        self.heap.pop().map(|entry| (entry.rank, entry.item))
    }

    /// Removes the items that are not to be kept.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&I) -> bool) {
        self.heap.retain(|entry| keep(&entry.item));
    }

    /// The smallest key.
    pub(super) fn least(&self) -> Option<K> {
        self.heap.peek().map(|entry| entry.rank.key)
    }
}
