//! Whether a run is long enough for the load of its queue: for a mean, and for a quantile.
//!
//! Queues forget slowly near saturation: over a relaxation time `τ`, which grows as `(1 - ρ)^-2` and with the second moment
//! of the services. With `n` replications, each with a warm-up `w` and a measured time `m`:
//!
//! | what | estimate | bound |
//! |-|-|-|
//! | how much too small means are, since queues begin empty | `min(1, τ / 4m) e^{-w/τ}` | 5 % |
//! | relative standard error of the mean delay | `√(σ² / n m)` | 6 %, and `√(τ' / τ)` times less where rare services make it skewed |
//! | independent exceedances of a quantile: times above it, each with all that wait then | `2 p n m / τ'`, `p` the share above | 6 |
//!
//! `σ²` is the asymptotic variance of the mean work, over its square. Of M/G/1 it is exact: with the work `V` and its
//! moments by Takács' recursion, `(E[V³] - E[V] E[V²]) / ((1 - ρ) E[V]²)`, from the first four moments of the services
//! ([`poisson`]). It is what a solution of Poisson's equation gives for the generator of the work: `v² / 2(1 - ρ)` solves it
//! for the mean (Asmussen and Glynn, *Stochastic Simulation*, 2007, section IV.4; derived there for M/M/1). Elsewhere it is
//! `τ (1 + ρ) / 2ρ` (Whitt). `τ'` is `τ`, of queues that are several samples at a time so much less, and longer where rare
//! long services make work forget more slowly than their second moment says ([`longer_by_rare`]).
//!
//! | | |
//! |-|-|
//! | Source | Whitt, *Planning queueing simulations*, Management Science 35(11), 1989: the bias and the standard error, in heavy traffic; Asmussen, *Queueing simulation in heavy traffic*, Mathematics of Operations Research 17(1), 1992: that time counts in relaxation times; Aldous, *Probability Approximations via the Poisson Clumping Heuristic*, 1989, section D2: the work is above a high level in clumps, at a Poisson rate, and of reflected Brownian motion a clump lasts `τ / 2` in the mean |
//! | Accuracy | exact for M/G/1 and the standard error; elsewhere near for loads near 1, and of the right order else |
//! | Exceedances | with six clumps in the mean the longest that was seen is above the quantile in all runs but `e^-6` of them |
//! | Bounds | measured ([studies](../../../../../docs/studies.md)): where these are met, 95 % intervals cover in 92 % or more |
//! | Units | nanoseconds, or any other unit of time for all |
//! | Work | O(1) |

use super::settled::Settled;

/// How much too small means may be.
pub const BIAS: f64 = 0.05;
/// How large the relative standard error of a mean delay may be.
pub const ERROR: f64 = 0.06;
/// How many independent exceedances a quantile needs.
pub const EXCEEDANCES: f64 = 6.0;

/// How long a run is, and what its queue takes to forget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunLength {
    /// The offered load, above 0 and below 1.
    pub load: f64,
    /// `τ`.
    pub relaxation: f64,
    /// `τ'`.
    pub clump: f64,
    /// `σ²`: what a measured time of one has of squared relative error.
    pub variance: f64,
    /// `w`.
    pub warm_up: f64,
    /// `m`.
    pub measured: f64,
    /// `n`.
    pub replications: f64,
}

/// `τ` of a load and of the variance of the work that comes in a unit of time, of which `1 - load` can be done besides.
#[must_use]
pub fn relaxation(load: f64, variance: f64) -> f64 {
    2.0 * variance / ((1.0 - load) * (1.0 - load))
}

/// `σ²` by Whitt's estimate.
#[must_use]
pub fn in_heavy_traffic(load: f64, relaxation: f64) -> f64 {
    relaxation * (1.0 + load) / (2.0 * load)
}

/// `σ²` of M/G/1: `rate` of arrivals, and the moments of their services from the first to the fourth.
#[must_use]
pub fn poisson(rate: f64, moments: [f64; 4]) -> f64 {
    let [first, second, third, fourth] = moments;
    let spare = 1.0 - rate * first;
    let by = rate / spare;
    let mean = by * second / 2.0;
    let square = by * (second * mean + third / 3.0);
    let cube = by * (1.5 * second * square + third * mean + fourth / 4.0);
    (cube - mean * square) / (spare * mean * mean)
}

/// How many times as slowly as by the second moment work forgets because of rare long services: `σ²` over that of services
/// with the same first two moments whose third and fourth are as of an exponential time; at least 1. Parameters as of
/// [`poisson`].
#[must_use]
pub fn longer_by_rare(rate: f64, moments: [f64; 4]) -> f64 {
    let [first, second, ..] = moments;
    let alike = [first, second, 1.5 * second * second / first, 3.0 * second.powi(3) / (first * first)];
    (poisson(rate, moments) / poisson(rate, alike)).max(1.0)
}

impl RunLength {
    /// How much too small means may be.
    #[must_use]
    pub fn bias(&self) -> f64 {
        (self.relaxation / (4.0 * self.measured)).min(1.0) * libm::exp(-self.warm_up / self.relaxation)
    }

    /// The relative standard error of the mean delay.
    #[must_use]
    pub fn error(&self) -> f64 {
        (self.variance / (self.replications * self.measured)).sqrt()
    }

    /// The independent exceedances of a quantile that a share `above` is above.
    #[must_use]
    pub fn exceedances(&self, above: f64) -> f64 {
        2.0 * above * self.replications * self.measured / self.clump
    }

    /// Whether a mean is beyond one of its bounds.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.bias() > BIAS || self.error() > self.allowed(ERROR)
    }

    /// What a mean needs whose relative standard error may be `error`, that of the mean delay if it is [`ERROR`].
    #[must_use]
    pub fn mean(&self, error: f64) -> Settled {
        let for_bias = if self.bias() > BIAS { self.time_for_bias() / self.measured } else { 1.0 };
        Settled::needing(for_bias.max((self.error() / self.allowed(error)).powi(2)))
    }

    /// What a quantile needs that a share `above` is above, and `exceedances` of them independent.
    #[must_use]
    pub fn quantile(&self, above: f64, exceedances: f64) -> Settled {
        Settled::needing(exceedances / self.exceedances(above))
    }

    /// Of a relative standard error what is allowed where rare long services make means skewed.
    #[must_use]
    pub fn allowed(&self, error: f64) -> f64 {
        error / (self.clump / self.relaxation).max(1.0).sqrt()
    }

    /// The measured time at which the bias meets its bound.
    fn time_for_bias(&self) -> f64 {
        self.relaxation / (4.0 * BIAS) * libm::exp(-self.warm_up / self.relaxation)
    }

    /// The measured time at which a mean meets both bounds.
    #[must_use]
    pub fn time_for_mean(&self) -> f64 {
        self.time_for_bias().max(self.variance / (self.allowed(ERROR).powi(2) * self.replications))
    }
}

#[cfg(test)]
mod tests;
