//! The pace of a shaper without a burst: when the next packet may leave, exact to a part of a nanosecond.
//!
//! A packet may leave once the moment of the pace has come, and puts it off by its own time at the rate. It is never
//! saved up over an idle time; within a busy one, what a late wake-up has lost is made good.
//!
//! | | |
//! |-|-|
//! | Source | Hoeiland-Joergensen, Taht and Morton, *Piece of CAKE*, 2018 |
//! | Work | O(1): a division of whole numbers per packet |
//! | Units | nanoseconds, and parts of one as many as the rate has bits per second |

use crate::units::{Bytes, Instant, Rate};

/// Parts of a nanosecond that a byte takes at 1 bit/s.
const PER_BYTE: u128 = 8 * 1_000_000_000;

/// The moment from which on a packet may leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    rate: u128,
    /// Whole nanoseconds, and parts of one.
    at: (u128, u128),
}

impl Pace {
    /// Of this rate; one bit per second at least.
    pub(super) fn new(rate: Rate) -> Self {
        Self { rate: u128::from(rate.get().max(1)), at: (0, 0) }
    }

    /// Whether the moment has come.
    #[inline]
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.at <= (now.get().into(), 0)
    }

    /// The first whole nanosecond of the clock at which it has.
    #[inline]
    pub(super) fn due(&self) -> Instant {
        let whole = self.at.0 + u128::from(self.at.1 > 0);
        u64::try_from(whole).map_or(Instant::NEVER, Instant::new)
    }

    /// The moment, for comparison with others.
    #[inline]
    pub(super) fn order(&self) -> (u128, u128) {
        self.at
    }

    /// An idle time ends: what was not used is lost.
    #[inline]
    pub(super) fn resume(&mut self, now: Instant) {
        self.at = self.at.max((now.get().into(), 0));
    }

    /// A packet of this size leaves.
    #[inline]
    pub(super) fn pass(&mut self, size: Bytes) {
        self.at = self.later(self.at, size);
    }

    /// The same of a class that is served ahead of its pace, too: that is not put off by more than one packet.
    #[inline]
    pub(super) fn pass_once(&mut self, now: Instant, size: Bytes) {
        let now = (now.get().into(), 0);
        self.at = if self.at < now { self.later(self.at, size) } else { self.at.max(self.later(now, size)) };
    }

    #[inline]
    fn later(&self, (whole, part): (u128, u128), size: Bytes) -> (u128, u128) {
        let parts = u128::from(size.get()) * PER_BYTE + part;
        // At worst a packet takes 2^97 parts, so that no sum of a run reaches the end of the numbers.
        (whole + parts / self.rate, parts % self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_nanosecond_is_lost() {
        // At 3 Gbit/s a byte takes 8/3 ns.
        let mut pace = Pace::new(Rate::new(3_000_000_000));
        pace.pass(Bytes::new(1));
        assert_eq!(pace.due(), Instant::new(3));
        assert!(!pace.is_due(Instant::new(2)) && pace.is_due(Instant::new(3)));
        (0..299_999).for_each(|_| pace.pass(Bytes::new(1)));
        assert_eq!(pace.due(), Instant::new(800_000));
        assert!(pace.is_due(Instant::new(800_000)));
        // Idle until 1 ms: the 200 us are lost.
        pace.resume(Instant::new(1_000_000));
        pace.pass(Bytes::new(3));
        assert_eq!(pace.due(), Instant::new(1_000_008));
        pace.resume(Instant::ZERO);
        assert_eq!(pace.due(), Instant::new(1_000_008));
    }

    #[test]
    fn who_is_ahead_of_its_pace_is_put_off_once() {
        let mut pace = Pace::new(Rate::new(8_000_000_000));
        let (now, size) = (Instant::new(100), Bytes::new(50));
        // Behind, it catches up; ahead, a packet sent now does not add to one sent now.
        pace.pass_once(now, size);
        assert_eq!(pace.due(), Instant::new(50));
        pace.pass_once(now, size);
        assert_eq!(pace.due(), Instant::new(100));
        (0..3).for_each(|_| pace.pass_once(now, size));
        assert_eq!(pace.due(), Instant::new(150));
    }

    #[test]
    fn the_slowest_and_the_largest_have_an_end() {
        let mut pace = Pace::new(Rate::new(0));
        (0..1_000).for_each(|_| pace.pass(Bytes::new(u64::MAX)));
        assert_eq!(pace.due(), Instant::NEVER);
        assert!(!pace.is_due(Instant::NEVER));
    }
}
