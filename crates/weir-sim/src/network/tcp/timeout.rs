//! The time after which a packet that was not acknowledged is sent again.
//!
//! | | |
//! |-|-|
//! | Source | RFC 6298, sections 2 and 5; samples of packets sent once only (section 3) |
//! | First value | 1 s (2.1) |
//! | After a sample | `SRTT + 4 RTTVAR`, with gains 1/8 and 1/4 (2.3), from the smallest to 60 s (2.4, 2.5) |
//! | After a timeout | doubled (5.5), until there is a sample |
//! | Units | nanoseconds, rounded down |
//! | Departs from the source | the smallest value is the caller's: the RFC has 1 s, hosts have 200 ms |

use weir_core::units::{Cost, Nanos};

/// Before there is a sample.
const FIRST: Nanos = Nanos::new(1_000_000_000);
/// Never longer than this.
const LONGEST: Nanos = Nanos::new(60_000_000_000);

/// An estimate of the round trip, and the timeout that follows from it.
#[derive(Clone, Debug)]
pub struct Timeout {
    smallest: Nanos,
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
    /// A timeout that is never below `smallest`.
    #[must_use]
    pub fn new(smallest: Nanos) -> Self {
        Self { smallest, present: FIRST.max(smallest).min(LONGEST), estimate: None }
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
        let present = Nanos::new(estimate.smoothed + 4 * estimate.variation);
        self.present = present.max(self.smallest).min(LONGEST);
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
        assert_eq!(milliseconds(&timeout), 200);
        for expected in [400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000] {
            timeout.back_off();
            assert_eq!(milliseconds(&timeout), expected);
        }
        timeout.sample(Nanos::new(u64::MAX));
        assert_eq!(milliseconds(&timeout), 60_000);
    }
}
