//! FQ-CoDel: queues chosen by a keyed hash, deficit round robin with new queues first, CoDel on each.
//!
//! A packet joins the queue that a keyed hash of its addresses and its flow names. A queue that had
//! nothing joins the end of the *new* queues with a quantum of credit. New queues are served before *old* ones.
//! One without credit gets a quantum and goes to the end of the old queues; one with credit gives the packet
//! that its CoDel lets pass. A new queue that is found empty goes to the end of the old ones, so that nobody
//! stays new by sending one packet at a time; an old one that is found empty leaves.
//!
//! When a newcomer exceeds a limit, the queue that holds the most bytes loses packets from its head: half of
//! them, at least one and at most `drop_batch`.
//!
//! | | |
//! |-|-|
//! | Source | Hoeiland-Joergensen, McKenney, Taht, Gettys and Dumazet, *The Flow Queue CoDel Packet Scheduler and Active Queue Management Algorithm*, RFC 8290, section 4 |
//! | Work per packet | O(1) if `quantum >= max(cost)`, else O(flows); O(flows) more per batch of drops |
//! | Units | `quantum`, `memory_limit`, credit: bytes (in general, the unit of the item's cost); `limit`, `drop_batch`: packets; the rest as in `codel` |
//! | Memory | 80 bytes per queue, made at once; one slot per waiting packet, at most `limit`; both stay |
//! | Departs from the source | `memory_limit`, `drop_batch` and `ce_threshold` are those of Linux; as there, CoDel spares a packet only if all queues together hold no more than an MTU, not if its own does; what counts against `memory_limit` is the size of packets; a queue whose head the gate holds back goes to the end of the old ones and keeps its credit |

use super::codel::{self, Control};
use super::hash::{self, Spread};
use super::list::{List, Node};
use super::slots::{Chain, Slots};
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Bytes, Cost, Instant};

mod config;

pub use config::{Config, ConfigError};

/// The most queues.
pub const MAX_FLOWS: usize = 1 << 16;
/// The largest quantum and memory limit, in bytes.
pub const MAX_BYTES: u64 = 1 << 40;

/// What the listings say.
pub const INFO: Info = Info {
    name: "fq_codel",
    kind: Kind::Packet,
    title: "flow queue CoDel",
    rule: "hashes flows to queues, serves them in turns of a quantum, new ones first, and limits the wait \
        in each as codel does",
    source: "Hoeiland-Joergensen, McKenney, Taht, Gettys and Dumazet, RFC 8290, 2018",
    work: "O(1) if quantum >= largest packet",
    parameters: &[
        Parameter::new("limit", Takes::Packets(codel::LIMITS), "10240pkt").meaning(
            "how many packets may wait; beyond the limit the queue with the most bytes loses a batch",
        ),
        Parameter::new("memory_limit", Takes::Size(Bytes::ONE..=Bytes::new(MAX_BYTES)), "32MiB")
            .listed("bytes such as 32MiB, {}")
            .refused("a size such as 1514B, {}")
            .meaning("how many bytes may wait; beyond the limit the queue with the most bytes loses a batch"),
        Parameter::new("flows", Takes::Whole(1..=MAX_FLOWS as u64), "1024").meaning("the number of queues"),
        codel::TARGET,
        codel::INTERVAL,
        Parameter::new("quantum", Takes::Size(Bytes::ONE..=Bytes::new(MAX_BYTES)), "1514B")
            .listed("bytes {}; at least the largest packet for O(1)")
            .meaning("how much a queue is served in its turn"),
        codel::ECN.or_else("yes"),
        codel::CE_THRESHOLD,
        Parameter::new("drop_batch", Takes::Packets(codel::LIMITS), "64pkt")
            .meaning("the most packets that the queue with the most bytes loses at once"),
        codel::MTU.meaning("while all queues hold no more than this together, every wait is acceptable"),
        hash::HASH,
        hash::KEY_OF_FLOW,
        hash::SEED,
    ],
    example: "fq_codel:limit=10240pkt,flows=1024",
};

/// One queue.
#[derive(Clone, Debug, Default)]
struct Queue {
    packets: Chain,
    next: u32,
    /// Whether it is among the new or the old ones.
    listed: bool,
    /// What it may still be served in this turn; it has none left where this is not positive.
    credit: i64,
    control: Control,
}

