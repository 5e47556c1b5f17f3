//! CoDel: first in, first out, held to a wait.
//!
//! A packet is noted with the moment it came. When it would leave, the [`Control`] says whether it is served,
//! marked or dropped; a longer queue is left alone as long as it drains within an interval. Beyond `limit`
//! packets newcomers are dropped.
//!
//! | | |
//! |-|-|
//! | Source | Nichols, Jacobson, McGregor and Iyengar, *Controlled Delay Active Queue Management*, RFC 8289 |
//! | Work per packet | O(1) |
//! | Units | `target`, `interval`, `ce_threshold`: spans; `mtu`: bytes; `limit`: packets |
//! | Memory | one slot per waiting packet, grows to the largest backlog, at most `limit`, and stays |
//! | Departs from the source | the size below which a queue is short is the parameter `mtu`, not the largest packet seen; `ecn` and `ce_threshold` as in Linux; what else is in [`control`] |

use core::fmt;
use core::ops::RangeInclusive;
use std::collections::VecDeque;

use crate::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Bytes, Cost, Instant, Nanos, Packets};

pub mod control;

pub use control::{Control, Law, Queue};

/// The largest limit, in packets.
pub const MAX_LIMIT: u64 = 1 << 24;
/// How many packets may be allowed to wait.
pub(super) const LIMITS: RangeInclusive<Packets> = Packets::ONE..=Packets::new(MAX_LIMIT);

/// What the listings say.
pub const INFO: Info = Info {
    name: "codel",
    kind: Kind::Packet,
    title: "controlled delay",
    rule: "serves in the order of arrival; drops more and more often while packets wait too long for a \
        whole interval",
    source: "Nichols, Jacobson, McGregor and Iyengar, RFC 8289, 2018",
    work: "O(1)",
    parameters: &[
        TARGET,
        INTERVAL,
        Parameter::new("limit", Takes::Packets(LIMITS), "1000pkt")
            .meaning("how many packets may wait; newcomers beyond the limit are dropped"),
        ECN.or_else("no"),
        CE_THRESHOLD,
        MTU,
    ],
    example: "codel:target=5ms,interval=100ms",
};

/// The parameters of every discipline that has the control within.
pub(super) const TARGET: Parameter = Parameter::new("target", Takes::Span(Nanos::ONE..=Nanos::MAX), "5ms")
    .meaning("the wait in the queue that is acceptable permanently");
pub(super) const INTERVAL: Parameter =
    Parameter::new("interval", Takes::Span(Nanos::ONE..=Nanos::MAX), "100ms")
        .meaning("how long a longer wait is tolerated; about the longest usual round-trip time");
pub(super) const ECN: Parameter = Parameter::required("ecn", Takes::Words(&["yes", "no"]))
    .meaning("whether packets that support ECN are marked instead of dropped");
pub(super) const CE_THRESHOLD: Parameter =
    Parameter::new("ce_threshold", Takes::Span(Nanos::ZERO..=Nanos::MAX), "none")
        .or(&["none"])
        .worded("a span such as 1ms, or `none`")
        .meaning("the wait beyond which every packet that supports ECN is marked");
pub(super) const MTU: Parameter = Parameter::new("mtu", Takes::Size(Bytes::ZERO..=Bytes::MAX), "1514B")
    .meaning("a queue with no more than this behind its head is exempt from the target");

/// The law that a spec names.
///
/// # Errors
/// An argument is no such quantity, or out of its bounds.
pub(super) fn law_of<C: Cost>(arguments: &Arguments<'_>) -> Result<Law<C>, SpecError> {
    let (target, interval) = (arguments.span(TARGET.name)?, arguments.span(INTERVAL.name)?);
    let ecn = arguments.choice(ECN.name, [true, false])?;
    let ce_threshold = match arguments.word(CE_THRESHOLD.name)? {
        Some(_) => None,
        None => Some(arguments.span(CE_THRESHOLD.name)?),
    };
    let mtu = arguments.size(MTU.name)?;
    Ok(Law { target, interval, mtu: C::of(mtu.get()), ecn, ce_threshold })
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// Nothing could wait, or more than [`MAX_LIMIT`].
    Limit(u64),
    /// Every wait would be too long.
    Target,
    /// There would be no time to react in.
    Interval,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(limit) => write!(f, "limit is {limit}pkt, must be from 1pkt to {MAX_LIMIT}pkt"),
            Self::Target => f.write_str("target is 0ns, must be at least 1ns"),
            Self::Interval => f.write_str("interval is 0ns, must be at least 1ns"),
        }
    }
}

impl core::error::Error for ConfigError {}

/// Whether a law can be kept.
pub(super) fn check<C: Cost>(law: &Law<C>) -> Result<(), ConfigError> {
    if law.target.get() == 0 {
        return Err(ConfigError::Target);
    }
    if law.interval.get() == 0 {
        return Err(ConfigError::Interval);
    }
    Ok(())
}

/// The packets, each with the moment it came.
#[derive(Clone, Debug)]
struct Waiting<I: Item> {
    packets: VecDeque<(I, Instant)>,
    backlog: Backlog<I::Cost>,
}

/// The packets behind a gate.
struct Gated<'a, I: Item> {
    waiting: &'a mut Waiting<I>,
    gate: &'a dyn Gate<I>,
}

impl<I: Item> Queue<I> for Gated<'_, I> {
    #[inline]
    fn take(&mut self) -> Option<(I, Instant)> {
        if !self.gate.permits(&self.waiting.packets.front()?.0) {
            return None;
        }
        let packet = self.waiting.packets.pop_front()?;
        self.waiting.backlog.remove(packet.0.cost());
        Some(packet)
    }

    #[inline]
    fn cost(&self) -> I::Cost {
        self.waiting.backlog.cost
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.waiting.packets.is_empty()
    }
}

/// CoDel.
#[derive(Clone, Debug)]
pub struct Codel<I: Item> {
    law: Law<I::Cost>,
    limit: u64,
    control: Control,
    waiting: Waiting<I>,
}

impl<I: Item> Codel<I> {
    /// An empty queue of at most `limit` packets, held to `law`.
    ///
    /// # Errors
    /// The limit is zero or too large, or the target or the interval is zero.
    pub fn new(law: Law<I::Cost>, limit: Packets) -> Result<Self, ConfigError> {
        check(&law)?;
        let limit = limit.get();
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(ConfigError::Limit(limit));
        }
        let waiting = Waiting { packets: VecDeque::new(), backlog: Backlog::default() };
        Ok(Self { law, limit, control: Control::default(), waiting })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let limit = arguments.packets("limit")?;
        Self::new(law_of(arguments)?, limit).map_err(|error| arguments.error("limit", error.to_string()))
    }
}

impl<I: Item> Discipline<I> for Codel<I> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if self.waiting.backlog.items >= self.limit {
            drops.dropped(item, DropReason::QueueFull);
        } else {
            self.waiting.backlog.add(item.cost());
            self.waiting.packets.push_back((item, now));
        }
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let mut queue = Gated { waiting: &mut self.waiting, gate };
        let item = self.control.next(&self.law, now, &mut queue, drops)?;
        let quantum = item.cost();
        Some(Grant { item, quantum })
    }

    copied!();

    fn backlog(&self) -> Backlog<I::Cost> {
        self.waiting.backlog
    }
}

#[cfg(test)]
pub(super) mod oracle;
#[cfg(test)]
mod tests;
