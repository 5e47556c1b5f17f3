//! What messages from outside bring over time where their rate follows a curve, and which part of it is measured.
//!
//! A process *passes* time at its mean rate: on a curve that is its integral ([`Curve::before`]), without one the time itself.
//! Over the mean gap it is the number of messages that come, in the mean. A run ends after a number of packets or messages,
//! so that the measured time is known beforehand only about: where as many come in the mean.
//!
//! Source: the project's own. Units: nanoseconds. Work O(log points).

use crate::model::{Input, Open, PortScenario, Service};
use crate::run::ticks_per_replication;
use crate::warmup;
use weir_core::units::Nanos;
use weir_workload::Curve;
use weir_workload::curve::Measured;

/// By how much of itself what is measured may differ from whole periods: so little does the rest of one count.
const OF_ITSELF: f64 = 0.01;

impl Open {
    /// What the process passes in the first `time` nanoseconds.
    #[must_use]
    pub fn passed(&self, time: f64) -> f64 {
        self.curve.as_ref().map_or(time, |curve| curve.before(time))
    }

    /// How long a curve is: its period, or up to its last point; 0 without one.
    #[must_use]
    pub fn extent(&self) -> f64 {
        self.curve.as_ref().map_or(0.0, |curve| curve.extent() as f64)
    }

    /// When the process has passed as much; infinite where it never does.
    #[must_use]
    pub fn time_of(&self, passed: f64) -> f64 {
        self.curve.as_ref().map_or(passed, |curve| curve.time_of(passed))
    }
}

impl Input {
    /// The messages from outside whose rate follows a curve.
    pub(crate) fn curved(&self) -> Option<&Open> {
        match self {
            Self::Open(open) => Some(open).filter(|open| open.curve.is_some()),
            Self::Trace(_) | Self::Closed(_) => None,
        }
    }
}

impl PortScenario {
    /// The messages from outside whose rate follows a curve, with it.
    #[must_use]
    pub fn curve(&self) -> Option<(&Open, &Curve)> {
        self.input.curved().and_then(|open| Some((open, open.curve.as_ref()?)))
    }

    /// Whether what is measured of a replication is some whole periods of its curve, in the mean.
    #[must_use]
    pub fn measures_whole_periods(&self) -> bool {
        let Some(period) = self.curve().and_then(|(_, curve)| curve.period()) else { return false };
        let [from, until] = self.measured(warmup::given(self));
        let periods = (until - from) / period as f64;
        periods.round() >= 1.0 && (periods - periods.round()).abs() <= OF_ITSELF * periods
    }

    /// What the process has passed where the measured part of a replication begins, after these ticks, and where it ends.
    fn measured(&self, warm_up: u64) -> [f64; 2] {
        let of_tick = self.curve().map_or(0.0, |(open, _)| match self.service {
            Service::Packets(_) => open.mean_gap / open.lengths.mean(),
            Service::Whole(_) => open.mean_gap,
        });
        [warm_up, ticks_per_replication(self)].map(|ticks| ticks as f64 * of_tick)
    }

    /// What is to be known of a curve before figures are read: the load, of which a part is measured after `warm_up` ticks.
    #[must_use]
    pub fn notes(&self, warm_up: u64) -> Vec<String> {
        let (Some((open, curve)), Some(load)) = (self.curve(), self.load) else { return Vec::new() };
        // What a curve brings that ends with 0 has come at its last point, but for what is rounded.
        let time =
            |passed| Some(open.time_of(passed)).filter(|time| time.is_finite()).unwrap_or(open.extent());
        let [from, until] = self.measured(warm_up).map(|passed| Nanos::new(time(passed) as u64));
        let measured = Measured { from, until, clock: self.clock, is_about: true };
        let part = curve.words_of_part(&measured).filter(|_| !self.measures_whole_periods());
        curve.words_of_load(load, &measured).into_iter().chain(part).collect()
    }
}

#[cfg(test)]
mod tests;
