//! Rebalancing: processes that move from the busiest node to the least busy one.
//!
//! A process moves at once where it waits, else when it next waits, or could: then it waits for a nanosecond. What the
//! timer demon holds of it, and what is under way to it, moves along.
//!
//! The open grants of both nodes are charged before, since what processes ask for may set the rate of a discipline.

use weir_core::task::{Task, TaskDiscipline};

use crate::engine::processor::Node;
use crate::engine::switch::Message;
use crate::engine::timer::Alarm;
use crate::engine::world::{NOBODY, State, World, at, task};
use crate::record::Sink;

impl<S: Sink, const V: bool> World<'_, S, V> {
    /// Compares the nodes, all of whose time is told up to `now`, and chooses who moves.
    pub(super) fn compare<D: TaskDiscipline<Task>>(&mut self, nodes: &mut [Node<D>], now: u64) {
        self.busy.fill(0);
        for one in self.processes.iter().filter(|one| !one.system) {
            self.busy[one.node as usize] += one.recent;
        }
        if let Some(process) =
            extremes(&self.busy).and_then(|(from, to)| self.choose(from, to, self.busy[from] - self.busy[to]))
        {
            self.moving.push(process);
            self.move_waiting(nodes, now);
        }
        for one in &mut self.processes {
            one.recent = 0;
        }
    }

    /// Chooses who moves; who waits already does so at once.
    fn choose(&mut self, from: usize, to: usize, difference: u64) -> Option<u32> {
        let process = self.best(from, to, difference)?;
        let one = &mut self.processes[process as usize];
        one.moves_to = to as u32;
        (!one.is_ready()).then_some(process)
    }

    /// Who of the movable processes of the busiest node fits and ran nearest to half of the difference.
    fn best(&self, from: usize, to: usize, difference: u64) -> Option<u32> {
        let room = self.room(to);
        let fits = |number: &u32| {
            let (one, asked) =
                (&self.processes[*number as usize], &self.scenario.processes[*number as usize]);
            let there = one.node as usize == from && one.state != State::Ended && one.moves_to == NOBODY;
            let ran = (1..difference).contains(&one.recent);
            there && ran && asked.movable && !one.system && asked.declared.need.get() <= room
        };
        let numbers = 0..self.processes.len() as u32;
        numbers
            .filter(fits)
            .min_by_key(|&number| (2 * self.processes[number as usize].recent).abs_diff(difference))
    }

    /// What a node has promised neither to its processes nor to those that are to move there. It becomes no less before
    /// they do: others come only by moving.
    fn room(&self, node: usize) -> u64 {
        let here = self.processes.iter().zip(&self.scenario.processes).filter(|(one, _)| {
            let comes = one.moves_to as usize == node;
            (one.node as usize == node || comes) && one.state != State::Ended
        });
        let promised = here.fold(0_u64, |sum, (_, asked)| sum.saturating_add(asked.declared.need.get()));
        self.scenario.epoch.get().saturating_sub(promised)
    }

    /// Moves those who wait now and were chosen, in the order of their numbers.
    #[cold]
    #[inline(never)]
    pub(super) fn move_waiting<D: TaskDiscipline<Task>>(&mut self, nodes: &mut [Node<D>], now: u64) {
        let mut moving = std::mem::take(&mut self.moving);
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
        self.moving = moving;
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
            Ok(Some(over)) => self.overcommits(to.number as usize, over),
            Ok(None) => {}
        }
        from.discipline.exit(at(now), flow);
        let one = &mut self.processes[process as usize];
        one.node = to.number;
        one.left += self.scenario.balance.map_or(0, |balance| balance.cost.get());
        let events = &self.events;
        from.timer.hand_over(&mut to.timer, |alarm| match alarm {
            Alarm::Wake(woken) => woken == process,
            Alarm::Post(event) => events[event as usize].owner == process,
        });
        from.inbox.hand_over(&mut to.inbox, |message| match message {
            Message::Post(event) => events[event as usize].owner == process,
            Message::Given(given) => given == process,
            Message::Put { .. } => false,
        });
        self.tally.moves += 1;
        self.sink.moved(process as usize, to.number as usize, at(now));
        if V {
            self.audit_moved(to, process);
        }
        for node in [from, to] {
            node.refresh();
            // What an interrupt of the one node held up may be due there since before.
            node.next = node.next.max(now);
            if V {
                self.audit_discipline(node, now);
            }
        }
    }
}

/// The busiest and the least busy node, the first of equals; none where they are alike.
fn extremes(busy: &[u64]) -> Option<(usize, usize)> {
    let most = (0..busy.len()).rev().max_by_key(|&node| busy[node])?;
    let least = (0..busy.len()).min_by_key(|&node| busy[node])?;
    (busy[most] > busy[least]).then_some((most, least))
}
