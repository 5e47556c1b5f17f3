//! A table of tags in sets of eight: where something is known by its tag, or may be put.
//!
//! A tag names a place, its home, and the set in which that stands. Two share a place only where nine fall into one set
//! at once; the place keeps the tag of the first, and who shares it may find another free later.
//!
//! | | |
//! |-|-|
//! | Source | Hoeiland-Joergensen, Taht and Morton, *Piece of CAKE*, 2018 |
//! | Work | O(1): eight tags at most, and eight ways |
//! | Memory | four bytes per place |
//! | Departs from the source | a place that two share keeps the tag of the first |

use crate::packet::sets;

pub(super) use crate::packet::sets::Found;

/// Ways of a set.
pub(super) const WAYS: usize = 8;

/// The tags.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    tags: Vec<u32>,
}

impl Sets {
    /// Makes `places` places, a multiple of [`WAYS`].
    pub(super) fn new(places: usize) -> Self {
        Self { tags: vec![0; places] }
    }

    /// The place at which a tag begins to search.
    #[inline]
    pub(super) fn home(&self, tag: u32) -> u32 {
        ((u64::from(tag) * self.tags.len() as u64) >> 32) as u32
    }

    /// Where a tag belongs.
    #[inline]
    pub(super) fn find(&self, tag: u32, is_free: impl Fn(u32) -> bool) -> Found {
        let (home, ways) = (self.home(tag), WAYS as u32);
        if self.tags[home as usize] == tag {
            return Found::Known(home);
        }
        sets::find(home, (home / ways * ways, ways), |at| self.tags[at as usize] == tag, is_free)
    }

    /// A place is of this tag from now on.
    #[inline]
    pub(super) fn take(&mut self, at: u32, tag: u32) {
        self.tags[at as usize] = tag;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Random;

    #[test]
    fn nothing_collides_until_a_set_is_full() {
        let mut random = Random::new(4);
        for _ in 0..200 {
            let (mut sets, mut taken) = (Sets::new(64), [false; 64]);
            let mut in_set = [0; 8];
            for _ in 0..100 {
                let tag = random.bits() as u32 | 1;
                let set = sets.home(tag) / 8;
                match sets.find(tag, |at| !taken[at as usize]) {
                    Found::Free(at) => {
                        assert!(!taken[at as usize] && at / 8 == set);
                        sets.take(at, tag);
                        taken[at as usize] = true;
                        in_set[set as usize] += 1;
                        assert_eq!(sets.find(tag, |_| false), Found::Known(at));
                    }
                    Found::Full => assert_eq!(in_set[set as usize], WAYS),
                    Found::Known(_) => panic!("{tag} is new"),
                }
            }
        }
    }

    #[test]
    fn a_tag_keeps_its_place_when_a_way_before_it_is_free_again() {
        let mut sets = Sets::new(8);
        // Both begin at way 0.
        let (first, second) = (1, 2);
        assert_eq!(sets.find(first, |_| true), Found::Free(0));
        sets.take(0, first);
        assert_eq!(sets.find(second, |at| at != 0), Found::Free(1));
        sets.take(1, second);
        assert_eq!(sets.find(second, |_| true), Found::Known(1));
    }
}
