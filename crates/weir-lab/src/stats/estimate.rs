//! What a run says about one figure: an estimate with its interval, or the reason why there is none.
//!
//! No figure is ever NaN or infinite: every [`Measure`] is made by a constructor that turns such a value
//! into a reason. Intervals are at 95 % ([`CONFIDENCE`]): symmetric t intervals, but for quantiles ([`super::tail`]). Any other
//! level follows from the standard error, or the length of each side, and the number of groups
//! ([`Estimate::interval`]).

use std::fmt;

use serde::{Serialize, Serializer};

use super::settled::Settled;
use super::student;

/// The confidence of the intervals that are stored and shown.
pub const CONFIDENCE: f64 = 0.95;

/// How an interval was obtained; each way rests on a number of nearly independent groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum Method {
    /// Batch means: windows of the runs, merged until no correlation between neighbours shows.
    BatchMeans {
        /// Batches left after merging, those without an observation not counted.
        groups: u64,
    },
    /// One number from each of several independent replications.
    Replications {
        /// Their number.
        groups: u64,
    },
    /// The figure of all the data, its spread from the same figure of independent sections.
    Sectioning {
        /// Sections with data.
        groups: u64,
    },
    /// A quantile: an interval of the share above it, from sections, carried back to values.
    Exceedances {
        /// Sections left after merging.
        groups: u64,
    },
}

impl Method {
    /// The groups the interval rests on; its degrees of freedom are one less.
    #[must_use]
    pub fn groups(self) -> u64 {
        match self {
            Self::BatchMeans { groups }
            | Self::Replications { groups }
            | Self::Sectioning { groups }
            | Self::Exceedances { groups } => groups,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BatchMeans { groups } => write!(f, "{groups} batch means"),
            Self::Replications { groups } => write!(f, "{groups} replications"),
            Self::Sectioning { groups } => write!(f, "{groups} sections"),
            Self::Exceedances { groups } => write!(f, "exceedances of {groups} sections"),
        }
    }
}

/// A value with its 95 % interval; all its numbers are finite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    value: f64,
    low: f64,
    high: f64,
    standard_error: f64,
    count: u64,
    method: Method,
    #[serde(skip_serializing_if = "Settled::is_settled")]
    settled: Settled,
}

impl Estimate {
    /// The point estimate.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The lower end of the 95 % interval.
    #[must_use]
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The upper end of the 95 % interval.
    #[must_use]
    pub fn high(&self) -> f64 {
        self.high
    }

    /// Half the width of the 95 % interval.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The standard error of the value.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.standard_error
    }

    /// Observations behind the value.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How the interval was obtained.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// Whether the run was long enough for the interval.
    #[must_use]
    pub fn settled(&self) -> Settled {
        self.settled
    }

    /// The interval at another confidence `level`, inside (0, 1).
    #[must_use]
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let degrees = self.method.groups() - 1;
        if let Method::Exceedances { .. } = self.method {
            // Each side by itself, since they are not of one length.
            let wider = student::two_sided(level, degrees) / student::two_sided(CONFIDENCE, degrees);
            let end = |end: f64| self.value + (end - self.value) * wider;
            return (end(self.low), end(self.high));
        }
        let reach = student::two_sided(level, degrees) * self.standard_error;
        (self.value - reach, self.value + reach)
    }
}

/// Why a figure is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unavailable {
    /// Nothing of the kind happened in the run.
    NoObservations,
    /// The data do not form enough groups for an interval.
    TooFewGroups {
        /// The groups with data.
        held: u64,
    },
    /// The figure is a ratio, and what it divides by is zero.
    ZeroDenominator,
    /// The figure cannot be represented.
    OutOfRange,
    /// The queue grows without bound, so that there is no mean to estimate.
    Unstable,
    /// The model does not define it, or the scenario did not ask for it.
    NotMeasured,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObservations => f.write_str("no observations in this run"),
            Self::TooFewGroups { held } => {
                write!(f, "{held} batches or replications with data, an interval needs at least 2")
            }
            Self::ZeroDenominator => f.write_str("the ratio divides by zero"),
            Self::OutOfRange => f.write_str("the value is too large to represent"),
            Self::Unstable => f.write_str("the offered load is 1 or more: the queue grows and has no mean"),
            Self::NotMeasured => f.write_str("not measured"),
        }
    }
}

impl std::error::Error for Unavailable {}

