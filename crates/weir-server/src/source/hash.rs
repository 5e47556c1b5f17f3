//! Random numbers that belong to a request and an attempt, so that they are the same under every discipline.
//!
//! | | |
//! |-|-|
//! | Source | the finalizer of SplitMix64: Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014 |
//! | Work | O(1), no state |

/// The hash of a replication.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash {
    salt: u64,
}

impl Hash {
    pub(super) fn new(seed: u64, replication: u32) -> Self {
        Self { salt: mixed(seed ^ mixed(u64::from(replication))) }
    }

    /// Another, for another purpose.
    pub(super) fn apart(self, purpose: u64) -> Self {
        Self { salt: mixed(self.salt ^ purpose) }
    }

    /// A number from 0 to below 1.
    pub(super) fn even(self, request: u64, attempt: u64) -> f64 {
        let bits = mixed(mixed(self.salt ^ request).wrapping_add(attempt));
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn mixed(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
