//! Von Neumann's test: does a sequence still show correlation between neighbours?
//!
//! The mean square of successive differences is twice the variance if the terms are independent, and less
//! if neighbours resemble each other. The statistic is `C = 1 - (mean square difference) / (2 variance)`,
//! an estimate of the correlation at lag one, which for independent normal terms has mean 0 and, for `n`
//! terms, variance `(n - 2) / (n^2 - 1)` (von Neumann 1941; used for batch means by Fishman, and in
//! LABATCH: Fishman and Yarberry, INFORMS Journal on Computing 9(3), 1997). It is compared with the normal
//! quantile, one-sided: negative correlation makes intervals too wide, which is no fault.
//!
//! Several replications are tested together: only neighbours of the same replication are compared, and
//! `n - 1` becomes the number of such pairs. Terms are residuals: their mean over all is zero.

use super::student::normal_quantile;

/// The chance that independent terms are called correlated.
///
/// Larger than usual: a needless merging costs little, an undetected correlation makes intervals too
/// narrow.
pub const SIGNIFICANCE: f64 = 0.2;

/// Correlation between neighbours, as far as it can be distinguished from chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correlation {
    /// Its estimate: the statistic `C`.
    pub at_lag_one: f64,
    /// Whether independent terms would seldom show as much.
    pub is_significant: bool,
}

/// The correlation of neighbours inside the `replications`.
///
/// None is reported where there is nothing to compare: fewer than two pairs, or terms that are all zero.
#[must_use]
pub fn correlation(replications: &[impl AsRef<[f64]>]) -> Correlation {
    let terms = || replications.iter().map(AsRef::as_ref);
    let count: usize = terms().map(<[f64]>::len).sum();
    let pairs: usize = terms().map(|terms| terms.len().saturating_sub(1)).sum();
    let squares: f64 = terms().flatten().map(|term| term * term).sum();
    if pairs < 2 || squares <= 0.0 {
        return Correlation { at_lag_one: 0.0, is_significant: false };
    }
    let difference = |pair: &[f64]| (pair[1] - pair[0]).powi(2);
    let differences: f64 = terms().flat_map(|terms| terms.windows(2)).map(difference).sum();
    let (count, pairs) = (count as f64, pairs as f64);
    let at_lag_one = 1.0 - (differences / (2.0 * pairs)) / (squares / (count - 1.0));
    let variance = (pairs - 1.0) / (pairs * (pairs + 2.0));
    let is_significant = at_lag_one > normal_quantile(1.0 - SIGNIFICANCE) * variance.sqrt();
    Correlation { at_lag_one, is_significant }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_correlated(replications: &[impl AsRef<[f64]>]) -> bool {
        correlation(replications).is_significant
    }

    #[test]
    fn trend_is_correlated_and_alternation_is_not() {
        let trend: Vec<f64> = (-10..=10).map(f64::from).collect();
        let alternation: Vec<f64> = (0..20).map(|at| if at % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert!(is_correlated(&[&trend]));
        assert!(!is_correlated(&[&alternation]));
    }

    #[test]
    fn nothing_to_compare_is_not_correlated() {
        assert!(!is_correlated(&[[0.0; 0]; 3]));
        assert!(!is_correlated(&[vec![1.0], vec![-1.0]]));
        assert!(!is_correlated(&[vec![0.0; 50]]));
    }

    #[test]
    fn ends_of_replications_are_no_neighbours() {
        // Inside each replication the terms alternate; only the joints would look alike.
        let replications: Vec<[f64; 2]> =
            (0..50).map(|at| if at % 2 == 0 { [1.0, -1.0] } else { [-1.0, 1.0] }).collect();
        assert!(!is_correlated(&replications));
        let alike: Vec<[f64; 2]> =
            (0..50).map(|at| if at % 2 == 0 { [1.0, 1.0] } else { [-1.0, -1.0] }).collect();
        assert!(is_correlated(&alike));
    }

    #[test]
    fn false_alarms_come_at_the_stated_rate() {
        let mut random = crate::stats::testing::Noise::new(1);
        let alarms = |replications: usize, terms: usize, random: &mut crate::stats::testing::Noise| {
            let trials = 4_000;
            let alarm = |_: &i32| {
                let mut sample: Vec<Vec<f64>> =
                    (0..replications).map(|_| (0..terms).map(|_| random.normal()).collect()).collect();
                let mean = sample.iter().flatten().sum::<f64>() / (replications * terms) as f64;
                sample.iter_mut().flatten().for_each(|term| *term -= mean);
                is_correlated(&sample)
            };
            (0..trials).filter(alarm).count() as f64 / f64::from(trials)
        };
        for (replications, terms) in [(1, 256), (1, 20), (8, 16), (20, 2)] {
            let rate = alarms(replications, terms, &mut random);
            assert!((rate - SIGNIFICANCE).abs() < 0.035, "{replications} x {terms}: {rate}");
        }
    }
}
