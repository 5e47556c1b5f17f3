//! The executor under a simulated clock and the model of the node make the same schedule of the same programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use weir_core::registry::TASK;
use weir_core::task::Declared;
use weir_core::units::{Instant, Nanos, Weight};
use weir_enact::{World, interpret};
use weir_exec::simulation::{Ran, Simulation, compute};
use weir_exec::{Moment, Terms};
use weir_lab::control::Watch;
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_node::generators::{Writer, add_event, add_queue, process, scenario};
use weir_node::job::{Ended, Job, play};
use weir_node::model::{NodeScenario, Operation, Process, Program};
use weir_node::record::Sink;
use weir_workload::duration::Law;

/// The unit of time: few multiples of it, so that much falls together.
const UNIT: u64 = 500_000;
const EPOCH: u64 = 40 * UNIT;
const EPOCHS: u64 = 12;

struct Dice(Stream);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_below(bound)
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    fn units(&mut self, low: u64, high: u64) -> Nanos {
        Nanos::new((low + self.below(high - low + 1)) * UNIT)
    }

    /// Mostly whole units, now and then an odd number of nanoseconds.
    fn span(&mut self, low: u64, high: u64) -> Law {
        let span = self.units(low, high).get();
        let odd = if self.one_in(4) { self.below(UNIT) } else { 0 };
        Law::Constant(Nanos::new(span + odd))
    }
}

fn operation(dice: &mut Dice, node: &NodeScenario, own: &[usize]) -> Operation {
    let (queues, events) = (node.queues.len() as u64, node.events.len() as u64);
    let one_of = |dice: &mut Dice| own[dice.below(own.len() as u64) as usize];
    match dice.below(13) {
        0 | 1 => Operation::Sleep(dice.span(0, 24)),
        2 | 3 if events > 0 => Operation::Post(dice.below(events) as usize),
        4 if !own.is_empty() => Operation::PostAfter(one_of(dice), dice.span(0, 12)),
        5 if !own.is_empty() => Operation::Wait(vec![one_of(dice)]),
        6 if own.len() > 1 => Operation::Wait(own[1..].to_vec()),
        7 if !own.is_empty() => Operation::WaitAny,
        8 | 9 if queues > 0 => Operation::Enqueue(dice.below(queues) as usize),
        10 if queues > 0 => Operation::Dequeue(dice.below(queues) as usize),
        _ => Operation::Compute(dice.span(0, 16)),
    }
}

fn program(dice: &mut Dice, node: &NodeScenario, own: &[usize]) -> Program {
    let mut writer = Writer::new().begin(None).compute(dice.units(1, 12));
    let mut open = 1;
    for _ in 0..dice.below(8) {
        match dice.below(6) {
            0 if open < 3 => {
                writer = writer.begin(Some(dice.below(4)));
                open += 1;
            }
            1 if open > 1 => {
                writer = writer.end();
                open -= 1;
            }
            _ => writer = writer.then(operation(dice, node, own)),
        }
    }
    if dice.one_in(20) {
        writer = writer.then(Operation::Exit);
    }
    writer.done()
}

/// Posts everything and feeds every queue for ever, so that nobody waits in vain.
fn pacer(dice: &mut Dice, node: &NodeScenario) -> Process {
    let mut writer = Writer::new().begin(None).sleep(dice.units(4, 30)).compute(dice.units(0, 2));
    for event in 0..node.events.len() {
        writer = writer.post(event);
    }
    for queue in 0..node.queues.len() {
        writer = writer.enqueue(queue);
    }
    process("pacer", Nanos::new(0), None, writer.done())
}

fn random(case: u64, spec: &str) -> NodeScenario {
    let key = StreamKey { seed: case, replication: 0, purpose: Purpose::Test, index: 0 };
    let dice = &mut Dice(Stream::new(key));
    let mut node = scenario(&[spec]).expect("a spec");
    node.epoch = Nanos::new(EPOCH);
    let processes = 1 + dice.below(7) as usize;
    for number in 0..dice.below(4) {
        add_queue(&mut node, &format!("queue {number}"), 0);
    }
    for number in 0..processes {
        for _ in 0..dice.below(4) {
            add_event(&mut node, "event", number);
        }
    }
    for number in 0..processes {
        let own: Vec<usize> =
            (0..node.events.len()).filter(|&event| node.events[event].owner == number).collect();
        let program = program(dice, &node, &own);
        let slice = (!dice.one_in(3)).then(|| dice.units(1, 12));
        let mut one = process(&format!("process {number}"), dice.units(0, 16), slice, program);
        one.declared = Declared {
            priority: dice.below(4) as u8,
            weight: dice.one_in(3).then(|| Weight::new(1 + dice.below(5))),
            ..one.declared
        };
        one.starts = if dice.one_in(3) { dice.units(0, 60) } else { Nanos::new(0) };
        node.processes.push(one);
    }
    let pacer = pacer(dice, &node);
    node.processes.push(pacer);
    node.stop.warm_up = Nanos::new(0);
    node.stop.duration = Nanos::new(EPOCH * EPOCHS + dice.below(3) * UNIT);
    node
}

type Span = (usize, Option<i8>, u64, u64);

/// What the model tells of who ran; adjacent spans are one.
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
            let node = random(100_000 * place as u64 + case, spec);
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
