//! How late packets left, by the generator's own fault.
//!
//! | | |
//! |-|-|
//! | Source | this project; buckets as in Tene's HdrHistogram |
//! | Work | O(1) a packet; quantiles O(buckets) |
//! | Units | nanoseconds |
//! | Memory | 64 buckets for each power of two, 30 KiB |
//! | Departs from the source | a quantile is the upper end of its bucket, at most 1/64 above the value |

use serde::Serialize;
use weir_core::units::Nanos;

use weir_gauge::text::span;

/// Buckets for each power of two.
const PARTS: u64 = 64;
const PARTS_BITS: u32 = PARTS.trailing_zeros();
const BUCKETS: usize = (64 - PARTS_BITS as usize + 1) * PARTS as usize;

/// How late packets left.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    count: u64,
    longest: Nanos,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], count: 0, longest: Nanos::new(0) }
    }
}

impl Lateness {
    /// One packet left so late.
    #[inline]
    pub fn record(&mut self, late: Nanos) {
        self.counts[bucket(late.get())] += 1;
        self.count += 1;
        self.longest = self.longest.max(late);
    }

    /// What this share of the packets did not exceed; nothing without packets.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Nanos> {
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let at = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(Nanos::new(upper(at)).min(self.longest))
    }

    /// Its figures, held against what was promised.
    #[must_use]
    pub fn summary(&self, promised: Nanos) -> Option<Summary> {
        let p99 = self.quantile(0.99)?;
        Some(Summary {
            p50_ns: self.quantile(0.5)?.get(),
            p99_ns: p99.get(),
            max_ns: self.longest.get(),
            promised_p99_ns: promised.get(),
            met: p99 <= promised,
        })
    }
}

/// How late packets left: quantiles, and whether the promise was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Half of the packets were at most so late.
    pub p50_ns: u64,
    /// 99 % of the packets were at most so late.
    pub p99_ns: u64,
    /// The latest packet.
    pub max_ns: u64,
    /// What 99 % were promised.
    pub promised_p99_ns: u64,
    /// Whether that was kept.
    pub met: bool,
}

impl Summary {
    /// What must be said where the promise was not kept, so that nobody takes the generator's faults for the
    /// network's.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let text = format!(
            "1 % of the packets left later than {}, promised {}: delays and bursts of this run are partly the \
             generator's; give it --priority FIFO:50 and a --cpu of its own, or a lower rate",
            span(Nanos::new(self.p99_ns)),
            span(Nanos::new(self.promised_p99_ns))
        );
        (!self.met).then_some(text)
    }
}

fn bucket(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(PARTS_BITS + 1);
    (u64::from(shift) * PARTS + (value >> shift)) as usize
}

/// The largest value of a bucket.
fn upper(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket / PARTS).saturating_sub(1);
    let top = u128::from(bucket - shift * PARTS) + 1;
    u64::try_from((top << shift) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_what_is_counted_in_it() {
        for value in [0, 1, 63, 64, 127, 128, 129, 1000, 60_000, 1 << 40, u64::MAX] {
            let upper = upper(bucket(value));
            assert!(upper >= value && upper - value <= value / PARTS, "{value} {upper}");
            assert!(value == 0 || super::upper(bucket(value) - 1) < value);
        }
    }

    #[test]
    fn quantiles_and_the_promise() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.5), None);
        assert_eq!(lateness.summary(Nanos::new(10)), None);
        for late in 1..=100 {
            lateness.record(Nanos::new(late));
        }
        let summary = lateness.summary(Nanos::new(98)).unwrap();
        assert_eq!((summary.p50_ns, summary.p99_ns, summary.max_ns, summary.met), (50, 99, 100, false));
        assert!(summary.warning().unwrap().contains("later than 99ns, promised 98ns"));
        assert_eq!(lateness.summary(Nanos::new(99)).unwrap().warning(), None);
    }
}
