//! A set of servers, or of queues, as a row of bits: those that are idle, those that hold something.
//!
//! | | |
//! |-|-|
//! | Work | insertion and removal O(1); to find the first O(servers / 64) |
//! | Memory | one bit for each |

use super::ServerId;

/// A set of servers below a bound.
#[derive(Clone, Debug)]
pub(super) struct ServerSet {
    words: Vec<u64>,
    count: u32,
    bound: u32,
}

impl ServerSet {
    /// None of `bound` servers.
    pub(super) fn none(bound: u32) -> Self {
        Self { words: vec![0; bound.div_ceil(64) as usize], count: 0, bound }
    }

    /// All of `bound` servers.
    pub(super) fn all(bound: u32) -> Self {
        let mut set = Self::none(bound);
        set.fill();
        set
    }

    /// Adds a server; one beyond the bound is not there to be added.
    #[inline]
    pub(super) fn add(&mut self, server: ServerId) {
        let (word, bit) = place(server.0);
        if server.0 < self.bound && self.words[word] & bit == 0 {
            self.words[word] |= bit;
            self.count += 1;
        }
    }

    /// Takes a server out, where it is in.
    #[inline]
    pub(super) fn remove(&mut self, server: ServerId) {
        if self.contains(server) {
            let (word, bit) = place(server.0);
            self.words[word] &= !bit;
            self.count -= 1;
        }
    }

    #[inline]
    pub(super) fn contains(&self, server: ServerId) -> bool {
        let (word, bit) = place(server.0);
        self.words.get(word).is_some_and(|bits| bits & bit != 0)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.count
    }

    /// Adds all.
    #[inline]
    pub(super) fn fill(&mut self) {
        self.words.fill(u64::MAX);
        let beyond = self.bound % 64;
        if let Some(last) = self.words.last_mut().filter(|_| beyond > 0) {
            *last = (1 << beyond) - 1;
        }
        self.count = self.bound;
    }

    /// The server that has `place` others before it.
    #[inline]
    pub(super) fn at_place(&self, place: u32) -> Option<ServerId> {
        let mut before = place;
        for (word, &bits) in self.words.iter().enumerate() {
            let up_to = ones_up_to(bits);
            let here = (up_to >> 56) as u32;
            if before < here {
                return Some(ServerId(word as u32 * u64::BITS + one_after(bits, up_to, before)));
            }
            before -= here;
        }
        None
    }

    /// The lowest.
    #[inline]
    pub(super) fn lowest(&self) -> Option<ServerId> {
        self.lowest_from(0)
    }

    /// The lowest that is not below `from`.
    #[inline]
    pub(super) fn lowest_from(&self, from: u32) -> Option<ServerId> {
        let (word, bit) = place(from);
        let here = self.words.get(word)? & !(bit - 1);
        if here != 0 {
            return Some(at(word, here));
        }
        let later = word + 1..self.words.len();
        later.into_iter().find(|&word| self.words[word] != 0).map(|word| at(word, self.words[word]))
    }

    /// The lowest that is not below `from`, or else the lowest of all: the next in a round.
    #[inline]
    pub(super) fn next_from(&self, from: u32) -> Option<ServerId> {
        self.lowest_from(from).or_else(|| self.lowest())
    }

    /// All of them, from the lowest.
    pub(super) fn iter(&self) -> impl Iterator<Item = ServerId> + '_ {
        core::iter::successors(self.lowest(), |server| self.lowest_from(server.0 + 1))
    }
}

#[inline]
fn place(server: u32) -> (usize, u64) {
    (server as usize / 64, 1 << (server % 64))
}

#[inline]
fn at(word: usize, bits: u64) -> ServerId {
    ServerId(word as u32 * 64 + bits.trailing_zeros())
}

/// One in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The highest bit of every byte.
const HIGHS: u64 = ONES << 7;

/// The place of the one that has `before` ones below it, of more than `before`, with [`ones_up_to`] of them.
///
/// Source: the selection by sums of bytes of Vigna, *Broadword implementation of rank/select queries*, 2008, section 3,
/// without its tables. There is no branch, since which one it is depends on chance.
fn one_after(bits: u64, up_to: u64, before: u32) -> u32 {
    let shift = 8 * bytes_up_to(up_to, before);
    let left = before - (((up_to << 8) >> shift) & 0xff) as u32;
    // A bit of the byte in each byte, and how many there are up to it.
    let spread = ((bits >> shift) & 0xff).wrapping_mul(ONES) & 0x8040_2010_0804_0201;
    let each = ((spread + (HIGHS - ONES)) >> 7) & ONES;
    shift + bytes_up_to(each.wrapping_mul(ONES), left)
}

/// How many ones there are up to each byte, with it, in that byte.
fn ones_up_to(bits: u64) -> u64 {
    let pairs = bits - ((bits >> 1) & (ONES * 0x55));
    let nibbles = (pairs & (ONES * 0x33)) + ((pairs >> 2) & (ONES * 0x33));
    ((nibbles + (nibbles >> 4)) & (ONES * 0x0f)).wrapping_mul(ONES)
}

/// How many bytes are at most `most`; none is above 64.
fn bytes_up_to(bytes: u64, most: u32) -> u32 {
    let not_above = (((u64::from(most) * ONES) | HIGHS) - bytes) & HIGHS;
    ((not_above >> 7).wrapping_mul(ONES) >> 56) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_are_found_by_how_many_are_below_them() {
        let mut bits = 1_u64;
        for turn in 0..2_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bits = [bits, bits & bits.rotate_left(17), bits | bits.rotate_left(29), u64::MAX][turn % 4];
            let ones = (0..64).filter(|place| (bits >> place) & 1 == 1);
            for (before, place) in ones.enumerate() {
                assert_eq!(one_after(bits, ones_up_to(bits), before as u32), place, "{bits:x} {before}");
            }
        }
    }

    #[test]
    fn the_first_is_found_across_words() {
        let mut set = ServerSet::none(200);
        assert_eq!((set.lowest(), set.next_from(7)), (None, None));
        for server in [3, 63, 64, 199, 200, 4_000_000_000] {
            set.add(ServerId(server));
        }
        let found: Vec<u32> = set.iter().map(|server| server.0).collect();
        assert_eq!(found, [3, 63, 64, 199]);
        assert_eq!(set.lowest_from(65), Some(ServerId(199)));
        assert_eq!((set.lowest_from(200), set.next_from(200)), (None, Some(ServerId(3))));
        found.iter().for_each(|&server| set.remove(ServerId(server)));
        assert!(set.is_empty() && set.lowest().is_none());
    }

    #[test]
    fn all_are_as_many_as_there_are() {
        for bound in [1, 63, 64, 65, 1024] {
            assert_eq!(ServerSet::all(bound).iter().count(), bound as usize);
        }
    }
}