impl Serialize for Unavailable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One figure of a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[must_use]
pub enum Measure {
    /// A value and its interval.
    Estimate(Estimate),
    /// The largest value seen; longer runs see larger ones, so it has no interval.
    Maximum {
        /// The value.
        value: f64,
        /// Observations behind it.
        count: u64,
    },
    /// What this run showed, without a claim about others: a total, or a figure of a trace replayed.
    Observed {
        /// The value.
        value: f64,
        /// Observations behind it.
        count: u64,
    },
    /// There is no such figure.
    NotAvailable {
        /// Why.
        reason: Unavailable,
    },
}

impl Measure {
    /// A value known with `standard_error`, from `count` observations in the groups of `method`. One group
    /// has a value and no interval.
    pub fn estimate(value: f64, standard_error: f64, count: u64, method: Method) -> Self {
        let held = method.groups();
        if held < 2 {
            return if held == 0 {
                Unavailable::TooFewGroups { held }.into()
            } else {
                Self::observed(value, count)
            };
        }
        let reach = student::two_sided(CONFIDENCE, held - 1) * standard_error;
        let (low, high) = (value - reach, value + reach);
        let settled = Settled::YES;
        Self::Estimate(Estimate { value, low, high, standard_error, count, method, settled }).checked()
    }

    /// A value with the ends of its 95 % interval, from `count` observations in the groups of `method`, two at least.
    pub fn between(value: f64, (low, high): (f64, f64), count: u64, method: Method) -> Self {
        let standard_error =
            (high - low) / (2.0 * student::two_sided(CONFIDENCE, method.groups().max(2) - 1));
        let settled = Settled::YES;
        Self::Estimate(Estimate { value, low, high, standard_error, count, method, settled }).checked()
    }

    /// The largest of `count` observations.
    pub fn maximum(value: f64, count: u64) -> Self {
        Self::Maximum { value, count }.checked()
    }

    /// What `count` observations showed, without an interval.
    pub fn observed(value: f64, count: u64) -> Self {
        Self::Observed { value, count }.checked()
    }

    /// The value, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Estimate(estimate) => Some(estimate.value),
            Self::Maximum { value, .. } | Self::Observed { value, .. } => Some(*value),
            Self::NotAvailable { .. } => None,
        }
    }

    /// Observations behind it; none where there is no value.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Estimate(estimate) => estimate.count,
            Self::Maximum { count, .. } | Self::Observed { count, .. } => *count,
            Self::NotAvailable { .. } => 0,
        }
    }

    /// The estimate, if this is one.
    #[must_use]
    pub fn as_estimate(&self) -> Option<&Estimate> {
        match self {
            Self::Estimate(estimate) => Some(estimate),
            _ => None,
        }
    }

    /// Whether the run was long enough for it; what has no interval claims nothing that could be wrong.
    #[must_use]
    pub fn settled(&self) -> Settled {
        self.as_estimate().map_or(Settled::YES, Estimate::settled)
    }

    /// The same figure, of which something else than the data says what length of run it needs.
    pub fn judged(self, settled: Settled) -> Self {
        match self {
            Self::Estimate(old) => Self::Estimate(Estimate { settled, ..old }),
            other => other,
        }
    }

    /// The same figure, which needs this length of run too.
    pub fn needing(self, settled: Settled) -> Self {
        match self {
            Self::Estimate(old) => Self::Estimate(Estimate { settled: old.settled.and(settled), ..old }),
            other => other,
        }
    }

    /// The same figure in another unit, of which one old unit makes `factor`.
    pub fn times(self, factor: f64) -> Self {
        let scaled = match self {
            Self::Estimate(old) => Self::Estimate(Estimate {
                value: old.value * factor,
                low: (old.low * factor).min(old.high * factor),
                high: (old.low * factor).max(old.high * factor),
                standard_error: old.standard_error * factor.abs(),
                ..old
            }),
            Self::Maximum { value, count } => Self::Maximum { value: value * factor, count },
            Self::Observed { value, count } => Self::Observed { value: value * factor, count },
            Self::NotAvailable { .. } => self,
        };
        scaled.checked()
    }

    /// The same figure of observations that are all larger by `offset`.
    pub fn plus(self, offset: f64) -> Self {
        let moved = match self {
            Self::Estimate(old) => Self::Estimate(Estimate {
                value: old.value + offset,
                low: old.low + offset,
                high: old.high + offset,
                ..old
            }),
            Self::Maximum { value, count } => Self::Maximum { value: value + offset, count },
            Self::Observed { value, count } => Self::Observed { value: value + offset, count },
            Self::NotAvailable { .. } => self,
        };
        moved.checked()
    }

    /// The measure itself, or `OutOfRange` if one of its numbers is not finite.
    fn checked(self) -> Self {
        let finite = match self {
            Self::Estimate(e) => [e.value, e.low, e.high, e.standard_error].iter().all(|x| x.is_finite()),
            Self::Maximum { value, .. } | Self::Observed { value, .. } => value.is_finite(),
            Self::NotAvailable { .. } => true,
        };
        if finite { self } else { Unavailable::OutOfRange.into() }
    }
}

