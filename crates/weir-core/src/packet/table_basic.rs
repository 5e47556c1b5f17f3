//! The basic table of Advanced Switching: an entry is a turn, and a turn is a packet.
//!
//! A decision examines the entries behind the position, around the ring and at last the one at it. The first whose
//! flow has a packet that the gate permits becomes the position, and one packet of its flow is sent, whatever its size.
//!
//! A saturated flow's share of the bytes is its entries times its mean packet, over the sum of that of all: equal
//! entries give shares that follow the sizes of packets, which is what `table_weighted` and `dtable` repair.
//!
//! | | |
//! |-|-|
//! | Source | *Advanced Switching Core Architecture Specification*, ASI-SIG, 2005, the virtual channel arbitration table; as in Martínez, Alfaro and Sánchez, *Comparing the latency performance of the DTable and DRR schedulers*, 2007, section 2 |
//! | Work per packet | O(entries / 64), once more for each flow held back; as hardware counts it, 1 to all entries examined |
//! | Units | none |
//! | Memory | a bit for each flow and entry; one slot per waiting packet, which stays |
//! | Departs from the source | no; entries may be free, and are passed over |

use super::table::{self, Form, Queues, Table, TableError, Wheel};
use super::tally::Tally;
use super::{flows, limits};
use crate::discipline::{Backlog, Discipline, Drops, Effort, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Bytes, Credits, Instant};

pub use super::table::Config;

/// What the listings say.
pub const INFO: Info = Info {
    name: "table_basic",
    kind: Kind::Packet,
    title: "arbitration table",
    rule: "goes around a table of flows; an entry whose flow is active sends one packet, whatever its size",
    source: "Advanced Switching Core Architecture Specification, ASI-SIG, 2005",
    work: "O(entries / 64)",
    parameters: &[
        table::TABLE
            .listed("flows as in `0/1/0/2`, `-` where an entry is free; or `none`")
            .refused(Form::FLOWS),
        table::DISTANCES,
        table::ENTRIES,
        table::READ_AHEAD,
        flows::BY,
        limits::DEPTH,
        limits::LIMIT,
    ],
    example: "table_basic:0/1/0/2/0/1/0/3/0/4/5/6/7",
};

/// What a spec says.
///
/// # Errors
/// An argument is missing, no such table, or out of its bounds.
pub fn config_from_spec(arguments: &Arguments<'_>) -> Result<Config, SpecError> {
    Config::from_spec(arguments, Form::Flows)
}

/// The basic table.
#[derive(Clone, Debug)]
pub struct TableBasic<I: Item> {
    queues: Queues<I>,
    wheel: Wheel,
    tally: Tally,
}

impl<I: Item<Cost = Bytes>> TableBasic<I> {
    /// No packet waits; the weights of the entries mean nothing, but that one without any is free.
    ///
    /// # Errors
    /// No entry serves a flow.
    pub fn new(config: Config) -> Result<Self, TableError> {
        let Config { table, by, limits, read_ahead } = config;
        table.check(Credits::new(0), Credits::new(u64::MAX))?;
        let served = table.flows();
        let wheel = Wheel::new(&table, served.len());
        Ok(Self { queues: Queues::new(by, limits, &served), wheel, tally: Tally::new(read_ahead) })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is missing, no such table, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Self::new(config_from_spec(arguments)?)
            .map_err(|error| arguments.error(table::TABLE.name, format!("is refused: {error}")))
    }

    /// The table as a spec writes it.
    #[must_use]
    pub fn text(table: &Table) -> String {
        table.text(Form::Flows)
    }
}

impl<I: Item<Cost = Bytes>> Discipline<I> for TableBasic<I> {
    #[inline(always)]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if let Some(flow) = self.queues.append(item, Bytes::new(u64::MAX), drops) {
            self.wheel.fill(flow);
        }
        Enqueued::Queued
    }

    #[inline(always)]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let Self { queues, wheel, .. } = self;
        let examined = wheel.advance(|flow| queues.head(flow).is_some_and(|head| gate.permits(head)))?;
        self.tally.count(examined);
        let flow = wheel.flow();
        let (item, is_last) = queues.take(flow)?;
        if is_last {
            wheel.clear(flow);
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
