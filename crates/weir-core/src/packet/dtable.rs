//! The deficit table: entries in the order of latency, and a deficit for each flow that makes their weights exact.
//!
//! A decision goes on with the entry at the position while its flow is active and its head fits in what the entry may
//! still send. Otherwise the service ends. If the head did not fit, what is left is the flow's deficit, which the
//! scheduler owes it; if the flow went inactive, nothing is owed. Then the entries behind the position are examined,
//! the one at it last. The first whose flow is active may send its weight and the flow's deficit.
//!
//! An entry's weight is at least the largest packet, `mtu`, so that a flow found active can always send: one pass over
//! the table suffices, and a deficit stays below `mtu`. A saturated flow's share is that of its entries' weights in the
//! sum of all, for packets of any sizes; how far apart its entries are bounds its wait, whatever its share. The share is
//! of credits, not of bytes: whose packets are just above a multiple of 64 bytes gets less of the bytes.
//!
//! What the source leaves open, and what stands here:
//!
//! - A flow that is passed over because it is inactive keeps its deficit; only the end of a service touches it.
//! - To be inactive is to have no packet, or one that the gate does not permit. With `stall=zero`, the letter of the
//!   source, both forfeit the deficit. With `stall=keep` a flow that the gate stops while it is served is still owed
//!   what was left, at most one credit less than `mtu`: no more than a head that did not fit would have left.
//! - A packet larger than `mtu` could find its entries too small for ever: it is dropped as too large when it comes.
//! - The position goes on where it was after all queues were empty.
//!
//! | | |
//! |-|-|
//! | Source | Martínez, Alfaro and Sánchez, *Comparing the latency performance of the DTable and DRR schedulers*, 2007, section 2; Martínez et al., *Decoupling the bandwidth and latency bounding for table-based schedulers*, ICPP 2006 |
//! | Work per packet | O(entries / 64), once more for each flow held back; as hardware counts it, 1 to all entries examined |
//! | Units | weights, deficits: credits of 64 bytes, packets rounded up; `mtu`: bytes |
//! | Memory | a bit for each flow and entry, a deficit for each flow; one slot per waiting packet, which stays |
//! | Departs from the source | as above |
//!
//! **Effort.** A decision that goes on with its entry counts as one entry examined; one that searches counts those
//! up to the one it finds, which is all of them at most.

use core::fmt;

use super::table::{self, Form, Queues, TableError, Wheel, credits};
use super::tally::Tally;
use super::{flows, limits};
use crate::discipline::{Backlog, Discipline, Drops, Effort, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Bytes, Credits, Instant};

/// What the listings say.
pub const INFO: Info = Info {
    name: "dtable",
    kind: Kind::Packet,
    title: "deficit table",
    rule: "goes around a table of flows and weights; an entry sends its weight and what its flow is still \
        owed",
    source: "Martínez et al., Decoupling the bandwidth and latency bounding for table-based schedulers, ICPP 2006",
    work: "O(entries / 64)",
    parameters: &[
        table::TABLE,
        table::DISTANCES,
        table::WEIGHTS,
        table::ENTRIES,
        MTU,
        STALL,
        table::READ_AHEAD,
        flows::BY,
        limits::DEPTH,
        limits::LIMIT,
    ],
    example: "dtable:distances=2/4/8/16/32/64/64,weights=32cr/64cr/128cr/128cr/128cr/128cr/128cr",
};

const MTU: Parameter = Parameter::new("mtu", Takes::Size(Bytes::ONE..=LARGEST_MTU), "2048B")
    .listed("bytes, {}")
    .refused("a size {}, such as 2048B")
    .meaning("the largest packet, and in credits the least weight; larger ones are dropped");

const STALL: Parameter = Parameter::new("stall", Takes::Words(&["zero", "keep"]), "zero").meaning(
    "what a flow is owed if the gate stops it while it is served: nothing, or what is left, below `mtu`",
);

/// What a flow is owed that the gate stops while it is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stall {
    /// Nothing: it is inactive.
    #[default]
    Zero,
    /// What was left, at most one credit less than the largest packet.
    Keep,
}

/// A table, and what it must know of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The table, and what goes into its queues.
    pub table: table::Config,
    /// The largest packet.
    pub mtu: Bytes,
    /// What a flow is owed that the gate stops while it is served.
    pub stall: Stall,
}

impl Config {
    /// By flow, without limits; packets of up to 2048 bytes; the letter of the source.
    #[must_use]
    pub fn new(table: table::Table) -> Self {
        Self { table: table::Config::new(table), mtu: Bytes::new(2048), stall: Stall::Zero }
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is missing, no such table, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let mtu = arguments.size(MTU.name)?;
        let stall = arguments.choice(STALL.name, [Stall::Zero, Stall::Keep])?;
        Ok(Self { table: table::Config::from_spec(arguments, Form::Weights)?, mtu, stall })
    }

