//! Flows in the order of their tags, where flows have small numbers: a tournament.
//!
//! Every flow has a place on the lowest level of a binary tree, by its number, and a node has the earlier one of the
//! two below it; the root has the first of all. A flow that gets another tag is compared with one neighbour on each
//! level. Which neighbours these are follows from its number alone, so that the processor reads them all at once,
//! where a heap learns only from each comparison which ranks the next one needs; and no comparison is branched on. Of
//! equal tags the left one wins, which is that of the smaller number.
//!
//! | | |
//! |-|-|
//! | Source | Knuth, *The Art of Computer Programming* 3, section 5.4.1, selection by tournaments |
//! | Work | O(log of the highest flow), seldom more than a step for a flow that joins |
//! | Memory | 32 bytes per flow up to the next power of two; stays |

use core::hint::select_unpredictable;

use super::virtual_time::{Rank, Tag};

/// A flow at its tag.
#[derive(Clone, Copy, Debug)]
struct Entrant {
    tag: Tag,
    flow: u32,
}

impl Entrant {
    #[inline]
    fn is_before(self, other: Self) -> bool {
        self.tag < other.tag || self.tag == other.tag && self.flow < other.flow
    }
}

/// Comes after every tag that is used, and is not the last of all numbers.
const NEVER: Tag = Tag(u64::MAX - 1);
/// No flow.
const NOBODY: Entrant = Entrant { tag: NEVER, flow: 0 };

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// Who has won.
    first: Entrant,
    /// Who meet at each node: from the winners of the two nodes below node `n`, which are `2n` and `2n + 1`, or on the
    /// lowest level two flows. The root is node 1.
    nodes: Vec<[Entrant; 2]>,
}

impl Default for Tournament {
    fn default() -> Self {
        Self::of(2)
    }
}

impl Tournament {
    /// Places for flows below `flows`, a power of two, and nobody present.
    fn of(flows: usize) -> Self {
        Self { first: NOBODY, nodes: vec![[NOBODY; 2]; flows.max(2)] }
    }

    /// How many flows have a place: those of smaller numbers.
    #[inline]
    pub(super) fn places(&self) -> usize {
        self.nodes.len()
    }

    /// Makes places for flows below `flows`, a power of two.
    #[cold]
    pub(super) fn grow(&mut self, flows: usize) {
        let mut grown = Self::of(flows);
        self.ranks().for_each(|rank| grown.push(rank));
        *self = grown;
    }

    /// The ranks, by flow.
    pub(super) fn ranks(&self) -> impl Iterator<Item = Rank> + '_ {
        let flows = self.nodes[self.nodes.len() / 2..].iter().flatten();
        flows.filter(|entrant| entrant.tag < NEVER).map(|entrant| Rank::new(entrant.tag, entrant.flow))
    }

    /// The least rank.
    #[inline]
    pub(super) fn peek(&self) -> Option<Rank> {
        let Entrant { tag, flow } = self.first;
        (tag < NEVER).then(|| Rank::new(tag, flow))
    }

    /// A flow joins, which has a place and is not present. It goes up as far as it wins.
    #[inline]
    pub(super) fn push(&mut self, rank: Rank) {
        let entrant = Entrant { tag: rank.tag(), flow: rank.flow() };
        let mut at = self.nodes.len() + entrant.flow as usize;
        while let Some(met) = self.nodes.get_mut(at / 2) {
            let right = at % 2;
            met[right] = entrant;
            if met[1 - right].is_before(entrant) {
                return;
            }
            at /= 2;
            if at == 1 {
                break;
            }
        }
        self.first = entrant;
    }

    /// The first leaves.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.replay(NEVER);
    }

    /// The first gets another rank.
    #[inline]
    pub(super) fn rerank_least(&mut self, rank: Rank) {
        debug_assert_eq!(self.peek().map(Rank::flow), Some(rank.flow()));
        self.replay(rank.tag());
    }

    /// All tags are lowered; of those that have become equal the smaller number is first.
    pub(super) fn lower(&mut self, amount: u64) {
        let mut lowered = Self::of(self.places());
        self.ranks().for_each(|rank| lowered.push(rank.lowered(amount)));
        *self = lowered;
    }

    /// The first, at another tag, meets its neighbour on each level; of equal tags the left one wins.
    #[inline]
    fn replay(&mut self, tag: Tag) {
        let mut best = Entrant { tag, flow: self.first.flow };
        let mut at = self.nodes.len() + best.flow as usize;
        while at > 1 {
            let right = at % 2;
            at /= 2;
            let met = &mut self.nodes[at];
            met[right] = best;
            let other = met[1 - right];
            let wins = best.tag.0 < other.tag.0 + (1 - right as u64);
            best.tag = Tag(select_unpredictable(wins, best.tag.0, other.tag.0));
            best.flow = select_unpredictable(wins, best.flow, other.flow);
        }
        self.first = best;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::conformance::Random;

    #[test]
    fn the_order_is_that_of_a_sorted_set() {
        for (flows, tags) in [(1_u32, 9), (2, 2), (7, 3), (64, 1 << 40), (200, 30)] {
            let (mut tournament, mut expected) = (Tournament::default(), BTreeSet::new());
            tournament.grow((flows as usize).next_power_of_two());
            let mut random = Random::new(u64::from(flows));
            for _ in 0..20_000 {
                let (flow, tag) = (random.below(flows.into()) as u32, Tag(random.below(tags)));
                match random.below(3) {
                    0 if expected.iter().all(|rank: &Rank| rank.flow() != flow) => {
                        tournament.push(Rank::new(tag, flow));
                        expected.insert(Rank::new(tag, flow));
                    }
                    1 => {
                        tournament.pop();
                        expected.pop_first();
                    }
                    _ => {
                        if let Some(least) = expected.pop_first() {
                            tournament.rerank_least(Rank::new(tag, least.flow()));
                            expected.insert(Rank::new(tag, least.flow()));
                        }
                    }
                }
                if random.one_in(500) {
                    tournament.lower(2);
                    expected = expected.iter().map(|rank| rank.lowered(2)).collect();
                }
                assert_eq!(tournament.peek(), expected.first().copied());
            }
            assert!(tournament.ranks().collect::<BTreeSet<_>>() == expected);
        }
    }
}
