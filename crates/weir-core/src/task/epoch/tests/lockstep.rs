//! The discipline and the rules word for word, side by side: whatever happens, they must decide alike.

use super::make;
use super::oracle::{Oracle, Reading};
use crate::conformance::Random;
use crate::discipline::{Discipline, Enqueued, Open};
use crate::item::FlowId;
use crate::task::epoch::Epoch;
use crate::task::{Declared, Task, TaskDiscipline};
use crate::units::{Instant, Nanos};

struct Lockstep {
    readings: String,
    first: Epoch<Task>,
    second: Oracle,
    random: Random,
    now: u64,
    processes: u32,
    open: Option<Task>,
    /// What is left of the open grant.
    left: u64,
}

impl Lockstep {
    fn new(reading: Reading, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let processes = 1 + random.below(8) as u32;
        let readings = reading.spec();
        let first = make(&readings);
        let second = Oracle::new(reading);
        let mut lockstep = Self { readings, first, second, random, now: 0, processes, open: None, left: 0 };
        (0..processes).for_each(|process| lockstep.declare(FlowId(process)));
        lockstep.enqueue();
        lockstep
    }

    fn declare(&mut self, process: FlowId) {
        let share = 200_000 / u64::from(self.processes);
        let declared = Declared {
            need: Nanos::new(if self.random.one_in(4) { 0 } else { self.random.below(share) }),
            priority: self.random.below(4) as u8,
            slice: (!self.random.one_in(4)).then(|| Nanos::new(300 + self.random.below(40_000))),
            ..Declared::default()
        };
        let now = Instant::new(self.now);
        let _ = self.first.declare(now, process, declared).unwrap();
        let _ = self.second.declare(now, process, declared).unwrap();
    }

    fn enqueue(&mut self) {
        let task = Task { process: FlowId(self.random.below(u64::from(self.processes)) as u32) };
        let (now, mut drops) = (Instant::new(self.now), [Vec::new(), Vec::new()]);
        let answer = self.first.enqueue(now, task, &mut drops[0]);
        assert_eq!(answer, self.second.enqueue(now, task, &mut drops[1]), "{task:?} at {now}");
        assert_eq!(drops[0], drops[1], "{task:?} at {now}");
        if answer == Enqueued::Preempts && !self.random.one_in(8) {
            self.close();
        }
    }

    /// Time passes, seldom several epochs; of an open grant, never the end of the epoch unless it overruns a little.
    fn pass(&mut self) {
        let idle = if self.random.one_in(50) { 400_000 } else { 10_000 };
        let mut span = self.random.below(idle);
        if let Some(task) = self.open {
            let event = self.first.next_event().unwrap().get();
            let overrun = if self.random.one_in(20) { self.random.below(1_000) } else { 0 };
            span = span.min(self.left + overrun).min(event.saturating_sub(self.now) + overrun);
            // Not all of the time is charged, and the interrupt that ends a slice may be.
            let used = if self.random.one_in(20) { self.random.below(span + 1) } else { span };
            let (now, used) = (Instant::new(self.now + span), Nanos::new(used));
            self.first.charge(now, &task, used);
            self.second.charge(now, &task, used);
            self.left = self.left.saturating_sub(span);
        }
        self.now += span;
        let over = self.left == 0 || self.first.next_event().is_some_and(|at| at.get() <= self.now);
        if self.open.is_some() && over {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some(task) = self.open.take() else { return };
        let (now, used) = (Instant::new(self.now), Nanos::new(self.random.below(3)));
        if self.random.one_in(3) {
            self.first.finish(now, &task, used);
            self.second.finish(now, &task, used);
        } else {
            let mut drops = Vec::new();
            self.first.requeue(now, task, used, &mut drops);
            self.second.requeue(now, task, used, &mut drops);
            assert_eq!(drops, [], "at {now}");
        }
    }

    fn dequeue(&mut self) {
        if self.open.is_some() {
            return;
        }
        let (now, mut drops) = (Instant::new(self.now), Vec::new());
        let grant = self.first.dequeue(now, &Open, &mut drops);
        assert_eq!(grant, self.second.dequeue(now, &Open, &mut drops), "at {now}");
        if let Some(grant) = grant {
            (self.open, self.left) = (Some(grant.item), grant.quantum.get());
        }
    }

    /// The state of both; where nobody is ready the discipline has yet to see that an epoch ended.
    fn compare(&self) {
        let (first, second) = (&self.first, &self.second);
        assert_eq!(first.backlog(), second.backlog(), "at {}", self.now);
        first.verify().unwrap();
        for process in (0..self.processes).map(FlowId) {
            assert_eq!(first.used(process), second.used(process), "{process:?} at {}", self.now);
        }
        if first.next_event().is_none() {
            return assert_eq!(second.next_event(), None);
        }
        assert_eq!(first.next_event(), second.next_event(), "at {}", self.now);
        assert_eq!(first.critical(), second.critical(), "at {}", self.now);
        for process in (0..self.processes).map(FlowId) {
            assert_eq!(first.level(process), second.level(process), "{process:?} at {}", self.now);
        }
    }

    fn step(&mut self) {
        let process = FlowId(self.random.below(u64::from(self.processes)) as u32);
        match self.random.below(20) {
            0..=3 => self.enqueue(),
            4 if self.random.one_in(8) => self.close(),
            5 if self.random.one_in(10) => self.declare(process),
            6 if self.random.one_in(10) => {
                self.first.exit(Instant::new(self.now), process);
                self.second.exit(Instant::new(self.now), process);
            }
            7..=13 => self.dequeue(),
            _ => self.pass(),
        }
        self.compare();
    }
}

impl Drop for Lockstep {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("under {}", self.readings);
        }
    }
}

#[test]
fn the_discipline_decides_as_the_rules_do() {
    for bits in 0..8 {
        let [at_dispatch, ahead, keep] = [1, 2, 4].map(|bit| bits & bit != 0);
        let reading = Reading { at_dispatch, ahead, keep, all_unused: false, scale: 1 };
        for seed in 0..60 {
            let mut lockstep = Lockstep::new(reading, 1_000 * bits + seed);
            (0..2_000).for_each(|_| lockstep.step());
        }
    }
}
