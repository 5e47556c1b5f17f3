//! The weighted tables of InfiniBand: an entry sends packets while something of its weight is left.
//!
//! **A table.** A decision goes on with the entry at the position while something of its weight is left and its flow
//! is active: it sends the head, even one that is larger than what is left, which it exhausts. Otherwise what is left is
//! lost, and the entries behind the position are examined, the one at it last; the first that has a weight and whose
//! flow is active becomes the position with its whole weight. Nothing is carried over, so a saturated entry sends its
//! weight rounded up to whole packets: equal entries give unequal bandwidth where sizes differ.
//!
//! **Two tables.** `high` goes before `table`, which is then the low one. How much it may send before the low one has
//! its turn is `high_limit`: 4096 bytes times the limit, one packet if it is 0, everything if it is 255 (the low table
//! may then starve). This is a count in credits, used up like an entry's weight: a packet may start while something is
//! left. A decision tries the high table if something is left; if that has an active flow it is served. Otherwise,
//! or if nothing is left, the count begins anew, and the low table is tried: its turn is one packet. If that has no
//! active flow, and the high table has not been tried, it is tried now, so that no decision is in vain.
//! A table that is not tried at a decision is not touched by it: its position, and what is left of its entry, stay.
//!
//! | | |
//! |-|-|
//! | Source | *InfiniBand Architecture Specification*, volume 1, section 7.6.9 (VL arbitration and prioritization) |
//! | Work per packet | O(entries / 64), once more for each flow held back; as hardware counts it, 1 to all entries examined |
//! | Units | weights: credits of 64 bytes, packets rounded up; `high_limit`: 4096 bytes |
//! | Memory | a bit for each flow and entry; one slot per waiting packet, which stays |
//! | Departs from the source | tables have up to 1024 entries and flows, where the standard has 64 and 15; the turn of the low table, of which the standard says that a packet may be sent, is exactly one packet |
//!
//! **Effort.** A table that goes on with its entry counts one entry examined, one that searches those up to the one
//! it finds, all of them if it finds none; with two tables a decision may examine all entries of both.

use core::fmt;

use super::table::{self, Form, Queues, Table, TableError, Wheel, credits};
use super::tally::Tally;
use super::{flows, limits};
use crate::discipline::{Backlog, Discipline, Drops, Effort, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Bytes, Credits, Instant};

/// What the listings say.
pub const INFO: Info = Info {
    name: "table_weighted",
    kind: Kind::Packet,
    title: "weighted arbitration table",
    rule: "goes around a table of flows and weights; an entry sends packets until its weight is used up",
    source: "InfiniBand Architecture Specification, volume 1, section 7.6.9",
    work: "O(entries / 64)",
    parameters: &[
        table::TABLE,
        table::DISTANCES,
        table::WEIGHTS,
        table::ENTRIES,
        HIGH,
        HIGH_LIMIT,
        table::READ_AHEAD,
        flows::BY,
        limits::DEPTH,
        limits::LIMIT,
    ],
    example: "table_weighted:0@32cr/1@64cr/0@32cr/2@128cr/3@64cr/4@32cr/5@32cr/6@32cr,high=7@16cr,high_limit=10",
};

const HIGH: Parameter = Parameter::new("high", Takes::Text, "none")
    .or(&["none"])
    .listed("entries as in `0@32cr/1@64cr/-`, or `none`")
    .refused(Form::WEIGHTS)
    .meaning("the table that is served before the low table");

const HIGH_LIMIT: Parameter = Parameter::new("high_limit", Takes::Whole(0..=255), "0")
    .listed("a whole number from 0 (one packet) to 254, or 255 (no limit)")
    .meaning("how much the high table sends before the low table sends one packet, in units of 4096 bytes");

/// The largest weight of an entry.
pub const MAX_WEIGHT: Credits = Credits::new(255);
/// Credits in a unit of the limit, 4096 bytes.
const LIMIT_UNIT: u64 = 4096 / table::CREDIT.get();

