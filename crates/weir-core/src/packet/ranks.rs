//! Flows in the order of their ranks: buckets for the many that come later, a heap for the few that come next.
//!
//! A rank is read as a number of twelve digits to the base 256. Those up to a bound stand in a heap, the front.
//! Each later one stands in the bucket of its highest digit that differs from the bound's, and of the value
//! of that digit. When the front has run empty, the first bucket becomes the front if it is small; otherwise
//! its ranks are spread over buckets of lower digits, and the first of these is examined. So a rank is
//! written to memory two or three times, always next to others, where a heap of as many reads a place far
//! away at each of its levels; and who comes next is known some dozens of flows ahead, which lets their
//! memory be fetched together.
//!
//! Ranks may come before the bound: they join the front. If it grows beyond all the buckets, everything is
//! placed anew behind the least, which costs as much as the ranks that have come since. The order of the
//! ranks is exact.
//!
//! | | |
//! |-|-|
//! | Source | Denardo and Fox, *Shortest-route methods: 1. Reaching, pruning, and buckets*, Operations Research 27(1), 1979; Ahuja, Mehlhorn, Orlin and Tarjan, *Faster algorithms for the shortest path problem*, JACM 37(2), 1990 (radix heaps) |
//! | Work per rank | O(log of the front), and one move for each digit at worst, amortised |
//! | Memory | 12.8 bytes per rank, at most 256 bytes more per bucket in use and 24 KiB for the buckets once there are more than 4096 ranks; grows to the largest number and stays |
//! | Departs from the source | ranks may come before those already taken |

use super::virtual_time::{Rank, Tag};
use crate::heap::Heap;

/// Up to this many ranks, a heap orders them faster than buckets do, since the caches near the processor hold it:
/// they all stand in the front. Once there are more, this is so again when there are half as many.
const NEAR: usize = 1 << 12;
/// A front with more must not be larger than all buckets.
const LARGE: usize = 2 * NEAR;
/// Up to this many ranks a bucket becomes the front as it is.
const SMALL: usize = 64;
/// A front with fewer takes the next bucket too.
const FEW: usize = 16;

/// Ranks of different flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranks {
    /// All up to the bound; empty only if there is none behind it either.
    front: Heap<Rank, ()>,
    bound: Rank,
    later: Buckets,
    /// Whether a bucket became the front since this was last asked.
    refilled: bool,
}

impl Ranks {
    /// Inserts a flow, which is not present.
    #[inline]
    pub(super) fn push(&mut self, rank: Rank) {
        if rank > self.bound && !self.raise_bound(rank) {
            self.later.insert(self.bound, rank);
            return;
        }
        self.front.push(rank, ());
        if self.front.len() > LARGE && self.front.len() > self.later.len {
            self.place_anew(|rank| rank);
        }
    }

    /// The least.
    #[inline]
    pub(super) fn peek(&self) -> Option<Rank> {
        self.front.peek().map(|(rank, ())| rank)
    }

    /// Removes the least.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.front.pop();
        if self.front.is_empty() && self.later.len > 0 {
            self.refill();
        }
    }

    /// Gives the least another rank.
    #[inline]
    pub(super) fn rerank_least(&mut self, rank: Rank) {
        if rank > self.bound && !self.raise_bound(rank) {
            self.later.insert(self.bound, rank);
            self.pop();
        } else {
            self.front.rerank_least(rank);
        }
    }

    /// All tags are lowered.
    #[cold]
    pub(super) fn lower(&mut self, amount: u64) {
        self.place_anew(|rank| rank.lowered(amount));
    }

    /// Whether those who come next are others than when this was last asked.
    #[inline]
    pub(super) fn take_refilled(&mut self) -> bool {
        core::mem::take(&mut self.refilled)
    }

    /// The flows who come next, in no particular order.
    pub(super) fn soon(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.front.ranks().take(SMALL).map(Rank::flow)
    }

    /// Lets the front have this rank, which is behind it, if all are few.
    #[inline]
    fn raise_bound(&mut self, rank: Rank) -> bool {
        let few = self.later.len == 0 && self.front.len() < NEAR;
        if few {
            self.bound = rank;
        }
        few
    }

    /// The first buckets become the front.
    #[inline(never)]
    fn refill(&mut self) {
        if self.later.len <= NEAR / 2 {
            let all = self.later.detach_all();
            self.advance(all);
        }
        while self.front.len() < FEW
            && let Some((level, digit)) = self.later.first()
        {
            let bucket = self.later.detach(level, digit);
            if bucket.len as usize > SMALL {
                self.bound = self.bound.with_digit(level, digit);
                self.later.insert_all(bucket, self.bound, |rank| rank);
                continue;
            }
            self.advance(bucket);
        }
        self.refilled = true;
    }

    /// The front takes the ranks of a bucket.
    #[inline]
    fn advance(&mut self, bucket: Bucket) {
        self.later.drain(bucket, |rank| {
            self.bound = self.bound.max(rank);
            self.front.push(rank, ());
        });
    }

    /// All are placed anew behind the least, with the ranks that `f` gives them; it must not let a tag pass
    /// another.
    #[cold]
    #[inline(never)]
    fn place_anew(&mut self, f: impl Fn(Rank) -> Rank) {
        let Some(least) = self.peek() else {
            return;
        };
        self.bound = Rank::new(f(least).tag(), 0);
        let all = self.later.detach_all();
        self.later.insert_all(all, self.bound, &f);
        self.front.drain(|rank, ()| self.later.insert(self.bound, f(rank)));
        self.refill();
    }
}

