//! Distribution functions, survival functions, densities and quantiles of laws.
//!
//! Quantiles that have no closed form are found by bisection, to the last place; the tail above the median by the survival
//! function, so that far quantiles keep their digits.

use super::build::lognormal_quantile;
use super::{ContinuousLaw, Form};
use weir_lab::special::{gamma_above, gamma_below, normal_survival};

/// Bisections of an interval: more than a double has places.
const BISECTIONS: u32 = 200;

impl ContinuousLaw {
    /// `P(X <= x)`.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        match &self.form {
            Form::Deterministic(value) => f64::from(u8::from(x >= *value)),
            _ if x < 0.0 => 0.0,
            Form::Uniform { low, high } => ((x - low) / (high - low)).clamp(0.0, 1.0),
            Form::Exponential { mean } => -libm::expm1(-x / mean),
            Form::Erlang { stages, mean } => gamma_below(f64::from(*stages), x * f64::from(*stages) / mean),
            Form::Gamma { shape, scale } => gamma_below(*shape, x / scale),
            Form::Lognormal { mu, sigma, .. } => normal_survival((mu - libm::log(x)) / sigma),
            Form::Weibull { shape, scale } => -libm::expm1(-libm::pow(x / scale, *shape)),
            Form::Pareto { alpha, minimum } => {
                if x > *minimum {
                    -libm::expm1(alpha * libm::log(minimum / x))
                } else {
                    0.0
                }
            }
            Form::BoundedPareto { alpha, low, share, .. } => {
                if x > *low {
                    (-libm::expm1(alpha * libm::log(low / x)) / share).min(1.0)
                } else {
                    0.0
                }
            }
            Form::Hyperexponential(branches) => {
                branches.iter().map(|(p, mean)| -p * libm::expm1(-x / mean)).sum()
            }
            Form::PhaseType(phases) => 1.0 - phases.survival(x),
            Form::Mixture(parts) => parts.iter().map(|(p, law)| p * law.cdf(x)).sum(),
            Form::Empirical(points) => points.cdf(x),
        }
    }

    /// `P(X > x)`, with its own digits where it is small.
    #[must_use]
    pub fn survival(&self, x: f64) -> f64 {
        match &self.form {
            _ if x < 0.0 => 1.0,
            Form::Exponential { mean } => libm::exp(-x / mean),
            Form::Erlang { stages, mean } => gamma_above(f64::from(*stages), x * f64::from(*stages) / mean),
            Form::Gamma { shape, scale } => gamma_above(*shape, x / scale),
            Form::Lognormal { mu, sigma, .. } => normal_survival((libm::log(x) - mu) / sigma),
            Form::Weibull { shape, scale } => libm::exp(-libm::pow(x / scale, *shape)),
            Form::Pareto { alpha, minimum } => libm::pow(minimum / x, *alpha).min(1.0),
            Form::Hyperexponential(branches) => {
                branches.iter().map(|(p, mean)| p * libm::exp(-x / mean)).sum()
            }
            Form::PhaseType(phases) => phases.survival(x),
            Form::Mixture(parts) => parts.iter().map(|(p, law)| p * law.survival(x)).sum(),
            Form::Deterministic(_)
            | Form::Uniform { .. }
            | Form::BoundedPareto { .. }
            | Form::Empirical(_) => 1.0 - self.cdf(x),
        }
    }

    /// The smallest value with `P(X <= x) >= p`; `p` is taken into 0..=1, and the quantile of 1 of a law without bound is
    /// infinite.
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        let p = if p > 0.0 { p.min(1.0) } else { 0.0 };
        match &self.form {
            Form::Deterministic(value) => *value,
            Form::Uniform { low, high } => low + p * (high - low),
            Form::Empirical(points) => points.quantile(p),
            Form::BoundedPareto { alpha, low, high, share } => {
                (low * libm::exp(-libm::log1p(-p * share) / alpha)).min(*high)
            }
            Form::Pareto { minimum, .. } if p == 0.0 => *minimum,
            _ if p == 0.0 && !matches!(self.form, Form::Mixture(_)) => 0.0,
            _ if p == 1.0 && !matches!(self.form, Form::Mixture(_)) => f64::INFINITY,
            Form::Exponential { mean } => -mean * libm::log1p(-p),
            Form::Lognormal { mu, sigma, .. } => lognormal_quantile(*mu, *sigma, p),
            Form::Weibull { shape, scale } => scale * libm::pow(-libm::log1p(-p), 1.0 / shape),
            Form::Pareto { alpha, minimum } => minimum * libm::exp(-libm::log1p(-p) / alpha),
            Form::Mixture(parts) => {
                let of = || parts.iter().filter(|part| part.0 > 0.0).map(|(_, law)| law.quantile(p));
                let (low, high) = (of().fold(f64::INFINITY, f64::min), of().fold(0.0, f64::max));
                if high.is_infinite() { high } else { self.bisected(p, low, high) }
            }
            Form::Erlang { .. } | Form::Gamma { .. } | Form::Hyperexponential(_) | Form::PhaseType(_) => {
                let mut high = self.mean().unwrap_or(1.0);
                while !self.reaches(high, p) && high.is_finite() {
                    high *= 2.0;
                }
                self.bisected(p, 0.0, high)
            }
        }
    }

    fn reaches(&self, x: f64, p: f64) -> bool {
        if p > 0.5 { self.survival(x) <= 1.0 - p } else { self.cdf(x) >= p }
    }

    /// The quantile, which lies above `low` and up to `high`.
    fn bisected(&self, p: f64, mut low: f64, mut high: f64) -> f64 {
        if self.reaches(low, p) {
            return low;
        }
        for _ in 0..BISECTIONS {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                break;
            }
            if self.reaches(middle, p) { high = middle } else { low = middle }
        }
        high
    }
}
