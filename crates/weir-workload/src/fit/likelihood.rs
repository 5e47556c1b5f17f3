//! Logarithms of densities.

use crate::laws::{ContinuousLaw, Form};

/// Half of `ln 2π`.
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_8;

/// The logarithm of the likelihood of a law; not a number of the laws that are not fitted.
pub(super) fn of(law: &ContinuousLaw, values: &[f64]) -> f64 {
    let sum = |density: &dyn Fn(f64) -> f64| values.iter().map(|x| density(*x)).sum();
    match law.form() {
        Form::Exponential { mean } => sum(&|x| -libm::log(*mean) - x / mean),
        Form::Gamma { shape, scale } => gamma(*shape, *scale, values),
        Form::Erlang { stages, mean } => gamma(f64::from(*stages), mean / f64::from(*stages), values),
        Form::Lognormal { mu, sigma, .. } => sum(&|x| {
            let z = (libm::log(x) - mu) / sigma;
            -libm::log(x) - libm::log(*sigma) - HALF_LN_2_PI - 0.5 * z * z
        }),
        Form::Weibull { shape, scale } => sum(&|x| {
            let log_ratio = libm::log(x / scale);
            libm::log(shape / scale) + (shape - 1.0) * log_ratio - libm::exp(shape * log_ratio)
        }),
        Form::Pareto { alpha, minimum } => {
            sum(&|x| libm::log(*alpha) + alpha * libm::log(*minimum) - (alpha + 1.0) * libm::log(x))
        }
        Form::Hyperexponential(branches) => {
            sum(&|x| libm::log(branches.iter().map(|(p, mean)| p / mean * libm::exp(-x / mean)).sum::<f64>()))
        }
        _ => f64::NAN,
    }
}

fn gamma(shape: f64, scale: f64, values: &[f64]) -> f64 {
    let constant = -libm::lgamma(shape) - shape * libm::log(scale);
    values.iter().map(|x| constant + (shape - 1.0) * libm::log(*x) - x / scale).sum()
}