impl Node for Queue {
    #[inline]
    fn next(&self) -> u32 {
        self.next
    }
    #[inline]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// FQ-CoDel.
#[derive(Clone, Debug)]
pub struct FqCodel<I: Item> {
    config: Config<I::Cost>,
    spread: Spread,
    queues: Vec<Queue>,
    /// What each queue holds, apart from the rest so that the fattest is found quickly.
    costs: Vec<I::Cost>,
    slots: Slots<(I, Instant)>,
    new: List,
    old: List,
    backlog: Backlog<I::Cost>,
}

/// One queue behind a gate, as its control sees it.
struct Gated<'a, I: Item> {
    queue: &'a mut Chain,
    cost: &'a mut I::Cost,
    slots: &'a mut Slots<(I, Instant)>,
    backlog: &'a mut Backlog<I::Cost>,
    gate: &'a dyn Gate<I>,
}

impl<I: Item> codel::Queue<I> for Gated<'_, I> {
    #[inline]
    fn take(&mut self) -> Option<(I, Instant)> {
        if !self.gate.permits(&self.slots.head(self.queue)?.0) {
            return None;
        }
        let packet = self.slots.take(self.queue)?;
        let cost = packet.0.cost();
        *self.cost = self.cost.minus(cost);
        self.backlog.remove(cost);
        Some(packet)
    }

    /// What all queues hold, as in Linux.
    #[inline]
    fn cost(&self) -> I::Cost {
        self.backlog.cost
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.queue.len() == 0
    }
}

/// What a visit to a queue led to.
enum Visit<I> {
    Grant(I),
    /// It is empty: no longer new, or no longer old.
    Empty,
    /// The gate holds its head back.
    Held,
    /// It had no credit.
    Short,
}

impl<I: Item> FqCodel<I> {
    /// Empty queues.
    ///
    /// # Errors
    /// A value is outside the bounds that [`ConfigError`] names.
    pub fn new(config: Config<I::Cost>) -> Result<Self, ConfigError<I::Cost>> {
        config.check()?;
        let (queues, costs) = (vec![Queue::default(); config.flows], vec![I::Cost::ZERO; config.flows]);
        let spread = Spread::new(config.hash, config.key, config.seed, config.flows as u32);
        let (new, old, backlog) = (List::default(), List::default(), Backlog::default());
        Ok(Self { config, spread, queues, costs, slots: Slots::default(), new, old, backlog })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let config = Config::from_spec(arguments)?;
        Self::new(config).map_err(|error| arguments.error("limit", error.to_string()))
    }

    fn exceeds_limits(&self) -> bool {
        let Config { limit, memory_limit, .. } = self.config;
        self.backlog.items > limit.get() || self.backlog.cost > memory_limit
    }

    /// The queue that holds the most, the first of them, loses packets from its head.
    #[cold]
    fn drop_batch(&mut self, drops: &mut dyn Drops<I>) {
        let mut at = 0;
        for (queue, cost) in self.costs.iter().enumerate().skip(1) {
            if *cost > self.costs[at] {
                at = queue;
            }
        }
        if self.costs[at] == I::Cost::ZERO {
            // Nothing but packets without cost: whoever has one.
            at = self.queues.iter().position(|queue| queue.packets.len() > 0).unwrap_or(at);
        }
        let queue = &mut self.queues[at];
        let half = u64::from(queue.packets.len() / 2).max(1);
        for _ in 0..half.min(self.config.drop_batch.get()) {
            let Some((item, _)) = self.slots.take(&mut queue.packets) else { return };
            self.costs[at] = self.costs[at].minus(item.cost());
            self.backlog.remove(item.cost());
            drops.dropped(item, DropReason::QueueFull);
        }
    }