/// The tables, and when the low one has its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The low table, and what goes into the queues.
    pub table: table::Config,
    /// The high table.
    pub high: Option<Table>,
    /// What the high table sends before the low one has a turn: a packet if 0, no limit if 255, else 4096 bytes each.
    pub high_limit: u8,
}

impl Config {
    /// One table, by flow, without limits.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self { table: table::Config::new(table), high: None, high_limit: 0 }
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is missing, no such table, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let table = table::Config::from_spec(arguments, Form::Weights)?;
        let high = Table::of(arguments, HIGH.name, Form::Weights)?;
        let high_limit = arguments.whole(HIGH_LIMIT.name)?;
        Ok(Self { table, high, high_limit })
    }

    /// What the high table sends before the low one has its turn, in credits; `u64::MAX` if there is no limit.
    #[must_use]
    pub fn high_credits(&self) -> u64 {
        match self.high_limit {
            0 => 1,
            255 => u64::MAX,
            limit => u64::from(limit) * LIMIT_UNIT,
        }
    }

    /// Whether an entry of some weight, in either table, serves this flow (class, by class).
    #[must_use]
    pub fn serves(&self, flow: u32) -> bool {
        self.table.serves(flow) || self.high.as_ref().is_some_and(|high| high.serves(flow))
    }
}

/// Why a configuration was refused: which table, and what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// `table` or `high`.
    pub table: &'static str,
    /// What is wrong.
    pub error: TableError,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl core::error::Error for ConfigError {}

/// Refuses weights that the standard cannot write, and tables of which none serves anybody.
fn check(low: &Table, high: Option<&Table>) -> Result<(), ConfigError> {
    let check = |name, table: &Table| match table.check(Credits::new(0), MAX_WEIGHT) {
        Err(TableError::Empty) => Ok(false),
        Err(error) => Err(ConfigError { table: name, error }),
        Ok(()) => Ok(true),
    };
    let served = [check(table::TABLE.name, low)?, high.map_or(Ok(false), |high| check(HIGH.name, high))?];
    match served {
        [false, false] => Err(ConfigError { table: table::TABLE.name, error: TableError::Empty }),
        _ => Ok(()),
    }
}

/// One table, and what is left of the entry at its position.
#[derive(Clone, Debug)]
struct Arbiter {
    wheel: Wheel,
    weights: Vec<u8>,
    left: u64,
}

impl Arbiter {
    fn new(table: &Table, flows: usize) -> Self {
        let weight = |entry: &Option<table::Entry>| entry.map_or(0, |entry| entry.weight.get() as u8);
        let weights = table.entries().iter().map(weight).collect();
        Self { wheel: Wheel::new(table, flows), weights, left: 0 }
    }

    /// Goes on, or to the next active entry, which sends: its flow, and how many credits. `head` is what the head of
    /// a flow takes, if it is active. Counts what is examined.
    #[inline(always)]
    fn decide(&mut self, examined: &mut u64, head: impl Fn(u16) -> Option<u64>) -> Option<(u16, u64)> {
        let mut refused = None;
        if self.left > 0 {
            let flow = self.wheel.flow();
            if let Some(size) = head(flow) {
                *examined += 1;
                self.left = self.left.saturating_sub(size);
                return Some((flow, size));
            }
            refused = Some(flow);
        }
        let mut size = 0;
        let active = |flow| {
            let next = if Some(flow) == refused { None } else { head(flow) };
            size = next.unwrap_or(0);
            next.is_some()
        };
        let Some(passed) = self.wheel.advance(active) else {
            *examined += self.wheel.len() as u64;
            self.left = 0;
            return None;
        };
        *examined += passed;
        self.left = u64::from(self.weights[self.wheel.at()]).saturating_sub(size);
        Some((self.wheel.flow(), size))
    }
}

/// The high table, and what it may still send before the low one has its turn.
#[derive(Clone, Debug)]
struct High {
    arbiter: Arbiter,
    limit: u64,
    left: u64,
}

