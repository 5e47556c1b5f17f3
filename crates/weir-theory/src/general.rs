//! One general queue by its first two moments: Pollaczek and Khinchine's mean, arrivals in batches, and what holds or nearly holds
//! where arrivals are not Poisson.
//!
//! With `λ` the rate of arrivals, `s` the mean service, `c` servers, `ρ = λ s / c`, and `ca²`, `cs²` the squared coefficients of variation
//! (variance over squared mean) of gaps between arrivals and of services:
//!
//! | queue | mean wait | status | source |
//! |-|-|-|-|
//! | M/G/1 | `ρ s (1 + cs²) / (2 (1 - ρ))` | exact | Pollaczek 1930, Khinchine 1932 |
//! | M^X/G/1 | that, and `s (E[X²] / E[X] - 1) / (2 (1 - ρ))` | exact | Gaver 1959; Burke 1975 |
//! | G/G/1 | at most `λ (ca² / λ² + cs² s²) / (2 (1 - ρ))` | bound | Kingman 1962 |
//! | G/G/c | at most `λ (ca² / λ² + cs² s² / c + (c - 1) s² / c²) / (2 (1 - ρ))` | bound | Kingman 1970; Kleinrock II, 1976, section 2.5 |
//! | G/G/c | about `(ca² + cs²) / 2` times that of M/M/c | approximation | Allen 1978 after Cunneen; for M/G/c Lee and Longton 1959 |
//!
//! The bounds hold for gaps and services that are independent of each other and from one to the next (GI/G/c); so do the
//! approximations, more or less. With one server the approximation is Kingman's heavy-traffic formula.
//!
//! | | |
//! |-|-|
//! | Units | rate per unit of time, times in it; coefficients and numbers of customers without a unit |
//! | Work | O(c) |

use super::{TheoryError, check_load, mmk_wait};

/// A queue G/G/c by its first two moments, in some unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct General {
    /// Arrivals in a unit of time.
    pub arrival: f64,
    /// The mean service.
    pub service: f64,
    /// The number of servers.
    pub servers: u32,
    /// The squared coefficient of variation of the gaps between arrivals: 1 for a Poisson process.
    pub scv_arrival: f64,
    /// The squared coefficient of variation of services: 0 for equal ones, 1 for exponential ones.
    pub scv_service: f64,
}

impl General {
    /// The load of a server.
    ///
    /// # Errors
    /// [`TheoryError::Unstable`] at a load of 1 or more, and what is refused of each parameter out of its bounds.
    pub fn load(&self) -> Result<f64, TheoryError> {
        if !(self.service > 0.0 && self.service.is_finite()) {
            return Err(TheoryError::MeanService(self.service));
        }
        if !(self.scv_service >= 0.0 && self.scv_service.is_finite()) {
            return Err(TheoryError::Scv(self.scv_service));
        }
        if !(self.scv_arrival >= 0.0 && self.scv_arrival.is_finite()) {
            let (name, value) = ("squared coefficient of variation of gaps", self.scv_arrival);
            return Err(TheoryError::Parameter { name, value, bound: "at least 0 and finite" });
        }
        if self.servers == 0 {
            let (name, value) = ("number of servers", 0.0);
            return Err(TheoryError::Parameter { name, value, bound: "at least 1" });
        }
        let load = self.arrival * self.service / f64::from(self.servers);
        check_load(load)?;
        Ok(load)
    }

    /// What the mean wait does not exceed (Kingman 1962 and 1970), a bound.
    ///
    /// ```
    /// use weir_theory::General;
    /// let queue = General { arrival: 0.5, service: 1.0, servers: 1, scv_arrival: 1.0, scv_service: 0.0 };
    /// // M/D/1 at a load of 1/2 waits for half a service.
    /// assert_eq!(queue.wait_at_most()?, 2.0);
    /// # Ok::<(), weir_theory::TheoryError>(())
    /// ```
    ///
    /// # Errors
    /// As [`General::load`].
    pub fn wait_at_most(&self) -> Result<f64, TheoryError> {
        let (load, c) = (self.load()?, f64::from(self.servers));
        let gaps = self.scv_arrival / (self.arrival * self.arrival);
        let services = (self.scv_service / c + (c - 1.0) / (c * c)) * self.service * self.service;
        Ok(self.arrival * (gaps + services) / (2.0 * (1.0 - load)))
    }

