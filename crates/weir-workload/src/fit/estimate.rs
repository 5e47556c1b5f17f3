//! The maximum of the likelihood of each family.

use super::likelihood;
use crate::laws::{ContinuousLaw, Form};
use statrs::function::gamma::digamma;

/// Where shapes are sought.
const SHAPES: (f64, f64) = (0.05, 1e6);
/// Bisections of the logarithm of a shape: to some 1e-14 of it.
const BISECTIONS: u32 = 60;
/// Steps of the expectation maximisation, and by what the likelihood grows at least.
const STEPS: u32 = 2000;
const GAIN: f64 = 1e-9;
/// The same in a replicate, which begins at the fit of the sample.
const STEPS_AGAIN: u32 = 100;

/// A family of laws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Exponential,
    Gamma,
    Erlang,
    Lognormal,
    Weibull,
    Pareto,
    Hyperexponential,
}

/// All families, those of fewer parameters first.
pub(super) const EVERY: [Family; 7] = [
    Family::Exponential,
    Family::Erlang,
    Family::Gamma,
    Family::Lognormal,
    Family::Weibull,
    Family::Pareto,
    Family::Hyperexponential,
];

/// The best law of a family.
pub(super) struct Estimate {
    pub(super) law: ContinuousLaw,
    pub(super) parameters: u32,
}

impl Family {
    /// The best of the family for values in increasing order; `near` is a law to begin at, where there is one.
    pub(super) fn of(self, values: &[f64], near: Option<&ContinuousLaw>) -> Option<Estimate> {
        let moments = Averages::of(values);
        let (law, parameters) = match self {
            Self::Exponential => (ContinuousLaw::exponential(moments.mean).ok()?, 1),
            Self::Gamma => {
                let shape = gamma_shape(&moments)?;
                (ContinuousLaw::gamma(shape, moments.mean / shape).ok()?, 2)
            }
            Self::Erlang => (erlang(&moments, values)?, 2),
            Self::Lognormal => {
                let square = values.iter().map(|x| (libm::log(*x) - moments.log).powi(2)).sum::<f64>();
                let sigma = (square / values.len() as f64).sqrt();
                (ContinuousLaw::lognormal_of_logarithm(moments.log, sigma).ok()?, 2)
            }
            Self::Weibull => (weibull(values, moments.log)?, 2),
            Self::Pareto => {
                let minimum = values[0];
                let alpha = 1.0 / (moments.log - libm::log(minimum));
                (ContinuousLaw::pareto(alpha, minimum).ok()?, 2)
            }
            Self::Hyperexponential => (hyperexponential(values, moments.mean, near)?, 3),
        };
        Some(Estimate { law, parameters })
    }
}

/// The mean, and the mean of the logarithms.
struct Averages {
    mean: f64,
    log: f64,
}

impl Averages {
    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        Self {
            mean: values.iter().sum::<f64>() / n,
            log: values.iter().map(|x| libm::log(*x)).sum::<f64>() / n,
        }
    }
}

/// Where a function that grows along the logarithm of a shape is 0; `None` where that is out of bounds.
fn root(of: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut low, mut high) = (libm::log(SHAPES.0), libm::log(SHAPES.1));
    if of(SHAPES.0) > 0.0 || of(SHAPES.1) < 0.0 {
        return None;
    }
    for _ in 0..BISECTIONS {
        let middle = low.midpoint(high);
        if of(libm::exp(middle)) < 0.0 { low = middle } else { high = middle }
    }
    Some(libm::exp(low.midpoint(high)))
}

fn gamma_shape(moments: &Averages) -> Option<f64> {
    let gap = libm::log(moments.mean) - moments.log;
    root(|shape| gap - (libm::log(shape) - digamma(shape)))
}

