//! Several servers and customers of any patience, M/M/c+G: served in the order of arrival, each leaves if its service has not
//! begun by the end of its patience.
//!
//! The wait that a customer of endless patience would find has the density `λ exp(λ H(x) - cμx) / (E + λJ)`, where
//! `H(x)` is the mean of the lesser of patience and `x`, `J = ∫ exp(λ H(x) - cμx) dx`, and
//! `E = Σ_{j<c} a^j/j! / (a^{c-1}/(c-1)!)` with `a = λ/μ`. So
//!
//! - who has to wait: `λJ / (E + λJ)`;
//! - who leaves: `(1 + (λ - cμ) J) / (E + λJ)`;
//! - the wait of those who are served, the others counted as 0: `(cμ J₁ - J) / (E + λJ)`, where `J₁ = ∫ x exp(λ H(x) - cμx) dx`;
//!   it follows by parts, since the slope of `H` is the probability of staying that long.
//!
//! | | |
//! |-|-|
//! | Source | Baccelli and Hebuterne, *On queues with impatient customers*, Performance '81; Zeltyn and Mandelbaum, *Call centers with impatient customers: many-server asymptotics of the M/M/n+G queue*, Queueing Systems 51, 2005, section 3; with constant patience Barrer, *Queuing with impatient customers and ordered service*, Operations Research 5, 1957 |
//! | Units | rates per unit of time, times in it; shares from 0 to 1 |
//! | Work | some thousand evaluations of `H` |
//! | Accuracy | absolute error of a share below 1e-9, relative error of a wait below 1e-8 where at least one in a thousand waits |
//!
//! The exponent is concave, so the integrand has one peak: it is integrated where it is more than `e^-45` of that.

use super::TheoryError;
use super::quadrature::integral;

/// What lies lower below the peak, as a power of e, is nothing.
const DEPTH: f64 = 45.0;
/// Bisections of an interval.
const HALVINGS: u32 = 200;
/// An integral over an interval is accepted where that over its halves differs by less than this part.
const ACCURACY: f64 = 1e-11;
/// How often an interval is halved at the most.
const DEEPEST: u32 = 40;

/// What customers of any patience experience; shares are of all who arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpatientMeans {
    /// The share that has to wait.
    pub waits: f64,
    /// The share that leaves before its service begins.
    pub abandoned: f64,
    /// The mean wait of those who are served.
    pub wait_of_served: f64,
}

/// M/M/c+G with `arrival` and `service` a unit of time; `stays(x)` is the mean of the lesser of the patience and `x`.
///
/// ```
/// // One server, no more than one service of patience, as Barrer has it.
/// let means = weir_theory::impatient(0.9, 1.0, 1, |x| x.min(1.0))?;
/// assert!((means.abandoned - 0.3049).abs() < 1e-4);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
///
/// # Errors
/// [`TheoryError::Parameter`] unless both rates are positive and finite, and there is a server;
/// [`TheoryError::Unstable`] where too many never leave, so that the queue grows without bound.
pub fn impatient(
    arrival: f64,
    service: f64,
    servers: u32,
    stays: impl Fn(f64) -> f64,
) -> Result<ImpatientMeans, TheoryError> {
    for (name, value) in [("rate of arrivals", arrival), ("rate of service", service)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(TheoryError::Parameter { name, value, bound: "positive and finite" });
        }
    }
    if servers == 0 {
        return Err(TheoryError::Parameter { name: "number of servers", value: 0.0, bound: "at least 1" });
    }
    let full = service * f64::from(servers);
    let exponent = |x: f64| arrival * stays(x) - full * x;
    let (low, peak, high) = support(&exponent, 1.0 / full).ok_or(TheoryError::Unstable(arrival / full))?;
    let top = exponent(peak);
    let over = |f: &dyn Fn(f64) -> f64| adaptive(low, peak, f) + adaptive(peak, high, f);
    // Both as a part of e^top, as is the rest.
    let whole = over(&|x| libm::exp(exponent(x) - top));
    let first = over(&|x| x * libm::exp(exponent(x) - top));
    let offered = arrival / service;
    let all_before = (1..servers).fold(1.0, |sum, k| 1.0 + sum * f64::from(k) / offered);
    let all = all_before * libm::exp(-top) + arrival * whole;
    let abandoned = ((libm::exp(-top) + (arrival - full) * whole) / all).clamp(0.0, 1.0);
    let wait = ((full * first - whole) / all).max(0.0);
    Ok(ImpatientMeans { waits: arrival * whole / all, abandoned, wait_of_served: wait / (1.0 - abandoned) })
}

