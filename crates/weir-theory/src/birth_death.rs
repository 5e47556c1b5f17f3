//! The birth–death chain: how often each number of customers is present, from the rates at which it rises and falls.
//!
//! | | |
//! |-|-|
//! | Formula | `π(n+1) = π(n) λ(n) / μ(n+1)`, scaled to the sum 1: what goes up over a cut comes down again |
//! | Source | Feller, *An Introduction to Probability Theory and Its Applications* I, 1950, section 17.7; Kleinrock, *Queueing Systems* I, 1975, section 3.1 |
//! | Units | both rates in one unit of time, which cancels |
//! | Work | O(states) in time and space, at most 2^22 states |
//! | Accuracy | relative error of a share about 1e-16 times its distance from state 0; an endless chain is cut where less than 1e-18 of the whole lies beyond |
//!
//! The products leave the range of floating-point numbers with some hundred customers: each weight therefore carries the power of
//! `1e200` by which it was scaled, and only the ratios to the largest are formed.

use super::{NoForm, TheoryError};

/// The most states of a chain.
pub const MOST_STATES: usize = 1 << 22;
/// Weights stay between the reciprocal of this and this.
const SCALE: f64 = 1e200;
/// And so do the ratios of births to deaths, with half its power, so that one step leaves no range.
const FAR: f64 = 1e100;
/// An endless chain ends where so small a part lies beyond.
const CUT: f64 = 1e-18;

/// The stationary distribution of a birth–death chain.
///
/// ```
/// use weir_theory::BirthDeath;
/// // One server with two places: three states with weights 1, 1/2, 1/4.
/// let chain = BirthDeath::new(|_| 1.0, |_| 2.0, Some(2))?;
/// assert!((chain.share(0) - 4.0 / 7.0).abs() < 1e-15);
/// assert!((chain.mean(|n| n as f64) - 4.0 / 7.0).abs() < 1e-15);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BirthDeath {
    shares: Vec<f64>,
}

/// A weight on its way: the number, and the power of [`SCALE`] it is to be multiplied with.
#[derive(Clone, Copy)]
struct Weight {
    number: f64,
    power: i32,
}

impl BirthDeath {
    /// The chain with `births(n)` from `n` to `n + 1` and `deaths(n)` from `n` to `n - 1`, in one unit of time; it ends at
    /// `last`, or at the first state without births.
    ///
    /// Without `last`, the ratio of births to deaths must not rise any more once it is below 1.
    ///
    /// # Errors
    /// [`TheoryError::Parameter`] where a rate of births is negative or no number, or one of deaths is not positive;
    /// [`NoForm::OutOfRange`] where one is 1e100 times the other; [`NoForm::TooManyStates`] beyond [`MOST_STATES`], as where an endless chain has no distribution.
    pub fn new(
        births: impl Fn(usize) -> f64,
        deaths: impl Fn(usize) -> f64,
        last: Option<usize>,
    ) -> Result<Self, TheoryError> {
        let mut weights = vec![Weight { number: 1.0, power: 0 }];
        let mut total = 1.0;
        for n in 0..last.unwrap_or(usize::MAX) {
            let (up, down) = (checked_births(births(n))?, checked_deaths(deaths(n + 1))?);
            let before = weights[n];
            if up == 0.0 || last.is_none() && is_negligible(before.number, up / down, total) {
                break;
            }
            if !(1.0 / FAR..=FAR).contains(&(up / down)) {
                return Err(NoForm::OutOfRange.into());
            }
            if weights.len() >= MOST_STATES {
                return Err(NoForm::TooManyStates.into());
            }
            let (next, scaled) = Weight { number: before.number * (up / down), ..before }.in_range();
            total = total * scaled + next.number;
            weights.push(next);
        }
        Ok(Self { shares: shares_of(&weights) })
    }

    /// The share of time with `n` customers, from 0 to 1.
    #[must_use]
    pub fn share(&self, n: usize) -> f64 {
        self.shares.get(n).copied().unwrap_or(0.0)
    }

    /// The shares of all states from 0 on.
    #[must_use]
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// The mean of `f` over time, in the unit of `f`.
    #[must_use]
    pub fn mean(&self, f: impl Fn(usize) -> f64) -> f64 {
        self.shares.iter().enumerate().map(|(n, share)| share * f(n)).sum()
    }
}

impl Weight {
    /// The weight within its range, and what numbers of the former power are multiplied with.
    fn in_range(self) -> (Self, f64) {
        if self.number > SCALE {
            (Self { number: self.number / SCALE, power: self.power + 1 }, 1.0 / SCALE)
        } else if self.number < 1.0 / SCALE {
            (Self { number: self.number * SCALE, power: self.power - 1 }, SCALE)
        } else {
            (self, 1.0)
        }
    }
}

