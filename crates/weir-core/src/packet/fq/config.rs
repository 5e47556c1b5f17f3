//! Who has a queue under strict fair queueing, how much may wait, and what is refused.

use core::fmt;

use crate::info::Arguments;
use crate::packet::flows::{By, FLOWS, MAX_FLOWS};
use crate::packet::limits::{Full, LimitError, Limits};
use crate::spec::SpecError;

/// Who has a queue, and how much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which number of an item names its queue.
    pub by: By,
    /// The size of the table of flows.
    pub flows: usize,
    /// How many packets may wait, whatever the children allow.
    pub limits: Limits,
    /// Who gives way at the limit.
    pub full: Full,
}

impl Default for Config {
    /// By flow, a table of 65536, and no limits beyond those of the children.
    fn default() -> Self {
        Self { by: By::Flow, flows: 1 << 16, limits: Limits::NONE, full: Full::Newcomer }
    }
}

impl Config {
    /// As a spec names it.
    pub(super) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let (by, flows) = (By::from_spec(arguments)?, arguments.whole(FLOWS.name)?);
        let (limits, full) = (Limits::from_spec(arguments)?, Full::from_spec(arguments)?);
        Ok(Self { by, flows, limits, full })
    }

    /// Refuses what [`ConfigError`] names.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.limits.check().map_err(ConfigError::Limit)?;
        if !(1..=MAX_FLOWS).contains(&self.flows) {
            return Err(ConfigError::Flows(self.flows));
        }
        Ok(())
    }
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The table has no entry, or more than [`MAX_FLOWS`].
    Flows(usize),
    /// Nothing may wait.
    Limit(LimitError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flows(flows) => write!(f, "flows is {flows}, must be from 1 to {MAX_FLOWS}"),
            Self::Limit(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConfigError {}
