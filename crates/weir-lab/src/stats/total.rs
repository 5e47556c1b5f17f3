//! Sums that are exact: of whole numbers of 64 bits, in one of 128.
//!
//! Work: O(1) a value, several at a time.

/// The most values whose halves are summed in 64 bits.
const MOST: usize = 1 << 31;

/// The sum of values.
#[inline]
#[must_use]
pub fn total(values: &[u64]) -> u128 {
    values.chunks(MOST).map(of_halves).sum()
}

/// Adds up the upper and the lower 32 bits apart: so nothing is carried from one to the next, and values are added side by side.
#[inline]
fn of_halves(values: &[u64]) -> u128 {
    let (mut low, mut high) = (0_u64, 0_u64);
    for value in values {
        low += value & u64::from(u32::MAX);
        high += value >> u32::BITS;
    }
    (u128::from(high) << u32::BITS) + u128::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_largest_are_added_without_loss() {
        assert_eq!(total(&[]), 0);
        assert_eq!(total(&[u64::MAX; 1000]), u128::from(u64::MAX) * 1000);
    }

    proptest! {
        #[test]
        fn it_is_the_sum(values in prop::collection::vec(any::<u64>(), 0..100)) {
            prop_assert_eq!(total(&values), values.iter().copied().map(u128::from).sum::<u128>());
        }
    }
}
