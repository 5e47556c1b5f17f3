//! The executor under a simulated clock and the model of the node make the same schedule of the same programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use weir_core::registry::TASK;
use weir_core::units::Instant;
use weir_enact::{World, interpret};
use weir_exec::simulation::{Ran, Simulation, compute};
use weir_exec::{Moment, Terms};
use weir_lab::control::Watch;
use weir_node::generators::random::{Wish, random};
use weir_node::job::{Ended, Job, play};
use weir_node::model::NodeScenario;
use weir_node::record::Sink;

const EPOCHS: u64 = 12;

/// One node whose system takes no time, as the executor's does not under a simulated clock.
fn scenario(case: u64, spec: &str) -> NodeScenario {
    let wish = Wish { nodes: 1, costs: false, fits: case.is_multiple_of(3), whole: case.is_multiple_of(2) };
    let mut node = random(case, spec, wish, EPOCHS);
    // What the model finds wrong with a schedule is its own tests' business.
    node.measure.verify = false;
    node
}

type Span = (usize, Option<i8>, u64, u64);

/// What the model says of who ran; adjacent spans are one.
#[derive(Default)]
struct Heard(Vec<Span>);

impl Sink for Heard {
    fn ran(&mut self, _: usize, process: usize, level: Option<i8>, from: Instant, until: Instant) {
        let (from, until) = (from.get(), until.get());
        match self.0.last_mut() {
            _ if from == until => {}
            Some(last) if (last.0, last.1, last.3) == (process, level, from) => last.3 = until,
            _ => self.0.push((process, level, from, until)),
        }
    }
}

/// The schedule of the model; `None` where it refuses the programs.
fn of_the_model(node: &NodeScenario) -> Option<Vec<Span>> {
    let (off, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let watch = Watch { cancel: &off, failed: &off, done: &done, duration: u64::MAX };
    let mut heard = Heard::default();
    match play(node, Job { replication: 0, discipline: 0 }, &mut heard, &watch) {
        Ok(Ended::Finished(_)) => Some(heard.0),
        _ => None,
    }
}

/// The schedule of the executor.
fn of_the_executor(node: &NodeScenario) -> Vec<Span> {
    let world = World::of(node);
    let mut simulation = Simulation::new(&node.specs[0].to_string()).expect("a spec");
    for (own, process) in node.processes.iter().enumerate() {
        let starts = Duration::from_nanos(process.starts.get());
        let terms = Terms::named(&process.name).declared(process.declared).starts_after(starts);
        drop(simulation.spawn(terms, interpret(Arc::clone(&world), own, compute)));
    }
    simulation.run_until(Moment::default().after(Duration::from_nanos(node.stop.duration.get())));
    let span = |ran: Ran| {
        let [from, until] = [ran.from, ran.until].map(|moment| moment.elapsed().as_nanos() as u64);
        (ran.task as usize, ran.level, from, until)
    };
    simulation.ran().into_iter().map(span).collect()
}

fn disciplines() -> Vec<String> {
    let mut all: Vec<String> = TASK.iter().map(|info| info.example.to_owned()).collect();
    all.push("epoch(20ms,allocate=at_dispatch,slice=1500us)".to_owned());
    all.push("epoch(20ms,min_slice=500us,preempt_left=1ms,slice=3ms)".to_owned());
    all
}

#[test]
fn the_schedule_is_that_of_the_model() {
    let (mut compared, mut refused) = (0, 0);
    for (place, spec) in disciplines().iter().enumerate() {
        for case in 0..1_300 {
            let node = scenario(100_000 * place as u64 + case, spec);
            let Some(expected) = of_the_model(&node) else {
                refused += 1;
                continue;
            };
            let found = of_the_executor(&node);
            if let Some(place) =
                (0..expected.len().max(found.len())).find(|&at| expected.get(at) != found.get(at))
            {
                let around =
                    |spans: &[Span]| spans[place.saturating_sub(2)..(place + 2).min(spans.len())].to_vec();
                panic!(
                    "{spec}, case {case}, span {place}:\nmodel {:?}\nexecutor {:?}\n{:#?}",
                    around(&expected),
                    around(&found),
                    node.processes
                );
            }
            compared += 1;
        }
    }
    assert!(compared >= 10_000, "{compared} programs were compared, {refused} were refused by the model");
}
