//! What classes waited over the last while: the difference of what was counted now and then.
//!
//! A policy that is asked more often than requests say anything judges their mean over a window that reaches further
//! back than its last step.
//!
//! | | |
//! |-|-|
//! | Source | this project; the lab has a window of one period |
//! | Work | O(1) a sample |
//! | Memory | one sample for each period of the window |
//! | Units | nanoseconds |

use std::collections::VecDeque;

use weir_core::pool::Delays;
use weir_core::units::{Instant, Nanos};

use super::config::MOST_CLASSES;

/// What each class has waited since the programs were loaded.
pub(super) type Totals = [Delays; MOST_CLASSES];

/// The window.
#[derive(Debug)]
pub(super) struct Window {
    span: Nanos,
    /// In order of time; the first is the one that the window begins at.
    samples: VecDeque<(Instant, Totals)>,
}

impl Window {
    /// One of this span.
    pub(super) fn new(span: Nanos) -> Self {
        Self { span, samples: VecDeque::new() }
    }

    /// Begins anew here.
    pub(super) fn restart(&mut self, now: Instant, totals: Totals) {
        self.samples.clear();
        self.samples.push_back((now, totals));
    }

    /// What came since the window began, which is its span ago, or at the last sample where that is longer ago.
    pub(super) fn advance(&mut self, now: Instant, totals: Totals) -> Totals {
        let is_outside =
            |sample: Option<&(Instant, Totals)>| sample.is_some_and(|(at, _)| *at + self.span <= now);
        while is_outside(self.samples.get(1)) {
            self.samples.pop_front();
        }
        let begin = self.samples.front().map_or_else(Totals::default, |(_, totals)| *totals);
        self.samples.push_back((now, totals));
        core::array::from_fn(|class| since(totals[class], begin[class]))
    }
}

fn since(now: Delays, then: Delays) -> Delays {
    Delays {
        requests: now.requests.saturating_sub(then.requests),
        delay: Nanos::new(now.delay.get().saturating_sub(then.delay.get())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(requests: u64) -> Totals {
        [Delays { requests, delay: Nanos::new(10 * requests) }, Delays::default()]
    }

    fn window(span: u64, samples: &[(u64, u64)]) -> Vec<u64> {
        let mut window = Window::new(Nanos::new(span));
        window.restart(Instant::ZERO, totals(0));
        let each = |&(at, requests): &(u64, u64)| {
            let [short, long] = window.advance(Instant::new(at), totals(requests));
            assert_eq!((short.delay.get(), long), (10 * short.requests, Delays::default()));
            short.requests
        };
        samples.iter().map(each).collect()
    }

    #[test]
    fn a_window_reaches_back_over_several_periods() {
        let samples = [(10, 1), (20, 3), (30, 6), (40, 10), (50, 15)];
        assert_eq!(window(20, &samples), [1, 3, 5, 7, 9]);
        // One that is shorter than the period is the period.
        assert_eq!(window(5, &samples), [1, 2, 3, 4, 5]);
        assert_eq!(window(1_000, &samples), [1, 3, 6, 10, 15]);
    }

    #[test]
    fn a_late_sample_makes_it_longer_and_no_shorter() {
        assert_eq!(window(20, &[(10, 1), (100, 5), (110, 6)]), [1, 4, 5]);
    }
}
