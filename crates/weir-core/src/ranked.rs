//! What waits in the order of a rank: first-in-first-out queues of small lengths, and sorted runs.
//!
//! A rank is a key and, among equal keys, the number of the insertion. Items of one small length are
//! mostly inserted in the order of their ranks (under shortest-first always, under alpha as long as they
//! share one alpha), so each length below [`LENGTHS`] has a first-in-first-out queue, and a heap holds the
//! front of each queue only. Items of other lengths, and those whose rank falls before the back of their
//! queue, are loose: they lie in a heap of their own. The order of service is that of the ranks throughout.
//!
//! A heap of 10^6 entries misses the cache at each of its lower levels. So the loose items, when they
//! are 1024, are sorted into a run, which is read from its end and whose front joins the other fronts;
//! what a run has left when few are left becomes loose again, so runs are never nearly empty.
//!
//! | | |
//! |-|-|
//! | Source | Sanders, *Fast priority queues for cached memory*, 2000 (sorted runs and a small heap), simplified |
//! | Work per item | small lengths: O(1), there are at most [`LENGTHS`] fronts; others: O(log n), amortised over a run |
//! | Memory | one rank and one item per entry, in runs up to eight times that; grows to the largest backlog and stays |

use core::cmp::Reverse;
use std::collections::VecDeque;

use crate::heap::{Heap, Order};
use crate::priority::Key;

/// Lengths below this have a queue of their own.
pub(crate) const LENGTHS: usize = 64;

/// How many loose items make a run.
const RUN: usize = 1024;
/// A run with no more than this becomes loose.
const FEW: usize = RUN / 8;

/// Bits of a rank that number the insertion; the key has the other 80.
const NUMBER_BITS: u32 = 48;

/// A place in the order of service: a key and, among equal keys, the number of the insertion.
///
/// Both lie in one word of 128 bits, so that a comparison is one subtraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(u128);

impl Rank {
    /// The largest number of an insertion; [`Numbers`] stays below it.
    pub(crate) const MAX_NUMBER: u64 = (1 << NUMBER_BITS) - 1;

    /// The rank of insertion `number` (at most [`Rank::MAX_NUMBER`]) with `key` (at most [`Key::MAX`]).
    #[must_use]
    #[inline]
    pub(crate) fn new(key: Key, number: u64) -> Self {
        debug_assert!(key <= Key::MAX && number <= Self::MAX_NUMBER, "{key:?}, {number}");
        Self(key.0 << NUMBER_BITS | u128::from(number))
    }

    /// Its key.
    #[must_use]
    #[inline]
    pub(crate) const fn key(self) -> Key {
        Key(self.0 >> NUMBER_BITS)
    }

    /// The number of its insertion.
    #[must_use]
    #[inline]
    pub(crate) const fn number(self) -> u64 {
        self.0 as u64 & Self::MAX_NUMBER
    }
}

impl Order for Rank {
    /// Has the largest number, which no insertion has.
    const LAST: Self = Self(u128::MAX);
}

/// Items in the order of their ranks.
#[derive(Clone, Debug)]
pub(crate) struct Ranked<R, T> {
    /// The fronts: handles below [`LENGTHS`] are of a queue of that length, the others of a run.
    fronts: Heap<R, u32>,
    lengths: Vec<VecDeque<(R, T)>>,
    /// Each from its largest rank to its least.
    runs: Vec<Vec<(R, T)>>,
    spent: Vec<u32>,
    loose: Loose<R, T>,
}

/// The loose items: a heap of the slots in which they lie.
#[derive(Clone, Debug)]
struct Loose<R, T> {
    order: Heap<R, u32>,
    slots: Vec<Option<T>>,
    empty: Vec<u32>,
}

