//! A tournament of inputs: which of them is due first, where the time of one is changed at a time.
//!
//! Every match remembers its winner: the earlier of two, at one instant the one with the lower number. Work: O(log inputs)
//! a change, without a branch that depends on the times.

use weir_core::units::Instant;

/// A tournament of inputs.
#[derive(Clone, Debug, Default)]
pub struct Tournament {
    /// The winner of the match at each place; the inputs stand at the places from `leaves` on.
    winners: Vec<u32>,
    leaves: usize,
}

impl Tournament {
    /// A tournament of `inputs` inputs, at least one; nobody has won a match before [`Tournament::play`].
    #[must_use]
    pub fn new(inputs: usize) -> Self {
        let leaves = inputs.next_power_of_two();
        let stands = |place: usize| if place < leaves { 0 } else { (place - leaves).min(inputs - 1) as u32 };
        Self { winners: (0..2 * leaves).map(stands).collect(), leaves }
    }

    /// The earlier of two inputs, at one instant the first of them.
    #[inline]
    fn earlier(&self, place: usize, heads: &[Instant]) -> u32 {
        let (a, b) = (self.winners[2 * place], self.winners[2 * place + 1]);
        if heads[b as usize] < heads[a as usize] { b } else { a }
    }

    /// All heads may have changed.
    pub fn play(&mut self, heads: &[Instant]) {
        for place in (1..self.leaves).rev() {
            self.winners[place] = self.earlier(place, heads);
        }
    }

    /// The input that is due first.
    #[inline]
    #[must_use]
    pub fn winner(&self) -> usize {
        self.winners[1] as usize
    }

    /// The head of `input` has changed.
    #[inline]
    pub fn replace(&mut self, input: usize, heads: &[Instant]) {
        let mut place = (self.leaves + input) / 2;
        while place > 0 {
            self.winners[place] = self.earlier(place, heads);
            place /= 2;
        }
    }
}
