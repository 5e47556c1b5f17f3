//! Laws of the textbooks as sizes: each value rounded to the nearest whole number, at least 1.
//!
//! A size up to 1,024 has its own probability; above, runs of sizes that are narrow next to the size and to the standard deviation.
//! The table ends where fewer than one in 2^64 is larger, which no draw tells from nothing, or where its caller cuts it off.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work | O(log(largest size) x 512) evaluations of the distribution function |
//! | Accuracy | the mean of a law of some hundred units and more is met to 10^-5, but for what the table cuts off; what `mean` says is that of the table |

use super::{MAX_SIZE, Run, Sizes, SizesError};
use crate::ContinuousLaw;

/// Sizes up to here have a run each.
const SINGLE: u64 = 1_024;
/// A run is no wider than the size over this.
const PARTS: u64 = 512;
/// Nor than the standard deviation over this.
const PARTS_OF_DEVIATION: f64 = 32.0;
/// Nor narrower than the size over this, which bounds the number of runs.
const MOST_PARTS: u64 = 1 << 15;
/// The smallest probability of a draw: 2^-64.
const LEAST: f64 = 1.0 / 18_446_744_073_709_551_616.0;

impl Sizes {
    /// The law on whole numbers, cut off above `most`.
    ///
    /// # Errors
    /// Its mean is infinite, or it has no share up to `most`.
    pub fn of_law(law: &ContinuousLaw, most: u64) -> Result<Self, SizesError> {
        let Some(mean) = law.mean() else { return Err(SizesError::Mean(f64::INFINITY)) };
        let widest = law.cv().map_or(f64::INFINITY, |cv| cv * mean / PARTS_OF_DEVIATION);
        let mut runs = Vec::new();
        // Nothing is smaller than the least quantile, but for rounding.
        let mut last = (law.quantile(LEAST) as u64).saturating_sub(1);
        let most = ((law.quantile(1.0) + 0.5).min(most.min(MAX_SIZE) as f64) as u64).max(1);
        while last < most && law.survival(edge(last)) >= LEAST {
            let width = (last / PARTS).min(widest as u64).max(last / MOST_PARTS).max(1);
            let next = if last < SINGLE { last + 1 } else { (last + width).min(most) };
            let share = between(law, last, next);
            if share > 0.0 {
                runs.push(Run { first: last + 1, last: next, share });
            }
            last = next;
        }
        let sum: f64 = runs.iter().map(|run| run.share).sum();
        if sum <= 0.0 {
            return Err(SizesError::Empty);
        }
        runs.iter_mut().for_each(|run| run.share /= sum);
        Self::mixture(&runs)
    }
}

/// Where values begin to be rounded to the next size.
fn edge(size: u64) -> f64 {
    size as f64 + 0.5
}

/// The probability of the sizes above one up to another, from the side on which it has its digits.
fn between(law: &ContinuousLaw, below: u64, last: u64) -> f64 {
    let (low, high) = (edge(below), edge(last));
    if below == 0 {
        return law.cdf(high);
    }
    let of_tail = law.survival(low);
    let share = if of_tail < 0.5 { of_tail - law.survival(high) } else { law.cdf(high) - law.cdf(low) };
    share.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, relative: f64) {
        assert!((found / expected - 1.0).abs() < relative, "{found} instead of {expected}");
    }

    #[test]
    fn moments_are_those_of_the_law() {
        for (law, mean, cv) in [
            (ContinuousLaw::lognormal(20_000.0, 1.5), 20_000.0, 1.5),
            (ContinuousLaw::erlang(900, 1e6), 1e6, 1.0 / 30.0),
            (ContinuousLaw::hyperexponential(5e5, 3.0), 5e5, 3.0),
            (ContinuousLaw::weibull_of_mean(0.7, 3e4), 3e4, 1.462),
            (ContinuousLaw::lognormal(1e7, 0.001), 1e7, 0.001),
        ] {
            let sizes = Sizes::of_law(&law.expect("a law"), MAX_SIZE).expect("sizes");
            near(sizes.mean(), mean, 1e-5);
            near(sizes.scv().sqrt(), cv, 2e-3);
        }
    }

    #[test]
    fn probabilities_are_those_of_the_law() {
        let law = ContinuousLaw::bounded_pareto(1.2, 100.0, 1e6).expect("a law");
        let sizes = Sizes::of_law(&law, MAX_SIZE).expect("sizes");
        assert_eq!(sizes.support(), (100, Some(1_000_000)));
        for size in [100, 101, 500, 1_024, 5_000, 999_999] {
            let (found, expected) = (1.0 - sizes.cdf(size), law.survival(size as f64 + 0.5));
            assert!((found - expected).abs() < 2e-6, "{size}: {found} instead of {expected}");
        }
        for p in [0.1, 0.5, 0.99, 0.999_9] {
            near(sizes.quantile(p) as f64, law.quantile(p), 6e-3);
        }
    }

    #[test]
    fn what_is_below_one_is_one() {
        let law = ContinuousLaw::exponential(1.0).expect("a law");
        let sizes = Sizes::of_law(&law, MAX_SIZE).expect("sizes");
        near(sizes.cdf(1), 1.0 - (-1.5_f64).exp(), 1e-12);
        for value in [7, 4_000_000_000] {
            let law = ContinuousLaw::deterministic(value as f64).expect("a law");
            assert_eq!(Sizes::of_law(&law, MAX_SIZE).map(|sizes| sizes.quantile(0.5)), Ok(value));
        }
    }

    #[test]
    fn a_tail_is_cut_off() {
        let law = ContinuousLaw::exponential(100.0).expect("a law");
        let sizes = Sizes::of_law(&law, 250).expect("sizes");
        assert_eq!(sizes.support(), (1, Some(250)));
        let kept = law.cdf(250.5);
        near(sizes.cdf(100), law.cdf(100.5) / kept, 1e-12);
        assert_eq!(
            Sizes::of_law(&ContinuousLaw::deterministic(9.0).expect("a law"), 8),
            Err(SizesError::Empty)
        );
    }

    #[test]
    fn a_law_without_a_mean_has_no_sizes() {
        let law = ContinuousLaw::pareto(1.0, 10.0).expect("a law");
        assert_eq!(Sizes::of_law(&law, MAX_SIZE), Err(SizesError::Mean(f64::INFINITY)));
    }
}
