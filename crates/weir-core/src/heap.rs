//! A 4-ary min-heap whose ranks and items lie in arrays of their own.
//!
//! Selecting the least of four children reads ranks only, and four 16-byte ranks fill one cache line: a
//! heap of 10^6 entries is ten levels, hence at most ten lines, deep. Ranks are unique in every use here
//! (they end in an insertion number), so the order of service never depends on the shape of the heap.
//!
//! | | |
//! |-|-|
//! | Source | Johnson, *Priority queues with update and finding minimum spanning trees* (d-heaps), 1975 |
//! | Work per item | insertion O(1) expected for random ranks, O(log n) at worst; removal O(log n) |
//! | Memory | one rank and one item per entry; grows to the largest number and stays |

/// How many children a node has.
const ARITY: usize = 4;

/// A min-heap of items, each with its rank.
#[derive(Clone, Debug)]
pub struct Heap<R, T> {
    ranks: Vec<R>,
    items: Vec<T>,
}

impl<R, T> Default for Heap<R, T> {
    fn default() -> Self {
        Self { ranks: Vec::new(), items: Vec::new() }
    }
}

impl<R: Copy + Ord, T> Heap<R, T> {
    /// An empty heap.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of entries.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Whether there is no entry.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// The entry of the least rank.
    #[must_use]
    #[inline]
    pub fn peek(&self) -> Option<(R, &T)> {
        Some((*self.ranks.first()?, self.items.first()?))
    }

    /// Inserts an item.
    #[inline]
    pub fn push(&mut self, rank: R, item: T) {
        let mut at = self.ranks.len();
        self.ranks.push(rank);
        self.items.push(item);
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.ranks[parent] <= rank {
                break;
            }
            self.ranks.swap(at, parent);
            self.items.swap(at, parent);
            at = parent;
        }
    }

    /// Removes the entry of the least rank.
    #[inline]
    pub fn pop(&mut self) -> Option<(R, T)> {
        if self.ranks.is_empty() {
            return None;
        }
        let rank = self.ranks.swap_remove(0);
        let item = self.items.swap_remove(0);
        self.sift_down();
        Some((rank, item))
    }

    /// Gives the entry of the least rank another rank; does nothing on an empty heap.
    #[inline]
    pub fn rerank_least(&mut self, rank: R) {
        if let Some(least) = self.ranks.first_mut() {
            *least = rank;
            self.sift_down();
        }
    }

    /// The ranks, in no particular order.
    pub fn ranks(&self) -> impl Iterator<Item = R> + '_ {
        self.ranks.iter().copied()
    }

    /// Replaces each rank by `f` of it; `f` must keep the order of any two ranks present.
    pub fn map_ranks(&mut self, f: impl Fn(R) -> R) {
        for rank in &mut self.ranks {
            *rank = f(*rank);
        }
    }

    #[inline]
    fn sift_down(&mut self) {
        let mut at = 0;
        while let Some(child) = self.least_child(at) {
            if self.ranks[at] <= self.ranks[child] {
                return;
            }
            self.ranks.swap(at, child);
            self.items.swap(at, child);
            at = child;
        }
    }

    /// The child of `at` that has the least rank.
    #[inline]
    fn least_child(&self, at: usize) -> Option<usize> {
        let first = at * ARITY + 1;
        let pair = |a: (usize, R), b: (usize, R)| if b.1 < a.1 { b } else { a };
        match self.ranks.get(first..)? {
            [a, b, c, d, ..] => {
                let low = pair((first, *a), (first + 1, *b));
                let high = pair((first + 2, *c), (first + 3, *d));
                Some(pair(low, high).0)
            }
            few => few.iter().enumerate().min_by_key(|(_, rank)| **rank).map(|(i, _)| first + i),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A full-period sequence of 64-bit numbers, enough to shuffle.
    fn scrambled(i: u64) -> u64 {
        i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
    }

    #[test]
    fn entries_leave_in_the_order_of_their_ranks() {
        let mut heap = Heap::new();
        let mut expected: Vec<u64> = (0..1000).map(scrambled).collect();
        for &rank in &expected {
            heap.push(rank, rank);
        }
        expected.sort_unstable();
        let popped: Vec<u64> = core::iter::from_fn(|| heap.pop()).map(|(rank, _)| rank).collect();
        assert_eq!(popped, expected);
        assert!(heap.is_empty() && heap.pop().is_none());
    }

    #[test]
    fn a_new_rank_for_the_least_moves_it() {
        let mut heap = Heap::new();
        for rank in [5_u32, 1, 7, 3] {
            heap.push(rank, rank);
        }
        heap.rerank_least(6);
        let order: Vec<_> = core::iter::from_fn(|| heap.pop()).collect();
        assert_eq!(order, [(3, 3), (5, 5), (6, 1), (7, 7)]);
    }

    #[test]
    fn a_map_that_keeps_the_order_keeps_the_heap() {
        let mut heap = Heap::new();
        for rank in [50_u32, 10, 70, 30] {
            heap.push(rank, ());
        }
        heap.map_ranks(|rank| rank / 10);
        assert_eq!(heap.peek(), Some((1, &())));
        assert_eq!(heap.ranks().sum::<u32>(), 16);
        assert_eq!(heap.len(), 4);
    }
}
