//! When a replication ends, and what is measured.

use super::LONGEST_RUN;
use super::workload::Arrives;
use crate::check::Check;
use crate::document::{ServerDocument, ServerMeasure};
use crate::model::{Measure, Open, Stop, Workload};
use crate::over_time;
use crate::run::MOST_WINDOWS;
use weir_core::units::Nanos;
use weir_document::{Checked, Located, MAX_REPLICATIONS, MAX_WORK};
use weir_lab::scenario::over_time::{self as scenario, Course};
use weir_workload::requests::Requests;

/// Requests of all replications together where the scenario does not say.
pub(super) const REQUESTS: u64 = 2_000_000;
/// Replications where the scenario does not say.
const REPLICATIONS: u64 = 10;
/// The part of a run that does not count where the scenario does not say: one part in this many.
const WARM_UP: u64 = 10;
/// The shortest window.
pub(super) const SHORTEST_WINDOW: Nanos = Nanos::new(1_000);

impl Check<'_, '_> {
    pub(super) fn server_stop(&self, document: &ServerDocument, arrives: &Arrives) -> Checked<Stop> {
        let stop = &document.stop;
        let is_trace = matches!(arrives.workload, Workload::Trace(_));
        let default = if is_trace { 1 } else { REPLICATIONS };
        let replications = stop.replications.as_ref();
        let replications =
            replications.map_or(Ok(default), |count| self.whole(count, 1, MAX_REPLICATIONS))? as u32;
        let duration = match &arrives.workload {
            Workload::Trace(requests) => self.end_of_trace(document, requests)?,
            Workload::Closed(_) => self.end_of_closed(document)?,
            Workload::Open(open) => self.end_of_open(document, open, replications)?,
        };
        let follows_time = matches!(
            &arrives.workload,
            Workload::Open(Open { levels: Some(_), .. } | Open { curve: Some(_), .. })
        );
        let warm_up = match &stop.warm_up {
            None if is_trace || follows_time => Nanos::new(0),
            None => Nanos::new(duration.get() / WARM_UP),
            Some(written) => {
                let warm_up = self.span(written, LONGEST_RUN)?;
                if warm_up >= duration {
                    let reason = format!("must be shorter than the run, which is {duration}");
                    return self.refuse(written, reason, "shorten it, or lengthen the run");
                }
                warm_up
            }
        };
        Ok(Stop { warm_up, duration, replications })
    }

    fn end_of_trace(&self, document: &ServerDocument, requests: &Requests) -> Checked<Nanos> {
        self.unused(document.stop.requests.as_ref(), "workload.trace, which ends by itself")?;
        self.unused(document.stop.duration.as_ref(), "workload.trace, which ends by itself")?;
        Ok(Nanos::new(requests.at.last().map_or(1, |last| last + 1)))
    }

    fn end_of_closed(&self, document: &ServerDocument) -> Checked<Nanos> {
        let remedy = "write `duration = ...`, such as \"1s\"";
        let reason = "has no meaning in a closed loop, whose rate is not known before";
        match (&document.stop.requests, &document.stop.duration) {
            (Some(requests), _) => self.refuse(requests, reason, remedy),
            (None, Some(duration)) => self.some_span(duration, LONGEST_RUN),
            (None, None) => {
                let reason = "must have a stop.duration with a closed loop";
                self.refuse(&document.workload, reason, "add `[stop]` with a `duration`, such as \"1s\"")
            }
        }
    }

    fn end_of_open(&self, document: &ServerDocument, open: &Open, replications: u32) -> Checked<Nanos> {
        let stop = &document.stop;
        let end = match (&stop.requests, &stop.duration) {
            (Some(requests), Some(_)) => {
                return self.refuse(requests, "cannot be combined with stop.duration", "keep one of the two");
            }
            (None, Some(duration)) => self.some_span(duration, LONGEST_RUN)?.get() as f64,
            (Some(requests), None) => {
                let count = self.whole(requests, 1, MAX_WORK)?;
                open.time_of(count as f64 / f64::from(replications))
            }
            (None, None) => match (open.levels, &open.curve) {
                (Some(levels), _) => levels.every.get() as f64 * f64::from(levels.count),
                (None, Some(curve)) => curve.extent() as f64,
                (None, None) => open.time_of(REQUESTS as f64 / f64::from(replications)),
            },
        };
        let longest = LONGEST_RUN.get() as f64;
        let all = if end <= longest {
            open.requests_before(Nanos::new(end as u64)) * f64::from(replications)
        } else {
            0.0
        };
        let reason = if end > longest {
            format!("takes a replication to {:.1e} s, must be at most {LONGEST_RUN}", end / 1e9)
        } else if all > MAX_WORK as f64 {
            format!("makes some {all:.1e} requests in all replications together, must be at most {MAX_WORK}")
        } else {
            return Ok(Nanos::new((end.ceil() as u64).max(1)));
        };
        let remedy = "shorten the run, or run fewer replications";
        match (&stop.requests, &stop.duration) {
            (Some(requests), _) => self.refuse(requests, reason, remedy),
            (None, Some(duration)) => self.refuse(duration, reason, remedy),
            (None, None) => self.refuse(&document.workload, reason, remedy),
        }
    }

    pub(super) fn server_measure(
        &self,
        written: &ServerMeasure,
        stop: &Stop,
        classes: usize,
        disciplines: usize,
    ) -> Checked<Measure> {
        let window = written.window.as_ref();
        let window = window
            .map(|window| {
                let span = self.some_span(window, LONGEST_RUN)?;
                self.windows(window, span, stop, classes)?;
                Ok(span)
            })
            .transpose()?;
        let over_time = self.over_time(written, stop, disciplines)?;
        Ok(Measure { tails: written.tails, order: written.order, window, over_time, verify: written.verify })
    }

    /// Whether figures of each window are asked for, of which not too many are kept.
    fn over_time(&self, written: &ServerMeasure, stop: &Stop, disciplines: usize) -> Checked<bool> {
        let Some(asked) = written.over_time.as_ref().filter(|asked| asked.value) else { return Ok(false) };
        let runs = (disciplines as u64).saturating_mul(u64::from(stop.replications));
        let course = Course::of_duration(stop.duration, over_time::MOST_ROWS, runs);
        scenario::over_time(self, written.window.as_ref(), Some(asked), course).map(|length| length.is_some())
    }

    fn windows<T>(&self, written: &Located<T>, span: Nanos, stop: &Stop, classes: usize) -> Checked<()> {
        let windows = stop.duration.get().div_ceil(span.get());
        let reason = if span < SHORTEST_WINDOW {
            format!("must be at least {SHORTEST_WINDOW}")
        } else if windows.saturating_mul(classes as u64) > MOST_WINDOWS {
            format!(
                "makes {windows} windows of the run, which is {}, for each of {classes} classes, at most {MOST_WINDOWS} \
                 are kept",
                stop.duration
            )
        } else {
            return Ok(());
        };
        self.refuse(written, reason, "lengthen it")
    }
}