    /// About what the mean wait is (Allen and Cunneen), an approximation; exact for M/G/1 and M/M/c.
    ///
    /// ```
    /// use weir_theory::General;
    /// let queue = General { arrival: 0.5, service: 1.0, servers: 1, scv_arrival: 1.0, scv_service: 0.0 };
    /// assert_eq!(queue.wait_about()?, 0.5);
    /// # Ok::<(), weir_theory::TheoryError>(())
    /// ```
    ///
    /// # Errors
    /// As [`General::load`].
    pub fn wait_about(&self) -> Result<f64, TheoryError> {
        let exponential = self.service * mmk_wait(self.servers, self.load()?)?;
        Ok(exponential * (self.scv_arrival + self.scv_service) / 2.0)
    }
}

/// The mean wait in M/G/1, first come first served, in the unit of `service`: `arrival` in a unit of time, services of the mean
/// `service` with the squared coefficient of variation `scv`.
///
/// ```
/// use weir_theory::mg1_wait;
/// assert_eq!(mg1_wait(0.5, 1.0, 1.0)?, 1.0);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
///
/// # Errors
/// As [`General::load`].
pub fn mg1_wait(arrival: f64, service: f64, scv: f64) -> Result<f64, TheoryError> {
    let queue = General { arrival, service, servers: 1, scv_arrival: 1.0, scv_service: scv };
    let load = queue.load()?;
    Ok(load * service * (1.0 + scv) / (2.0 * (1.0 - load)))
}

/// How many customers arrive at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch {
    /// The mean number, at least 1.
    pub mean: f64,
    /// Its squared coefficient of variation, 0 where all batches are alike.
    pub scv: f64,
}

