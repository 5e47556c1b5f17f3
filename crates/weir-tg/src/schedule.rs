//! When the actions of a script begin and end.
//!
//! An action begins at its `at`, which counts from the script's start, or when the former has ended. Traffic
//! ends after its `time`, else at the next action's `at`, else never; `data` and `packet` can end it before.
//! `wait` without a time lasts up to the next `at`.
//!
//! | | |
//! |-|-|
//! | Source | TG 2.0, release notes and grammar (2002) |
//! | Work | O(actions) |
//! | Departs from the source | what could never begin or never end is refused; an `at` before the known end of the former action too |

use weir_core::units::{Bytes, Cost, Nanos};

use crate::error::{self, ScriptError};
use crate::script::{Action, Deed, Ends, Script, Sending};
use crate::traffic::{Burst, Start};

/// The longest packet, in bytes of the user's data.
pub const MAX_LENGTH: f64 = 8192.0;
/// The most packets that may leave at one instant.
const MAX_AT_ONCE: f64 = 1e7;
/// The packets of a burst that nothing ends.
const ENDLESS: &str = "packets without end";
/// Gaps below this mean are none, in seconds.
const NO_GAP: f64 = 1e-9;

/// When the next action begins that has no `at`.
#[derive(Clone, Copy)]
enum Next {
    /// Then.
    At(Nanos),
    /// At this span after the end of the latest burst, which draws decide.
    After(Nanos),
    /// Never: what comes before has no end.
    Never,
}

impl Next {
    fn plus(self, time: Nanos) -> Self {
        match self {
            Self::At(at) => Self::At(at.plus(time)),
            Self::After(after) => Self::After(after.plus(time)),
            Self::Never => Self::Never,
        }
    }
}

/// What a script sends, with the beginning and the end of each burst.
pub(crate) fn bursts(script: &Script) -> Result<Vec<Burst>, ScriptError> {
    check_setups(script)?;
    let mut bursts = Vec::new();
    let mut next = Next::At(Nanos::new(0));
    let mut known = Nanos::new(0);
    for (index, action) in script.actions.iter().enumerate() {
        next = begin(script, action, next, known)?;
        if let Next::At(at) = next {
            known = at;
        }
        next = match &action.deed {
            Deed::Setup | Deed::Log(_) => next,
            Deed::Wait(Some(time)) => next.plus(*time),
            Deed::Wait(None) => Next::Never,
            Deed::Send(sending) => {
                check_sending(script, action, sending)?;
                let until = script.actions.get(index + 1).and_then(|following| following.at);
                let (burst, end) = burst(sending, next, until);
                bursts.push(burst);
                end
            }
        };
    }
    Ok(bursts)
}

fn begin(script: &Script, action: &Action, next: Next, known: Nanos) -> Result<Next, ScriptError> {
    let Some(at) = action.at else {
        return match next {
            Next::Never => Err(refuse(
                script,
                action,
                "this action never begins, as the previous one has no end".to_owned(),
                "write `at` before it, or give the previous one a `time`",
            )),
            _ => Ok(next),
        };
    };
    let earliest = if let Next::At(end) = next { end } else { known };
    if at < earliest {
        let reason = format!("this action begins at {at}, before the previous one ends at {earliest}");
        return Err(refuse(script, action, reason, "write a later `at`, or shorten the previous action"));
    }
    Ok(Next::At(at))
}

fn burst(sending: &Sending, start: Next, following: Option<Nanos>) -> (Burst, Next) {
    let from = match start {
        Next::At(at) => Start::At(at),
        Next::After(after) => Start::After(after),
        Next::Never => Start::After(Nanos::new(0)),
    };
    let drawn_end = sending.packets.is_some() || sending.data.is_some();
    let end = match (start, sending.time) {
        (Next::At(at), Some(time)) if !drawn_end => Next::At(at.plus(time)),
        (_, Some(_)) => Next::After(Nanos::new(0)),
        (_, None) if drawn_end => Next::After(Nanos::new(0)),
        (_, None) => Next::Never,
    };
    let burst = Burst {
        from,
        time: sending.time,
        until: following.filter(|_| sending.time.is_none()),
        arrival: sending.arrival.clone(),
        length: sending.length.clone(),
        packets: sending.packets,
        data: sending.data,
        seed: sending.seed,
        reset: sending.reset,
    };
    (burst, end)
}

fn check_setups(script: &Script) -> Result<(), ScriptError> {
    let mut implicit = false;
    let mut explicit = false;
    for action in &script.actions {
        match action.deed {
            Deed::Setup if explicit => {
                let reason = "found a second `setup`, a script has one".to_owned();
                return Err(refuse(script, action, reason, "remove it"));
            }
            Deed::Setup if implicit => {
                let reason = "found `setup` after an action that has set the association up".to_owned();
                return Err(refuse(script, action, reason, "write `setup` first, or remove it"));
            }
            Deed::Setup => explicit = true,
            Deed::Wait(_) | Deed::Send(_) => implicit = true,
            Deed::Log(_) => {}
        }
    }
    Ok(())
}

fn check_sending(script: &Script, action: &Action, sending: &Sending) -> Result<(), ScriptError> {
    if let Ends::Server(_) = script.association.ends {
        let reason = "found `arrival` in a script with `server`, which only receives".to_owned();
        return Err(refuse(script, action, reason, "remove `server`, or write `wait`"));
    }
    for distribution in [&sending.arrival, &sending.length] {
        distribution.check().map_err(|error| refuse(script, action, error.to_string(), error.remedy()))?;
    }
    let length = sending.length.mean();
    if length > MAX_LENGTH {
        let reason = format!("the mean length is {length} bytes, must be at most {MAX_LENGTH}");
        return Err(refuse(script, action, reason, "write shorter lengths"));
    }
    let at_once = at_once(sending, length);
    if sending.arrival.mean() < NO_GAP && at_once > MAX_AT_ONCE {
        let gap = sending.arrival.mean();
        // In powers of ten, which are short for any gap.
        let gap = if gap > 0.0 { format!("{gap:e}") } else { "0".to_owned() };
        let packets = if at_once.is_finite() { format!("{at_once:.0} packets") } else { ENDLESS.to_owned() };
        let reason = format!(
            "gaps of {gap} s in the mean would send {packets} at once, must be at most {MAX_AT_ONCE}"
        );
        return Err(refuse(script, action, reason, "write a gap of at least 1 ns, or a smaller `packet`"));
    }
    Ok(())
}

/// How many packets a burst has, if nothing but their number or data ends it.
fn at_once(sending: &Sending, length: f64) -> f64 {
    let by_packets = sending.packets.map_or(f64::INFINITY, count);
    // Lengths are rounded down, so that a mean below 1 may send no data at all.
    let by_data =
        sending.data.filter(|_| length >= 1.0).map_or(f64::INFINITY, |data| count(data.get()) / length);
    by_packets.min(by_data)
}

fn count(number: u64) -> f64 {
    number as f64
}

fn refuse(script: &Script, action: &Action, reason: String, remedy: &str) -> ScriptError {
    let file = script.sources.get(usize::from(action.place.source)).map_or("", String::as_str);
    error::refuse(file, action.place, Some(&action.to_string()), reason, remedy)
}

/// A drawn length in whole bytes, and no more than may be sent.
#[must_use]
pub(crate) fn bounded_length(drawn: f64) -> Bytes {
    Bytes::new(drawn.clamp(0.0, MAX_LENGTH) as u64)
}
