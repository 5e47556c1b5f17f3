//! Histograms of spans of time: counted in powers of two, each divided into four, and summarised.
//!
//! The programs of `bpf/steer` count in the same buckets.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work per span | O(1) |
//! | Memory | 1.3 kB each |
//! | Units | nanoseconds; the end of a bucket is at most a quarter above any span in it |

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use weir_core::units::Nanos;

/// Spans up to this power of two, in nanoseconds, have buckets of their own: 18 minutes.
const LONGEST: usize = 40;
/// How many buckets there are: four for each power of two from the second on, and one for each shorter span.
pub const BUCKETS: usize = 4 * (LONGEST - 1);

/// A histogram of spans, in powers of two, each divided into four.
#[derive(Clone, Debug)]
pub struct Spans {
    sum: u64,
    longest: u64,
    buckets: [u64; BUCKETS],
}

impl Default for Spans {
    fn default() -> Self {
        Self { sum: 0, longest: 0, buckets: [0; BUCKETS] }
    }
}

/// The bucket of a span.
#[inline]
const fn bucket(span: u64) -> usize {
    if span < 4 {
        return span as usize;
    }
    let power = span.ilog2() as usize;
    let at = 4 * (power - 1) + (span >> (power - 2) & 3) as usize;
    if at < BUCKETS { at } else { BUCKETS - 1 }
}

/// The longest span of a bucket.
const fn upper_end(bucket: usize) -> u64 {
    if bucket < 4 {
        return bucket as u64;
    }
    if bucket == BUCKETS - 1 {
        return u64::MAX;
    }
    let (power, quarter) = (bucket / 4 + 1, bucket as u64 % 4);
    ((5 + quarter) << (power - 2)) - 1
}

impl Spans {
    /// What was counted elsewhere in the same buckets.
    #[must_use]
    pub const fn of(sum: Nanos, longest: Nanos, buckets: [u64; BUCKETS]) -> Self {
        Self { sum: sum.get(), longest: longest.get(), buckets }
    }

    /// Counts a span.
    #[inline]
    pub fn add(&mut self, span: Nanos) {
        let span = span.get();
        self.sum = self.sum.saturating_add(span);
        self.longest = self.longest.max(span);
        self.buckets[bucket(span)] += 1;
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Self) {
        self.sum = self.sum.saturating_add(other.sum);
        self.longest = self.longest.max(other.longest);
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(mine, other)| *mine += other);
    }

    /// How many spans.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The sum of all.
    #[must_use]
    pub const fn sum(&self) -> Nanos {
        Nanos::new(self.sum)
    }

    /// What was counted.
    #[must_use]
    pub fn snapshot(&self) -> Sojourn {
        let filled = (0..BUCKETS).filter(|&at| self.buckets[at] > 0);
        let buckets = filled.map(|at| (upper_end(at), self.buckets[at])).collect();
        Sojourn { sum_ns: self.sum, longest_ns: self.longest, buckets }
    }
}

/// How long packets stayed: a histogram in powers of two, each divided into four.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sojourn {
    /// The sum of all, in nanoseconds.
    pub sum_ns: u64,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
    /// For each bucket that is not empty: the upper end in nanoseconds, inside, and how many.
    pub buckets: Vec<(u64, u64)>,
}

impl Sojourn {
    /// Adds what another has counted, in the same buckets.
    pub fn add(&mut self, other: &Self) {
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        let mut all: BTreeMap<u64, u64> = self.buckets.drain(..).collect();
        for (end, count) in &other.buckets {
            *all.entry(*end).or_default() += count;
        }
        self.buckets = all.into_iter().collect();
    }

    /// How many packets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }

    /// The mean; nothing without packets.
    #[must_use]
    pub fn mean(&self) -> Option<Nanos> {
        self.sum_ns.checked_div(self.count()).map(Nanos::new)
    }

    /// What so large a share of the packets did not stay longer than: the upper end of a bucket, at most the longest;
    /// nothing without packets.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Nanos> {
        let count = self.count();
        let rank = ((share * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut below = 0;
        let holds = |&&(_, count): &&(u64, u64)| {
            below += count;
            below >= rank
        };
        let (end, _) = self.buckets.iter().find(holds)?;
        Some(Nanos::new((*end).min(self.longest_ns)))
    }

    /// The packets of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut counts: BTreeMap<u64, u64> = self.buckets.iter().copied().collect();
        for &(end, count) in &other.buckets {
            *counts.entry(end).or_default() += count;
        }
        Self {
            sum_ns: self.sum_ns + other.sum_ns,
            longest_ns: self.longest_ns.max(other.longest_ns),
            buckets: counts.into_iter().collect(),
        }
    }

    /// Those of the packets that left after `earlier` was taken; the longest stays that of all.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut before = earlier.buckets.iter().peekable();
        let mut buckets = Vec::with_capacity(self.buckets.len());
        for &(end, count) in &self.buckets {
            while before.next_if(|(other, _)| *other < end).is_some() {}
            let old = before.next_if(|(other, _)| *other == end).map_or(0, |(_, old)| *old);
            if count > old {
                buckets.push((end, count - old));
            }
        }
        let sum_ns = self.sum_ns.saturating_sub(earlier.sum_ns);
        Self { sum_ns, longest_ns: self.longest_ns, buckets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_ends_of_buckets() {
        let sojourn = Sojourn { sum_ns: 0, longest_ns: 950, buckets: vec![(10, 50), (100, 49), (1000, 1)] };
        for (share, expected) in [(0.0, 10), (0.5, 10), (0.51, 100), (0.99, 100), (0.991, 950), (1.0, 950)] {
            assert_eq!(sojourn.quantile(share), Some(Nanos::new(expected)), "{share}");
        }
        assert_eq!(Sojourn::default().quantile(0.5), None);
    }

    #[test]
    fn what_came_since_is_what_is_more() {
        let earlier = Sojourn { sum_ns: 5, longest_ns: 10, buckets: vec![(10, 1), (30, 2)] };
        let later = Sojourn { sum_ns: 9, longest_ns: 40, buckets: vec![(10, 1), (20, 4), (30, 3), (40, 1)] };
        let since = later.since(&earlier);
        assert_eq!((since.sum_ns, since.buckets.clone()), (4, vec![(20, 4), (30, 1), (40, 1)]));
        assert_eq!(later.since(&later).count(), 0);
        let both = since.and(&earlier);
        assert_eq!((both.sum_ns, both.buckets), (9, vec![(10, 1), (20, 4), (30, 3), (40, 1)]));
    }

    #[test]
    fn a_span_lies_in_the_first_bucket_that_reaches_it() {
        let spans = (0..200).chain((2..64).flat_map(|power| {
            let two = 1_u64 << power;
            [two - 1, two, two + 1, two + two / 4, two + two / 2 - 1, two + two / 4 * 3]
        }));
        for span in spans.chain([u64::MAX]) {
            let at = bucket(span);
            assert!(span <= upper_end(at), "{span} {at}");
            assert!(at == 0 || span > upper_end(at - 1), "{span} {at}");
            assert!(at == BUCKETS - 1 || upper_end(at) - span <= span / 4, "{span}");
        }
        assert!((1..BUCKETS).all(|at| upper_end(at) > upper_end(at - 1)));
    }
}
