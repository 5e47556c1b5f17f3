//! Stochastic fairness queueing, as Linux has it.
//!
//! A keyed hash puts flows into a table; each entry in use has a queue. Queues are served in turns of bytes. A
//! packet whose queue is at its depth is dropped, or with `headdrop` the head of that queue is. When all queues
//! together exceed the limit, a packet of the longest is dropped, its last, or with `headdrop` its first. When
//! all queues are taken, packets of other entries are dropped.
//!
//! Perturbation by the clock takes a new key and hashes all that waits anew, queue by queue in the order of the
//! round: packets of a flow keep their order. What then finds no room is dropped. It happens at the first call
//! at which it is due; spans that pass without a call count as one.
//!
//! | | |
//! |-|-|
//! | Source | Linux, `net/sched/sch_sfq.c`, tc-sfq(8); McKenney, *Stochastic fairness queueing*, INFOCOM '90 |
//! | Work per packet | O(1) if `quantum` >= largest packet; perturbation O(waiting packets + queues) |
//! | Units | `quantum`: bytes; `limit`, `depth`: packets |
//! | Memory | 4 bytes per entry of the table; 44 bytes per queue and one slot per waiting packet, as they are used |
//! | Departs from the source | no RED inside the queues (`redflowlimit`, `min`, `max`, `ecn`): other disciplines do that |
//! | | the key is a seed's, not the kernel's random one; perturbation goes by the order of the round, not of numbers |
//! | | a limit that no number of packets can reach is refused, and not cut; a queue that the gate holds back goes to the end |

use core::fmt;

use super::hash::{Hash, KEY_OF_FLOW, Key, SEED, SeedClock, Spread};
use super::longest::{LARGEST_QUANTUM, LEAST_QUANTUM, NONE, Queues};
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes, parse_bytes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Bytes, Cost, Instant, Nanos, Packets};

/// The deepest queue, in packets.
pub const MAX_DEPTH: u32 = 127;
/// The most queues.
pub const MAX_FLOWS: u32 = 65_408;
/// The largest table.
pub const MAX_DIVISOR: u32 = 65_536;

/// The parameter of both disciplines that take turns of bytes.
pub(super) const QUANTUM: Parameter =
    Parameter::new("quantum", Takes::Size(Bytes::new(LEAST_QUANTUM)..=Bytes::new(LARGEST_QUANTUM)), "1514B")
        .listed("bytes {}; at least the largest packet for O(1)")
        .refused("a size such as 1514B")
        .meaning("how much a queue is served in its turn");

/// What the listings say.
pub const INFO: Info = Info {
    name: "sfq_linux",
    kind: Kind::Packet,
    title: "stochastic fairness queueing of Linux",
    rule: "hashes flows to queues, serves them in turns of bytes, and drops from the longest at a common limit",
    source: "Linux, net/sched/sch_sfq.c, tc-sfq(8); McKenney, INFOCOM '90",
    work: "O(1) if quantum >= largest packet",
    parameters: &[
        Parameter::new("perturb", Takes::Span(Nanos::ZERO..=Nanos::MAX), "never")
            .or(&["never", "0"])
            .listed("`never` (or `0`), or a span of at least 1ns such as `10s`")
            .refused("`never`, or a span such as 10s")
            .meaning("after what time the key changes and all waiting packets are hashed again"),
        QUANTUM,
        Parameter::new("limit", Takes::Packets(Packets::ONE..=Packets::new(u32::MAX as u64)), "127pkt")
            .listed("packets from 1pkt to flows x depth")
            .meaning("how many packets may wait in all; beyond the limit the longest queue loses one"),
        Parameter::new("depth", Takes::Packets(Packets::ONE..=Packets::new(MAX_DEPTH as u64)), "127pkt")
            .meaning("how many packets a queue holds"),
        Parameter::new("flows", Takes::Whole(1..=MAX_FLOWS as u64), "128")
            .meaning("how many queues there are; when all have packets, packets of other flows are dropped"),
        Parameter::new("divisor", Takes::Whole(0..=u32::MAX as u64), "1024")
            .listed("a power of two from 1 to 65536")
            .meaning("the size of the hash table; flows at the same place in it share a queue"),
        Parameter::new("headdrop", Takes::Words(&["no", "yes"]), "no")
            .listed("`yes` or `no`")
            .meaning("whether a queue loses its oldest packet instead of its newest"),
        SEED,
        KEY_OF_FLOW,
    ],
    example: "sfq_linux:perturb=10s",
};

