//! Scenarios of the node as Rust builds them: a writer of programs, and the measurement programs of the report.
//!
//! | | |
//! |-|-|
//! | Source | Rettberg, BBN Report 5285, 1983, section 4.2 (Message Generator, Message Sinks, Local Delivery) and Table 2 |
//! | Units | processor time: nanoseconds |
//!
//! The times of a message are those of Table 2 for one process alone, in a system that runs nothing else. The report
//! gives no time for the complex sink of its own; 0.35 ms lies in the middle of what its sums allow.

pub mod random;

use crate::model::{Costs, DualQueue, Event, Measure, NodeScenario, Operation, Process, Program, Stop};
use weir_core::spec::SpecError;
use weir_core::task::Declared;
use weir_core::units::Nanos;
use weir_workload::duration::Law;

/// Processor time of a message in the generator.
pub const GENERATOR: Nanos = Nanos::new(552_200);
/// In the simple sink.
pub const SIMPLE_SINK: Nanos = Nanos::new(152_000);
/// In the complex sink.
pub const COMPLEX_SINK: Nanos = Nanos::new(350_000);
/// In Local Delivery.
pub const LOCAL_DELIVERY: Nanos = Nanos::new(477_300);

/// Writes a program, operation by operation.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    program: Program,
    open: Vec<usize>,
}

impl Writer {
    /// An empty program.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends an operation, but for loops and their ends.
    #[must_use]
    pub fn then(mut self, operation: Operation) -> Self {
        self.program.operations.push(operation);
        self
    }

    /// Uses processor time.
    #[must_use]
    pub fn compute(self, span: Nanos) -> Self {
        self.then(Operation::Compute(Law::Constant(span).into()))
    }

    /// Puts data in a queue.
    #[must_use]
    pub fn enqueue(self, queue: usize) -> Self {
        self.then(Operation::Enqueue(queue))
    }

    /// Takes data from a queue, or waits.
    #[must_use]
    pub fn dequeue(self, queue: usize) -> Self {
        self.then(Operation::Dequeue(queue))
    }

    /// Posts an event.
    #[must_use]
    pub fn post(self, event: usize) -> Self {
        self.then(Operation::Post(event))
    }

    /// Waits for one event.
    #[must_use]
    pub fn wait(self, event: usize) -> Self {
        self.then(Operation::Wait(vec![event]))
    }

    /// Waits this long.
    #[must_use]
    pub fn sleep(self, span: Nanos) -> Self {
        self.then(Operation::Sleep(Law::Constant(span).into()))
    }

    /// Begins a loop that runs `times` times, or for ever.
    #[must_use]
    pub fn begin(mut self, times: Option<u64>) -> Self {
        self.open.push(self.program.operations.len());
        self.then(Operation::Loop { times, after: 0 })
    }

    /// Ends the innermost loop; does nothing where there is none.
    #[must_use]
    pub fn end(mut self) -> Self {
        let Some(begin) = self.open.pop() else { return self };
        self.program.operations.push(Operation::End(begin));
        let end = self.program.operations.len();
        if let Operation::Loop { after, .. } = &mut self.program.operations[begin] {
            *after = end;
        }
        self
    }

    /// The program; loops that are open end here.
    #[must_use]
    pub fn done(mut self) -> Program {
        while !self.open.is_empty() {
            self = self.end();
        }
        self.program
    }
}

/// The Message Generator: makes a message, and puts it in a queue.
#[must_use]
pub fn message_generator(queue: usize) -> Program {
    Writer::new().begin(None).compute(GENERATOR).enqueue(queue).done()
}

/// The Message Generator alone: keeps its messages.
#[must_use]
pub fn lone_generator() -> Program {
    Writer::new().begin(None).compute(GENERATOR).done()
}

/// A Message Sink: takes messages from a queue, and throws them away.
#[must_use]
pub fn message_sink(queue: usize, time: Nanos) -> Program {
    Writer::new().begin(None).dequeue(queue).compute(time).done()
}

/// Local Delivery: takes messages from a queue, and puts them in that of their receiver.
#[must_use]
pub fn local_delivery(from: usize, to: usize) -> Program {
    Writer::new().begin(None).dequeue(from).compute(LOCAL_DELIVERY).enqueue(to).done()
}

/// What a system process does: computes, and sleeps until a given time after the next beginning of an epoch.
#[must_use]
pub fn every_epoch(epoch: Nanos, offset: Nanos, time: Nanos) -> Program {
    let sleep = Operation::SleepUntil { every: epoch, offset };
    Writer::new().begin(None).then(sleep).compute(time).done()
}

/// A process on the first node, of priority 1, that asks for a need and a slice.
#[must_use]
pub fn process(name: &str, need: Nanos, slice: Option<Nanos>, program: Program) -> Process {
    Process {
        name: name.to_owned(),
        node: 0,
        declared: Declared { need, slice, ..Declared::default() },
        deadline: None,
        system: false,
        movable: true,
        starts: Nanos::new(0),
        program,
    }
}

/// A scenario without processes: one node, epochs of 100 ms, no costs, a second after a warm-up of a second.
///
/// # Errors
/// A spec is none.
pub fn scenario(specs: &[&str]) -> Result<NodeScenario, SpecError> {
    Ok(NodeScenario {
        title: "node".to_owned(),
        seed: 1,
        disciplines: specs.iter().map(|&spec| spec.to_owned()).collect(),
        specs: specs.iter().map(|spec| spec.parse()).collect::<Result<_, _>>()?,
        reference: 0,
        epoch: Nanos::new(100_000_000),
        nodes: vec!["node".to_owned()],
        costs: Costs::default(),
        uncharged: Nanos::new(0),
        switch_delay: Nanos::new(0),
        queues: Vec::new(),
        events: Vec::new(),
        processes: Vec::new(),
        balance: None,
        stop: Stop {
            warm_up: Nanos::new(1_000_000_000),
            duration: Nanos::new(2_000_000_000),
            replications: 1,
        },
        measure: Measure { tails: false, verify: false, over_time: None, sample: None, timeline: None },
    })
}

/// Adds a queue; its place.
pub fn add_queue(scenario: &mut NodeScenario, name: &str, node: usize) -> usize {
    scenario.queues.push(DualQueue { name: name.to_owned(), node });
    scenario.queues.len() - 1
}

/// Adds an event; its place.
pub fn add_event(scenario: &mut NodeScenario, name: &str, owner: usize) -> usize {
    scenario.events.push(Event { name: name.to_owned(), owner });
    scenario.events.len() - 1
}

/// Adds the report's two system processes to every node, its costs, and the time that is charged to nobody. To be
/// called when all other processes are there.
pub fn add_system(scenario: &mut NodeScenario) {
    let (epoch, half) = (scenario.epoch, Nanos::new(scenario.epoch.get() / 2));
    scenario.costs = Costs::chrysalis();
    scenario.uncharged = Nanos::new(800_000);
    let kinds = [
        ("epoch scheduler", 3, 300_000, 1_000_000, Nanos::new(0)),
        ("remote demon", 2, 2_560_000, 3_000_000, half),
    ];
    for node in 0..scenario.nodes.len() {
        for (name, priority, time, need, offset) in kinds {
            let mut one = process(name, Nanos::new(need), None, every_epoch(epoch, offset, Nanos::new(time)));
            (one.node, one.system, one.movable) = (node, true, false);
            one.declared.priority = priority;
            scenario.processes.push(one);
        }
    }
}
