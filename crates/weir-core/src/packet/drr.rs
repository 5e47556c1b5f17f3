//! Deficit round robin, behind a gate.
//!
//! Flows that have packets stand in a ring. A visit adds the flow's quantum to its deficit, then serves
//! packets from its head while the deficit covers them; what does not cover the next head is kept for the
//! next visit. A flow that goes inactive forfeits its deficit.
//!
//! Departures from the source. A flow is seen to be empty at the decision after its last packet: what
//! arrived meanwhile is still served in the same visit; otherwise it leaves the ring, and joins it at the
//! end when it has a packet again. The gate, which the source lacks: a flow whose head it does not permit
//! when its turn comes forfeits its deficit. With `stall=turn` it goes to the end of the ring. With
//! `stall=leave`, as behind link credits (Martínez, Alfaro and Sánchez, *Comparing the latency performance of
//! the DTable and DRR schedulers*, 2007, section 2), it is inactive and leaves the ring; it joins it at the end
//! at the first decision at which the gate permits its head, before any flow is visited. Of several that join at
//! one decision, who left first joins first.
//!
//! | | |
//! |-|-|
//! | Source | Shreedhar and Varghese, *Efficient fair queueing using deficit round robin*, SIGCOMM '95 |
//! | Work per packet | O(1) if `quantum >= max(cost)`, else O(flows); one step more per flow held back, with `stall=leave` at every decision until it joins |
//! | Units | `quantum`, deficit: bytes (in general, the unit of the item's cost) |
//! | Memory | one entry per flow up to the highest seen, one slot per waiting packet; both stay |
//! | Departs from the source | as above |
//!
//! **Effort.** A decision has examined the flows that it visited in the ring.

use core::fmt;

use super::flows::{self, Flows};
use super::limits;
use super::round::Round;
use super::tally::Tally;
use crate::discipline::{Backlog, Discipline, Drops, Effort, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Bytes, Cost, Instant, Weight};

pub use super::flows::{By, MAX_FLOWS};

/// What the listings say.
pub const INFO: Info = Info {
    name: "drr",
    kind: Kind::Packet,
    title: "deficit round robin",
    rule: "serves flows in turn, a quantum of bytes each; what a flow leaves unused is kept for its next \
        turn",
    source: "Shreedhar and Varghese, Efficient fair queueing using deficit round robin, SIGCOMM '95",
    work: "O(1) if quantum >= largest packet",
    parameters: &[
        Parameter::new("quantum", Takes::Size(Bytes::ONE..=Bytes::MAX), "2048B")
            .listed("bytes, {}; at least the largest packet for O(1)")
            .meaning("how much a flow of weight 1 is served in its turn"),
        flows::BY,
        flows::WEIGHTS,
        flows::FLOWS,
        limits::DEPTH,
        limits::LIMIT,
        STALL,
        limits::FULL,
    ],
    example: "drr:quantum=2048B",
};

const STALL: Parameter = Parameter::new("stall", Takes::Words(&["turn", "leave"]), "turn").meaning(
    "what a flow loses if the gate stops it in its turn: the turn, or its place until it may send again",
);

/// Where a flow goes that the gate holds back in its turn; either way its deficit is forfeited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stall {
    /// To the end of the ring.
    #[default]
    Turn,
    /// Out of the ring, until the gate permits its head.
    Leave,
}

/// How the ring is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config<C: Cost> {
    /// How much a flow of weight 1 is served in its turn.
    pub quantum: C,
    /// Who shares; a weight is a multiple of the quantum.
    pub flows: flows::Config,
    /// Where a flow goes that the gate holds back.
    pub stall: Stall,
}

impl<C: Cost> Config<C> {
    /// Equal shares by flow, in a table of 65536, without limits.
    #[must_use]
    pub fn new(quantum: C) -> Self {
        Self { quantum, flows: flows::Config::default(), stall: Stall::Turn }
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let quantum = arguments.size("quantum")?;
        let stall = arguments.choice(STALL.name, [Stall::Turn, Stall::Leave])?;
        Ok(Self { quantum: C::of(quantum.get()), flows: flows::Config::from_spec(arguments)?, stall })
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
    deficit: C,
    quantum: C,
    /// Whether the flow stands in the ring, or has left it stalled.
    present: bool,
}

/// How many flows are fetched together.
const AHEAD: usize = 32;

/// Deficit round robin.
#[derive(Clone, Debug)]
pub struct Drr<I: Item> {
    flows: Flows<I, I, Turn<I::Cost>>,
    /// Of a flow of weight 1.
    quantum: I::Cost,
    /// The flows that have packets; the one that is visited is the first.
    ring: Round,
    /// How many of them have been fetched ahead of their visits.
    fetched: usize,
    /// Whether the flow that is visited has received its quantum.
    visiting: bool,
    stall: Stall,
    /// The flows that have left the ring because the gate held them back, in that order.
    stalled: Vec<u32>,
    tally: Tally,
}

/// What a visit to a flow led to.
enum Visit<I: Item> {
    /// Of what the item costs, which is known from the head: one that nobody looks into is handed over in the pieces in
    /// which it is read, and a caller behind a pointer need not wait for it.
    Grant(Grant<I>),
    /// It has left the ring: it has no packet, or is stalled.
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
        let Config { quantum, flows, stall } = config;
        if quantum == I::Cost::ZERO {
            return Err(ConfigError::Quantum(quantum));
        }
        flows.check().map_err(ConfigError::Flows)?;
        Ok(Self {
            flows: Flows::new(flows),
            quantum,
            ring: Round::default(),
            fetched: 0,
            visiting: false,
            stall,
            stalled: Vec::new(),
            tally: Tally::new(1),
        })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// An argument is no such quantity, or out of its bounds.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Self::new(Config::from_spec(arguments)?)
            .map_err(|error| arguments.error("quantum", error.to_string()))
    }

