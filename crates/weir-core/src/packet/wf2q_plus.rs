//! Worst-case fair weighted fair queueing plus.
//!
//! The first packet of a flow has a start tag and a finish tag. It starts where the one before it in its
//! flow finished, or at the virtual time of its arrival if none of its flow waited or was sent then and that
//! is later; it takes its size over the flow's weight. A packet is eligible once virtual time has reached its
//! start. Of the eligible packets that of the smallest finish tag is served first. Virtual time goes on by
//! the size of each packet served over the sum of the weights, and if that makes nobody eligible, to the
//! smallest start.
//!
//! Departures from the source. Time is counted in service: virtual time goes on at the decision, for the
//! whole packet, so that what arrives during its transmission counts as arriving at its end; the link's
//! rate is not needed. The sum of the weights is that of the flows seen so far. The gate, which the source
//! lacks: a flow whose head it does not permit when its turn comes counts as one whose packets arrive at
//! this decision.
//!
//! | | |
//! |-|-|
//! | Source | Bennett and Zhang, *Hierarchical packet fair queueing algorithms*, SIGCOMM '96; IEEE/ACM Trans. Networking 5(5), 1997 |
//! | Work per packet | O(log of the flows that have packets); as much more per flow held back |
//! | Fairness | a packet that finds `Q` bytes of its flow, itself included, leaves within the time `Q/ri + Li/ri - Li/r + L/r`, where `ri` is its flow's share of the rate `r`, `Li` the flow's largest packet, `L` the largest of all (worst-case fair index, as in the source) |
//! | Units | weights: shares; virtual time: bytes for each share, in 2^-20ths |
//! | Memory | one entry per flow up to the highest seen, one slot per waiting packet; both stay |
//! | Departs from the source | as above; among equal tags the flow of the smaller number is first |

use super::flows::{self, Config, ConfigError, Flows};
use super::limits;
use super::ordered::Ordered;
use super::virtual_time::{FRACTION_BITS, Rank, Share, Tag, lowering};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Cost, Instant, Weight};

/// What the listings say.
pub const INFO: Info = Info {
    name: "wf2q_plus",
    kind: Kind::Packet,
    title: "worst-case fair weighted fair queueing plus",
    rule: "serves the packet of the smallest finish tag among those whose start tag virtual time has reached",
    source: "Bennett and Zhang, Hierarchical packet fair queueing algorithms, SIGCOMM '96",
    work: "O(log flows)",
    parameters: &[flows::WEIGHTS, flows::BY, flows::FLOWS, limits::DEPTH, limits::LIMIT, limits::FULL],
    example: "wf2q_plus:weights=4/2/1",
};

/// What is kept for one flow: the tags of its first packet, or of its last one if none waits.
#[derive(Clone, Debug)]
struct Stamp {
    start: Tag,
    finish: Tag,
    share: Share,
    weight: u64,
    /// Whether the weight is in the sum.
    seen: bool,
}

impl Stamp {
    fn new(weight: Weight) -> Self {
        let (start, finish, share) = (Tag(0), Tag(0), Share::of(weight));
        Self { start, finish, share, weight: weight.get(), seen: false }
    }

    /// A packet of this cost becomes the first, and starts here.
    #[inline]
    fn begin<C: Cost>(&mut self, start: Tag, cost: C) {
        self.start = start;
        self.finish = start.plus(self.share.service(cost));
    }
}

/// Virtual time: it has no rate of its own, but follows what is served.
#[derive(Clone, Debug, Default)]
struct Clock {
    now: Tag,
    /// The weights of the flows seen so far.
    weights: u64,
    /// What was served and is not in `now` yet: less than `weights`.
    rest: u64,
}

impl Clock {
    #[inline]
    fn serve<C: Cost>(&mut self, cost: C) {
        let work = (cost.count().min(u32::MAX.into()) << FRACTION_BITS) + self.rest;
        let weights = self.weights.max(1);
        self.now = self.now.plus(work / weights);
        self.rest = work % weights;
    }
}

/// Worst-case fair weighted fair queueing plus.
#[derive(Clone, Debug)]
pub struct Wf2qPlus<I: Item> {
    flows: Flows<I, I, Stamp>,
    /// The flows whose first packet is eligible, by its finish tag.
    eligible: Ordered,
    /// The others that have packets, by the start tag of the first.
    waiting: Ordered,
    clock: Clock,
    /// The flow whose packet is sent, until the next decision.
    serving: Option<u32>,
    /// Flows that the gate held back at this decision.
    held: Vec<u32>,
}

