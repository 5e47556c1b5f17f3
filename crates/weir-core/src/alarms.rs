//! Which of many timers falls due first: a tournament of instants.
//!
//! Whoever has at most one timer for each of a fixed number of things (the classes of a link, the neighbours of an
//! interface) finds the earliest without looking at the others.
//!
//! | | |
//! |-|-|
//! | Source | Knuth, *The Art of Computer Programming* 3, 1973, section 5.4.1 (tournaments) |
//! | Work | the earliest O(1); a change, and who it is, O(log timers) |
//! | Units | nanoseconds |
//! | Memory | 16 to 32 bytes a timer; no allocation after the start |

use crate::units::Instant;

/// Never.
const NEVER: u64 = u64::MAX;

/// One timer for each of a fixed number of things.
#[derive(Clone, Debug)]
pub struct Alarms {
    /// The winner of each match, its final first; then those who take part.
    least: Vec<u64>,
}

impl Alarms {
    /// Makes `timers` timers, none of which is set.
    #[must_use]
    pub fn new(timers: usize) -> Self {
        Self { least: vec![NEVER; 2 * timers.next_power_of_two()] }
    }

    /// Sets a timer, or calls it off; the first of them is number 0.
    #[inline]
    pub fn set(&mut self, timer: usize, at: Option<Instant>) {
        let mut place = self.least.len() / 2 + timer;
        self.least[place] = at.map_or(NEVER, Instant::get);
        while place > 1 {
            let least = self.least[place].min(self.least[place ^ 1]);
            place /= 2;
            if self.least[place] == least {
                return;
            }
            self.least[place] = least;
        }
    }

    /// When the earliest falls due.
    #[must_use]
    #[inline]
    pub fn earliest(&self) -> Option<Instant> {
        (self.least[1] != NEVER).then(|| Instant::new(self.least[1]))
    }

    /// The earliest timer, if it is due; of several the first.
    #[must_use]
    #[inline]
    pub fn due(&self, now: Instant) -> Option<usize> {
        let (least, half) = (self.least[1], self.least.len() / 2);
        if least > now.get() || least == NEVER {
            return None;
        }
        let mut place = 1;
        while place < half {
            place = 2 * place + usize::from(self.least[2 * place] != least);
        }
        Some(place - half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_is_that_of_a_search() {
        const TIMERS: usize = 11;
        let (mut alarms, mut plain, mut state) = (Alarms::new(TIMERS), [None; TIMERS], 7_u64);
        for _ in 0..10_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (timer, at) = ((state >> 40) as usize % TIMERS, (state >> 50) % 9);
            plain[timer] = (at > 0).then(|| Instant::new(at));
            alarms.set(timer, plain[timer]);
            let earliest = plain.iter().flatten().min().copied();
            assert_eq!(alarms.earliest(), earliest);
            let due = earliest
                .filter(|at| at.get() <= 4)
                .and_then(|at| plain.iter().position(|of| *of == Some(at)));
            assert_eq!(alarms.due(Instant::new(4)), due);
        }
    }

    #[test]
    fn one_timer_is_a_tournament_too() {
        let mut alarms = Alarms::new(1);
        assert_eq!((alarms.earliest(), alarms.due(Instant::new(9))), (None, None));
        alarms.set(0, Some(Instant::new(3)));
        assert_eq!((alarms.due(Instant::new(2)), alarms.due(Instant::new(3))), (None, Some(0)));
    }
}
