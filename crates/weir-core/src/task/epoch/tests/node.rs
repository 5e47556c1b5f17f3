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
    /// Waits this long.
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

/// A process goes to its low queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Demotion {
    pub(super) process: usize,
    /// How far away the critical period is then.
    pub(super) uncommitted: Nanos,
    /// What it has used of its needs since the beginning.
    pub(super) used: Nanos,
}

pub(super) struct Process {
    pub(super) program: Program,
    pub(super) declared: Declared,
    /// What it still computes before its next step.
    compute: u64,
    wakes: Option<u64>,
    exits: bool,
    level: i8,
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

pub(super) struct Node<D> {
    pub(super) discipline: D,
    pub(super) processes: Vec<Process>,
    running: Option<Running>,
    preempted: bool,
    pub(super) now: u64,
    pub(super) pieces: Vec<Piece>,
    pub(super) demotions: Vec<Demotion>,
    pub(super) closes_first: bool,
    /// The most that a dispatch costs, at random; it is charged to who is dispatched.
    pub(super) overhead: u64,
    random: Random,
}

impl<D: TaskDiscipline<Task>> Node<D> {
    pub(super) fn new(discipline: D) -> Self {
        Self {
            discipline,
            processes: Vec::new(),
            running: None,
            preempted: false,
            now: 0,
            pieces: Vec::new(),
            demotions: Vec::new(),
            closes_first: false,
            overhead: 0,
            random: Random::new(1),
        }
    }

    /// Adds a process; it is ready from the start, unless its program begins with a wait.
    pub(super) fn add(&mut self, declared: Declared, program: Program) {
        let process = FlowId(self.processes.len() as u32);
        let _ = self.discipline.declare(Instant::new(self.now), process, declared).unwrap();
        let (compute, wakes, exits, level) = (0, Some(self.now), false, 0);
        let (ready, since) = (false, None);
        self.processes.push(Process { program, declared, compute, wakes, exits, level, ready, since });
    }

    /// Goes on like another node after this moment, with another discipline and other programs: with the same work at
    /// hand, the same waits, and those who are ready in this order.
    pub(super) fn twin<T>(other: &Node<T>, discipline: D, programs: Vec<Program>, ready: &[u32]) -> Self {
        let mut twin = Self { now: other.now, closes_first: other.closes_first, ..Self::new(discipline) };
        for (process, program) in other.processes.iter().zip(programs) {
            twin.add(process.declared, program);
            let added = twin.processes.last_mut().unwrap();
            (added.compute, added.wakes) = (process.compute, process.wakes);
        }
        ready.iter().for_each(|&process| twin.wake(process as usize));
        twin
    }

    /// Runs until this moment; what is open then stays open, charged.
    pub(super) fn run(&mut self, until: u64) {
        self.settle();
        while let Some(next) = self.next().filter(|&at| at <= until) {
            self.pass(next);
            self.settle();
        }
        self.pass(until);
    }

    /// Runs until just before what happens at this moment, and takes what ran.
    pub(super) fn run_up_to(&mut self, moment: u64) -> Vec<Piece> {
        self.run(moment - 1);
        self.pass(moment);
        let mut pieces = std::mem::take(&mut self.pieces);
        if let Some(running) = &mut self.running {
            pieces.push(running.piece);
            running.piece.from = moment;
        }
        pieces
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

    /// Takes steps until the process computes (then returns true) or waits.
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
    pub(super) fn close_if_over(&mut self) {
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
        self.pieces.extend(Some(running.piece).filter(|piece| piece.from < piece.to));
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
        for (other, _) in self.processes.iter().enumerate().filter(|(_, other)| other.ready) {
            let waits = self.discipline.level(FlowId(other as u32)).unwrap();
            assert!(waits <= level, "{process} runs at level {level}, {other} is ready at {waits}");
        }
        self.running = Some(Running { left: grant.quantum.get(), overhead, piece });
        assert!(grant.quantum.get() > 0, "an empty grant");
        self.verify();
    }

    /// What must hold after every call; notes who goes low.
    fn verify(&mut self) {
        self.discipline.verify().unwrap();
        for (number, process) in self.processes.iter_mut().enumerate() {
            let flow = FlowId(number as u32);
            let level = self.discipline.level(flow).unwrap();
            if level < 0 && process.level >= 0 {
                let uncommitted = self.discipline.critical().unwrap().since(Instant::new(self.now));
                let used = self.discipline.used(flow).unwrap().need;
                self.demotions.push(Demotion { process: number, uncommitted, used });
            }
            process.level = level;
        }
    }
}

fn task(process: usize) -> Task {
    Task { process: FlowId(process as u32) }
}
