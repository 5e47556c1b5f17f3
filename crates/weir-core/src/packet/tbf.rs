//! Token bucket filter: a shaper around any discipline of packets.
//!
//! Tokens accrue at `rate` up to `burst`; a packet leaves when there are tokens for all its bytes, and
//! takes them. The shaper takes one packet from its child and holds it until then: which packet is next
//! is decided before its tokens are there, and a child that counts who is active, such as deficit round
//! robin, sees packets waiting and not a closed gate.
//!
//! | | |
//! |-|-|
//! | Source | Turner, *New directions in communications*, IEEE Communications Magazine 24(10), 1986 |
//! | Work per packet | O(1), and that of the child |
//! | Units | `rate`: bits per second; `burst`: bytes; tokens: thousand-millionths of a bit, exact |
//! | Memory | one packet, and that of the child |
//! | Departs from the source | what does not conform waits; only what is larger than the burst is dropped |

use core::fmt;

use super::bucket::Bucket;
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Effort, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::role::Role;
use crate::spec::SpecError;
use crate::units::{Bytes, Instant, Rate};

/// What the listings say.
pub const INFO: Info = Info {
    name: "tbf",
    kind: Kind::Wrapper,
    title: "token bucket filter",
    rule: "sends what its child decides, no faster than the rate, and after a pause up to one burst at once",
    source: "Turner, New directions in communications, IEEE Communications Magazine 24(10), 1986",
    work: "O(1)",
    parameters: &[
        Parameter::required("discipline", Takes::Discipline(Role::Discipline))
            .listed("a discipline of packets")
            .meaning("the discipline that decides which packet is next"),
        Parameter::required("rate", Takes::Rate(Rate::new(1))).meaning("how fast tokens accrue"),
        Parameter::required("burst", Takes::Size(Bytes::ONE..=Bytes::MAX))
            .listed("bytes, {}; larger packets are dropped")
            .refused("a size such as 15140B, {}")
            .meaning("how many tokens can accrue at most"),
    ],
    example: "tbf(drr:quantum=2048B,rate=10Mbit,burst=15140B)",
};

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// No token would ever accrue.
    Rate(Rate),
    /// No packet would ever pass.
    Burst(Bytes),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => write!(f, "rate is {rate}, must be at least 1bit"),
            Self::Burst(burst) => write!(f, "burst is {burst}, must be at least 1B"),
        }
    }
}

impl core::error::Error for ConfigError {}

/// Token bucket filter.
#[derive(Clone, Debug)]
pub struct Tbf<I: Item<Cost = Bytes>, D> {
    child: D,
    bucket: Bucket,
    held: Option<I>,
    /// When there will be tokens for the held packet; `None` too if only the gate holds it.
    release: Option<Instant>,
}

/// A gate that is always closed.
struct Closed;

impl<I> Gate<I> for Closed {
    fn permits(&self, _head: &I) -> bool {
        false
    }
}

impl<I: Item<Cost = Bytes>, D: Discipline<I>> Tbf<I, D> {
    /// Shapes what `child` decides; the bucket is full at first.
    ///
    /// # Errors
    /// The rate or the burst is zero.
    pub fn new(child: D, rate: Rate, burst: Bytes) -> Result<Self, ConfigError> {
        if rate.get() == 0 {
            return Err(ConfigError::Rate(rate));
        }
        if burst.get() == 0 {
            return Err(ConfigError::Burst(burst));
        }
        let bucket = Bucket::full(rate, burst);
        Ok(Self { child, bucket, held: None, release: None })
    }

    /// The packet that is held, if it may go now. An event of the child is handled when it is due, although nothing can
    /// be taken.
    #[inline(never)]
    fn release_held(
        &mut self,
        now: Instant,
        gate: &dyn Gate<I>,
        drops: &mut dyn Drops<I>,
    ) -> Option<Grant<I>> {
        if self.child.next_event().is_some_and(|at| at <= now)
            && let Some(Grant { item, .. }) = self.child.dequeue(now, &Closed, drops)
        {
            self.child.requeue(now, item, Bytes::new(0), drops);
        }
        let item = self.held.take()?;
        let quantum = item.cost();
        if self.conforms(&item, quantum, gate) {
            return Some(Grant { item, quantum });
        }
        self.held = Some(item);
        None
    }

    /// Whether a packet may go now: the gate permits it and there are tokens for it, which it takes.
    #[inline(always)]
    fn conforms(&mut self, item: &I, cost: Bytes, gate: &dyn Gate<I>) -> bool {
        gate.permits(item) && self.bucket.take(cost).map_err(|at| self.release = at).is_ok()
    }
}

impl<I: Item<Cost = Bytes> + Send + 'static> Tbf<I, Box<dyn Discipline<I> + Send>> {
    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is missing, no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let child = crate::registry::packet_discipline(&arguments.nested("discipline")?)?;
        let (rate, burst) = (arguments.rate("rate")?, arguments.size("burst")?);
        Self::new(child, rate, burst).map_err(|error| arguments.error("rate", error.to_string()))
    }
}

impl<I: Item<Cost = Bytes>, D: Discipline<I>> Discipline<I> for Tbf<I, D> {
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if item.cost() > self.bucket.burst() {
            drops.dropped(item, DropReason::TooLarge);
            return Enqueued::Queued;
        }
        // The child's grant is closed as soon as it is made, so there is nobody to preempt.
        let _ = self.child.enqueue(now, item, drops);
        Enqueued::Queued
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.bucket.settle(now);
        self.release = None;
        if self.held.is_some() {
            return self.release_held(now, gate, drops);
        }
        // The child's part ends here: it learns that the packet has been served. What goes at once is never laid down
        // where others are held, and one that is served whole is not looked at.
        let Grant { item, quantum } = self.child.dequeue(now, gate, drops)?;
        let quantum = if I::WHOLE { quantum } else { item.cost() };
        self.child.finish(now, &item, quantum);
        if self.conforms(&item, quantum, gate) {
            return Some(Grant { item, quantum });
        }
        self.held = Some(item);
        None
    }

    fn next_event(&self) -> Option<Instant> {
        [self.release, self.child.next_event()].into_iter().flatten().min()
    }

    fn copied(&self) -> Option<Box<dyn Discipline<I> + Send>>
    where
        I: Clone + Send + 'static,
    {
        let (child, held) = (self.child.copied()?, self.held.clone());
        Some(Box::new(Tbf { child, bucket: self.bucket, held, release: self.release }))
    }

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let retained = self.child.retain(keep);
        if retained && self.held.take_if(|item| !keep(item)).is_some() {
            self.release = None;
        }
        retained
    }

    fn backlog(&self) -> Backlog<Bytes> {
        let mut backlog = self.child.backlog();
        if let Some(item) = &self.held {
            backlog.add(item.cost());
        }
        backlog
    }

    #[inline]
    fn effort(&self) -> Option<Effort> {
        self.child.effort()
    }
}

#[cfg(test)]
mod tests;
