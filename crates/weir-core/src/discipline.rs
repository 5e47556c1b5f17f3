//! The contract of a discipline: who is served next, and for how much at most.
//!
//! Sans-IO: no clock, thread, lock, log, system call or steady-state allocation. Time comes in as an
//! argument, payloads stay with the caller. That is why the same code serves simulation, an in-process
//! queue, a router in user space and an executor of tasks.
//!
//! How an engine drives it:
//!
//! ```text
//! arrival     charge(open grant)  ->  enqueue  ->  Preempts?  requeue(open grant), ask at the boundary
//! boundary    dequeue  ->  Grant { item, quantum }  ->  charge*  ->  requeue | finish
//! next_event  requeue(open grant) if it can be interrupted  ->  dequeue
//! ```
//!
//! A grant closes at its last *commitment*, not at completion: the start of a packet's transmission, the
//! time that has passed for a task. An acceptance comes before an arrival at the same instant.

use crate::item::Item;
use crate::units::{Cost, Instant};

/// What became of an item that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a preemption must be acted on: the engine requeues its open grant"]
pub enum Enqueued {
    /// It waits, or was dropped.
    Queued,
    /// It outranks the item of the open grant.
    Preempts,
}

/// `item` may consume at most `quantum`; for an item served whole that is its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant<I: Item> {
    /// Who is served.
    pub item: I,
    /// For how much at most.
    pub quantum: I::Cost,
}

/// Why an item left without being served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DropReason {
    /// The queue it belongs in, or the whole discipline, is full.
    QueueFull,
    /// It was given back unfinished to a discipline that serves items whole.
    NotResumable,
    /// It costs more than the discipline can ever grant.
    TooLarge,
    /// Its flow or class has no place in the configuration.
    Unclassified,
    /// Its queue has stood for too long: a signal to whoever sends.
    Congestion,
    /// Its process is ready already, or runs.
    AlreadyReady,
    /// The server that it would join is not available, and no other takes its place.
    NoServer,
}

/// Receives what a discipline drops: the newcomer, or another that makes room for it.
pub trait Drops<I> {
    /// `item` has left; it will not be granted.
    fn dropped(&mut self, item: I, reason: DropReason);
}

/// Counts what is dropped and forgets the items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountDrops(pub u64);

impl<I> Drops<I> for CountDrops {
    // Where the call is seen to do nothing with the item, that need not be laid into memory for it on any path.
    #[inline]
    fn dropped(&mut self, _item: I, _reason: DropReason) {
        self.0 += 1;
    }
}

impl<I> Drops<I> for Vec<(I, DropReason)> {
    fn dropped(&mut self, item: I, reason: DropReason) {
        self.push((item, reason));
    }
}

/// Link-level permission, kept by the engine and read at the decision; must not change during a call.
pub trait Gate<I> {
    /// Whether the head of a flow could be sent now; it depends on the head's size.
    fn permits(&self, head: &I) -> bool;
}

/// A gate that is always open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open;

impl<I> Gate<I> for Open {
    #[inline]
    fn permits(&self, _head: &I) -> bool {
        true
    }
}

/// What waits: held items included, the item of an open grant not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog<C: Cost> {
    /// Items waiting (`qlen`).
    pub items: u64,
    /// Their cost together.
    pub cost: C,
}

impl<C: Cost> Backlog<C> {
    /// Counts one item more.
    #[inline]
    pub fn add(&mut self, cost: C) {
        self.items += 1;
        self.cost = self.cost.plus(cost);
    }

    /// Counts one item less.
    #[inline]
    pub fn remove(&mut self, cost: C) {
        self.items -= 1;
        self.cost = self.cost.minus(cost);
    }

    /// `keep`, which counts one less for each item that goes.
    pub(crate) fn less<I: Item<Cost = C>>(
        &mut self,
        keep: &mut dyn FnMut(&I) -> bool,
    ) -> impl FnMut(&I) -> bool {
        move |item| {
            let stays = keep(item);
            if !stays {
                self.remove(item.cost());
            }
            stays
        }
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }
}

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit<C: Cost> {
    /// Items at most.
    pub items: u64,
    /// Cost at most, of all of them together.
    pub cost: C,
}

impl<C: Cost> Limit<C> {
    /// As much as there is.
    #[must_use]
    pub fn none() -> Self {
        Self { items: u64::MAX, cost: C::of(u64::MAX) }
    }

    /// Whether one item more, of this cost, may wait.
    #[must_use]
    #[inline]
    pub fn admits(&self, backlog: &Backlog<C>, cost: C) -> bool {
        backlog.items < self.items && backlog.cost.plus(cost) <= self.cost
    }
}

/// What the decisions of a discipline have taken so far, in the unit of hardware: entries of a table, or flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Decisions that granted an item.
    pub decisions: u64,
    /// Entries that they examined.
    pub examined: u64,
    /// The most that one of them examined.
    pub most_examined: u64,
    /// Reads, each of as many entries as are read at once.
    pub steps: u64,
    /// The most reads of one decision.
    pub most_steps: u64,
}

