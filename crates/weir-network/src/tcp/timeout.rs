//! The time after which a packet that was not acknowledged is sent again.
//!
//! | | |
//! |-|-|
//! | Source | RFC 6298, sections 2 and 5; samples of packets sent once only (section 3) |
//! | First value | 1 s (2.1) |
//! | After a sample | `SRTT + max(margin, 4 RTTVAR)`, with gains 1/8 and 1/4 (2.3), up to 60 s (2.5) |
//! | After a timeout | doubled (5.5), until there is a sample |
//! | Units | nanoseconds, rounded down |
//! | Departs from the source | the RFC's smallest value is 1 s (2.4); Linux has a smallest `4 RTTVAR`, 200 ms, instead. A bound on the sum would leave long round trips without any margin: at 200 ms the variation of a settled queue vanishes, and a short burst before the packet would be taken for a loss |

use weir_core::units::{Cost, Nanos};

/// Before there is a sample.
const FIRST: Nanos = Nanos::new(1_000_000_000);
/// Never longer than this.
const LONGEST: Nanos = Nanos::new(60_000_000_000);

/// An estimate of the round trip, and the timeout that follows from it.
#[derive(Clone, Debug)]
pub struct Timeout {
    margin: Nanos,
    present: Nanos,
    estimate: Option<Estimate>,
}

/// In nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    smoothed: u64,
    variation: u64,
}

impl Timeout {
    /// A timeout that is longer than the round trip by `margin` at least.
    #[must_use]
    pub fn new(margin: Nanos) -> Self {
        Self { margin, present: FIRST.max(margin).min(LONGEST), estimate: None }
    }

    /// How long to wait.
    #[must_use]
    pub fn get(&self) -> Nanos {
        self.present
    }

    /// The smoothed round trip; `None` before the first sample.
    #[must_use]
    pub fn round_trip(&self) -> Option<Nanos> {
        self.estimate.map(|estimate| Nanos::new(estimate.smoothed))
    }

    /// Takes the round trip of a packet that was sent once.
    pub fn sample(&mut self, round_trip: Nanos) {
        // An hour, so that the sums below stay within range.
        let sample = round_trip.get().min(3_600_000_000_000);
        let estimate = match self.estimate {
            None => Estimate { smoothed: sample, variation: sample / 2 },
            Some(Estimate { smoothed, variation }) => Estimate {
                variation: (3 * variation + smoothed.abs_diff(sample)) / 4,
                smoothed: (7 * smoothed + sample) / 8,
            },
        };
        self.estimate = Some(estimate);
        let margin = Nanos::new(4 * estimate.variation).max(self.margin);
        self.present = Nanos::new(estimate.smoothed).plus(margin).min(LONGEST);
    }

    /// The timer has run out.
    pub fn back_off(&mut self) {
        self.present = self.present.plus(self.present).min(LONGEST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    fn milliseconds(timeout: &Timeout) -> u64 {
        timeout.get().get() / MILLISECOND
    }

    #[test]
    fn follows_the_samples() {
        let mut timeout = Timeout::new(Nanos::new(MILLISECOND));
        assert_eq!(milliseconds(&timeout), 1000);
        timeout.sample(Nanos::new(100 * MILLISECOND));
        // 100 + 4 * 50.
        assert_eq!(milliseconds(&timeout), 300);
        timeout.sample(Nanos::new(180 * MILLISECOND));
        // Variation (3 * 50 + 80) / 4 = 57.5, smoothed (700 + 180) / 8 = 110.
        assert_eq!(milliseconds(&timeout), 340);
        assert_eq!(timeout.round_trip(), Some(Nanos::new(110 * MILLISECOND)));
    }

    #[test]
    fn keeps_within_its_bounds() {
        let mut timeout = Timeout::new(Nanos::new(200 * MILLISECOND));
        for _ in 0..100 {
            timeout.sample(Nanos::new(MILLISECOND));
        }
        // 1 ms, and the margin.
        assert_eq!(milliseconds(&timeout), 201);
        for expected in [402, 804, 1608, 3216, 6432, 12_864, 25_728, 51_456, 60_000, 60_000] {
            timeout.back_off();
            assert_eq!(milliseconds(&timeout), expected);
        }
        timeout.sample(Nanos::new(u64::MAX));
        assert_eq!(milliseconds(&timeout), 60_000);
    }
}
