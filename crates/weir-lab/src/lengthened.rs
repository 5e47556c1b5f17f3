//! Runs that are as long as it takes: made anew, longer each time, until every figure is settled or the limit is reached.
//!
//! A run is made at the scenario's own length first. Where figures are not settled, it is made anew at a power of two
//! times that length: the next that their own estimate of what they need asks for, at least twice and at most
//! `LARGEST_STEP` times the last, since an estimate from a run that is far too short is a rough one. So lengths are few
//! and depend on the scenario alone, and the last result is that of the scenario with that length, as a user would have
//! written it; [`Lengthened`] says what was done.
//!
//! Source: the project's own; lengths that double, as in Chow and Robbins 1965 (docs/statistics.md, *Stopping at a
//! precision*). Work: that of the last run, and of all before it at most as much again.

use serde::Serialize;

use crate::control::Control;
use crate::error::RunError;
use crate::provenance::Frame;
use crate::result::Settling;
use crate::scenario::{Read, Scenario};

/// How many times as long as the last a run is at most.
const LARGEST_STEP: u64 = 16;

/// What was done to settle the figures of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lengthened {
    /// How many times as long as the scenario has it the run is.
    pub times: u64,
    /// How many times as long it might have become.
    pub limit: u64,
    /// How many runs that took, this one included.
    pub runs: u64,
    /// Its length in words.
    pub length: String,
    /// Why it is not longer, where figures are not settled and the limit is not reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A result that can be made at several lengths.
pub trait Settles {
    /// How much longer its run must be, where figures are not settled.
    fn settling(&self) -> Option<&Settling>;

    /// Whether it was broken off.
    fn is_interrupted(&self) -> bool;

    /// Whether nothing was finished before that.
    fn is_empty(&self) -> bool;

    /// Says what was done.
    fn say(&mut self, lengthened: Lengthened);
}

/// Of a result that has a `course` and a `provenance`.
#[macro_export]
macro_rules! settles {
    ($outcome:ty) => {
        impl $crate::lengthened::Settles for $outcome {
            fn settling(&self) -> Option<&$crate::result::Settling> {
                self.course.settling.as_ref()
            }

            fn is_interrupted(&self) -> bool {
                self.course.interrupted
            }

            fn is_empty(&self) -> bool {
                self.provenance.replications == 0
            }

            fn say(&mut self, lengthened: $crate::lengthened::Lengthened) {
                self.course.lengthened = Some(lengthened);
            }
        }
    };
}

/// Runs a scenario by `run`: once, or for as long as it takes where the scenario says so.
///
/// # Errors
/// Those of the first run; an error at a greater length ends the lengthening and is given as its reason.
pub fn run<M: Read, O: Settles>(
    scenario: &Scenario<M>,
    control: &mut Control<'_>,
    run: impl Fn(&M, &Frame, &mut Control<'_>) -> Result<O, RunError>,
) -> Result<O, RunError> {
    let Some(limit) = scenario.settle_limit() else {
        return run(&scenario.model, &scenario.frame, control);
    };
    let without_records = |scenario: &Scenario<M>, control: &mut Control<'_>| {
        let progress = &mut *control.progress;
        let (threads, cancel) = (control.threads, control.cancel);
        run(&scenario.model, &scenario.frame, &mut Control { threads, cancel, progress, records: None })
    };
    let refused = |refused: weir_document::Refused| RunError::Build(refused.message());
    let (mut own, mut length) = scenario.longer(1).map_err(refused)?;
    let mut outcome = without_records(&own, control)?;
    let (mut times, mut runs, mut reason) = (1, 1, None);
    while let Some(next) = next(times, &outcome, limit) {
        match longer(scenario, next, |longer| without_records(longer, control)) {
            Ok((scenario, words, made)) => (own, length, outcome, times) = (scenario, words, made, next),
            Err(why) => {
                reason = Some(why);
                break;
            }
        }
        runs += 1;
    }
    // What is recorded is the run that counts.
    if control.records.is_some() {
        outcome = run(&own.model, &own.frame, control)?;
    }
    outcome.say(Lengthened { times, limit, runs, length, reason });
    Ok(outcome)
}

/// The scenario at a greater length, that length in words, and its result; or why there is none.
fn longer<M: Read, O: Settles>(
    scenario: &Scenario<M>,
    times: u64,
    run: impl FnOnce(&Scenario<M>) -> Result<O, RunError>,
) -> Result<(Scenario<M>, String, O), String> {
    let (longer, words) = scenario.longer(times).map_err(|refused| refused.message())?;
    let outcome = run(&longer).map_err(|error| error.to_string())?;
    if outcome.is_interrupted() && outcome.is_empty() {
        return Err(format!("a run {times} times as long was broken off"));
    }
    Ok((longer, words, outcome))
}

/// How many times as long the next run is; none where this one is settled, broken off, or the longest.
fn next(times: u64, outcome: &impl Settles, limit: u64) -> Option<u64> {
    let settling = outcome.settling().filter(|_| !outcome.is_interrupted())?;
    let step = settling.longer.clamp(2.0, LARGEST_STEP as f64);
    let wanted = (times as f64 * step).ceil() as u64;
    let next = wanted.next_power_of_two().min(limit);
    (next > times).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Made {
        settling: Option<Settling>,
        interrupted: bool,
    }

    impl Settles for Made {
        fn settling(&self) -> Option<&Settling> {
            self.settling.as_ref()
        }

        fn is_interrupted(&self) -> bool {
            self.interrupted
        }

        fn is_empty(&self) -> bool {
            false
        }

        fn say(&mut self, _lengthened: Lengthened) {}
    }

    fn settling(longer: f64) -> Settling {
        let figure = "mean latency".to_owned();
        Settling { longer, figure, means: Some(longer), quantiles: None, count: 1, of: 2, reason: None }
    }

    #[test]
    fn lengths_are_powers_of_two_up_to_the_limit() {
        let made = |longer: f64| Made { settling: Some(settling(longer)), interrupted: false };
        let steps = |times, longer| next(times, &made(longer), 64);
        assert_eq!(
            [1.1, 2.0, 2.1, 4.2, 9.0, 1e6].map(|longer| steps(1, longer)),
            [2, 2, 4, 8, 16, 16].map(Some)
        );
        assert_eq!([1.1, 3.0, 1e6].map(|longer| steps(32, longer)), [Some(64); 3]);
        assert_eq!(steps(64, 2.0), None);
        assert_eq!(next(4, &made(3.0), 10), Some(10));
        assert_eq!(next(1, &Made { settling: None, interrupted: false }, 64), None);
        assert_eq!(next(1, &Made { settling: Some(settling(2.0)), interrupted: true }, 64), None);
    }
}
