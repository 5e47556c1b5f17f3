//! Laws from the parameters that textbooks and measurements give.

use super::error::{positive, refused, sum_of, within};
use super::{ContinuousLaw, Empirical, Form, LawError, PhaseType};
use weir_lab::special::normal_quantile;

/// The largest coefficient of variation.
pub(super) const MAX_CV: f64 = 100.0;
/// The smallest shape of a gamma and of a Weibull law, and tail index of a Pareto law.
pub(super) const MIN_SHAPE: f64 = 0.05;
/// The largest of them.
pub(super) const MAX_SHAPE: f64 = 1e6;
/// The most stages of an Erlang law.
pub(super) const MAX_STAGES: u32 = 1000;
/// The most branches of a hyperexponential law, and parts of a mixture.
pub(super) const MAX_PARTS: usize = 64;

fn of<T>(form: Form) -> Result<ContinuousLaw, T> {
    Ok(ContinuousLaw { form })
}

/// Refuses no parts, and too many.
fn counted(parts: usize) -> Result<(), LawError> {
    match parts {
        1..=MAX_PARTS => Ok(()),
        _ => refused("number of parts", parts as f64, format!("from 1 to {MAX_PARTS}"), "list as many"),
    }
}

impl ContinuousLaw {
    /// Always this value.
    ///
    /// # Errors
    /// It is negative or not finite.
    pub fn deterministic(value: f64) -> Result<Self, LawError> {
        of(Form::Deterministic(within("value", value, 0.0, f64::MAX)?))
    }

    /// Evenly from `low` to `high`.
    ///
    /// # Errors
    /// `low` is negative, or `high` not above it.
    pub fn uniform(low: f64, high: f64) -> Result<Self, LawError> {
        within("low", low, 0.0, f64::MAX)?;
        if !(high > low && high.is_finite()) {
            return refused("high", high, format!("above low, which is {low}"), "raise it, or swap the two");
        }
        of(Form::Uniform { low, high })
    }

    /// Exponential of this mean.
    ///
    /// # Errors
    /// The mean is not above 0.
    pub fn exponential(mean: f64) -> Result<Self, LawError> {
        of(Form::Exponential { mean: positive("mean", mean)? })
    }

    /// The sum of `stages` exponential times, of this mean in all.
    ///
    /// # Errors
    /// There are 0 stages or above 1000, or the mean is not above 0.
    pub fn erlang(stages: u32, mean: f64) -> Result<Self, LawError> {
        within("stages", f64::from(stages), 1.0, f64::from(MAX_STAGES))?;
        of(Form::Erlang { stages, mean: positive("mean", mean)? })
    }

    /// Gamma by shape and scale.
    ///
    /// # Errors
    /// The shape is not from 0.05 to 10^6, or the scale not above 0.
    pub fn gamma(shape: f64, scale: f64) -> Result<Self, LawError> {
        within("shape", shape, MIN_SHAPE, MAX_SHAPE)?;
        of(Form::Gamma { shape, scale: positive("scale", scale)? })
    }

    /// Gamma by mean and coefficient of variation.
    ///
    /// # Errors
    /// The mean is not above 0, or the coefficient of variation not such that the shape, `1/cv²`, is in its bounds.
    pub fn gamma_of_mean(mean: f64, cv: f64) -> Result<Self, LawError> {
        positive("mean", mean)?;
        within("cv", cv, 1e-3, 1.0 / MIN_SHAPE.sqrt())?;
        Self::gamma((1.0 / (cv * cv)).clamp(MIN_SHAPE, MAX_SHAPE), mean * cv * cv)
    }

    /// Lognormal by mean and coefficient of variation.
    ///
    /// # Errors
    /// The mean is not above 0, or the coefficient of variation not from 0.001 to 100.
    pub fn lognormal(mean: f64, cv: f64) -> Result<Self, LawError> {
        positive("mean", mean)?;
        within("cv", cv, 1e-3, MAX_CV)?;
        let variance = libm::log1p(cv * cv);
        of(Form::Lognormal { mu: libm::log(mean) - variance / 2.0, sigma: variance.sqrt(), mean })
    }

    /// Lognormal by median and 99th percentile.
    ///
    /// # Errors
    /// The median is not above 0, or the percentile not above it and at most 1000 times as large.
    pub fn lognormal_of_median(median: f64, p99: f64) -> Result<Self, LawError> {
        positive("median", median)?;
        if !(p99 > median && p99 <= 1e3 * median) {
            let bound = format!("above median, which is {median}, and at most 1000 times that");
            return refused("p99", p99, bound, "write one such as five times the median");
        }
        Self::lognormal_of_logarithm(libm::log(median), libm::log(p99 / median) / normal_quantile(0.99))
    }

    /// Lognormal by mean and standard deviation of the logarithm.
    ///
    /// # Errors
    /// `mu` is not from -700 to 700, or `sigma` not above 0 and at most 5.
    pub fn lognormal_of_logarithm(mu: f64, sigma: f64) -> Result<Self, LawError> {
        within("mu", mu, -700.0, 700.0)?;
        within("sigma", sigma, 1e-6, 5.0)?;
        of(Form::Lognormal { mu, sigma, mean: libm::exp(mu + sigma * sigma / 2.0) })
    }

