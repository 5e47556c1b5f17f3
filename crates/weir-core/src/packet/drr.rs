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

use super::flows::{self, Flows};
use super::limits;
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind, Parameter, parse_bytes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Cost, Instant, Weight};

pub use super::flows::{By, MAX_FLOWS};

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
        flows::BY,
        flows::WEIGHTS,
        flows::FLOWS,
        limits::DEPTH,
        limits::LIMIT,
    ],
    example: "drr:quantum=2048B",
};

/// How the ring is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config<C: Cost> {
    /// How much a flow of weight 1 is served in its turn.
    pub quantum: C,
    /// Who shares; a weight is a multiple of the quantum.
    pub flows: flows::Config,
}

impl<C: Cost> Config<C> {
    /// Equal shares by flow, in a table of 65536, without limits.
    #[must_use]
    pub fn new(quantum: C) -> Self {
        Self { quantum, flows: flows::Config::default() }
    }
}

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError<C: Cost> {
    /// The quantum serves nothing.
    Quantum(C),
    /// A weight, the table or a limit is out of its bounds.
    Flows(flows::ConfigError),
}

impl<C: Cost> fmt::Display for ConfigError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantum(quantum) => write!(f, "quantum is {quantum}, must be at least {}", C::ONE),
            Self::Flows(error) => error.fmt(f),
        }
    }
}

impl<C: Cost> core::error::Error for ConfigError<C> {}

/// What the ring keeps for one flow.
#[derive(Clone, Debug)]
struct Turn<C> {
    /// The flow behind this one, or [`ABSENT`].
    next: u32,
    deficit: C,
    quantum: C,
}

/// A flow that does not stand in the ring; no flow of the table has this number.
const ABSENT: u32 = u32::MAX;

/// Deficit round robin.
#[derive(Clone, Debug)]
pub struct Drr<I: Item> {
    flows: Flows<I, I, Turn<I::Cost>>,
    /// Of a flow of weight 1.
    quantum: I::Cost,
    /// The flow that is visited, if any stands in the ring.
    current: u32,
    /// The flow before it, which is the last of the ring.
    last: u32,
    /// How many flows stand in the ring.
    ring: u32,
    /// Whether the flow that is visited has received its quantum.
    visiting: bool,
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
    /// The quantum is zero, or what [`flows::Config::check`] refuses.
    pub fn new(config: Config<I::Cost>) -> Result<Self, ConfigError<I::Cost>> {
        let Config { quantum, flows } = config;
        if quantum == I::Cost::ZERO {
            return Err(ConfigError::Quantum(quantum));
        }
        flows.check().map_err(ConfigError::Flows)?;
        Ok(Self { flows: Flows::new(flows), quantum, current: 0, last: 0, ring: 0, visiting: false })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let positive = |text: &str| parse_bytes(text).map(|bytes| bytes.get()).filter(|&bytes| bytes > 0);
        let quantum = arguments.parsed("quantum", "a size such as 2048B, at least 1B", positive)?;
        let config = Config { quantum: I::Cost::of(quantum), flows: flows::Config::from_spec(arguments)? };
        Self::new(config).map_err(|error| arguments.error("quantum", error.to_string()))
    }

    /// The flow joins the end of the ring.
    #[inline]
    fn join(&mut self, joining: u32) {
        if self.ring == 0 {
            self.current = joining;
            self.visiting = false;
        } else {
            self.flows.state_mut(self.last).next = joining;
        }
        self.flows.state_mut(joining).next = self.current;
        self.last = joining;
        self.ring += 1;
    }

    /// The flow that is visited leaves the ring.
    fn leave(&mut self) {
        let turn = self.flows.state_mut(self.current);
        turn.deficit = I::Cost::ZERO;
        self.current = core::mem::replace(&mut turn.next, ABSENT);
        self.ring -= 1;
        if self.ring > 0 {
            self.flows.state_mut(self.last).next = self.current;
        }
        self.visiting = false;
    }

    /// The visit ends; the flow becomes the last of the ring.
    #[inline]
    fn advance(&mut self) {
        self.last = self.current;
        self.current = self.flows.state(self.current).next;
        self.visiting = false;
    }

    /// Visits the first flow of the ring.
    #[inline(always)]
    fn visit(&mut self, gate: &dyn Gate<I>) -> Visit<I> {
        let (head, turn) = self.flows.head_and_state(self.current);
        let Some(head) = head else {
            self.leave();
            return Visit::Left;
        };
        if !gate.permits(head) {
            turn.deficit = I::Cost::ZERO;
            self.advance();
            return Visit::Held;
        }
        if !self.visiting {
            turn.deficit = turn.deficit.plus(turn.quantum);
            self.visiting = true;
        }
        let cost = head.cost();
        if cost > turn.deficit {
            self.advance();
            return Visit::Short;
        }
        turn.deficit = turn.deficit.minus(cost);
        self.flows.take(self.current).map_or(Visit::Left, Visit::Grant)
    }

    /// How many quanta this flow lacks for its head; `None` if the gate holds it back.
    fn lacking(&self, flow: u32, gate: &dyn Gate<I>) -> Option<u64> {
        let turn = self.flows.state(flow);
        let head = self.flows.head(flow).filter(|head| gate.permits(head))?;
        Some(head.cost().minus(turn.deficit).count().div_ceil(turn.quantum.count()))
    }

    /// Every flow of the ring was visited in vain, and some is short: gives at once all the rounds that
    /// would be in vain too.
    #[cold]
    #[inline(never)]
    fn skip_rounds(&mut self, gate: &dyn Gate<I>) {
        let mut flow = self.current;
        let mut rounds = u64::MAX;
        for _ in 0..self.ring {
            rounds = self.lacking(flow, gate).map_or(rounds, |lacking| rounds.min(lacking));
            flow = self.flows.state(flow).next;
        }
        let rounds = rounds.saturating_sub(1);
        for _ in 0..self.ring {
            let short = self.lacking(flow, gate).is_some();
            let turn = self.flows.state_mut(flow);
            if short {
                turn.deficit = turn.deficit.plus(I::Cost::of(turn.quantum.count().saturating_mul(rounds)));
            }
            flow = turn.next;
        }
    }
}

impl<I: Item> Discipline<I> for Drr<I> {
    #[inline(always)]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let quantum = self.quantum;
        let make = |weight: Weight| {
            let quantum = I::Cost::of(quantum.count().saturating_mul(weight.get()));
            Turn { next: ABSENT, deficit: I::Cost::ZERO, quantum }
        };
        if let Some((flow, item)) = self.flows.admit(item, drops, make) {
            self.flows.append(flow, item);
            if self.flows.state(flow).next == ABSENT {
                self.join(flow);
            }
        }
        Enqueued::Queued
    }

    #[inline(always)]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        // Flows held back in a row, and flows visited in vain since the last rounds were skipped.
        let (mut held, mut in_vain) = (0, 0);
        while self.ring > 0 {
            match self.visit(gate) {
                Visit::Grant(item) => {
                    let quantum = item.cost();
                    self.flows.served(quantum);
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

    #[inline]
    fn backlog(&self) -> Backlog<I::Cost> {
        self.flows.backlog()
    }
}

#[cfg(test)]
mod tests;