    /// The flow that is visited leaves the ring.
    #[inline]
    fn leave(&mut self, flow: u32) {
        let turn = self.flows.state_mut(flow);
        (turn.deficit, turn.present) = (I::Cost::ZERO, false);
        self.ring.leave();
        self.end_visit();
    }

    /// The visit ends; the flow becomes the last of the ring.
    #[inline]
    fn advance(&mut self) {
        self.ring.advance();
        self.end_visit();
    }

    /// The gate holds the flow that is visited back.
    #[inline]
    fn hold(&mut self, flow: u32) -> Visit<I> {
        if self.stall == Stall::Turn {
            self.advance();
            return Visit::Held;
        }
        self.ring.leave();
        self.end_visit();
        self.stalled.push(flow);
        Visit::Left
    }

    /// The flows that have left stalled, and are permitted now, join the ring again.
    #[cold]
    #[inline(never)]
    fn rejoin(&mut self, gate: &dyn Gate<I>) {
        let Self { flows, ring, stalled, .. } = self;
        stalled.retain(|&flow| {
            let permitted = flows.head(flow).is_none_or(|head| gate.permits(head));
            if permitted {
                ring.join(flow);
            }
            !permitted
        });
    }

    #[inline]
    fn end_visit(&mut self) {
        self.visiting = false;
        if self.flows.are_far() {
            self.fetch_ahead();
        }
    }

    /// Fetches the flows that are next, once those that were fetched have been visited.
    #[cold]
    #[inline(never)]
    fn fetch_ahead(&mut self) {
        self.fetched = self.fetched.saturating_sub(1);
        if self.fetched > 0 {
            return;
        }
        let next = (0..AHEAD).map_while(|turn| self.ring.get(turn));
        self.flows.fetch(next, flows::read, |turn| turn.quantum.count() ^ u64::from(turn.present));
        self.fetched = AHEAD;
    }

    /// Visits the first flow of the ring, as the last of `visits` of this decision.
    #[inline(always)]
    fn visit(&mut self, flow: u32, visits: u64, gate: &dyn Gate<I>) -> Visit<I> {
        let Some(visited) = self.flows.flow(flow).visited() else {
            self.leave(flow);
            return Visit::Left;
        };
        let Some(head) = visited.packet() else { return Visit::Left };
        if !gate.permits(head) {
            visited.state.deficit = I::Cost::ZERO;
            return self.hold(flow);
        }
        let cost = head.cost();
        let turn = &mut *visited.state;
        if !self.visiting {
            turn.deficit = turn.deficit.plus(turn.quantum);
            self.visiting = true;
        }
        if cost > turn.deficit {
            self.advance();
            return Visit::Short;
        }
        turn.deficit = turn.deficit.minus(cost);
        self.tally.count_singly(visits);
        visited.take(cost).map_or(Visit::Left, |item| Visit::Grant(Grant { item, quantum: cost }))
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
        let mut rounds = u64::MAX;
        for flow in (0..self.ring.count).filter_map(|turn| self.ring.get(turn)) {
            rounds = self.lacking(flow, gate).map_or(rounds, |lacking| rounds.min(lacking));
        }
        let rounds = rounds.saturating_sub(1);
        for flow in (0..self.ring.count).filter_map(|turn| self.ring.get(turn)) {
            if self.lacking(flow, gate).is_some() {
                let turn = self.flows.state_mut(flow);
                turn.deficit = turn.deficit.plus(I::Cost::of(turn.quantum.count().saturating_mul(rounds)));
            }
        }
    }
}

impl<I: Item> Discipline<I> for Drr<I> {
    #[inline(always)]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let quantum = self.quantum;
        let make = |weight: Weight| {
            let quantum = I::Cost::of(quantum.count().saturating_mul(weight.get()));
            Turn { deficit: I::Cost::ZERO, quantum, present: false }
        };
        let mut flow = match self.flows.admit(&item, drops, make, flows::evicted) {
            Ok(flow) => flow,
            Err(reason) => {
                drops.dropped(item, reason);
                return Enqueued::Queued;
            }
        };
        flow.append(item);
        if !flow.state.present {
            flow.state.present = true;
            self.ring.join(flow.number);
        }
        Enqueued::Queued
    }

    #[inline(always)]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        // Flows held back in a row, and flows visited in vain since the last rounds were skipped.
        let (mut held, mut in_vain, mut visits) = (0, 0, 0);
        if !self.stalled.is_empty() {
            self.rejoin(gate);
        }
        while let Some(flow) = self.ring.get(0) {
            visits += 1;
            match self.visit(flow, visits, gate) {
                Visit::Grant(grant) => return Some(grant),
                Visit::Left => continue,
                Visit::Held => held += 1,
                Visit::Short => held = 0,
            }
            if held >= self.ring.count {
                return None;
            }
            in_vain += 1;
            if in_vain >= self.ring.count {
                self.skip_rounds(gate);
                in_vain = 0;
            }
        }
        None
    }

    copied!();

    #[inline]
    fn backlog(&self) -> Backlog<I::Cost> {
        self.flows.backlog()
    }

    #[inline]
    fn effort(&self) -> Option<Effort> {
        Some(self.tally.effort())
    }
}

#[cfg(test)]
mod tests;
