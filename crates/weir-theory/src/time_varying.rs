//! M_t/M/∞: how many are present where arrivals come and go with the time of day and nobody waits.
//!
//! | arrivals | mean number `m(t)`, `s` the mean service | source |
//! |-|-|-|
//! | any rate `λ(t)` | `m' = λ(t) - m / s`: a Poisson law at every instant | Eick, Massey and Whitt, *Operations Research* 41, 1993 (The physics of the M_t/G/∞ queue), theorem 1 |
//! | `λ + β sin(γ t)`, since ever | `s (λ + β (sin γt - γs cos γt) / (1 + γ²s²))` | Eick, Massey and Whitt, *Management Science* 39, 1993 (M_t/G/∞ queues with sinusoidal arrival rates), section 4 |
//! | constant by pieces, from `m(0)` | `λ s + (m - λ s) e^{-t/s}` along each piece | theorem 1 there, integrated |
//!
//! The peak comes `atan(γs) / γ` after that of the arrivals, and is lower than `s (λ + β)`.
//!
//! | | |
//! |-|-|
//! | Units | rates per unit of time, times in it; `γ = 2π / period` |
//! | Work | O(1), O(pieces) |

use core::f64::consts::TAU;

use super::TheoryError;

/// A rate of arrivals that goes up and down as a sine: `mean + amplitude sin(2π t / period)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sinusoid {
    /// The mean rate, in a unit of time.
    pub mean: f64,
    /// How far it goes above and below, at most `mean`.
    pub amplitude: f64,
    /// The time after which it repeats.
    pub period: f64,
}

impl Sinusoid {
    fn check(&self) -> Result<(), TheoryError> {
        positive("mean rate of arrivals", self.mean)?;
        positive("period", self.period)?;
        if !(0.0..=self.mean).contains(&self.amplitude) {
            let (name, value) = ("amplitude of the rate", self.amplitude);
            return Err(TheoryError::Parameter { name, value, bound: "from 0 to the mean rate" });
        }
        Ok(())
    }

    /// The mean number present at time `t` in M_t/M/∞ with the mean service `service`, once the start is forgotten.
    ///
    /// ```
    /// use weir_theory::Sinusoid;
    /// // Services much shorter than the day follow the rate.
    /// let day = Sinusoid { mean: 10.0, amplitude: 5.0, period: 24.0 };
    /// assert!((day.present(1e-3, 6.0)? / 1e-3 - 15.0).abs() < 1e-3);
    /// # Ok::<(), weir_theory::TheoryError>(())
    /// ```
    ///
    /// # Errors
    /// [`TheoryError::Parameter`] for an amplitude above the mean, for a period, a rate or a time out of bounds;
    /// [`TheoryError::MeanService`] for a service that is not positive.
    pub fn present(&self, service: f64, t: f64) -> Result<f64, TheoryError> {
        self.check()?;
        check_service(service)?;
        finite("time", t)?;
        let lag = TAU / self.period * service;
        // Within a period the angle keeps its digits.
        let (sine, cosine) = (TAU * (t / self.period).fract()).sin_cos();
        Ok(service * (self.mean + self.amplitude * (sine - lag * cosine) / (1.0 + lag * lag)))
    }

    /// The largest mean number present, and how long after the peak of the arrivals it comes.
    ///
    /// ```
    /// use weir_theory::Sinusoid;
    /// let day = Sinusoid { mean: 10.0, amplitude: 5.0, period: 24.0 };
    /// let (most, lag) = day.peak(24.0 / std::f64::consts::TAU)?;
    /// // A service of a radian: the peak comes an eighth of a day later.
    /// assert!((lag - 3.0).abs() < 1e-12 && most < 15.0 * 24.0 / std::f64::consts::TAU);
    /// # Ok::<(), weir_theory::TheoryError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sinusoid::present`].
    pub fn peak(&self, service: f64) -> Result<(f64, f64), TheoryError> {
        self.check()?;
        check_service(service)?;
        let lag = TAU / self.period * service;
        let most = service * (self.mean + self.amplitude / (1.0 + lag * lag).sqrt());
        Ok((most, libm::atan(lag) * self.period / TAU))
    }
}

/// A stretch of time with a constant rate of arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// How long it lasts.
    pub lasts: f64,
    /// Arrivals in a unit of time.
    pub rate: f64,
}

