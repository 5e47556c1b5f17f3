//! Random numbers for tests, here and in the crates above: small, fixed by their seed, of no other use.

/// SplitMix64.
#[derive(Debug)]
pub struct Noise(u64);

impl Noise {
    /// Of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Exponential, of mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Normal, of mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * libm::cos(std::f64::consts::TAU * self.uniform())
    }
}
