//! JSQ(d), the power of `d` choices: each arrival samples `d` of very many servers at random and joins the shortest queue among
//! them.
//!
//! In the limit of many servers the share of those with `i` customers or more is a fixed point; with `ρ` the load of a server:
//!
//! | | |
//! |-|-|
//! | share with `i` or more | `ρ^((d^i - 1) / (d - 1))`; `ρ^i` for `d = 1`, which is M/M/1 |
//! | mean response | `Σ ρ^((d^i - d) / (d - 1))` over `i >= 1`, in mean services |
//! | Source | Vvedenskaya, Dobrushin and Karpelevich 1996; Mitzenmacher, *IEEE Transactions on Parallel and Distributed Systems* 12, 2001 |
//! | Status | exact in the limit; 500 servers are within 2 % of it at loads up to 0.8 |
//! | Work | O(1) with two choices or more: the powers fall doubly exponentially |
//!
//! Arrivals are Poisson, services exponential, each queue first come first served.

use super::{TheoryError, check_load};

/// Shares below this are 0.
const LEAST: f64 = 1e-18;

/// The share of servers with `present` customers or more, from 0 to 1, under JSQ(`choices`) with very many servers at this load.
///
/// ```
/// use weir_theory::jsq_share;
/// assert_eq!(jsq_share(2, 0.5, 2)?, 0.125);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
///
/// # Errors
/// [`TheoryError::Unstable`] at a load of 1 or more, [`TheoryError::Load`] if it is no load, [`TheoryError::Parameter`] for no choices.
pub fn jsq_share(choices: u32, load: f64, present: u32) -> Result<f64, TheoryError> {
    check(choices, load)?;
    Ok(libm::pow(load, exponent(choices, present)))
}

/// The mean time from arrival to departure, in mean services, under JSQ(`choices`) with very many servers at this load.
///
/// ```
/// use weir_theory::jsq_response;
/// // One choice is M/M/1; a second takes most of it away.
/// assert!((jsq_response(1, 0.99)? - 100.0).abs() < 1e-9);
/// assert!(jsq_response(2, 0.99)? < 6.0);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
///
/// # Errors
/// As [`jsq_share`].
pub fn jsq_response(choices: u32, load: f64) -> Result<f64, TheoryError> {
    check(choices, load)?;
    if choices == 1 {
        return Ok(1.0 / (1.0 - load));
    }
    let d = f64::from(choices);
    let terms = (1..).map(|i| libm::pow(load, d * exponent(choices, i - 1)));
    Ok(terms.take_while(|term| *term > LEAST).sum())
}

/// `(d^i - 1) / (d - 1)`, infinite where it is beyond all numbers.
fn exponent(choices: u32, i: u32) -> f64 {
    if choices == 1 {
        return f64::from(i);
    }
    let d = f64::from(choices);
    (libm::pow(d, f64::from(i)) - 1.0) / (d - 1.0)
}

fn check(choices: u32, load: f64) -> Result<(), TheoryError> {
    if choices == 0 {
        return Err(TheoryError::Parameter { name: "number of choices", value: 0.0, bound: "at least 1" });
    }
    check_load(load)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fixed point of `ds_i/dt = ρ (s_{i-1}^d - s_i^d) - (s_i - s_{i+1})`, by small steps from empty servers.
    fn by_steps(choices: u32, load: f64) -> Vec<f64> {
        let mut shares = vec![0.0_f64; 41];
        shares[0] = 1.0;
        for _ in 0..40_000 {
            let before = shares.clone();
            for i in 1..40 {
                let joins = before[i - 1].powf(f64::from(choices)) - before[i].powf(f64::from(choices));
                shares[i] += 0.02 * (load * joins - (before[i] - before[i + 1]));
            }
        }
        shares
    }

    #[test]
    fn shares_are_the_fixed_point_of_their_equations() {
        for (choices, load) in [(2, 0.5), (2, 0.95), (3, 0.9), (1, 0.4)] {
            let shares = by_steps(choices, load);
            for (i, expected) in shares.iter().enumerate().take(8) {
                let found = jsq_share(choices, load, i as u32).expect("a load");
                assert!((found - expected).abs() < 1e-9, "{choices} {load} {i}: {found} {expected}");
            }
            // Little's law.
            let response = shares[1..].iter().sum::<f64>() / load;
            let found = jsq_response(choices, load).expect("a load");
            assert!((found / response - 1.0).abs() < 1e-8, "{choices} {load}: {found} {response}");
        }
    }

    /// The mean response with `servers` servers, in mean services: arrivals and ends of services one by one, an end at an idle
    /// server counting for nothing.
    fn simulated(choices: u32, load: f64, servers: usize, events: u32) -> f64 {
        let mut noise = weir_lab::stats::testing::Noise::new(13);
        let mut uniform = || (-noise.exponential()).exp();
        let mut queues = vec![0_u32; servers];
        let (mut present, mut sum) = (0.0, 0.0);
        for event in 0..events {
            let arrives = uniform() < load / (1.0 + load);
            let mut any = || ((uniform() * servers as f64) as usize).min(servers - 1);
            if arrives {
                let looked = (0..choices).map(|_| any()).min_by_key(|at| queues[*at]).expect("a choice");
                queues[looked] += 1;
                present += 1.0;
            } else {
                let at = any();
                present -= f64::from(queues[at].min(1));
                queues[at] = queues[at].saturating_sub(1);
            }
            sum += if event >= events / 4 { present } else { 0.0 };
        }
        sum / (0.75 * f64::from(events)) / (servers as f64 * load)
    }

    #[test]
    fn many_servers_are_near_the_limit() {
        for (choices, load) in [(2, 0.7), (3, 0.8)] {
            let (found, about) = (simulated(choices, load, 500, 2_000_000), jsq_response(choices, load));
            let limit = about.expect("a load");
            assert!((found / limit - 1.0).abs() < 0.02, "{choices} {load}: {found} {limit}");
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused_and_the_far_tail_is_0() {
        assert_eq!(jsq_response(2, 1.0), Err(TheoryError::Unstable(1.0)));
        assert!(jsq_share(0, 0.5, 1).is_err() && jsq_response(2, f64::NAN).is_err());
        assert_eq!(jsq_share(5, 0.9, u32::MAX), Ok(0.0));
        assert_eq!(jsq_share(5, 0.9, 0), Ok(1.0));
        assert!(jsq_response(u32::MAX, 1.0 - 1e-9).expect("a load") >= 1.0);
    }
}
