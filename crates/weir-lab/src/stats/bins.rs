//! A histogram as a result has it: columns of equal length, a bucket that holds something each.
//!
//! Units: those of its `unit`, of which a nanosecond, or what else was recorded, is made by the caller. Work and memory
//! O(buckets that hold something).

use serde::Serialize;

use super::histogram::Histogram;

/// The buckets that hold something, in increasing order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bins {
    /// Half the width of a bucket over its middle, at most.
    pub relative_error: f64,
    /// The unit of the ends.
    pub unit: &'static str,
    /// Lower ends.
    pub low: Vec<f64>,
    /// Upper ends.
    pub high: Vec<f64>,
    /// How many.
    pub count: Vec<u64>,
}

impl Bins {
    /// The bins of a histogram, whose values `convert` makes ones of `unit`.
    pub fn new<const BITS: u32>(
        histogram: &Histogram<BITS>,
        unit: &'static str,
        convert: impl Fn(f64) -> f64,
    ) -> Self {
        let (mut low, mut high, mut count) = (Vec::new(), Vec::new(), Vec::new());
        for bucket in histogram.buckets() {
            low.push(convert(bucket.low as f64));
            high.push(convert((bucket.high + 1) as f64));
            count.push(bucket.count);
        }
        Self { relative_error: Histogram::<BITS>::RELATIVE_ERROR, unit, low, high, count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let mut histogram = Histogram::<7>::new();
        [3, 8, 3].into_iter().for_each(|time| histogram.record(time));
        let bins = Bins::new(&histogram, "s", |time| time / 4.0);
        assert_eq!((bins.low, bins.high, bins.count), (vec![0.75, 2.0], vec![1.0, 2.25], vec![2, 1]));
        assert_eq!((bins.relative_error, bins.unit), (Histogram::<7>::RELATIVE_ERROR, "s"));
        assert!(Bins::new(&Histogram::<7>::new(), "s", |time| time).count.is_empty());
    }
}
