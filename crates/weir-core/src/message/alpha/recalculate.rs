//! Alpha scheduling whose head is recalculated: an order of keys, with barriers.
//!
//! Whenever a message is inserted while others wait or are served, the first of them is given the key it
//! would have if it were inserted now with what remains of it; the newcomer goes before it if that key is
//! larger, else before the first of the others with a larger key. The new key stays, even if the message
//! is preempted, and the others are not sorted anew: see [`super::barriers`] for the order that results.
//! Where the first is not being served (between two grants), it is recalculated just so.
//!
//! **Rebasing.** No key ever falls here, and newcomers have at least the clock as their key. So
//! all keys up to the clock are alike to whoever comes: they are raised to it, numbered in their order,
//! and everything is lowered by the clock. The order of what is present stays, and so does the outcome of
//! every later comparison, however far behind the clock a starving message has fallen.

use core::cmp::Reverse;

use super::PerClass;
use super::barriers::Barriers;
use super::clock::Clock;
use super::coefficient::Coefficient;
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::heap::Order;
use crate::item::Item;
use crate::priority::{Key, Prioritized, copied_with_keys};
use crate::ranked::{Numbers, Rank, Ranked};
use crate::units::{Cost, Instant};

/// A place in the order: before which barrier, and with which rank among those before it.
type Place = (Reverse<u32>, Rank);

impl Order for Place {
    const LAST: Self = (Reverse(0), Rank::LAST);
}

/// The item of the open grant, which the discipline does not hold.
#[derive(Clone, Copy, Debug)]
struct Open<C> {
    key: Key,
    remaining: C,
    number: u64,
    coefficient: Coefficient,
    /// Whether a newcomer stands before it, on the level that its barrier will have.
    preempted: bool,
}

/// Alpha scheduling by recalculation.
#[derive(Clone, Debug)]
pub struct Recalculating<I: Item> {
    alphas: PerClass,
    queue: Ranked<Place, I>,
    barriers: Barriers,
    clock: Clock,
    numbers: Numbers,
    open: Option<Open<I::Cost>>,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Recalculating<I> {
    /// An empty queue.
    #[must_use]
    pub(super) fn new(alphas: PerClass) -> Self {
        Self {
            alphas,
            queue: Ranked::default(),
            barriers: Barriers::default(),
            clock: Clock::default(),
            numbers: Numbers::default(),
            open: None,
            backlog: Backlog::default(),
        }
    }

    /// Rebases the clock whenever it passes `clock`, and the numbers of insertion after `insertions`.
    #[must_use]
    pub(super) fn rebasing_at(mut self, clock: I::Cost, insertions: u64) -> Self {
        self.clock = Clock::with_limit(clock);
        self.numbers = Numbers::with_limit(insertions);
        self
    }

    fn insert(&mut self, item: I, key: Key) -> Enqueued {
        let number = match self.numbers.take() {
            Some(number) => number,
            None => self.renumber(0),
        };
        let preempts = self.recalculate_head(key);
        let level = if preempts { self.barriers.top() + 1 } else { self.barriers.level(key) };
        self.backlog.add(item.cost());
        self.place(level, Rank::new(key, number), item);
        if preempts { Enqueued::Preempts } else { Enqueued::Queued }
    }

    #[inline]
    fn place(&mut self, level: u32, rank: Rank, item: I) {
        self.queue.push((Reverse(level), rank), item.cost().count(), item);
    }

    /// Gives the head its key of now; true where it is being served and larger than that of a newcomer.
    fn recalculate_head(&mut self, newcomer: Key) -> bool {
        let tick = self.clock.tick();
        if let Some(open) = &mut self.open {
            open.key = open.coefficient.key(open.remaining, tick);
            open.preempted |= newcomer < open.key;
            return newcomer < open.key;
        }
        if let Some((rank, item)) = self.take_if(|_| true) {
            let key = self.alphas.of(&item).key(item.cost(), tick);
            let level = self.barriers.push(key);
            self.place(level, Rank::new(key, rank.number()), item);
        }
        false
    }

    /// Removes the first in order, if it is `wanted`.
    #[inline]
    fn take_if(&mut self, wanted: impl FnOnce(&I) -> bool) -> Option<(Rank, I)> {
        let ((_, rank), item) = self.queue.pop_if(wanted)?;
        self.barriers.truncate(self.queue.peek().map_or(0, |((Reverse(level), _), _)| level));
        Some((rank, item))
    }

    #[inline]
    fn advance(&mut self, used: I::Cost) {
        if self.clock.advance(used) {
            let behind = self.clock.tick() - Clock::default().tick().min(self.clock.tick());
            self.renumber(behind);
            self.clock.lower(behind);
        }
    }

    /// Lowers every key by `amount`, where those up to the clock are alike, and numbers what is present in
    /// its order; returns the next number.
    #[cold]
    fn renumber(&mut self, amount: u128) -> u64 {
        let mut present: Vec<Place> = self.queue.ranks().collect();
        present.sort_unstable();
        present.dedup();
        let alike = if amount > 0 { Key(self.clock.tick()) } else { Key::default() };
        let lowered = |key: Key| key.max(alike).lowered(amount);
        let number = |place: &Place| present.binary_search(place).unwrap_or_else(|next| next) as u64;
        self.queue.map_ranks(|old| (old.0, Rank::new(lowered(old.1.key()), number(&old))));
        self.barriers.map(lowered);
        let next = present.len() as u64;
        if let Some(open) = &mut self.open {
            (open.key, open.number) = (lowered(open.key), next);
        }
        self.numbers.restart(next + 1)
    }
}

impl<I: Item> Discipline<I> for Recalculating<I> {
    fn enqueue(&mut self, now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        let key = self.key(now, &item);
        self.insert(item, key)
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let (rank, item) = self.take_if(|item| gate.permits(item))?;
        let quantum = item.cost();
        self.backlog.remove(quantum);
        let coefficient = self.alphas.of(&item);
        let (key, number) = (rank.key(), rank.number());
        self.open = Some(Open { key, remaining: quantum, number, coefficient, preempted: false });
        Some(Grant { item, quantum })
    }

