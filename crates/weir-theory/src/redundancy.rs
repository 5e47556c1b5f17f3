//! Redundancy: copies of a job go to several of the servers, and all are cancelled when the first is done.
//!
//! Jobs arrive by a Poisson process of rate `λ` at `k` servers, each with its own queue, first come first served, and copies of a
//! job to `d` of them that are drawn at random. Copies take independent exponential times of rate `μ`. When one is done, those that
//! wait and those in service leave at once. The mean response is
//!
//! `Σ 1 / (k μ C(k-1, d-1) / C(i-1, d-1) - λ)`, `i` from `d` to `k`.
//!
//! With one copy that is M/M/1, with as many as servers it is M/M/1 with a server of rate `k μ`.
//!
//! | | |
//! |-|-|
//! | Source | Gardner, Harchol-Balter, Scheller-Wolf, Velednitsky and Zbarsky, *Redundancy-d: the power of d choices for redundancy*, Operations Research 65(4), 2017, theorem 1 |
//! | Status | exact |
//! | Units | rates per unit of time, times in it |
//! | Work | O(servers) |

use super::{TheoryError, check_load};

/// The mean time from arrival until the first of `copies` is done; the copies go to as many of `servers`.
///
/// ```
/// use weir_theory::redundancy;
/// // Two servers that both work on every job: M/M/1 at twice the rate.
/// assert_eq!(redundancy(2, 2, 1.0, 1.0)?, 1.0);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
///
/// # Errors
/// [`TheoryError::Unstable`] at an arrival of `servers` times the rate of service or more, [`TheoryError::Load`] if that is no load,
/// [`TheoryError::Parameter`] for a rate of service or a number of copies out of bounds.
pub fn redundancy(servers: u32, copies: u32, arrival: f64, service: f64) -> Result<f64, TheoryError> {
    if copies == 0 || copies > servers {
        let bound = "from 1 to the number of servers";
        return Err(TheoryError::Parameter { name: "number of copies", value: f64::from(copies), bound });
    }
    if !(service > 0.0 && service.is_finite()) {
        let bound = "positive and finite";
        return Err(TheoryError::Parameter { name: "rate of service", value: service, bound });
    }
    let all = f64::from(servers) * service;
    check_load(arrival / all)?;
    // `C(k-1, d-1) / C(i-1, d-1)`, from `i = k` on to `d`.
    let mut ratio = 1.0;
    let mut sum = 0.0;
    for i in (copies..=servers).rev() {
        sum += 1.0 / (all * ratio - arrival);
        if i > copies {
            ratio *= f64::from(i - 1) / f64::from(i - copies);
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_copy_is_a_queue_of_its_own_and_all_are_one_fast_server() {
        for load in [0.1, 0.5, 0.9] {
            let alone = redundancy(7, 1, 7.0 * load, 1.0).expect("a load");
            assert!((alone - 1.0 / (1.0 - load)).abs() < 1e-12, "{alone}");
            let together = redundancy(7, 7, 7.0 * load, 1.0).expect("a load");
            assert!((together - 1.0 / (7.0 - 7.0 * load)).abs() < 1e-12, "{together}");
        }
    }

    #[test]
    fn two_of_three_by_hand() {
        // C(2, 1) / C(1, 1) = 2 for two servers, and 1 for three.
        let found = redundancy(3, 2, 1.5, 1.0).expect("a load");
        assert!((found - (1.0 / (3.0 - 1.5) + 1.0 / (6.0 - 1.5))).abs() < 1e-12, "{found}");
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        assert_eq!(redundancy(2, 1, 2.0, 1.0), Err(TheoryError::Unstable(1.0)));
        assert!(redundancy(2, 3, 0.5, 1.0).is_err() && redundancy(2, 0, 0.5, 1.0).is_err());
        assert!(redundancy(2, 1, 0.5, 0.0).is_err() && redundancy(2, 1, f64::NAN, 1.0).is_err());
    }
}
