//! Strict fair queueing: a queue for every flow, served in elastic turns.
//!
//! No two flows share a queue. What a queue does with its own packets (how many may wait, which are dropped)
//! is a discipline of its own, made when the flow's first packet comes.
//!
//! Turns are those of *elastic round robin*. A flow is served until it has had its allowance, over which its
//! last packet may go; what it has had too much is its surplus. In the next round every flow may have one
//! unit more than what separates its surplus from the largest of this round. So a turn is one packet as long
//! as sizes are equal, whatever the size, and shares are equal in bytes where they are not; and unlike
//! deficit round robin nobody asks for the size of a packet before it is taken, which a discipline that
//! drops at its head could not tell.
//!
//! A turn ends where its last packet is taken, as in `sfq`; a flow that has no packet left forgets its surplus.
//! So does one that is held back, by the gate or by its own discipline; it goes to the end of the round.
//!
//! | | |
//! |-|-|
//! | Source | ideal: Demers, Keshav and Shenker, *Analysis and simulation of a fair queueing algorithm*, SIGCOMM '89; turns: Kanhere, Sethu and Parekh, *Fair and efficient packet scheduling using elastic round robin*, IEEE TPDS 13(3), 2002 |
//! | Work per packet | O(1), and that of the child; one step more per flow held back |
//! | Units | allowance, surplus: bytes (in general, the unit of the item's cost); `depth`, `limit`: packets |
//! | Memory | one entry per flow up to the highest seen, one child per flow seen; both stay |
//! | Departs from the source | the ideal finishes packets in the order of a bit-by-bit round robin, which `wfq` emulates; turns only keep flows that stay backlogged within three largest packets of each other, as the second source proves. The gate and holding back, which the sources lack |
//!
//! With `full=longest`, packets beyond the limit of all are taken from the longest queue as its discipline would give
//! them, and every packet is served whole.
//!
//! An event of a child is waited for while the child withholds what it has. Whether a newcomer outranks the
//! item of the open grant is not asked: a packet is served whole.

mod config;

pub use config::{Config, ConfigError};

use super::child::{Child, ChildFactory, child_factory};
use super::flows::{BY, By, FLOWS};
use super::leaving::Leaving;
use super::lengths::LengthsApart;
use super::limits::{DEPTH, FULL, Full, LIMIT, Limits};
use super::list::{List, Node};
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Effort, Enqueued, Gate, Grant, Open};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Bytes, Cost, Instant};

/// What the listings say.
pub const INFO: Info = Info {
    name: "fq",
    kind: Kind::Packet,
    title: "strict fair queueing",
    rule: "one queue for each flow, served in turns that give equal shares of bytes; one packet each if \
        sizes are equal",
    source: "Demers, Keshav and Shenker, SIGCOMM '89; turns: Kanhere, Sethu and Parekh, elastic round robin, 2002",
    work: "O(1)",
    parameters: &[
        Parameter::new("discipline", Takes::Discipline(Role::Discipline), FIFO)
            .listed("a discipline of packets")
            .meaning("what each flow's queue does with its packets"),
        DEPTH,
        LIMIT,
        BY,
        FLOWS,
        FULL,
    ],
    example: "fq(codel:5ms,depth=1000pkt)",
};

/// The discipline of a queue where none is given.
const FIFO: &str = "fifo";

/// One flow.
#[derive(Clone, Debug)]
struct Flow<D, C> {
    /// Its queue, once it has had a packet.
    child: Option<D>,
    next: u32,
    in_turn: bool,
    /// What it had beyond its allowance in its last turn.
    surplus: C,
}

impl<D, C> Flow<D, C> {
    /// Whether it takes turns from now on: it has a packet, and had none.
    #[inline]
    fn joins<I: Item>(&mut self) -> bool
    where
        D: Discipline<I>,
    {
        let joins = !self.in_turn && self.child.as_ref().is_some_and(|child| !child.backlog().is_empty());
        self.in_turn |= joins;
        joins
    }
}