impl<I: Item> Wf2qPlus<I> {
    /// No packet waits.
    ///
    /// # Errors
    /// What [`Config::check`] refuses.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let (flows, eligible, waiting) = (Flows::new(config), Ordered::default(), Ordered::default());
        Ok(Self { flows, eligible, waiting, clock: Clock::default(), serving: None, held: Vec::new() })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let config = Config::from_spec(arguments)?;
        Self::new(config).map_err(|error| arguments.error("weights", error.to_string()))
    }

    /// Puts a flow among the eligible, or among those that wait for virtual time.
    #[inline]
    fn place(&mut self, flow: u32) {
        let &Stamp { start, finish, .. } = self.flows.state(flow);
        if start <= self.clock.now {
            self.eligible.push(Rank::new(finish, flow));
        } else {
            self.waiting.push(Rank::new(start, flow));
        }
    }

    /// Moves those whose start has come to the eligible.
    #[inline]
    fn promote(&mut self) {
        while let Some(first) = self.waiting.peek().filter(|first| first.tag() <= self.clock.now) {
            self.waiting.pop();
            let finish = self.flows.state(first.flow()).finish;
            self.eligible.push(Rank::new(finish, first.flow()));
        }
    }

    /// The eligible flow of the smallest finish tag that the gate permits; it stays at its place.
    #[inline]
    fn choose(&mut self, gate: &dyn Gate<I>) -> Option<u32> {
        loop {
            self.promote();
            let (order, least) = match (self.eligible.peek(), self.waiting.peek()) {
                (Some(least), _) => (&mut self.eligible, least),
                (None, Some(least)) => (&mut self.waiting, least),
                (None, None) => return None,
            };
            if !self.flows.head(least.flow()).is_some_and(|head| gate.permits(head)) {
                order.pop();
                self.held.push(least.flow());
            } else if self.eligible.peek().is_some() {
                return Some(least.flow());
            } else {
                self.clock.now = least.tag();
            }
        }
    }

    /// Takes the first packet of the chosen flow, whose next packet gets its tags.
    #[inline]
    fn take(&mut self, flow: u32) -> Option<I> {
        let item = self.flows.take(flow, I::cost)?;
        self.clock.serve(item.cost());
        let (next, stamp) = self.flows.head_and_state(flow);
        let next = next.map(|next| stamp.begin(stamp.finish, next.cost()));
        match next {
            Some(()) if self.flows.state(flow).start <= self.clock.now => {
                self.eligible.rerank_least(Rank::new(self.flows.state(flow).finish, flow));
            }
            Some(()) => {
                self.eligible.pop();
                self.waiting.push(Rank::new(self.flows.state(flow).start, flow));
            }
            None => self.eligible.pop(),
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
                stamp.begin(stamp.start.max(self.clock.now), head.cost());
                self.place(flow);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn lower(&mut self, amount: u64) {
        self.clock.now = self.clock.now.lowered(amount);
        self.eligible.lower(amount);
        self.waiting.lower(amount);
        for stamp in self.flows.states_mut() {
            stamp.start = stamp.start.lowered(amount);
            stamp.finish = stamp.finish.lowered(amount);
        }
    }
}

impl<I: Item> Discipline<I> for Wf2qPlus<I> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let mut flow = match self.flows.admit(&item, drops, Stamp::new, flows::evicted) {
            Ok(flow) => flow,
            Err(reason) => {
                drops.dropped(item, reason);
                return Enqueued::Queued;
            }
        };
        let (cost, is_first) = (item.cost(), flow.is_empty());
        flow.append(item);
        if is_first {
            let (flow, stamp) = (flow.number, flow.state);
            if !stamp.seen {
                stamp.seen = true;
                self.clock.weights += stamp.weight;
            }
            let idle = self.serving != Some(flow);
            let start = if idle { stamp.finish.max(self.clock.now) } else { stamp.finish };
            stamp.begin(start, cost);
            self.place(flow);
        }
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.serving = self.choose(gate);
        let served = self.serving.and_then(|flow| self.take(flow));
        if !self.held.is_empty() {
            self.release();
        }
        for order in [&mut self.eligible, &mut self.waiting] {
            if order.take_refilled() {
                self.flows.fetch(order.soon(), flows::read, |stamp| stamp.finish.0 ^ stamp.weight);
            }
        }
        if let Some(amount) = lowering(self.clock.now) {
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