impl High {
    /// The high table sends, as long as it may.
    #[inline(always)]
    fn decide(&mut self, examined: &mut u64, head: impl Fn(u16) -> Option<u64>) -> Option<u16> {
        let (flow, size) = self.arbiter.decide(examined, head)?;
        if self.limit < u64::MAX {
            self.left = self.left.saturating_sub(size);
        }
        Some(flow)
    }
}

/// The flow that sends, of either table.
#[inline(always)]
fn both(
    high: &mut High,
    low: &mut Arbiter,
    examined: &mut u64,
    head: impl Fn(u16) -> Option<u64>,
) -> Option<u16> {
    let is_due = high.left == 0;
    if !is_due && let Some(flow) = high.decide(examined, &head) {
        return Some(flow);
    }
    high.left = high.limit;
    // The flows of a table that was tried in vain are held back, or have no packet: the gate is not asked again.
    let tried = |flow| !is_due && high.arbiter.wheel.has(flow);
    if let Some((flow, _)) = low.decide(examined, |flow| if tried(flow) { None } else { head(flow) }) {
        return Some(flow);
    }
    let rest = |flow| if low.wheel.has(flow) { None } else { head(flow) };
    if is_due { high.decide(examined, rest) } else { None }
}

/// The weighted table.
#[derive(Clone, Debug)]
pub struct TableWeighted<I: Item> {
    queues: Queues<I>,
    low: Arbiter,
    high: Option<High>,
    tally: Tally,
}

impl<I: Item<Cost = Bytes>> TableWeighted<I> {
    /// No packet waits.
    ///
    /// # Errors
    /// A weight is above 255 credits, or neither table serves a flow.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let limit = config.high_credits();
        let Config { table: table::Config { table, by, limits, read_ahead }, high, .. } = config;
        check(&table, high.as_ref())?;
        let mut served = table.flows();
        if let Some(high) = &high {
            let more = high.flows();
            served.resize(served.len().max(more.len()), false);
            served.iter_mut().zip(more).for_each(|(served, more)| *served |= more);
        }
        let flows = served.len();
        let high = high.map(|high| High { arbiter: Arbiter::new(&high, flows), limit, left: limit });
        let queues = Queues::new(by, limits, &served);
        Ok(Self { queues, low: Arbiter::new(&table, flows), high, tally: Tally::new(read_ahead) })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is missing, no such table, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let refused = |ConfigError { table, error }| arguments.error(table, format!("is refused: {error}"));
        Self::new(Config::from_spec(arguments)?).map_err(refused)
    }

    /// The flow that sends.
    #[inline(always)]
    fn decide(&mut self, gate: &dyn Gate<I>) -> Option<u16> {
        let Self { queues, low, high, tally } = self;
        let mut examined = 0;
        let head = |flow| {
            let head = queues.head(flow).filter(|head| gate.permits(head))?;
            Some(credits(head.cost()).get())
        };
        let flow = match high {
            None => low.decide(&mut examined, head)?.0,
            Some(high) => both(high, low, &mut examined, head)?,
        };
        tally.count(examined);
        Some(flow)
    }

    /// What every table does as a queue fills or empties.
    #[inline(always)]
    fn wheels(&mut self, change: impl Fn(&mut Wheel)) {
        change(&mut self.low.wheel);
        if let Some(high) = &mut self.high {
            change(&mut high.arbiter.wheel);
        }
    }
}

impl<I: Item<Cost = Bytes>> Discipline<I> for TableWeighted<I> {
    #[inline(always)]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if let Some(flow) = self.queues.append(item, Bytes::new(u64::MAX), drops) {
            self.wheels(|wheel| wheel.fill(flow));
        }
        Enqueued::Queued
    }

    #[inline(always)]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let flow = self.decide(gate)?;
        let (item, is_last) = self.queues.take(flow)?;
        if is_last {
            self.wheels(|wheel| wheel.clear(flow));
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
