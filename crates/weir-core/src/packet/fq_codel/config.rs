//! What FQ-CoDel shares, and how: its parameters, checked.

use core::fmt;

use super::{MAX_BYTES, MAX_FLOWS};
use crate::info::Arguments;
use crate::packet::codel::{self, Law};
use crate::packet::hash::{self, Hash, Key};
use crate::spec::SpecError;
use crate::units::{Cost, Packets};

/// What is shared, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config<C: Cost> {
    /// How many packets may wait.
    pub limit: Packets,
    /// How much may wait.
    pub memory_limit: C,
    /// The number of queues.
    pub flows: usize,
    /// How much a queue is served in its turn.
    pub quantum: C,
    /// The most that the fattest queue loses at once.
    pub drop_batch: Packets,
    /// How the queue of a packet is computed.
    pub hash: Hash,
    /// What it is computed from.
    pub key: Key,
    /// From which the hash follows.
    pub seed: u64,
    /// What each queue is held to.
    pub law: Law<C>,
}

impl<C: Cost> Config<C> {
    /// The values of Linux for a largest packet of `mtu`.
    #[must_use]
    pub fn new(mtu: C) -> Self {
        Self {
            limit: Packets::new(10_240),
            memory_limit: C::of(32 << 20),
            flows: 1024,
            quantum: mtu,
            drop_batch: Packets::new(64),
            hash: Hash::Keyed,
            key: Key::Flow,
            seed: 0,
            law: Law { ecn: true, ..Law::new(mtu) },
        }
    }

    /// As a spec names it.
    pub(super) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let size = |name| arguments.size(name).map(|size| C::of(size.get()));
        Ok(Self {
            limit: arguments.packets("limit")?,
            memory_limit: size("memory_limit")?,
            flows: arguments.whole("flows")?,
            quantum: size("quantum")?,
            drop_batch: arguments.packets("drop_batch")?,
            hash: Hash::from_spec(arguments)?,
            key: Key::from_spec(arguments)?,
            seed: arguments.whole(hash::SEED.name)?,
            law: codel::law_of(arguments)?,
        })
    }

    /// Refuses what [`ConfigError`] names.
    pub(super) fn check(&self) -> Result<(), ConfigError<C>> {
        let within = |cost: C| (1..=MAX_BYTES).contains(&cost.count());
        if !(1..=codel::MAX_LIMIT).contains(&self.limit.get()) {
            return Err(ConfigError::Limit(self.limit));
        }
        if !within(self.memory_limit) {
            return Err(ConfigError::MemoryLimit(self.memory_limit));
        }
        if !(1..=MAX_FLOWS).contains(&self.flows) {
            return Err(ConfigError::Flows(self.flows));
        }
        if !within(self.quantum) {
            return Err(ConfigError::Quantum(self.quantum));
        }
        if self.drop_batch.get() == 0 {
            return Err(ConfigError::DropBatch);
        }
        codel::check(&self.law).map_err(ConfigError::Law)
    }
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError<C: Cost> {
    /// Nothing could wait, or more than 2^24 packets.
    Limit(Packets),
    /// Nothing could wait, or more than [`MAX_BYTES`].
    MemoryLimit(C),
    /// There is no queue, or there are more than [`MAX_FLOWS`].
    Flows(usize),
    /// The quantum serves nothing, or is more than [`MAX_BYTES`].
    Quantum(C),
    /// No room would be made.
    DropBatch,
    /// The target or the interval is zero.
    Law(codel::ConfigError),
}

impl<C: Cost> fmt::Display for ConfigError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = C::of(MAX_BYTES);
        match self {
            Self::Limit(limit) => {
                write!(f, "limit is {limit}, must be from 1pkt to {}pkt", codel::MAX_LIMIT)
            }
            Self::MemoryLimit(limit) => {
                write!(f, "memory_limit is {limit}, must be from {} to {most}", C::ONE)
            }
            Self::Flows(flows) => write!(f, "flows is {flows}, must be from 1 to {MAX_FLOWS}"),
            Self::Quantum(quantum) => write!(f, "quantum is {quantum}, must be from {} to {most}", C::ONE),
            Self::DropBatch => f.write_str("drop_batch is 0pkt, must be at least 1pkt"),
            Self::Law(error) => error.fmt(f),
        }
    }
}

impl<C: Cost> core::error::Error for ConfigError<C> {}
