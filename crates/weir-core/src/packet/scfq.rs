//! Self-clocked fair queueing.
//!
//! Every packet has a finish tag: the finish tag of the one before it in its flow, or the virtual time of
//! its arrival if that is later, and its size over the flow's weight. The packet of the smallest tag is
//! served first. Virtual time is the tag of the packet in service; no fluid system is followed.
//!
//! A tag is computed when its packet becomes the first of its flow. That is the same: what waits behind
//! another packet of its flow comes after the virtual time, which is no later than the tag of any packet
//! that waits.
//!
//! Departures from the source. Virtual time is not set back at the end of a busy period: by then it is at
//! least every tag, which has the same effect. The gate, which the source lacks: a flow whose head it does
//! not permit when its turn comes counts as one whose packets arrive at this decision.
//!
//! | | |
//! |-|-|
//! | Source | Golestani, *A self-clocked fair queueing scheme for broadband applications*, INFOCOM '94 |
//! | Work per packet | O(log of the flows that have packets); as much more per flow held back |
//! | Fairness | service over weight of two backlogged flows differs by at most `Li/wi + Lj/wj` over any span, as in the source |
//! | Units | weights: shares; virtual time: bytes for each share, in 2^-20ths |
//! | Memory | one entry per flow up to the highest seen, one slot per waiting packet; both stay |
//! | Departs from the source | as above; among equal tags the flow of the smaller number is first |

use super::flows::{self, Config, ConfigError, Flows};
use super::limits;
use super::ordered::Ordered;
use super::virtual_time::{Rank, Share, Tag, lowering};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Instant, Weight};

/// What the listings say.
pub const INFO: Info = Info {
    name: "scfq",
    kind: Kind::Packet,
    title: "self-clocked fair queueing",
    rule: "serves the packet of the smallest finish tag; virtual time is the tag of the packet in service",
    source: "Golestani, A self-clocked fair queueing scheme for broadband applications, INFOCOM '94",
    work: "O(log flows)",
    parameters: &[flows::WEIGHTS, flows::BY, flows::FLOWS, limits::DEPTH, limits::LIMIT, limits::FULL],
    example: "scfq:weights=4/2/1",
};

/// What is kept for one flow.
#[derive(Clone, Debug)]
struct Stamp {
    /// Of its first packet; of its last one if none waits.
    finish: Tag,
    share: Share,
}

impl Stamp {
    fn new(weight: Weight) -> Self {
        Self { finish: Tag(0), share: Share::of(weight) }
    }
}

/// Self-clocked fair queueing.
#[derive(Clone, Debug)]
pub struct Scfq<I: Item> {
    flows: Flows<I, I, Stamp>,
    /// The flows that have packets, by the tag of the first.
    order: Ordered,
    /// Virtual time.
    now: Tag,
    /// Flows that the gate held back at this decision.
    held: Vec<u32>,
}

impl<I: Item> Scfq<I> {
    /// No packet waits.
    ///
    /// # Errors
    /// What [`Config::check`] refuses.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { flows: Flows::new(config), order: Ordered::default(), now: Tag(0), held: Vec::new() })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let config = Config::from_spec(arguments)?;
        Self::new(config).map_err(|error| arguments.error("weights", error.to_string()))
    }

    /// Takes the first packet of the least flow, whose next packet gets its tag.
    #[inline]
    fn take(&mut self, least: Rank) -> Option<I> {
        let item = self.flows.take(least.flow(), I::cost)?;
        self.now = self.now.max(least.tag());
        let (next, stamp) = self.flows.head_and_state(least.flow());
        if let Some(next) = next {
            stamp.finish = least.tag().plus(stamp.share.service(next.cost()));
            self.order.rerank_least(Rank::new(stamp.finish, least.flow()));
        } else {
            self.order.pop();
        }
        Some(item)
    }

    /// The flows that were held back are ordered again, no earlier than if their packets arrived now.
    #[cold]
    #[inline(never)]
    fn release(&mut self) {
        while let Some(flow) = self.held.pop() {
            let (head, stamp) = self.flows.head_and_state(flow);
            if let Some(head) = head {
                stamp.finish = stamp.finish.max(self.now.plus(stamp.share.service(head.cost())));
                self.order.push(Rank::new(stamp.finish, flow));
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn lower(&mut self, amount: u64) {
        self.now = self.now.lowered(amount);
        self.order.lower(amount);
        self.flows.states_mut().for_each(|stamp| stamp.finish = stamp.finish.lowered(amount));
    }
}

impl<I: Item> Discipline<I> for Scfq<I> {
    #[inline(always)]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let mut flow = match self.flows.admit(&item, drops, Stamp::new, flows::evicted) {
            Ok(flow) => flow,
            Err(reason) => {
                drops.dropped(item, reason);
                return Enqueued::Queued;
            }
        };
        if flow.is_empty() {
            let stamp = &mut *flow.state;
            stamp.finish = stamp.finish.max(self.now).plus(stamp.share.service(item.cost()));
            self.order.push(Rank::new(stamp.finish, flow.number));
        }
        flow.append(item);
        Enqueued::Queued
    }

    #[inline(always)]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let mut served = None;
        while let Some(least) = self.order.peek() {
            if self.flows.head(least.flow()).is_some_and(|head| gate.permits(head)) {
                served = self.take(least);
                break;
            }
            self.order.pop();
            self.held.push(least.flow());
        }
        if !self.held.is_empty() {
            self.release();
        }
        if self.order.take_refilled() {
            self.flows.fetch(self.order.soon(), flows::read, |stamp| stamp.finish.0 ^ stamp.share.0);
        }
        if let Some(amount) = lowering(self.now) {
            self.lower(amount);
        }
        served.map(|item| Grant { quantum: item.cost(), item })
    }

    copied!();

    #[inline]
    fn backlog(&self) -> Backlog<I::Cost> {
        self.flows.backlog()
    }
}

#[cfg(test)]
mod tests;
