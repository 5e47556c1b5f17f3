//! How many frames wait for the neighbours of an interface: a share of all, so that a scan of silent addresses does not
//! take them from everybody else.
//!
//! Those that wait are in two orders: with their neighbour, in a list of its own, and here, by when they began. Where the
//! share is used up, the oldest goes. It is also the first with its neighbour.
//!
//! | | |
//! |-|-|
//! | Source | this project; Linux bounds each neighbour alone (`unres_qlen_bytes`) |
//! | Work | O(1) |
//! | Memory | a chain through the table of frames |
//! | Units | frames |

use super::parked::{NONE, Parked};

/// At most one in this many frames waits for neighbours at one interface, and at most one in half as many at all interfaces.
const OF_FRAMES: u32 = 16;

/// How many frames may wait for neighbours at each of `interfaces` interfaces: a sixteenth of all, an eighth together.
pub(super) fn share(frames: u32, interfaces: usize) -> u32 {
    let together = (interfaces as u32).saturating_mul(OF_FRAMES / 2);
    (frames / OF_FRAMES.max(together)).max(1)
}

/// Those that wait for neighbours of one interface, in the order in which they began.
pub(super) struct Waiting {
    oldest: u32,
    newest: u32,
    count: u32,
    most: u32,
}

impl Waiting {
    /// None waiting, and at most `most` at a time.
    pub(super) fn new(most: u32) -> Self {
        Self { oldest: NONE, newest: NONE, count: 0, most }
    }

    /// Who is to go before another may join.
    pub(super) fn surplus(&self) -> Option<u32> {
        (self.count >= self.most).then_some(self.oldest).filter(|&oldest| oldest != NONE)
    }

    /// A frame begins to wait.
    pub(super) fn join(&mut self, parked: &mut Parked, frame: u32) {
        let entry = parked.entry_mut(frame);
        (entry.older, entry.newer) = (self.newest, NONE);
        match self.newest {
            NONE => self.oldest = frame,
            newest => parked.entry_mut(newest).newer = frame,
        }
        self.newest = frame;
        self.count += 1;
    }

    /// A frame waits no longer.
    pub(super) fn leave(&mut self, parked: &mut Parked, frame: u32) {
        let entry = parked.entry(frame);
        let (older, newer) = (entry.older, entry.newer);
        match older {
            NONE => self.oldest = newer,
            older => parked.entry_mut(older).newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => parked.entry_mut(newer).older = older,
        }
        self.count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use weir_core::random::Random;

    use super::*;

    #[test]
    fn shares_are_a_sixteenth_each_and_an_eighth_together() {
        assert_eq!([1, 2, 3, 8].map(|interfaces| share(16_384, interfaces)), [1024, 1024, 682, 256]);
        assert_eq!(share(8, 4), 1);
    }

    #[test]
    fn they_are_known_by_age_whoever_leaves() {
        let mut parked = Parked::new(64);
        let (mut waiting, mut expected) = (Waiting::new(16), VecDeque::new());
        let mut random = Random::new(1);
        for round in 0..5_000 {
            let frame = round % 64;
            if expected.contains(&frame) || (random.one_in(3) && !expected.is_empty()) {
                let at = random.below(expected.len() as u64) as usize;
                let gone = expected.remove(at).expect("it is there");
                waiting.leave(&mut parked, gone);
                continue;
            }
            if let Some(oldest) = waiting.surplus() {
                assert_eq!(expected.pop_front(), Some(oldest));
                waiting.leave(&mut parked, oldest);
            }
            waiting.join(&mut parked, frame);
            expected.push_back(frame);
            assert_eq!((waiting.oldest, waiting.count as usize), (expected[0], expected.len()));
        }
    }
}
