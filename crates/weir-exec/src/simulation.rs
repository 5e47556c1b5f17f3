//! Tasks under a simulated clock: the same worker, discipline and futures, where time passes only as they compute.
//!
//! It tells what a schedule will be without waiting for it, and is held against the model of the node decision by
//! decision. Time is whole nanoseconds; nothing but [`compute`] takes any.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::clock::Clock;
use crate::counters::WorkerCounts;
use crate::dispatcher::dispatchers;
use crate::join::JoinHandle;
use crate::local::{self, Current, Local};
use crate::observe::{Observe, Polled};
use crate::report::{Report, Reports};
use crate::shared::Shared;
use crate::spawning::spawn_on;
use crate::terms::{Terms, nanos};
use crate::time::{Moment, here};
use crate::timers::Alarm;
use crate::worker::{Turn, Worker};
use crate::yields::yield_now;
use weir_core::spec::SpecError;

/// A span in which a task ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The number of the task, in the order in which tasks were spawned while none had ended.
    pub task: u32,
    /// The level of the queue on which it ran; `None` under a discipline without levels.
    pub level: Option<i8>,
    /// From when.
    pub from: Moment,
    /// Until when.
    pub until: Moment,
}

/// One worker under a simulated clock.
pub struct Simulation {
    worker: Worker,
    now: Rc<Cell<u64>>,
    ran: Rc<RefCell<Vec<Ran>>>,
    _current: Current,
}

impl Simulation {
    /// A worker under this discipline; the thread is that worker for as long as the simulation lives.
    ///
    /// # Errors
    /// The discipline is none.
    pub fn new(discipline: &str) -> Result<Self, SpecError> {
        let dispatcher = dispatchers(discipline, 1)?.pop().expect("as many as were asked for");
        let (now, ran) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())));
        let tell = Rc::clone(&ran);
        let reports = Reports::to(|report: Report| drop(report));
        let clock = Clock::Simulated(Rc::clone(&now));
        let shared = Arc::new(Shared::new(0));
        let local = Local::new(shared, clock, dispatcher, None, Some(Box::new(Notes(tell))), reports);
        let local = Rc::new(local);
        let current = Current::enter(&local);
        Ok(Self { worker: Worker::new(local), now, ran, _current: current })
    }

    /// Spawns a task. Those that are spawned before anything runs are all admitted before any is ready.
    pub fn spawn<F>(&self, terms: Terms, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn_on(&self.worker.local.shared, terms, move || future)
    }

    /// Runs until this time, or until nothing is ready and nothing is due.
    pub fn run_until(&mut self, end: Moment) {
        // Whoever computes then gives way.
        self.worker.local.set_alarm(end.0, Alarm::Post(Box::new(|| {})));
        while self.now.get() < end.0 {
            match self.worker.turn(|now| now >= end.0) {
                Turn::Over | Turn::Reactor => return,
                Turn::Idle(due) => self.now.set(due.min(end.0)),
            }
        }
    }

    /// Where each task ran so far, in order; adjacent spans are one.
    #[must_use]
    pub fn ran(&self) -> Vec<Ran> {
        self.ran.borrow().clone()
    }

    /// The tasks that have not ended.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.worker.local.shared.tasks.load(Ordering::SeqCst)
    }

    /// What was counted so far.
    #[must_use]
    pub fn counts(&self) -> WorkerCounts {
        self.worker.local.counts()
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        self.worker.local.clear();
    }
}

/// Notes where tasks ran.
struct Notes(Rc<RefCell<Vec<Ran>>>);

impl Observe for Notes {
    fn polled(&mut self, polled: Polled) {
        let Polled { task, level, from, until, .. } = polled;
        if from == until {
            return;
        }
        let mut ran = self.0.borrow_mut();
        match ran.last_mut() {
            Some(last) if last.task == task && last.level == level && last.until.0 == from => {
                last.until.0 = until;
            }
            _ => ran.push(Ran { task, level, from: Moment(from), until: Moment(until) }),
        }
    }
}

/// Uses processor time: as a loop would that asks at every nanosecond whether it should give way.
///
/// # Panics
/// The thread runs no simulation.
pub async fn compute(span: Duration) {
    let mut left = nanos(span).get();
    while left > 0 {
        if crate::signal::should_yield() {
            yield_now().await;
        }
        left -= here("compute()", |local| advance(local, left));
    }
}

/// Lets time pass for the running task until something is due, or until it has computed all; returns how much.
fn advance(local: &local::Local, left: u64) -> u64 {
    let Clock::Simulated(now) = &local.clock else {
        panic!("compute() is for simulations: this worker has a real clock");
    };
    let due = local.shared.signal.due();
    let step = left.min(due.saturating_sub(now.get()));
    now.set(now.get() + step);
    if now.get() >= due {
        local.shared.signal.ask();
    }
    step
}
