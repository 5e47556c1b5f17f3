//! How much of many spans lies in each of successive windows: the area under a count of what is there, for means over time.
//!
//! A span adds what it covers of its first and its last window; the windows between count by where spans begin and end. So a span
//! costs the same however many windows it covers. Spans may come in any order. What lies behind the last window is left out.
//!
//! | | |
//! |-|-|
//! | Work | O(1) a span, O(windows) at the end |
//! | Memory | 24 bytes a window |
//! | Units | nanoseconds |

/// The areas of windows of equal length, of which the last may be cut off by the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Areas {
    length: u64,
    end: u64,
    /// By how much each window differs from the one before it times its length.
    parts: Vec<i128>,
    /// How many more spans cover this window whole than the one before.
    changes: Vec<i64>,
}

impl Areas {
    /// No span yet, of windows of this length from 0 up to `end`.
    #[must_use]
    pub fn new(length: u64, end: u64) -> Self {
        let length = length.max(1);
        let windows = usize::try_from(end.div_ceil(length)).unwrap_or(usize::MAX);
        Self { length, end, parts: vec![0; windows], changes: vec![0; windows] }
    }

    /// Adds what lies in `from..until`.
    #[inline]
    pub fn add(&mut self, from: u64, until: u64) {
        let until = until.min(self.end);
        if from >= until {
            return;
        }
        self.step(from, 1);
        self.step(until, -1);
    }

    /// Changes the number by `more` from `at` on: for spans whose ends are known one after the other.
    #[inline]
    pub fn change(&mut self, at: u64, more: i64) {
        if at < self.end {
            self.step(at, more);
        }
    }

    fn step(&mut self, at: u64, more: i64) {
        let window = (at / self.length) as usize;
        let Some(part) = self.parts.get_mut(window) else { return };
        // The rest of its window, up to the end of it or of all.
        let ends = (window as u64 + 1).saturating_mul(self.length).min(self.end);
        *part += i128::from(ends - at) * i128::from(more);
        if let Some(change) = self.changes.get_mut(window + 1) {
            *change += more;
        }
    }

    /// The mean count in each window.
    #[must_use]
    pub fn means(&self) -> Vec<f64> {
        let mut there = 0_i64;
        let windows = self.parts.iter().zip(&self.changes).enumerate();
        windows
            .map(|(window, (part, change))| {
                there += change;
                let length = self.length.min(self.end - window as u64 * self.length);
                (i128::from(there) * i128::from(length) + part) as f64 / length as f64
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spans_cover_windows_whole_and_in_part() {
        let mut areas = Areas::new(10, 35);
        areas.add(5, 25);
        areas.add(12, 14);
        areas.add(30, 100);
        areas.add(40, 50);
        areas.add(7, 7);
        assert_eq!(areas.means(), [0.5, 1.2, 0.5, 1.0]);
    }

    #[test]
    fn a_span_may_come_as_its_two_ends() {
        let (mut spans, mut ends) = (Areas::new(10, 35), Areas::new(10, 35));
        for (from, until) in [(5, 25), (12, 14), (30, 100), (37, 39)] {
            spans.add(from, until);
            ends.change(from, 1);
            ends.change(until, -1);
        }
        assert_eq!(spans.means(), ends.means());
    }

    proptest! {
        #[test]
        fn means_are_those_of_counting_by_hand(
            spans in prop::collection::vec((0..80_u64, 0..80_u64), 0..20),
            length in 1..20_u64,
            end in 1..70_u64,
        ) {
            let mut areas = Areas::new(length, end);
            spans.iter().for_each(|(from, until)| areas.add(*from, *until));
            let there = |at: u64| spans.iter().filter(|(from, until)| (*from..*until).contains(&at)).count();
            let means = areas.means();
            prop_assert_eq!(means.len() as u64, end.div_ceil(length));
            for (window, mean) in means.into_iter().enumerate() {
                let from = window as u64 * length;
                let until = (from + length).min(end);
                let sum: usize = (from..until).map(there).sum();
                prop_assert!((mean - sum as f64 / (until - from) as f64).abs() < 1e-9);
            }
        }
    }
}
