//! Curves: how the rate of messages from outside follows the time.
//!
//! A curve is read and checked as everywhere ([`weir_workload::curve`]); what depends on the port is checked here: that
//! messages are a tick apart where the rate is highest, that the clock holds all of a run, and that nothing is asked for that
//! only a steady state has. Source: the project's own. Work O(log points).

use super::Serving;
use crate::check::Check;
use crate::document::{self, PortDocument};
use crate::model::Open;
use crate::ticks::{LONGEST, Ticks};
use weir_core::units::Nanos;
use weir_document::quantity::{self, Time};
use weir_document::{Checked, Located, MAX_WORK};
use weir_workload::arrivals::LATEST;
use weir_workload::curve::{self, CurveTable, WrittenCurve};

/// The latest time of a point, within what the clock can hold: 126 years.
const LONGEST_CURVE: Nanos = Nanos::new(4_000_000_000_000_000_000);
/// Replications where the scenario does not say: their spread alone gives intervals.
pub(super) const REPLICATIONS: u64 = 10;
/// In how many parts a curve is sampled by the queue monitor at least. No whole number: readings of one period are not at the
/// places of the next.
const SAMPLES: f64 = 32.360_679_774_997_9;
/// The fewest where the scenario says.
const FEWEST_SAMPLES: u64 = 20;

impl Open {
    /// How far the clock must go for a run that ends at `end` and passes `passed` at its mean rate: with a curve arrivals that
    /// are drawn ahead of it may come much later, and its points are times of the clock too.
    pub(super) fn reach(&self, end: f64, passed: f64) -> f64 {
        match self.curve {
            None => end,
            Some(_) => (end * LONGEST / LATEST as f64).max(passed).max(self.extent()),
        }
    }
}

impl Check<'_, '_> {
    pub(super) fn curve(&mut self, written: &Located<CurveTable>, serving: Serving) -> Checked<WrittenCurve> {
        let on = curve::Written { port: Some(serving.clock), longest: LONGEST_CURVE };
        curve::checked_on(self, written, on)
    }

    /// Refuses a curve at whose highest rate means of `shortest` nanoseconds would be drawn.
    pub(super) fn highest(&self, written: &Located<CurveTable>, shortest: f64, finest: Ticks) -> Checked<()> {
        if shortest >= finest.shortest_mean() {
            return Ok(());
        }
        let reason = format!("must not ask for mean times below a {} where it is highest", finest.name());
        self.refuse(written, reason, "lower its rate there, or the mean")
    }

    /// The messages of a curve that is run once, in all replications together.
    pub(super) fn once(&self, document: &PortDocument, open: &Open, replications: u64) -> Checked<u64> {
        let messages = (open.extent() / open.mean_gap).round().max(1.0);
        let all = messages * replications as f64;
        if all <= MAX_WORK as f64 {
            return Ok(all as u64);
        }
        let reason = format!(
            "makes some {all:.1e} messages of a curve that is run once by each replication, must make at most {MAX_WORK}"
        );
        self.refuse(&document.workload, reason, "write `stop.messages`, or fewer `stop.replications`")
    }

    /// Refuses what has no meaning without a steady state.
    pub(super) fn without_steady_state(&self, stop: &document::Stop) -> Checked<()> {
        if let Some(written) = &stop.precision {
            let reason = "cannot be combined with workload.curve, of which a run that ends earlier measures another part";
            return self.refuse(written, reason, "remove it, and raise stop.replications");
        }
        match &stop.warm_up {
            Some(written) if written.value == quantity::WarmUp::Detected => {
                let reason = "has no meaning with workload.curve, whose arrivals reach no steady state";
                self.refuse(written, reason, "write \"none\", or a time")
            }
            _ => Ok(()),
        }
    }

    /// When a replication of this number of messages has all of them; refused where they never come, or beyond the clock.
    pub(super) fn all_came(&self, document: &PortDocument, open: &Open, messages: f64) -> Checked<f64> {
        let passed = messages * open.mean_gap;
        let Some(curve) = &document.workload.value.curve else { return Ok(passed) };
        let repeats = open.curve.as_ref().is_some_and(|curve| curve.period().is_some());
        if passed > LONGEST && !repeats {
            let reason = format!(
                "brings as much as {passed:.1e} ns at its mean rate would, must be at most {LONGEST:.1e} ns: the mean is \
                 that up to its last point"
            );
            return self.refuse(curve, reason, "move its last point on, or give it a `period`");
        }
        // All that it brings is at its last point, but for what is rounded.
        let times = [passed, passed - open.mean_gap].map(|passed| open.time_of(passed));
        if let Some(end) = times.into_iter().find(|time| time.is_finite()) {
            return Ok(end);
        }
        let most = open.passed(LATEST as f64) / open.mean_gap;
        let reason =
            format!("asks a replication for {messages:.0} messages, workload.curve brings {most:.0}");
        let remedy = "lower it, or give the curve a `period`";
        match document.stop.packets.as_ref().or(document.stop.messages.as_ref()) {
            Some(written) => self.refuse(written, reason, remedy),
            None => self.refuse(curve, reason, remedy),
        }
    }

    /// The period of the queue monitor on a curve, of the one that there is without: what is sampled as often as a curve begins
    /// again shows one place of it.
    pub(super) fn queue_period(
        &self,
        written: Option<&Located<Time>>,
        open: &Open,
        period: Nanos,
    ) -> Checked<Nanos> {
        let Some(written) = written else {
            return Ok(period.min(Nanos::new((open.extent() / SAMPLES).max(1.0) as u64)));
        };
        let longest = Nanos::new(open.extent() as u64 / FEWEST_SAMPLES);
        if period <= longest {
            return Ok(period);
        }
        let longest = Time { span: longest, clock: written.value.clock };
        let reason = format!("must be at most {longest}, one part in {FEWEST_SAMPLES} of workload.curve");
        self.refuse(written, reason, "shorten it, or remove it")
    }
}
