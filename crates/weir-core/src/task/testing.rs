//! One processor, for the tests of disciplines of tasks.

use super::{Declared, Task, TaskDiscipline};
use crate::discipline::{CountDrops, Enqueued, Grant, Open};
use crate::item::{FlowId, Item};
use crate::registry::task_discipline;
use crate::units::{Instant, Nanos, Weight};

/// A span of `count` milliseconds.
pub(super) fn ms(count: u64) -> Nanos {
    Nanos::new(count * 1_000_000)
}

/// The moment at `count` milliseconds.
pub(super) fn at(count: u64) -> Instant {
    Instant::new(count * 1_000_000)
}

pub(super) fn weight(share: u64) -> Declared {
    Declared { weight: Some(Weight::new(share)), ..Declared::default() }
}

pub(super) fn priority(priority: u8) -> Declared {
    Declared { priority, ..Declared::default() }
}

/// For as long as a test lasts.
pub(super) const ALWAYS: Nanos = Nanos::new(u64::MAX);

/// Who ran from when to when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub process: u32,
    pub from: Instant,
    pub to: Instant,
}

/// A processor without overheads, which interrupts at once.
pub(super) struct Machine<D> {
    pub discipline: D,
    pub now: Instant,
    pub runs: Vec<Run>,
    /// Who wakes when, to run for how long, the last first.
    wakes: Vec<(Instant, u32, Nanos)>,
    /// Who exits once it waits.
    exits: Vec<u32>,
    /// What is left of each process's burst.
    left: Vec<Nanos>,
    open: Option<(Grant<Task>, Instant)>,
}

/// A machine with the discipline that the spec names.
pub(super) fn machine(spec: &str, declared: &[Declared]) -> Machine<Box<dyn TaskDiscipline<Task> + Send>> {
    let mut discipline = task_discipline(&spec.parse().expect(spec)).expect(spec);
    for (process, declared) in declared.iter().enumerate() {
        discipline
            .declare(Instant::ZERO, FlowId(process as u32), *declared)
            .expect("a declaration that is taken");
    }
    Machine::new(discipline)
}

/// Who runs in each millisecond: a letter, or a dot for nobody. Each burst is a letter, when it wakes and how long it
/// runs, in milliseconds.
pub(super) fn schedule(spec: &str, declared: &[Declared], bursts: &[(char, u64, u64)], until: u64) -> String {
    let mut machine = machine(spec, declared);
    for &(letter, wakes, length) in bursts {
        machine.wake(at(wakes), letter as u32 - 'a' as u32, ms(length));
    }
    machine.run_until(at(until));
    machine.letters()
}

impl<D: TaskDiscipline<Task>> Machine<D> {
    pub(super) fn new(discipline: D) -> Self {
        let (wakes, exits, left, runs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { discipline, now: Instant::ZERO, runs, wakes, exits, left, open: None }
    }

    /// A process that waits then wakes, to run for this long.
    pub(super) fn wake(&mut self, when: Instant, process: u32, length: Nanos) {
        let place = self.wakes.partition_point(|&(other, ..)| other > when);
        self.wakes.insert(place, (when, process, length));
    }

    /// A process exits when it waits next.
    pub(super) fn exit(&mut self, process: u32) {
        self.exits.push(process);
    }

    pub(super) fn is_to_exit(&self, process: u32) -> bool {
        self.exits.contains(&process)
    }

    /// What a process has run between two moments.
    pub(super) fn served(&self, process: u32, from: Instant, to: Instant) -> Nanos {
        let of = |run: &&Run| run.process == process;
        self.runs.iter().filter(of).map(|run| run.to.min(to).since(run.from.max(from))).sum()
    }

    pub(super) fn letters(&self) -> String {
        let letter = |moment: u64| {
            let runs = self.runs.iter().find(|run| run.from <= at(moment) && at(moment) < run.to);
            runs.map_or('.', |run| char::from(b'a' + run.process as u8))
        };
        (0..self.now.get() / 1_000_000).map(letter).collect()
    }

    /// Runs until then; a grant that is open then stays open.
    pub(super) fn run_until(&mut self, end: Instant) {
        loop {
            self.ask();
            let wake = self.wakes.last().map(|&(when, ..)| when);
            let event = self.discipline.next_event();
            let close = self.open.as_ref().map(|open| self.closes(open));
            let next = [wake, event, close].into_iter().flatten().min();
            let Some(next) = next.filter(|&next| next < end) else { break };
            self.advance(next.max(self.now));
            self.step();
        }
        self.advance(end);
    }

    fn closes(&self, (grant, started): &(Grant<Task>, Instant)) -> Instant {
        let length = grant.quantum.min(self.left[grant.item.process.0 as usize]);
        Instant::new(started.get().saturating_add(length.get()))
    }

    fn ask(&mut self) {
        if self.open.is_none() {
            let grant = self.discipline.dequeue(self.now, &Open, &mut CountDrops::default());
            assert!(grant.is_none_or(|grant| grant.quantum > Nanos::ZERO), "an empty grant");
            self.open = grant.map(|grant| (grant, self.now));
        }
        self.discipline.verify().expect("what always holds");
    }

    /// Time passes, for whoever runs.
    fn advance(&mut self, now: Instant) {
        let (from, to) = (self.now, now);
        self.now = now;
        let Some((grant, started)) = &mut self.open else { return };
        let process = grant.item.process.0;
        let used = to - from;
        self.left[process as usize] -= used;
        self.discipline.charge(now, &grant.item, used);
        (grant.quantum, *started) = (grant.quantum - used, now);
        match self.runs.last_mut() {
            Some(run) if run.process == process && run.to == from => run.to = to,
            _ if from == to => {}
            _ => self.runs.push(Run { process, from, to }),
        }
    }

    /// All that is due now.
    fn step(&mut self) {
        if let Some((grant, _)) = self.open {
            if self.left[grant.item.process.0 as usize] == Nanos::ZERO {
                self.open = None;
                self.discipline.finish(self.now, &grant.item, Nanos::ZERO);
                let process = grant.item.flow();
                if let Some(place) = self.exits.iter().position(|&leaves| leaves == process.0) {
                    self.exits.swap_remove(place);
                    self.discipline.exit(self.now, process);
                }
            } else if grant.quantum == Nanos::ZERO {
                self.give_back();
            }
        }
        self.ask();
        while self.wakes.last().is_some_and(|&(when, ..)| when <= self.now) {
            self.wake_next();
        }
        if self.discipline.next_event().is_some_and(|at| at <= self.now) {
            self.give_back();
        }
    }

    fn wake_next(&mut self) {
        let Some((_, process, length)) = self.wakes.pop() else { return };
        if self.left.len() <= process as usize {
            self.left.resize(process as usize + 1, Nanos::ZERO);
        }
        assert_eq!(self.left[process as usize], Nanos::ZERO, "process {process} is ready at {}", self.now);
        self.left[process as usize] = length;
        let item = Task { process: FlowId(process) };
        if self.discipline.enqueue(self.now, item, &mut CountDrops::default()) == Enqueued::Preempts {
            assert!(self.open.is_some(), "nobody is preempted");
            self.give_back();
        }
        self.ask();
    }

    fn give_back(&mut self) {
        if let Some((grant, _)) = self.open.take() {
            self.discipline.requeue(self.now, grant.item, Nanos::ZERO, &mut CountDrops::default());
        }
    }
}
