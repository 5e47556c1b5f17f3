//! The workers of a daemon besides the one that runs in its first thread: each in a thread of its own.
//!
//! They share nothing while packets move but the lanes between them. What is asked of the daemon as a whole, such as what
//! was counted or another configuration, is done while they stand still: each stops at the end of its turn, and goes on
//! where it was, so that it is as if there were one.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | a load a turn; to stop all, a turn of the slowest of them |

use core::sync::atomic::{AtomicBool, Ordering};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use weir_core::units::Nanos;

use super::clock::Clock;
use super::passage::Door;
use super::privileges;
use super::worker::Worker;

/// The longest that a worker sleeps without looking up, in nanoseconds.
const LONGEST_REST: u64 = 1_000_000_000;

/// What all of them read.
#[derive(Debug, Default)]
struct Signals {
    /// They are to stand still.
    halt: AtomicBool,
    /// They are to end.
    end: AtomicBool,
}

/// One of them.
struct Mate {
    worker: Arc<(Mutex<Worker>, Condvar)>,
    door: Arc<Door>,
    thread: JoinHandle<io::Result<()>>,
}

/// See above; none where one worker does it all.
#[derive(Default)]
pub struct Crew {
    signals: Arc<Signals>,
    mates: Vec<Mate>,
}

impl Crew {
    /// Starts these workers, with the priority of this thread.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(workers: Vec<Worker>, clock: Clock) -> io::Result<Self> {
        let mut crew = Self::default();
        for (number, worker) in (2..).zip(workers) {
            let door = worker.door();
            let worker = Arc::new((Mutex::new(worker), Condvar::new()));
            let (own, signals) = (Arc::clone(&worker), Arc::clone(&crew.signals));
            let run = move || {
                privileges::renounce();
                run(&own, &signals, clock)
            };
            let thread = Builder::new().name(format!("worker {number}")).spawn(run)?;
            crew.mates.push(Mate { worker, door, thread });
        }
        Ok(crew)
    }

    /// Has all stand still, until what is returned is dropped.
    ///
    /// # Errors
    /// One of them has ended.
    pub fn halt(&self) -> io::Result<Halted<'_>> {
        self.signals.halt.store(true, Ordering::SeqCst);
        self.mates.iter().for_each(|mate| mate.door.bell.ring());
        let halted = Halted { crew: self, workers: self.mates.iter().map(|mate| mate.lock()).collect() };
        if self.mates.iter().any(|mate| mate.thread.is_finished()) {
            return Err(io::Error::other("a thread that moved packets has ended early"));
        }
        Ok(halted)
    }

    /// Ends them; the workers come back.
    ///
    /// # Errors
    /// One of them had ended early, for this reason.
    pub fn end(self) -> io::Result<Vec<Worker>> {
        self.signals.end.store(true, Ordering::SeqCst);
        let mut workers = Vec::new();
        for Mate { worker, door, thread } in self.mates {
            door.bell.ring();
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread that moved packets panicked")))?;
            let whole =
                |(worker, _): (Mutex<Worker>, _)| worker.into_inner().unwrap_or_else(PoisonError::into_inner);
            workers.extend(Arc::into_inner(worker).map(whole));
        }
        Ok(workers)
    }
}

impl Mate {
    fn lock(&self) -> MutexGuard<'_, Worker> {
        self.worker.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Workers that stand still.
pub struct Halted<'a> {
    crew: &'a Crew,
    workers: Vec<MutexGuard<'a, Worker>>,
}

impl Halted<'_> {
    /// The workers.
    pub fn workers(&mut self) -> impl Iterator<Item = &mut Worker> {
        self.workers.iter_mut().map(|worker| &mut **worker)
    }
}

impl Drop for Halted<'_> {
    fn drop(&mut self) {
        // While all are locked: whoever looks at it afterwards does not wait.
        self.crew.signals.halt.store(false, Ordering::SeqCst);
        self.workers.clear();
        self.crew.mates.iter().for_each(|mate| mate.worker.1.notify_all());
    }
}

/// Moves packets until it is to end.
fn run(worker: &(Mutex<Worker>, Condvar), signals: &Signals, clock: Clock) -> io::Result<()> {
    let mut own = worker.0.lock().unwrap_or_else(PoisonError::into_inner);
    while !signals.end.load(Ordering::Relaxed) {
        if signals.halt.load(Ordering::Relaxed) {
            let halted = |_: &mut Worker| signals.halt.load(Ordering::SeqCst);
            own = worker.1.wait_while(own, halted).unwrap_or_else(PoisonError::into_inner);
        }
        let now = clock.now();
        if !own.turn(now) {
            let stays = || !signals.halt.load(Ordering::SeqCst) && !signals.end.load(Ordering::SeqCst);
            own.rest(now, now + Nanos::new(LONGEST_REST), &[], stays)?;
        }
    }
    Ok(())
}