impl<D, C> Node for Flow<D, C> {
    #[inline]
    fn next(&self) -> u32 {
        self.next
    }
    #[inline]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// The turn that is being taken, if any, and the round that it belongs to.
#[derive(Clone, Copy, Debug, Default)]
struct Round<C> {
    /// Turns left in this round.
    left: u32,
    /// The largest surplus of the round before, and of this one so far.
    before: C,
    largest: C,
    /// What the flow whose turn it is may have, and has had; nothing while nobody has begun.
    allowance: C,
    had: C,
}

impl<C: Cost> Round<C> {
    /// A flow begins its turn, the first of a round if none is left of the last; `flows` take turns.
    #[inline]
    fn begin(&mut self, flows: u32, surplus: C) {
        if self.left == 0 {
            *self = Self { left: flows, before: self.largest, ..Self::default() };
        }
        self.allowance = self.before.minus(surplus).plus(C::ONE);
        self.had = C::ZERO;
    }

    /// The turn ends; with how much too much?
    #[inline]
    fn end(&mut self) -> C {
        let surplus = self.had.minus(self.allowance);
        self.largest = self.largest.max(surplus);
        self.left = self.left.saturating_sub(1);
        self.allowance = C::ZERO;
        surplus
    }
}

/// Strict fair queueing; `F` makes the queue of a new flow.
#[derive(Clone, Debug)]
pub struct Fq<I: Item, D, F> {
    config: Config,
    make: F,
    flows: Vec<Flow<D, I::Cost>>,
    turns: List,
    round: Round<I::Cost>,
    backlog: Backlog<I::Cost>,
    /// The flow that gave its last packet at the last decision.
    idle: Option<u32>,
    /// The first event of the children, if all of them withhold what they have.
    wake: Option<Instant>,
    /// How long the queues are, where the longest gives way.
    lengths: Option<LengthsApart>,
}

impl<I: Item, D: Discipline<I>, F: Fn() -> D> Fq<I, D, F> {
    /// No flow yet; `make` makes the queue of each.
    ///
    /// # Errors
    /// Nothing may wait, or the table is empty or too large.
    pub fn new(make: F, config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let (flows, turns, backlog) = (Vec::new(), List::default(), Backlog::default());
        let lengths = (config.full == Full::Longest).then(LengthsApart::default);
        let round = Round::default();
        Ok(Self { config, make, flows, turns, round, backlog, idle: None, wake: None, lengths })
    }

    /// The number of the item's flow.
    #[inline]
    fn number(&self, item: &I) -> usize {
        match self.config.by {
            By::Flow => item.flow().0 as usize,
            By::Class => item.class().0.into(),
        }
    }

    /// The first packet of a flow, whose child is made if the flow is within the table.
    #[cold]
    #[inline(never)]
    fn enqueue_first(&mut self, at: usize, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if self.grow(at) {
            return self.enqueue(now, item, drops);
        }
        drops.dropped(item, DropReason::Unclassified);
        Enqueued::Queued
    }

    /// Makes the entries up to that of `flow`, and its child, if the table is large enough.
    fn grow(&mut self, flow: usize) -> bool {
        if flow >= self.config.flows {
            return false;
        }
        while self.flows.len() <= flow {
            self.flows.push(Flow { child: None, next: 0, in_turn: false, surplus: I::Cost::ZERO });
        }
        self.flows[flow].child = Some((self.make)());
        true
    }

    /// The child of an item's flow, if it is to hear what becomes of its grant. Where the longest queue gives way it has
    /// heard of the end already, as it may be asked for another packet at any arrival.
    #[inline]
    fn served_in_pieces(&mut self, item: &I) -> Option<&mut D> {
        let flow = self.number(item);
        if self.lengths.is_some() {
            return None;
        }
        self.flows.get_mut(flow)?.child.as_mut()
    }

    /// The turn of the first flow ends; it stands at the end of the list if it has a packet.
    #[inline(always)]
    fn end_turn(&mut self, at: u32, has_packets: bool) {
        let surplus = self.round.end();
        let flow = &mut self.flows[at as usize];
        flow.in_turn = has_packets;
        flow.surplus = if has_packets { surplus } else { I::Cost::ZERO };
        if has_packets {
            self.turns.rotate(&mut self.flows);
        } else {
            self.turns.pop(&self.flows);
            if self.turns.len() == 0 {
                self.round = Round::default();
            }
        }
    }