impl<R: Order, T> Loose<R, T> {
    #[inline]
    fn push(&mut self, rank: R, item: T) {
        let slot = self.empty.pop().unwrap_or_else(|| {
            self.slots.push(None);
            // There are few: beyond `RUN` they become a run.
            (self.slots.len() - 1) as u32
        });
        self.slots[slot as usize] = Some(item);
        self.order.push(rank, slot);
    }

    #[inline]
    fn pop(&mut self) -> Option<(R, T)> {
        let (rank, slot) = self.order.pop()?;
        self.empty.push(slot);
        self.slots[slot as usize].take().map(|item| (rank, item))
    }

    fn drain_into(&mut self, run: &mut Vec<(R, T)>) {
        self.order.drain(|rank, slot| run.extend(self.slots[slot as usize].take().map(|item| (rank, item))));
        self.slots.clear();
        self.empty.clear();
    }
}

impl<R: Order, T> Default for Ranked<R, T> {
    fn default() -> Self {
        let lengths = (0..LENGTHS).map(|_| VecDeque::new()).collect();
        let loose = Loose { order: Heap::new(), slots: Vec::new(), empty: Vec::new() };
        Self { fronts: Heap::new(), lengths, runs: Vec::new(), spent: Vec::new(), loose }
    }
}

impl<R: Order, T> Ranked<R, T> {
    /// Inserts an item of `length`; no two ranks present may be equal.
    #[inline]
    pub(crate) fn push(&mut self, rank: R, length: u64, item: T) {
        let queue = usize::try_from(length).ok().and_then(|length| self.lengths.get_mut(length));
        let Some(queue) = queue else { return self.push_loose(rank, item) };
        match queue.back() {
            Some((last, _)) if rank < *last => self.push_loose(rank, item),
            Some(_) => queue.push_back((rank, item)),
            None => {
                queue.push_back((rank, item));
                self.fronts.push(rank, length as u32);
            }
        }
    }

    #[inline]
    fn push_loose(&mut self, rank: R, item: T) {
        self.loose.push(rank, item);
        if self.loose.order.len() >= RUN {
            self.make_run();
        }
    }

    /// Makes a run of all loose items.
    #[cold]
    fn make_run(&mut self) {
        let run = self.spent.pop().map_or(self.runs.len(), |run| run as usize);
        if run == self.runs.len() {
            self.runs.push(Vec::with_capacity(RUN));
        }
        self.loose.drain_into(&mut self.runs[run]);
        self.runs[run].sort_unstable_by_key(|(rank, _)| Reverse(*rank));
        if let Some((rank, _)) = self.runs[run].last() {
            self.fronts.push(*rank, (LENGTHS + run) as u32);
        }
    }

    /// Whether the least rank is that of a loose item.
    #[inline]
    fn is_loose(&self) -> bool {
        match (self.loose.order.peek(), self.fronts.peek()) {
            (Some((loose, _)), Some((front, _))) => loose < front,
            (loose, _) => loose.is_some(),
        }
    }

    /// The item of the least rank.
    #[must_use]
    #[inline]
    pub(crate) fn peek(&self) -> Option<(R, &T)> {
        if self.is_loose() {
            let (rank, slot) = self.loose.order.peek()?;
            return Some((rank, self.loose.slots[slot as usize].as_ref()?));
        }
        let handle = self.fronts.peek()?.1 as usize;
        let front = match handle.checked_sub(LENGTHS) {
            None => self.lengths[handle].front(),
            Some(run) => self.runs[run].last(),
        };
        front.map(|(rank, item)| (*rank, item))
    }

    /// Removes the item of the least rank, if `wanted` says so of it.
    #[inline]
    pub(crate) fn pop_if(&mut self, wanted: impl FnOnce(&T) -> bool) -> Option<(R, T)> {
        if self.is_loose() {
            let (_, slot) = self.loose.order.peek()?;
            return if wanted(self.loose.slots[slot as usize].as_ref()?) { self.loose.pop() } else { None };
        }
        let handle = self.fronts.peek()?.1 as usize;
        let Some(queue) = self.lengths.get_mut(handle) else {
            let run = handle - LENGTHS;
            return if wanted(&self.runs[run].last()?.1) { self.pop_run(run) } else { None };
        };
        if !wanted(&queue.front()?.1) {
            return None;
        }
        let least = queue.pop_front();
        match queue.front() {
            Some((next, _)) => self.fronts.rerank_least(*next),
            None => _ = self.fronts.pop(),
        }
        least
    }

