//! The search for a placement that is better than the one at hand: all of them are tried, one process after the other,
//! the longest need first, and those that cannot lead to one are passed over.
//!
//! Passed over are: an empty node while a lower one is empty where the same processes may be; of two such nodes with
//! the same load the higher, unless some processes are apart from others; for the second of two processes that are
//! alike, the nodes below that of the first; and whatever leaves less room than the rest needs, where room that is
//! smaller than the shortest need counts for nothing.
//!
//! | | |
//! |-|-|
//! | Source | branch and bound, depth first, as in Martello, Toth, *Knapsack Problems*, Wiley 1990, sections 8.5 and 8.6; the room that counts for nothing is their wasted space; dominance of equal nodes: Dell'Amico, Martello 1995 |
//! | Work | exponential, but for [`MAX_STEPS`]: a step considers one node, or one group from which a process is apart |
//! | Departs from the source | nodes in the order of their numbers, and neither reductions nor other bounds at a branch |

use super::problem::{Board, Problem};

/// The number of steps after which the search is given up.
pub const MAX_STEPS: u64 = 2_000_000;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The most nodes that have any process.
    pub(super) used: usize,
    /// No node has more than this.
    pub(super) limit: u64,
}

/// What a search came to.
pub(super) enum Answer<'p> {
    /// There is one.
    Found(Board<'p>),
    /// There is none.
    Impossible,
    /// The steps were used up.
    Unknown,
}

/// A search with a bounded number of steps.
pub(super) struct Search<'p> {
    problem: &'p Problem,
    /// The needs from each item on.
    rest: Vec<u64>,
    steps: u64,
}

impl<'p> Search<'p> {
    pub(super) fn new(problem: &'p Problem) -> Self {
        let mut rest = vec![0; problem.items.len() + 1];
        for place in (0..problem.items.len()).rev() {
            rest[place] = rest[place + 1] + problem.items[place].need;
        }
        Self { problem, rest, steps: 0 }
    }

    /// The steps of all searches so far.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// Looks for a placement.
    pub(super) fn find(&mut self, wanted: Wanted) -> Answer<'p> {
        let mut board = Board::new(self.problem);
        let (mut place, mut next) = (0, 0);
        while place < self.problem.items.len() {
            if self.steps >= MAX_STEPS {
                return Answer::Unknown;
            }
            if let Some(node) = self.candidate(&board, place, next, wanted) {
                board.put(place, node);
                self.steps += self.problem.foes(self.problem.items[place]) as u64;
                if self.has_room(&board, place + 1, wanted) {
                    place += 1;
                    next = self.lowest(&board, place);
                } else {
                    board.take(place);
                    next = node + 1;
                }
            } else if place == 0 {
                return Answer::Impossible;
            } else {
                place -= 1;
                next = board.take(place) + 1;
            }
        }
        Answer::Found(board)
    }

    /// The lowest node for an item: that of the one before it, if they are alike.
    fn lowest(&self, board: &Board<'_>, place: usize) -> usize {
        let items = &self.problem.items;
        let is_alike = place > 0 && place < items.len() && items[place].group == items[place - 1].group;
        if is_alike { board.at[place - 1] as usize } else { 0 }
    }

    /// The next node to try, from `next` on.
    fn candidate(&mut self, board: &Board<'_>, place: usize, next: usize, wanted: Wanted) -> Option<usize> {
        let item = self.problem.items[place];
        let lowest = self.lowest(board, place);
        for node in next..self.problem.nodes {
            self.steps += 1;
            let before = self.problem.alike(node);
            let is_passed_over = if board.is_empty(node) {
                board.used >= wanted.used || before.is_some_and(|before| board.is_empty(before))
            } else {
                let is_same = |before: usize| before >= lowest && board.loads[before] == board.loads[node];
                self.problem.is_sociable() && before.is_some_and(is_same)
            };
            if !is_passed_over && board.fits(item, node, wanted.limit) {
                return Some(node);
            }
        }
        None
    }

    /// Whether the nodes have room for the items from `place` on.
    fn has_room(&mut self, board: &Board<'_>, place: usize, wanted: Wanted) -> bool {
        self.steps += self.problem.nodes as u64;
        let shortest = self.problem.items.last().map_or(0, |item| item.need);
        let left = (0..self.problem.nodes).filter(|&node| !board.is_empty(node));
        let left = left.map(|node| wanted.limit - board.loads[node]).filter(|&left| left >= shortest);
        // At most 1,000 nodes of at most a day.
        let empty = (wanted.used - board.used) as u64 * wanted.limit;
        left.sum::<u64>() + empty >= self.rest[place]
    }
}