    /// The next packet of a queue, as its control decides.
    #[inline]
    fn take(&mut self, at: usize, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<I> {
        let Queue { packets, control, .. } = &mut self.queues[at];
        let (slots, backlog, cost) = (&mut self.slots, &mut self.backlog, &mut self.costs[at]);
        let mut gated = Gated { queue: packets, cost, slots, backlog, gate };
        control.next(&self.config.law, now, &mut gated, drops)
    }

    /// Visits the first of the new queues, or else of the old ones; `None` if there is none.
    #[inline]
    fn visit(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Visit<I>> {
        let is_new = self.new.len() > 0;
        let at = if is_new { self.new.first() } else { self.old.first() }? as usize;
        if self.queues[at].credit <= 0 {
            self.queues[at].credit += self.config.quantum.count() as i64;
            self.make_old(is_new);
            return Some(Visit::Short);
        }
        if let Some(item) = self.take(at, now, gate, drops) {
            self.queues[at].credit -= item.cost().count() as i64;
            return Some(Visit::Grant(item));
        }
        if self.queues[at].packets.len() > 0 {
            self.make_old(is_new);
            return Some(Visit::Held);
        }
        if is_new {
            self.make_old(true);
        } else {
            self.old.pop(&self.queues);
            self.queues[at].listed = false;
        }
        Some(Visit::Empty)
    }

    /// The first of the new or the old queues goes to the end of the old ones.
    #[inline]
    fn make_old(&mut self, is_new: bool) {
        let from = if is_new { &mut self.new } else { &mut self.old };
        if let Some(at) = from.pop(&self.queues) {
            self.old.push(&mut self.queues, at);
        }
    }

    /// How many quanta an old queue lacks before it has credit; `None` if it has.
    fn lacking(&self, at: u32) -> Option<i64> {
        let credit = self.queues[at as usize].credit;
        (credit <= 0).then(|| -credit / self.config.quantum.count() as i64 + 1)
    }

    /// Whether a queue with credit could give a packet, or would leave.
    fn is_ready(&self, at: u32, gate: &dyn Gate<I>) -> bool {
        let queue = &self.queues[at as usize];
        queue.credit > 0 && self.slots.head(&queue.packets).is_none_or(|(head, _)| gate.permits(head))
    }

    /// Every queue was visited in vain, so that all are old: gives at once all the rounds that would be in vain too.
    #[cold]
    fn skip_rounds(&mut self, gate: &dyn Gate<I>) {
        let old = self.old;
        if old.iter(&self.queues).any(|at| self.is_ready(at, gate)) {
            return;
        }
        let least = old.iter(&self.queues).filter_map(|at| self.lacking(at)).min();
        let Some(rounds) = least.map(|rounds| rounds - 1).filter(|&rounds| rounds > 0) else { return };
        let credit = rounds * self.config.quantum.count() as i64;
        let mut next = old.first();
        for _ in 0..old.len() {
            let Some(at) = next else { return };
            if self.lacking(at).is_some() {
                self.queues[at as usize].credit += credit;
            }
            next = Some(self.queues[at as usize].next);
        }
    }
}

impl<I: Item> Discipline<I> for FqCodel<I> {
    #[inline(always)]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let cost = item.cost();
        if cost > self.config.memory_limit {
            drops.dropped(item, DropReason::TooLarge);
            return Enqueued::Queued;
        }
        let at = self.spread.bucket(&item) as usize;
        let queue = &mut self.queues[at];
        self.slots.append(&mut queue.packets, (item, now));
        self.costs[at] = self.costs[at].plus(cost);
        self.backlog.add(cost);
        if !queue.listed {
            queue.listed = true;
            queue.credit = self.config.quantum.count() as i64;
            self.new.push(&mut self.queues, at as u32);
        }
        while self.exceeds_limits() {
            self.drop_batch(drops);
        }
        Enqueued::Queued
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        // Queues held back in a row, and queues visited in vain since rounds were last skipped.
        let (mut held, mut in_vain) = (0, 0);
        loop {
            match self.visit(now, gate, drops)? {
                Visit::Grant(item) => {
                    let quantum = item.cost();
                    return Some(Grant { item, quantum });
                }
                Visit::Empty => {}
                Visit::Held => held += 1,
                Visit::Short => held = 0,
            }
            let queues = self.new.len() + self.old.len();
            if held >= queues {
                return None;
            }
            in_vain += 1;
            if in_vain >= queues {
                self.skip_rounds(gate);
                in_vain = 0;
            }
        }
    }

    copied!();

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

#[cfg(test)]
mod tests;
