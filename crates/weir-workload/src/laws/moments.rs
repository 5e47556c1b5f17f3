//! Moments of laws: mean, variance, third central moment; `None` where infinite.

use super::{ContinuousLaw, Form};

/// Mean, variance and third central moment; `None` where infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// The mean.
    pub mean: Option<f64>,
    /// The variance.
    pub variance: Option<f64>,
    /// The mean of the cubed distance from the mean.
    pub third: Option<f64>,
}

impl Moments {
    fn of(mean: f64, variance: f64, third: f64) -> Self {
        Self { mean: Some(mean), variance: Some(variance), third: Some(third) }
    }

    /// From `E[X]`, `E[X²]`, `E[X³]`.
    pub(super) fn of_raw([first, second, third]: [Option<f64>; 3]) -> Self {
        let Some(m) = first else { return Self { mean: None, variance: None, third: None } };
        Self {
            mean: first,
            variance: second.map(|square| (square - m * m).max(0.0)),
            third: second.zip(third).map(|(square, cube)| cube - 3.0 * m * square + 2.0 * m * m * m),
        }
    }

    /// `E[X]`, `E[X²]`, `E[X³]`.
    #[must_use]
    pub fn raw(&self) -> [Option<f64>; 3] {
        let Some(m) = self.mean else { return [None; 3] };
        let second = self.variance.map(|variance| variance + m * m);
        let cube = second.zip(self.third).map(|(square, third)| third + 3.0 * m * square - 2.0 * m * m * m);
        [self.mean, second, cube]
    }
}

/// The moments of a sum over parts of probability `p`; infinite where one of positive probability is.
fn mixed(parts: impl Iterator<Item = (f64, [Option<f64>; 3])>) -> Moments {
    let mut sum = [Some(0.0), Some(0.0), Some(0.0)];
    for (p, raw) in parts.filter(|part| part.0 > 0.0) {
        for (sum, raw) in sum.iter_mut().zip(raw) {
            *sum = sum.zip(raw).map(|(sum, raw)| sum + p * raw);
        }
    }
    Moments::of_raw(sum)
}

fn lognormal(mean: f64, sigma: f64) -> Moments {
    let scv = libm::expm1(sigma * sigma);
    let variance = mean * mean * scv;
    Moments::of(mean, variance, (scv + 3.0) * scv.sqrt() * libm::pow(variance, 1.5))
}

fn weibull(shape: f64, scale: f64) -> Moments {
    let raw = |k: i32| Some(scale.powi(k) * libm::tgamma(1.0 + f64::from(k) / shape));
    Moments::of_raw([raw(1), raw(2), raw(3)])
}

fn pareto(alpha: f64, minimum: f64) -> Moments {
    let mean = (alpha > 1.0).then(|| alpha * minimum / (alpha - 1.0));
    let variance = (alpha > 2.0).then(|| {
        let distance = minimum / (alpha - 1.0);
        distance * distance * alpha / (alpha - 2.0)
    });
    let third = variance.filter(|_| alpha > 3.0).map(|variance| {
        libm::pow(variance, 1.5) * 2.0 * (1.0 + alpha) / (alpha - 3.0) * ((alpha - 2.0) / alpha).sqrt()
    });
    Moments { mean, variance, third }
}

/// `E[X^k]` of a bounded Pareto law: `α low^k (1 - r^(α-k)) / ((α-k) (1 - r^α))`, `r = low/high`.
fn bounded_pareto(alpha: f64, low: f64, high: f64, share: f64) -> Moments {
    let log_ratio = libm::log(low / high);
    let raw = |k: i32| {
        let power = alpha - f64::from(k);
        let width = if power.abs() < 1e-12 { -log_ratio } else { -libm::expm1(power * log_ratio) / power };
        Some(alpha * low.powi(k) * width / share)
    };
    Moments::of_raw([raw(1), raw(2), raw(3)])
}

impl ContinuousLaw {
    /// Mean, variance and third central moment.
    #[must_use]
    pub fn moments(&self) -> Moments {
        let gamma = |shape: f64, scale: f64| {
            let variance = shape * scale * scale;
            Moments::of(shape * scale, variance, 2.0 * variance * scale)
        };
        match &self.form {
            Form::Deterministic(value) => Moments::of(*value, 0.0, 0.0),
            Form::Uniform { low, high } => {
                Moments::of(low / 2.0 + high / 2.0, (high - low) * (high - low) / 12.0, 0.0)
            }
            Form::Exponential { mean } => gamma(1.0, *mean),
            Form::Erlang { stages, mean } => {
                let moments = gamma(f64::from(*stages), mean / f64::from(*stages));
                Moments { mean: Some(*mean), ..moments }
            }
            Form::Gamma { shape, scale } => gamma(*shape, *scale),
            Form::Lognormal { sigma, mean, .. } => lognormal(*mean, *sigma),
            Form::Weibull { shape, scale } => weibull(*shape, *scale),
            Form::Pareto { alpha, minimum } => pareto(*alpha, *minimum),
            Form::BoundedPareto { alpha, low, high, share } => bounded_pareto(*alpha, *low, *high, *share),
            Form::Hyperexponential(branches) => {
                let raw = |m: f64| [Some(m), Some(2.0 * m * m), Some(6.0 * m * m * m)];
                mixed(branches.iter().map(|&(p, mean)| (p, raw(mean))))
            }
            Form::PhaseType(phases) => Moments::of_raw(phases.raw_moments().map(Some)),
            Form::Mixture(parts) => mixed(parts.iter().map(|(p, law)| (*p, law.moments().raw()))),
            Form::Empirical(points) => Moments::of_raw(points.raw_moments().map(Some)),
        }
    }

    /// The mean; `None` where it is infinite.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        self.moments().mean
    }

    /// `E[X²]`; `None` where it is infinite.
    #[must_use]
    pub fn second_moment(&self) -> Option<f64> {
        self.moments().raw()[1]
    }

    /// The coefficient of variation, standard deviation over mean; `None` where the variance is infinite or the mean 0.
    #[must_use]
    pub fn cv(&self) -> Option<f64> {
        let moments = self.moments();
        let mean = moments.mean.filter(|mean| *mean > 0.0)?;
        moments.variance.map(|variance| variance.sqrt() / mean)
    }

    /// The skewness; `None` where the third moment is infinite or the law has one value alone.
    #[must_use]
    pub fn skewness(&self) -> Option<f64> {
        let moments = self.moments();
        let variance = moments.variance.filter(|variance| *variance > 0.0)?;
        moments.third.map(|third| third / libm::pow(variance, 1.5))
    }
}
