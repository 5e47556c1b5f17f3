//! Benchmarks of the disciplines of tasks: `core/task/NAME/N` has N processes, and a decision is one `dequeue`, the
//! `requeue` or `finish` that closes its grant, and the `enqueue` of a process that wakes if one went to wait.
//!
//! Processes need 80 % of the time together and are of all priorities. Half of them use their slices of 300 us to the
//! end. The others wait after 20 to 151 us of each, and are ready again when a quarter of all processes wait. The end of
//! an epoch, or whatever `next_event` tells, is kept as an engine keeps it.
//!
//! `core/task/epoch/turn/N` is the end of an epoch, at which all N processes are ready and half of them are low: the
//! running one is given back, and the next epoch begins. It is measured on many nodes in turn, so that their processes
//! are not in the nearest cache, as after the work of an epoch they would not be.

use std::collections::VecDeque;

use crate::bench::{Bench, Round, Unit};
use weir_core::discipline::{CountDrops, Discipline, Open};
use weir_core::item::FlowId;
use weir_core::registry::{TASK, task_discipline, visit_task};
use weir_core::spec::Spec;
use weir_core::task::{Declared, Task, TaskDiscipline, TaskVisitor};
use weir_core::units::{Instant, Nanos};

/// Decisions of a round.
const DECISIONS: u64 = 20_000;
/// The epoch, or period, of most disciplines.
const EPOCH: Nanos = Nanos::new(100_000_000);
/// The slice of every process.
const SLICE: Nanos = Nanos::new(300_000);
/// Nodes whose epochs turn one after the other, and how many of them in a round. In four rounds of five nothing else is
/// done, so that the median leaves out the one in which they are made ready again.
const NODES: usize = 256;
const TURNS: usize = 64;

pub(super) fn benches() -> Vec<Bench> {
    let cycles = TASK.iter().flat_map(|info| [10, 1_000].map(|processes| (info, processes)));
    let cycles = cycles.map(|(info, processes)| {
        let name = format!("core/task/{}/{processes}", info.name);
        Bench::new(name, Unit::Time("ns/decision"), move || {
            visit_task(&parse(info.example), Cycle { processes }).expect("an example is valid")
        })
    });
    let turn = Bench::new("core/task/epoch/turn/1000", Unit::Time("ns/turn"), || turns(1_000));
    cycles.chain([turn]).collect()
}

fn parse(spec: &str) -> Spec {
    spec.parse().expect("the specs of the benchmarks are valid")
}

/// Declares process `number` of those that need `need` together.
fn declare<D: TaskDiscipline<Task>>(discipline: &mut D, number: u32, need: Nanos) {
    let declared = Declared {
        priority: (number % 4) as u8,
        need,
        slice: Some(SLICE),
        period: Some(EPOCH),
        ..Declared::default()
    };
    let _ =
        discipline.declare(Instant::ZERO, FlowId(number), declared).expect("needs are less than there is");
}

fn enqueue<D: Discipline<Task>>(discipline: &mut D, now: Instant, process: FlowId) {
    let _ = discipline.enqueue(now, Task { process }, &mut CountDrops(0));
}

/// Processes that run and wait.
struct Cycle {
    processes: u32,
}

impl TaskVisitor<Task> for Cycle {
    type Output = Round;

    fn visit<D: TaskDiscipline<Task> + Send + 'static>(self, make: impl Fn() -> D) -> Round {
        let mut node = Node { discipline: make(), now: Instant::ZERO, waiting: VecDeque::new(), random: 1 };
        let need = Nanos::new(EPOCH.get() * 4 / 5 / u64::from(self.processes));
        (0..self.processes).for_each(|process| declare(&mut node.discipline, process, need));
        (0..self.processes).for_each(|process| enqueue(&mut node.discipline, node.now, FlowId(process)));
        let wait = self.processes as usize / 4;
        Box::new(move || {
            let decided = (0..DECISIONS).filter(|_| node.decide(wait)).count();
            decided as u64
        })
    }
}