    #[inline]
    fn charge(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        if let Some(open) = &mut self.open {
            open.remaining = open.remaining.minus(used);
        }
        self.advance(used);
    }

    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        self.charge(now, &item, used);
        let Some(open) = self.open.take() else {
            // Without a grant to end, it is a newcomer.
            let _ = self.enqueue(now, item, drops);
            return;
        };
        let level = self.barriers.push(open.key);
        self.backlog.add(item.cost());
        self.place(level, Rank::new(open.key, open.number), item);
    }

    #[inline]
    fn finish(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        if self.open.take().is_some_and(|open| open.preempted) {
            // It was not interrupted: those before it keep their level, and nobody is held back by it.
            self.barriers.push(Key::default());
        }
        self.advance(used);
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        self.queue.retain(self.backlog.less(keep));
        self.barriers.truncate(self.queue.peek().map_or(0, |((Reverse(level), _), _)| level));
        true
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

impl<I: Item> Prioritized<I> for Recalculating<I> {
    #[inline]
    fn key(&self, _now: Instant, item: &I) -> Key {
        self.alphas.of(item).key(item.cost(), self.clock.tick())
    }

    fn enqueue_with_key(&mut self, now: Instant, item: I, key: Key, _drops: &mut dyn Drops<I>) -> Enqueued {
        let least = self.key(now, &item);
        self.insert(item, key.clamp(least, Key::MAX))
    }

    fn rebased(&self) -> u128 {
        self.clock.rebased()
    }

    fn barrier(&self) -> Key {
        let tick = self.clock.tick();
        let head = match &self.open {
            Some(open) => open.coefficient.key(open.remaining, tick),
            None => match self.queue.peek() {
                Some((_, item)) => self.alphas.of(item).key(item.cost(), tick),
                None => Key::default(),
            },
        };
        head.max(self.barriers.largest())
    }

    copied_with_keys!();
}
