//! A second engine, naive and literal: time is passed on from one thing that is due to the next, and everything that
//! changes with time is counted down as it passes. It shares with the engine the model, the disciplines and the random streams.

mod events;
mod moves;
mod programs;
mod scheduler;

use std::collections::{HashMap, VecDeque};

use super::trace::{Trace, Who};
use crate::model::{NodeScenario, Operation};
use crate::record::Sink;
use weir_core::item::FlowId;
use weir_core::registry::task_discipline;
use weir_core::task::{Task, TaskDiscipline};
use weir_core::units::Instant;
use weir_lab::stream::{Purpose, Stream, StreamKey};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    Running,
    Event,
    Data,
    Sleeping,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alarm {
    Wake(usize),
    Post(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mail {
    Post(usize),
    Put(usize, usize),
    Given(usize),
}

struct Process {
    place: usize,
    state: State,
    node: usize,
    left: u64,
    paid: bool,
    loops: HashMap<usize, u64>,
    /// Of each grid, the instant that it took last.
    taken: HashMap<(u64, u64), u64>,
    /// It has done something since it woke.
    acted: bool,
    replayed: usize,
    replay_woken: bool,
    posted: Vec<usize>,
    carried: u64,
    woke: u64,
    fresh: bool,
    waited_in: Option<u64>,
    destination: Option<usize>,
    /// It waited only to move, or was held up at its start, and is late for what was due then.
    late_for: Option<u64>,
    recent: u64,
    stream: Stream,
}

/// A part of an interrupt.
#[derive(Clone, Copy)]
struct Piece {
    left: u64,
    who: Who,
    /// It counts in the open grant.
    of_grant: bool,
}

struct Node {
    discipline: Box<dyn TaskDiscipline<Task> + Send>,
    running: Option<usize>,
    level: Option<i8>,
    last: Option<usize>,
    slice_left: i128,
    unpaid: u64,
    pieces: VecDeque<Piece>,
    alarms: Vec<(u64, u64, Alarm)>,
    mail: Vec<(u64, u64, Mail)>,
    turn: bool,
    enter: bool,
    preempted: bool,
}

pub(super) struct Naive<'a> {
    scenario: &'a NodeScenario,
    now: u64,
    epoch: u64,
    asked: u64,
    processes: Vec<Process>,
    nodes: Vec<Node>,
    data: Vec<VecDeque<u64>>,
    waiting: Vec<VecDeque<usize>>,
    trace: Trace,
}

impl<'a> Naive<'a> {
    pub(super) fn play(scenario: &'a NodeScenario) -> Trace {
        let process = |number: usize| Process {
            place: 0,
            state: State::Sleeping,
            node: scenario.processes[number].node,
            left: 0,
            paid: false,
            loops: HashMap::new(),
            taken: HashMap::new(),
            acted: false,
            replayed: 0,
            replay_woken: false,
            posted: Vec::new(),
            carried: 0,
            woke: 0,
            fresh: false,
            waited_in: None,
            destination: None,
            late_for: Some(scenario.processes[number].starts.get()),
            recent: 0,
            stream: Stream::new(StreamKey {
                seed: scenario.seed,
                replication: 0,
                purpose: Purpose::Services,
                index: number as u32,
            }),
        };
        let node = |_| Node {
            discipline: task_discipline(&scenario.specs[0]).expect("a discipline"),
            running: None,
            level: None,
            last: None,
            slice_left: 0,
            unpaid: 0,
            pieces: VecDeque::new(),
            alarms: Vec::new(),
            mail: Vec::new(),
            turn: false,
            enter: false,
            preempted: false,
        };
        let mut naive = Self {
            scenario,
            now: 0,
            epoch: 0,
            asked: 0,
            processes: (0..scenario.processes.len()).map(process).collect(),
            nodes: (0..scenario.nodes.len()).map(node).collect(),
            data: vec![VecDeque::new(); scenario.queues.len()],
            waiting: vec![VecDeque::new(); scenario.queues.len()],
            trace: Trace::new(scenario),
        };
        for (number, process) in scenario.processes.iter().enumerate() {
            let discipline = &mut naive.nodes[process.node].discipline;
            discipline
                .declare(Instant::new(0), FlowId(number as u32), process.declared)
                .expect("it is admitted");
            naive.ask(process.node, process.starts.get(), Alarm::Wake(number));
        }
        naive.run();
        naive.trace
    }

    fn ask(&mut self, node: usize, at: u64, alarm: Alarm) {
        self.asked += 1;
        self.nodes[node].alarms.push((at, self.asked, alarm));
    }

    fn send(&mut self, to: usize, mail: Mail) {
        self.asked += 1;
        let at = self.now + self.scenario.switch_delay.get();
        self.nodes[to].mail.push((at, self.asked, mail));
    }

    fn run(&mut self) {
        let end = self.scenario.stop.duration.get();
        let epoch = self.scenario.epoch.get();
        let every = self.scenario.balance.map_or(u64::MAX, |balance| balance.every.get());
        let (mut epoch_end, mut comparison) = (epoch, every);
        loop {
            let boundary = end.min(epoch_end).min(comparison);
            let next = (0..self.nodes.len()).map(|node| self.next(node)).min().expect("a node");
            self.pass(next.min(boundary));
            if next < boundary {
                if let Some(node) = (0..self.nodes.len()).find(|&node| self.is_due(node)) {
                    while self.is_due(node) {
                        self.see(node);
                    }
                    self.move_waiting();
                }
                continue;
            }
            if boundary == epoch_end {
                self.turn();
                epoch_end += epoch;
            }
            if boundary == end {
                return self.unfinished();
            }
            if boundary == comparison {
                self.compare();
                comparison += every;
            }
        }
    }

    fn unfinished(&mut self) {
        for (number, process) in self.processes.iter().enumerate() {
            if !matches!(process.state, State::Ready | State::Running) {
                continue;
            }
            let since = process.late_for.unwrap_or(process.woke);
            self.trace.unfinished(number, Instant::new(self.now), Instant::new(since));
            let operations = &self.scenario.processes[number].program.operations;
            let Some(Operation::Replay(runs)) = operations.get(process.place) else { continue };
            let begun = (process.replayed + usize::from(process.replay_woken)).max(1);
            for run in runs.iter().skip(begun).filter(|run| run.wake.get() < self.now) {
                self.trace.unfinished(number, Instant::new(self.now), Instant::new(run.wake.get()));
            }
        }
    }

    /// When something ends or falls due on a node next.
    fn next(&self, number: usize) -> u64 {
        let node = &self.nodes[number];
        if let Some(piece) = node.pieces.front() {
            return self.now + piece.left;
        }
        let mut times = vec![u64::MAX];
        times.extend(node.alarms.iter().map(|(at, ..)| *at));
        times.extend(node.mail.iter().map(|(at, ..)| *at));
        times.extend(node.discipline.next_event().map(Instant::get));
        times.extend(node.turn.then_some(self.now));
        if let Some(running) = node.running {
            times.push(self.now + self.processes[running].left);
            times.push(self.now + u64::try_from(node.slice_left.max(0)).expect("a slice"));
        }
        times.into_iter().min().expect("one").max(self.now)
    }

    fn is_due(&self, number: usize) -> bool {
        self.nodes[number].pieces.is_empty() && self.next(number) == self.now
    }

    /// Lets time pass.
    fn pass(&mut self, to: u64) {
        let span = to - self.now;
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let (who, of_grant) = match (node.pieces.front_mut(), node.running) {
                (Some(piece), _) => {
                    piece.left -= span;
                    (piece.who, piece.of_grant)
                }
                (None, Some(running)) => {
                    self.processes[running].left -= span;
                    (Who::Process(running), true)
                }
                (None, None) => (Who::Idle, false),
            };
            if of_grant {
                node.slice_left -= i128::from(span);
                node.unpaid += span;
            }
            if let Who::Process(process) = who {
                self.processes[process].recent += span;
            }
            self.trace.had(number, who, self.now, to);
            while node.pieces.front().is_some_and(|piece| piece.left == 0) {
                node.pieces.pop_front();
            }
        }
        self.now = to;
    }

    fn turn(&mut self) {
        let ready = |number: usize| {
            let process = &self.processes[number];
            matches!(process.state, State::Ready | State::Running) && process.waited_in != Some(self.epoch)
        };
        self.trace.epoch(Instant::new(self.now), &ready);
        self.epoch += 1;
        if self.scenario.uncharged.get() > 0 {
            self.nodes.iter_mut().for_each(|node| node.turn = true);
        }
    }

    fn at(&self) -> Instant {
        Instant::new(self.now)
    }

    fn task(process: usize) -> Task {
        Task { process: FlowId(process as u32) }
    }

    /// Sees to a node once.
    fn see(&mut self, number: usize) {
        let (now, at) = (self.now, self.at());
        let before = self.nodes[number].running;
        self.nodes[number].enter = false;
        self.nodes[number].preempted = false;
        if let Some(running) = before
            && self.processes[running].left == 0
        {
            self.run_on(number, running);
        }
        let over = self.nodes[number].running.is_some() && self.nodes[number].slice_left <= 0;
        let mut timer = over;
        while let Some(first) = first_due(&self.nodes[number].alarms, now) {
            timer = true;
            match self.nodes[number].alarms.remove(first).2 {
                Alarm::Wake(process) => self.wake(number, process),
                Alarm::Post(event) => self.post(number, event),
            }
        }
        while let Some(first) = first_due(&self.nodes[number].mail, now) {
            match self.nodes[number].mail.remove(first).2 {
                Mail::Post(event) => self.post(number, event),
                Mail::Put(queue, from) => self.put(number, queue, from),
                Mail::Given(process) => self.wake(number, process),
            }
        }
        if self.nodes[number].discipline.next_event().is_some_and(|event| event <= at) {
            self.nodes[number].enter = true;
            self.give_back(number);
        }
        let uncharged = match std::mem::take(&mut self.nodes[number].turn) {
            true => self.scenario.uncharged.get(),
            false => 0,
        };
        let timer = if timer { self.scenario.costs.timer.get() } else { 0 };
        if over || self.nodes[number].enter {
            self.give_back(number);
            self.schedule(number, before, timer, uncharged);
        } else {
            let who = self.nodes[number].running.map_or(Who::Overhead, Who::Process);
            self.interrupt(number, who, timer, before.is_some(), uncharged);
        }
    }
}

/// The first that is due: the earliest, of equals who was asked for first.
fn first_due<T>(list: &[(u64, u64, T)], now: u64) -> Option<usize> {
    let due = (0..list.len()).filter(|&place| list[place].0 <= now);
    due.min_by_key(|&place| (list[place].0, list[place].1))
}
