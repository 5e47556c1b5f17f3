//! The clock of a daemon: nanoseconds since it began, which never go back.

use rustix::time::{ClockId, clock_gettime};
use weir_core::units::{Instant, Nanos};

/// A clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: u64,
}

/// Nanoseconds of the system's clock that never goes back.
fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

impl Clock {
    /// A clock that begins now.
    #[must_use]
    pub fn start() -> Self {
        Self { began: monotonic() }
    }

    /// The time since it began.
    #[must_use]
    #[inline]
    pub fn now(self) -> Instant {
        Instant::new(monotonic() - self.began)
    }

    /// How long it is until then; nothing where that is past.
    #[must_use]
    pub fn until(self, then: Instant) -> Nanos {
        Nanos::new(then.get().saturating_sub(self.now().get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on() {
        let clock = Clock::start();
        let (first, second) = (clock.now(), clock.now());
        assert!(first <= second);
        assert_eq!(clock.until(first), Nanos::new(0));
        assert!(clock.until(Instant::new(u64::MAX)).get() > 0);
    }
}
