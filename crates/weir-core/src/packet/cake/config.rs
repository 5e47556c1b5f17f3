//! What `cake` is set to: its parameters, checked, and what follows from them for each tin.

use core::fmt;
use core::ops::RangeInclusive;

use super::cobalt::Law;
use super::diffserv::{Diffserv, Share};
use super::framing::{Framing, Wire};
use super::sets::WAYS;
use crate::info::Arguments;
use crate::item::{Addresses, Item};
use crate::packet::hash::{self, Hash, Label};
use crate::spec::SpecError;
use crate::units::{Bytes, Nanos, Rate};

/// The most queues of a tin.
pub const MAX_QUEUES: usize = 1 << 16;
/// The largest memory limit, in bytes.
pub const MAX_BYTES: u64 = 1 << 40;
/// The largest overhead, and the largest of the least packets, in bytes.
pub const MAX_OVERHEAD: u64 = 256;
/// The largest of the packets that are reckoned with, in bytes.
pub(super) const MTUS: RangeInclusive<Bytes> = Bytes::new(64)..=Bytes::new(1 << 20);

/// The part of the round-trip time that packets may wait for ever.
const TARGET: u64 = 20;
/// The least room that is given, and how many largest packets it is at most.
const LEAST_ROOM: u64 = 4 << 20;
const MOST_PACKETS: u64 = 10_240;
/// The bounds of what a queue is served in its turn, in bytes, between which it is the data of a 4096th of a second.
const QUANTA: (u64, u64) = (300, 1514);
const TURNS: u64 = 4096;

/// Between whom the rate is shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fairness {
    /// Nobody: all packets of a tin are one queue.
    FlowBlind,
    /// The hosts that packets come from.
    SourceHosts,
    /// The hosts that they go to.
    DestinationHosts,
    /// Pairs of hosts.
    Hosts,
    /// Flows.
    Flows,
    /// The hosts that they come from, then the flows of each.
    DualSource,
    /// The hosts that they go to, then the flows of each.
    DualDestination,
    /// Both kinds of hosts, then flows.
    #[default]
    Triple,
}

impl Fairness {
    /// All, in the order of the words in [`super::INFO`].
    pub(super) const ALL: [Self; 8] = [
        Self::FlowBlind,
        Self::SourceHosts,
        Self::DestinationHosts,
        Self::Hosts,
        Self::Flows,
        Self::DualSource,
        Self::DualDestination,
        Self::Triple,
    ];

    /// Whether a flow's turn is the smaller the more flows its source keeps busy.
    pub(super) fn divides_source(self) -> bool {
        matches!(self, Self::DualSource | Self::Triple)
    }

    /// The same of its destination.
    pub(super) fn divides_destination(self) -> bool {
        matches!(self, Self::DualDestination | Self::Triple)
    }

    /// What tells apart the queues of packets.
    #[inline]
    pub(super) fn label<I: Item>(self, item: &I) -> Label {
        let Addresses { source, destination } = item.addresses();
        let nobody = Label::default();
        match self {
            Self::FlowBlind => nobody,
            Self::SourceHosts => Label { source, ..nobody },
            Self::DestinationHosts => Label { destination, ..nobody },
            Self::Hosts => Label { source, destination, ..nobody },
            _ => Label { source, destination, flow: item.flow().0 },
        }
    }
}

/// What `cake` is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How fast packets leave; `None`: as fast as they are asked for.
    pub rate: Option<Rate>,
    /// How code points are put into tins.
    pub diffserv: Diffserv,
    /// Between whom the rate is shared.
    pub fairness: Fairness,
    /// The round-trip time of the flows.
    pub rtt: Nanos,
    /// What packets take of the line.
    pub wire: Wire,
    /// How much may wait; `None`: as much as fits the rate.
    pub memlimit: Option<Bytes>,
    /// The largest packet.
    pub mtu: Bytes,
    /// Queues of a tin.
    pub queues: usize,
    /// From which the hash and the random drops follow.
    pub seed: u64,
}

impl Default for Config {
    /// As Linux has it for Ethernet.
    fn default() -> Self {
        Self {
            rate: None,
            diffserv: Diffserv::default(),
            fairness: Fairness::default(),
            rtt: Nanos::new(100_000_000),
            wire: Wire { overhead: Bytes::ZERO, mpu: Bytes::ZERO, framing: Framing::None },
            memlimit: None,
            mtu: Bytes::new(1514),
            queues: 1024,
            seed: 0,
        }
    }
}