    /// Removes the least of `run`, which is the least of all; a few that are left become loose again.
    #[inline]
    fn pop_run(&mut self, run: usize) -> Option<(R, T)> {
        let least = self.runs[run].pop();
        match self.runs[run].last() {
            Some((next, _)) if self.runs[run].len() > FEW => self.fronts.rerank_least(*next),
            _ => {
                self.fronts.pop();
                let mut few = core::mem::take(&mut self.runs[run]);
                few.drain(..).for_each(|(rank, item)| self.push_loose(rank, item));
                self.runs[run] = few;
                self.spent.push(run as u32);
            }
        }
        least
    }

    /// Removes the items that are not to be kept: O(n log n).
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.lengths.iter_mut().for_each(|queue| queue.retain(|(_, item)| keep(item)));
        self.runs.iter_mut().for_each(|run| run.retain(|(_, item)| keep(item)));
        let mut loose = Vec::with_capacity(self.loose.order.len());
        self.loose.drain_into(&mut loose);
        loose.retain(|(_, item)| keep(item));
        loose.into_iter().for_each(|(rank, item)| self.loose.push(rank, item));
        self.fronts.drain(|_, _| ());
        self.spent.clear();
        for (length, queue) in (0..).zip(&self.lengths) {
            queue.front().into_iter().for_each(|(rank, _)| self.fronts.push(*rank, length));
        }
        for (number, run) in (0..).zip(&self.runs) {
            match run.last() {
                Some((rank, _)) => self.fronts.push(*rank, LENGTHS as u32 + number),
                None => self.spent.push(number),
            }
        }
    }

    /// All ranks, in no particular order.
    pub(crate) fn ranks(&self) -> impl Iterator<Item = R> + '_ {
        let queues = self.lengths.iter().flatten().chain(self.runs.iter().flatten());
        self.loose.order.ranks().chain(queues.map(|(rank, _)| *rank))
    }

    /// Replaces each rank by `f` of it; `f` must keep the order of any two ranks present.
    pub(crate) fn map_ranks(&mut self, f: impl Fn(R) -> R) {
        self.fronts.map_ranks(&f);
        self.loose.order.map_ranks(&f);
        for (rank, _) in self.lengths.iter_mut().flatten().chain(self.runs.iter_mut().flatten()) {
            *rank = f(*rank);
        }
    }
}

/// Numbers insertions, without ever running out.
///
/// Only the order of the numbers present matters, so when they reach the limit those present are numbered
/// anew from zero in the same order: O(n log n) once in 2^48 insertions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    next: u64,
    limit: u64,
}

impl Default for Numbers {
    fn default() -> Self {
        Self::with_limit(Rank::MAX_NUMBER)
    }
}

impl Numbers {
    /// Numbers that are given anew when they reach `limit`; a low limit costs time and changes nothing.
    #[must_use]
    pub(crate) fn with_limit(limit: u64) -> Self {
        Self { next: 0, limit: limit.min(Rank::MAX_NUMBER) }
    }

