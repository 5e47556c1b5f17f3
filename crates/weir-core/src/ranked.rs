//! What waits in the order of a rank: a heap, with a queue of its own for each small length.
//!
//! A rank is a key and, among equal keys, the number of the insertion. Items of one small length are
//! mostly inserted in the order of their ranks (under shortest-first always, under alpha as long as they
//! share one alpha), so each length below [`LENGTHS`] has a first-in-first-out queue, and the heap holds
//! the front of each queue only. An item whose rank falls before the back of its queue goes into the heap
//! on its own: the order of service is that of the ranks, whatever the lengths.
//!
//! | | |
//! |-|-|
//! | Work per item | small lengths: O(1), the heap has at most [`LENGTHS`] fronts; others: O(log n) |
//! | Memory | one rank and one item per entry; grows to the largest backlog and stays |

use std::collections::VecDeque;

use crate::heap::Heap;
use crate::priority::Key;

/// Lengths below this have a queue of their own.
pub const LENGTHS: usize = 64;

/// Bits of a rank that number the insertion; the key has the other 80.
const NUMBER_BITS: u32 = 48;

/// A place in the order of service: a key and, among equal keys, the number of the insertion.
///
/// Both lie in one word of 128 bits, so that a comparison is one subtraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(u128);

impl Rank {
    /// The largest number of an insertion; [`Numbers`] stays below it.
    pub const MAX_NUMBER: u64 = (1 << NUMBER_BITS) - 1;

    /// The rank of insertion `number` (at most [`Rank::MAX_NUMBER`]) with `key` (at most [`Key::MAX`]).
    #[must_use]
    #[inline]
    pub fn new(key: Key, number: u64) -> Self {
        Self(key.min(Key::MAX).0 << NUMBER_BITS | u128::from(number & Self::MAX_NUMBER))
    }

    /// Its key.
    #[must_use]
    #[inline]
    pub const fn key(self) -> Key {
        Key(self.0 >> NUMBER_BITS)
    }

    /// The number of its insertion.
    #[must_use]
    #[inline]
    pub const fn number(self) -> u64 {
        self.0 as u64 & Self::MAX_NUMBER
    }
}

/// Where an item lies.
#[derive(Clone, Debug)]
enum Entry<T> {
    /// Here, on its own.
    Loose(T),
    /// At the front of the queue of this length.
    Front(u8),
}

/// Items in the order of their ranks.
#[derive(Clone, Debug)]
pub struct Ranked<R, T> {
    order: Heap<R, Entry<T>>,
    lengths: Vec<VecDeque<(R, T)>>,
}

impl<R: Copy + Ord, T> Default for Ranked<R, T> {
    fn default() -> Self {
        Self { order: Heap::new(), lengths: (0..LENGTHS).map(|_| VecDeque::new()).collect() }
    }
}

impl<R: Copy + Ord, T> Ranked<R, T> {
    /// Inserts an item of `length`; no two ranks present may be equal.
    #[inline]
    pub fn push(&mut self, rank: R, length: u64, item: T) {
        let queue = usize::try_from(length).ok().and_then(|length| self.lengths.get_mut(length));
        let Some(queue) = queue else { return self.order.push(rank, Entry::Loose(item)) };
        match queue.back() {
            Some((last, _)) if rank < *last => self.order.push(rank, Entry::Loose(item)),
            Some(_) => queue.push_back((rank, item)),
            None => {
                queue.push_back((rank, item));
                self.order.push(rank, Entry::Front(length as u8));
            }
        }
    }

    /// The item of the least rank.
    #[must_use]
    #[inline]
    pub fn peek(&self) -> Option<(R, &T)> {
        match self.order.peek()? {
            (rank, Entry::Loose(item)) => Some((rank, item)),
            (rank, Entry::Front(length)) => Some((rank, &self.lengths[usize::from(*length)].front()?.1)),
        }
    }

    /// Removes the item of the least rank.
    #[inline]
    pub fn pop(&mut self) -> Option<(R, T)> {
        if let (_, &Entry::Front(length)) = self.order.peek()? {
            let queue = &mut self.lengths[usize::from(length)];
            let least = queue.pop_front();
            match queue.front() {
                Some((next, _)) => self.order.rerank_least(*next),
                None => drop(self.order.pop()),
            }
            return least;
        }
        match self.order.pop()? {
            (rank, Entry::Loose(item)) => Some((rank, item)),
            (_, Entry::Front(_)) => None,
        }
    }

    /// All ranks, in no particular order; that of a queue's front comes twice.
    pub fn ranks(&self) -> impl Iterator<Item = R> + '_ {
        self.order.ranks().chain(self.lengths.iter().flatten().map(|(rank, _)| *rank))
    }

    /// Replaces each rank by `f` of it; `f` must keep the order of any two ranks present.
    pub fn map_ranks(&mut self, f: impl Fn(R) -> R) {
        self.order.map_ranks(&f);
        for (rank, _) in self.lengths.iter_mut().flatten() {
            *rank = f(*rank);
        }
    }
}

/// Numbers insertions, without ever running out.
///
/// Only the order of the numbers present matters, so when they reach the limit those present are numbered
/// anew from zero in the same order: O(n log n) once in 2^48 insertions.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
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
    pub fn with_limit(limit: u64) -> Self {
        Self { next: 0, limit: limit.min(Rank::MAX_NUMBER) }
    }

    /// The number of the next insertion, or `None` when those present must be numbered anew.
    #[inline]
    pub fn take(&mut self) -> Option<u64> {
        let number = self.next;
        (number < self.limit).then(|| {
            self.next += 1;
            number
        })
    }

    /// Numbers anew what waits and what is served, and returns the number of the next insertion.
    #[cold]
    pub fn renumber<T>(&mut self, queue: &mut Ranked<Rank, T>, open: Option<&mut u64>) -> u64 {
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
    pub fn restart(&mut self, present: u64) -> u64 {
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

    fn drain<R: Copy + Ord, T>(queue: &mut Ranked<R, T>) -> Vec<T> {
        core::iter::from_fn(|| queue.pop()).map(|(_, item)| item).collect()
    }

    #[test]
    fn a_rank_holds_the_largest_key_and_number() {
        let largest = Rank::new(Key(u128::MAX), u64::MAX);
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
        assert!(queue.pop().is_none() && queue.peek().is_none());
    }

    #[test]
    fn renumbering_keeps_the_order_of_insertion() {
        let mut queue = Ranked::default();
        let mut numbers = Numbers::with_limit(4);
        for (place, number) in core::iter::from_fn(|| numbers.take()).enumerate() {
            queue.push(rank(7, number), place as u64 % 2, place);
        }
        assert!(queue.pop().is_some());
        let mut open = 0;
        assert_eq!(numbers.renumber(&mut queue, Some(&mut open)), 4);
        queue.push(rank(7, 4), 1, 4);
        assert_eq!(open, 0);
        assert_eq!(numbers.take(), Some(5));
        assert_eq!(drain(&mut queue), [1, 2, 3, 4]);
    }
}
