//! A clock for tests, which stands still until it is waited on.

use std::cell::Cell;

use weir_core::units::Instant;

use super::clock::Clock;
use super::wall::WallTime;

/// The start of every run, in nanoseconds since 1970.
pub(crate) const START: u64 = 1_000_000_000_000_000_000;

/// A clock that moves when it is waited on, and whose wall clock can be set.
pub(crate) struct FakeClock {
    pub(crate) time: Cell<u64>,
    /// By how much each wait ends late.
    pub(crate) late: Cell<u64>,
    pub(crate) stopped: Cell<bool>,
    /// By how much the wall clock was set forward, in nanoseconds.
    pub(crate) set: Cell<u64>,
}

impl FakeClock {
    pub(crate) fn new() -> Self {
        Self { time: Cell::new(0), late: Cell::new(0), stopped: Cell::new(false), set: Cell::new(0) }
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Instant {
        Instant::new(self.time.get())
    }
    fn wall(&self) -> WallTime {
        WallTime::new(START + self.time.get() + self.set.get()).unwrap()
    }
    fn wait(&self, until: Instant) {
        self.time.set(until.get().max(self.time.get()) + self.late.get());
    }
    fn stopped(&self) -> bool {
        self.stopped.get()
    }
}
