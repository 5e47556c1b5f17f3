//! A histogram as bytes: its extremes and its sum, then the buckets that hold something, each as its distance from the one
//! before and its count. So the bytes are of what was seen, not of the memory held for it.

use super::Histogram;
use crate::encode::Encode;

/// More values than a run of years has: what claims more is refused, so that no sum of some is beyond the numbers.
const MOST_VALUES: u64 = 1 << 48;

impl<const BITS: u32> Encode for Histogram<BITS> {
    fn encode(&self, into: &mut Vec<u8>) {
        self.buckets().count().encode(into);
        let (Some(minimum), Some(maximum)) = (self.minimum(), self.maximum()) else { return };
        minimum.encode(into);
        maximum.encode(into);
        self.sum().encode(into);
        let mut before = 0;
        for bucket in self.buckets() {
            let index = Self::index(bucket.low);
            (index - before).encode(into);
            bucket.count.encode(into);
            before = index;
        }
    }

    fn decode(from: &mut &[u8]) -> Option<Self> {
        let mut histogram = Self::new();
        let buckets = usize::decode(from)?;
        if buckets == 0 {
            return Some(histogram);
        }
        histogram.minimum = u64::decode(from)?;
        histogram.maximum = u64::decode(from)?;
        histogram.sum = u128::decode(from)?;
        let (mut index, mut values, mut seen) = (0_usize, 0_u64, Vec::new());
        for _ in 0..buckets {
            index = index.checked_add(usize::decode(from)?).filter(|index| *index < Self::MOST_BUCKETS)?;
            let count = u64::decode(from).filter(|count| *count > 0)?;
            values = values.checked_add(count).filter(|values| *values <= MOST_VALUES)?;
            seen.push((index, count));
        }
        let ends = (Self::index(histogram.minimum), Self::index(histogram.maximum));
        if (seen[0].0, index) != ends || histogram.minimum > histogram.maximum {
            return None;
        }
        histogram.count_in_order(&seen);
        Some(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{bytes, whole};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_comes_back(values in prop::collection::vec((any::<u64>(), 0..64_u32), 0..300)) {
            let mut histogram = Histogram::<7>::new();
            values.iter().for_each(|(value, shift)| histogram.record(value >> shift));
            let kept = bytes(&histogram);
            let again: Histogram = whole(&kept).expect("a histogram");
            prop_assert_eq!(bytes(&again), kept);
            prop_assert_eq!(again, histogram);
        }

        #[test]
        fn whatever_is_read_can_be_merged_and_asked(
            values in prop::collection::vec((any::<u64>(), 0..64_u32), 1..300),
            at in any::<prop::sample::Index>(),
            other in 1..=255_u8,
        ) {
            let mut histogram = Histogram::<7>::new();
            values.iter().for_each(|(value, shift)| histogram.record(value >> shift));
            let mut kept = bytes(&histogram);
            let at = at.index(kept.len());
            kept[at] ^= other;
            if let Some(read) = whole::<Histogram>(&kept) {
                histogram.merge(&read);
                prop_assert!(Histogram::of_all([read, histogram].iter()).quantile(0.5).is_some());
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = whole::<Histogram>(&bytes);
        }
    }
}
