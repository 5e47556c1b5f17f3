//! What no placement can be better than.
//!
//! How many nodes: `volume`, all needs over what a node can promise (L1); `large`, which knows that two needs above
//! half of it never share a node, and how little room is left by those that are even larger (L2, the most over all
//! thresholds); `apart`, how many processes are apart from each other, each from each.
//!
//! The largest load of n nodes: `mean`, all needs over n; `longest`, the longest need; `shared`, since of the k n + 1
//! longest needs some k + 1 are on one node, and these are at least the k + 1 shortest of them, for every k (k = 1 is
//! the bound of pairs); `confined`, the needs of those who may be only on some nodes, over these.
//!
//! | | |
//! |-|-|
//! | Source | Martello, Toth, *Lower bounds and reduction procedures for the bin packing problem*, Discrete Appl. Math. 28(1), 1990 (L1, L2); Dell'Amico, Martello, *Optimal scheduling of tasks on identical parallel processors*, ORSA J. Comput. 7(2), 1995 (`shared`) |
//! | Work | O(n log n) for n processes, the groups that are apart with each other O(groups²) at most |
//! | Units | nanoseconds of an epoch |

use std::collections::BTreeMap;

use serde::Serialize;

use super::problem::Problem;
use super::request::Group;

/// Lower bounds of the number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NodeBounds {
    /// All needs over what a node can promise, rounded up: L1.
    pub volume: u64,
    /// The same with large needs apart from each other: L2.
    pub large: u64,
    /// Processes that are apart from each other.
    pub apart: u64,
}

impl NodeBounds {
    pub(super) fn of(problem: &Problem, groups: &[Group]) -> Self {
        let needs = problem.needs();
        Self {
            volume: volume(&needs, problem.capacity),
            large: large(&needs, problem.capacity),
            apart: apart(groups, problem.capacity),
        }
    }

    /// The highest of them.
    #[must_use]
    pub fn highest(&self) -> u64 {
        self.volume.max(self.large).max(self.apart)
    }
}

/// Lower bounds of the largest load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LoadBounds {
    /// All needs over the number of nodes, rounded up.
    #[serde(rename = "mean_ns")]
    pub mean: u64,
    /// The longest need.
    #[serde(rename = "longest_ns")]
    pub longest: u64,
    /// The shortest needs that are on one node together.
    #[serde(rename = "shared_ns")]
    pub shared: u64,
    /// Those who may be only on some nodes, over these.
    #[serde(rename = "confined_ns")]
    pub confined: u64,
}

impl LoadBounds {
    pub(super) fn of(problem: &Problem) -> Self {
        let needs = problem.needs();
        let total: u64 = needs.iter().sum();
        Self {
            mean: total.div_ceil(problem.nodes.max(1) as u64),
            longest: needs.first().copied().unwrap_or(0),
            shared: shared(&needs, problem.nodes.max(1)),
            confined: confined(problem),
        }
    }

    /// The highest of them.
    #[must_use]
    pub fn highest(&self) -> u64 {
        self.mean.max(self.longest).max(self.shared).max(self.confined)
    }
}

/// L1.
pub(super) fn volume(needs: &[u64], capacity: u64) -> u64 {
    needs.iter().sum::<u64>().div_ceil(capacity.max(1))
}

/// L2 of needs in descending order, each at most the capacity: the most over the thresholds that are needs up to half
/// of it, and zero.
pub(super) fn large(needs: &[u64], capacity: u64) -> u64 {
    let capacity = capacity.max(1);
    let sums: Vec<u64> = core::iter::once(0)
        .chain(needs.iter().scan(0, |sum, need| {
            *sum += need;
            Some(*sum)
        }))
        .collect();
    let above = |threshold: u64| needs.partition_point(|&need| need > threshold);
    let half = above(capacity / 2);
    let of_threshold = |threshold: u64| {
        // Nothing that is not below the threshold fits together with the first; the others above half have some room left.
        let first = above(capacity - threshold);
        let until = needs.partition_point(|&need| need >= threshold);
        let room = (half - first) as u64 * capacity - (sums[half] - sums[first]);
        let small = sums[until.max(half)] - sums[half];
        half as u64 + small.saturating_sub(room).div_ceil(capacity)
    };
    let thresholds = needs[half..].iter().copied().chain([0]);
    thresholds.map(of_threshold).max().unwrap_or(0)
}

/// As many as are found to be apart, each from each, taking groups in turn, the largest first.
fn apart(groups: &[Group], capacity: u64) -> u64 {
    let size = |group: &Group, place: usize| match group.apart_from.binary_search(&place) {
        Ok(_) => group.members.len() as u64,
        Err(_) => 1,
    };
    let is_placed = |place: &usize| {
        let group = &groups[*place];
        !group.apart_from.is_empty() && group.need.get() <= capacity
    };
    let mut order: Vec<usize> = (0..groups.len()).filter(is_placed).collect();
    order.sort_by_key(|&place| (core::cmp::Reverse(size(&groups[place], place)), place));
    let mut chosen: Vec<usize> = Vec::new();
    for place in order {
        let is_apart = |other: &usize| groups[place].apart_from.binary_search(other).is_ok();
        // Who is apart from fewer than are chosen cannot be apart from all of them.
        if groups[place].apart_from.len() >= chosen.len() && chosen.iter().all(is_apart) {
            chosen.push(place);
        }
    }
    chosen.into_iter().map(|place| size(&groups[place], place)).sum()
}

/// The most, over k, of the k + 1 shortest of the k n + 1 longest needs.
fn shared(needs: &[u64], nodes: usize) -> u64 {
    let last = (1..).map(|k| (k, k * nodes)).take_while(|(_, last)| *last < needs.len());
    last.map(|(k, last)| needs[last - k..=last].iter().sum()).max().unwrap_or(0)
}

/// The most, over lists of nodes, of the needs that are confined to one over its length.
fn confined(problem: &Problem) -> u64 {
    let mut sums: BTreeMap<&[u32], u64> = BTreeMap::new();
    for &item in &problem.items {
        if let Some(on) = problem.confined(item) {
            *sums.entry(on).or_default() += item.need;
        }
    }
    sums.into_iter().map(|(on, sum)| sum.div_ceil(on.len().max(1) as u64)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_needs_do_not_share_a_node() {
        assert_eq!((volume(&[6, 6, 6], 10), large(&[6, 6, 6], 10)), (2, 3));
        // Two above half leave 4 + 4, which is less than the three of 4 take.
        assert_eq!((volume(&[6, 6, 4, 4, 4], 10), large(&[6, 6, 4, 4, 4], 10)), (3, 3));
        // Where 9 is, nothing of 3 has room: 3 + 3 + 3 + 3 need two nodes more.
        assert_eq!((volume(&[9, 3, 3, 3, 3], 10), large(&[9, 3, 3, 3, 3], 10)), (3, 3));
        assert_eq!((volume(&[8, 8, 7, 3, 3, 3], 10), large(&[8, 8, 7, 3, 3, 3], 10)), (4, 4));
        assert_eq!((volume(&[8, 8, 8, 3], 10), large(&[8, 8, 8, 3], 10)), (3, 4));
        assert_eq!((volume(&[], 10), large(&[], 10)), (0, 0));
    }

    #[test]
    fn one_node_has_several_of_the_longest() {
        // Two of the first four: at least 9 + 6. Three of all seven: at least 5 + 4 + 4.
        assert_eq!(shared(&[9, 9, 9, 6, 5, 4, 4], 3), 15);
        assert_eq!(shared(&[9, 8, 7], 3), 0);
        assert_eq!(shared(&[9, 8, 7, 2], 3), 9);
    }
}