    /// Whether an entry serves this flow (class, by class).
    #[must_use]
    pub fn serves(&self, flow: u32) -> bool {
        self.table.serves(flow)
    }
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// There are no packets of this size, or no weights for them.
    Mtu(Bytes),
    /// No entry serves a flow, or one has a weight too small for the largest packet.
    Table(TableError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mtu(mtu) => write!(f, "mtu is {mtu}, must be from 1B to {LARGEST_MTU}"),
            Self::Table(error @ TableError::Weight { low, .. }) => {
                write!(f, "{error}: the largest packet, `mtu`, takes {low}; raise the weight, or lower mtu")
            }
            Self::Table(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConfigError {}

/// A weight can be as large.
const LARGEST_MTU: Bytes = Bytes::new(table::MAX_WEIGHT.get() * table::CREDIT.get());

/// The deficit table.
#[derive(Clone, Debug)]
pub struct Dtable<I: Item> {
    queues: Queues<I>,
    wheel: Wheel,
    /// The weight of each entry.
    weights: Vec<u32>,
    /// What each flow is owed.
    deficits: Vec<u32>,
    /// What the entry at the position may still send, while it is served. With nothing left its service is over: no
    /// packet would fit, and nothing is owed.
    left: u32,
    mtu: Bytes,
    /// The same, in credits.
    largest: u32,
    stall: Stall,
    tally: Tally,
}

impl<I: Item<Cost = Bytes>> Dtable<I> {
    /// No packet waits, and nothing is owed.
    ///
    /// # Errors
    /// No entry serves a flow, the weight of one is below the largest packet, or that is out of its bounds.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { table: table::Config { table, by, limits, read_ahead }, mtu, stall } = config;
        if mtu.get() == 0 || mtu > LARGEST_MTU {
            return Err(ConfigError::Mtu(mtu));
        }
        table.check(credits(mtu), table::MAX_WEIGHT).map_err(ConfigError::Table)?;
        let served = table.flows();
        let weight = |entry: &Option<table::Entry>| entry.map_or(0, |entry| entry.weight.get() as u32);
        Ok(Self {
            queues: Queues::new(by, limits, &served),
            wheel: Wheel::new(&table, served.len()),
            weights: table.entries().iter().map(weight).collect(),
            deficits: vec![0; served.len()],
            left: 0,
            mtu,
            largest: credits(mtu).get() as u32,
            stall,
            tally: Tally::new(read_ahead),
        })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is missing, no such table, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Self::new(Config::from_spec(arguments)?)
            .map_err(|error| arguments.error(table::TABLE.name, format!("is refused: {error}")))
    }

    /// What a flow is owed, while it is not served.
    #[must_use]
    pub fn deficit(&self, flow: u16) -> Credits {
        Credits::new(self.deficits.get(usize::from(flow)).map_or(0, |&deficit| deficit.into()))
    }

    /// Goes on with the entry that is served, if the head of its flow fits. If not, the service ends, what is owed is
    /// written down, and the next active entry begins its own.
    #[inline(always)]
    fn go_on(&mut self, gate: &dyn Gate<I>) -> Option<u16> {
        let flow = self.wheel.flow();
        let head = self.queues.head(flow).map(|head| (gate.permits(head), size(head)));
        let (owed, active) = match (head, self.stall) {
            (Some((true, size)), _) if size <= self.left => {
                self.left -= size;
                self.tally.one();
                return Some(flow);
            }
            (Some((true, size)), _) => (self.left, Some(size)),
            (Some((false, _)), Stall::Keep) => (self.left.min(self.largest - 1), None),
            _ => (0, None),
        };
        self.left = 0;
        self.deficits[flow as usize] = owed;
        self.begin(gate, |known| (known == flow).then_some(active))
    }

    /// Begins the service of the next active entry, if there is one. What `known` says of a flow, the credits of its
    /// head or that it is not active, is not asked again.
    #[inline(always)]
    fn begin(&mut self, gate: &dyn Gate<I>, known: impl Fn(u16) -> Option<Option<u32>>) -> Option<u16> {
        let Self { queues, wheel, .. } = self;
        let head = |flow| queues.head(flow).filter(|head| gate.permits(head)).map(size);
        let mut first = 0;
        let active = |flow| {
            let size = known(flow).unwrap_or_else(|| head(flow));
            first = size.unwrap_or(0);
            size.is_some()
        };
        let examined = wheel.advance(active)?;
        let flow = wheel.flow();
        let deficit = core::mem::take(&mut self.deficits[flow as usize]);
        self.left = deficit + self.weights[wheel.at()] - first;
        self.tally.count(examined);
        Some(flow)
    }
}

/// The credits of a packet, which is no larger than the largest.
#[inline(always)]
fn size<I: Item<Cost = Bytes>>(packet: &I) -> u32 {
    credits(packet.cost()).get() as u32
}

impl<I: Item<Cost = Bytes>> Discipline<I> for Dtable<I> {
    #[inline(always)]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if let Some(flow) = self.queues.append(item, self.mtu, drops) {
            self.wheel.fill(flow);
        }
        Enqueued::Queued
    }

    #[inline(always)]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let flow = if self.left > 0 { self.go_on(gate) } else { self.begin(gate, |_| None) }?;
        let (item, is_last) = self.queues.take(flow)?;
        if is_last {
            self.wheel.clear(flow);
        }
        Some(Grant { quantum: item.cost(), item })
    }

    copied!();

    #[inline]
    fn backlog(&self) -> Backlog<Bytes> {
        self.queues.backlog()
    }

    #[inline]
    fn effort(&self) -> Option<Effort> {
        Some(self.tally.effort())
    }
}

#[cfg(test)]
mod tests;
