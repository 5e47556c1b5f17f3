//! How a running task learns that it should give way: one flag a worker, which the timer thread, a post from another
//! thread, or a wake-up of a task of a higher level sets.
//!
//! The flag is read by whoever computes for long, in every turn of a loop, so it costs one load and one compare.
//! Where something is due soon, it says so, and whoever looks reads the clock: to have the timer thread do that would
//! take two switches to it, which cost more. In a short loop the clock is read once in a number of turns only.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// No moment: nothing is due.
pub(crate) const NEVER: u64 = u64::MAX;

/// The states of the flag: nothing is asked; somebody asks; something is due soon.
const NO: u8 = 0;
const YES: u8 = 1;
const SOON: u8 = 2;
/// Within this many nanoseconds something is due soon: the timer thread takes a part of this to be awake.
const NEAR: u64 = 1_000_000;
/// Turns of a loop that take less than this many nanoseconds are so short that the clock is read in a part of them
/// only, at least once in `MOST_TURNS`.
const SHORT: u64 = 500;
const MOST_TURNS: u32 = 32;

/// What a worker shows to the timer thread, and by what it is asked to give way. Workers' signals live as long as the
/// program, and are used again.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Signal {
    asked: AtomicU8,
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
    /// The worker's own: when its task last read the clock, in one of how many turns it does, and how many are left.
    read: AtomicU64,
    turns: AtomicU32,
    left: AtomicU32,
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
    let signal = OWN.get();
    signal.asked.load(Ordering::Relaxed) != NO && signal.is_asked()
}

impl Signal {
    const fn new() -> Self {
        Self {
            asked: AtomicU8::new(NO),
            due: AtomicU64::new(NEVER),
            began: AtomicU64::new(NEVER),
            polls: AtomicU64::new(0),
            slice_end: AtomicU64::new(NEVER),
            task: AtomicU32::new(0),
            read: AtomicU64::new(0),
            turns: AtomicU32::new(1),
            left: AtomicU32::new(0),
        }
    }

    /// Whether it was asked, or what is due soon is due; of the worker's thread.
    fn is_asked(&self) -> bool {
        if self.asked.load(Ordering::Relaxed) == YES {
            return true;
        }
        let left = self.left.load(Ordering::Relaxed);
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
            return false;
        }
        let now = crate::local::with(|local| local.clock.now()).unwrap_or(0);
        let since = now.saturating_sub(self.read.swap(now, Ordering::Relaxed));
        let turns = self.turns.load(Ordering::Relaxed);
        let turns = if since < SHORT { (2 * turns).min(MOST_TURNS) } else { 1 };
        self.turns.store(turns, Ordering::Relaxed);
        self.left.store(turns - 1, Ordering::Relaxed);
        now >= self.due()
    }

    /// Whether the running task itself sees when this is due, `now` being the time; otherwise it is to be asked.
    #[inline]
    pub(crate) fn is_near(&self, now: u64, due: u64) -> bool {
        let near = due.saturating_sub(now) < NEAR;
        let (from, to) = if near { (NO, SOON) } else { (SOON, NO) };
        if self.asked.load(Ordering::Relaxed) == from {
            // Somebody may ask in this moment: that stands.
            let _ = self.asked.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
        }
        near
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
        self.asked.store(YES, Ordering::Release);
    }

    /// What was asked for is seen to from here on.
    #[inline]
    pub(crate) fn heed(&self) {
        if self.asked.load(Ordering::Relaxed) == YES {
            // Whoever asked has left what it is about before: it is seen after this.
            self.asked.swap(NO, Ordering::Acquire);
        }
    }

    /// When the running task is to be asked to give way.
    #[inline]
    pub(crate) fn set_due(&self, due: u64) {
        self.due.store(due, Ordering::Relaxed);
    }

    pub(crate) fn slice_end(&self) -> u64 {
        self.slice_end.load(Ordering::Relaxed)
    }

    pub(crate) fn due(&self) -> u64 {
        self.due.load(Ordering::Relaxed)
    }

    /// A poll of `task` begins at `now`; it is to give way at `due`.
    #[inline]
    pub(crate) fn begins(&self, task: u32, now: u64, due: u64, slice_end: u64) {
        self.slice_end.store(slice_end, Ordering::Relaxed);
        self.left.store(0, Ordering::Relaxed);
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