    /// What the flow whose turn it is gives; its turn ends with its allowance or its last packet. Where lengths are kept,
    /// its child hears at once that it is served.
    #[inline(always)]
    fn take<const KEEPS_LENGTHS: bool>(
        &mut self,
        at: u32,
        now: Instant,
        gate: &dyn Gate<I>,
        drops: &mut dyn Drops<I>,
    ) -> Option<Grant<I>> {
        let Flow { child, surplus, .. } = &mut self.flows[at as usize];
        if self.round.allowance == I::Cost::ZERO {
            self.round.begin(self.turns.len(), *surplus);
        }
        let child = child.as_mut()?;
        let grant = child.dequeue(now, gate, &mut Leaving { backlog: &mut self.backlog, drops });
        let left = child.backlog().items;
        if KEEPS_LENGTHS && let Some(lengths) = &mut self.lengths {
            lengths.set(at, left);
        }
        let Grant { item, quantum } = grant?;
        if KEEPS_LENGTHS {
            child.finish(now, &item, item.cost());
        }
        // One that is served whole is not looked at, so that it is handed over in the pieces in which it lies.
        self.backlog.remove(if I::WHOLE { quantum } else { item.cost() });
        let is_last = left == 0;
        self.round.had = self.round.had.plus(quantum.max(I::Cost::ONE));
        if is_last || self.round.had >= self.round.allowance {
            self.end_turn(at, !is_last);
            self.idle = Some(at).filter(|_| is_last);
        }
        Some(Grant { item, quantum })
    }

    /// What the first flow in turn gives that gives anything; mostly that is the first.
    #[inline(always)]
    fn decide<const KEEPS_LENGTHS: bool>(
        &mut self,
        now: Instant,
        gate: &dyn Gate<I>,
        drops: &mut dyn Drops<I>,
    ) -> Option<Grant<I>> {
        let first = self.turns.first()?;
        if let Some(Grant { item, quantum }) = self.take::<KEEPS_LENGTHS>(first, now, gate, drops) {
            return Some(Grant { item, quantum });
        }
        let Grant { item, quantum } = self.decide_behind::<KEEPS_LENGTHS>(first, now, gate, drops)?;
        Some(Grant { item, quantum })
    }

    /// The same behind a flow that has given nothing in its turn.
    #[cold]
    #[inline(never)]
    fn decide_behind<const KEEPS_LENGTHS: bool>(
        &mut self,
        mut at: u32,
        now: Instant,
        gate: &dyn Gate<I>,
        drops: &mut dyn Drops<I>,
    ) -> Option<Grant<I>> {
        let mut held = 0;
        loop {
            let waits =
                self.flows[at as usize].child.as_ref().is_some_and(|child| !child.backlog().is_empty());
            self.end_turn(at, waits);
            if waits {
                held += 1;
                self.wake = [self.wake, self.wake_of(at, now)].into_iter().flatten().min();
            }
            if held >= self.turns.len() {
                return None;
            }
            at = self.turns.first()?;
            if let Some(grant) = self.take::<KEEPS_LENGTHS>(at, now, gate, drops) {
                self.wake = None;
                return Some(grant);
            }
        }
    }

    /// The same where lengths are kept, apart: the child looks at a packet there, which must then lie in memory.
    #[inline(never)]
    fn decide_with_lengths(
        &mut self,
        now: Instant,
        gate: &dyn Gate<I>,
        drops: &mut dyn Drops<I>,
    ) -> Option<Grant<I>> {
        self.decide::<true>(now, gate, drops)
    }

    /// The flow that gave its last packet is asked once more if it has no other, so that its child sees it.
    #[inline]
    fn see_idle(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) {
        self.wake = None;
        let Some(flow) = self.idle.take().map(|at| &mut self.flows[at as usize]) else { return };
        if let Some(child) = flow.child.as_mut().filter(|_| !flow.in_turn) {
            // It has nothing to grant.
            let _ = child.dequeue(now, gate, &mut Leaving { backlog: &mut self.backlog, drops });
        }
    }

