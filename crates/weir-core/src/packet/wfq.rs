//! Weighted fair queueing: packet-by-packet generalised processor sharing.
//!
//! A fluid system with the same arrivals runs alongside the link. It serves all flows that have something
//! left in it at once, in proportion to their weights. Virtual time is what it has served for each share.
//! Every packet has the virtual time at which the fluid system finishes it: the time at which it finishes
//! the one before in the same flow, or that of the arrival if that is later, and the size over the weight.
//! Of the packets that wait, the one that the fluid system finishes first is served first.
//!
//! The fluid system is followed exactly. A flow leaves it when virtual time reaches the finish of its last
//! packet; from then on virtual time runs faster, so that another flow may leave earlier than it would have
//! (*iterated deletion*). Departures are taken one by one from a heap of the flows in the fluid system. A
//! flow's place in it is that of an earlier packet when another has arrived since; it is put right when it
//! comes to the front. What was served is divided with remainder, and the remainder is carried on: only the
//! finish of a packet is rounded, by at most 2^-19 bytes for each share.
//!
//! The fluid system needs to know how fast it serves: `rate` is that of the link. Among flows that always
//! have packets it makes no difference. If it is wrong, the bound below does not hold for those that come
//! and go: if it is higher than the link's (framing, a shaper), they start behind others that were there
//! before, as far as the fluid system is ahead; if it is lower, they start before them.
//!
//! Departures from the source. The gate, which the source lacks, is unknown to the fluid system: a flow
//! whose head it does not permit is passed over and keeps its tags. A newcomer that the limits drop never
//! enters the fluid system. What is dropped at the end of a longest queue is served there nevertheless, since
//! nothing can be taken out of the middle of the heap: virtual time is slower by that much, which favours
//! whoever comes; the flow itself goes on from the last packet that it has left.
//!
//! | | |
//! |-|-|
//! | Source | Demers, Keshav and Shenker, *Analysis and simulation of a fair queueing algorithm*, SIGCOMM '89; Parekh and Gallager, *A generalized processor sharing approach to flow control in integrated services networks: the single-node case*, IEEE/ACM Trans. Networking 1(3), 1993, sections III and IV |
//! | Work per packet | O(log of the flows that have packets), amortised over the departures from the fluid system; as much more per flow held back |
//! | Fairness | a packet leaves no later than in the fluid system, and the time of one largest packet more (Parekh and Gallager, Theorem 1) |
//! | Units | `rate`: bits per second; weights: shares; virtual time: bytes for each share, in 2^-20ths |
//! | Memory | one entry per flow up to the highest seen, one slot per waiting packet; both stay |
//! | Departs from the source | as above; among equal tags the flow of the smaller number is first |

use core::fmt;

use super::flows::{self, Flows};
use super::limits;
use super::ordered::Ordered;
use super::ranks::Ranks;
use super::virtual_time::{Rank, Share, Tag, lowering};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Bytes, Instant, Rate, Weight};

/// What the listings say.
pub const INFO: Info = Info {
    name: "wfq",
    kind: Kind::Packet,
    title: "weighted fair queueing",
    rule: "serves the packet that would finish first in a fluid system, which serves all flows at once in \
        proportion to their weights",
    source: "Demers, Keshav and Shenker, SIGCOMM '89; Parekh and Gallager, Trans. Networking 1(3), 1993",
    work: "O(log flows)",
    parameters: &[
        Parameter::required("rate", Takes::Rate(Rate::new(1)))
            .meaning("how fast the fluid system serves: the rate of the link"),
        flows::WEIGHTS,
        flows::BY,
        flows::FLOWS,
        limits::DEPTH,
        limits::LIMIT,
        limits::FULL,
    ],
    example: "wfq:rate=10Mbit,weights=4/2/1",
};

/// How the link is shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// How fast the fluid system serves.
    pub rate: Rate,
    /// Who shares.
    pub flows: flows::Config,
}

