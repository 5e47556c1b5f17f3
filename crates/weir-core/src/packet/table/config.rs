//! What a discipline of tables is made of.

use super::{Form, READ_AHEAD, Table};
use crate::info::Arguments;
use crate::packet::flows::By;
use crate::packet::limits::Limits;
use crate::spec::SpecError;

/// The table, and what goes into its queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Who is served in which order.
    pub table: Table,
    /// Which number of an item names its queue.
    pub by: By,
    /// How many packets may wait.
    pub limits: Limits,
    /// Entries that are read in one step, for the count of steps.
    pub read_ahead: u16,
}

impl Config {
    /// By flow, without limits, one entry read at a time.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self { table, by: By::Flow, limits: Limits::NONE, read_ahead: 1 }
    }

    /// Whether an entry serves this flow (class, by class). The packets of others are dropped as unclassified, which
    /// whoever must lose none asks about beforehand.
    #[must_use]
    pub fn serves(&self, flow: u32) -> bool {
        self.table.serves(flow)
    }

    /// As a spec names it.
    pub(in crate::packet) fn from_spec(arguments: &Arguments<'_>, form: Form) -> Result<Self, SpecError> {
        let table = Table::from_spec(arguments, form)?;
        let by = By::from_spec(arguments)?;
        let read_ahead = arguments.whole(READ_AHEAD.name)?;
        Ok(Self { table, by, limits: Limits::from_spec(arguments)?, read_ahead })
    }
}