    /// Drops a packet of the longest queue, the one that its child would give next, for one of a queue in which
    /// `waiting` packets wait, if that is the shorter one with it, and not full itself.
    #[cold]
    fn make_room(&mut self, waiting: u64, now: Instant, drops: &mut dyn Drops<I>) -> bool {
        let Some(lengths) = self.lengths.as_mut().filter(|_| waiting < self.config.limits.depth.get()) else {
            return false;
        };
        let Some(longest) = lengths.gives_way_to(waiting) else { return false };
        let Some(child) = self.flows[longest as usize].child.as_mut() else { return false };
        let leaving = &mut Leaving { backlog: &mut self.backlog, drops };
        if let Some(Grant { item, .. }) = child.dequeue(now, &Open, leaving) {
            child.finish(now, &item, item.cost());
            leaving.dropped(item, DropReason::QueueFull);
        }
        lengths.set(longest, child.backlog().items);
        self.backlog.items < self.config.limits.limit.get()
    }

    /// When the child of a flow that gave nothing asks to be asked again.
    fn wake_of(&self, at: u32, now: Instant) -> Option<Instant> {
        let child = self.flows[at as usize].child.as_ref()?;
        child.next_event().filter(|&at| at > now)
    }
}

impl<I: Item<Cost = Bytes> + Send + 'static> Fq<I, Child<I>, ChildFactory<I>> {
    /// As a spec names it.
    ///
    /// # Errors
    /// The discipline within is unknown or refused, or an argument is out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let make = child_factory(&arguments.nested("discipline")?)?;
        let config = Config::from_spec(arguments)?;
        Self::new(make, config).map_err(|error| arguments.error("flows", error.to_string()))
    }
}

impl<I: Item, D: Discipline<I>, F: Fn() -> D> Discipline<I> for Fq<I, D, F> {
    #[inline(always)]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let at = self.number(&item);
        if self.flows.get(at).is_none_or(|flow| flow.child.is_none()) {
            return self.enqueue_first(at, now, item, drops);
        }
        if self.config.limits != Limits::NONE {
            let waiting = self.flows[at].child.as_ref().map_or(0, |child| child.backlog().items);
            let admits = self.config.limits.admit(waiting, self.backlog.items);
            if !admits && !self.make_room(waiting, now, drops) {
                drops.dropped(item, DropReason::QueueFull);
                return Enqueued::Queued;
            }
        }
        let flow = &mut self.flows[at];
        let Some(child) = &mut flow.child else { return Enqueued::Queued };
        self.backlog.add(item.cost());
        let _ = child.enqueue(now, item, &mut Leaving { backlog: &mut self.backlog, drops });
        if let Some(lengths) = &mut self.lengths {
            lengths.set(at as u32, child.backlog().items);
        }
        if flow.joins() {
            self.turns.push(&mut self.flows, at as u32);
        }
        Enqueued::Queued
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.see_idle(now, gate, drops);
        if self.lengths.is_some() {
            let Grant { item, quantum } = self.decide_with_lengths(now, gate, drops)?;
            return Some(Grant { item, quantum });
        }
        self.decide::<false>(now, gate, drops)
    }

    fn charge(&mut self, now: Instant, item: &I, used: I::Cost) {
        if let Some(child) = self.served_in_pieces(item) {
            child.charge(now, item, used);
        }
    }

    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        let at = self.number(&item);
        let mut flow = self.flows.get_mut(at).filter(|_| self.lengths.is_none());
        let Some(child) = flow.as_mut().and_then(|flow| flow.child.as_mut()) else {
            return drops.dropped(item, DropReason::NotResumable);
        };
        self.backlog.add(item.cost());
        child.requeue(now, item, used, &mut Leaving { backlog: &mut self.backlog, drops });
        if flow.is_some_and(Flow::joins) {
            self.turns.push(&mut self.flows, at as u32);
        }
    }

    fn finish(&mut self, now: Instant, item: &I, used: I::Cost) {
        if let Some(child) = self.served_in_pieces(item) {
            child.finish(now, item, used);
        }
    }

    fn next_event(&self) -> Option<Instant> {
        self.wake
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }

    #[inline]
    fn effort(&self) -> Option<Effort> {
        let children = self.flows.iter().filter_map(|flow| flow.child.as_ref());
        children.filter_map(|child| child.effort()).reduce(Effort::plus)
    }
}

#[cfg(test)]
mod tests;
