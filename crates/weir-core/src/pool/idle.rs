//! Which servers are idle; the lowest number is found first.
//!
//! | | |
//! |-|-|
//! | Work | O(1) to add or remove, O(servers / 64) to find |
//! | Memory | one bit per server |

use super::ServerId;

/// A set of idle servers.
#[derive(Clone, Debug)]
pub(super) struct Idle {
    words: Vec<u64>,
}

impl Idle {
    /// All of so many servers.
    pub(super) fn all(servers: u32) -> Self {
        let mut idle = Self { words: vec![0; servers.div_ceil(64) as usize] };
        (0..servers).for_each(|server| idle.add(ServerId(server)));
        idle
    }

    /// The idle server of the lowest number.
    #[inline]
    pub(super) fn lowest(&self) -> Option<ServerId> {
        let found = self.words.iter().enumerate().find(|(_, word)| **word != 0);
        found.map(|(place, word)| ServerId(place as u32 * 64 + word.trailing_zeros()))
    }

    /// Whether none is idle.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The server is idle; nothing where there is no such server.
    #[inline]
    pub(super) fn add(&mut self, server: ServerId) {
        if let Some(word) = self.words.get_mut(server.0 as usize / 64) {
            *word |= 1 << (server.0 % 64);
        }
    }

    /// The server is not idle.
    #[inline]
    pub(super) fn remove(&mut self, server: ServerId) {
        if let Some(word) = self.words.get_mut(server.0 as usize / 64) {
            *word &= !(1 << (server.0 % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_is_found_over_word_bounds() {
        let mut idle = Idle::all(130);
        (0..129).for_each(|server| {
            assert_eq!(idle.lowest(), Some(ServerId(server)));
            idle.remove(ServerId(server));
        });
        assert!(!idle.is_empty());
        idle.remove(ServerId(129));
        assert!(idle.is_empty() && idle.lowest().is_none());
        [70, 65, 128].into_iter().for_each(|server| idle.add(ServerId(server)));
        assert_eq!(idle.lowest(), Some(ServerId(65)));
    }
}
