//! Tokens that accrue at a rate, up to a burst: what shapers count in.
//!
//! | | |
//! |-|-|
//! | Source | Turner, *New directions in communications*, IEEE Communications Magazine 24(10), 1986 |
//! | Work | O(1) |
//! | Units | tokens: thousand-millionths of a bit, exact; at 1 bit/s one accrues in each nanosecond |

use crate::units::{Bytes, Instant, Rate};

/// Tokens for one byte.
const PER_BYTE: i128 = 8 * 1_000_000_000;

/// Tokens for `size`.
fn tokens(size: Bytes) -> i128 {
    i128::from(size.get()) * PER_BYTE
}

/// The tokens, as they stood at one moment; a debt where there are less than none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    rate: Rate,
    burst: Bytes,
    /// Tokens for the burst.
    most: i128,
    level: i128,
    at: Instant,
}

impl Bucket {
    /// A full one; the rate is not zero.
    pub(super) fn full(rate: Rate, burst: Bytes) -> Self {
        Self { rate, burst, most: tokens(burst), level: tokens(burst), at: Instant::ZERO }
    }

    /// How many bytes it holds at most.
    #[inline]
    pub(super) fn burst(&self) -> Bytes {
        self.burst
    }

    /// Lets tokens accrue up to `now`.
    #[inline]
    pub(super) fn settle(&mut self, now: Instant) {
        let accrued = u128::from(self.rate.get()) * u128::from(now.since(self.at).get());
        let accrued = i128::try_from(accrued).unwrap_or(i128::MAX);
        self.level = self.level.saturating_add(accrued).min(self.most);
        self.at = self.at.max(now);
    }

    /// When there will be as many tokens as are missing; `None` beyond the end of the clock.
    fn after(&self, missing: i128) -> Option<Instant> {
        let wait = missing.unsigned_abs().div_ceil(u128::from(self.rate.get().max(1)));
        let at = u64::try_from(wait).ok().and_then(|wait| self.at.get().checked_add(wait));
        at.map(Instant::new)
    }

    /// Takes the tokens for `size`, or says when they will be there; `None` beyond the end of the clock.
    #[inline]
    pub(super) fn take(&mut self, size: Bytes) -> Result<(), Option<Instant>> {
        let rest = self.level - tokens(size);
        if rest < 0 {
            return Err(self.after(rest));
        }
        self.level = rest;
        Ok(())
    }

    /// Takes the tokens for `size`, even those that are not there yet.
    #[inline]
    pub(super) fn owe(&mut self, size: Bytes) {
        self.level = self.level.saturating_sub(tokens(size));
    }

    /// Whether it has no debt.
    #[inline]
    pub(super) fn is_solvent(&self) -> bool {
        self.level >= 0
    }

    /// When its debt will be paid; `None` beyond the end of the clock.
    pub(super) fn solvent_at(&self) -> Option<Instant> {
        self.after(self.level.min(0))
    }
}
