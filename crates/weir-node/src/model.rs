//! What the engine of the node runs: the checked scenario.

use std::sync::Arc;
use weir_core::spec::Spec;
use weir_core::task::Declared;
use weir_core::units::Nanos;
use weir_lab::stats::window::Window;
use weir_workload::duration::{AnyLaw, Run};

/// A scenario of the node.
#[derive(Clone, Debug)]
pub struct NodeScenario {
    /// What the report is headed with.
    pub title: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// The disciplines, by their specs as written.
    pub disciplines: Vec<String>,
    /// The same, parsed; those with a `length` or `period` that was not given have that of [`Self::epoch`].
    pub specs: Vec<Spec>,
    /// The one from which paired differences are taken.
    pub reference: usize,
    /// The epoch, over which run times and needs are measured.
    pub epoch: Nanos,
    /// The nodes, by name.
    pub nodes: Vec<String>,
    /// What interrupts and posts cost.
    pub costs: Costs,
    /// Spent at the turn of every epoch, on every node, and charged to nobody.
    pub uncharged: Nanos,
    /// The time of a post over the switch.
    pub switch_delay: Nanos,
    /// The dual queues.
    pub queues: Vec<DualQueue>,
    /// The events.
    pub events: Vec<Event>,
    /// The processes, the system's last.
    pub processes: Vec<Process>,
    /// Whether processes move from node to node.
    pub balance: Option<Balance>,
    /// When a replication ends and what of it counts.
    pub stop: Stop,
    /// What is measured.
    pub measure: Measure,
}

/// What interrupts and posts cost, in processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// The scheduler where the same process goes on.
    pub restart: Nanos,
    /// The timer's interrupt.
    pub timer: Nanos,
    /// The scheduler where one process is left and another started.
    pub swap: Nanos,
    /// A post on the same node.
    pub post: Nanos,
    /// A post or an enqueue to another node.
    pub remote: Nanos,
}

impl Costs {
    /// Those of Table 1 of the report; a remote enqueue from its Table 2.
    #[must_use]
    pub const fn chrysalis() -> Self {
        Self {
            restart: Nanos::new(29_000),
            timer: Nanos::new(100_000),
            swap: Nanos::new(119_000),
            post: Nanos::new(16_000),
            remote: Nanos::new(60_000),
        }
    }
}

/// A queue that holds data or those who wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DualQueue {
    /// Its name.
    pub name: String,
    /// A place in [`NodeScenario::nodes`].
    pub node: usize,
}

/// An event: only its owner waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// A place in [`NodeScenario::processes`].
    pub owner: usize,
}

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name.
    pub name: String,
    /// A place in [`NodeScenario::nodes`], where it begins.
    pub node: usize,
    /// What it asks the discipline for.
    pub declared: Declared,
    /// A response that is longer than this is late.
    pub deadline: Option<Nanos>,
    /// Whether it is one of the system's.
    pub system: bool,
    /// Whether rebalancing may move it.
    pub movable: bool,
    /// When it is first ready.
    pub starts: Nanos,
    /// What it does.
    pub program: Program,
}

/// What a process does; it ends after the last operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The operations.
    pub operations: Vec<Operation>,
}

/// One operation of a program. Events and queues are places in the scenario's lists.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Uses processor time.
    Compute(AnyLaw),
    /// Posts an event, of whichever node.
    Post(usize),
    /// The timer demon posts an event of its own this much later.
    PostAfter(usize, AnyLaw),
    /// Waits for one of these events of its own.
    Wait(Vec<usize>),
    /// Waits for any event of its own.
    WaitAny,
    /// Puts data in a queue, of whichever node.
    Enqueue(usize),
    /// Takes data from a queue, or waits for it.
    Dequeue(usize),
    /// Waits this long.
    Sleep(AnyLaw),
    /// Waits for the next instant that is `offset` after a multiple of `every`, of which a process takes each once, in
    /// order; where it has passed, it does not wait. The first is the next one after the process became ready, or, if it
    /// has done nothing since, at that instant.
    SleepUntil {
        /// The multiple.
        every: Nanos,
        /// What is added, less than `every`.
        offset: Nanos,
    },
    /// Repeats what lies up to the matching [`Self::End`], a number of times or for ever.
    Loop {
        /// How often; `None`: for ever.
        times: Option<u64>,
        /// The place after the matching end.
        after: usize,
    },
    /// The end of a loop that begins here.
    End(usize),
    /// Wakes at given times, and computes given times: one after the other, late where it is not done with the one
    /// before.
    Replay(Arc<[Run]>),
    /// Ends the process.
    Exit,
}

/// Whether and how processes move from node to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// How often nodes are compared.
    pub every: Nanos,
    /// What a move costs the process, in processor time at its new node.
    pub cost: Nanos,
}

/// When a replication ends and what of it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What is before this does not count.
    pub warm_up: Nanos,
    /// The end of a replication, warm-up included.
    pub duration: Nanos,
    /// Independent replications.
    pub replications: u32,
}

impl Stop {
    /// The measured time.
    #[must_use]
    pub fn window(&self) -> Window {
        Window::new(self.warm_up, self.duration)
    }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Quantiles and distributions of responses.
    pub tails: bool,
    /// Whether the discipline's invariant and the engine's books are checked at every transition.
    pub verify: bool,
    /// The length of the windows of which there are figures over time; `None` where there are none.
    pub over_time: Option<Nanos>,
    /// The interval of the sampler, of the first replication.
    pub sample: Option<Nanos>,
    /// What the timeline shows of the first replication, from and until.
    pub timeline: Option<(Nanos, Nanos)>,
}
