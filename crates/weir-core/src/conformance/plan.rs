//! What the suite asks of a discipline: arrivals, a gate that opens and closes, a kind of engine.

use core::fmt::Debug;

use crate::item::{ClassId, FlowId, Item, Message, Packet};
use crate::random::Random;
use crate::task::Task;
use crate::units::{Bytes, Cost, Nanos};

/// An item that the suite can make and serve.
pub trait Sample: Item + Copy + PartialEq + Debug + 'static {
    /// The largest cost of the usual plans.
    const LARGEST: u64;
    /// Grants are seldom smaller.
    const GRAIN: u64 = 1;
    /// It is a readiness of a process: what it costs only the engine knows, a process has one at a time, no gate
    /// holds it back, and its time is used when it has passed.
    const TASK: bool = false;
    /// An item of this cost.
    fn sample(id: u32, flow: FlowId, class: ClassId, cost: u64) -> Self;
    /// The name it was given.
    fn id(&self) -> u32;
    /// What is left of it once `used` has been served.
    #[must_use]
    fn served(self, used: Self::Cost) -> Self;
    /// What is left of it, which a discipline may not know.
    fn left(&self) -> u64 {
        self.cost().count()
    }
}

impl<C: Cost> Sample for Message<C> {
    const LARGEST: u64 = 40;
    fn sample(id: u32, flow: FlowId, class: ClassId, cost: u64) -> Self {
        Self { id, flow, class, remaining: C::of(cost) }
    }
    fn id(&self) -> u32 {
        self.id
    }
    fn served(self, used: C) -> Self {
        Self { remaining: self.remaining.minus(used), ..self }
    }
}

impl Sample for Packet {
    const LARGEST: u64 = 1514;
    fn sample(id: u32, flow: FlowId, class: ClassId, cost: u64) -> Self {
        Self { id, flow, class, size: Bytes::new(cost) }
    }
    fn id(&self) -> u32 {
        self.id
    }
    fn served(self, used: Bytes) -> Self {
        Self { size: self.size.minus(used), ..self }
    }
}

/// A readiness of a process that knows what only its engine does: its name, and what is left until the process waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    id: u32,
    task: Task,
    left: Nanos,
}

impl Item for Burst {
    type Cost = Nanos;
    fn flow(&self) -> FlowId {
        self.task.flow()
    }
    fn cost(&self) -> Nanos {
        self.task.cost()
    }
}

impl Sample for Burst {
    const LARGEST: u64 = 60_000_000;
    const GRAIN: u64 = 100_000;
    const TASK: bool = true;
    fn sample(id: u32, flow: FlowId, _class: ClassId, cost: u64) -> Self {
        Self { id, task: Task { process: flow }, left: Nanos::new(cost) }
    }
    fn id(&self) -> u32 {
        self.id
    }
    fn served(self, used: Nanos) -> Self {
        Self { left: self.left.minus(used), ..self }
    }
    fn left(&self) -> u64 {
        self.left.get()
    }
}

impl Random {
    /// A number that is often at an end of its range.
    pub(super) fn extreme(&mut self) -> u64 {
        match self.below(5) {
            0 => 0,
            1 => u64::MAX - self.below(3),
            2 => self.bits(),
            _ => self.below(100),
        }
    }

    /// A flow, seldom the last there can be.
    pub(super) fn flow(&mut self) -> u32 {
        if self.one_in(16) { u32::MAX } else { self.below(8) as u32 }
    }

    /// A class, seldom the last there can be.
    pub(super) fn class(&mut self) -> u16 {
        if self.one_in(16) { u16::MAX } else { self.below(8) as u16 }
    }
}

/// One arrival.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// How long after the previous one.
    pub gap: Nanos,
    /// Whose it is; plans use flows below 8, each of the class with its number.
    pub flow: FlowId,
    /// Its cost, in the unit of the item.
    pub cost: u64,
}

/// The gate changes: it permits heads of the other classes, up to a size.
#[derive(Clone, Copy, Debug)]
pub struct GateChange {
    /// How long after the previous change.
    pub gap: Nanos,
    /// The classes that it holds back, one bit each.
    pub closed: u64,
    /// The largest head that it lets pass.
    pub largest: u64,
}

/// When a unit of service counts as used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
    /// When it starts, like the transmission of a packet; a grant closes when its last unit starts.
    AtStart,
    /// When it has passed, like the time of a task.
    AsServed,
}

/// All that happens to a discipline from outside.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Who arrives when.
    pub arrivals: Vec<Arrival>,
    /// When the gate changes; it is open at first, and again when nothing else happens any more.
    pub gates: Vec<GateChange>,
    /// The time to serve one unit of cost; not zero.
    pub tick: Nanos,
    /// When a unit counts as used.
    pub commits: Commits,
    /// Whether the engine acts on `Preempts` and on events before its grant ends.
    pub interrupts: bool,
    /// Decides in which pieces the second copy is charged.
    pub seed: u64,
}

/// Its seed, and what kind of engine it has; the arrivals follow from both.
impl core::fmt::Display for Plan {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let interrupts = if self.interrupts { "interrupted" } else { "never interrupted" };
        let commits = match self.commits {
            Commits::AtStart => "used when it starts",
            Commits::AsServed => "used when it has passed",
        };
        let gate = if self.gates.is_empty() { "" } else { ", behind a gate" };
        write!(
            f,
            "plan {} ({} arrivals, service {interrupts} and {commits}{gate})",
            self.seed,
            self.arrivals.len()
        )
    }
}

/// Whether a kind of plan has no gate, and an engine whose time is used when it has passed.
pub(super) fn fits_tasks(kind: u64) -> bool {
    kind & 0b110 == 0b010
}

impl Plan {
    /// About a hundred arrivals at `load` hundredths of the server's capacity, with bursts at one instant
    /// and idle periods; the bits of `kind` choose interruptions, commitment and gates.
    #[must_use]
    pub fn random<I: Sample>(seed: u64, load: u64, kind: u64) -> Self {
        let mut random = Random::new(seed);
        let tick = 1 + random.below(4);
        let largest = if random.one_in(3) { I::LARGEST } else { 1 + random.below(I::LARGEST) };
        let mean = (tick * (1 + largest) * 50 / load).max(1);
        let gated = kind & 4 != 0;
        Self {
            arrivals: (0..60 + random.below(60)).map(|_| arrival(&mut random, mean, largest)).collect(),
            gates: (0..if gated { 60 } else { 0 }).map(|_| change(&mut random, mean, largest)).collect(),
            tick: Nanos::new(tick),
            commits: if kind & 2 == 0 { Commits::AtStart } else { Commits::AsServed },
            interrupts: kind & 1 == 0,
            seed,
        }
    }
}

fn arrival(random: &mut Random, mean: u64, largest: u64) -> Arrival {
    let gap = match random.below(32) {
        0 => 40 * mean,
        1..=8 => 0,
        _ => random.below(2 * mean + 1),
    };
    let flow = FlowId(random.below(8) as u32);
    Arrival { gap: Nanos::new(gap), flow, cost: 1 + random.below(largest) }
}

fn change(random: &mut Random, mean: u64, largest: u64) -> GateChange {
    let (closed, largest) = match random.below(4) {
        0 => (u64::MAX, u64::MAX),
        1 => (random.bits(), u64::MAX),
        2 => (random.bits() & random.bits(), 1 + random.below(largest)),
        _ => (0, u64::MAX),
    };
    GateChange { gap: Nanos::new(random.below(4 * mean + 1)), closed, largest }
}