/// How flows are hashed and how much may wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config<C: Cost> {
    /// After which time the key changes.
    pub perturb: Option<Nanos>,
    /// How much a queue is served in its turn.
    pub quantum: C,
    /// How many packets wait in all.
    pub limit: u32,
    /// How many packets a queue holds.
    pub depth: u32,
    /// How many queues there are.
    pub flows: u32,
    /// The size of the table of hashes.
    pub divisor: u32,
    /// Whether a queue loses its oldest packet instead of its newest.
    pub headdrop: bool,
    /// Makes the first key.
    pub seed: u64,
    /// What is hashed.
    pub key: Key,
}

impl<C: Cost> Default for Config<C> {
    /// As Linux has it for Ethernet.
    fn default() -> Self {
        Self {
            perturb: None,
            quantum: C::of(1514),
            limit: 127,
            depth: 127,
            flows: 128,
            divisor: 1024,
            headdrop: false,
            seed: 0,
            key: Key::Flow,
        }
    }
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError<C: Cost> {
    /// The span between two keys is nothing.
    Perturb,
    /// The quantum is below 256 or above 2^31 - 1.
    Quantum(C),
    /// No packet may wait, or more than the queues hold.
    Limit {
        /// What was asked for.
        limit: u32,
        /// What all queues hold.
        most: u32,
    },
    /// A queue holds nothing, or more than [`MAX_DEPTH`].
    Depth(u32),
    /// There is no queue, or more than [`MAX_FLOWS`].
    Flows(u32),
    /// The table is no power of two, or larger than [`MAX_DIVISOR`].
    Divisor(u32),
}

impl<C: Cost> ConfigError<C> {
    /// The parameter at fault.
    fn parameter(self) -> &'static str {
        match self {
            Self::Perturb => "perturb",
            Self::Quantum(_) => QUANTUM.name,
            Self::Limit { .. } => "limit",
            Self::Depth(_) => "depth",
            Self::Flows(_) => "flows",
            Self::Divisor(_) => "divisor",
        }
    }
}

impl<C: Cost> fmt::Display for ConfigError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Perturb => f.write_str("is 0ns, must be at least 1ns"),
            Self::Quantum(quantum) => {
                let (least, largest) = (C::of(LEAST_QUANTUM), C::of(LARGEST_QUANTUM));
                write!(f, "is {quantum}, must be from {least} to {largest}")
            }
            Self::Limit { limit, most } => {
                write!(f, "is {limit}pkt, must be from 1pkt to flows x depth, which is {most}pkt")
            }
            Self::Depth(depth) => write!(f, "is {depth}pkt, must be from 1pkt to {MAX_DEPTH}pkt"),
            Self::Flows(flows) => write!(f, "is {flows}, must be from 1 to {MAX_FLOWS}"),
            Self::Divisor(divisor) => {
                write!(f, "is {divisor}, must be a power of two from 1 to {MAX_DIVISOR}")
            }
        }
    }
}

impl<C: Cost> core::error::Error for ConfigError<C> {}

/// The quantum of a spec, of any size.
pub(super) fn quantum_of<C: Cost>(arguments: &Arguments<'_>) -> Result<C, SpecError> {
    Ok(C::of(arguments.read(QUANTUM.name, parse_bytes)?.get()))
}

/// Whether a quantum is within its bounds.
pub(super) fn is_quantum<C: Cost>(quantum: C) -> bool {
    (LEAST_QUANTUM..=LARGEST_QUANTUM).contains(&quantum.count())
}

/// Stochastic fairness queueing of Linux.
#[derive(Clone, Debug)]
pub struct SfqLinux<I: Item> {
    config: Config<I::Cost>,
    spread: Spread,
    seeds: SeedClock,
    /// The queue of each entry of the table.
    table: Vec<u32>,
    /// The entry of each queue that was ever used.
    entries: Vec<u32>,
    /// Those of them that have no packets.
    free: Vec<u32>,
    queues: Queues<I>,
}

impl<I: Item> SfqLinux<I> {
    /// Empty queues.
    ///
    /// # Errors
    /// A number is outside its bounds.
    pub fn new(config: Config<I::Cost>) -> Result<Self, ConfigError<I::Cost>> {
        let Config { perturb, quantum, limit, depth, flows, divisor, seed, key, .. } = config;
        if perturb == Some(Nanos::new(0)) {
            return Err(ConfigError::Perturb);
        }
        if !is_quantum(quantum) {
            return Err(ConfigError::Quantum(quantum));
        }
        if !(1..=MAX_DEPTH).contains(&depth) {
            return Err(ConfigError::Depth(depth));
        }
        if !(1..=MAX_FLOWS).contains(&flows) {
            return Err(ConfigError::Flows(flows));
        }
        if !(divisor.is_power_of_two() && divisor <= MAX_DIVISOR) {
            return Err(ConfigError::Divisor(divisor));
        }
        let most = flows * depth;
        if !(1..=most).contains(&limit) {
            return Err(ConfigError::Limit { limit, most });
        }
        Ok(Self {
            config,
            spread: Spread::new(Hash::Keyed, key, seed, divisor),
            seeds: SeedClock::new(seed, perturb),
            table: vec![NONE; divisor as usize],
            entries: Vec::new(),
            free: Vec::new(),
            queues: Queues::new(quantum),
        })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let config = Config {
            perturb: perturb_from_spec(arguments)?,
            quantum: quantum_of(arguments)?,
            limit: arguments.packets("limit")?.get() as u32,
            depth: arguments.packets("depth")?.get() as u32,
            flows: arguments.whole("flows")?,
            divisor: arguments.whole("divisor")?,
            headdrop: arguments.choice("headdrop", [false, true])?,
            seed: arguments.whole(SEED.name)?,
            key: Key::from_spec(arguments)?,
        };
        Self::new(config).map_err(|error| arguments.error(error.parameter(), error.to_string()))
    }

