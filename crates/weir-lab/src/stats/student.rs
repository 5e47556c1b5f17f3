//! Quantiles of the normal and of Student's t distribution.
//!
//! They are those of [`crate::special`]; here the parameters are made safe, so that a quantile is always a number. A quantile of
//! Student's is the root of an incomplete beta function: a thread remembers those that it was asked for.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::special;

/// The number of quantiles that a thread remembers.
const MOST_KNOWN: usize = 4096;

thread_local! {
    /// Quantiles by level and degrees of freedom.
    static KNOWN: RefCell<HashMap<(u64, u64), f64>> = RefCell::new(HashMap::new());
}

/// The `p`-quantile of the standard normal distribution, for `0 < p < 1`.
///
/// # Panics
///
/// If `p` is not inside (0, 1): a confidence level is a constant of the program, not input.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    assert!(p > 0.0 && p < 1.0, "probability is {p}, must be inside (0, 1)");
    special::normal_quantile(p)
}

/// The `p`-quantile of Student's t with `degrees_of_freedom`, for `0 < p < 1`.
///
/// # Panics
///
/// If `p` is not inside (0, 1), or there is no degree of freedom.
#[must_use]
pub fn student_quantile(p: f64, degrees_of_freedom: u64) -> f64 {
    assert!(p > 0.0 && p < 1.0, "probability is {p}, must be inside (0, 1)");
    assert!(degrees_of_freedom > 0, "degrees of freedom are 0, must be at least 1");
    special::student_quantile(p, degrees_of_freedom)
}

/// How many standard errors a two-sided interval of confidence `level` reaches to either side.
#[must_use]
pub fn two_sided(level: f64, degrees_of_freedom: u64) -> f64 {
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        let quantile = || student_quantile(0.5 + level / 2.0, degrees_of_freedom);
        *known.entry((level.to_bits(), degrees_of_freedom)).or_insert_with(quantile)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(measured: f64, expected: f64) {
        assert!((measured - expected).abs() < 1e-6 * expected.abs(), "{measured}, expected {expected}");
    }

    #[test]
    fn normal_quantiles_agree_with_the_tables() {
        assert_close(normal_quantile(0.975), 1.959_963_985);
        assert_close(normal_quantile(0.8), 0.841_621_234);
        assert!(normal_quantile(0.5).abs() < 1e-12);
    }

    #[test]
    fn student_quantiles_agree_with_the_tables() {
        assert_close(two_sided(0.95, 1), 12.706_204_736);
        assert_close(two_sided(0.95, 8), 2.306_004_135);
        assert_close(two_sided(0.95, 19), 2.093_024_054);
        assert_close(two_sided(0.99, 30), 2.749_995_654);
        assert_close(student_quantile(0.1, 8), -student_quantile(0.9, 8));
    }

    #[test]
    fn student_tends_to_the_normal() {
        let limit = normal_quantile(0.975);
        let mut last = f64::INFINITY;
        for degrees in [1, 2, 5, 20, 100, 1_000, 100_000] {
            let quantile = two_sided(0.95, degrees);
            assert!(quantile < last && quantile > limit, "{degrees}: {quantile}");
            last = quantile;
        }
        assert!(last - limit < 1e-4);
    }
}
