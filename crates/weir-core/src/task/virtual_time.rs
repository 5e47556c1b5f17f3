//! Virtual time of processes: service for each share, by which they are ordered.
//!
//! It counts nanoseconds for each share in 2^-28ths: a process of share `w` takes `t / w` of it in a time `t`. What is
//! left over by the division is kept as long as the share is the same, so that nothing drifts and that charging in pieces
//! equals charging at once; where the share changes, or that of several together, less than 2^-28 ns are dropped.
//! Shares above 2^32 count as that. The service of 2^63 ns, 292 years, comes to at most 2^91; sums that hostile input
//! drives further end at 2^108.

use crate::heap::Order;
use crate::units::Nanos;

/// Bits that are fractional.
const FRACTION_BITS: u32 = 28;
/// The largest share.
const MOST: u64 = 1 << 32;
/// The moments furthest from zero.
const LIMIT: i128 = 1 << 108;

/// A moment, or a span, of virtual time.
pub(super) type Virtual = i128;

/// A sum that stays within bounds.
#[inline]
pub(super) fn plus(moment: Virtual, span: Virtual) -> Virtual {
    moment.saturating_add(span).clamp(-LIMIT, LIMIT)
}

/// The pace of a process, or of several together: how fast its virtual time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    share: u64,
    /// Of the last division.
    remainder: u64,
}

impl Pace {
    pub(super) fn of(share: u64) -> Self {
        Self { share: share.clamp(1, MOST), remainder: 0 }
    }

    /// That of several, whose shares together are `total`.
    #[inline]
    pub(super) fn together(total: u64) -> Self {
        Self { share: total.max(1), remainder: 0 }
    }

    #[inline]
    pub(super) fn share(self) -> u64 {
        self.share
    }

    /// The virtual time that passes while it is served for this long.
    #[inline]
    pub(super) fn pass(&mut self, used: Nanos) -> Virtual {
        let work = (u128::from(used.get()) << FRACTION_BITS) + u128::from(self.remainder);
        let share = u128::from(self.share);
        self.remainder = (work % share) as u64;
        (work / share) as Virtual
    }

    /// The virtual time of a span, rounded down, without its passing.
    #[inline]
    pub(super) fn span(self, span: Nanos) -> Virtual {
        ((u128::from(span.get()) << FRACTION_BITS) / u128::from(self.share)) as Virtual
    }
}

/// Bits of a process's number.
const NUMBER_BITS: u32 = 16;

/// A process and the moment that it is ordered by, be it of virtual time or of the clock; among equal ones that with
/// the smaller number is first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u128);

impl Rank {
    /// Of a moment within bounds.
    #[inline]
    pub(super) fn new(moment: Virtual, process: u32) -> Self {
        let above = (moment + LIMIT).unsigned_abs();
        Self(above << NUMBER_BITS | u128::from(process))
    }

    #[inline]
    pub(super) fn moment(self) -> Virtual {
        (self.0 >> NUMBER_BITS) as Virtual - LIMIT
    }

    #[inline]
    pub(super) fn process(self) -> u32 {
        (self.0 & ((1 << NUMBER_BITS) - 1)) as u32
    }
}

impl Order for Rank {
    const LAST: Self = Self(u128::MAX);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Random;

    #[test]
    fn nothing_drifts() {
        let mut random = Random::new(1);
        for share in [1, 3, 7, 1_000, 99_991, 1 << 31, MOST] {
            let mut pace = Pace::of(share);
            let (mut used, mut passed) = (0_u128, 0);
            for _ in 0..10_000 {
                let piece = random.below(1_000_000);
                used += u128::from(piece);
                passed += pace.pass(Nanos::new(piece));
            }
            assert_eq!(passed as u128, (used << FRACTION_BITS) / u128::from(share));
        }
    }

    #[test]
    fn ranks_keep_their_moment_and_their_number() {
        for moment in [-LIMIT, -1, 0, 1, 1 << 91, LIMIT] {
            for process in [0, 1, 65_535] {
                let rank = Rank::new(moment, process);
                assert_eq!((rank.moment(), rank.process()), (moment, process));
                assert!(rank < Rank::LAST);
            }
        }
        assert_eq!(plus(LIMIT, i128::MAX), LIMIT);
        assert_eq!(plus(-LIMIT, i128::MIN), -LIMIT);
        assert!(Rank::new(-2, 9) < Rank::new(-1, 0) && Rank::new(-1, 0) < Rank::new(-1, 1));
    }
}
