//! Whether a figure with an interval is what it should be: it is, it is not, or the run cannot tell.
//!
//! An interval that is wide is also one whose estimate is skewed and which covers less often than it says
//! (docs/statistics.md, *Limits*), so that beyond [`WIDE`] nothing is concluded from it, in either direction. That is a
//! judgement of its own, with its reason, so that no check is left out in silence.
//!
//! Source: the project's own. Work: O(1).

use crate::result::LEVEL;
use crate::stats::{Measure, Settled};

/// Half a 95 % interval over its value, beyond which a figure is not held against what it should be.
pub const WIDE: f64 = 0.1;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Whether it is what it should be; `None` where that was not judged.
    pub holds: Option<bool>,
    /// Why it was not judged, where it should have been.
    pub unjudged: Option<String>,
}

impl Judgement {
    /// It is not judged, for this reason.
    #[must_use]
    pub fn none(reason: impl Into<String>) -> Self {
        Self { holds: None, unjudged: Some(reason.into()) }
    }

    /// It is not judged, since the run is too short for the figure.
    #[must_use]
    pub fn unsettled(figure: Settled) -> Self {
        Self::none(format!("needs a run {} times as long", figure.longer()))
    }

    /// A measure that should be `expected`: whether its interval at [`LEVEL`] covers that.
    #[must_use]
    pub fn of(expected: f64, measure: &Measure) -> Self {
        let estimate = match measure {
            Measure::Estimate(estimate) => estimate,
            Measure::NotAvailable { reason } => return Self::none(reason.to_string()),
            Measure::Maximum { .. } | Measure::Observed { .. } => return Self::none("no interval"),
        };
        let (half, value) = (estimate.half_width(), estimate.value().abs());
        if half > WIDE * value {
            return Self::none(format!("interval {}", plus_minus(half, value)));
        }
        if !estimate.settled().is_settled() {
            return Self::unsettled(estimate.settled());
        }
        let (low, high) = estimate.interval(LEVEL);
        Self { holds: Some((low..=high).contains(&expected)), unjudged: None }
    }
}

/// `±68 %`: a span about a value, as a share of it.
#[must_use]
pub fn plus_minus(half: f64, value: f64) -> String {
    let share = 100.0 * half / value;
    match share {
        share if share.is_finite() && share < 9.95 => format!("±{share:.1} %"),
        share if share.is_finite() => format!("±{share:.0} %"),
        _ => format!("±{half:.3e} about 0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Method, Settled, Unavailable};

    /// 100, with this 95 % half-width.
    fn measured(half: f64) -> Measure {
        let error = half / 2.364_624_252;
        Measure::estimate(100.0, error, 9, Method::Replications { groups: 8 })
    }

    #[test]
    fn a2_a_wide_interval_judges_nothing_and_says_how_wide() {
        assert_eq!(Judgement::of(54_333.0, &measured(68.4)), Judgement::none("interval ±68 %"));
        assert_eq!(Judgement::of(100.0, &measured(12.34)), Judgement::none("interval ±12 %"));
        let zero = Measure::estimate(0.0, 1.0, 9, Method::Replications { groups: 8 });
        assert_eq!(Judgement::of(0.0, &zero).unjudged.as_deref(), Some("interval ±2.365e0 about 0"));
    }

    #[test]
    fn what_is_known_well_is_judged_at_the_level_of_the_checks() {
        let holds = |expected| Judgement::of(expected, &measured(2.364_624_252)).holds;
        // The interval at 99.9 % with 7 degrees of freedom reaches 5.408 standard errors.
        assert_eq!([100.0, 105.3, 105.5].map(holds), [Some(true), Some(true), Some(false)]);
        assert_eq!(
            Judgement::of(0.0, &Measure::estimate(0.0, 0.0, 9, Method::Replications { groups: 8 })).holds,
            Some(true)
        );
    }

    #[test]
    fn a2_a_figure_that_is_not_settled_judges_nothing_however_narrow_its_interval() {
        let short = measured(1.0).needing(Settled::needing(4.13));
        assert_eq!(Judgement::of(54_333.0, &short), Judgement::none("needs a run 4.2 times as long"));
    }

    #[test]
    fn a2_what_has_no_interval_is_not_judged_either() {
        assert_eq!(Judgement::of(1.0, &Measure::observed(1.0, 1)), Judgement::none("no interval"));
        let nothing = Judgement::of(1.0, &Unavailable::NoObservations.into());
        assert_eq!(nothing, Judgement::none("no observations in this run"));
    }
}
