//! Delays over time: the mean and the longest of successive steps of one replication, for a picture of the run.
//!
//! A run is cut into steps of a power of two nanoseconds, so that a step is found by a shift; there are more than half of
//! [`MOST_STEPS`], unless the run has fewer nanoseconds. A delay belongs to the step in which its item came. This is one
//! sample path and no estimate: it has no interval.
//!
//! | | |
//! |-|-|
//! | Work | O(1) a delay |
//! | Memory | at most [`MOST_STEPS`] × [`MOST_CLASSES`] steps, whatever the length of the run |
//! | Units | nanoseconds in, seconds out |

use serde::Serialize;
use weir_core::units::{Instant, Nanos};

use super::figure::ALL;

/// The most steps that a run is cut into.
pub const MOST_STEPS: u64 = 128;
/// Of more classes only all together are kept.
pub const MOST_CLASSES: usize = 8;

const SECOND: f64 = 1e9;

/// What came in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Step {
    count: u64,
    sum: u128,
    longest: u64,
}

impl Step {
    fn merged(self, other: &Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            longest: self.longest.max(other.longest),
        }
    }
}

/// The delays of one replication, step by step; the default keeps none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverTime {
    shift: u32,
    /// The last of those that are kept apart: classes, or all of them as one.
    last: usize,
    /// Step by step, class by class.
    steps: Vec<Step>,
}

/// The delays of a class under a discipline, step by step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DelayOverTime {
    /// The discipline.
    pub discipline: String,
    /// The class; `all` for all of them.
    pub class: String,
    /// `s`.
    pub unit: &'static str,
    /// The length of a step, in seconds; the first begins at 0.
    pub step: f64,
    /// The mean delay of what came in each step; `None` where nothing did.
    pub mean: Vec<Option<f64>>,
    /// The longest.
    pub longest: Vec<Option<f64>>,
}

impl OverTime {
    /// Nothing yet, of a run of this duration with `classes` classes.
    #[must_use]
    pub fn new(duration: Nanos, classes: usize) -> Self {
        let duration = duration.get();
        let shift = (0..u64::BITS).find(|shift| duration >> shift < MOST_STEPS).unwrap_or_default();
        let last = if classes > MOST_CLASSES { 0 } else { classes.saturating_sub(1) };
        let steps = (duration >> shift) as usize + 1;
        Self { shift, last, steps: vec![Step::default(); steps * (last + 1)] }
    }

    /// An item of a class came at this time and was delayed this long.
    #[inline]
    pub fn record(&mut self, at: Instant, class: usize, delay: u64) {
        let place = (at.get() >> self.shift) as usize;
        let place = place.saturating_mul(self.last + 1).saturating_add(class.min(self.last));
        if let Some(step) = self.steps.get_mut(place) {
            step.count += 1;
            step.sum += u128::from(delay);
            step.longest = step.longest.max(delay);
        }
    }

    /// As [`Self::record`] of each of several items.
    pub fn record_all(&mut self, at: &[u64], classes: &[u16], delays: &[u64]) {
        if self.steps.is_empty() {
            return;
        }
        for ((&at, &class), &delay) in at.iter().zip(classes).zip(delays) {
            self.record(Instant::new(at), usize::from(class), delay);
        }
    }

    /// Of all classes together, then of each where several are kept apart; none where nothing is kept.
    pub fn rows<'n>(
        &self,
        discipline: &str,
        classes: impl IntoIterator<Item = &'n str>,
    ) -> Vec<DelayOverTime> {
        let apart = if self.last > 0 { self.last + 1 } else { 0 };
        let each = classes.into_iter().take(apart).enumerate().map(|(place, name)| (name, Some(place)));
        let all = (!self.steps.is_empty()).then_some((ALL, None));
        all.into_iter().chain(each).map(|(name, class)| self.row(discipline, name, class)).collect()
    }

    fn row(&self, discipline: &str, name: &str, class: Option<usize>) -> DelayOverTime {
        let steps = self.steps.chunks_exact(self.last + 1);
        let steps = steps.map(|step| match class {
            Some(class) => step[class],
            None => step.iter().fold(Step::default(), Step::merged),
        });
        let steps: Vec<Step> = steps.collect();
        // To the nanosecond, as times are.
        let mean = |step: &Step| (step.sum as f64 / step.count as f64).round() / SECOND;
        let told = |of: &dyn Fn(&Step) -> f64| -> Vec<Option<f64>> {
            steps.iter().map(|step| (step.count > 0).then(|| of(step))).collect()
        };
        DelayOverTime {
            discipline: discipline.to_owned(),
            class: name.to_owned(),
            unit: "s",
            step: (1_u64 << self.shift) as f64 / SECOND,
            mean: told(&mean),
            longest: told(&|step| step.longest as f64 / SECOND),
        }
    }
}

crate::encode! {
    Step { count, sum, longest }
    OverTime { shift, last, steps }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c1_delays_belong_to_the_step_in_which_an_item_came() {
        // 1000 ns: steps of 8, 126 of them, the last begun at 1000.
        let mut kept = OverTime::new(Nanos::new(1_000), 2);
        for (at, class, delay) in [(0, 0, 4), (7, 1, 8), (8, 1, 1), (1_000, 0, 3), (5_000, 0, 9)] {
            kept.record(Instant::new(at), class, delay);
        }
        let rows = kept.rows("fifo", ["a", "b"]);
        assert_eq!(rows.iter().map(|row| row.class.as_str()).collect::<Vec<_>>(), ["all", "a", "b"]);
        assert_eq!((rows[0].step, rows[0].mean.len()), (8e-9, 126));
        assert_eq!(rows[0].mean[..3], [Some(6e-9), Some(1e-9), None]);
        assert_eq!(rows[0].longest[..3], [Some(8e-9), Some(1e-9), None]);
        assert_eq!((rows[0].mean[125], rows[1].mean[0], rows[1].mean[1]), (Some(3e-9), Some(4e-9), None));
        assert_eq!(rows[2].mean[..2], [Some(8e-9), Some(1e-9)]);
    }

    #[test]
    fn c1_memory_has_a_bound() {
        for duration in [0, 1, 127, 128, 129, 1 << 40, u64::MAX] {
            for classes in [0, 1, 8, 9, 1_000] {
                let mut kept = OverTime::new(Nanos::new(duration), classes);
                assert!(kept.steps.len() <= MOST_STEPS as usize * MOST_CLASSES, "{duration} {classes}");
                assert!(
                    duration < MOST_STEPS || kept.steps.len() / (kept.last + 1) > MOST_STEPS as usize / 2
                );
                kept.record(Instant::new(duration), classes.saturating_sub(1), 1);
                assert_eq!(kept.rows("fifo", [])[0].longest.last(), Some(&Some(1e-9)));
            }
        }
    }

    #[test]
    fn the_default_keeps_nothing() {
        let mut kept = OverTime::default();
        kept.record(Instant::ZERO, 3, 1);
        assert!(kept.rows("fifo", ["a", "b"]).is_empty());
    }
}