/// Whether what follows a weight, falling at least by `ratio` each, is nothing next to `total`.
fn is_negligible(weight: f64, ratio: f64, total: f64) -> bool {
    ratio < 1.0 && weight * ratio / (1.0 - ratio) <= CUT * total
}

fn checked_births(rate: f64) -> Result<f64, TheoryError> {
    if rate >= 0.0 && rate.is_finite() {
        return Ok(rate);
    }
    Err(TheoryError::Parameter { name: "rate of births", value: rate, bound: "at least 0 and finite" })
}

fn checked_deaths(rate: f64) -> Result<f64, TheoryError> {
    if rate > 0.0 && rate.is_finite() {
        return Ok(rate);
    }
    Err(TheoryError::Parameter { name: "rate of deaths", value: rate, bound: "positive and finite" })
}

fn shares_of(weights: &[Weight]) -> Vec<f64> {
    let highest = weights.iter().map(|weight| weight.power).max().unwrap_or(0);
    // Two powers lower is below any rounding of the sum.
    let plain = |weight: &Weight| weight.number * SCALE.powi((weight.power - highest).max(-2));
    let largest = weights.iter().map(plain).fold(0.0, f64::max);
    let mut shares: Vec<f64> = weights.iter().map(|weight| plain(weight) / largest).collect();
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stationary distribution by the power method on the uniformised chain.
    fn by_steps(births: &dyn Fn(usize) -> f64, deaths: &dyn Fn(usize) -> f64, last: usize) -> Vec<f64> {
        let fastest = (0..=last).map(|n| births(n) + deaths(n)).fold(0.0, f64::max);
        let mut now = vec![1.0 / (last + 1) as f64; last + 1];
        for _ in 0..20_000 {
            let mut next = now.clone();
            for n in 0..last {
                let (up, down) = (now[n] * births(n) / fastest, now[n + 1] * deaths(n + 1) / fastest);
                next[n] += down - up;
                next[n + 1] += up - down;
            }
            now = next;
        }
        now
    }

    #[test]
    fn it_is_the_fixed_point_of_its_own_steps() {
        let births = |n: usize| 3.0 / (1.0 + n as f64 * 0.3);
        let deaths = |n: usize| (n as f64).sqrt();
        let chain = BirthDeath::new(births, deaths, Some(12)).expect("a chain");
        for (n, expected) in by_steps(&births, &deaths, 12).into_iter().enumerate() {
            assert!((chain.share(n) - expected).abs() < 1e-12, "{n}: {} {expected}", chain.share(n));
        }
    }

    #[test]
    fn thousands_of_customers_are_a_poisson_law() {
        // M/M/∞ with 100,000 present: the products pass 1e43429 on the way.
        let mean = 1e5;
        let chain = BirthDeath::new(|_| mean, |n| n as f64, None).expect("a chain");
        let (first, second) = (chain.mean(|n| n as f64), chain.mean(|n| (n as f64 - mean).powi(2)));
        assert!((first / mean - 1.0).abs() < 1e-11 && (second / mean - 1.0).abs() < 1e-9, "{first} {second}");
        // The largest share of a Poisson law, by Stirling's formula.
        let top = (2.0 * core::f64::consts::PI * mean).sqrt().recip() * (1.0 - 1.0 / (12.0 * mean));
        assert!((chain.share(100_000) / top - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_valley_of_the_weights_is_crossed() {
        // Down by 10 each for 300 states, then up by 10 each: both ends have the same share.
        let births = |n: usize| if n < 300 { 0.1 } else { 10.0 };
        let chain = BirthDeath::new(births, |_| 1.0, Some(600)).expect("a chain");
        assert!((chain.share(0) / chain.share(600) - 1.0).abs() < 1e-11 && chain.share(300) < 1e-200);
    }

    #[test]
    fn what_has_no_distribution_is_refused() {
        assert_eq!(BirthDeath::new(|_| 2.0, |_| 1.0, None), Err(NoForm::TooManyStates.into()));
        assert!(BirthDeath::new(|_| f64::NAN, |_| 1.0, Some(3)).is_err());
        assert!(BirthDeath::new(|_| 1.0, |_| 0.0, Some(3)).is_err());
        for far in [1e101, 1e-101] {
            assert_eq!(BirthDeath::new(|_| far, |_| 1.0, Some(3)), Err(NoForm::OutOfRange.into()));
        }
        assert_eq!(BirthDeath::new(|_| 0.0, |_| 1.0, None).expect("one state").shares(), [1.0]);
    }
}