/// Where a concave function that is 0 at 0 comes within [`DEPTH`] of its peak, the peak, and where it leaves it; `None` where
/// it does not fall within 1e12 times `step`.
fn support(exponent: &impl Fn(f64) -> f64, step: f64) -> Option<(f64, f64, f64)> {
    let far = (0..40)
        .map(|doublings| step * libm::exp2(f64::from(doublings)))
        .find(|&far| exponent(far) < -DEPTH)?;
    let (mut left, mut right) = (0.0, far);
    for _ in 0..HALVINGS {
        let (one, other) = (left + (right - left) / 3.0, right - (right - left) / 3.0);
        if exponent(one) < exponent(other) { left = one } else { right = other }
    }
    let peak = if exponent(left) < 0.0 { 0.0 } else { left };
    let floor = exponent(peak) - DEPTH;
    let crossing = |mut inside: f64, mut outside: f64| {
        for _ in 0..HALVINGS {
            let middle = 0.5 * (inside + outside);
            if exponent(middle) > floor { inside = middle } else { outside = middle }
        }
        outside
    };
    let low = if floor < 0.0 { 0.0 } else { crossing(peak, 0.0) };
    Some((low, peak, crossing(peak, far)))
}

/// The integral from `from` to `to`, over halves until these say nothing new.
fn adaptive(from: f64, to: f64, f: &dyn Fn(f64) -> f64) -> f64 {
    fn parts(from: f64, to: f64, whole: f64, scale: f64, depth: u32, f: &dyn Fn(f64) -> f64) -> f64 {
        let middle = 0.5 * (from + to);
        let (left, right) = (integral(from, middle, f), integral(middle, to, f));
        if depth == 0 || (left + right - whole).abs() <= ACCURACY * scale {
            return left + right;
        }
        let scale = scale.max(left + right);
        parts(from, middle, left, scale, depth - 1, f) + parts(middle, to, right, scale, depth - 1, f)
    }
    if to <= from {
        return 0.0;
    }
    let whole = integral(from, to, f);
    parts(from, to, whole, whole.abs(), DEEPEST, f)
}

/// The mean of the lesser of a time and `x`, from the probability `survival` that it is longer: its integral, over
/// intervals that halve towards 0, so that a law of any scale is met. Relative error below 1e-9 for a smooth law.
#[must_use]
pub fn mean_up_to(survival: impl Fn(f64) -> f64, x: f64) -> f64 {
    /// What lies below the last halving counts as certain.
    const INTERVALS: u32 = 48;
    let mut high = x;
    let mut sum = 0.0;
    for _ in 0..INTERVALS {
        let low = 0.5 * high;
        sum += integral(low, high, &survival);
        high = low;
    }
    sum + high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Markov, MarkovQueue};

    /// The chain of M/M/c+M says the same.
    #[test]
    fn exponential_patience_is_erlang_a() {
        for (arrival, servers, mean) in [(0.9, 1, 1.0), (3.6, 3, 2.0), (20.0, 20, 0.5), (150.0, 100, 4.0)] {
            let queue = Markov {
                arrival,
                service: 1.0,
                servers: Some(servers),
                places: None,
                sources: None,
                patience: 1.0 / mean,
            };
            let chain = MarkovQueue::new(queue).expect("valid").means();
            let stays = |x: f64| -mean * (-x / mean).exp_m1();
            let found = impatient(arrival, 1.0, servers, stays).expect("valid");
            for (one, other) in [
                (found.waits, chain.waits),
                (found.abandoned, chain.abandoned),
                (found.wait_of_served, chain.wait_of_served),
            ] {
                assert!((one - other).abs() < 1e-9 * other.max(1e-3), "{servers}: {found:?} {chain:?}");
            }
            let by_survival = mean_up_to(|x| (-x / mean).exp(), 3.0 * mean);
            assert!((by_survival / stays(3.0 * mean) - 1.0).abs() < 1e-12);
        }
    }

    /// One server, constant patience: the virtual wait by hand, Barrer 1957.
    #[test]
    fn constant_patience_is_barrers_formula() {
        for (arrival, patience) in [(0.9_f64, 1.0_f64), (1.5, 2.0), (0.3, 0.1), (4.0, 50.0)] {
            let slope = arrival - 1.0;
            // ∫ e^{(λ-1)x} up to the patience, and e^{λτ} e^{-x} beyond it.
            let whole = (slope * patience).exp_m1() / slope + (slope * patience).exp();
            let all = 1.0 + arrival * whole;
            let expected = (1.0 + slope * whole) / all;
            let found = impatient(arrival, 1.0, 1, |x| x.min(patience)).expect("valid");
            assert!((found.abandoned - expected).abs() < 1e-9, "{arrival} {patience}: {found:?} {expected}");
            assert!(found.wait_of_served < patience);
        }
    }

    #[test]
    fn endless_patience_is_erlang_c_or_has_no_mean() {
        let found = impatient(1.6, 1.0, 2, |x| x).expect("stable");
        assert!((found.waits - crate::erlang_c(2, 0.8).expect("stable")).abs() < 1e-9, "{found:?}");
        assert!(found.abandoned < 1e-9 && (found.wait_of_served - found.waits / 0.4).abs() < 1e-8);
        assert!(matches!(impatient(2.5, 1.0, 2, |x| x), Err(TheoryError::Unstable(_))));
        assert!(matches!(impatient(-1.0, 1.0, 2, |x| x), Err(TheoryError::Parameter { .. })));
        assert!(matches!(impatient(1.0, 1.0, 0, |x| x), Err(TheoryError::Parameter { .. })));
    }
}
