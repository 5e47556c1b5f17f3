//! Stochastic fairness queueing, as the report on SFQ experiments has it.
//!
//! A hash spreads flows over a fixed number of queues of a fixed depth. The queues that have packets are
//! served in turn, one packet each; one that gets its first packet joins at the end of the round. A packet
//! that finds its own queue full is dropped; nothing bounds the sum. Flows that share a queue share its turns.
//!
//! Perturbation takes the next seed: `idle` at the moment the last packet is taken, so that no packet is
//! overtaken; with a span, whenever that much time has passed. Packets that wait then stay in their queues,
//! and later ones of their flow can overtake them.
//!
//! | | |
//! |-|-|
//! | Source | *A Report on Stochastic Fairness Queueing (SFQ) Experiments*, SRI, 1993; McKenney, *Stochastic fairness queueing*, INFOCOM '90 |
//! | Work per packet | O(1); one step more per queue held back by the gate |
//! | Units | turns and depth: packets |
//! | Memory | 16 bytes per queue up to the highest used, one slot per waiting packet; both stay |
//! | Departs from the source | McKenney drops from the longest queue, the report from the own; this is the report's |
//! | | a queue whose head the gate does not permit goes to the end of the round |

use core::fmt;
use core::hint::black_box;

use super::flows;
use super::hash::{HASH, Hash, KEY, Key, SEED, SeedClock, Spread};
use super::round::Round;
use super::slots::{Chain, Slots};
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Nanos, Packets};

/// The most queues.
pub const MAX_QUEUES: u32 = 1 << 20;
/// The deepest queue, in packets.
pub const MAX_DEPTH: u32 = 1 << 24;

/// A store of this many slots or more is too large for the caches near the processor.
const FAR: usize = 1 << 15;
/// How many queues are fetched together.
const AHEAD: usize = 32;

/// What the listings say.
pub const INFO: Info = Info {
    name: "sfq",
    kind: Kind::Packet,
    title: "stochastic fairness queueing of 1993",
    rule: "hashes flows to queues and serves the queues that have packets in turn, one packet each; by \
        default there are nine queues, as in 1993, so that a tenth flow must share one: `sfq_linux` has the \
        128 of Linux, and `fq` one for each flow",
    source: "A report on stochastic fairness queueing experiments, SRI, 1993; McKenney, INFOCOM '90",
    work: "O(1)",
    parameters: &[
        Parameter::new("queues", Takes::Whole(1..=MAX_QUEUES as u64), "9")
            .meaning("how many queues there are; the experiments of 1993 had nine"),
        Parameter::new("depth", Takes::Packets(Packets::ONE..=Packets::new(MAX_DEPTH as u64)), "100pkt")
            .meaning("how many packets a queue holds; a packet that finds its queue full is dropped"),
        HASH,
        SEED,
        KEY,
        Parameter::new("perturb", Takes::Span(Nanos::ONE..=Nanos::MAX), "never")
            .or(&["never", "idle"])
            .listed("`never`, `idle`, or a span of {} such as `10s`")
            .refused("`never`, `idle`, or a span of {} such as 10s")
            .meaning(
                "when the seed is raised by one: whenever all queues are empty, or each time a span has passed, which can reorder packets",
            ),
        Parameter::new("map", Takes::Text, "none")
            .or(&["none"])
            .listed("queues of flows 0, 1, ..., as in `0/1/2/0`, or `none`")
            .refused("queues such as 0/1/2/0, or `none`")
            .meaning(
                "assigns flows to queues, and so decides which collide; flows beyond the list are hashed",
            ),
    ],
    example: "sfq:queues=9,depth=100pkt",
};

/// When the next seed is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Perturb {
    /// At no time.
    #[default]
    Never,
    /// Whenever all queues have become empty.
    Idle,
    /// Each time this span has passed on the clock.
    Every(Nanos),
}

impl Perturb {
    fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Ok(match arguments.word("perturb")? {
            Some("never") => Self::Never,
            Some(_) => Self::Idle,
            None => Self::Every(arguments.span("perturb")?),
        })
    }
}

/// How flows are spread and how much may wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How many queues there are.
    pub queues: u32,
    /// How many packets each holds.
    pub depth: u32,
    /// How a flow's queue is computed.
    pub hash: Hash,
    /// What it is computed of.
    pub key: Key,
    /// The first seed.
    pub seed: u64,
    /// When the next one is taken.
    pub perturb: Perturb,
    /// The queues of flows 0, 1, ...; the others are hashed.
    pub map: Vec<u32>,
}

impl Default for Config {
    /// Nine queues of 100 packets, a keyed hash of the addresses, no perturbation.
    fn default() -> Self {
        let (hash, key, perturb) = (Hash::Keyed, Key::Addresses, Perturb::Never);
        Self { queues: 9, depth: 100, hash, key, seed: 0, perturb, map: Vec::new() }
    }
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no queue, or more than [`MAX_QUEUES`].
    Queues(u32),
    /// A queue holds nothing, or more than [`MAX_DEPTH`].
    Depth(u32),
    /// The span between two seeds is nothing.
    Perturb,
    /// A flow is mapped to a queue that does not exist.
    Map {
        /// The flow.
        flow: usize,
        /// The queue it is mapped to.
        queue: u32,
        /// How many there are.
        queues: u32,
    },
}