    /// Weibull by shape and scale.
    ///
    /// # Errors
    /// The shape is not from 0.05 to 10^6, or the scale not above 0.
    pub fn weibull(shape: f64, scale: f64) -> Result<Self, LawError> {
        within("shape", shape, MIN_SHAPE, MAX_SHAPE)?;
        of(Form::Weibull { shape, scale: positive("scale", scale)? })
    }

    /// Weibull by shape and mean.
    ///
    /// # Errors
    /// As [`ContinuousLaw::weibull`].
    pub fn weibull_of_mean(shape: f64, mean: f64) -> Result<Self, LawError> {
        within("shape", shape, MIN_SHAPE, MAX_SHAPE)?;
        Self::weibull(shape, positive("mean", mean)? / libm::tgamma(1.0 + 1.0 / shape))
    }

    /// Pareto by tail index and smallest value.
    ///
    /// # Errors
    /// `alpha` is not from 0.05 to 10^6, or the minimum not above 0.
    pub fn pareto(alpha: f64, minimum: f64) -> Result<Self, LawError> {
        within("alpha", alpha, MIN_SHAPE, MAX_SHAPE)?;
        of(Form::Pareto { alpha, minimum: positive("minimum", minimum)? })
    }

    /// Pareto by tail index and mean.
    ///
    /// # Errors
    /// `alpha` is 1 or less, where the mean is infinite, or the mean not above 0.
    pub fn pareto_of_mean(alpha: f64, mean: f64) -> Result<Self, LawError> {
        if alpha <= 1.0 {
            return refused("alpha", alpha, "above 1, the mean is infinite up to there", "raise it");
        }
        positive("mean", mean)?;
        Self::pareto(alpha, mean * (alpha - 1.0) / alpha)
    }

    /// Bounded Pareto.
    ///
    /// # Errors
    /// `alpha` is not from 0.05 to 100, `low` not above 0, or `high` not above `low`.
    pub fn bounded_pareto(alpha: f64, low: f64, high: f64) -> Result<Self, LawError> {
        within("alpha", alpha, MIN_SHAPE, 100.0)?;
        positive("low", low)?;
        if !(high > low && high.is_finite()) {
            return refused("high", high, format!("above low, which is {low}"), "raise it, or swap the two");
        }
        of(Form::BoundedPareto { alpha, low, high, share: -libm::expm1(alpha * libm::log(low / high)) })
    }

    /// Hyperexponential of two branches with balanced means, `p₁ m₁ = p₂ m₂`, by mean and coefficient of variation.
    ///
    /// # Errors
    /// The mean is not above 0, or the coefficient of variation not from 1 to 100.
    pub fn hyperexponential(mean: f64, cv: f64) -> Result<Self, LawError> {
        positive("mean", mean)?;
        within("cv", cv, 1.0, MAX_CV)?;
        let square = cv * cv;
        // The smaller probability without a difference of nearly equal numbers.
        let root = ((square - 1.0) / (square + 1.0)).sqrt();
        let small = 1.0 / ((square + 1.0) * (1.0 + root));
        Self::hyperexponential_of(&[
            (1.0 - small, mean / (2.0 * (1.0 - small))),
            (small, mean / (2.0 * small)),
        ])
    }

    /// Hyperexponential by probabilities and means of its branches.
    ///
    /// # Errors
    /// A probability is none, they do not sum to 1, or a mean is not above 0.
    pub fn hyperexponential_of(branches: &[(f64, f64)]) -> Result<Self, LawError> {
        counted(branches.len())?;
        branches.iter().try_for_each(|&(_, mean)| positive("mean", mean).map(drop))?;
        let sum = sum_of(branches.iter().map(|branch| branch.0))?;
        of(Form::Hyperexponential(branches.iter().map(|&(p, mean)| (p / sum, mean)).collect()))
    }

    /// The time to absorption of a Markov chain.
    #[must_use]
    pub fn phase_type(phases: PhaseType) -> Self {
        Self { form: Form::PhaseType(Box::new(phases)) }
    }

    /// One of several laws, by probability.
    ///
    /// # Errors
    /// A probability is none, or they do not sum to 1.
    pub fn mixture(parts: Vec<(f64, Self)>) -> Result<Self, LawError> {
        counted(parts.len())?;
        let sum = sum_of(parts.iter().map(|part| part.0))?;
        of(Form::Mixture(parts.into_iter().map(|(p, law)| (p / sum, law)).collect()))
    }

    /// Points of a distribution function with straight lines between them.
    #[must_use]
    pub fn empirical(points: Empirical) -> Self {
        Self { form: Form::Empirical(Box::new(points)) }
    }
}

/// The `p`-quantile of a lognormal law by mean and standard deviation of its logarithm.
pub(super) fn lognormal_quantile(mu: f64, sigma: f64, p: f64) -> f64 {
    libm::exp(mu + sigma * normal_quantile(p))
}
