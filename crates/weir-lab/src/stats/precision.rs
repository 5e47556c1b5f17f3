//! When to stop: every series known to the precision asked for.
//!
//! A series is met when half its interval is at most a share of its value (or at most an absolute bound,
//! for values that are zero or close to it). The engine asks at the end of a round, after all replications
//! of the round were pooled in their order, and rounds double: the decision depends on data alone, never on
//! threads, and is taken few times. Stopping when an interval happens to be narrow still costs some coverage
//! (Chow and Robbins, Annals of Mathematical Statistics 36, 1965, on fixed-width intervals), so the engine
//! stops only where the target is met at two readings in turn.

use std::fmt;

use super::estimate::{Measure, Unavailable};

/// How well every series is to be known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    relative: f64,
    absolute: f64,
}

/// A target that no run can meet, or that says nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum TargetError {
    /// The share is not a finite number above 0.
    Relative(f64),
    /// The absolute bound is not a finite number of at least 0.
    Absolute(f64),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relative(share) => {
                write!(f, "precision is {share} of the value, must be above 0; 0.01 is 1 %")
            }
            Self::Absolute(bound) => write!(f, "absolute precision is {bound}, must be at least 0"),
        }
    }
}

impl std::error::Error for TargetError {}

/// A series that is not known well enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unmet<K> {
    /// The series.
    pub series: K,
    /// By how much.
    pub shortfall: Shortfall,
}

/// How far a series is from the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shortfall {
    /// Its interval is too wide.
    Wide {
        /// Half the width of the interval.
        half_width: f64,
        /// The most it may be.
        allowed: f64,
    },
    /// It has no interval at all.
    Missing(Unavailable),
}

/// The verdict on all series together.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment<K> {
    unmet: Vec<Unmet<K>>,
}

impl Target {
    /// Half an interval may be `relative` of the value: 0.01 is 1 %.
    pub fn relative(relative: f64) -> Result<Self, TargetError> {
        if !relative.is_finite() || relative <= 0.0 {
            return Err(TargetError::Relative(relative));
        }
        Ok(Self { relative, absolute: 0.0 })
    }

    /// Half an interval of at most `absolute` is always good enough, in the unit of the series.
    pub fn or_absolute(self, absolute: f64) -> Result<Self, TargetError> {
        if !absolute.is_finite() || absolute < 0.0 {
            return Err(TargetError::Absolute(absolute));
        }
        Ok(Self { absolute, ..self })
    }

    /// Which of the `series` are not met. A maximum and a plain observation have no precision and are
    /// passed over; a series without a figure is not met.
    #[must_use]
    pub fn assess<K>(&self, series: impl IntoIterator<Item = (K, Measure)>) -> Assessment<K> {
        let judge = |(series, measure)| self.shortfall(&measure).map(|shortfall| Unmet { series, shortfall });
        Assessment { unmet: series.into_iter().filter_map(judge).collect() }
    }

    fn shortfall(&self, measure: &Measure) -> Option<Shortfall> {
        match measure {
            Measure::Estimate(estimate) => {
                let allowed = (self.relative * estimate.value().abs()).max(self.absolute);
                let half_width = estimate.half_width();
                (half_width > allowed).then_some(Shortfall::Wide { half_width, allowed })
            }
            Measure::NotAvailable { reason } => Some(Shortfall::Missing(*reason)),
            Measure::Maximum { .. } | Measure::Observed { .. } => None,
        }
    }
}

impl<K> Assessment<K> {
    /// Whether the run may stop.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.unmet.is_empty()
    }

    /// The series that are not known well enough, in the order in which they were given.
    #[must_use]
    pub fn unmet(&self) -> &[Unmet<K>] {
        &self.unmet
    }

    /// By what factor the run would have to be longer, for progress reports: half-widths fall with the
    /// square root of the length. Nothing if a series has no interval yet, or its value is zero.
    #[must_use]
    pub fn growth(&self) -> Option<f64> {
        let needed = |unmet: &Unmet<K>| match unmet.shortfall {
            Shortfall::Wide { half_width, allowed } if allowed > 0.0 => Some((half_width / allowed).powi(2)),
            _ => None,
        };
        self.unmet.iter().map(needed).try_fold(1.0, |most: f64, factor| factor.map(|factor| most.max(factor)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::estimate::Method;

    /// An estimate whose half-width is 2.093 times the standard error.
    fn known(value: f64, standard_error: f64) -> Measure {
        Measure::estimate(value, standard_error, 100, Method::BatchMeans { groups: 20 })
    }

    #[test]
    fn narrow_intervals_meet_the_target() {
        let target = Target::relative(0.01).expect("valid");
        let assessment = target.assess([("a", known(100.0, 0.4)), ("b", known(-100.0, 0.4))]);
        assert!(assessment.is_met());
        assert_eq!(assessment.growth(), Some(1.0));
    }

    #[test]
    fn wide_ones_are_named_with_the_length_they_need() {
        let target = Target::relative(0.01).expect("valid");
        let assessment = target.assess([("a", known(100.0, 0.4)), ("b", known(100.0, 2.0 / 2.093_024_054))]);
        assert_eq!(assessment.unmet().len(), 1);
        assert_eq!(assessment.unmet()[0].series, "b");
        assert!((assessment.growth().expect("known") - 4.0).abs() < 1e-6);
    }

    #[test]
    fn zero_needs_an_absolute_bound() {
        let target = Target::relative(0.01).expect("valid");
        assert!(target.assess([((), known(0.0, 0.0))]).is_met());
        let noisy = [((), known(0.0, 0.001))];
        assert!(!target.assess(noisy).is_met());
        assert_eq!(target.assess(noisy).growth(), None);
        assert!(target.or_absolute(0.01).expect("valid").assess(noisy).is_met());
    }

    #[test]
    fn a_series_without_figure_is_not_met_and_a_maximum_does_not_count() {
        let target = Target::relative(0.01).expect("valid");
        assert!(target.assess([((), Measure::maximum(5.0, 1)), ((), Measure::observed(5.0, 1))]).is_met());
        let assessment = target.assess([("rare", Unavailable::NoObservations.into())]);
        assert_eq!(assessment.unmet()[0].shortfall, Shortfall::Missing(Unavailable::NoObservations));
        assert_eq!(assessment.growth(), None);
    }

    #[test]
    fn impossible_targets_are_refused() {
        for share in [0.0, -0.01, f64::NAN, f64::INFINITY] {
            assert!(Target::relative(share).is_err(), "{share}");
        }
        let target = Target::relative(0.01).expect("valid");
        assert_eq!(target.or_absolute(-1.0), Err(TargetError::Absolute(-1.0)));
        assert!(TargetError::Relative(0.0).to_string().contains("precision is 0 of the value"));
    }
}