impl Effort {
    /// Counts one decision that examined `examined` entries, `at_once` in each read.
    #[inline]
    pub fn count(&mut self, examined: u64, at_once: u64) {
        let steps = examined.div_ceil(at_once.max(1));
        self.decisions += 1;
        self.examined += examined;
        self.most_examined = self.most_examined.max(examined);
        self.steps += steps;
        self.most_steps = self.most_steps.max(steps);
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            decisions: self.decisions + other.decisions,
            examined: self.examined + other.examined,
            most_examined: self.most_examined.max(other.most_examined),
            steps: self.steps + other.steps,
            most_steps: self.most_steps.max(other.most_steps),
        }
    }
}

/// Decides which waiting item is served next, and for how much at most.
///
/// Each item enqueued leaves once, by `finish` or through `drops`. Every grant is closed, before the next
/// `dequeue`, by `requeue` or `finish`: at its last *commitment*, which for a packet is the start of its
/// transmission and for a task the time that has passed. `now` never decreases, nor passes a `next_event`
/// that is due and unhandled. Nothing here allocates in the steady state, locks, logs or panics on input.
///
/// Wrappers and `Box` forward every method, the defaulted ones too.
pub trait Discipline<I: Item> {
    /// Takes the item, or drops it or another. `Preempts`: it outranks the item of the open grant, which
    /// the engine, if it can interrupt, requeues at this instant, and asks again at its next boundary.
    /// Whatever the open grant has used is charged before.
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued;

    /// The next item, called at each instant at which the server can start one, over an empty backlog too:
    /// here a discipline sees that a flow went inactive. A flow is active if it has a head and `gate`
    /// permits it. `None` over a backlog: ask again at `next_event`, or when the gate opens.
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>>;

    /// The open grant has used `used` more and goes on. Charging in pieces equals charging at once.
    /// An interval's overhead (a switch, an interrupt) is part of `used`. `item` is as it was granted.
    #[inline]
    fn charge(&mut self, now: Instant, item: &I, used: I::Cost) {
        let _ = (now, item, used);
    }

    /// The open grant ends and its item is still runnable: quantum used, preempted, or `next_event` fell
    /// due. Charges `used` (what was not charged yet), then places the item, whose cost the engine has
    /// lowered, at the head or the tail as its own rule says.
    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        let _ = (now, used);
        drops.dropped(item, DropReason::NotResumable);
    }

    /// The open grant ends and its item leaves: all served, or the task waits. What a flow keeps over a
    /// wait is the discipline's, by `flow()`; its next readiness is a new `enqueue`. To yield is
    /// `finish`, then `enqueue`. `used` is what was not charged yet.
    #[inline]
    fn finish(&mut self, now: Instant, item: &I, used: I::Cost) {
        let _ = (now, item, used);
    }

    /// When state changes without a call: a held item is released, an epoch ends. The engine then requeues
    /// the open grant, if it can interrupt, and calls `dequeue`. To be read again after every call.
    #[inline]
    fn next_event(&self) -> Option<Instant> {
        None
    }

    /// What waits, held items included; the item of an open grant is not.
    fn backlog(&self) -> Backlog<I::Cost>;

    /// What its decisions have taken so far; `None` where nothing is looked through.
    fn effort(&self) -> Option<Effort> {
        None
    }

    /// Another one with the same state, which decides from here on as this one does: what would be served if nothing
    /// else arrived is asked of it. O(items). `None` where the state cannot be copied: it is a program's own.
    fn copied(&self) -> Option<Box<dyn Discipline<I> + Send>>
    where
        I: Clone + Send + 'static,
    {
        None
    }

    /// Lets those waiting items go that are not to be kept, unserved; the others keep their order. O(items). `false`
    /// where it cannot, and nothing has changed.
    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let _ = keep;
        false
    }
}

/// [`Discipline::copied`] of one that is [`Clone`] if its items are.
macro_rules! copied {
    () => {
        fn copied(&self) -> Option<Box<dyn $crate::discipline::Discipline<I> + Send>>
        where
            I: Clone + Send + 'static,
        {
            Some(Box::new(self.clone()))
        }
    };
}
pub(crate) use copied;

impl<I: Item, D: Discipline<I> + ?Sized> Discipline<I> for Box<D> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        (**self).enqueue(now, item, drops)
    }
    #[inline]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        (**self).dequeue(now, gate, drops)
    }
    #[inline]
    fn charge(&mut self, now: Instant, item: &I, used: I::Cost) {
        (**self).charge(now, item, used);
    }
    #[inline]
    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        (**self).requeue(now, item, used, drops);
    }
    #[inline]
    fn finish(&mut self, now: Instant, item: &I, used: I::Cost) {
        (**self).finish(now, item, used);
    }
    #[inline]
    fn next_event(&self) -> Option<Instant> {
        (**self).next_event()
    }
    #[inline]
    fn backlog(&self) -> Backlog<I::Cost> {
        (**self).backlog()
    }
    #[inline]
    fn effort(&self) -> Option<Effort> {
        (**self).effort()
    }
    fn copied(&self) -> Option<Box<dyn Discipline<I> + Send>>
    where
        I: Clone + Send + 'static,
    {
        (**self).copied()
    }
    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        (**self).retain(keep)
    }
}
