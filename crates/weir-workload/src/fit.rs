//! Laws fitted to a sample: maximum likelihood, information criteria, and a test of each.
//!
//! | law | maximum of the likelihood |
//! |---|---|
//! | exponential | the mean |
//! | gamma | `ln k - ψ(k) = ln(mean) - mean of ln x`, by bisection |
//! | Erlang | the better of the whole numbers next to the gamma's shape |
//! | lognormal | mean and standard deviation of the logarithms |
//! | Weibull | `Σ x^k ln x / Σ x^k - 1/k = mean of ln x`, by bisection |
//! | Pareto | `minimum` the smallest value, `α = n / Σ ln(x/minimum)` |
//! | hyperexponential of two branches | expectation maximisation from three starts: the best found, which may be a local one |
//!
//! The test: the Kolmogorov–Smirnov distance `D` of the sample from the fitted law, and how many samples of the fitted law, each
//! fitted anew, lie at least as far from their own fit (parametric bootstrap), `p = (1 + more) / (1 + replicates)`. A sample of
//! more than 2,000 values is tested by 2,000 of them, drawn without replacement.
//!
//! | | |
//! |-|-|
//! | Source | Law, *Simulation Modeling and Analysis*, 5th ed., sections 6.5 and 6.6; Dempster, Laird, Rubin, JRSS B 39 (1977); Stute, Gonzáles Manteiga, Presedo Quindimil, Metrika 40 (1993) |
//! | Units | those of the sample |
//! | Work | O(n) for each law, O(n) a step of the expectation maximisation; the test O(2000 log 2000) a replicate |
//! | Same seed | same numbers on one machine; the last places of likelihoods are those of the library of the machine |

mod column;
mod estimate;
mod likelihood;
mod test;

use core::fmt;

use crate::laws::ContinuousLaw;
use estimate::{EVERY, Estimate, Family};

pub use column::read_column;
pub use test::{MAX_REPLICATES, TESTED};

/// The fewest values that are fitted.
pub const FEWEST: usize = 10;

/// Why a sample cannot be fitted.
#[derive(Clone, Debug, PartialEq)]
pub enum SampleError {
    /// There are fewer values than [`FEWEST`].
    TooFew(usize),
    /// A value is not above 0 and finite: its place, from 0, and the value.
    Value(usize, f64),
    /// All values are this one.
    Same(f64),
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew(count) => {
                write!(f, "there are {count} values, must be at least {FEWEST}; measure more")
            }
            Self::Value(place, value) => {
                write!(f, "value {} is {value}, must be above 0; correct or remove it", place + 1)
            }
            Self::Same(value) => write!(f, "all values are {value}; take a constant of that"),
        }
    }
}

impl std::error::Error for SampleError {}

/// Positive values, in increasing order.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    values: Vec<f64>,
}

impl Sample {
    /// From values in any order.
    ///
    /// # Errors
    /// There are too few, all are the same, or one is not above 0 and finite.
    pub fn new(mut values: Vec<f64>) -> Result<Self, SampleError> {
        if values.len() < FEWEST {
            return Err(SampleError::TooFew(values.len()));
        }
        if let Some(place) = values.iter().position(|value| !(*value > 0.0 && value.is_finite())) {
            return Err(SampleError::Value(place, values[place]));
        }
        values.sort_unstable_by(f64::total_cmp);
        if values[0] == values[values.len() - 1] {
            return Err(SampleError::Same(values[0]));
        }
        Ok(Self { values })
    }

    /// The values, in increasing order.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }

    /// The coefficient of variation.
    #[must_use]
    pub fn cv(&self) -> f64 {
        let mean = self.mean();
        let square =
            self.values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / self.values.len() as f64;
        square.sqrt() / mean
    }
}

/// A law fitted to a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The law.
    pub law: ContinuousLaw,
    /// How many parameters were estimated.
    pub parameters: u32,
    /// The logarithm of the likelihood.
    pub log_likelihood: f64,
    /// Akaike's criterion, `2k - 2 ln L`.
    pub aic: f64,
    /// Schwarz's criterion, `k ln n - 2 ln L`.
    pub bic: f64,
    /// The Kolmogorov–Smirnov distance from the whole sample.
    pub distance: f64,
    /// The p-value of the test; `None` where it was not made.
    pub p_value: Option<f64>,
    family: Family,
}

/// The laws fitted to a sample, the best by Akaike's criterion first; the first `tested` of them are tested with as many
/// replicates, at most [`MAX_REPLICATES`].
#[must_use]
pub fn fit(sample: &Sample, tested: usize, replicates: u32, seed: u64) -> Vec<Fitted> {
    let mut all: Vec<Fitted> = EVERY.iter().filter_map(|family| fitted(sample, *family)).collect();
    all.sort_by(|a, b| a.aic.total_cmp(&b.aic));
    if replicates > 0 {
        for (index, fitted) in all.iter_mut().take(tested).enumerate() {
            fitted.p_value = Some(test::p_value(sample, fitted, replicates, (seed, index as u32)));
        }
    }
    all
}

/// One family fitted; `None` where the likelihood has no maximum within the bounds of its law.
fn fitted(sample: &Sample, family: Family) -> Option<Fitted> {
    let Estimate { law, parameters } = family.of(&sample.values, None)?;
    let log_likelihood = likelihood::of(&law, &sample.values);
    if !log_likelihood.is_finite() {
        return None;
    }
    let (k, n) = (f64::from(parameters), sample.values.len() as f64);
    Some(Fitted {
        parameters,
        log_likelihood,
        aic: 2.0 * k - 2.0 * log_likelihood,
        bic: k * libm::log(n) - 2.0 * log_likelihood,
        distance: test::distance(&law, &sample.values),
        p_value: None,
        law,
        family,
    })
}

#[cfg(test)]
mod tests;
