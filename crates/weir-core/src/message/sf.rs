//! Shortest first: the message with the least still to be sent is served first.
//!
//! A newcomer overtakes the message being served if it is strictly shorter than what remains of that one
//! beyond what has been committed (the packet in transmission); equal remainders are served in the order
//! of arrival. It is the limit of alpha scheduling for a large alpha, and minimises the mean latency.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, *Alpha Message Scheduling for Packet-Switched Interconnects*, section 5 |
//! | Work per item | O(1) for lengths below 64, else O(log n) |
//! | Units | the key is the remaining cost |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | no: the listing's alpha of 10^6 is this order for lengths below 10^6 |

use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::priority::{Key, Prioritized, copied_with_keys};
use crate::ranked::{Numbers, Rank, Ranked};
use crate::spec::SpecError;
use crate::units::{Cost, Instant};

/// What the listings say.
pub const INFO: Info = Info {
    name: "sf",
    kind: Kind::Message,
    title: "shortest first",
    rule: "serves the message with the least remaining; a strictly shorter newcomer preempts",
    source: "Cherkasova and Rokicki, alpha report, section 5 (alpha = 1000000)",
    work: "O(1) for lengths below 64, else O(log n)",
    parameters: &[],
    example: "sf",
};

/// The item of the open grant: its key as granted, less what it has used, is what remains.
#[derive(Clone, Copy, Debug)]
struct Open {
    key: Key,
    used: u64,
    number: u64,
}

impl Open {
    #[inline]
    fn key(&self) -> Key {
        Key(self.key.0.saturating_sub(u128::from(self.used)))
    }
}

/// Shortest remaining first.
#[derive(Clone, Debug)]
pub struct Sf<I: Item> {
    queue: Ranked<Rank, I>,
    numbers: Numbers,
    open: Option<Open>,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Default for Sf<I> {
    fn default() -> Self {
        let queue = Ranked::default();
        Self { queue, numbers: Numbers::default(), open: None, backlog: Backlog::default() }
    }
}

impl<I: Item> Sf<I> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// As a spec names it; it has no parameters.
    ///
    /// # Errors
    /// None: a spec with arguments was refused before.
    pub fn from_spec(_arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Ok(Self::new())
    }

    /// Numbers insertions anew after `limit` of them; a low limit costs time and changes no decision.
    #[must_use]
    pub fn renumbering_at(mut self, limit: u64) -> Self {
        self.numbers = Numbers::with_limit(limit);
        self
    }

    #[inline]
    fn insert(&mut self, item: I, key: Key) -> Enqueued {
        let number = match self.numbers.take() {
            Some(number) => number,
            None => self.numbers.renumber(&mut self.queue, self.open.as_mut().map(|open| &mut open.number)),
        };
        let preempts = self.open.as_ref().is_some_and(|open| key < open.key && key < open.key());
        self.place(Rank::new(key, number), item);
        if preempts { Enqueued::Preempts } else { Enqueued::Queued }
    }

    #[inline]
    fn place(&mut self, rank: Rank, item: I) {
        let cost = item.cost();
        self.backlog.add(cost);
        self.queue.push(rank, cost.count(), item);
    }
}

impl<I: Item> Discipline<I> for Sf<I> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        let key = Key::of(item.cost());
        self.insert(item, key)
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let (rank, item) = self.queue.pop_if(|item| gate.permits(item))?;
        let quantum = item.cost();
        self.backlog.remove(quantum);
        self.open = Some(Open { key: rank.key(), used: 0, number: rank.number() });
        Some(Grant { item, quantum })
    }

    #[inline]
    fn charge(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        if let Some(open) = &mut self.open {
            open.used = open.used.saturating_add(used.count());
        }
    }

    #[inline]
    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        self.charge(now, &item, used);
        match self.open.take() {
            Some(open) => self.place(Rank::new(open.key(), open.number), item),
            // Without a grant to end, it is a newcomer.
            None => {
                let _ = self.enqueue(now, item, drops);
            }
        }
    }

    #[inline]
    fn finish(&mut self, _now: Instant, _item: &I, _used: I::Cost) {
        self.open = None;
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let mut keep = self.backlog.less(keep);
        self.queue.retain(&mut keep);
        true
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

impl<I: Item> Prioritized<I> for Sf<I> {
    #[inline]
    fn key(&self, _now: Instant, item: &I) -> Key {
        Key::of(item.cost())
    }

    #[inline]
    fn enqueue_with_key(&mut self, now: Instant, item: I, key: Key, _drops: &mut dyn Drops<I>) -> Enqueued {
        let least = self.key(now, &item);
        self.insert(item, key.clamp(least, Key::MAX))
    }

    copied_with_keys!();
}

#[cfg(test)]
mod tests {
    use super::super::schedule::schedule;

    #[test]
    fn strictly_shorter_newcomers_overtake() {
        // Beyond the packet in transmission a has 4 left, then b has 2.
        assert_eq!(schedule("sf", "a5 . b3 . c1"), "abcbbaaaa");
    }

    #[test]
    fn equals_are_served_in_order_of_arrival() {
        assert_eq!(schedule("sf", "a4 . b3"), "aaaabbb");
        assert_eq!(schedule("sf", "a3 b2 c2 d3"), "bbccaaaddd");
        // c3 preempts a, of which 4 are left: as many as d has, which came later.
        assert_eq!(schedule("sf", "a5 . c3 d4"), "acccaaaadddd");
    }

    #[test]
    fn long_messages_are_ordered_like_short_ones() {
        let served = schedule("sf", "a90 b70 . c60");
        assert_eq!(served, ["b", &"c".repeat(60), &"b".repeat(69), &"a".repeat(90)].concat());
    }
}
