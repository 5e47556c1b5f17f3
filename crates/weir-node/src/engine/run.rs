//! A replication from its first instant to its end: which node is seen next, and the boundaries that all nodes share.

use crate::engine::code::Step;
use crate::engine::process::{Process, State};
use crate::engine::processor::Node;
use crate::engine::refused;
use crate::engine::switch::Parcel;
use crate::engine::timer::Alarm;
use crate::engine::world::{NEVER, World, at, task};
use crate::job::{Ended, Job, Left, Tally};
use crate::model::NodeScenario;
use crate::record::Sink;
use weir_core::task::{Task, TaskDiscipline, Used};
use weir_lab::control::Watch;
use weir_lab::error::RunError;

/// The number of instants after which the engine asks whether to break the run off.
const PATIENCE: u32 = 1 << 16;

/// A replication that runs.
pub(super) struct Engine<'a, D, S> {
    world: World<'a, S>,
    nodes: Vec<Node<D>>,
    /// The next boundaries of each kind.
    epoch_end: u64,
    comparison: u64,
    warm_up: u64,
    end: u64,
    /// What each process had used at the end of the warm-up.
    used: Vec<Option<Used>>,
}

impl<'a, D: TaskDiscipline<Task>, S: Sink> Engine<'a, D, S> {
    /// # Errors
    /// A program or a declaration is refused.
    pub(super) fn new(
        scenario: &'a NodeScenario,
        job: Job,
        sink: &'a mut S,
        nodes: Vec<Node<D>>,
    ) -> Result<Self, RunError> {
        let mut engine = Self {
            world: World::new(scenario, job, sink)?,
            nodes,
            epoch_end: scenario.epoch.get(),
            comparison: scenario.balance.map_or(NEVER, |balance| balance.every.get()),
            warm_up: scenario.stop.warm_up.min(scenario.stop.duration).get(),
            end: scenario.stop.duration.get(),
            used: Vec::new(),
        };
        engine.declare(scenario)?;
        for (number, process) in scenario.processes.iter().enumerate() {
            let node = &mut engine.nodes[process.node];
            engine.world.ask(node, process.starts.get(), Alarm::Wake(number as u32));
        }
        engine.nodes.iter_mut().for_each(Node::refresh);
        engine.world.books.boundary = engine.boundary();
        Ok(engine)
    }

    fn declare(&mut self, scenario: &NodeScenario) -> Result<(), RunError> {
        for (number, process) in scenario.processes.iter().enumerate() {
            let discipline = &mut self.nodes[process.node].discipline;
            let declared = discipline.declare(at(0), task(number as u32).process, process.declared);
            let over = declared
                .map_err(|error| refused(format!("process `{}`", process.name), error.to_string()))?;
            if let Some(over) = over {
                self.world.faults.overcommits(process.node, over);
            }
        }
        Ok(())
    }

    /// The next boundary.
    fn boundary(&self) -> u64 {
        self.epoch_end.min(self.comparison).min(self.warm_up).min(self.end)
    }

    /// # Errors
    /// The programs, or the discipline, come to a state in which nothing sensible follows, or violate something.
    pub(super) fn run(mut self, watch: &Watch<'_>) -> Result<Ended, RunError> {
        let (mut told, mut patience) = (0, PATIENCE);
        loop {
            let earliest = self.earliest();
            let now = self.nodes[earliest].next;
            if now >= self.world.books.boundary {
                let boundary = self.world.books.boundary;
                watch.passed(&mut told, boundary);
                let over = self.pass_boundary();
                self.world.faults.failed()?;
                if over {
                    return Ok(Ended::Finished(Box::new(self.left())));
                }
                patience = 1;
            } else {
                self.world.instant(&mut self.nodes[earliest], now);
                self.after_instant(now)?;
            }
            patience -= 1;
            if patience == 0 {
                patience = PATIENCE;
                if watch.cancelled() {
                    return Ok(Ended::Interrupted);
                }
            }
        }
    }

    /// The node that is to be seen next.
    #[inline]
    fn earliest(&self) -> usize {
        let mut earliest = 0;
        for number in 1..self.nodes.len() {
            if self.nodes[number].next < self.nodes[earliest].next {
                earliest = number;
            }
        }
        earliest
    }

    /// Sends and moves what an instant of one node has left for others, and looks whether anything can still move.
    #[inline]
    fn after_instant(&mut self, now: u64) -> Result<(), RunError> {
        if !self.world.outgoing.is_empty() {
            self.deliver(now);
        }
        if !self.world.moves.is_empty() {
            self.world.move_waiting(&mut self.nodes, now);
        }
        if self.world.life.is_stuck() {
            let error = self.world.words().deadlock(now);
            self.world.faults.fail(error);
        }
        self.world.faults.check_drops(now);
        self.world.faults.failed()
    }

