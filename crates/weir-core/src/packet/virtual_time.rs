//! Virtual time, which the disciplines of timestamps order by.
//!
//! It counts bytes of service for each share, in 2^-20ths: a packet of `L` bytes of a flow of weight `w`
//! takes `L / w` of it, whatever the speed of the link. Tags have 64 bits. The clock stays below 2^62, since
//! whoever finds it beyond lowers all tags together ([`lowering`]); no tag is more than 2^63, where hostile
//! sizes end up. What lies further behind the clock than 2^61 (two million million bytes for each share)
//! counts as that far behind.

use crate::heap::Order;
use crate::units::{Cost, Weight};

/// Bits of a tag that are fractional.
pub(super) const FRACTION_BITS: u32 = 20;
/// The largest tag.
const LARGEST: u64 = 1 << 63;
/// Beyond this the clock is set back, together with all tags.
const CEILING: u64 = 1 << 62;
/// To where it is set back.
const FLOOR: u64 = 1 << 61;

/// A moment of virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tag(pub(super) u64);

impl Tag {
    /// The moment this much later.
    #[inline]
    pub(super) fn plus(self, service: u64) -> Self {
        // Neither is above 2^63.
        Self(self.0.saturating_add(service).min(LARGEST))
    }

    /// As it stands after all tags have been lowered.
    #[inline]
    pub(super) fn lowered(self, amount: u64) -> Self {
        Self(self.0.saturating_sub(amount))
    }
}

/// How much all tags must be lowered at this time, if they must.
#[inline]
pub(super) fn lowering(now: Tag) -> Option<u64> {
    (now.0 > CEILING).then(|| now.0 - FLOOR)
}

/// The share of a flow, as the reciprocal of its weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share(pub(super) u64);

impl Share {
    /// That of a weight, which is not zero.
    pub(super) fn of(weight: Weight) -> Self {
        Self((1 << (FRACTION_BITS + 32)) / weight.get().max(1))
    }

    /// The virtual time that an item takes: `cost / weight`, at most 2^-19 too little. Costs beyond 2^32 - 1
    /// count as that.
    #[inline]
    pub(super) fn service<C: Cost>(self, cost: C) -> u64 {
        let cost = cost.count().min(u32::MAX.into());
        ((u128::from(cost) * u128::from(self.0)) >> 32) as u64
    }
}

/// Bits of a flow's number.
const FLOW_BITS: u32 = 32;

/// A flow and the tag by which it is ordered; among equal tags the flow of the smaller number is first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u128);

impl Rank {
    /// How long it is.
    pub(super) const BITS: usize = 64 + FLOW_BITS as usize;

    /// Of this flow at this tag.
    #[inline]
    pub(super) fn new(tag: Tag, flow: u32) -> Self {
        Self(u128::from(tag.0) << FLOW_BITS | u128::from(flow))
    }

    /// The tag.
    #[inline]
    pub(super) fn tag(self) -> Tag {
        Tag((self.0 >> FLOW_BITS) as u64)
    }

    /// The flow.
    #[inline]
    pub(super) fn flow(self) -> u32 {
        self.0 as u32
    }

    /// As it stands after all tags have been lowered.
    #[inline]
    pub(super) fn lowered(self, amount: u64) -> Self {
        Self::new(self.tag().lowered(amount), self.flow())
    }

    /// The digit of this level, to the base 256.
    #[inline]
    pub(super) fn digit(self, level: usize) -> u8 {
        (self.0 >> (8 * level)) as u8
    }

    /// The level of the highest digit that is different; 0 if none is.
    #[inline]
    pub(super) fn level_of_difference(self, other: Self) -> usize {
        ((self.0 ^ other.0) | 1).ilog2() as usize / 8
    }

    /// With another digit at this level, and zeros behind it.
    #[inline]
    pub(super) fn with_digit(self, level: usize, digit: u8) -> Self {
        let above = self.0 >> (8 * level) & !0xff;
        Self((above | u128::from(digit)) << (8 * level))
    }
}

impl Order for Rank {
    /// Beyond the largest tag.
    const LAST: Self = Self(u128::MAX);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn service_is_cost_over_weight() {
        for weight in [1, 2, 3, 7, 1000, 65_535] {
            let share = Share::of(Weight::new(weight));
            for size in [0, 1, 64, 1500, 65_535, u64::from(u32::MAX)] {
                let exact = (size << FRACTION_BITS) / weight;
                let service = share.service(Bytes::new(size));
                assert!(service <= exact && exact - service <= 1, "{size} / {weight}: {service}, {exact}");
            }
            assert_eq!(share.service(Bytes::new(u64::MAX)), share.service(Bytes::new(u32::MAX.into())));
        }
    }

    #[test]
    fn tags_stay_in_bounds() {
        let share = Share::of(Weight::new(1));
        let mut tag = Tag(0);
        for _ in 0..10_000 {
            tag = tag.plus(share.service(Bytes::new(u64::MAX)));
        }
        assert_eq!(tag, Tag(LARGEST));
        assert!(Rank::new(tag, u32::MAX) < Rank::LAST);
        assert_eq!(tag.lowered(lowering(tag).expect("beyond the ceiling")), Tag(FLOOR));
        assert_eq!(lowering(Tag(CEILING)), None);
    }

    #[test]
    fn a_rank_is_a_tag_and_then_a_flow() {
        let rank = Rank::new(Tag(7), 9);
        assert_eq!((rank.tag(), rank.flow()), (Tag(7), 9));
        assert!(Rank::new(Tag(6), 10) < rank && rank < Rank::new(Tag(7), 10));
        assert_eq!(rank.lowered(3), Rank::new(Tag(4), 9));
    }
}