impl Config {
    /// As a spec names it.
    pub(super) fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let unless_word = |name| Ok(arguments.word(name)?.is_none());
        Ok(Self {
            rate: if unless_word("rate")? { Some(arguments.rate("rate")?) } else { None },
            diffserv: arguments.choice("diffserv", Diffserv::ALL)?,
            fairness: arguments.choice("fairness", Fairness::ALL)?,
            rtt: arguments.span("rtt")?,
            wire: Wire {
                overhead: arguments.size("overhead")?,
                mpu: arguments.size("mpu")?,
                framing: arguments.choice("framing", [Framing::None, Framing::Atm, Framing::Ptm])?,
            },
            memlimit: if unless_word("memlimit")? { Some(arguments.size("memlimit")?) } else { None },
            mtu: arguments.size("mtu")?,
            queues: arguments.whole("queues")?,
            seed: arguments.whole(hash::SEED.name)?,
        })
    }

    /// Refuses what [`ConfigError`] names.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let ways = WAYS as u64;
        match *self {
            Self { rate: Some(rate), .. } if rate.get() == 0 => Err(ConfigError::Rate),
            Self { rtt, .. } if rtt.get() == 0 => Err(ConfigError::Rtt),
            Self { wire: Wire { overhead, .. }, .. } if overhead.get() > MAX_OVERHEAD => {
                Err(ConfigError::Overhead("overhead", overhead))
            }
            Self { wire: Wire { mpu, .. }, .. } if mpu.get() > MAX_OVERHEAD => {
                Err(ConfigError::Overhead("mpu", mpu))
            }
            Self { memlimit: Some(limit), .. } if !(1..=MAX_BYTES).contains(&limit.get()) => {
                Err(ConfigError::Memlimit(limit))
            }
            Self { mtu, .. } if !MTUS.contains(&mtu) => Err(ConfigError::Mtu(mtu)),
            Self { queues, .. }
                if !(WAYS..=MAX_QUEUES).contains(&queues) || !(queues as u64).is_multiple_of(ways) =>
            {
                Err(ConfigError::Queues(queues))
            }
            _ => Ok(()),
        }
    }

    /// How much may wait.
    pub(super) fn room(&self) -> u64 {
        let fits = |rate: Rate| {
            let data = rate.data_in(self.rtt).get().saturating_mul(4);
            data.clamp(LEAST_ROOM, LEAST_ROOM.max(MOST_PACKETS * self.mtu.get()))
        };
        let usual = self.rate.map_or(MOST_PACKETS * self.mtu.get(), fits);
        self.memlimit.map_or(usual, Bytes::get)
    }

    /// What the queues of a tin are held to.
    pub(super) fn law(&self, share: &Share) -> Law {
        let mtu_time = share.threshold.map_or(Some(Nanos::ZERO), |rate| rate.time_of(self.mtu));
        let mtu_time = mtu_time.unwrap_or(Nanos::MAX).get();
        let wanted = (self.rtt.get() / TARGET).max(1);
        let target = wanted.max(mtu_time.saturating_add(mtu_time / 2));
        let interval = self.rtt.get().saturating_add(target - wanted).max(target.saturating_mul(2));
        Law { target: Nanos::new(target), interval: Nanos::new(interval), mtu_time: Nanos::new(mtu_time) }
    }

    /// What a queue of a tin is served in its turn, in bytes.
    pub(super) fn quantum(&self, share: &Share) -> u64 {
        let (least, most) = QUANTA;
        share.threshold.map_or(most, |rate| (rate.get() / 8 / TURNS).clamp(least, most))
    }

    /// The tag of a label: as good as a name of what it stands for.
    #[inline]
    pub(super) fn tag(&self, label: Label) -> u32 {
        Hash::Keyed.bucket(label, self.seed, u32::MAX)
    }
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// Nothing would ever leave.
    Rate,
    /// There would be no time to react in.
    Rtt,
    /// More than [`MAX_OVERHEAD`] is added to packets, or the least packet is larger.
    Overhead(&'static str, Bytes),
    /// Nothing could wait, or more than [`MAX_BYTES`].
    Memlimit(Bytes),
    /// The largest packet is smaller than any, or larger than any.
    Mtu(Bytes),
    /// There are no queues, more than [`MAX_QUEUES`], or no whole sets of eight.
    Queues(usize),
}

impl ConfigError {
    /// The parameter at fault.
    pub(super) fn parameter(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Rtt => "rtt",
            Self::Overhead(name, _) => name,
            Self::Memlimit(_) => "memlimit",
            Self::Mtu(_) => "mtu",
            Self::Queues(_) => "queues",
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate => f.write_str("is 0bit, must be at least 1bit"),
            Self::Rtt => f.write_str("is 0ns, must be at least 1ns"),
            Self::Overhead(_, size) => write!(f, "is {size}, must be at most {MAX_OVERHEAD}B"),
            Self::Memlimit(limit) => write!(f, "is {limit}, must be from 1B to {MAX_BYTES}B"),
            Self::Mtu(mtu) => write!(f, "is {mtu}, must be from {} to {}", MTUS.start(), MTUS.end()),
            Self::Queues(queues) => {
                write!(f, "is {queues}, must be a multiple of {WAYS} from {WAYS} to {MAX_QUEUES}")
            }
        }
    }
}

impl core::error::Error for ConfigError {}
