//! Some of all servers, drawn at random without replacement.
//!
//! | | |
//! |-|-|
//! | Source | the shuffle of Fisher and Yates, which ends after as many as are drawn |
//! | Work | O(1) a draw |
//! | Memory | one word per server |

use super::ServerId;
use crate::random::Random;

/// Draws servers that differ.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    random: Random,
    /// All servers, in some order; the ones that are drawn go to the front.
    order: Vec<ServerId>,
}

impl Drawn {
    /// Of these, of which there is at least one.
    pub(super) fn new(seed: u64, servers: impl Iterator<Item = ServerId>) -> Self {
        Self { random: Random::new(seed), order: servers.collect() }
    }

    /// Draws one of those that are not among the first `place`, and puts it there.
    #[inline]
    pub(super) fn draw(&mut self, place: u32) -> ServerId {
        let from = place + self.random.pick(self.order.len() as u32 - place);
        self.order.swap(place as usize, from as usize);
        self.order[place as usize]
    }
}
