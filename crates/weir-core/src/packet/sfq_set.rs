//! Stochastic fairness queueing with a set-associative hash.
//!
//! The queues stand in sets. A flow hashes to one queue, its home, and to the set in which that stands. It
//! takes the queue of the set that was given to it, if there is one; else an idle queue of the set, the first
//! from its home on, which is its own from then on until another flow finds it idle; else it shares its home.
//! So flows collide only where a set has more flows with packets than queues. One way is plain hashing; with at
//! least as many ways as flows every flow has a queue of its own.
//!
//! Queues are served in turns of bytes. Beyond the limit on all packets the longest queue loses its head.
//!
//! | | |
//! |-|-|
//! | Source | Høiland-Jørgensen, Täht and Morton, *Piece of CAKE: a comprehensive queue management solution for home gateways*, LANMAN 2018; Linux, `net/sched/sch_cake.c` |
//! | Work per packet | O(1) if the flow has its home, else O(ways); turns O(1) if `quantum` >= largest packet |
//! | Units | `quantum`: bytes; `limit`: packets |
//! | Memory | 60 bytes per queue up to the highest used, one slot per waiting packet; both stay |
//! | Departs from the source | the hash and the turns alone: no CoDel, no tiers, no shares by host, no shaper |
//! | | the longest queue by packets, not bytes; flows are distinguished by their labels, not by hashes of these |
//! | | a flow that may have packets in a home it shares stays there; in the source it can overtake itself |
//! | | any number of queues: what is left by division makes the last set larger |

use core::fmt;

use super::hash::{Hash, KEY_OF_FLOW, Key, Label, SEED, Spread};
use super::longest::{LARGEST_QUANTUM, LEAST_QUANTUM, Queues};
use super::sets::{self, Found};
use super::sfq_linux::{QUANTUM, is_quantum, quantum_of};
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Cost, Instant, Packets};

/// The most queues.
pub const MAX_QUEUES: u32 = 1 << 20;
/// The largest limit, in packets.
pub const MAX_LIMIT: u32 = 1 << 24;

/// What the listings say.
pub const INFO: Info = Info {
    name: "sfq_set",
    kind: Kind::Packet,
    title: "stochastic fairness queueing, set-associative",
    rule: "hashes a flow to a set of queues, in which it takes an idle one; serves queues in turns of bytes",
    source: "Høiland-Jørgensen, Täht and Morton, Piece of CAKE, LANMAN 2018",
    work: "O(1) if quantum >= largest packet, O(ways) for a flow without a queue",
    parameters: &[
        Parameter::new("queues", Takes::Whole(1..=MAX_QUEUES as u64), "1024")
            .meaning("how many queues there are"),
        Parameter::new("ways", Takes::Whole(1..=MAX_QUEUES as u64), "8")
            .listed("a whole number from 1 to queues")
            .meaning("how many queues a set has, among which a flow may choose; 1 is plain hashing"),
        QUANTUM,
        Parameter::new("limit", Takes::Packets(Packets::ONE..=Packets::new(MAX_LIMIT as u64)), "10240pkt")
            .meaning("how many packets may wait in all; beyond the limit the longest queue loses its head"),
        SEED,
        KEY_OF_FLOW,
    ],
    example: "sfq_set:queues=1024,ways=8",
};

/// How flows are spread and how much may wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config<C: Cost> {
    /// How many queues there are.
    pub queues: u32,
    /// How many of them make a set.
    pub ways: u32,
    /// How much a queue is served in its turn.
    pub quantum: C,
    /// How many packets wait in all.
    pub limit: u32,
    /// Makes the key of the hash.
    pub seed: u64,
    /// What is hashed.
    pub key: Key,
}

impl<C: Cost> Default for Config<C> {
    fn default() -> Self {
        Self { queues: 1024, ways: 8, quantum: C::of(1514), limit: 10_240, seed: 0, key: Key::Flow }
    }
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError<C: Cost> {
    /// There is no queue, or more than [`MAX_QUEUES`].
    Queues(u32),
    /// A set has no queue, or more than there are.
    Ways {
        /// What was asked for.
        ways: u32,
        /// How many queues there are.
        queues: u32,
    },
    /// The quantum is below 256 or above 2^31 - 1.
    Quantum(C),
    /// No packet may wait, or more than [`MAX_LIMIT`].
    Limit(u32),
}

impl<C: Cost> ConfigError<C> {
    /// The parameter at fault.
    fn parameter(self) -> &'static str {
        match self {
            Self::Queues(_) => "queues",
            Self::Ways { .. } => "ways",
            Self::Quantum(_) => QUANTUM.name,
            Self::Limit(_) => "limit",
        }
    }
}

impl<C: Cost> fmt::Display for ConfigError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queues(queues) => write!(f, "is {queues}, must be from 1 to {MAX_QUEUES}"),
            Self::Ways { ways, queues } => {
                write!(f, "is {ways}, must be from 1 to the number of queues, which is {queues}")
            }
            Self::Quantum(quantum) => {
                let (least, largest) = (C::of(LEAST_QUANTUM), C::of(LARGEST_QUANTUM));
                write!(f, "is {quantum}, must be from {least} to {largest}")
            }
            Self::Limit(limit) => write!(f, "is {limit}pkt, must be from 1pkt to {MAX_LIMIT}pkt"),
        }
    }
}

