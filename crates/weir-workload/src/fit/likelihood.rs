//! Logarithms of densities.

use crate::laws::{ContinuousLaw, Form};

/// Half of `ln 2π`.
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_8;

/// The logarithm of the likelihood of a law; not a number of the laws that are not fitted.
pub(super) fn of(law: &ContinuousLaw, values: &[f64]) -> f64 {
    let sum = |density: &dyn Fn(f64) -> f64| values.iter().map(|x| density(*x)).sum();
    match law.form() {
        Form::Exponential { mean } => sum(&|x| -mean.ln() - x / mean),
        Form::Gamma { shape, scale } => gamma(*shape, *scale, values),
        Form::Erlang { stages, mean } => gamma(f64::from(*stages), mean / f64::from(*stages), values),
        Form::Lognormal { mu, sigma, .. } => sum(&|x| {
            let z = (x.ln() - mu) / sigma;
            -x.ln() - sigma.ln() - HALF_LN_2_PI - 0.5 * z * z
        }),
        Form::Weibull { shape, scale } => sum(&|x| {
            let log_ratio = (x / scale).ln();
            (shape / scale).ln() + (shape - 1.0) * log_ratio - (shape * log_ratio).exp()
        }),
        Form::Pareto { alpha, minimum } => {
            sum(&|x| alpha.ln() + alpha * minimum.ln() - (alpha + 1.0) * x.ln())
        }
        Form::Hyperexponential(branches) => {
            sum(&|x| branches.iter().map(|(p, mean)| p / mean * (-x / mean).exp()).sum::<f64>().ln())
        }
        _ => f64::NAN,
    }
}

fn gamma(shape: f64, scale: f64, values: &[f64]) -> f64 {
    let constant = -libm::lgamma(shape) - shape * scale.ln();
    values.iter().map(|x| constant + (shape - 1.0) * x.ln() - x / scale).sum()
}
