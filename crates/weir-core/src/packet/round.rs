//! Queues in the order of their turns, in a ring of places: who has which turn is known without a visit to those
//! before it, so that queues far away in memory can be fetched together.

/// The ring, of a power of two of places.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    ring: Vec<u32>,
    /// Where the first stands, not reduced to the size of the ring.
    head: usize,
    pub(super) count: usize,
}

impl Round {
    #[inline]
    fn place(&self, turn: usize) -> usize {
        self.head.wrapping_add(turn) & (self.ring.len().wrapping_sub(1))
    }

    /// The queue that has `turn` turns before its own.
    #[inline]
    pub(super) fn get(&self, turn: usize) -> Option<u32> {
        if turn < self.count { self.ring.get(self.place(turn)).copied() } else { None }
    }

    /// A queue joins behind the last.
    #[inline]
    pub(super) fn join(&mut self, queue: u32) {
        if self.count == self.ring.len() {
            self.grow();
        }
        let place = self.place(self.count);
        self.ring[place] = queue;
        self.count += 1;
    }

    /// The first queue becomes the last.
    #[inline]
    pub(super) fn advance(&mut self) {
        let (first, end) = (self.place(0), self.place(self.count));
        if self.count > 0 {
            self.ring[end] = self.ring[first];
            self.head = self.head.wrapping_add(1);
        }
    }

    /// The first queue leaves.
    #[inline]
    pub(super) fn leave(&mut self) {
        if self.count > 0 {
            self.head = self.head.wrapping_add(1);
            self.count -= 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let first = self.place(0).min(self.ring.len());
        self.ring.rotate_left(first);
        self.head = 0;
        self.ring.resize((2 * self.count).max(16), 0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::conformance::Random;

    #[test]
    fn a_round_is_a_queue_whose_first_can_become_its_last() {
        let mut random = Random::new(11);
        let (mut round, mut expected) = (Round::default(), VecDeque::new());
        for queue in 0..20_000 {
            match random.below(5) {
                0 | 1 => {
                    round.join(queue);
                    expected.push_back(queue);
                }
                2 => {
                    round.leave();
                    expected.pop_front();
                }
                _ => {
                    round.advance();
                    expected.rotate_left(expected.len().min(1));
                }
            }
            if random.one_in(300) {
                while round.count > 0 {
                    round.leave();
                }
                expected.clear();
            }
            let turns = [0, 1, 5, expected.len()];
            assert!(turns.iter().all(|&turn| round.get(turn) == expected.get(turn).copied()));
            assert_eq!(round.count, expected.len());
        }
    }
}