/// The mean wait of a customer in M^X/G/1, first come first served and at random within a batch, in the unit of `service`; `arrival` is
/// batches in a unit of time.
///
/// ```
/// use weir_theory::{Batch, batch_wait};
/// // Seldom a batch: of three customers one waits for none, one for one and one for two.
/// let wait = batch_wait(1e-9, Batch { mean: 3.0, scv: 0.0 }, 1.0, 1.0)?;
/// assert!((wait - 1.0).abs() < 1e-7);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
///
/// # Errors
/// As [`General::load`]; [`TheoryError::Parameter`] for a batch of less than one customer on average.
pub fn batch_wait(arrival: f64, batch: Batch, service: f64, scv: f64) -> Result<f64, TheoryError> {
    if !(batch.mean >= 1.0 && batch.mean.is_finite()) {
        let (name, value) = ("mean number in a batch", batch.mean);
        return Err(TheoryError::Parameter { name, value, bound: "at least 1 and finite" });
    }
    if !(batch.scv >= 0.0 && batch.scv.is_finite()) {
        let (name, value) = ("squared coefficient of variation of batches", batch.scv);
        return Err(TheoryError::Parameter { name, value, bound: "at least 0 and finite" });
    }
    let customers = arrival * batch.mean;
    let alone = mg1_wait(customers, service, scv)?;
    let before = batch.mean * (1.0 + batch.scv) - 1.0;
    Ok(alone + service * before / (2.0 * (1.0 - customers * service)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mg1, Policy, SizeLaw, mdk_wait};

    fn queue(arrival: f64, servers: u32, scv_arrival: f64, scv_service: f64) -> General {
        General { arrival, service: 1.0, servers, scv_arrival, scv_service }
    }

    #[test]
    fn one_server_agrees_with_the_law_of_sizes() {
        for load in [0.1, 0.7, 0.99] {
            // Uniform from 0 to 2: the variance is a third.
            let law = Mg1::new(&SizeLaw::uniform(0.0, 2.0), load).expect("a load");
            let expected = law.mean_response(Policy::Fcfs) - 1.0;
            let found = mg1_wait(load, 1.0, 1.0 / 3.0).expect("a load");
            assert!((found / expected - 1.0).abs() < 1e-12);
            let about = queue(load, 1, 1.0, 1.0 / 3.0).wait_about().expect("a load");
            assert!((about / expected - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn no_queue_with_a_form_waits_longer_than_the_bound() {
        for servers in [1, 2, 7, 40] {
            for load in [0.05, 0.5, 0.9, 0.999] {
                let arrival = load * f64::from(servers);
                let at_most = |scv| queue(arrival, servers, 1.0, scv).wait_at_most().expect("a load");
                assert!(mmk_wait(servers, load).expect("a load") < at_most(1.0));
                assert!(mdk_wait(servers, load).expect("a load") < at_most(0.0));
            }
        }
        // The bound is tight as the load goes to 1.
        let tight = queue(0.9999, 1, 1.0, 0.5).wait_at_most().expect("a load");
        assert!((tight / mg1_wait(0.9999, 1.0, 0.5).expect("a load") - 1.0).abs() < 1e-3);
    }

    #[test]
    fn about_is_near_for_equal_services() {
        for (servers, load) in [(2, 0.9), (5, 0.95), (20, 0.98)] {
            let about = queue(load * f64::from(servers), servers, 1.0, 0.0).wait_about().expect("a load");
            let exact = mdk_wait(servers, load).expect("a load");
            assert!((about / exact - 1.0).abs() < 0.05, "{servers}: {about} {exact}");
        }
    }

    /// The mean number in M^X/M/1 with batches of two, from its balance equations, `most` customers at most.
    fn present(arrival: f64, most: usize) -> f64 {
        // Cut between n and n + 1: π(n+1) = λ (π(n) + π(n-1)).
        let mut weights = vec![1.0, arrival];
        for n in 1..most {
            weights.push(arrival * (weights[n] + weights[n - 1]));
        }
        let sum: f64 = weights.iter().sum();
        weights.iter().enumerate().map(|(n, weight)| n as f64 * weight).sum::<f64>() / sum
    }

    #[test]
    fn pairs_agree_with_their_chain() {
        for arrival in [0.05, 0.3, 0.45] {
            let wait = batch_wait(arrival, Batch { mean: 2.0, scv: 0.0 }, 1.0, 1.0).expect("a load");
            let expected = present(arrival, 2000) / (2.0 * arrival) - 1.0;
            assert!((wait / expected - 1.0).abs() < 1e-9, "{arrival}: {wait} {expected}");
        }
        let single = batch_wait(0.6, Batch { mean: 1.0, scv: 0.0 }, 1.0, 0.2).expect("a load");
        assert!((single - mg1_wait(0.6, 1.0, 0.2).expect("a load")).abs() < 1e-15);
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        assert_eq!(mg1_wait(1.2, 1.0, 1.0), Err(TheoryError::Unstable(1.2)));
        assert_eq!(mg1_wait(0.5, 1.0, -1.0), Err(TheoryError::Scv(-1.0)));
        assert_eq!(mg1_wait(0.5, 0.0, 1.0), Err(TheoryError::MeanService(0.0)));
        assert!(queue(0.5, 1, f64::NAN, 1.0).wait_at_most().is_err());
        assert!(queue(0.5, 0, 1.0, 1.0).wait_about().is_err());
        for batch in [Batch { mean: 0.5, scv: 0.0 }, Batch { mean: 2.0, scv: f64::INFINITY }] {
            assert!(matches!(batch_wait(0.1, batch, 1.0, 1.0), Err(TheoryError::Parameter { .. })));
        }
    }
}
