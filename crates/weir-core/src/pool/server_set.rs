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

#[cfg(test)]
mod tests {
    use super::*;

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
