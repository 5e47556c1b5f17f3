//! A processor for tests: runs processes, each a small program, under a discipline of tasks, and records who ran when.
//!
//! At one instant wake-ups come first, then the open grant is closed if it is over, then the next is asked for, as
//! with the timer of the report. With `closes_first` a grant that is over is closed, and the next one asked for, before
//! the wake-ups.

use crate::conformance::Random;
use crate::discipline::{CountDrops, Enqueued, Open};
use crate::item::FlowId;
use crate::task::{Declared, Task, TaskDiscipline};
use crate::units::{Instant, Nanos};

/// What a process does next; all times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Compute(u64),
    /// Waits so long.
    Wait(u64),
    /// Waits until this moment, if it has not passed.
    Until(u64),
    /// Declares another need.
    Need(u64),
    Exit,
    /// Waits for what never happens.
    Sleep,
}

/// The steps of a process, one after the other.
pub(super) type Program = Box<dyn FnMut() -> Step>;

/// The time for which a process ran without a break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) process: usize,
    pub(super) level: i8,
    pub(super) from: u64,
    pub(super) to: u64,
}

pub(super) struct Process {
    program: Program,
    pub(super) declared: Declared,
    /// What it still computes before its next step.
    compute: u64,
    wakes: Option<u64>,
    exits: bool,
    /// Whether it waits for the processor.
    pub(super) ready: bool,
    /// Since when it has been ready, or has run.
    pub(super) since: Option<u64>,
}

/// The open grant.
struct Running {
    left: u64,
    overhead: u64,
    piece: Piece,
}

pub(super) struct Node {
    pub(super) discipline: Box<dyn TaskDiscipline<Task>>,
    pub(super) processes: Vec<Process>,
    running: Option<Running>,
    preempted: bool,
    begun: bool,
    pub(super) now: u64,
    pub(super) pieces: Vec<Piece>,
    pub(super) closes_first: bool,
    /// The most that a dispatch costs, at random; it is charged to who is dispatched.
    pub(super) overhead: u64,
    random: Random,
}

impl Node {
    pub(super) fn new(discipline: impl TaskDiscipline<Task> + 'static) -> Self {
        Self {
            discipline: Box::new(discipline),
            processes: Vec::new(),
            running: None,
            preempted: false,
            begun: false,
            now: 0,
            pieces: Vec::new(),
            closes_first: false,
            overhead: 0,
            random: Random::new(1),
        }
    }

    /// Adds a process; it is ready from the start, unless its program begins with a wait.
    pub(super) fn add(&mut self, declared: Declared, program: Program) {
        let process = FlowId(self.processes.len() as u32);
        let _ = self.discipline.declare(Instant::new(self.now), process, declared).unwrap();
        let wakes = Some(self.now);
        let exits = false;
        self.processes.push(Process {
            program,
            declared,
            compute: 0,
            wakes,
            exits,
            ready: false,
            since: None,
        });
    }

    /// Runs until this moment; what is open then stays open, charged.
    pub(super) fn run(&mut self, until: u64) {
        if !std::mem::replace(&mut self.begun, true) {
            self.settle();
        }
        while let Some(next) = self.next().filter(|&at| at <= until) {
            self.pass(next);
            self.settle();
        }
        self.pass(until);
    }

    /// Runs to the end of an epoch and gives back what is open then.
    pub(super) fn stop(&mut self, at: u64) {
        self.run(at - 1);
        self.pass(at);
        self.close_if_over();
    }

    /// When anything happens next.
    fn next(&self) -> Option<u64> {
        let closes = self.running.as_ref().map(|running| {
            let compute = self.processes[running.piece.process].compute;
            self.now + running.left.min(running.overhead + compute)
        });
        let wakes = self.processes.iter().filter_map(|process| process.wakes).min();
        let event = self.discipline.next_event().map(Instant::get);
        [closes, wakes, event].into_iter().flatten().min()
    }

    fn pass(&mut self, to: u64) {
        let passed = to - std::mem::replace(&mut self.now, to);
        let Some(running) = &mut self.running else { return };
        let process = running.piece.process;
        self.discipline.charge(Instant::new(to), &task(process), Nanos::new(passed));
        running.left -= passed;
        let overhead = passed.min(running.overhead);
        running.overhead -= overhead;
        running.piece.to = to;
        self.processes[process].compute -= passed - overhead;
        self.verify();
    }

