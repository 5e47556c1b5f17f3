//! How a running task learns that it should give way: one flag a worker, which the timer thread, a post from another
//! thread, or a wake-up of a task of a higher level sets.
//!
//! The flag is looked at by whoever computes for long, in every turn of a loop, so it costs one load and one compare.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// No moment: nothing is due.
pub(crate) const NEVER: u64 = u64::MAX;

/// What a worker shows to the timer thread, and by what it is asked to give way. Workers' signals live as long as the
/// program, and are used again.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Signal {
    asked: AtomicBool,
    /// When the running task is to be asked, in nanoseconds of the executor's clock.
    due: AtomicU64,
    /// When the poll that runs began; [`NEVER`] where none does.
    began: AtomicU64,
    /// How many polls began.
    polls: AtomicU64,
    /// When the slice of the task that is polled ends.
    slice_end: AtomicU64,
    /// The task that is polled.
    task: AtomicU32,
}

/// What the timer thread sees of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) due: u64,
    pub(crate) began: u64,
    pub(crate) polls: u64,
    pub(crate) slice_end: u64,
    pub(crate) task: u32,
}

/// The signal of a thread that is no worker.
static NOBODYS: Signal = Signal::new();

thread_local! {
    static OWN: Cell<&'static Signal> = const { Cell::new(&NOBODYS) };
}

/// Whether the running task should give way: its slice is over, a task of a higher level is ready, or something is due
/// that only the worker can see to. `false` outside of a worker.
///
/// A task that computes for long asks in its loop, and awaits [`yield_now`](crate::yield_now) when it is so.
#[must_use]
#[inline]
pub fn should_yield() -> bool {
    OWN.get().asked.load(Ordering::Relaxed)
}

impl Signal {
    const fn new() -> Self {
        Self {
            asked: AtomicBool::new(false),
            due: AtomicU64::new(NEVER),
            began: AtomicU64::new(NEVER),
            polls: AtomicU64::new(0),
            slice_end: AtomicU64::new(NEVER),
            task: AtomicU32::new(0),
        }
    }

    /// Makes a signal for a worker. A worker's signal outlives it: whoever still holds it asks in vain.
    pub(crate) fn leaked() -> &'static Self {
        Box::leak(Box::new(Self::new()))
    }

    /// Makes it the signal of this thread, or, with `None`, this thread one without.
    pub(crate) fn install(signal: Option<&'static Self>) {
        OWN.set(signal.unwrap_or(&NOBODYS));
    }

    /// Asks the running task to give way.
    #[inline]
    pub(crate) fn ask(&self) {
        self.asked.store(true, Ordering::Release);
    }

    /// What was asked for is seen to from here on.
    #[inline]
    pub(crate) fn heed(&self) {
        if self.asked.load(Ordering::Relaxed) {
            // Whoever asked has left what it is about before: it is seen after this.
            self.asked.swap(false, Ordering::Acquire);
        }
    }

    /// When the running task is to be asked to give way.
    #[inline]
    pub(crate) fn set_due(&self, due: u64) {
        self.due.store(due, Ordering::Relaxed);
    }

    pub(crate) fn due(&self) -> u64 {
        self.due.load(Ordering::Relaxed)
    }

    /// A poll of `task` begins at `now`; it is to give way at `due`.
    #[inline]
    pub(crate) fn begins(&self, task: u32, now: u64, due: u64, slice_end: u64) {
        self.slice_end.store(slice_end, Ordering::Relaxed);
        self.task.store(task, Ordering::Relaxed);
        self.due.store(due, Ordering::Relaxed);
        self.polls.store(self.polls.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.began.store(now, Ordering::Release);
    }

    /// No task runs; the worker is to be woken at `due`.
    #[inline]
    pub(crate) fn rests(&self, due: u64) {
        self.began.store(NEVER, Ordering::Release);
        self.due.store(due, Ordering::Relaxed);
    }

    /// What the worker does now.
    pub(crate) fn seen(&self) -> Seen {
        let began = self.began.load(Ordering::Acquire);
        Seen {
            due: self.due(),
            began,
            polls: self.polls.load(Ordering::Relaxed),
            slice_end: self.slice_end.load(Ordering::Relaxed),
            task: self.task.load(Ordering::Relaxed),
        }
    }
}
