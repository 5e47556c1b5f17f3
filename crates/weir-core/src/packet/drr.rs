//! Deficit round robin, behind a gate.
//!
//! Flows that have packets stand in a ring. A visit adds the flow's quantum to its deficit, then serves
//! packets from its head while the deficit covers them; what does not cover the next head is kept for the
//! next visit. A flow that goes inactive forfeits its deficit.
//!
//! Departures from the source. A flow is seen to be empty at the decision after its last packet: what
//! arrived meanwhile is still served in the same visit; otherwise it leaves the ring, and joins it at the
//! end when it has a packet again. The gate, which the source lacks: a flow whose head it does not permit
//! when its turn comes forfeits its deficit and goes to the end of the ring.
//!
//! | | |
//! |-|-|
//! | Source | Shreedhar and Varghese, *Efficient fair queueing using deficit round robin*, SIGCOMM '95 |
//! | Work per packet | O(1) if `quantum >= max(cost)`, else O(flows); one step more per flow held back |
//! | Units | `quantum`, deficit: bytes (in general, the unit of the item's cost) |
//! | Memory | one entry per flow up to the highest seen, one slot per waiting packet; both stay |
//! | Departs from the source | as above |

use core::fmt;

use super::slots::{Chain, Slots};
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind, Parameter, parse_bytes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Cost, Instant, Weight};

/// The largest table of flows.
pub const MAX_FLOWS: usize = 1 << 20;
const DEFAULT_FLOWS: &str = "65536";

/// What the listings say.
pub const INFO: Info = Info {
    name: "drr",
    kind: Kind::Packet,
    title: "deficit round robin",
    rule: "serves flows in turn, a quantum of bytes each; what it leaves unused is kept for its next turn",
    source: "Shreedhar and Varghese, Efficient fair queueing using deficit round robin, SIGCOMM '95",
    work: "O(1) if quantum >= largest packet",
    parameters: &[
        Parameter {
            name: "quantum",
            values: "bytes, at least 1B; at least the largest packet for O(1)",
            default: Some("2048B"),
            meaning: "how much a flow of weight 1 is served in its turn",
        },
        Parameter {
            name: "by",
            values: "`flow` or `class`",
            default: Some("flow"),
            meaning: "which number of a packet names its queue",
        },
        Parameter {
            name: "weights",
            values: "whole numbers from 1 to 65535, as in `4/2/1`",
            default: Some("1"),
            meaning: "multiples of the quantum for flows 0, 1, ...; the others have 1",
        },
        Parameter {
            name: "flows",
            values: "a whole number from 1 to 1048576",
            default: Some(DEFAULT_FLOWS),
            meaning: "the size of the table of flows; packets of flows beyond it are dropped",
        },
    ],
    example: "drr:quantum=2048B",
};

/// Which number of an item names its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Its flow.
    #[default]
    Flow,
    /// Its class.
    Class,
}

/// How the ring is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config<C: Cost> {
    /// How much a flow of weight 1 is served in its turn.
    pub quantum: C,
    /// Which number of an item names its queue.
    pub by: By,
    /// Multiples of the quantum for flows 0, 1, ...; the others have 1.
    pub weights: Vec<Weight>,
    /// The size of the table of flows.
    pub flows: usize,
}

impl<C: Cost> Config<C> {
    /// Equal shares by flow, in a table of 65536.
    #[must_use]
    pub fn new(quantum: C) -> Self {
        Self { quantum, by: By::Flow, weights: Vec::new(), flows: 1 << 16 }
    }
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError<C: Cost> {
    /// The quantum serves nothing.
    Quantum(C),
    /// A flow's weight is zero: it would never be served.
    Weight {
        /// The flow.
        flow: usize,
    },
    /// The table has no entry, or more than [`MAX_FLOWS`].
    Flows(usize),
}

impl<C: Cost> fmt::Display for ConfigError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantum(quantum) => write!(f, "quantum is {quantum}, must be at least {}", C::ONE),
            Self::Weight { flow } => write!(f, "the weight of flow {flow} is 0, must be at least 1"),
            Self::Flows(flows) => write!(f, "flows is {flows}, must be from 1 to {MAX_FLOWS}"),
        }
    }
}