/// The mean number present at time `t` in M_t/M/∞ with `present` customers at time 0 and arrivals by stretches, one after the other;
/// after the last nobody arrives.
///
/// ```
/// use weir_theory::{Stretch, present_after};
/// let hour = [Stretch { lasts: 60.0, rate: 2.0 }];
/// assert!((present_after(0.0, &hour, 5.0, 60.0)? - 10.0).abs() < 1e-4);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
///
/// # Errors
/// [`TheoryError::Parameter`] for a time, a rate or a number that is negative or not finite, [`TheoryError::MeanService`] for a service
/// that is not positive.
pub fn present_after(present: f64, stretches: &[Stretch], service: f64, t: f64) -> Result<f64, TheoryError> {
    check_service(service)?;
    not_negative("number present", present)?;
    not_negative("time", t)?;
    let (mut number, mut left) = (present, t);
    for &Stretch { lasts, rate } in stretches {
        not_negative("length of a stretch", lasts)?;
        not_negative("rate of arrivals", rate)?;
        let span = lasts.min(left);
        number += (rate * service - number) * -libm::expm1(-span / service);
        left -= span;
    }
    Ok(number * libm::exp(-left / service))
}

fn check_service(service: f64) -> Result<(), TheoryError> {
    let is_mean = service > 0.0 && service.is_finite();
    is_mean.then_some(()).ok_or(TheoryError::MeanService(service))
}

fn positive(name: &'static str, value: f64) -> Result<(), TheoryError> {
    let bound = "positive and finite";
    (value > 0.0 && value.is_finite()).then_some(()).ok_or(TheoryError::Parameter { name, value, bound })
}

fn not_negative(name: &'static str, value: f64) -> Result<(), TheoryError> {
    let bound = "at least 0 and finite";
    (value >= 0.0 && value.is_finite()).then_some(()).ok_or(TheoryError::Parameter { name, value, bound })
}

fn finite(name: &'static str, value: f64) -> Result<(), TheoryError> {
    value.is_finite().then_some(()).ok_or(TheoryError::Parameter { name, value, bound: "finite" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `m' = λ(t) - m / s` by the midpoint rule.
    fn integrated(rate: impl Fn(f64) -> f64, service: f64, start: f64, until: f64) -> f64 {
        let steps = 200_000;
        let step = until / f64::from(steps);
        (0..steps).fold(start, |number, i| {
            let t = f64::from(i) * step;
            let half = number + 0.5 * step * (rate(t) - number / service);
            number + step * (rate(t + 0.5 * step) - half / service)
        })
    }

    #[test]
    fn a_sine_agrees_with_its_equation_and_peaks_as_it_says() {
        let day = Sinusoid { mean: 10.0, amplitude: 7.0, period: 24.0 };
        let rate = |t: f64| day.mean + day.amplitude * (TAU * t / day.period).sin();
        for service in [0.2, 3.0, 12.0] {
            for t in [240.0, 247.3] {
                let expected = integrated(rate, service, 10.0 * service, t);
                let found = day.present(service, t).expect("a sine");
                assert!((found / expected - 1.0).abs() < 1e-6, "{service} {t}: {found} {expected}");
            }
            let (most, lag) = day.peak(service).expect("a sine");
            let found = day.present(service, 6.0 + lag).expect("a sine");
            assert!((found / most - 1.0).abs() < 1e-12);
            assert!(day.present(service, 6.0 + lag + 0.1).expect("a sine") < most);
        }
    }

    #[test]
    fn stretches_agree_with_their_equation() {
        let stretches = [(2.0, 3.0), (0.5, 40.0), (4.0, 0.0)].map(|(lasts, rate)| Stretch { lasts, rate });
        let rate = |t: f64| match t {
            t if t < 2.0 => 3.0,
            t if t < 2.5 => 40.0,
            _ => 0.0,
        };
        for t in [0.0, 1.0, 2.5, 5.0, 9.0] {
            let expected = integrated(rate, 1.5, 4.0, t);
            let found = present_after(4.0, &stretches, 1.5, t).expect("stretches");
            assert!((found / expected - 1.0).abs() < 1e-4, "{t}: {found} {expected}");
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        let day = Sinusoid { mean: 10.0, amplitude: 7.0, period: 24.0 };
        assert!(Sinusoid { amplitude: 11.0, ..day }.present(1.0, 0.0).is_err());
        assert!(Sinusoid { period: 0.0, ..day }.peak(1.0).is_err());
        assert!(day.present(0.0, 0.0).is_err() && day.present(1.0, f64::NAN).is_err());
        assert!(present_after(0.0, &[Stretch { lasts: -1.0, rate: 1.0 }], 1.0, 1.0).is_err());
        assert!(present_after(0.0, &[], 1.0, f64::INFINITY).is_err());
    }
}