fn erlang(moments: &Averages, values: &[f64]) -> Option<ContinuousLaw> {
    let shape = gamma_shape(moments)?.clamp(1.0, 1000.0);
    let of = |stages: f64| ContinuousLaw::erlang(stages as u32, moments.mean).ok();
    let (below, above) = (of(shape.floor())?, of(shape.ceil())?);
    let worse = likelihood::of(&below, values) < likelihood::of(&above, values);
    Some(if worse { above } else { below })
}

/// Of values over the largest, so that no power overflows.
fn weibull(values: &[f64], log: f64) -> Option<ContinuousLaw> {
    let largest = values[values.len() - 1];
    let logs: Vec<f64> = values.iter().map(|x| libm::log(x / largest)).collect();
    let mean_log = log - libm::log(largest);
    let shape = root(|shape| {
        let (mut sum, mut weighed) = (0.0, 0.0);
        for log in &logs {
            let power = libm::exp(shape * log);
            (sum, weighed) = (sum + power, weighed + power * log);
        }
        weighed / sum - 1.0 / shape - mean_log
    })?;
    let mean_power = logs.iter().map(|log| libm::exp(shape * log)).sum::<f64>() / values.len() as f64;
    ContinuousLaw::weibull(shape, largest * libm::pow(mean_power, 1.0 / shape)).ok()
}

/// Two branches: the probability of the first, and their means.
#[derive(Clone, Copy)]
struct Branches {
    first: f64,
    means: [f64; 2],
}

impl Branches {
    fn law(self) -> Option<ContinuousLaw> {
        let [short, long] = self.means;
        ContinuousLaw::hyperexponential_of(&[(self.first, short), (1.0 - self.first, long)]).ok()
    }

    /// One step: the likelihood before it, and the branches after.
    fn step(self, values: &[f64]) -> (f64, Self) {
        let (mut count, mut sums, mut likelihood) = (0.0, [0.0; 2], 0.0);
        for x in values {
            let one = self.first / self.means[0] * libm::exp(-x / self.means[0]);
            let other = (1.0 - self.first) / self.means[1] * libm::exp(-x / self.means[1]);
            let share = one / (one + other);
            likelihood += libm::log(one + other);
            count += share;
            sums[0] += share * x;
            sums[1] += (1.0 - share) * x;
        }
        let n = values.len() as f64;
        let means = [sums[0] / count, sums[1] / (n - count)];
        (likelihood, Self { first: count / n, means })
    }

    /// Steps until the likelihood hardly grows; `None` where a branch is left without values.
    fn climbed(mut self, values: &[f64], steps: u32) -> Option<(f64, Self)> {
        let mut before = f64::NEG_INFINITY;
        for _ in 0..steps {
            let (likelihood, next) = self.step(values);
            let is_sound = next.first > 1e-9
                && next.first < 1.0 - 1e-9
                && next.means.iter().all(|mean| *mean > 0.0 && mean.is_finite());
            if !is_sound || !likelihood.is_finite() {
                return None;
            }
            if likelihood - before <= GAIN * values.len() as f64 {
                break;
            }
            (before, self) = (likelihood, next);
        }
        Some((before, self))
    }
}

fn hyperexponential(values: &[f64], mean: f64, near: Option<&ContinuousLaw>) -> Option<ContinuousLaw> {
    if let Some(Form::Hyperexponential(branches)) = near.map(ContinuousLaw::form) {
        let [(first, short), (_, long)] = branches[..] else { return None };
        let begun = Branches { first, means: [short, long] };
        return begun.climbed(values, STEPS_AGAIN).and_then(|(_, found)| found.law());
    }
    let starts = [(0.5, 0.5, 1.5), (0.9, 0.5, 5.5), (0.99, 0.7, 30.7)];
    let climbed = starts.iter().filter_map(|&(first, short, long)| {
        Branches { first, means: [short * mean, long * mean] }.climbed(values, STEPS)
    });
    let best = climbed.max_by(|a, b| a.0.total_cmp(&b.0))?;
    best.1.law()
}
