//! Random scenarios, by which one engine is held against another: times are few multiples of one unit, so that much falls
//! together.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(processes and their operations) a scenario |
//! | Units | nanoseconds; [`UNIT`] |

use std::sync::Arc;

use super::{Writer, add_event, add_queue, process, scenario};
use crate::model::{Balance, Costs, NodeScenario, Operation, Process, Program};
use weir_core::task::Declared;
use weir_core::units::{Nanos, Weight};
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::ContinuousLaw;
use weir_workload::duration::{AnyLaw, Law, Run};

/// The unit of time.
pub const UNIT: u64 = 500_000;

/// What is drawn for a case.
#[derive(Debug)]
pub struct Dice(Stream);

impl Dice {
    /// The numbers of a case.
    #[must_use]
    pub fn new(case: u64) -> Self {
        Self(Stream::new(StreamKey { seed: case, replication: 0, purpose: Purpose::Test, index: 0 }))
    }

    /// A whole number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.next_below(bound)
    }

    /// Whether something happens whose chance is one in `bound`.
    pub fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    /// A random number of units of time, from `low` to `high`.
    pub fn units(&mut self, low: u64, high: u64) -> Nanos {
        Nanos::new((low + self.below(high - low + 1)) * UNIT)
    }
}

/// What of a scenario is left to chance.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// Nodes, at least one.
    pub nodes: usize,
    /// Whether the system takes time of its own.
    pub costs: bool,
    /// The sum of needs is at most the epoch.
    pub fits: bool,
    /// All times are whole units.
    pub whole: bool,
}

fn law(dice: &mut Dice, whole: bool, low: u64, high: u64) -> AnyLaw {
    match dice.below(8) {
        _ if whole => Law::Constant(dice.units(low, high)),
        0 => Law::Exponential(dice.units(1, high)),
        1 => Law::Uniform(dice.units(low, low + 1), dice.units(low + 1, high)),
        2 => return textbook(dice, high),
        _ => Law::Constant(dice.units(low, high)),
    }
    .into()
}

/// A law of the textbooks, of a mean of at most `high` units.
fn textbook(dice: &mut Dice, high: u64) -> AnyLaw {
    let mean = dice.units(1, high).get() as f64;
    let law = match dice.below(3) {
        0 => ContinuousLaw::lognormal(mean, 1.5),
        1 => ContinuousLaw::erlang(3, mean),
        _ => ContinuousLaw::pareto_of_mean(2.5, mean),
    };
    AnyLaw::Textbook(Arc::new(law.expect("a law of a mean")))
}

/// A random operation that is no loop.
fn operation(dice: &mut Dice, whole: bool, node: &NodeScenario, own: &[usize]) -> Operation {
    let queues = node.queues.len() as u64;
    match dice.below(14) {
        0 | 1 => Operation::Sleep(law(dice, whole, 0, 24)),
        2 => Operation::SleepUntil { every: Nanos::new(20 * UNIT), offset: dice.units(0, 19) },
        3 | 4 if !node.events.is_empty() => Operation::Post(dice.below(node.events.len() as u64) as usize),
        5 if !own.is_empty() => {
            Operation::PostAfter(own[dice.below(own.len() as u64) as usize], law(dice, whole, 0, 12))
        }
        6 if !own.is_empty() => Operation::Wait(vec![own[dice.below(own.len() as u64) as usize]]),
        7 if own.len() > 1 => Operation::Wait(own[1..].to_vec()),
        8 if !own.is_empty() => Operation::WaitAny,
        9 | 10 if queues > 0 => Operation::Enqueue(dice.below(queues) as usize),
        11 if queues > 0 => Operation::Dequeue(dice.below(queues) as usize),
        _ => Operation::Compute(law(dice, whole, 0, 16)),
    }
}

fn program(dice: &mut Dice, whole: bool, node: &NodeScenario, own: &[usize]) -> Program {
    if dice.one_in(12) {
        let mut wake = 0;
        let runs: Vec<Run> = (0..30)
            .map(|_| {
                wake += dice.units(0, 12).get();
                Run { wake: Nanos::new(wake), run: dice.units(0, 6) }
            })
            .collect();
        return Writer::new().then(Operation::Replay(Arc::from(runs))).done();
    }
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
            _ => writer = writer.then(operation(dice, whole, node, own)),
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

fn costs(dice: &mut Dice) -> Costs {
    let mut some = |most: u64| Nanos::new(dice.below(most + 1) * UNIT / 4);
    match some(2).get() {
        0 => Costs::chrysalis(),
        _ => Costs { restart: some(2), timer: some(3), swap: some(4), post: some(2), remote: some(4) },
    }
}

/// A random scenario with forty units of time an epoch, for `epochs` epochs.
pub fn random(case: u64, spec: &str, wish: Wish, epochs: u64) -> NodeScenario {
    let dice = &mut Dice::new(case);
    let mut node = scenario(&[spec]).expect("a spec");
    node.seed = case;
    node.epoch = Nanos::new(40 * UNIT);
    node.nodes = (0..wish.nodes).map(|number| format!("node {number}")).collect();
    let nodes = wish.nodes as u64;
    let processes = 1 + dice.below(7) as usize;
    for number in 0..dice.below(4) {
        add_queue(&mut node, &format!("queue {number}"), dice.below(nodes) as usize);
    }
    for number in 0..processes {
        for _ in 0..dice.below(4) {
            add_event(&mut node, "event", number);
        }
    }
    let mut room = node.epoch.get();
    for number in 0..processes {
        let own: Vec<usize> =
            (0..node.events.len()).filter(|&event| node.events[event].owner == number).collect();
        let program = program(dice, wish.whole, &node, &own);
        let mut need = dice.units(0, 16).get();
        if wish.fits {
            need = need.min(room);
            room -= need;
        }
        let slice = (!dice.one_in(3)).then(|| dice.units(1, 12));
        let mut one = process(&format!("process {number}"), Nanos::new(need), slice, program);
        one.declared = Declared {
            priority: dice.below(4) as u8,
            weight: dice.one_in(3).then(|| Weight::new(1 + dice.below(5))),
            ..one.declared
        };
        one.node = dice.below(nodes) as usize;
        one.starts = if dice.one_in(3) { dice.units(0, 60) } else { Nanos::new(0) };
        one.movable = !dice.one_in(4);
        node.processes.push(one);
    }
    let mut pacer = pacer(dice, &node);
    pacer.node = dice.below(nodes) as usize;
    node.processes.push(pacer);
    if wish.costs {
        node.costs = costs(dice);
        node.uncharged = dice.units(0, 1);
    }
    node.switch_delay = dice.units(0, 2);
    if nodes > 1 && dice.one_in(2) {
        node.balance = Some(Balance { every: dice.units(30, 90), cost: dice.units(0, 2) });
    }
    node.stop.warm_up = Nanos::new(0);
    node.stop.duration = Nanos::new(node.epoch.get() * epochs + dice.below(3) * UNIT);
    node.measure.verify = true;
    node
}
