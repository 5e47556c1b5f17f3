//! The flows that have packets, in the order of their ranks: a [tournament](super::tournament) while their numbers
//! are small, [buckets](super::ranks) from the first large one on.
//!
//! A tournament has places for all flows up to the highest, so that its size is that of the table of flows; where
//! that is larger than the caches near the processor, buckets are faster, which are as large as the flows that have
//! packets are many. The order is the same.

use super::ranks::Ranks;
use super::tournament::Tournament;
use super::virtual_time::Rank;

/// Flows of smaller numbers than this have places.
const PLACES: usize = 1 << 12;

/// Ranks of different flows.
#[derive(Clone, Debug)]
pub(super) enum Ordered {
    /// Of flows that have places.
    Near(Tournament),
    /// Of any.
    Far(Box<Ranks>),
}

impl Default for Ordered {
    fn default() -> Self {
        Self::Near(Tournament::default())
    }
}

impl Ordered {
    /// Inserts a flow, which is not present.
    #[inline]
    pub(super) fn push(&mut self, rank: Rank) {
        if let Self::Near(near) = self
            && rank.flow() as usize >= near.places()
        {
            self.grow(rank.flow() as usize + 1);
        }
        match self {
            Self::Near(near) => near.push(rank),
            Self::Far(far) => far.push(rank),
        }
    }

    /// Makes places for `flows` flows; buckets if they are too many.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, flows: usize) {
        let Self::Near(near) = self else { return };
        if flows <= PLACES {
            return near.grow(flows.next_power_of_two());
        }
        let mut far = Ranks::default();
        near.ranks().for_each(|rank| far.push(rank));
        *self = Self::Far(Box::new(far));
    }

    /// The least.
    #[inline]
    pub(super) fn peek(&self) -> Option<Rank> {
        match self {
            Self::Near(near) => near.peek(),
            Self::Far(far) => far.peek(),
        }
    }

    /// Removes the least.
    #[inline]
    pub(super) fn pop(&mut self) {
        match self {
            Self::Near(near) => near.pop(),
            Self::Far(far) => far.pop(),
        }
    }

    /// Gives the least another rank; its flow is the same.
    #[inline]
    pub(super) fn rerank_least(&mut self, rank: Rank) {
        match self {
            Self::Near(near) => near.rerank_least(rank),
            Self::Far(far) => far.rerank_least(rank),
        }
    }

    /// All tags are lowered.
    #[cold]
    pub(super) fn lower(&mut self, amount: u64) {
        match self {
            Self::Near(near) => near.lower(amount),
            Self::Far(far) => far.lower(amount),
        }
    }

    /// Whether those who come next are others than when this was last asked; of a tournament, which is near, never.
    #[inline]
    pub(super) fn take_refilled(&mut self) -> bool {
        match self {
            Self::Near(_) => false,
            Self::Far(far) => far.take_refilled(),
        }
    }

    /// The flows who come next, in no particular order.
    pub(super) fn soon(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        let far = if let Self::Far(far) = self { Some(far) } else { None };
        far.into_iter().flat_map(|far| far.soon())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::conformance::Random;
    use crate::packet::virtual_time::Tag;

    /// Flows join in turn or in any order; at the end their numbers are beyond all places.
    #[test]
    fn the_order_stays_as_numbers_grow() {
        for descends in [false, true] {
            let (mut ordered, mut expected) = (Ordered::default(), BTreeSet::new());
            let mut random = Random::new(3);
            for number in 0..3 * PLACES as u32 {
                let flow = if descends && number < 2_000 { 2_000 - number } else { number };
                let rank = Rank::new(Tag(random.below(1 << 12)), flow);
                if expected.iter().all(|other: &Rank| other.flow() != flow) {
                    ordered.push(rank);
                    expected.insert(rank);
                }
                if random.one_in(2)
                    && let Some(least) = expected.pop_first()
                {
                    let rank = Rank::new(Tag(least.tag().0 + random.below(1 << 12)), least.flow());
                    ordered.rerank_least(rank);
                    expected.insert(rank);
                }
                while expected.len() > 50 {
                    ordered.pop();
                    expected.pop_first();
                }
                assert_eq!(ordered.peek(), expected.first().copied());
            }
            assert!(matches!(ordered, Ordered::Far(_)));
        }
    }
}
