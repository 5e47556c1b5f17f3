//! Size classes: which decile of the distribution a message belongs to.

use super::Sizes;

/// Classes of sizes bounded above: class `k` holds the sizes above bound `k - 1` and up to bound `k`.
///
/// Where one size is more frequent than a class should be, classes fall together, so that there may be
/// fewer of them; none is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeClasses {
    bounds: Vec<u64>,
}

impl SizeClasses {
    /// At most `classes` classes, cut at the quantiles `1/classes`, `2/classes`, and so on.
    #[must_use]
    pub fn by_quantile(sizes: &Sizes, classes: u16) -> Self {
        let count = f64::from(classes.max(1));
        let inner = (1..classes).map(|k| sizes.quantile(f64::from(k) / count));
        let mut bounds: Vec<u64> = inner.chain([sizes.support().1.unwrap_or(u64::MAX)]).collect();
        bounds.dedup();
        Self { bounds }
    }

    /// The class of a size; sizes above the last bound belong to the last class.
    #[must_use]
    #[inline]
    pub fn class_of(&self, size: u64) -> usize {
        self.bounds.partition_point(|&bound| bound < size).min(self.bounds.len() - 1)
    }

    /// The largest size of each class; `u64::MAX` where the law has no bound.
    #[must_use]
    pub fn bounds(&self) -> &[u64] {
        &self.bounds
    }
}
