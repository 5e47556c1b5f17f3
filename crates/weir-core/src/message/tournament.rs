//! A kinetic tournament of response ratios.
//!
//! The contestants, a message with its arrival and cost each, are the leaves of a binary tree; each inner
//! node holds the winner of its subtree and the first moment at which some winner below it may change.
//! The ratio `(now - arrival) / cost` is a straight line in `now`, so two of them change places at most
//! once, and that moment is computed exactly. Who asks for the winner replays only the nodes whose moment
//! has passed.
//!
//! Source: Basch, Guibas and Hershberger, *Data structures for mobile data*, J. Algorithms 31(1), 1999.
//! Insertion and removal take O(log n); replays amount to O(log^2 n) per insertion.

use core::cmp::Ordering;

/// A moment that never comes.
const NEVER: u64 = u64::MAX;
/// No contestant.
const NOBODY: u32 = u32::MAX;

/// A line in time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contestant {
    /// When its ratio is zero.
    pub(super) arrival: u64,
    /// What its wait is divided by; not zero.
    pub(super) cost: u64,
    /// Among equal ratios the smaller number wins.
    pub(super) number: u64,
}

impl Contestant {
    /// Its wait times the other's cost: larger is the larger ratio.
    fn against(&self, other: &Self, now: u64) -> u128 {
        u128::from(now.saturating_sub(self.arrival)) * u128::from(other.cost)
    }

    /// Whether it wins against the other now.
    pub(super) fn beats(&self, other: &Self, now: u64) -> bool {
        match self.against(other, now).cmp(&other.against(self, now)) {
            Ordering::Greater => true,
            Ordering::Equal => self.number < other.number,
            Ordering::Less => false,
        }
    }

    /// The place of who wins among these now. Which of two wins is reckoned with rather than branched on, since nobody could predict it.
    #[inline]
    pub(super) fn first<'a>(all: impl Iterator<Item = &'a Self>, now: u64) -> Option<usize> {
        let mut all = all.enumerate();
        let (mut first, mut best) = all.next().map(|(place, one)| (place, *one))?;
        for (place, one) in all {
            let (wait, least) = (one.against(&best, now), best.against(one, now));
            let wins = (wait > least) | ((wait == least) & (one.number < best.number));
            first = core::hint::select_unpredictable(wins, place, first);
            best.arrival = core::hint::select_unpredictable(wins, one.arrival, best.arrival);
            best.cost = core::hint::select_unpredictable(wins, one.cost, best.cost);
            best.number = core::hint::select_unpredictable(wins, one.number, best.number);
        }
        Some(first)
    }

    /// The first moment at which it no longer wins against the other, against which it wins now.
    fn loses_to(&self, other: &Self, now: u64) -> u64 {
        let gap = self.against(other, now) - other.against(self, now);
        let Some(closing) = self.cost.checked_sub(other.cost).filter(|&closing| closing > 0) else {
            return NEVER;
        };
        let first_equal = other.number < self.number;
        // Most gaps fit into a word, whose division takes a fraction of the time.
        let wait = match u64::try_from(gap) {
            Ok(gap) if first_equal => gap.div_ceil(closing),
            Ok(gap) => (gap / closing).saturating_add(1),
            Err(_) => {
                let wait = (gap - u128::from(first_equal)) / u128::from(closing);
                u64::try_from(wait).map_or(NEVER, |wait| wait.saturating_add(1))
            }
        };
        now.saturating_add(wait)
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    winner: u32,
    /// The first moment at which a winner in this subtree may change.
    until: u64,
}

const EMPTY: Node = Node { winner: NOBODY, until: NEVER };

/// Contestants in numbered places, and the winner among them.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// As many places as there are leaves, a power of two.
    places: Vec<Contestant>,
    /// The root is 1, the children of `n` are `2 n` and `2 n + 1`, the leaves come last.
    nodes: Vec<Node>,
    free: Vec<u32>,
}

impl Tournament {
    pub(super) fn new() -> Self {
        Self { places: vec![Contestant::default()], nodes: vec![EMPTY; 2], free: vec![0] }
    }

    /// How many contestants there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place of one of them, whoever it is.
    pub(super) fn anybody(&self) -> Option<u32> {
        Some(self.nodes[1].winner).filter(|&winner| winner != NOBODY)
    }

    /// The contestant in this place, in which there is one.
    pub(super) fn contestant(&self, place: u32) -> Contestant {
        self.places[place as usize]
    }

