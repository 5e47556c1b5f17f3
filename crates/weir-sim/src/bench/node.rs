//! Benchmarks of the node: whole replications on one processor, with the statistics of every process, queue and node.
//!
//! Ten processes: five Message Generators, each with a Message Sink of its own, at two priorities, with needs of 90 % together and slices of 1 ms, and
//! no costs. A decision is an entry of the scheduler: the end of a slice, a wait, a preemption, the turn of an epoch.
//!
//! Between two decisions programs go on, for longer under some disciplines than under others: 3 operations under `epoch`,
//! 49 under `cbs`, which grants whole budgets. So the rates do not compare disciplines with each other.

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::bench::{Bench, Round, Unit};
use weir_core::registry::TASK;
use weir_core::units::Nanos;
use weir_lab::control::Watch;
use weir_node::collector::Collector;
use weir_node::generators::{SIMPLE_SINK, add_queue, message_generator, message_sink, process, scenario};
use weir_node::job::{Ended, Job, play};
use weir_node::model::NodeScenario;

const PAIRS: usize = 5;

pub(super) fn benches() -> Vec<Bench> {
    let bench = |name: String, spec: &'static str, verify: bool| {
        Bench::new(name, Unit::Rate("decisions/s"), move || rounds(mix(spec, verify)))
    };
    let mut all: Vec<Bench> =
        TASK.iter().map(|info| bench(format!("node/{}", info.name), info.example, false)).collect();
    all.push(bench("node/epoch/verified".to_owned(), "epoch:100ms", true));
    all
}

fn mix(spec: &str, verify: bool) -> NodeScenario {
    let Ok(mut node) = scenario(&[spec]) else {
        unreachable!("the examples of the registry are specs");
    };
    let slice = Some(Nanos::new(1_000_000));
    for pair in 0..PAIRS {
        let queue = add_queue(&mut node, "messages", 0);
        let generator = message_generator(queue);
        node.processes.push(process("generator", Nanos::new(10_000_000), slice, generator));
        let mut sink = process("sink", Nanos::new(8_000_000), slice, message_sink(queue, SIMPLE_SINK));
        sink.declared.priority = 1 + (pair % 2) as u8;
        node.processes.push(sink);
    }
    node.measure.verify = verify;
    node.stop.warm_up = Nanos::new(0);
    node
}

/// Plays a replication, a new one every time; how many decisions it took.
fn rounds(node: NodeScenario) -> Round {
    let (off, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut replication = 0;
    Box::new(move || {
        let watch = Watch { cancel: &off, failed: &off, done: &done, duration: u64::MAX };
        let (job, mut table) = (Job { replication, discipline: 0 }, Collector::new(&node));
        replication += 1;
        let ended = play(&node, job, &mut table, &watch);
        std::hint::black_box(table);
        match ended {
            Ok(Ended::Finished(left)) => left.tally.decisions,
            _ => unreachable!("the scenarios of the benchmarks are valid, and nobody breaks them off"),
        }
    })
}