    /// All that is due now.
    fn settle(&mut self) {
        let mut again = true;
        while again {
            if self.closes_first {
                self.close_if_over();
                self.dispatch();
            }
            self.wake_all();
            self.close_if_over();
            self.dispatch();
            again = self.processes.iter().any(|process| process.wakes.is_some_and(|at| at <= self.now));
        }
    }

    fn wake_all(&mut self) {
        for number in 0..self.processes.len() {
            if self.processes[number].wakes.is_some_and(|at| at <= self.now) {
                self.processes[number].wakes = None;
                if self.proceed(number) {
                    self.wake(number);
                }
            }
        }
    }

    fn wake(&mut self, number: usize) {
        let process = &mut self.processes[number];
        process.ready = true;
        process.since.get_or_insert(self.now);
        let drops = &mut CountDrops::default();
        let answer = self.discipline.enqueue(Instant::new(self.now), task(number), drops);
        let is_running = self.running.is_some();
        assert!(drops.0 == 0 && (is_running || answer == Enqueued::Queued), "dropped, or preempts nobody");
        self.preempted |= answer == Enqueued::Preempts;
        self.verify();
    }

    /// Takes steps until the process computes, which is told, or waits.
    fn proceed(&mut self, number: usize) -> bool {
        let process = &mut self.processes[number];
        loop {
            match (process.program)() {
                Step::Compute(span) => {
                    process.compute = span;
                    return true;
                }
                Step::Until(at) if at <= self.now => {}
                Step::Wait(span) => process.wakes = Some(self.now + span),
                Step::Until(at) => process.wakes = Some(at),
                Step::Need(need) => {
                    process.declared.need = Nanos::new(need);
                    let (now, flow) = (Instant::new(self.now), FlowId(number as u32));
                    let _ = self.discipline.declare(now, flow, process.declared).unwrap();
                }
                Step::Exit => process.exits = true,
                Step::Sleep => return false,
            }
            if process.wakes.is_some() || process.exits {
                return false;
            }
        }
    }

    /// Closes the open grant if its process waits, its slice is over, it is preempted or the epoch ends.
    fn close_if_over(&mut self) {
        let Some(running) = self.running.take() else { return };
        let (number, now) = (running.piece.process, Instant::new(self.now));
        let computed = running.overhead == 0 && self.processes[number].compute == 0;
        let ends = self.discipline.next_event().is_some_and(|at| at <= now);
        if computed && !self.proceed(number) {
            self.discipline.finish(now, &task(number), Nanos::new(0));
            self.waits(number);
        } else if running.left == 0 || self.preempted || ends {
            let drops = &mut CountDrops::default();
            self.processes[number].ready = true;
            self.discipline.requeue(now, task(number), Nanos::new(0), drops);
            assert_eq!(drops.0, 0);
        } else {
            self.running = Some(running);
            return;
        }
        self.pieces.push(running.piece);
        self.preempted = false;
        self.verify();
    }

    fn waits(&mut self, number: usize) {
        let process = &mut self.processes[number];
        if process.wakes != Some(self.now) {
            process.since = None;
        }
        if process.exits {
            self.discipline.exit(Instant::new(self.now), FlowId(number as u32));
        }
    }

    /// Asks for the next process, if none runs.
    fn dispatch(&mut self) {
        if self.running.is_some() {
            return;
        }
        let drops = &mut CountDrops::default();
        let Some(grant) = self.discipline.dequeue(Instant::new(self.now), &Open, drops) else {
            let nobody = !self.processes.iter().any(|process| process.ready);
            return assert!(nobody, "somebody is ready and nobody runs");
        };
        let process = grant.item.process.0 as usize;
        let level = self.discipline.level(grant.item.process).unwrap();
        let overhead = self.random.below(self.overhead + 1);
        let piece = Piece { process, level, from: self.now, to: self.now };
        self.processes[process].ready = false;
        self.running = Some(Running { left: grant.quantum.get(), overhead, piece });
        assert!(grant.quantum.get() > 0, "an empty grant");
        self.verify();
    }

    fn verify(&self) {
        self.discipline.verify().unwrap();
    }
}

fn task(process: usize) -> Task {
    Task { process: FlowId(process as u32) }
}
