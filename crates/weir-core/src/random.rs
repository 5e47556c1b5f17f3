//! A source of random numbers, small enough to belong to one discipline.
//!
//! | | |
//! |-|-|
//! | Source | Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014 (SplitMix64); [`Random::pick`]: Lemire, *Fast random integer generation in an interval*, 2019, without rejection |
//! | Work per number | O(1) |
//! | Units | none |
//! | Memory | one word |
//! | Departs from the source | a number below a bound is off by at most bound / 2^64 |

/// Numbers that follow from a seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers that depend on `seed` alone.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// A number below `bound`, or zero, without a division.
    #[inline]
    pub fn pick(&mut self, bound: u32) -> u32 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u32
    }

    /// True once in `n` on average.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
