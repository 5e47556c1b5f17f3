//! When a run of the network ends, and what of it is measured.

use super::LONGEST_RUN;
use crate::check::Check;
use crate::document::{NetworkMeasure, NetworkStop};
use crate::model::{Measure, Stop};
use crate::over_time;
use weir_core::units::Nanos;
use weir_document::quantity::Time;
use weir_document::{Checked, Located, MAX_REPLICATIONS};
use weir_lab::scenario::over_time::{self as scenario, Course};

/// The replications of a scenario that does not say.
const REPLICATIONS: u32 = 8;
/// Flows up to this number have figures of their own where the scenario does not say.
const FEW_FLOWS: usize = 1024;
/// The most flows with figures of their own.
const MAX_FLOWS: usize = 100_000;
/// The most intervals, and the most of all flows that have figures of their own.
const MAX_INTERVALS: usize = 1000;
const MAX_CELLS: usize = 1_000_000;
/// The most steps of a time series, and the most of all flows.
const MAX_STEPS: u64 = 100_000;
const MAX_ALL_STEPS: u64 = 1 << 22;

impl Check<'_, '_> {
    pub(super) fn network_stop(&self, written: &NetworkStop) -> Checked<Stop> {
        let duration = self.some_span(&written.duration, LONGEST_RUN)?;
        let warm_up = written.warm_up.as_ref();
        let warm_up = warm_up.map_or(Ok(Nanos::new(0)), |time| {
            let span = self.span(time, LONGEST_RUN)?;
            if span >= duration {
                let reason = format!("must be shorter than stop.duration, which is {duration}");
                return self.refuse(time, reason, "shorten it, or lengthen the run");
            }
            Ok(span)
        })?;
        let replications = written.replications.as_ref();
        let replications = replications
            .map_or(Ok(REPLICATIONS), |n| self.whole(n, 1, MAX_REPLICATIONS).map(|n| n as u32))?;
        Ok(Stop { duration, warm_up, replications })
    }

    pub(super) fn network_measure(
        &self,
        written: &NetworkMeasure,
        stop: &Stop,
        flows: usize,
    ) -> Checked<Measure> {
        let by_flow = match &written.flows {
            None => flows <= FEW_FLOWS,
            Some(asked) if asked.value && flows > MAX_FLOWS => {
                let reason =
                    format!("asks for figures of {flows} flows, there are some of at most {MAX_FLOWS}");
                return self.refuse(asked, reason, "write false, and give flows classes");
            }
            Some(asked) => asked.value,
        };
        let figures = if by_flow { flows } else { 1 };
        let intervals = self.intervals(written.intervals.as_ref(), stop, figures)?;
        let series = written.series.as_ref().map(|step| self.series(step, stop, flows)).transpose()?;
        Ok(Measure { intervals, series, over_time: None, tails: written.tails, flows: by_flow })
    }

    /// The length of the windows of which there are figures, for `links` links, in all disciplines and replications.
    pub(super) fn over_time(
        &self,
        written: &NetworkMeasure,
        stop: &Stop,
        links: usize,
        disciplines: usize,
    ) -> Checked<Option<Nanos>> {
        let runs = (disciplines as u64).saturating_mul(u64::from(stop.replications));
        let course = Course::of_duration(stop.duration, over_time::rows(links), runs);
        scenario::over_time(self, written.window.as_ref(), written.over_time.as_ref(), course)
    }

    /// The whole run, and the intervals asked for.
    fn intervals(
        &self,
        written: Option<&Located<Vec<Located<Time>>>>,
        stop: &Stop,
        flows: usize,
    ) -> Checked<Vec<(Nanos, Nanos)>> {
        let mut intervals = vec![(stop.warm_up, stop.duration)];
        let Some(written) = written else { return Ok(intervals) };
        let count = written.value.len();
        if count < 2 || count - 1 > MAX_INTERVALS || (count - 1) * flows > MAX_CELLS {
            let reason = format!(
                "must have from 2 to {} times, and times flows at most {MAX_CELLS}",
                MAX_INTERVALS + 1
            );
            return self.refuse(written, reason, "write boundaries such as [\"0s\", \"30s\", \"60s\"]");
        }
        let mut last = None;
        for boundary in &written.value {
            let at = self.span(boundary, LONGEST_RUN)?;
            if at < stop.warm_up || at > stop.duration {
                let reason = format!(
                    "must be from stop.warm_up, {}, to stop.duration, {}",
                    time(stop.warm_up),
                    stop.duration
                );
                return self.refuse(boundary, reason, "move it");
            }
            match last {
                Some(last) if at <= last => {
                    let reason = format!("must be after the previous boundary, {}", time(last));
                    return self.refuse(boundary, reason, "sort the boundaries, each once");
                }
                Some(last) => intervals.push((last, at)),
                None => {}
            }
            last = Some(at);
        }
        Ok(intervals)
    }

    fn series(&self, step: &Located<Time>, stop: &Stop, flows: usize) -> Checked<Nanos> {
        let span = self.some_span(step, LONGEST_RUN)?;
        let steps = stop.duration.get().div_ceil(span.get());
        if steps > MAX_STEPS || steps.saturating_mul(flows as u64) > MAX_ALL_STEPS {
            let reason = format!(
                "makes series of {steps} steps for {flows} flows, at most {MAX_STEPS} and {MAX_ALL_STEPS} of all \
                 flows are kept"
            );
            return self.refuse(step, reason, "raise it");
        }
        Ok(span)
    }
}

/// A time of a run, in seconds where it is 0.
fn time(at: Nanos) -> String {
    if at.get() == 0 { "0s".to_owned() } else { at.to_string() }
}