    /// Adds a contestant; yields its place.
    pub(super) fn insert(&mut self, contestant: Contestant, now: u64) -> u32 {
        if self.free.is_empty() {
            self.double(now);
        }
        let place = self.free.pop().expect("doubling frees as many places as there were");
        self.places[place as usize] = contestant;
        self.set_leaf(place, place, now);
        place
    }

    /// Removes the contestant in this place.
    pub(super) fn remove(&mut self, place: u32, now: u64) {
        self.free.push(place);
        self.set_leaf(place, NOBODY, now);
    }

    /// The place of the winner. `now` never decreases from call to call.
    pub(super) fn winner(&mut self, now: u64) -> Option<u32> {
        self.replay_expired(1, now);
        Some(self.nodes[1].winner).filter(|&winner| winner != NOBODY)
    }

    fn set_leaf(&mut self, place: u32, winner: u32, now: u64) {
        let mut node = self.places.len() + place as usize;
        self.nodes[node].winner = winner;
        while node > 1 {
            node /= 2;
            self.replay(node, now);
        }
    }

    fn replay_expired(&mut self, node: usize, now: u64) {
        // The leaves expire at `NEVER` alone, which a clock may reach; there is nothing to replay in them.
        if self.nodes[node].until > now || node >= self.places.len() {
            return;
        }
        self.replay_expired(2 * node, now);
        self.replay_expired(2 * node + 1, now);
        self.replay(node, now);
    }

    /// Decides one match from the winners below. A winner below whose moment has passed keeps this node
    /// expired too, so a stale match is played again before it counts.
    fn replay(&mut self, node: usize, now: u64) {
        let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
        let below = left.until.min(right.until);
        self.nodes[node] = match (left.winner, right.winner) {
            (winner, NOBODY) | (NOBODY, winner) => Node { winner, until: below },
            (a, b) => {
                let (x, y) = (&self.places[a as usize], &self.places[b as usize]);
                let (winner, holds) =
                    if x.beats(y, now) { (a, x.loses_to(y, now)) } else { (b, y.loses_to(x, now)) };
                Node { winner, until: below.min(holds) }
            }
        };
    }

    fn double(&mut self, now: u64) {
        let old = self.places.len();
        self.free.extend((old as u32..2 * old as u32).rev());
        self.places.resize(2 * old, Contestant::default());
        let leaves = self.nodes.split_off(old);
        self.nodes.clear();
        self.nodes.resize(2 * old, EMPTY);
        self.nodes.extend(leaves);
        self.nodes.resize(4 * old, EMPTY);
        for node in (1..2 * old).rev() {
            self.replay(node, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Random;

    #[test]
    fn the_moment_of_a_change_is_exact() {
        let mut random = Random::new(1);
        for _ in 0..20_000 {
            let mut draw =
                |number| Contestant { arrival: random.below(30), cost: 1 + random.below(9), number };
            let (x, y) = (draw(0), draw(1));
            let now = 30 + random.below(30);
            let (winner, loser) = if x.beats(&y, now) { (x, y) } else { (y, x) };
            let until = winner.loses_to(&loser, now).min(1_000);
            assert!((now..until).all(|t| winner.beats(&loser, t)), "{winner:?} {loser:?} {now} {until}");
            assert!(until == 1_000 || loser.beats(&winner, until), "{winner:?} {loser:?} {now} {until}");
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        let slow = Contestant { arrival: 0, cost: u64::MAX, number: 0 };
        let quick = Contestant { arrival: u64::MAX, cost: 1, number: 1 };
        assert!(slow.beats(&quick, u64::MAX));
        assert_eq!(slow.loses_to(&quick, u64::MAX), NEVER);
    }

    #[test]
    fn replays_stay_few() {
        // Every arrival order and cost: the nodes replayed, over insertions, stay within a few log^2 n.
        let mut tournament = Tournament::new();
        let mut random = Random::new(2);
        for number in 0..4_096 {
            let contestant = Contestant { arrival: number, cost: 1 + random.below(1 << 20), number };
            tournament.insert(contestant, number);
        }
        let mut expired = 0;
        let mut now = 4_096;
        while now < 1 << 40 {
            expired += tournament.nodes.iter().filter(|node| node.until <= now).count();
            assert!(tournament.winner(now).is_some());
            now += now / 64;
        }
        assert!(expired < 4_096 * 12 * 12, "{expired}");
    }
}
