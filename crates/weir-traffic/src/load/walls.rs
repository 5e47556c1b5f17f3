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

use weir_core::units::Instant;

use crate::generator::clock::Clock;
use crate::generator::wall::WallTime;

/// So often the clocks are read to find them close together.
const TRIES: usize = 5;
/// Readings this close are close enough, in nanoseconds.
const CLOSE: u64 = 1_000;

/// How the two clocks stand to each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walls {
    /// What the wall clock is ahead by.
    ahead: i64,
    /// How often it was set, and by how much in all, without signs.
    steps: u32,
    moved: u64,
}

impl Walls {
    pub(super) fn new(clock: &impl Clock) -> Self {
        Self { ahead: ahead(clock).0, steps: 0, moved: 0 }
    }

    /// Notices whether the wall clock was set.
    pub(super) fn look(&mut self, clock: &impl Clock) {
        let (ahead, apart) = ahead(clock);
        let moved = ahead.abs_diff(self.ahead);
        if moved > apart + CLOSE {
            self.steps = self.steps.saturating_add(1);
            self.moved = self.moved.saturating_add(moved);
            self.ahead = ahead;
        }
    }

    /// A time stamp on the clock of the schedule.
    pub(super) fn instant(&self, stamp: WallTime) -> Instant {
        let at = stamp.nanos().cast_signed() - self.ahead;
        Instant::new(u64::try_from(at).unwrap_or(0))
    }

    /// How often the wall clock was set, and by how many nanoseconds in all.
    pub(super) const fn steps(&self) -> (u32, u64) {
        (self.steps, self.moved)
    }
}

/// What the wall clock is ahead by, and how exactly that is known.
fn ahead(clock: &impl Clock) -> (i64, u64) {
    let read = || {
        let (before, wall, after) = (clock.now(), clock.wall(), clock.now());
        let apart = after.since(before).get();
        let middle = before.get() + apart / 2;
        // Both are below 2^62.
        (wall.nanos().cast_signed() - middle.cast_signed(), apart)
    };
    let mut best = read();
    for _ in 1..TRIES {
        if best.1 <= CLOSE {
            break;
        }
        let next = read();
        best = if next.1 < best.1 { next } else { best };
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::testing::FakeClock;

    #[test]
    fn a_step_of_the_wall_clock_is_noticed() {
        let clock = FakeClock::new();
        let mut walls = Walls::new(&clock);
        clock.time.set(5_000);
        walls.look(&clock);
        assert_eq!((walls.steps(), walls.instant(clock.wall())), ((0, 0), Instant::new(5_000)));
        clock.set.set(3_000_000);
        assert_eq!(walls.instant(clock.wall()), Instant::new(3_005_000));
        walls.look(&clock);
        assert_eq!((walls.steps(), walls.instant(clock.wall())), ((1, 3_000_000), Instant::new(5_000)));
        clock.set.set(0);
        walls.look(&clock);
        assert_eq!(walls.steps(), (2, 6_000_000));
    }
}