impl<C: Cost> core::error::Error for ConfigError<C> {}

/// One flow: its packets, and its place in the ring.
#[derive(Clone, Debug)]
struct Flow<C> {
    packets: Chain,
    /// The flow behind this one, while `in_ring`.
    next: u32,
    in_ring: bool,
    deficit: C,
    quantum: C,
}

/// Deficit round robin.
#[derive(Clone, Debug)]
pub struct Drr<I: Item> {
    config: Config<I::Cost>,
    flows: Vec<Flow<I::Cost>>,
    slots: Slots<I>,
    /// The flow that is visited, if any stands in the ring.
    current: u32,
    /// The flow before it, which is the last of the ring.
    last: u32,
    /// How many flows stand in the ring.
    ring: u32,
    /// Whether the flow that is visited has received its quantum.
    visiting: bool,
    backlog: Backlog<I::Cost>,
}

/// What a visit to a flow led to.
enum Visit<I> {
    Grant(I),
    /// It has no packet, and has left the ring.
    Left,
    /// The gate holds its head back.
    Held,
    /// Its deficit does not cover its head.
    Short,
}

impl<I: Item> Drr<I> {
    /// An empty ring.
    ///
    /// # Errors
    /// The quantum or a weight is zero, or the table is empty or too large.
    pub fn new(config: Config<I::Cost>) -> Result<Self, ConfigError<I::Cost>> {
        if config.quantum == I::Cost::ZERO {
            return Err(ConfigError::Quantum(config.quantum));
        }
        if let Some(flow) = config.weights.iter().position(|weight| weight.get() == 0) {
            return Err(ConfigError::Weight { flow });
        }
        if !(1..=MAX_FLOWS).contains(&config.flows) {
            return Err(ConfigError::Flows(config.flows));
        }
        let (flows, slots, backlog) = (Vec::new(), Slots::default(), Backlog::default());
        Ok(Self { config, flows, slots, current: 0, last: 0, ring: 0, visiting: false, backlog })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let positive = |text: &str| parse_bytes(text).map(|bytes| bytes.get()).filter(|&bytes| bytes > 0);
        let quantum = arguments.parsed("quantum", "a size such as 2048B, at least 1B", positive)?;
        let by = [By::Flow, By::Class][arguments.choice("by", &["flow", "class"])?];
        let expected = "whole numbers from 1 to 65535, as in 4/2/1";
        let weights = arguments.parsed("weights", expected, parse_weights)?;
        let flows = arguments.whole("flows", 1, MAX_FLOWS as u64)? as usize;
        let config = Config { quantum: I::Cost::of(quantum), by, weights, flows };
        Self::new(config).map_err(|error| arguments.error("quantum", error.to_string()))
    }

    /// The entry of the item's flow; `None` if it is beyond the table.
    #[inline]
    fn flow_of(&mut self, item: &I) -> Option<usize> {
        let flow = match self.config.by {
            By::Flow => item.flow().0 as usize,
            By::Class => usize::from(item.class().0),
        };
        if flow >= self.flows.len() {
            return self.grow(flow);
        }
        Some(flow)
    }

    #[cold]
    fn grow(&mut self, flow: usize) -> Option<usize> {
        if flow >= self.config.flows {
            return None;
        }
        let Config { quantum, weights, .. } = &self.config;
        for flow in self.flows.len()..=flow {
            let weight = weights.get(flow).map_or(1, |weight| weight.get());
            let quantum = I::Cost::of(quantum.count().saturating_mul(weight));
            let (packets, deficit) = (Chain::default(), I::Cost::ZERO);
            self.flows.push(Flow { packets, next: 0, in_ring: false, deficit, quantum });
        }
        Some(flow)
    }

    /// The flow joins the end of the ring.
    fn join(&mut self, flow: usize) {
        let joining = flow as u32;
        if self.ring == 0 {
            self.current = joining;
            self.visiting = false;
        } else {
            self.flows[self.last as usize].next = joining;
        }
        self.flows[flow].next = self.current;
        self.flows[flow].in_ring = true;
        self.last = joining;
        self.ring += 1;
    }