struct Node<D> {
    discipline: D,
    now: Instant,
    /// Who waits, the first to wake in front.
    waiting: VecDeque<FlowId>,
    random: u64,
}

impl<D: TaskDiscipline<Task>> Node<D> {
    /// One decision, if anybody may run.
    #[inline]
    fn decide(&mut self, wait: usize) -> bool {
        let drops = &mut CountDrops(0);
        let Some(grant) = self.discipline.dequeue(self.now, &Open, drops) else {
            self.idle();
            return false;
        };
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let waits = grant.item.process.0 / 4 % 2 == 0;
        let computes = if waits { 20_000 + (self.random >> 40 & 0x1_FFFF) } else { u64::MAX };
        let to_event = self.discipline.next_event().map_or(u64::MAX, |at| at.since(self.now).get());
        let used = Nanos::new(grant.quantum.get().min(computes).min(to_event));
        self.now += used;
        if used.get() == computes {
            self.discipline.finish(self.now, &grant.item, used);
            self.waiting.push_back(grant.item.process);
            if self.waiting.len() > wait {
                self.wake();
            }
        } else {
            self.discipline.requeue(self.now, grant.item, used, drops);
        }
        true
    }

    /// Nobody may run: time passes until the discipline says, or somebody wakes.
    #[cold]
    fn idle(&mut self) {
        self.now = self.discipline.next_event().unwrap_or(self.now).max(self.now);
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(process) = self.waiting.pop_front() {
            enqueue(&mut self.discipline, self.now, process);
        }
    }
}

/// Nodes with `processes` processes, all ready, whose epochs end.
fn turns(processes: u32) -> Round {
    let mut nodes: Vec<_> = (0..NODES).map(|_| Turning::new(processes)).collect();
    let mut next = 0;
    Box::new(move || {
        if next == NODES {
            next = 0;
        }
        if next == 0 {
            nodes.iter_mut().for_each(Turning::prepare);
        }
        nodes[next..next + TURNS].iter_mut().for_each(Turning::turn);
        next += TURNS;
        TURNS as u64
    })
}

/// A node of which half the processes need nothing and all of the time is promised to the others. Who returns from its
/// low queue returns in front, and so goes low again as soon as the next is asked for.
struct Turning {
    discipline: Box<dyn TaskDiscipline<Task> + Send>,
    running: Option<Task>,
    end: Instant,
}

impl Turning {
    fn new(processes: u32) -> Self {
        let spec = parse("epoch(length=1s,returning=ahead)");
        let mut discipline = task_discipline(&spec).expect("the specs of the benchmarks are valid");
        let need = Nanos::new(2_000_000_000 / u64::from(processes));
        for number in 0..processes {
            let need = if number < processes / 2 { Nanos::new(0) } else { need };
            let declared = Declared { need, ..Declared::default() };
            let _ =
                discipline.declare(Instant::ZERO, FlowId(number), declared).expect("needs are all there is");
        }
        (0..processes).for_each(|number| enqueue(&mut discipline, Instant::ZERO, FlowId(number)));
        Self { discipline, running: None, end: Instant::ZERO }
    }

    /// Half of the processes go low, and one runs.
    fn prepare(&mut self) {
        let grant = self.discipline.dequeue(self.end, &Open, &mut CountDrops(0));
        self.running = grant.map(|grant| grant.item);
        self.end = self.discipline.next_event().unwrap_or(self.end);
    }

    fn turn(&mut self) {
        if let Some(task) = self.running.take() {
            self.discipline.requeue(self.end, task, Nanos::new(2_000_000), &mut CountDrops(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_processes_are_low_when_an_epoch_turns() {
        let mut node = Turning::new(1_000);
        for _ in 0..3 {
            node.prepare();
            let low = |node: &Turning| {
                (0..1_000).filter(|&number| node.discipline.level(FlowId(number)) < Some(0)).count()
            };
            assert_eq!(low(&node), 500);
            node.turn();
            assert_eq!(low(&node), 0);
        }
    }
}
