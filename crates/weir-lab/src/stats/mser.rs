//! Where the warm-up ends: the marginal standard error rule, MSER and MSER-5.
//!
//! Dropping the first values removes bias and loses information. MSER drops as many as minimise the square
//! of the standard error that the remaining `m` values would have if they were independent,
//! `sum of (y - mean)^2 / m^2`: while atypical values are still dropped the sum falls faster than `m^2`.
//! A minimum in the second half says that the run is too short to tell, and nothing is recommended.
//!
//! | | |
//! |-|-|
//! | Source | White, SIMULATION 69(6), 1997, "An effective truncation heuristic for bias reduction in simulation output"; means of five values: White, Cobb and Spratt, Winter Simulation Conference 2000 (after Spratt 1998) |
//! | Work | O(values) |
//! | Departs from the source | a constant series drops nothing; of equal minima the earliest counts |
//!
//! The input is one series in the order of time: means of windows of ticks ([`super::Batches::means`]), or
//! single observations. For several replications, take the mean of each window over the replications.

use std::fmt;

/// Values whose mean is one term of MSER-5.
pub const GROUP: usize = 5;

/// The fewest terms for which the rule says anything.
pub const FEWEST: usize = 10;

/// Why no warm-up can be recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Undetermined {
    /// Fewer than [`FEWEST`] terms.
    TooFewTerms {
        /// The terms.
        held: usize,
    },
    /// The minimum is in the second half: the series has not settled.
    NotSettled {
        /// Where the minimum is.
        minimum: usize,
        /// The terms.
        held: usize,
    },
    /// A term is not a finite number.
    NotFinite,
}

impl fmt::Display for Undetermined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewTerms { held } => {
                write!(f, "{held} terms, a warm-up needs at least {FEWEST}; run longer")
            }
            Self::NotSettled { minimum, held } => {
                write!(
                    f,
                    "not settled: the warm-up would be {minimum} of {held} terms, at most half; run longer"
                )
            }
            Self::NotFinite => f.write_str("a term is not a finite number"),
        }
    }
}

impl std::error::Error for Undetermined {}

/// How many of the first `terms` to drop.
pub fn mser(terms: &[f64]) -> Result<usize, Undetermined> {
    let held = terms.len();
    if held < FEWEST {
        return Err(Undetermined::TooFewTerms { held });
    }
    if !terms.iter().all(|term| term.is_finite()) {
        return Err(Undetermined::NotFinite);
    }
    let minimum = argument_of_minimum(terms);
    if minimum > held / 2 { Err(Undetermined::NotSettled { minimum, held }) } else { Ok(minimum) }
}

/// How many of the first `values` to drop by MSER-5: a multiple of five.
///
/// Values beyond the last full group of five are ignored.
pub fn mser5(values: &[f64]) -> Result<usize, Undetermined> {
    let mean = |group: &[f64]| group.iter().sum::<f64>() / GROUP as f64;
    let terms: Vec<f64> = values.chunks_exact(GROUP).map(mean).collect();
    mser(&terms).map(|groups| groups * GROUP)
}

/// Goes from the end to the front, keeping mean and squared deviations of what is left (Welford).
///
/// The last few terms are never left alone, since a handful of equal values would look perfect.
fn argument_of_minimum(terms: &[f64]) -> usize {
    let (mut mean, mut squares) = (0.0, 0.0);
    let (mut best, mut least) = (0, f64::INFINITY);
    for (at, &term) in terms.iter().enumerate().rev() {
        let left = (terms.len() - at) as f64;
        let deviation = term - mean;
        mean += deviation / left;
        squares += deviation * (term - mean);
        let criterion = squares / (left * left);
        if left >= GROUP as f64 && criterion <= least {
            (best, least) = (at, criterion);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::Noise;

    /// The definition, term by term.
    fn criterion(terms: &[f64]) -> f64 {
        let left = terms.len() as f64;
        let mean = terms.iter().sum::<f64>() / left;
        terms.iter().map(|term| (term - mean).powi(2)).sum::<f64>() / (left * left)
    }

    #[test]
    fn step_is_dropped() {
        let mut terms = vec![100.0; 4];
        terms.extend((0..36).map(|at| f64::from(at % 2)));
        assert_eq!(mser(&terms), Ok(4));
    }

    #[test]
    fn agrees_with_the_definition() {
        let mut random = Noise::new(7);
        let terms: Vec<f64> =
            (0..60).map(|at| random.normal() + 8.0 * (-f64::from(at) / 6.0).exp()).collect();
        let of_definition = (0..=terms.len() - GROUP)
            .min_by(|&a, &b| criterion(&terms[a..]).total_cmp(&criterion(&terms[b..])))
            .expect("not empty");
        assert_eq!(mser(&terms), Ok(of_definition));
        assert!((3..30).contains(&of_definition), "{of_definition}");
    }

    #[test]
    fn steady_series_keeps_nearly_all() {
        let mut random = Noise::new(3);
        let dropped = |random: &mut Noise| {
            let values: Vec<f64> = (0..500).map(|_| random.normal()).collect();
            mser5(&values).unwrap_or(values.len())
        };
        let mean = (0..200).map(|_| dropped(&mut random)).sum::<usize>() / 200;
        assert!(mean < 100, "{mean} of 500 on average");
    }

    #[test]
    fn trend_is_refused() {
        let trend: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(matches!(mser(&trend), Err(Undetermined::NotSettled { held: 100, .. })));
        assert!(mser(&trend).unwrap_err().to_string().contains("run longer"));
    }

    #[test]
    fn constant_series_drops_nothing() {
        assert_eq!(mser(&[3.0; 20]), Ok(0));
        assert_eq!(mser5(&[3.0; 103]), Ok(0));
    }

    #[test]
    fn groups_of_five_are_dropped_whole() {
        let mut values = vec![50.0; 7];
        values.extend((0..143).map(|at| f64::from(at % 2)));
        assert_eq!(mser5(&values), Ok(10));
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(mser(&[]), Err(Undetermined::TooFewTerms { held: 0 }));
        assert_eq!(mser5(&[1.0; 49]), Err(Undetermined::TooFewTerms { held: 9 }));
        let mut terms = [1.0; 20];
        terms[7] = f64::NAN;
        assert_eq!(mser(&terms), Err(Undetermined::NotFinite));
    }
}