    /// The queue of an item, one that was free if its entry has none; [`NONE`] if none is free.
    #[inline(always)]
    fn queue_of(&mut self, item: &I) -> u32 {
        let entry = self.spread.bucket(item);
        match self.table[entry as usize] {
            NONE => self.allot(entry).unwrap_or(NONE),
            queue => queue,
        }
    }

    #[inline(never)]
    fn allot(&mut self, entry: u32) -> Option<u32> {
        let queue = self.free.pop().or_else(|| self.another())?;
        self.table[entry as usize] = queue;
        self.entries[queue as usize] = entry;
        Some(queue)
    }

    /// A queue that was never used before.
    #[cold]
    fn another(&mut self) -> Option<u32> {
        let queue = u32::try_from(self.entries.len()).ok().filter(|&queue| queue < self.config.flows)?;
        self.entries.push(NONE);
        // There is room for all queues to be free, so that freeing them does not allocate.
        self.free.reserve(self.entries.len());
        Some(queue)
    }

    /// A packet has left this queue; if it was the last, the queue is free.
    #[inline]
    fn left(&mut self, queue: u32) {
        if self.queues.length(queue) == 0 {
            self.table[self.entries[queue as usize] as usize] = NONE;
            self.free.push(queue);
        }
    }

    /// Drops a packet that finds its queue full or none free, or the head of its queue instead.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, queue: u32, item: I, drops: &mut dyn Drops<I>) {
        let exchanged = if queue != NONE && self.config.headdrop {
            self.queues.exchange(queue, item)
        } else {
            Some(item)
        };
        if let Some(dropped) = exchanged {
            drops.dropped(dropped, DropReason::QueueFull);
        }
    }

    /// Hashes all that waits anew.
    #[cold]
    fn perturb(&mut self, seed: u64, drops: &mut dyn Drops<I>) {
        self.spread.reseed(seed);
        self.table.fill(NONE);
        self.free.clear();
        self.free.extend((0..self.entries.len() as u32).rev());
        let mut gathered = self.queues.gather();
        while let Some(item) = self.queues.next_of(&mut gathered) {
            let queue = self.queue_of(&item);
            if queue != NONE && self.queues.length(queue) < self.config.depth {
                self.queues.append(queue, item);
            } else {
                drops.dropped(item, DropReason::QueueFull);
            }
        }
    }
}

/// Reads `never`, `0` or a span, of which none stands for `never` too.
fn perturb_from_spec(arguments: &Arguments<'_>) -> Result<Option<Nanos>, SpecError> {
    match arguments.word("perturb")? {
        Some(_) => Ok(None),
        None => Ok(Some(arguments.span("perturb")?).filter(|span| *span > Nanos::ZERO)),
    }
}

impl<I: Item> Discipline<I> for SfqLinux<I> {
    #[inline(always)]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if let Some(seed) = self.seeds.due(now) {
            self.perturb(seed, drops);
        }
        let queue = self.queue_of(&item);
        // Put there at once, and not by a call that might give it back: that would copy it through memory.
        if queue != NONE && self.queues.length(queue) < self.config.depth {
            self.queues.append(queue, item);
        } else {
            self.refuse(queue, item, drops);
        }
        if self.queues.backlog().items > self.config.limit.into()
            && let Some((queue, dropped)) = self.queues.take_from_longest(self.config.headdrop)
        {
            self.left(queue);
            drops.dropped(dropped, DropReason::QueueFull);
        }
        Enqueued::Queued
    }

    #[inline(always)]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        if let Some(seed) = self.seeds.due(now) {
            self.perturb(seed, drops);
        }
        let (queue, Grant { item, quantum }) = self.queues.next(gate)?;
        self.left(queue);
        Some(Grant { item, quantum })
    }

    copied!();

    fn backlog(&self) -> Backlog<I::Cost> {
        self.queues.backlog()
    }
}

#[cfg(test)]
mod tests;