impl Config {
    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is missing, no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let rate = arguments.rate("rate")?;
        Ok(Self { rate, flows: flows::Config::from_spec(arguments)? })
    }
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The fluid system would never finish.
    Rate(Rate),
    /// A weight, the table or a limit is out of its bounds.
    Flows(flows::ConfigError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => write!(f, "rate is {rate}, must be at least 1bit"),
            Self::Flows(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ConfigError {}

/// What is kept for one flow.
#[derive(Clone, Debug)]
struct Stamp {
    /// Of its last packet.
    finish: Tag,
    /// When the fluid system has nothing left of it: at the finish of its last packet, or at that of a later one that was
    /// dropped since.
    leaves: Tag,
    share: Share,
    weight: u32,
    /// Whether the fluid system has something left of it.
    fluid: bool,
}

impl Stamp {
    fn new(weight: Weight) -> Self {
        let (finish, share) = (Tag(0), Share::of(weight));
        // A weight has 16 bits.
        Self { finish, leaves: finish, share, weight: weight.get() as u32, fluid: false }
    }

    /// Reads it from end to end, for [`Flows::fetch`].
    fn read(&self) -> u64 {
        self.finish.0 ^ u64::from(self.weight) ^ u64::from(self.fluid)
    }
}

/// A packet, and when the fluid system finishes it.
#[derive(Clone, Debug)]
struct Stamped<I> {
    item: I,
    finish: Tag,
}

impl<I> Stamped<I> {
    /// It is dropped from the end of its queue: the next packet of its flow follows on the one that is last now.
    fn evicted(self, stamp: &mut Stamp, last: &Self) -> I {
        stamp.finish = last.finish;
        self.item
    }
}

/// Units of virtual time, for one share, that a rate of 1 bit/s makes in a nanosecond: 2^20 / (8 x 10^9),
/// reduced.
const UNITS: (u64, u64) = (1 << 8, 1_953_125);

/// The fluid system.
#[derive(Clone, Debug)]
struct Fluid {
    /// Virtual time, as it was at `at`.
    now: Tag,
    at: Instant,
    /// What has been served by then and is not in `now`: less than a unit for each share.
    rest: u128,
    /// What it serves in a nanosecond.
    speed: u128,
    /// What a unit of virtual time takes for one share.
    unit: u64,
    /// The weights of the flows in it.
    weights: u64,
    /// The flows in it, by the finish of their last packet, or of an earlier one. Mostly there are few, as a link that is
    /// not overloaded empties it again and again: a heap of these is lower than a tournament of all.
    leaving: Ranks,
}

impl Fluid {
    fn new(rate: Rate) -> Self {
        let common = gcd(rate.get(), UNITS.1);
        let (speed, unit) = (u128::from(rate.get() / common) * u128::from(UNITS.0), UNITS.1 / common);
        let (now, at, leaving) = (Tag(0), Instant::ZERO, Ranks::default());
        Self { now, at, rest: 0, speed, unit, weights: 0, leaving }
    }

    /// Serves up to `now`; says when a flow leaves.
    #[inline]
    fn advance<I: Item, T>(&mut self, now: Instant, flows: &mut Flows<I, T, Stamp>) {
        let passed = now.since(self.at).get();
        self.at = self.at.max(now);
        self.rest = self.rest.saturating_add(self.speed.saturating_mul(passed.into()));
        while let Some(first) = self.leaving.peek() {
            let each = self.unit * self.weights;
            let ahead = first.tag().0.saturating_sub(self.now.0);
            let needed = u128::from(ahead) * u128::from(each);
            if needed > self.rest {
                let served = quotient(self.rest, each);
                self.rest -= u128::from(served) * u128::from(each);
                self.now.0 += served;
                return;
            }
            if self.leaving.take_refilled() {
                flows.fetch_states(self.leaving.soon(), Stamp::read);
            }
            let stamp = flows.state_mut(first.flow());
            if stamp.leaves > first.tag() {
                self.leaving.rerank_least(Rank::new(stamp.leaves, first.flow()));
                continue;
            }
            self.rest -= needed;
            self.now = self.now.max(first.tag());
            self.weights -= u64::from(stamp.weight);
            stamp.fluid = false;
            self.leaving.pop();
        }
        // It is empty: what it could have served is lost.
        self.rest = 0;
    }
}

/// Division of what mostly fits into a word, which takes a fraction of the time.
#[inline]
fn quotient(dividend: u128, divisor: u64) -> u64 {
    match u64::try_from(dividend) {
        Ok(dividend) => dividend / divisor,
        Err(_) => (dividend / u128::from(divisor)) as u64,
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Weighted fair queueing.
#[derive(Clone, Debug)]
pub struct Wfq<I: Item> {
    flows: Flows<I, Stamped<I>, Stamp>,
    /// The flows that have packets, by the finish of the first.
    order: Ordered,
    fluid: Fluid,
    /// Flows that the gate held back at this decision.
    held: Vec<Rank>,
}

impl<I: Item<Cost = Bytes>> Wfq<I> {
    /// No packet waits.
    ///
    /// # Errors
    /// The rate is zero, or what [`flows::Config::check`] refuses.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { rate, flows } = config;
        if rate.get() == 0 {
            return Err(ConfigError::Rate(rate));
        }
        flows.check().map_err(ConfigError::Flows)?;
        Ok(Self {
            flows: Flows::new(flows),
            order: Ordered::default(),
            fluid: Fluid::new(rate),
            held: Vec::new(),
        })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is missing, no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Self::new(Config::from_spec(arguments)?).map_err(|error| arguments.error("rate", error.to_string()))
    }

    /// The finish of a packet of this flow that arrives at the fluid system's time.
    #[inline]
    fn stamp(&mut self, flow: u32, size: Bytes) -> Tag {
        let fluid = &mut self.fluid;
        let stamp = self.flows.state_mut(flow);
        stamp.finish = stamp.finish.max(fluid.now).plus(stamp.share.service(size));
        stamp.leaves = stamp.leaves.max(stamp.finish);
        if !stamp.fluid {
            stamp.fluid = true;
            fluid.weights += u64::from(stamp.weight);
            fluid.leaving.push(Rank::new(stamp.finish, flow));
        }
        stamp.finish
    }

    /// Takes the first packet of the least flow.
    #[inline]
    fn take(&mut self, least: Rank) -> Option<I> {
        let Stamped { item, .. } = self.flows.take(least.flow(), |packet| packet.item.cost())?;
        match self.flows.head(least.flow()) {
            Some(next) => self.order.rerank_least(Rank::new(next.finish, least.flow())),
            None => self.order.pop(),
        }
        Some(item)
    }

    #[cold]
    #[inline(never)]
    fn lower(&mut self, amount: u64) {
        self.fluid.now = self.fluid.now.lowered(amount);
        self.fluid.leaving.lower(amount);
        self.order.lower(amount);
        for stamp in self.flows.states_mut() {
            (stamp.finish, stamp.leaves) = (stamp.finish.lowered(amount), stamp.leaves.lowered(amount));
        }
        self.flows.packets_mut().for_each(|packet| packet.finish = packet.finish.lowered(amount));
    }
}

impl<I: Item<Cost = Bytes>> Discipline<I> for Wfq<I> {
    #[inline(always)]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let flow = match self.flows.admit(&item, drops, Stamp::new, Stamped::evicted) {
            Ok(flow) => flow.number,
            Err(reason) => {
                drops.dropped(item, reason);
                return Enqueued::Queued;
            }
        };
        self.fluid.advance(now, &mut self.flows);
        if let Some(amount) = lowering(self.fluid.now) {
            self.lower(amount);
        }
        let finish = self.stamp(flow, item.cost());
        let mut flow = self.flows.flow(flow);
        if flow.is_empty() {
            self.order.push(Rank::new(finish, flow.number));
        }
        flow.append(Stamped { item, finish });
        Enqueued::Queued
    }

    #[inline(always)]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let mut served = None;
        while let Some(least) = self.order.peek() {
            if self.flows.head(least.flow()).is_some_and(|head| gate.permits(&head.item)) {
                served = self.take(least);
                break;
            }
            self.order.pop();
            self.held.push(least);
        }
        while let Some(rank) = self.held.pop() {
            self.order.push(rank);
        }
        if self.order.take_refilled() {
            self.flows.fetch(
                self.order.soon(),
                |packet| packet.finish.0 ^ flows::read(&packet.item),
                Stamp::read,
            );
        }
        served.map(|item| Grant { quantum: item.cost(), item })
    }

    copied!();

    #[inline]
    fn backlog(&self) -> Backlog<Bytes> {
        self.flows.backlog()
    }
}

#[cfg(test)]
mod tests;
