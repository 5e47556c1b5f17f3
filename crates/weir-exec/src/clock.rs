//! The clock of an executor: nanoseconds since it began, from a monotonic clock or from a simulation.
//!
//! Time in which the whole program was suspended (SIGSTOP, a frozen container, a paused virtual machine) does not
//! pass: the timer thread gives a sign of life ten times a second, and where it gave none for more than a second nothing
//! of the program ran. Otherwise the task that was running then would be charged for it, and sleepers wake in a burst.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the timer thread gives a sign of life at least.
pub(crate) const BEAT: Duration = Duration::from_millis(100);
/// Without a sign of life for longer than this, the program was suspended.
const SUSPENDED: u64 = 1_000_000_000;

/// The clock of an executor.
#[derive(Clone, Debug)]
pub(crate) enum Clock {
    Monotonic(Arc<Monotonic>),
    /// Advanced by what a simulation computes.
    Simulated(Rc<Cell<u64>>),
}

impl Clock {
    /// The time since the executor began, in nanoseconds.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        match self {
            Self::Monotonic(clock) => clock.now(),
            Self::Simulated(now) => now.get(),
        }
    }
}

/// The processor's counter of time, where it can be relied on, or the system's monotonic clock; less the time in which the
/// program was suspended.
#[derive(Debug)]
pub(crate) struct Monotonic {
    clock: quanta::Clock,
    start: u64,
    /// The last sign of life, on the system's clock since the start.
    beat: AtomicU64,
    /// For how long the program was suspended.
    lost: AtomicU64,
    /// Held by who accounts for a suspension.
    accounts: Mutex<()>,
}

impl Monotonic {
    pub(crate) fn new() -> Self {
        let clock = quanta::Clock::new();
        Self {
            start: clock.raw(),
            clock,
            beat: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            accounts: Mutex::new(()),
        }
    }

    #[inline]
    fn system(&self) -> u64 {
        self.clock.delta_as_nanos(self.start, self.clock.raw())
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        let system = self.system();
        if system.saturating_sub(self.beat.load(Ordering::Relaxed)) > SUSPENDED {
            self.resume(system);
        }
        system.saturating_sub(self.lost.load(Ordering::Relaxed))
    }

    /// Gives a sign of life, and returns the time.
    pub(crate) fn beat(&self) -> u64 {
        let now = self.now();
        self.beat.store(self.system(), Ordering::Relaxed);
        now
    }

    /// Accounts for a suspension, if nobody has.
    #[cold]
    fn resume(&self, system: u64) {
        let _accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let gap = system.saturating_sub(self.beat.load(Ordering::Relaxed));
        if gap > SUSPENDED {
            self.lost.fetch_add(gap, Ordering::Relaxed);
            self.beat.store(system, Ordering::Relaxed);
        }
    }

    /// For how long the program was suspended so far.
    pub(crate) fn suspended(&self) -> Duration {
        Duration::from_nanos(self.lost.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspension_does_not_pass_and_is_counted_once() {
        let clock = Monotonic::new();
        clock.resume(10 * SUSPENDED);
        assert_eq!(clock.suspended(), Duration::from_secs(10));
        clock.resume(10 * SUSPENDED);
        assert_eq!(clock.suspended(), Duration::from_secs(10));
        clock.resume(11 * SUSPENDED);
        assert_eq!(clock.suspended(), Duration::from_secs(10), "a second is not long enough to tell");
    }
}