impl ConfigError {
    /// The parameter at fault.
    fn parameter(self) -> &'static str {
        match self {
            Self::Queues(_) => "queues",
            Self::Depth(_) => "depth",
            Self::Perturb => "perturb",
            Self::Map { .. } => "map",
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queues(queues) => write!(f, "is {queues}, must be from 1 to {MAX_QUEUES}"),
            Self::Depth(depth) => write!(f, "is {depth}pkt, must be from 1pkt to {MAX_DEPTH}pkt"),
            Self::Perturb => f.write_str("is 0ns, must be at least 1ns"),
            Self::Map { flow, queue, queues } => {
                let last = queues - 1;
                write!(
                    f,
                    "puts flow {flow} into queue {queue}, must be from 0 to {last}, the last of {queues}"
                )
            }
        }
    }
}

impl core::error::Error for ConfigError {}

/// Stochastic fairness queueing.
#[derive(Clone, Debug)]
pub struct Sfq<I: Item> {
    config: Config,
    spread: Spread,
    seeds: SeedClock,
    queues: Vec<Chain>,
    slots: Slots<I>,
    /// The queues that have packets, the next first.
    round: Round,
    /// How many of them have been fetched ahead of their turns.
    fetched: usize,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Sfq<I> {
    /// Empty queues.
    ///
    /// # Errors
    /// A number is zero or too large, or a flow is mapped to no queue.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { queues, depth, hash, key, seed, perturb, ref map } = config;
        if !(1..=MAX_QUEUES).contains(&queues) {
            return Err(ConfigError::Queues(queues));
        }
        if !(1..=MAX_DEPTH).contains(&depth) {
            return Err(ConfigError::Depth(depth));
        }
        if perturb == Perturb::Every(Nanos::new(0)) {
            return Err(ConfigError::Perturb);
        }
        if let Some(flow) = map.iter().position(|&queue| queue >= queues) {
            return Err(ConfigError::Map { flow, queue: map[flow], queues });
        }
        let span = if let Perturb::Every(span) = perturb { Some(span) } else { None };
        let seeds = SeedClock::new(seed, span);
        let spread = Spread::new(hash, key, seed, queues);
        let (queues, round) = (Vec::new(), Round::default());
        let (slots, backlog) = (Slots::default(), Backlog::default());
        Ok(Self { config, spread, seeds, queues, slots, round, fetched: 0, backlog })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let config = Config {
            queues: arguments.whole("queues")?,
            depth: arguments.packets("depth")?.get() as u32,
            hash: Hash::from_spec(arguments)?,
            key: Key::from_spec(arguments)?,
            seed: arguments.whole(SEED.name)?,
            perturb: Perturb::from_spec(arguments)?,
            map: map_from_spec(arguments)?,
        };
        Self::new(config).map_err(|error| arguments.error(error.parameter(), error.to_string()))
    }

    /// The queue of an item.
    #[inline]
    fn queue_of(&mut self, item: &I) -> usize {
        let queue = match self.config.map.get(item.flow().0 as usize) {
            Some(&queue) => queue,
            None => self.spread.bucket(item),
        } as usize;
        if queue >= self.queues.len() {
            self.grow(queue);
        }
        queue
    }

    #[cold]
    fn grow(&mut self, queue: usize) {
        let doubled = (queue + 1).next_power_of_two().max(64);
        self.queues.resize(doubled.min(self.config.queues as usize), Chain::default());
    }

    /// Fetches the queues that are next, once those that were fetched have had their turns. Turns go all over
    /// a large store, and waiting for memory at each of them would take most of the time.
    #[cold]
    #[inline(never)]
    fn fetch_ahead(&mut self) {
        let next = (0..AHEAD).filter_map(|turn| self.round.get(turn));
        black_box(
            next.fold(0, |all, queue| all ^ self.slots.fetch_ends(&self.queues[queue as usize], flows::read)),
        );
        self.fetched = AHEAD;
    }
}

/// Reads `0/1/2/0`.
fn map_from_spec(arguments: &Arguments<'_>) -> Result<Vec<u32>, SpecError> {
    match arguments.word("map")? {
        Some(_) => Ok(Vec::new()),
        None => arguments.read("map", |text| text.split('/').map(|queue| queue.parse().ok()).collect()),
    }
}

impl<I: Item> Discipline<I> for Sfq<I> {
    // Always: a call would hand the packet over through memory, which takes longer than all the rest.
    #[inline(always)]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if let Some(seed) = self.seeds.due(now) {
            self.spread.reseed(seed);
        }
        let at = self.queue_of(&item);
        let queue = &mut self.queues[at];
        if queue.len() >= self.config.depth {
            drops.dropped(item, DropReason::QueueFull);
            return Enqueued::Queued;
        }
        if queue.len() == 0 {
            self.round.join(at as u32);
        }
        self.backlog.add(item.cost());
        self.slots.append(queue, item);
        Enqueued::Queued
    }

    // Always: a call would hand the packet over through memory, which takes longer than all the rest.
    #[inline(always)]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        if self.slots.size() >= FAR {
            if self.fetched == 0 {
                self.fetch_ahead();
            }
            self.fetched -= 1;
        }
        // Once around at most: then every head is held back, and the round is as it was.
        for _ in 0..self.round.count {
            let queue = &mut self.queues[self.round.get(0)? as usize];
            let first = self.slots.first(queue)?;
            let head = first.item()?;
            if !gate.permits(head) {
                self.round.advance();
                continue;
            }
            let quantum = head.cost();
            if first.len() > 1 {
                self.round.advance();
            } else {
                self.round.leave();
            }
            self.backlog.remove(quantum);
            if self.backlog.is_empty() && self.config.perturb == Perturb::Idle {
                self.spread.reseed(self.spread.seed().wrapping_add(1));
            }
            return first.take().map(|item| Grant { item, quantum });
        }
        None
    }

    copied!();

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

#[cfg(test)]
mod tests;
