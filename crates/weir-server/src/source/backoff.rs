//! How long a client waits before it tries again: longer after each attempt, by a random part less.
//!
//! | | |
//! |-|-|
//! | Source | Metcalfe and Boggs, *Ethernet: distributed packet switching for local computer networks*, CACM 19(7), 1976: exponential back-off |
//! | Random numbers | a hash of seed, replication, request and attempt, the same under every discipline |

use super::hash::Hash;
use crate::model::Retry;
use weir_core::units::Nanos;

/// The longest back-off: a day.
const LONGEST: f64 = 86_400e9;

/// The back-off of the clients of a replication.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    retry: Retry,
    hash: Hash,
}

impl Backoff {
    pub(crate) fn new(retry: Retry, seed: u64, replication: u32) -> Self {
        Self { retry, hash: Hash::new(seed, replication) }
    }

    /// How long a client waits after an attempt, from 1, of a request.
    pub(crate) fn before(&self, request: u64, attempt: u32) -> Nanos {
        let grown = (1..attempt).fold(self.retry.backoff.get() as f64, |span, _| span * self.retry.factor);
        let even = self.hash.even(request, u64::from(attempt));
        Nanos::new((grown.min(LONGEST) * (1.0 - self.retry.jitter * even)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_and_its_random_part_is_even() {
        let retry =
            Retry { attempts: 5, backoff: Nanos::new(1_000_000), factor: 3.0, jitter: 0.5, budget: None };
        let certain = Backoff::new(Retry { jitter: 0.0, ..retry }, 1, 0);
        assert_eq!(
            [1, 2, 3].map(|attempt| certain.before(7, attempt).get()),
            [1_000_000, 3_000_000, 9_000_000]
        );
        assert_eq!(certain.before(0, 100), Nanos::new(LONGEST as u64));
        let random = Backoff::new(retry, 1, 0);
        let spans: Vec<f64> =
            (0..10_000).map(|request| random.before(request, 2).get() as f64 / 3e6).collect();
        assert!(spans.iter().all(|span| (0.5..=1.0).contains(span)));
        let mean = spans.iter().sum::<f64>() / 1e4;
        let below = spans.iter().filter(|span| **span < 0.625).count();
        assert!((mean - 0.75).abs() < 0.005 && below.abs_diff(2_500) < 150, "{mean} {below}");
        assert_ne!(random.before(1, 2), Backoff::new(retry, 1, 1).before(1, 2));
    }
}
