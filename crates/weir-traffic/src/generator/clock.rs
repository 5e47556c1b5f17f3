//! Two clocks: one that departures are scheduled by and one that the log is written in.
//!
//! Departures follow `CLOCK_MONOTONIC`, which nobody sets. The log has `CLOCK_REALTIME`: scripts start at multiples of
//! it, the kernel stamps arrivals with it, and one-way delays compare it between hosts; `CLOCK_TAI` would spare leap
//! seconds, but few hosts have its offset set. How far the two have moved apart over a run is reported at its end.
//!
//! A wait sleeps until shortly before its end and spins for the rest, as timers are 15 µs late in the median. A
//! real-time thread that leaves the others less than a twentieth of the time is stopped by the kernel for tens of
//! milliseconds; so one that has slept less than a twelfth sleeps 60 µs where it would have spun.
//!
//! | | |
//! |-|-|
//! | Source | this project; clock_nanosleep(2), prctl(2) about timer slack |
//! | Work | one system call for a wait that is longer than the spinning |
//! | Units | nanoseconds |

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{ClockId as SleepClock, clock_nanosleep_absolute};
use rustix::time::{ClockId, Timespec, clock_gettime};
use weir_core::units::{Instant, Nanos};

use super::wall::WallTime;

/// The longest sleep, after which a generator sees to what else there is to do.
pub const LONGEST_SLEEP: Nanos = Nanos::new(100_000_000);

/// The time, and waiting.
pub trait Clock {
    /// The present on the clock of the schedule.
    fn now(&self) -> Instant;
    /// The present on the clock of the log.
    fn wall(&self) -> WallTime;
    /// Waits until `until`, or a shorter time where a signal comes or that is far away.
    fn wait(&self, until: Instant);
    /// Whether somebody has asked to end.
    fn stopped(&self) -> bool;
}

/// The clocks of the system.
#[derive(Debug)]
pub struct SystemClock<'s> {
    spin: Nanos,
    stop: &'s AtomicBool,
    /// Whether the thread has a real-time priority.
    real_time: bool,
    /// When a wait ended last.
    waited: Cell<Instant>,
    /// How much sleep is owed to other threads by then.
    owed: Cell<Nanos>,
}

/// A real-time thread owes others one part in this many of its time.
const OTHERS: u64 = 12;
/// It pays when it owes as much as this.
const PAYMENT: Nanos = Nanos::new(60_000);

impl<'s> SystemClock<'s> {
    /// Waits spin for the last `spin`; `stop` tells that somebody has asked to end.
    #[must_use]
    pub const fn new(spin: Nanos, stop: &'s AtomicBool, real_time: bool) -> Self {
        let (waited, owed) = (Cell::new(Instant::ZERO), Cell::new(Nanos::new(0)));
        Self { spin, stop, real_time, waited, owed }
    }

    /// How long a wait that begins now is to sleep at least.
    fn payment(&self, now: Instant) -> Nanos {
        if !self.real_time {
            return Nanos::new(0);
        }
        // After a stop by the kernel nothing more is owed than once.
        let spent = now.since(self.waited.get()).get() / OTHERS;
        self.owed.set(Nanos::new(self.owed.get().get().saturating_add(spent).min(PAYMENT.get())));
        if self.owed.get() >= PAYMENT { PAYMENT } else { Nanos::new(0) }
    }

    fn sleep(&self, now: Instant, span: Nanos) {
        let wake = now + span;
        let (seconds, rest) = (wake.get() / SECOND, wake.get() % SECOND);
        let at = Timespec { tv_sec: seconds.cast_signed(), tv_nsec: rest.cast_signed() };
        // A signal ends the sleep, which is what it is for.
        let _ = clock_nanosleep_absolute(SleepClock::Monotonic, &at);
        self.owed.set(Nanos::new(self.owed.get().get().saturating_sub(self.now().since(now).get())));
    }
}

const SECOND: u64 = 1_000_000_000;

fn nanos_of(time: Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(SECOND).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// The present on the clock of the system that logs are written in.
#[must_use]
pub fn wall() -> WallTime {
    // A clock that is set beyond 2096 stands at 1970: the start is then refused.
    WallTime::new(nanos_of(clock_gettime(ClockId::Realtime))).unwrap_or_default()
}

impl Clock for SystemClock<'_> {
    #[inline]
    fn now(&self) -> Instant {
        Instant::new(nanos_of(clock_gettime(ClockId::Monotonic)))
    }

    #[inline]
    fn wall(&self) -> WallTime {
        wall()
    }

    fn wait(&self, until: Instant) {
        let now = self.now();
        let sleep = until.since(now).get().saturating_sub(self.spin.get()).max(self.payment(now).get());
        let sleep = Nanos::new(sleep).min(LONGEST_SLEEP);
        if sleep > Nanos::new(0) {
            self.sleep(now, sleep);
        }
        if now + sleep + self.spin >= until {
            while self.now() < until && !self.stopped() {
                core::hint::spin_loop();
            }
        }
        self.waited.set(self.now());
    }

    #[inline]
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// How far a point of the wall clock is from the start of a script, in nanoseconds.
#[must_use]
pub fn from_start(time: WallTime, start: WallTime) -> i64 {
    // Both are below 2^62.
    time.nanos().cast_signed() - start.nanos().cast_signed()
}