/// How many digits a rank has.
const LEVELS: usize = Rank::BITS / 8;
/// How many values a digit has.
const DIGITS: usize = 256;
/// How many ranks a chunk has, so that it fills four cache lines.
const CHUNK: usize = 20;
/// No chunk.
const NONE: u32 = u32::MAX;

/// Some ranks of one bucket.
#[derive(Clone, Debug)]
#[repr(align(128))]
struct Chunk {
    tags: [Tag; CHUNK],
    flows: [u32; CHUNK],
    len: u32,
    /// The chunk filled before it, or the next that is free.
    next: u32,
}

impl Chunk {
    #[inline]
    fn ranks(&self) -> impl Iterator<Item = Rank> {
        self.tags.iter().zip(&self.flows).take(self.len as usize).map(|(&tag, &flow)| Rank::new(tag, flow))
    }
}

/// A bucket: its chunk that is being filled, and how many ranks it has.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    chunk: u32,
    len: u32,
}

const EMPTY: Bucket = Bucket { chunk: NONE, len: 0 };

/// Ranks by the highest digit that differs from a bound's, and by its value.
#[derive(Clone, Debug)]
struct Buckets {
    /// By level and digit; none before the first use.
    table: Vec<Bucket>,
    /// The digits of each level whose buckets are not empty.
    digits: [[u64; DIGITS / 64]; LEVELS],
    /// The levels that have such.
    levels: u32,
    len: usize,
    chunks: Vec<Chunk>,
    /// The first of the free chunks, which are chained.
    free: u32,
}

impl Default for Buckets {
    fn default() -> Self {
        let digits = [[0; DIGITS / 64]; LEVELS];
        Self { table: Vec::new(), digits, levels: 0, len: 0, chunks: Vec::new(), free: NONE }
    }
}

impl Buckets {
    /// Inserts a rank, which is not before the bound.
    #[inline]
    fn insert(&mut self, bound: Rank, rank: Rank) {
        let level = bound.level_of_difference(rank);
        let digit = usize::from(rank.digit(level));
        if self.table.is_empty() {
            self.table.resize(LEVELS * DIGITS, EMPTY);
        }
        let at = level * DIGITS + digit;
        let Bucket { mut chunk, len } = self.table[at];
        if len == 0 {
            self.digits[level][digit / 64] |= 1 << (digit % 64);
            self.levels |= 1 << level;
        }
        if self.chunks.get(chunk as usize).is_none_or(|chunk| chunk.len as usize >= CHUNK) {
            chunk = self.fresh_chunk(chunk);
        }
        self.table[at] = Bucket { chunk, len: len + 1 };
        let chunk = &mut self.chunks[chunk as usize];
        let place = chunk.len as usize % CHUNK;
        chunk.tags[place] = rank.tag();
        chunk.flows[place] = rank.flow();
        chunk.len += 1;
        self.len += 1;
    }

    /// Inserts all that were detached, with other ranks.
    fn insert_all(&mut self, mut bucket: Bucket, bound: Rank, f: impl Fn(Rank) -> Rank) {
        while let Some(chunk) = self.pop_chunk(&mut bucket) {
            chunk.ranks().for_each(|rank| self.insert(bound, f(rank)));
        }
    }

    /// Gives away all that were detached.
    fn drain(&mut self, mut bucket: Bucket, mut each: impl FnMut(Rank)) {
        while let Some(chunk) = self.pop_chunk(&mut bucket) {
            chunk.ranks().for_each(&mut each);
        }
    }

    /// The level and the digit of the first bucket.
    #[inline]
    fn first(&self) -> Option<(usize, u8)> {
        let level = self.levels.trailing_zeros() as usize;
        let digits = self.digits.get(level)?;
        let word = digits.iter().position(|&word| word != 0)?;
        Some((level, (64 * word) as u8 + digits[word].trailing_zeros() as u8))
    }

    /// Takes the ranks out of a bucket.
    fn detach(&mut self, level: usize, digit: u8) -> Bucket {
        let digit = usize::from(digit);
        self.digits[level][digit / 64] &= !(1 << (digit % 64));
        if self.digits[level] == [0; DIGITS / 64] {
            self.levels &= !(1 << level);
        }
        let bucket = core::mem::replace(&mut self.table[level * DIGITS + digit], EMPTY);
        self.len -= bucket.len as usize;
        bucket
    }

    /// Takes the ranks out of all buckets.
    fn detach_all(&mut self) -> Bucket {
        let mut all = EMPTY;
        while let Some((level, digit)) = self.first() {
            let bucket = self.detach(level, digit);
            let mut end = bucket.chunk;
            while self.chunks[end as usize].next != NONE {
                end = self.chunks[end as usize].next;
            }
            self.chunks[end as usize].next = all.chunk;
            all = Bucket { chunk: bucket.chunk, len: all.len + bucket.len };
        }
        all
    }

