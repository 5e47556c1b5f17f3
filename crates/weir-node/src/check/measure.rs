//! When a run ends, and what is measured.

use super::LONGEST_RUN;
use crate::check::Check;
use crate::document::{NodeMeasure, NodeStop, TimelineTable};
use crate::model::{Measure, Operation, Process, Stop};
use weir_core::units::Nanos;
use weir_document::quantity::Time;
use weir_document::{Checked, Located, MAX_REPLICATIONS};
use weir_lab::scenario::over_time::{self as scenario, Course};

/// The most epochs of a run.
pub(super) const MAX_EPOCHS: u64 = 1_000_000_000;
/// The most samples of a run.
pub(super) const MAX_SAMPLES: u64 = 1_000_000;
/// The shortest interval of the sampler.
pub(super) const SHORTEST_SAMPLE: Nanos = Nanos::new(1_000_000);
/// Where the scenario does not say: what is left out at the start, and the end of a replication.
const WARM_UP: Nanos = Nanos::new(1_000_000_000);
const DURATION: Nanos = Nanos::new(11_000_000_000);
/// Replications where something is random and the scenario does not say.
const REPLICATIONS: u64 = 10;
/// The epochs of the timeline where the scenario does not say.
const TIMELINE_EPOCHS: u64 = 5;

/// The first beginning of an epoch that is not before `time`.
fn first_epoch(time: Nanos, epoch: Nanos) -> u64 {
    time.get().div_ceil(epoch.get()).saturating_mul(epoch.get())
}

/// Whether a process draws random numbers.
fn is_random(process: &Process) -> bool {
    process.program.operations.iter().any(|operation| match operation {
        Operation::Compute(law) | Operation::Sleep(law) | Operation::PostAfter(_, law) => law.is_random(),
        _ => false,
    })
}

impl Check<'_, '_> {
    pub(super) fn node_stop(
        &self,
        written: Option<&Located<NodeStop>>,
        epoch: &Located<Nanos>,
        processes: &[Process],
    ) -> Checked<Stop> {
        let own = NodeStop::default();
        let stop = written.map_or(&own, |written| &written.value);
        let times = (stop.warm_up.as_ref(), stop.duration.as_ref());
        let (warm_up, duration) = self.run_time(times, (WARM_UP, DURATION), LONGEST_RUN)?;
        let whole = first_epoch(warm_up, epoch.value);
        let epochs = duration.get().saturating_sub(whole) / epoch.value.get();
        if !(1..=MAX_EPOCHS).contains(&epochs) {
            let (reason, remedy) = match epochs {
                0 => ("no whole epoch".to_owned(), "lengthen stop.duration, or shorten stop.warm_up"),
                _ => (format!("more than {MAX_EPOCHS} epochs"), "shorten stop.duration"),
            };
            let reason = format!(
                "leaves {reason} of {} from the warm-up of {warm_up} to the end at {duration}",
                epoch.value
            );
            return match times {
                (_, Some(time)) | (Some(time), None) => self.refuse(time, reason, remedy),
                (None, None) => self.refuse(epoch, reason, remedy),
            };
        }
        let default = if processes.iter().any(is_random) { REPLICATIONS } else { 1 };
        let replications = stop.replications.as_ref();
        let replications = replications.map_or(Ok(default), |n| self.whole(n, 1, MAX_REPLICATIONS))?;
        Ok(Stop { warm_up, duration, replications: replications as u32 })
    }

    pub(super) fn node_measure(
        &self,
        written: &NodeMeasure,
        epoch: Nanos,
        stop: &Stop,
        course: Course,
    ) -> Checked<Measure> {
        let sample = written.sample.as_ref();
        Ok(Measure {
            tails: written.tails,
            verify: written.verify,
            over_time: scenario::over_time(
                self,
                written.window.as_ref(),
                written.over_time.as_ref(),
                course,
            )?,
            sample: sample.map(|time| self.sample(time, stop)).transpose()?,
            timeline: Some(match &written.timeline {
                Some(written) => self.timeline(&written.value, stop)?,
                None => {
                    let from = first_epoch(stop.warm_up, epoch);
                    let until = from.saturating_add(epoch.get().saturating_mul(TIMELINE_EPOCHS));
                    (Nanos::new(from), Nanos::new(until).min(stop.duration))
                }
            }),
        })
    }
    fn sample(&self, written: &Located<Time>, stop: &Stop) -> Checked<Nanos> {
        let interval = self.some_span(written, LONGEST_RUN)?;
        let measured = stop.duration.get() - stop.warm_up.get();
        let reason = if interval < SHORTEST_SAMPLE {
            format!("must be at least {SHORTEST_SAMPLE}")
        } else if interval.get() > measured {
            format!("must be at most the measured time, which is {}", Nanos::new(measured))
        } else if measured / interval.get() > MAX_SAMPLES {
            format!(
                "makes more than {MAX_SAMPLES} samples of the measured time, which is {}",
                Nanos::new(measured)
            )
        } else {
            return Ok(interval);
        };
        self.refuse(written, reason, "write an interval such as \"1s\"")
    }

    fn timeline(&self, written: &TimelineTable, stop: &Stop) -> Checked<(Nanos, Nanos)> {
        let until = self.some_span(&written.until, LONGEST_RUN)?;
        let from = self.span(&written.from, LONGEST_RUN)?;
        if from >= until {
            let reason = format!("must be before measure.timeline.until, which is {until}");
            return self.refuse(&written.from, reason, "begin earlier, or end later");
        }
        if until > stop.duration {
            let reason = format!("must be at most stop.duration, which is {}", stop.duration);
            return self.refuse(&written.until, reason, "end earlier, or lengthen the run");
        }
        Ok((from, until))
    }
}
