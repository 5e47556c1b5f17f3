//! GI/M/1: arrivals with independent gaps of one law, one exponential server.
//!
//! With `A*` the Laplace transform of the gaps and `μ` the rate of service, `σ` the root below 1 of `σ = A*(μ (1 - σ))`:
//!
//! | | |
//! |-|-|
//! | an arrival waits | with probability `σ` |
//! | for longer than `t` | with probability `σ e^{-μ (1 - σ) t}` |
//! | on average | `σ / (μ (1 - σ))` |
//! | Source | Kendall 1953; Kleinrock, *Queueing Systems* I, 1975, section 6.4 |
//! | Units | rates per unit of time, times in it |
//! | Work | about 100 transforms: bisection for `1 - σ`, whose digits stay where the load is near 1 |

use super::{TheoryError, check_load};

/// How often bisection halves the interval.
const HALVINGS: u32 = 110;
/// Below every root that a load of at most 1 - 1e-9 has.
const LEAST: f64 = 1e-10;

/// The law of the gaps between arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// All alike: D/M/1.
    Constant,
    /// Sums of this many exponential times: E_k/M/1; with one it is M/M/1.
    Erlang(u32),
}

impl Gaps {
    /// `1 - A*(s)` with gaps of 1 on average.
    fn complement(self, s: f64) -> f64 {
        match self {
            Self::Constant => -libm::expm1(-s),
            Self::Erlang(k) => {
                let k = f64::from(k);
                -libm::expm1(-k * libm::log1p(s / k))
            }
        }
    }
}

/// The queue GI/M/1, first come first served.
///
/// ```
/// use weir_theory::{Gaps, GiM1};
/// let queue = GiM1::new(Gaps::Constant, 0.5, 1.0)?;
/// // σ = e^{-2 (1 - σ)}.
/// assert!((queue.waits() - 0.203188).abs() < 1e-6);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GiM1 {
    /// `1 - σ`.
    at_once: f64,
    service: f64,
}

impl GiM1 {
    /// Solves the queue with `arrival` arrivals and `service` services in a unit of time.
    ///
    /// # Errors
    /// [`TheoryError::Unstable`] at a load of 1 or more, [`TheoryError::Load`] if it is no load, [`TheoryError::Parameter`] for gaps of no
    /// phase or a rate of service out of bounds.
    pub fn new(gaps: Gaps, arrival: f64, service: f64) -> Result<Self, TheoryError> {
        if gaps == Gaps::Erlang(0) {
            return Err(TheoryError::Parameter { name: "number of phases", value: 0.0, bound: "at least 1" });
        }
        if !(service > 0.0 && service.is_finite()) {
            let bound = "positive and finite";
            return Err(TheoryError::Parameter { name: "rate of service", value: service, bound });
        }
        let load = arrival / service;
        check_load(load)?;
        // With y = 1 - σ: the transform's complement at y over the load exceeds y below the root, and falls short above.
        let below = |y: f64| gaps.complement(y / load) > y;
        let halve = |(low, high): (f64, f64), _| {
            let middle = 0.5 * (low + high);
            if below(middle) { (middle, high) } else { (low, middle) }
        };
        let (low, high) = (0..HALVINGS).fold((LEAST, 1.0), halve);
        Ok(Self { at_once: 0.5 * (low + high), service })
    }

    /// The share of arrivals that have to wait, from 0 to 1.
    #[must_use]
    pub fn waits(&self) -> f64 {
        1.0 - self.at_once
    }

    /// The mean wait, in the unit of time.
    #[must_use]
    pub fn mean_wait(&self) -> f64 {
        self.waits() / (self.service * self.at_once)
    }

    /// The share of arrivals that wait for longer than `t`.
    #[must_use]
    pub fn wait_tail(&self, t: f64) -> f64 {
        if t < 0.0 { 1.0 } else { self.waits() * libm::exp(-self.service * self.at_once * t) }
    }

    /// The wait that a share `below` of arrivals does not exceed, in the unit of time.
    ///
    /// # Errors
    /// [`TheoryError::Parameter`] unless `0 < below < 1`.
    pub fn wait_quantile(&self, below: f64) -> Result<f64, TheoryError> {
        if !(below > 0.0 && below < 1.0) {
            let bound = "above 0 and below 1";
            return Err(TheoryError::Parameter { name: "quantile", value: below, bound });
        }
        Ok((libm::log(self.waits() / (1.0 - below)) / (self.service * self.at_once)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_phase_is_mm1_at_any_load() {
        for load in [1e-6, 0.5, 0.99, 0.999_999] {
            let queue = GiM1::new(Gaps::Erlang(1), 2.0 * load, 2.0).expect("a load");
            assert!((queue.waits() / load - 1.0).abs() < 1e-9, "{load}: {}", queue.waits());
            let expected = load / (2.0 * (1.0 - load));
            assert!((queue.mean_wait() / expected - 1.0).abs() < 1e-8, "{load}");
        }
    }

    #[test]
    fn two_phases_by_hand() {
        // (1 + y / 2ρ)² (1 - y) = 1: y² / 4ρ² + y (1/ρ - 1/4ρ²) + 1 - 1/ρ = 0.
        let load = 0.6_f64;
        let (a, b, c) = (0.25 / (load * load), 1.0 / load - 0.25 / (load * load), 1.0 - 1.0 / load);
        let root = ((b * b - 4.0 * a * c).sqrt() - b) / (2.0 * a);
        let found = GiM1::new(Gaps::Erlang(2), load, 1.0).expect("a load");
        assert!((found.waits() - (1.0 - root)).abs() < 1e-13, "{} {root}", found.waits());
    }

    #[test]
    fn equal_gaps_wait_as_in_lindleys_recursion() {
        let (load, mut wait, mut sum) = (0.8, 0.0_f64, 0.0);
        let mut noise = weir_lab::stats::testing::Noise::new(3);
        let mut long = 0_u32;
        for _ in 0..2_000_000 {
            wait = (wait + noise.exponential() - 1.0 / load).max(0.0);
            sum += wait;
            long += u32::from(wait > 3.0);
        }
        let queue = GiM1::new(Gaps::Constant, load, 1.0).expect("a load");
        assert!((queue.mean_wait() / (sum / 2e6) - 1.0).abs() < 0.02, "{} {}", queue.mean_wait(), sum / 2e6);
        assert!((queue.wait_tail(3.0) / (f64::from(long) / 2e6) - 1.0).abs() < 0.03);
        let t = queue.wait_quantile(0.99).expect("a share");
        assert!((queue.wait_tail(t) - 0.01).abs() < 1e-14);
        assert_eq!(queue.wait_quantile(0.01), Ok(0.0));
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        assert_eq!(GiM1::new(Gaps::Constant, 1.0, 1.0), Err(TheoryError::Unstable(1.0)));
        assert!(GiM1::new(Gaps::Erlang(0), 0.5, 1.0).is_err());
        assert!(GiM1::new(Gaps::Constant, 0.5, f64::NAN).is_err());
        assert!(GiM1::new(Gaps::Constant, f64::NAN, 1.0).is_err());
    }
}
