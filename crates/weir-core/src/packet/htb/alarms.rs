//! When each class may next send in another way: a tournament of instants.
//!
//! | | |
//! |-|-|
//! | Source | Knuth, *The Art of Computer Programming* 3, 1973, section 5.4.1 (tournaments) |
//! | Work | the earliest O(1); a change O(log classes) |
//! | Units | nanoseconds |
//! | Memory | 16 to 32 bytes a class; no allocation after the start |

use crate::units::Instant;

/// Never.
const NEVER: u64 = u64::MAX;

/// See above.
#[derive(Clone, Debug)]
pub(super) struct Alarms {
    /// The winner of each match, its final first; then those who take part.
    least: Vec<u64>,
}

impl Alarms {
    /// So many classes without an alarm.
    pub(super) fn new(classes: usize) -> Self {
        Self { least: vec![NEVER; 2 * classes.next_power_of_two()] }
    }

    /// Sets the alarm of a class, or calls it off.
    #[inline]
    pub(super) fn set(&mut self, class: usize, at: Option<Instant>) {
        let mut place = self.least.len() / 2 + class;
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

    /// The earliest.
    #[inline]
    pub(super) fn earliest(&self) -> Option<Instant> {
        (self.least[1] != NEVER).then(|| Instant::new(self.least[1]))
    }

    /// The class with the earliest alarm, if that is due; of several the first.
    #[inline]
    pub(super) fn due(&self, now: Instant) -> Option<usize> {
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
        const CLASSES: usize = 11;
        let (mut alarms, mut plain, mut state) = (Alarms::new(CLASSES), [None; CLASSES], 7_u64);
        for _ in 0..10_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (class, at) = ((state >> 40) as usize % CLASSES, (state >> 50) % 9);
            plain[class] = (at > 0).then(|| Instant::new(at));
            alarms.set(class, plain[class]);
            let earliest = plain.iter().flatten().min().copied();
            assert_eq!(alarms.earliest(), earliest);
            let due = earliest
                .filter(|at| at.get() <= 4)
                .and_then(|at| plain.iter().position(|of| *of == Some(at)));
            assert_eq!(alarms.due(Instant::new(4)), due);
        }
    }

    #[test]
    fn one_class_is_a_tournament_too() {
        let mut alarms = Alarms::new(1);
        assert_eq!((alarms.earliest(), alarms.due(Instant::new(9))), (None, None));
        alarms.set(0, Some(Instant::new(3)));
        assert_eq!((alarms.due(Instant::new(2)), alarms.due(Instant::new(3))), (None, Some(0)));
    }
}