    /// The number of the next insertion, or `None` when those present must be numbered anew.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u64> {
        let number = self.next;
        (number < self.limit).then(|| {
            self.next += 1;
            number
        })
    }

    /// Numbers anew what waits and what is served, and returns the number of the next insertion.
    #[cold]
    pub(crate) fn renumber<T>(&mut self, queue: &mut Ranked<Rank, T>, open: Option<&mut u64>) -> u64 {
        let mut present: Vec<u64> = queue.ranks().map(Rank::number).chain(open.as_deref().copied()).collect();
        present.sort_unstable();
        present.dedup();
        // What is served was numbered too, so every number is found.
        let place = |number: u64| present.binary_search(&number).unwrap_or_else(|place| place) as u64;
        queue.map_ranks(|rank| Rank::new(rank.key(), place(rank.number())));
        if let Some(number) = open {
            *number = place(*number);
        }
        self.restart(present.len() as u64)
    }

    /// Goes on after `present` numbers, and returns the first.
    pub(crate) fn restart(&mut self, present: u64) -> u64 {
        self.next = present + 1;
        // Where a low limit meets a long queue, wait until it has doubled.
        self.limit = self.limit.max(2 * self.next).min(Rank::MAX_NUMBER);
        present
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(key: u128, number: u64) -> Rank {
        Rank::new(Key(key), number)
    }

    fn drain<R: Order, T>(queue: &mut Ranked<R, T>) -> Vec<T> {
        core::iter::from_fn(|| queue.pop_if(|_| true)).map(|(_, item)| item).collect()
    }

    #[test]
    fn a_rank_holds_the_largest_key_and_number() {
        let largest = Rank::new(Key::MAX, Rank::MAX_NUMBER);
        assert_eq!((largest.key(), largest.number()), (Key::MAX, Rank::MAX_NUMBER));
        assert!(rank(1, 9) < rank(2, 0) && rank(2, 0) < rank(2, 1));
    }

    #[test]
    fn queues_and_heap_keep_one_order() {
        let mut queue = Ranked::default();
        // Length 3 in order, then out of order, then a length without a queue of its own.
        for (key, length) in [(10, 3), (20, 3), (15, 3), (12, 1_000_000), (11, 4), (1, 64)] {
            queue.push(rank(key, 0), length, key);
        }
        assert_eq!(queue.peek().map(|(rank, item)| (rank.key(), *item)), Some((Key(1), 1)));
        queue.map_ranks(|r| rank(r.key().0 * 2, 0));
        assert_eq!(drain(&mut queue), [1, 10, 11, 12, 15, 20]);
        assert!(queue.pop_if(|_| true).is_none() && queue.peek().is_none());
    }

    #[test]
    fn runs_keep_the_order_too() {
        let scrambled = |i: u64| u128::from(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
        let mut queue = Ranked::default();
        let mut present = std::collections::BTreeSet::new();
        for i in 0..20_000 {
            // Ten times as many come as leave, then the other way round.
            if i % 10 == 0 || i < 10_000 {
                queue.push(rank(scrambled(i), i), 1000, (scrambled(i), i));
                present.insert((scrambled(i), i));
            }
            if i % 10 == 0 || i >= 10_000 {
                assert_eq!(queue.peek().map(|(_, item)| *item), present.first().copied());
                assert_eq!(queue.pop_if(|_| true).map(|(_, item)| item), present.pop_first());
            }
        }
        assert!(queue.runs.len() <= 10 && !queue.spent.is_empty());
        assert_eq!(queue.ranks().count(), present.len());
        assert_eq!(drain(&mut queue), Vec::from_iter(present));
    }

    #[test]
    fn renumbering_keeps_the_order_of_insertion() {
        let mut queue = Ranked::default();
        let mut numbers = Numbers::with_limit(4);
        for (place, number) in core::iter::from_fn(|| numbers.take()).enumerate() {
            queue.push(rank(7, number), place as u64 % 2, place);
        }
        assert!(queue.pop_if(|_| true).is_some());
        let mut open = 0;
        assert_eq!(numbers.renumber(&mut queue, Some(&mut open)), 4);
        queue.push(rank(7, 4), 1, 4);
        assert_eq!(open, 0);
        assert_eq!(numbers.take(), Some(5));
        assert_eq!(drain(&mut queue), [1, 2, 3, 4]);
    }
}
