//! Whether a run is long enough for a figure, and by how much longer it must be where it is not.
//!
//! A figure that is *not settled* has a value and an interval, and the interval is not to be relied on: it may miss the
//! truth far more often than one time in twenty. What decides that is stated where it is decided: [`super::run_length`]
//! for means of queues, [`super::tail`] for quantiles, [`super::linear`] and [`super::replications`] for what the data
//! show of themselves.
//!
//! # By itself
//!
//! Where no formula says how long a run must be, a mean is judged by its own standard error: that of a time may be 8 % of
//! what it is above the least time that there is, that of a share or a rate 50 %. A queue's mean is made of few long
//! excursions when it is known so badly, so that most runs are below the truth and believe in a narrow interval; a share
//! whose error is half of it rests on four events. The bounds are measured ([studies](../../../../../docs/studies.md)).
//!
//! Units: a share of the length of the run, 1 for the run as it was. Work O(1).

use serde::{Serialize, Serializer};

use super::estimate::Measure;

/// A run is never said to need more than this many times its length: beyond it nothing is known but that it is far too short.
pub const MOST: f64 = 1e6;

/// How large the relative standard error of a mean time may be where it is judged by itself.
pub const ERROR_OF_TIME: f64 = 0.08;
/// How large it may be where the load says that the run is long enough: a class may be rare.
pub const ERROR_OF_PART: f64 = 0.12;
/// How large that of a share or a rate may be.
pub const ERROR_OF_SHARE: f64 = 0.5;

/// How large the relative standard error of a mean may be, by its unit.
#[must_use]
pub fn error_of(unit: &str) -> f64 {
    if matches!(unit, "s" | "u") { ERROR_OF_TIME } else { ERROR_OF_SHARE }
}

/// A mean, judged by its own standard error over what it is above the `least` there can be.
pub fn by_itself(measure: Measure, least: f64, error: f64) -> Measure {
    let Some(estimate) = measure.as_estimate() else { return measure };
    let above = (estimate.value() - least).abs();
    if above <= 0.0 || estimate.standard_error() <= 0.0 {
        return measure;
    }
    measure.needing(Settled::needing((estimate.standard_error() / above / error).powi(2)))
}

/// How many times as long a run must be until a figure is settled; 1 where it is.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Settled(f64);

impl Settled {
    /// The run is long enough.
    pub const YES: Self = Self(1.0);

    /// The run must be `longer` times as long: two digits, rounded up. It is long enough where that is at most 1.
    #[must_use]
    pub fn needing(longer: f64) -> Self {
        if longer <= 1.0 {
            return Self::YES;
        }
        if longer.is_nan() || longer >= MOST {
            return Self(MOST);
        }
        let step = 10_f64.powi(libm::log10(longer).floor() as i32 - 1);
        // What is two digits already is not rounded up by its last bit.
        Self(((longer / step - 1e-9).ceil() * step * 1e6).round() / 1e6)
    }

    /// What needs the longer run of the two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if other.0 > self.0 { other } else { self }
    }

    /// Whether the run is long enough.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.0 <= 1.0
    }

    /// How many times as long the run must be; 1 where it is long enough.
    #[must_use]
    pub fn longer(self) -> f64 {
        self.0
    }
}

impl Serialize for Settled {
    /// Whether it is settled.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(self.is_settled())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::estimate::Method;

    #[test]
    fn what_is_needed_is_told_in_two_digits_and_never_too_low() {
        let told = [0.0, 1.0, 1.01, 1.1, 4.13, 99.2, 130.0, 131.0, 1e9, f64::NAN];
        let told = told.map(|longer| Settled::needing(longer).longer());
        assert_eq!(told, [1.0, 1.0, 1.1, 1.1, 4.2, 100.0, 130.0, 140.0, MOST, MOST]);
    }

    #[test]
    fn a_mean_is_judged_by_its_error_above_the_least() {
        let of = |value, least| {
            let measure = Measure::estimate(value, 1.0, 9, Method::Replications { groups: 9 });
            by_itself(measure, least, error_of("s")).settled()
        };
        assert!(of(20.0, 0.0).is_settled() && of(-20.0, 0.0).is_settled());
        // 1 of 5 is 20 %, two and a half times the bound.
        assert_eq!(of(20.0, 15.0).longer(), 6.3);
        assert_eq!((error_of("s"), error_of("1/s")), (ERROR_OF_TIME, ERROR_OF_SHARE));
        let exact = Measure::estimate(5.0, 0.0, 9, Method::Replications { groups: 9 });
        assert_eq!(
            (by_itself(exact, 5.0, 0.1), by_itself(Measure::observed(1.0, 1), 0.0, 0.1)),
            (exact, Measure::observed(1.0, 1))
        );
    }

    #[test]
    fn the_longer_run_counts() {
        let (short, long) = (Settled::needing(2.0), Settled::needing(3.0));
        assert_eq!((short.and(long), long.and(short), Settled::YES.and(short)), (long, long, short));
        assert!(Settled::YES.is_settled() && !short.is_settled());
        assert_eq!(serde_json::to_string(&[Settled::YES, short]).expect("JSON"), "[true,false]");
    }
}
