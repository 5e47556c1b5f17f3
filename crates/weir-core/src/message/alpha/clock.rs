//! The clock of alpha scheduling: units of cost served so far, kept within bounds.
//!
//! The clock stands for time only while the server works; it does not advance over idle time. It counts
//! in units of 2^-16, as keys do, and begins one unit above zero: key zero is left to a message that is
//! served ahead of everything.

use super::coefficient::LARGEST_TERM;
use crate::priority::Key;
use crate::units::Cost;

/// One unit of cost.
const UNIT: u128 = 1 << Key::FRACTION_BITS;

/// Counts what has been served, modulo what has been taken off clock and keys together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    tick: u128,
    limit: u128,
    rebased: u128,
}

impl Default for Clock {
    /// Half of the range goes by before the first rebase.
    fn default() -> Self {
        Self { tick: UNIT, limit: LARGEST_TERM / 2, rebased: 0 }
    }
}

impl Clock {
    /// A clock that is rebased whenever it passes `limit`.
    pub(super) fn with_limit<C: Cost>(limit: C) -> Self {
        let limit = u128::from(limit.count()) << Key::FRACTION_BITS;
        Self { limit: limit.clamp(UNIT, LARGEST_TERM / 2), ..Self::default() }
    }

    #[inline]
    pub(super) fn tick(&self) -> u128 {
        self.tick
    }

    /// How much clock and keys have been lowered so far, modulo 2^128.
    #[inline]
    pub(super) fn rebased(&self) -> u128 {
        self.rebased
    }

    /// Counts `used`; true when it is time to rebase.
    #[inline]
    pub(super) fn advance<C: Cost>(&mut self, used: C) -> bool {
        let used = u128::from(used.count()) << Key::FRACTION_BITS;
        self.tick = (self.tick + used).min(LARGEST_TERM);
        self.tick >= self.limit
    }

    /// Lowers the clock by `amount`, which is less than it shows. The next rebase is due when it has at
    /// least doubled, so that a large backlog under a low limit is not gone through at every charge.
    pub(super) fn lower(&mut self, amount: u128) {
        self.tick -= amount;
        self.rebased = self.rebased.wrapping_add(amount);
        self.limit = self.limit.max(2 * self.tick).min(LARGEST_TERM);
    }
}
