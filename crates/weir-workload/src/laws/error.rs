//! Why a law cannot be built: which parameter, its value, its bound, and what to do.

use core::fmt;

/// Why a law cannot be built.
#[derive(Clone, Debug, PartialEq)]
pub struct LawError {
    /// The parameter, by the name that documents give it.
    pub parameter: &'static str,
    /// Its value.
    pub value: f64,
    /// What it must be.
    pub bound: String,
    /// What to do.
    pub remedy: &'static str,
}

impl fmt::Display for LawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, must be {}; {}", self.parameter, self.value, self.bound, self.remedy)
    }
}

impl std::error::Error for LawError {}

/// A refusal of this parameter.
pub(super) fn refused<T>(
    parameter: &'static str,
    value: f64,
    bound: impl Into<String>,
    remedy: &'static str,
) -> Result<T, LawError> {
    Err(LawError { parameter, value, bound: bound.into(), remedy })
}

/// The parameter, which must lie from `low` to `high`.
pub(super) fn within(parameter: &'static str, value: f64, low: f64, high: f64) -> Result<f64, LawError> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    let remedy = if value > high { "lower it" } else { "raise it" };
    refused(parameter, value, format!("from {low} to {high}"), remedy)
}

/// The parameter, which must be above 0 and finite.
pub(super) fn positive(parameter: &'static str, value: f64) -> Result<f64, LawError> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    refused(parameter, value, "a number above 0", "raise it")
}

/// How far probabilities may be from a sum of 1; within it they are scaled.
const SUM_TOLERANCE: f64 = 1e-6;

/// The sum of probabilities that make a law.
pub(super) fn sum_of(probabilities: impl Iterator<Item = f64>) -> Result<f64, LawError> {
    let mut sum = 0.0;
    for p in probabilities {
        sum += within("probability", p, 0.0, 1.0)?;
    }
    if (sum - 1.0).abs() <= SUM_TOLERANCE {
        return Ok(sum);
    }
    refused("sum of probabilities", sum, "1", "correct one of them")
}