    fn deliver(&mut self, now: u64) {
        let due = now.saturating_add(self.world.scenario.switch_delay.get());
        for Parcel { there, message } in self.world.outgoing.drain(..) {
            let node = &mut self.nodes[there as usize];
            node.inbox.send(self.world.clock.due(due), message);
            node.look_ahead();
        }
    }

    /// Goes over the boundary, before anything that happens there; whether it is the end.
    fn pass_boundary(&mut self) -> bool {
        let now = self.world.books.boundary;
        for node in &mut self.nodes {
            self.world.tell_up_to(node, now);
        }
        if now == self.epoch_end {
            self.turn(now);
        }
        if now == self.warm_up {
            self.used = self.count_used(now);
            self.warm_up = NEVER;
        }
        if now == self.end {
            self.unfinished(now);
            self.world.audit.end(&mut self.world.faults, now);
            return true;
        }
        if now == self.comparison {
            let every = self.world.scenario.balance.map_or(NEVER, |balance| balance.every.get());
            self.comparison = now.saturating_add(every);
            self.world.moves.compare(self.world.scenario, &mut self.world.processes);
            if !self.world.moves.is_empty() {
                self.world.move_waiting(&mut self.nodes, now);
            }
        }
        let boundary = self.boundary();
        self.world.books.pass_boundary(&mut self.world.processes, boundary);
        false
    }

    /// An epoch ends, and the next one begins.
    fn turn(&mut self, now: u64) {
        let World { processes, books, clock, .. } = &mut self.world;
        let always_ready =
            |process: usize| processes.get(process).is_some_and(|one| one.is_always_ready(clock.epoch));
        books.sink.epoch(at(now), &always_ready);
        clock.turn(now);
        self.epoch_end = now.saturating_add(self.world.scenario.epoch.get());
        if self.world.scenario.uncharged.get() > 0 {
            for node in &mut self.nodes {
                node.turn = now;
                node.look_ahead();
            }
        }
    }

    /// What each process has used of each kind of time, on all nodes, once those that run are charged.
    fn count_used(&mut self, now: u64) -> Vec<Option<Used>> {
        for node in &mut self.nodes {
            self.world.charge_running(node, now);
        }
        let of = |process: usize| {
            let flow = task(process as u32).process;
            let counted = self.nodes.iter().filter_map(|node| node.discipline.used(flow));
            counted.reduce(|sum, more| Used {
                need: sum.need + more.need,
                uncommitted: sum.uncommitted + more.uncommitted,
                windfall: sum.windfall + more.windfall,
            })
        };
        (0..self.world.processes.len()).map(of).collect()
    }

    /// What the replication leaves, at its end.
    fn left(mut self) -> Left {
        let end = self.count_used(self.end);
        let used = self.used.iter().zip(end);
        let used = used.map(|(warm_up, end)| warm_up.zip(end).map(|(warm_up, end)| [warm_up, end])).collect();
        let world = &self.world;
        let stranded = world.words().stranded(&world.events, &world.queues, &mut self.nodes);
        let ready = ready_since(&world.processes, world.scenario.stop.warm_up.get());
        let tally = Tally { checked: world.audit.checked, ..world.tally };
        Left { tally, overcommitted: self.world.faults.overcommitted, used, stranded, ready }
    }

    /// Reports the responses that are not over at the end.
    fn unfinished(&mut self, now: u64) {
        let World { processes, programs, memory, books, .. } = &mut self.world;
        for (process, one) in processes.iter().enumerate().filter(|(_, one)| one.is_ready()) {
            books.sink.unfinished(process, at(now), at(one.woke.min(one.owed)));
            let Step::Replay { runs, counter } = programs.steps[one.step as usize] else { continue };
            // Those before have begun, or woken the process; the first does so where it starts.
            let next = memory.counters[counter as usize].div_ceil(2).max(1) as usize;
            let runs = programs.runs[runs as usize].iter().skip(next);
            for run in runs.take_while(|run| run.wake.get() < now) {
                books.sink.unfinished(process, at(now), at(run.wake.get()));
            }
        }
    }
}

/// Who is ready at the end and has been neither waiting nor asleep since `from`, the system's left out: the places of
/// node and process.
fn ready_since(processes: &[Process], from: u64) -> Vec<(usize, usize)> {
    let processes = processes.iter().enumerate();
    let ready = processes.filter(|(_, one)| one.state == State::Ready && !one.system && one.woke <= from);
    ready.map(|(place, one)| (one.node as usize, place)).collect()
}