impl From<Unavailable> for Measure {
    fn from(reason: Unavailable) -> Self {
        Self::NotAvailable { reason }
    }
}

impl<T: Into<Self>> From<Result<T, Unavailable>> for Measure {
    fn from(result: Result<T, Unavailable>) -> Self {
        result.map_or_else(Self::from, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NINE: Method = Method::Replications { groups: 9 };

    #[test]
    fn interval_is_the_t_interval() {
        let measure = Measure::estimate(10.0, 0.5, 90, NINE);
        let estimate = measure.as_estimate().expect("an estimate");
        assert!((estimate.half_width() - 2.306_004_135 * 0.5).abs() < 1e-6);
        assert!((estimate.low() + estimate.high() - 20.0).abs() < 1e-12);
        let (low, high) = estimate.interval(0.99);
        assert!((high - low - 2.0 * 3.355_387_331 * 0.5).abs() < 1e-6, "{low} {high}");
    }

    #[test]
    fn one_group_gives_a_value_without_an_interval_and_none_a_reason() {
        let of = |groups| Measure::estimate(1.0, 0.0, 5, Method::BatchMeans { groups });
        assert_eq!(of(1), Measure::observed(1.0, 5));
        assert_eq!(of(0), Unavailable::TooFewGroups { held: 0 }.into());
        assert_eq!(of(0).value(), None);
    }

    #[test]
    fn nothing_that_is_not_a_number_gets_through() {
        let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        for value in bad {
            assert_eq!(Measure::estimate(value, 1.0, 1, NINE), Unavailable::OutOfRange.into());
            assert_eq!(Measure::estimate(1.0, value, 1, NINE), Unavailable::OutOfRange.into());
            assert_eq!(Measure::maximum(value, 1), Unavailable::OutOfRange.into());
            assert_eq!(Measure::observed(1.0, 1).times(value), Unavailable::OutOfRange.into());
        }
        assert_eq!(Measure::maximum(f64::MAX, 1).times(2.0), Unavailable::OutOfRange.into());
    }

    #[test]
    fn a_change_of_unit_scales_everything() {
        let scaled = Measure::estimate(10.0, 0.5, 90, NINE).times(-2.0);
        let estimate = scaled.as_estimate().expect("an estimate");
        assert_eq!((estimate.value(), estimate.standard_error()), (-20.0, 1.0));
        assert!(estimate.low() < -20.0 && estimate.high() > -20.0);
        assert_eq!(Measure::maximum(3.0, 7).times(2.0), Measure::maximum(6.0, 7));
    }

    #[test]
    fn what_is_added_moves_everything_but_the_error() {
        let moved = Measure::estimate(10.0, 0.5, 90, NINE).plus(1.0);
        let estimate = moved.as_estimate().expect("an estimate");
        assert_eq!((estimate.value(), estimate.standard_error()), (11.0, 0.5));
        assert!((estimate.low() + estimate.high() - 22.0).abs() < 1e-12);
        assert_eq!(Measure::maximum(3.0, 7).plus(1.0), Measure::maximum(4.0, 7));
        assert_eq!(Measure::observed(f64::MAX, 1).plus(f64::MAX), Unavailable::OutOfRange.into());
    }

    #[test]
    fn text_form_names_the_kind() {
        let json = |measure: Measure| serde_json::to_value(measure).expect("serialises");
        let estimate = json(Measure::estimate(10.0, 0.0, 90, NINE));
        assert_eq!(estimate["kind"], "estimate");
        assert_eq!(estimate["high"], 10.0);
        assert_eq!(estimate["method"]["name"], "replications");
        assert_eq!(estimate["method"]["groups"], 9);
        let missing = json(Unavailable::NoObservations.into());
        assert_eq!(missing["kind"], "not_available");
        assert_eq!(missing["reason"], "no observations in this run");
    }
}
