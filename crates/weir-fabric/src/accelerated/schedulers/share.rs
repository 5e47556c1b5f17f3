//! Shares of channels and the virtual time that packets take, as `weir_core` counts them: bytes for each share, in
//! 2^-20ths.

use super::Channels;
use crate::time::CreditUnit;
use weir_core::packet::flows::Config;

const FRACTION_BITS: u32 = 20;
/// What a link may carry at most, in the bytes of disciplines, before virtual time is set back: half of 2^42.
pub(super) const MOST_CARRIED: u64 = 1 << 41;

/// The share of a channel, as the reciprocal of its weight, and what packets cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share(u64, CreditUnit);

impl Share {
    /// Those of all channels.
    pub(super) fn all<const V: usize>(config: &Config, unit: CreditUnit) -> [Self; V] {
        core::array::from_fn(|channel| Self((1 << (FRACTION_BITS + 32)) / weight(config, channel), unit))
    }

    /// The virtual time that a packet takes.
    #[inline(always)]
    pub(super) fn service(self, credits: u16) -> u64 {
        ((u128::from(self.1.bytes(credits)) * u128::from(self.0)) >> 32) as u64
    }
}

/// The weight of a channel.
pub(super) fn weight(config: &Config, channel: usize) -> u64 {
    config.weights.get(channel).map_or(1, |weight| weight.get().max(1))
}

/// The channel of the least tag of those in `left`, which is not empty; of equals the first.
#[inline(always)]
pub(super) fn least<const V: usize>(tags: &[u64; V], left: Channels) -> usize {
    let (mut best, mut at) = (u64::MAX, left.trailing_zeros() as usize);
    for (channel, &tag) in tags.iter().enumerate() {
        let is_less = left >> channel & 1 == 1 && tag < best;
        (best, at) = if is_less { (tag, channel) } else { (best, at) };
    }
    at
}
