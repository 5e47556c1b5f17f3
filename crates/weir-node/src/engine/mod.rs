//! The engine of the node: runs programs under a discipline, one instant after the other, as [the crate](crate) states.
//!
//! | | |
//! |-|-|
//! | Time | whole nanoseconds |
//! | Work | of a decision: the discipline's, and O(1); of an alarm: O(log alarms); of an instant: O(nodes); of a wait for one of a set of events: O(posted events of the process × set); of a comparison of nodes: O(nodes + processes); of a move: the discipline's, and O(alarms log alarms + what is under way to the node) |
//! | Memory | constant, but for data in queues, alarms and what is under way; nothing is allocated once these have been as long as they become |
//!
//! Every node knows when it is to be seen next; the engine goes to the earliest, of equals the one with the lowest
//! number. At *boundaries*, which all nodes share, it stops before anything of that instant happens: the ends of epochs
//! and of the run, and comparisons of nodes. One engine is compiled for each discipline and each sink.

mod audit;
mod balance;
mod books;
mod clock;
mod code;
mod events;
mod faults;
mod memory;
mod objects;
mod process;
mod processor;
mod programs;
mod run;
mod stranded;
mod stuck;
mod switch;
mod timer;
mod world;

use crate::job::{Ended, Job};
use crate::model::{Event, NodeScenario};
use crate::record::Sink;
use weir_core::registry::{visit_task, with_seeds};
use weir_core::task::{Task, TaskDiscipline, TaskVisitor};
use weir_lab::control::Watch;
use weir_lab::error::RunError;
use weir_lab::stream::{Purpose, Stream, StreamKey};

use processor::Node;
use run::Engine;

/// The longest run: the clock can tell times twice as far.
const LONGEST: u64 = 1 << 62;

fn refused(place: impl Into<String>, reason: impl Into<String>) -> RunError {
    RunError::Refused { place: place.into(), reason: reason.into() }
}

/// Runs a job.
///
/// # Errors
/// See [`crate::job::play`].
pub(crate) fn play<S: Sink>(
    scenario: &NodeScenario,
    job: Job,
    sink: &mut S,
    watch: &Watch<'_>,
) -> Result<Ended, RunError> {
    check(scenario)?;
    let spec = scenario.specs.get(job.discipline).ok_or_else(|| {
        refused(
            "disciplines",
            format!("there is no discipline {}, must be below {}", job.discipline, scenario.specs.len()),
        )
    })?;
    let key = StreamKey {
        seed: scenario.seed,
        replication: job.replication,
        purpose: Purpose::Decisions,
        index: job.discipline as u32,
    };
    let mut stream = Stream::new(key);
    let seeded = with_seeds(spec, &mut || stream.next_u64());
    visit_task(&seeded, Play { scenario, job, sink, watch })
        .map_err(|error| refused("disciplines", error.to_string()))?
}

/// Refuses what is senseless in a scenario, and would come to no end.
fn check(scenario: &NodeScenario) -> Result<(), RunError> {
    let nodes = scenario.nodes.len();
    let duration = scenario.stop.duration.get();
    if nodes == 0 {
        return Err(refused("node.names", "there is no node, must be at least one"));
    }
    if duration > LONGEST {
        return Err(refused("stop.duration", format!("it is {duration}ns, must be at most {LONGEST}ns")));
    }
    for (place, zero) in [
        ("node.epoch", scenario.epoch.get() == 0),
        ("balance.every", scenario.balance.is_some_and(|balance| balance.every.get() == 0)),
    ] {
        if zero {
            return Err(refused(place, "it is 0ns, must be above 0ns"));
        }
    }
    let processes = scenario.processes.iter().map(|process| ("process", &process.name, process.node));
    let queues = scenario.queues.iter().map(|queue| ("queue", &queue.name, queue.node));
    if let Some((kind, name, node)) = processes.chain(queues).find(|(_, _, node)| *node >= nodes) {
        return Err(refused(
            format!("{kind} `{name}`"),
            format!("it is on node {node}, must be below {nodes}"),
        ));
    }
    let owners = |event: &&Event| event.owner >= scenario.processes.len();
    match scenario.events.iter().find(owners) {
        Some(event) => Err(refused(format!("event `{}`", event.name), "nobody owns it: name a process")),
        None => Ok(()),
    }
}

/// Plays a job with the discipline that it visits.
struct Play<'a, S> {
    scenario: &'a NodeScenario,
    job: Job,
    sink: &'a mut S,
    watch: &'a Watch<'a>,
}

impl<S: Sink> TaskVisitor<Task> for Play<'_, S> {
    type Output = Result<Ended, RunError>;
    fn visit<D: TaskDiscipline<Task> + Send + 'static>(self, make: impl Fn() -> D) -> Self::Output {
        let nodes = (0..self.scenario.nodes.len() as u32).map(|number| Node::new(make(), number)).collect();
        Engine::new(self.scenario, self.job, self.sink, nodes)?.run(self.watch)
    }
}
