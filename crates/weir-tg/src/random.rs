//! Random numbers of scripts: 31 bits at a time, from 4.3BSD's `random()` or from the caller.
//!
//! | | |
//! |-|-|
//! | Source | `random()` of 4.3BSD with its default state: an additive generator over x^31 + x^3 + 1 |
//! | First table | 31 words from 1 by `x' = 1103515245 x + 12345` modulo 2^32; 310 outputs discarded |
//! | Output | the sum of the two words, shifted right by one bit |
//! | Work per number | O(1) |
//!
//! Other libraries fill the table differently under the same name, and give other numbers.

/// Where draws take their numbers from.
pub trait Random {
    /// The next number, of 31 bits.
    fn next_31(&mut self) -> u32;

    /// What follows is drawn from the sequence of this seed, from its beginning. Does nothing where seeds
    /// have no effect, as in version 2.0 of TG.
    fn seed(&mut self, seed: u64) {
        let _ = seed;
    }

    /// What follows is drawn from the beginning of the present sequence. Does nothing where [`Random::seed`]
    /// does nothing.
    fn reset(&mut self) {}
}

impl<R: Random + ?Sized> Random for &mut R {
    #[inline]
    fn next_31(&mut self) -> u32 {
        (**self).next_31()
    }
    fn seed(&mut self, seed: u64) {
        (**self).seed(seed);
    }
    fn reset(&mut self) {
        (**self).reset();
    }
}

const DEGREE: usize = 31;
const SEPARATION: usize = 3;
const DISCARDED: usize = 10 * DEGREE;

/// The additive generator of 4.3BSD, from its default seed.
#[derive(Clone, Debug)]
pub struct BsdRandom {
    table: [u32; DEGREE],
    front: usize,
    rear: usize,
}

impl Default for BsdRandom {
    fn default() -> Self {
        let mut table = [1_u32; DEGREE];
        for place in 1..DEGREE {
            table[place] = table[place - 1].wrapping_mul(1_103_515_245).wrapping_add(12_345);
        }
        let mut random = Self { table, front: SEPARATION, rear: 0 };
        for _ in 0..DISCARDED {
            random.next_31();
        }
        random
    }
}

impl BsdRandom {
    /// The generator as a program finds it that never seeds it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Random for BsdRandom {
    #[inline]
    fn next_31(&mut self) -> u32 {
        let sum = self.table[self.front].wrapping_add(self.table[self.rear]);
        self.table[self.front] = sum;
        self.front = if self.front + 1 == DEGREE { 0 } else { self.front + 1 };
        self.rear = if self.rear + 1 == DEGREE { 0 } else { self.rear + 1 };
        sum >> 1
    }
}
