//! Rebalancing: processes that move from the busiest node to the least busy one.
//!
//! A process moves at once where it waits, else when it next waits, or could: then it waits for a nanosecond. What the
//! timer demon holds of it, and what is under way to it, moves along.
//!
//! The open grants of both nodes are charged before, since what processes ask for may set the rate of a discipline.

use crate::engine::process::{Process, State};
use crate::engine::processor::Node;
use crate::engine::switch::Message;
use crate::engine::timer::Alarm;
use crate::engine::world::{NOBODY, World, at, task};
use crate::model::NodeScenario;
use crate::record::Sink;
use weir_core::task::{Task, TaskDiscipline};

/// Who is to move, and how nodes are compared.
#[derive(Debug)]
pub(super) struct Moves {
    /// Processes that wait now and are to move.
    waiting: Vec<u32>,
    /// How busy each node was, while nodes are compared.
    busy: Vec<u64>,
}

/// The busiest and the least busy node, and how far they are apart.
#[derive(Clone, Copy)]
struct Extremes {
    from: usize,
    to: usize,
    difference: u64,
}

impl Moves {
    pub(super) fn new(nodes: usize) -> Self {
        Self { waiting: Vec::new(), busy: vec![0; nodes] }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// A process that is to move waits.
    #[inline]
    pub(super) fn push(&mut self, process: u32) {
        self.waiting.push(process);
    }

    /// Compares the nodes, all of whose time is reported up to now, and chooses who moves.
    pub(super) fn compare(&mut self, scenario: &NodeScenario, processes: &mut [Process]) {
        self.busy.fill(0);
        for one in processes.iter().filter(|one| !one.system) {
            self.busy[one.node as usize] += one.recent;
        }
        if let Some(extremes) = self.extremes()
            && let Some(process) = best(scenario, processes, extremes)
        {
            let one = &mut processes[process as usize];
            one.moves_to = extremes.to as u32;
            if !one.is_ready() {
                self.waiting.push(process);
            }
        }
        processes.iter_mut().for_each(|one| one.recent = 0);
    }

    /// The busiest and the least busy node, the first of equals; none where they are alike.
    fn extremes(&self) -> Option<Extremes> {
        let (busy, nodes) = (&self.busy, 0..self.busy.len());
        let from = nodes.clone().rev().max_by_key(|&node| busy[node])?;
        let to = nodes.min_by_key(|&node| busy[node])?;
        (busy[from] > busy[to]).then(|| Extremes { from, to, difference: busy[from] - busy[to] })
    }
}

/// Who of the movable processes of the busiest node fits and ran nearest to half of the difference.
fn best(
    scenario: &NodeScenario,
    processes: &[Process],
    Extremes { from, to, difference }: Extremes,
) -> Option<u32> {
    let room = room(scenario, processes, to);
    let fits = |number: &u32| {
        let (one, asked) = (&processes[*number as usize], &scenario.processes[*number as usize]);
        let there = one.node as usize == from && one.state != State::Ended && !one.is_to_move();
        let ran = (1..difference).contains(&one.recent);
        there && ran && asked.movable && !one.system && asked.declared.need.get() <= room
    };
    (0..processes.len() as u32)
        .filter(fits)
        .min_by_key(|&number| (2 * processes[number as usize].recent).abs_diff(difference))
}

/// What a node has promised neither to its processes nor to those that are to move there. It becomes no less before
/// they do: others come only by moving.
fn room(scenario: &NodeScenario, processes: &[Process], node: usize) -> u64 {
    let here = processes.iter().zip(&scenario.processes).filter(|(one, _)| {
        let comes = one.moves_to as usize == node;
        (one.node as usize == node || comes) && one.state != State::Ended
    });
    let promised = here.fold(0_u64, |sum, (_, asked)| sum.saturating_add(asked.declared.need.get()));
    scenario.epoch.get().saturating_sub(promised)
}

impl<S: Sink> World<'_, S> {
    /// Moves those who wait now and were chosen, in the order of their numbers.
    #[cold]
    #[inline(never)]
    pub(super) fn move_waiting<D: TaskDiscipline<Task>>(&mut self, nodes: &mut [Node<D>], now: u64) {
        let mut moving = std::mem::take(&mut self.moves.waiting);
        moving.sort_unstable();
        for process in moving.drain(..) {
            let one = &mut self.processes[process as usize];
            // It was woken at the same instant, or has ended.
            if one.is_ready() || one.state == State::Ended {
                continue;
            }
            let to = std::mem::replace(&mut one.moves_to, NOBODY);
            if to == NOBODY {
                continue;
            }
            let (from, to) = (one.node as usize, to as usize);
            if let Ok([from, to]) = nodes.get_disjoint_mut([from, to]) {
                self.move_one(process, from, to, now);
            }
        }
        self.moves.waiting = moving;
    }

    fn move_one<D: TaskDiscipline<Task>>(
        &mut self,
        process: u32,
        from: &mut Node<D>,
        to: &mut Node<D>,
        now: u64,
    ) {
        let flow = task(process).process;
        let declared = self.scenario.processes[process as usize].declared;
        self.charge_running(from, now);
        self.charge_running(to, now);
        // Where the discipline of the other node does not take it, it stays.
        match to.discipline.declare(at(now), flow, declared) {
            Err(_) => return,
            Ok(Some(over)) => self.faults.overcommits(to.number as usize, over),
            Ok(None) => {}
        }
        from.discipline.exit(at(now), flow);
        let one = &mut self.processes[process as usize];
        one.node = to.number;
        one.left += self.scenario.balance.map_or(0, |balance| balance.cost.get());
        let events = &self.events;
        from.timer.hand_over(&mut to.timer, |alarm| match alarm {
            Alarm::Wake(woken) => woken == process,
            Alarm::Post(event) => events.owner(event) == process,
        });
        from.inbox.hand_over(&mut to.inbox, |message| match message {
            Message::Post(event) => events.owner(event) == process,
            Message::Given(given) => given == process,
            Message::Put { .. } => false,
        });
        self.tally.moves += 1;
        self.books.sink.moved(process as usize, to.number as usize, at(now));
        self.audit.moved(to, process);
        for node in [from, to] {
            node.refresh();
            // What an interrupt of the one node held up may be due there since before.
            node.next = node.next.max(now);
            self.audit.discipline(&mut self.faults, node, now);
        }
    }
}