impl<C: Cost> core::error::Error for ConfigError<C> {}

/// Whose a queue is.
#[derive(Clone, Copy, Debug, Default)]
struct Owner {
    /// The flow it was given to; `None`: it was never used.
    label: Option<Label>,
    /// How many packets of other flows wait in it.
    guests: u32,
}

/// Stochastic fairness queueing with a set-associative hash.
#[derive(Clone, Debug)]
pub struct SfqSet<I: Item> {
    config: Config<I::Cost>,
    spread: Spread,
    owners: Vec<Owner>,
    queues: Queues<I>,
}

impl<I: Item> SfqSet<I> {
    /// Empty queues.
    ///
    /// # Errors
    /// A number is outside its bounds.
    pub fn new(config: Config<I::Cost>) -> Result<Self, ConfigError<I::Cost>> {
        let Config { queues, ways, quantum, limit, seed, key } = config;
        if !(1..=MAX_QUEUES).contains(&queues) {
            return Err(ConfigError::Queues(queues));
        }
        if !(1..=queues).contains(&ways) {
            return Err(ConfigError::Ways { ways, queues });
        }
        if !is_quantum(quantum) {
            return Err(ConfigError::Quantum(quantum));
        }
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(ConfigError::Limit(limit));
        }
        let spread = Spread::new(Hash::Keyed, key, seed, queues);
        Ok(Self { config, spread, owners: Vec::new(), queues: Queues::new(quantum) })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let config = Config {
            queues: arguments.whole("queues")?,
            ways: arguments.whole("ways")?,
            quantum: quantum_of(arguments)?,
            limit: arguments.packets("limit")?.get() as u32,
            seed: arguments.whole(SEED.name)?,
            key: Key::from_spec(arguments)?,
        };
        Self::new(config).map_err(|error| arguments.error(error.parameter(), error.to_string()))
    }

    /// The queue of a flow; an idle one that it takes is its own.
    #[inline]
    fn queue_of(&mut self, label: Label, home: u32) -> u32 {
        match self.owners.get(home as usize) {
            Some(owner) if owner.label == Some(label) => home,
            _ => self.search(label, home),
        }
    }

    fn search(&mut self, label: Label, home: u32) -> u32 {
        let (start, ways) = self.set_of(home);
        self.grow(start + ways);
        let owner = |queue: u32| self.owners[queue as usize];
        let is_own = |queue| owner(queue).label == Some(label);
        // Among the guests of its home may be packets of this flow, and must not be overtaken.
        let is_idle = |queue| owner(home).guests == 0 && self.queues.length(queue) == 0;
        match sets::find(home, (start, ways), is_own, is_idle) {
            Found::Known(own) => own,
            Found::Free(idle) => {
                self.owners[idle as usize] = Owner { label: Some(label), guests: 0 };
                idle
            }
            Found::Full => home,
        }
    }

    /// The first queue of the set in which `home` stands, and how many there are.
    fn set_of(&self, home: u32) -> (u32, u32) {
        let Config { queues, ways, .. } = self.config;
        let last = queues / ways - 1;
        let set = (home / ways).min(last);
        let start = set * ways;
        (start, if set == last { queues - start } else { ways })
    }

    /// Makes the owners of all queues below `end` known.
    fn grow(&mut self, end: u32) {
        if end as usize > self.owners.len() {
            let doubled = end.next_power_of_two().max(64).min(self.config.queues);
            self.owners.resize(doubled as usize, Owner::default());
        }
    }

    /// A packet has left this queue.
    #[inline]
    fn left(&mut self, queue: u32, item: &I) {
        let owner = &mut self.owners[queue as usize];
        owner.guests -= u32::from(owner.label != Some(self.spread.label(item)));
    }
}

impl<I: Item> Discipline<I> for SfqSet<I> {
    #[inline(always)]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let label = self.spread.label(&item);
        let home = self.spread.bucket(&item);
        let queue = self.queue_of(label, home);
        let owner = &mut self.owners[queue as usize];
        owner.guests += u32::from(owner.label != Some(label));
        self.queues.append(queue, item);
        if self.queues.backlog().items > self.config.limit.into()
            && let Some((queue, dropped)) = self.queues.take_from_longest(true)
        {
            self.left(queue, &dropped);
            drops.dropped(dropped, DropReason::QueueFull);
        }
        Enqueued::Queued
    }

    #[inline(always)]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let (queue, Grant { item, quantum }) = self.queues.next(gate)?;
        self.left(queue, &item);
        Some(Grant { item, quantum })
    }

    copied!();

    fn backlog(&self) -> Backlog<I::Cost> {
        self.queues.backlog()
    }
}

#[cfg(test)]
mod tests;