    /// An empty chunk, filled after `previous`.
    #[inline(never)]
    fn fresh_chunk(&mut self, previous: u32) -> u32 {
        let at = self.free;
        let Some(chunk) = self.chunks.get_mut(at as usize) else {
            let (tags, flows) = ([Tag(0); CHUNK], [0; CHUNK]);
            self.chunks.push(Chunk { tags, flows, len: 0, next: previous });
            return (self.chunks.len() - 1) as u32;
        };
        self.free = core::mem::replace(&mut chunk.next, previous);
        chunk.len = 0;
        at
    }

    /// Takes a chunk of a bucket that was detached; it is free from now on.
    #[inline]
    fn pop_chunk(&mut self, bucket: &mut Bucket) -> Option<Chunk> {
        let at = bucket.chunk;
        let chunk = self.chunks.get_mut(at as usize)?;
        let taken = chunk.clone();
        bucket.chunk = core::mem::replace(&mut chunk.next, self.free);
        self.free = at;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::conformance::Random;

    /// The ranks under test, and a set that is searched, to compare them with.
    #[derive(Default)]
    struct Both {
        ranks: Ranks,
        expected: BTreeSet<Rank>,
        /// Flows that are not present.
        absent: Vec<u32>,
    }

    impl Both {
        fn of(flows: u32) -> Self {
            Self { absent: (0..flows).collect(), ..Self::default() }
        }

        fn push(&mut self, tag: Tag) {
            if let Some(flow) = self.absent.pop() {
                self.ranks.push(Rank::new(tag, flow));
                self.expected.insert(Rank::new(tag, flow));
            }
        }

        fn pop(&mut self) {
            self.ranks.pop();
            self.absent.extend(self.expected.pop_first().map(Rank::flow));
        }

        fn rerank(&mut self, tag: Tag) {
            if let Some(least) = self.expected.pop_first() {
                self.ranks.rerank_least(Rank::new(tag, least.flow()));
                self.expected.insert(Rank::new(tag, least.flow()));
            }
        }

        fn lower(&mut self, amount: u64) {
            self.ranks.lower(amount);
            self.expected = self.expected.iter().map(|rank| rank.lowered(amount)).collect();
        }

        fn check(&self) {
            assert_eq!(self.ranks.peek(), self.expected.first().copied());
            assert_eq!(self.ranks.front.len() + self.ranks.later.len, self.expected.len());
        }
    }

    /// Tags ahead of the least, or of anywhere, by spans of at most `bits` bits.
    fn mixed(seed: u64, flows: u32, bits: u64, before: bool) {
        let mut both = Both::of(flows);
        let mut random = Random::new(seed);
        let mut growing = true;
        for _ in 0..40_000 {
            let from = both.expected.first().map_or(1 << 30, |least| least.tag().0);
            let from = if before { from / 2 } else { from };
            let span = 1 << (1 + random.below(bits));
            let ahead = random.below(span);
            let tag = Tag(from.saturating_add(ahead).min(1 << 63));
            match random.below(8) {
                0..3 if growing => both.push(tag),
                0..3 => both.pop(),
                3..7 => both.rerank(tag),
                _ => both.push(tag),
            }
            growing ^= random.one_in(3_000);
            if random.one_in(5_000) {
                both.lower(from / 3 * 4);
            }
            both.check();
        }
        while !both.expected.is_empty() {
            both.pop();
            both.check();
        }
        both.pop();
        both.check();
    }

    #[test]
    fn the_order_is_that_of_a_sorted_set() {
        for (seed, flows) in [1, 7, 64, 65, 300, 5_000].into_iter().enumerate() {
            for bits in [1, 8, 20, 33, 62] {
                mixed(seed as u64 + 10 * bits, flows, bits, false);
                mixed(seed as u64 + 10 * bits, flows, bits, true);
            }
        }
    }

    #[test]
    fn equal_tags_are_in_the_order_of_their_flows() {
        let mut both = Both::of(70_000);
        for _ in 0..70_000 {
            both.push(Tag(5 << 40));
        }
        for _ in 0..70_000 {
            both.check();
            both.pop();
        }
    }

    #[test]
    fn chunks_are_used_again() {
        let mut both = Both::of(1_000);
        let mut random = Random::new(1);
        for _ in 0..1_000 {
            both.push(Tag(random.below(1 << 30)));
        }
        let turns = |both: &mut Both, random: &mut Random, turns| {
            for _ in 0..turns {
                let least = both.expected.first().map_or(0, |least| least.tag().0);
                both.rerank(Tag(least + (64 << 20) + random.below(1 << 30)));
            }
        };
        turns(&mut both, &mut random, 200_000);
        let chunks = both.ranks.later.chunks.capacity();
        turns(&mut both, &mut random, 200_000);
        assert_eq!(both.ranks.later.chunks.capacity(), chunks);
        assert!(chunks < 1_024, "{chunks}");
    }
}