    /// The flow that is visited leaves the ring.
    fn leave(&mut self) {
        let flow = &mut self.flows[self.current as usize];
        flow.in_ring = false;
        flow.deficit = I::Cost::ZERO;
        self.current = flow.next;
        self.flows[self.last as usize].next = self.current;
        self.ring -= 1;
        self.visiting = false;
    }

    /// The visit ends; the flow becomes the last of the ring.
    #[inline]
    fn advance(&mut self) {
        self.last = self.current;
        self.current = self.flows[self.current as usize].next;
        self.visiting = false;
    }

    /// Visits the first flow of the ring.
    #[inline]
    fn visit(&mut self, gate: &dyn Gate<I>) -> Visit<I> {
        let flow = &mut self.flows[self.current as usize];
        let Some(head) = self.slots.head(&flow.packets) else {
            self.leave();
            return Visit::Left;
        };
        if !gate.permits(head) {
            flow.deficit = I::Cost::ZERO;
            self.advance();
            return Visit::Held;
        }
        if !self.visiting {
            flow.deficit = flow.deficit.plus(flow.quantum);
            self.visiting = true;
        }
        let cost = head.cost();
        if cost > flow.deficit {
            self.advance();
            return Visit::Short;
        }
        flow.deficit = flow.deficit.minus(cost);
        self.slots.take(&mut flow.packets).map_or(Visit::Left, Visit::Grant)
    }

    /// How many quanta this flow lacks for its head; `None` if the gate holds it back.
    fn lacking(&self, flow: usize, gate: &dyn Gate<I>) -> Option<u64> {
        let flow = &self.flows[flow];
        let head = self.slots.head(&flow.packets).filter(|head| gate.permits(head))?;
        Some(head.cost().minus(flow.deficit).count().div_ceil(flow.quantum.count()))
    }

    /// Every flow of the ring was visited in vain, and some is short: gives at once all the rounds that
    /// would be in vain too.
    #[cold]
    fn skip_rounds(&mut self, gate: &dyn Gate<I>) {
        let after = |drr: &Self, flow: usize| drr.flows[flow].next as usize;
        let mut flow = self.current as usize;
        let mut rounds = u64::MAX;
        for _ in 0..self.ring {
            rounds = self.lacking(flow, gate).map_or(rounds, |lacking| rounds.min(lacking));
            flow = after(self, flow);
        }
        let rounds = rounds.saturating_sub(1);
        for _ in 0..self.ring {
            if self.lacking(flow, gate).is_some() {
                let Flow { deficit, quantum, .. } = &mut self.flows[flow];
                *deficit = deficit.plus(I::Cost::of(quantum.count().saturating_mul(rounds)));
            }
            flow = after(self, flow);
        }
    }
}

/// Reads `4/2/1`.
fn parse_weights(text: &str) -> Option<Vec<Weight>> {
    let weight = |text: &str| text.parse::<u16>().ok().filter(|&weight| weight > 0);
    text.split('/').map(|text| weight(text).map(|weight| Weight::new(weight.into()))).collect()
}

impl<I: Item> Discipline<I> for Drr<I> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let Some(flow) = self.flow_of(&item) else {
            drops.dropped(item, DropReason::Unclassified);
            return Enqueued::Queued;
        };
        self.backlog.add(item.cost());
        self.slots.append(&mut self.flows[flow].packets, item);
        if !self.flows[flow].in_ring {
            self.join(flow);
        }
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        // Flows held back in a row, and flows visited in vain since the last rounds were skipped.
        let (mut held, mut in_vain) = (0, 0);
        while self.ring > 0 {
            match self.visit(gate) {
                Visit::Grant(item) => {
                    let quantum = item.cost();
                    self.backlog.remove(quantum);
                    return Some(Grant { item, quantum });
                }
                Visit::Left => continue,
                Visit::Held => held += 1,
                Visit::Short => held = 0,
            }
            if held >= self.ring {
                return None;
            }
            in_vain += 1;
            if in_vain >= self.ring {
                self.skip_rounds(gate);
                in_vain = 0;
            }
        }
        None
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

#[cfg(test)]
mod tests;
