//! Placements by a rule: each process in turn, the longest need first, where the rule says, never to be moved.
//!
//! | rule | where | at most |
//! |---|---|---|
//! | first fit decreasing | the first node with room | 11/9 of the fewest nodes, and 6/9 |
//! | best fit decreasing | the node that it fills most | 11/9 of them, and a constant |
//! | longest first | the node with the least load | 4/3 - 1/(3 n) of the least possible largest load of n nodes |
//! | multifit | first fit in as little room on each node as is found by halving | 13/11 of the least possible largest load, and 2^-12 |
//!
//! The bounds are those where every process may be anywhere.
//!
//! | | |
//! |-|-|
//! | Source | Johnson, Demers, Ullman, Garey, Graham, *Worst-case performance bounds for simple one-dimensional packing algorithms*, SIAM J. Comput. 3(4), 1974; the constant 6/9: Dosa, *The tight bound of first fit decreasing*, ESCAPE 2007. Longest first: Graham, *Bounds on multiprocessing timing anomalies*, SIAM J. Appl. Math. 17(2), 1969. Multifit: Coffman, Garey, Johnson, *An application of bin-packing to multiprocessor scheduling*, SIAM J. Comput. 7(1), 1978; 13/11: Yue 1990 |
//! | Work | O(processes × (nodes + groups from which one is apart)), each of the 12 rounds of multifit |
//! | Departs from the source | nodes where a process may not be are passed over, and then none of the bounds holds |

use super::problem::{Board, Problem};

/// Rounds of multifit.
const ROUNDS: u32 = 12;

/// Where a process goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// To the first node with room.
    First,
    /// To the node that it fills most, of equals the first.
    Best,
    /// To the node with the least load, of equals the first.
    Least,
}

/// Places by a rule; no node has more than `limit`. Who has no room is left out.
pub(super) fn fit(problem: &Problem, rule: Rule, limit: u64) -> Board<'_> {
    let mut board = Board::new(problem);
    for (place, &item) in problem.items.iter().enumerate() {
        let mut fitting = (0..problem.nodes).filter(|&node| board.fits(item, node, limit));
        let node = match rule {
            Rule::First => fitting.next(),
            Rule::Best => fitting.min_by_key(|&node| core::cmp::Reverse(board.loads[node])),
            Rule::Least => fitting.min_by_key(|&node| board.loads[node]),
        };
        if let Some(node) = node {
            board.put(place, node);
        }
    }
    board
}

/// The smallest room, from `low` to what a node can promise, in which first fit places all, as far as it was looked
/// for.
pub(super) fn multifit(problem: &Problem, low: u64) -> Option<Board<'_>> {
    let (mut low, mut high, mut found) = (low, problem.capacity, None);
    for _ in 0..ROUNDS {
        let limit = low.midpoint(high);
        let board = fit(problem, Rule::First, limit);
        if board.is_whole() {
            high = board.largest();
            found = Some(board);
        } else {
            low = limit + 1;
        }
        if low >= high {
            break;
        }
    }
    found
}
