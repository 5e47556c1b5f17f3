//! Time stamps of the kernel on the clock of the schedule.
//!
//! The kernel stamps packets with `CLOCK_REALTIME`. What it is ahead of `CLOCK_MONOTONIC` changes when somebody sets it,
//! and at no other time: both are made faster and slower together. So a change that is larger than the two can be read
//! apart is a step, and is counted.
//!
//! | | |
//! |-|-|
//! | Source | this project; clock_gettime(2), adjtimex(2) |
//! | Work | up to five times three readings |
//! | Units | nanoseconds |
//! | Departs from the source | a stamp from before a step that is read after it is wrong by the step; it shows as one that is outside of what is possible, and is not used |

use weir_core::units::{Instant, Nanos};

use crate::generator::clock::Clock;
use crate::generator::wall::WallTime;

/// How often the clocks are read to find two readings close together.
const TRIES: usize = 5;
/// Readings this close are close enough.
const CLOSE: Nanos = Nanos::new(1_000);

/// How the two clocks stand to each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walls {
    /// What the wall clock is ahead by, in nanoseconds.
    ahead: i64,
    steps: Steps,
}

/// How the wall clock was set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Steps {
    /// How often.
    pub(super) count: u32,
    /// By how much in all, without signs.
    pub(super) moved: Nanos,
}

/// Both clocks, read one after the other.
struct Reading {
    /// What the wall clock is ahead by, in nanoseconds.
    ahead: i64,
    /// How exactly that is known.
    apart: Nanos,
}

impl Walls {
    pub(super) fn new(clock: &impl Clock) -> Self {
        Self { ahead: Reading::take(clock).ahead, steps: Steps::default() }
    }

    /// Notices whether the wall clock was set.
    pub(super) fn look(&mut self, clock: &impl Clock) {
        let Reading { ahead, apart } = Reading::take(clock);
        let moved = Nanos::new(ahead.abs_diff(self.ahead));
        if moved > apart + CLOSE {
            self.steps.count = self.steps.count.saturating_add(1);
            self.steps.moved = Nanos::new(self.steps.moved.get().saturating_add(moved.get()));
            self.ahead = ahead;
        }
    }

    /// A time stamp on the clock of the schedule.
    pub(super) fn instant(&self, stamp: WallTime) -> Instant {
        let at = stamp.nanos().cast_signed() - self.ahead;
        Instant::new(u64::try_from(at).unwrap_or(0))
    }

    /// How the wall clock was set.
    pub(super) const fn steps(&self) -> Steps {
        self.steps
    }
}

impl Reading {
    /// The closest of a few.
    fn take(clock: &impl Clock) -> Self {
        let mut best = Self::once(clock);
        for _ in 1..TRIES {
            if best.apart <= CLOSE {
                break;
            }
            let next = Self::once(clock);
            best = if next.apart < best.apart { next } else { best };
        }
        best
    }

    fn once(clock: &impl Clock) -> Self {
        let (before, wall, after) = (clock.now(), clock.wall(), clock.now());
        let apart = after.since(before);
        let middle = before.get() + apart.get() / 2;
        // Both are below 2^62.
        Self { ahead: wall.nanos().cast_signed() - middle.cast_signed(), apart }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::testing::FakeClock;

    #[test]
    fn a_step_of_the_wall_clock_is_noticed() {
        let steps = |count, moved| Steps { count, moved: Nanos::new(moved) };
        let clock = FakeClock::new();
        let mut walls = Walls::new(&clock);
        clock.time.set(5_000);
        walls.look(&clock);
        assert_eq!((walls.steps(), walls.instant(clock.wall())), (steps(0, 0), Instant::new(5_000)));
        clock.set.set(3_000_000);
        assert_eq!(walls.instant(clock.wall()), Instant::new(3_005_000));
        walls.look(&clock);
        assert_eq!((walls.steps(), walls.instant(clock.wall())), (steps(1, 3_000_000), Instant::new(5_000)));
        clock.set.set(0);
        walls.look(&clock);
        assert_eq!(walls.steps(), steps(2, 6_000_000));
    }
}
