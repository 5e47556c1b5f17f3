//! Times of one kind in one run: how many, their sum, the longest, and their histogram; and the few numbers that are
//! kept of them when the histogram is given up.
//!
//! All is whole numbers, so merging does not depend on order. Work per time O(1); memory that of a
//! [`Histogram`], none where no tails are wanted. Units: those of the caller's clock.

use super::histogram::Histogram;
use super::tail::Tail;
use crate::encode::Encode;

/// The quantiles of a result.
pub const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
/// The quantiles of a result whose last requests matter.
pub const FAR_QUANTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];

/// Times of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: u128,
    /// The longest.
    pub longest: u64,
    /// Their distribution; empty where none is wanted.
    pub histogram: Histogram,
}

/// What is kept of the times of one kind in one run, with its quantiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread<const QUANTILES_KEPT: usize = { QUANTILES.len() }> {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: u128,
    /// The longest.
    pub longest: u64,
    /// The quantiles.
    pub quantiles: [Option<f64>; QUANTILES_KEPT],
    /// The tail, from which their intervals come.
    pub tail: Tail,
}

impl<const QUANTILES_KEPT: usize> Default for Spread<QUANTILES_KEPT> {
    fn default() -> Self {
        Self { count: 0, sum: 0, longest: 0, quantiles: [None; QUANTILES_KEPT], tail: Tail::default() }
    }
}

impl Times {
    /// Counts `time`; in the histogram too where `tails` are wanted.
    #[inline]
    pub fn record(&mut self, time: u64, tails: bool) {
        self.count += 1;
        self.sum += u128::from(time);
        self.longest = self.longest.max(time);
        if tails {
            self.histogram.record(time);
        }
    }

    /// Counts what `other` has counted too.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
        self.histogram.merge(&other.histogram);
    }

    /// The few numbers.
    #[must_use]
    pub fn spread(&self) -> Spread {
        self.spread_at(&QUANTILES)
    }

    /// The few numbers, with these quantiles.
    #[must_use]
    pub fn spread_at<const KEPT: usize>(&self, quantiles: &[(&str, f64); KEPT]) -> Spread<KEPT> {
        let Self { count, sum, longest, histogram } = self;
        let quantiles = quantiles.map(|(_, p)| histogram.quantile(p));
        let tail = Tail::new(histogram);
        Spread { count: *count, sum: *sum, longest: *longest, quantiles, tail }
    }
}

impl<const QUANTILES_KEPT: usize> Spread<QUANTILES_KEPT> {
    /// The mean, where there is something.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The longest, where there is something.
    #[must_use]
    pub fn longest(&self) -> Option<f64> {
        (self.count > 0).then_some(self.longest as f64)
    }
}

crate::encode! {
    Times { count, sum, longest, histogram }
}

impl<const KEPT: usize> Encode for Spread<KEPT> {
    fn encode(&self, into: &mut Vec<u8>) {
        let Self { count, sum, longest, quantiles, tail } = self;
        (*count, (*sum, *longest)).encode(into);
        quantiles.encode(into);
        tail.encode(into);
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let (count, (sum, longest)) = Encode::decode(from)?;
        Some(Self { count, sum, longest, quantiles: Encode::decode(from)?, tail: Encode::decode(from)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(values: &[u64], tails: bool) -> Times {
        let mut times = Times::default();
        values.iter().for_each(|&value| times.record(value, tails));
        times
    }

    #[test]
    fn the_few_numbers_by_hand() {
        let spread = times(&[3, 1, 8], true).spread();
        assert_eq!((spread.count, spread.sum, spread.longest), (3, 12, 8));
        assert_eq!((spread.mean(), spread.longest()), (Some(4.0), Some(8.0)));
        assert_eq!(spread.quantiles, [Some(3.0), Some(8.0), Some(8.0), Some(8.0)]);
        assert_eq!(times(&[3], false).spread().quantiles, [None; 4]);
        assert_eq!((<Spread>::default().mean(), <Spread>::default().longest()), (None, None));
        let far = times(&(1..=20_000).collect::<Vec<_>>(), true).spread_at(&FAR_QUANTILES);
        assert!(far.quantiles[4].is_some_and(|p9999| (p9999 / 19_998.0 - 1.0).abs() < 0.004), "{far:?}");
    }

    #[test]
    fn merging_counts_both() {
        let mut first = times(&[3, 1], true);
        first.merge(&times(&[8], true));
        assert_eq!(first, times(&[3, 1, 8], true));
    }
}
