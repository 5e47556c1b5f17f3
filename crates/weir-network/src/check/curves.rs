//! Curves: how the rate of a flow follows the time from its start.
//!
//! A curve is read and checked as that of a server is ([`weir_workload::curve`]); what depends on the flow is checked here: that
//! its packets are drawn, that they are at least a nanosecond apart where the rate is highest, and that the clock holds all of
//! it. Source: the project's own. Work O(points).

use std::sync::Arc;

use super::LONGEST_RUN;
use super::flows::Period;
use super::traffic::TOO_FAST;
use crate::check::Check;
use crate::document::Flow;
use weir_document::{Checked, Located};
use weir_workload::Curve;
use weir_workload::curve::{self, CurveClock, CurveTable};

/// The longest that a clock goes up to the end of a flow, in nanoseconds at the mean rate.
const MOST_PASSED: f64 = 1e19;

/// The curve of a flow, with its place.
pub(super) struct FlowCurve<'w> {
    pub(super) at: &'w Located<CurveTable>,
    /// Its rates over their mean.
    curve: Curve,
    /// The mean, in packets a second, where it is written with rates.
    pub(super) rate: Option<f64>,
}

impl Check<'_, '_> {
    /// Refuses a curve of packets that are not drawn.
    pub(super) fn without_curve(&self, flow: &Flow) -> Checked<()> {
        let Some(written) = &flow.curve else { return Ok(()) };
        let reason = match (&flow.tg, &flow.trace) {
            (Some(_), _) => "has no effect with flow.tg, whose packets have times of their own",
            (None, Some(_)) => "has no effect with flow.trace, whose packets have times of their own",
            (None, None) => "has no effect with flow.tcp, whose packets leave when acknowledgements come",
        };
        self.refuse(written, reason, "remove it, or send at a `gap` or a `rate`")
    }

    /// The curve of a flow that sends in `period`.
    pub(super) fn curve<'w>(
        &mut self,
        written: &'w Located<CurveTable>,
        period: Period,
    ) -> Checked<FlowCurve<'w>> {
        let curve::WrittenCurve { curve, rate } = curve::checked(self, written, LONGEST_RUN)?;
        let passed = curve.before(period.length().get() as f64);
        if passed > MOST_PASSED {
            let reason = format!(
                "sends as much as {passed:.1e} ns at its mean rate would, must be at most {MOST_PASSED:.0e} ns: the mean is \
                 that up to its last point"
            );
            return self.refuse(written, reason, "move its last point on, or give it a `period`");
        }
        Ok(FlowCurve { at: written, curve, rate })
    }
}

impl FlowCurve<'_> {
    /// Its clock, for gaps of this mean in nanoseconds.
    pub(super) fn clock(self, check: &Check<'_, '_>, mean_gap: f64) -> Checked<Arc<CurveClock>> {
        if mean_gap < self.curve.highest() {
            let reason = format!("{TOO_FAST} where it is highest");
            return check.refuse(self.at, reason, "lower its rate there, or the mean");
        }
        Ok(Arc::new(CurveClock::new(self.curve, 1.0)))
    }
}
