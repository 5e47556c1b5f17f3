//! Alpha scheduling whose head is decremented: one order of keys, at all times.
//!
//! **Rebasing.** Before the clock reaches its limit, everything is lowered by the same amount, one less
//! than the least of the clock and of all keys. Comparisons are of differences, so none changes. One key
//! may still sink below what was the least: that of the message being served, as it goes on. It
//! stops at zero, and remains the least, since all others are at least one and newcomers at least the
//! clock; as the least it is served next, so there is never a second one at zero. How far the clock can
//! run ahead of the least key is bounded by the backlog: whoever comes after the clock has passed a key is
//! served after it. For a backlog below 2^61 units nothing saturates, however long the run.

use super::clock::Clock;
use super::coefficient::Coefficient;
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::item::Item;
use crate::priority::{Key, Prioritized, copied_with_keys};
use crate::ranked::{Numbers, Rank, Ranked};
use crate::units::{Cost, Instant};

/// Which alpha a message has.
pub trait Assign<I: Item>: Clone + Send + 'static {
    /// What a message keeps of its insertion.
    type Kept: Copy + Send + 'static;
    /// What `item` keeps, inserted while `waiting` was not yet served.
    fn assign(&self, item: &I, waiting: I::Cost) -> Self::Kept;
    /// The alpha of `item`.
    fn coefficient(&self, item: &I, kept: Self::Kept) -> Coefficient;
}

/// The item of the open grant, which the discipline does not hold.
#[derive(Clone, Copy, Debug)]
struct Open<C, K> {
    /// Its key when it was granted.
    key: Key,
    /// Its cost when it was granted.
    cost: C,
    used: C,
    number: u64,
    coefficient: Coefficient,
    kept: K,
}

impl<C: Cost, K> Open<C, K> {
    #[inline]
    fn remaining(&self) -> C {
        self.cost.minus(self.used)
    }

    /// Its key now: decremented by its own alpha for each unit that it has used. A finite alpha takes
    /// nothing off an infinite key, which a wrapper may have given.
    #[inline]
    fn key(&self) -> Key {
        if self.coefficient.is_finite() && !self.key.is_finite() {
            return self.key;
        }
        let used = self.coefficient.times(self.cost) - self.coefficient.times(self.remaining());
        Key(self.key.0.saturating_sub(used))
    }
}

/// Alpha scheduling by decrement; `A` says which alpha each message has.
#[derive(Clone, Debug)]
pub struct Decrementing<I: Item, A: Assign<I>> {
    assign: A,
    queue: Ranked<Rank, (I, A::Kept)>,
    clock: Clock,
    numbers: Numbers,
    open: Option<Open<I::Cost, A::Kept>>,
    backlog: Backlog<I::Cost>,
}

impl<I: Item, A: Assign<I>> Decrementing<I, A> {
    /// An empty queue.
    #[must_use]
    pub(in crate::message) fn new(assign: A) -> Self {
        Self {
            assign,
            queue: Ranked::default(),
            clock: Clock::default(),
            numbers: Numbers::default(),
            open: None,
            backlog: Backlog::default(),
        }
    }

    /// Rebases the clock whenever it passes `clock`, and the numbers of insertion after `insertions`. Low
    /// limits cost time and change no decision.
    #[must_use]
    pub fn rebasing_at(mut self, clock: I::Cost, insertions: u64) -> Self {
        self.clock = Clock::with_limit(clock);
        self.numbers = Numbers::with_limit(insertions);
        self
    }

    #[inline]
    fn waiting(&self) -> I::Cost {
        let served = self.open.as_ref().map_or(I::Cost::ZERO, Open::remaining);
        self.backlog.cost.plus(served)
    }

    #[inline]
    fn insert(&mut self, item: I, kept: A::Kept, key: Key) -> Enqueued {
        let number = match self.numbers.take() {
            Some(number) => number,
            None => self.numbers.renumber(&mut self.queue, self.open.as_mut().map(|open| &mut open.number)),
        };
        let preempts = self.open.as_ref().is_some_and(|open| key < open.key && key < open.key());
        self.place(Rank::new(key, number), item, kept);
        if preempts { Enqueued::Preempts } else { Enqueued::Queued }
    }

    #[inline]
    fn place(&mut self, rank: Rank, item: I, kept: A::Kept) {
        let cost = item.cost();
        self.backlog.add(cost);
        self.queue.push(rank, cost.count(), (item, kept));
    }

    #[inline]
    fn advance(&mut self, used: I::Cost) {
        if self.clock.advance(used) {
            self.rebase();
        }
    }

    #[cold]
    fn rebase(&mut self) {
        let open = self.open.as_ref().map(Open::key);
        let keys = self.queue.ranks().map(Rank::key).chain(open);
        let least = keys.filter(|key| key.is_finite() && key.0 > 0).map(|key| key.0).min();
        let amount = least.map_or(self.clock.tick(), |key| key.min(self.clock.tick())) - 1;
        self.clock.lower(amount);
        self.queue.map_ranks(|rank| Rank::new(rank.key().lowered(amount), rank.number()));
        if let Some(open) = &mut self.open {
            open.key = open.key.lowered(amount);
        }
    }
}

impl<I: Item, A: Assign<I>> Discipline<I> for Decrementing<I, A> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        let kept = self.assign.assign(&item, self.waiting());
        let key = self.assign.coefficient(&item, kept).key(item.cost(), self.clock.tick());
        self.insert(item, kept, key)
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let (rank, (item, kept)) = self.queue.pop_if(|(item, _)| gate.permits(item))?;
        let cost = item.cost();
        self.backlog.remove(cost);
        let coefficient = self.assign.coefficient(&item, kept);
        let (key, number) = (rank.key(), rank.number());
        self.open = Some(Open { key, cost, used: I::Cost::ZERO, number, coefficient, kept });
        Some(Grant { item, quantum: cost })
    }

    #[inline]
    fn charge(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        if let Some(open) = &mut self.open {
            open.used = open.used.plus(used);
        }
        self.advance(used);
    }

    #[inline]
    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        self.charge(now, &item, used);
        match self.open.take() {
            Some(open) => self.place(Rank::new(open.key(), open.number), item, open.kept),
            // Without a grant to end, it is a newcomer.
            None => {
                let _ = self.enqueue(now, item, drops);
            }
        }
    }

    #[inline]
    fn finish(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        self.open = None;
        self.advance(used);
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let mut keep = self.backlog.less(keep);
        self.queue.retain(|(item, _)| keep(item));
        true
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

impl<I: Item, A: Assign<I>> Prioritized<I> for Decrementing<I, A> {
    #[inline]
    fn key(&self, _now: Instant, item: &I) -> Key {
        let kept = self.assign.assign(item, self.waiting());
        self.assign.coefficient(item, kept).key(item.cost(), self.clock.tick())
    }

    #[inline]
    fn enqueue_with_key(&mut self, _now: Instant, item: I, key: Key, _drops: &mut dyn Drops<I>) -> Enqueued {
        let kept = self.assign.assign(&item, self.waiting());
        let least = self.assign.coefficient(&item, kept).key(item.cost(), self.clock.tick());
        self.insert(item, kept, key.clamp(least, Key::MAX))
    }

    #[inline]
    fn rebased(&self) -> u128 {
        self.clock.rebased()
    }

    copied_with_keys!();
}
