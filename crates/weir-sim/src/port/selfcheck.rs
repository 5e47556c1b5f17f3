//! The self-checks printed with every result.

use crate::port::figures::Frame;
use crate::port::gathered::{CLOCK, Gathered};
use crate::port::outcome::Check;
use crate::stats::Measure;

/// Confidence of the intervals that a check holds against: a false alarm in a thousand.
pub const LEVEL: f64 = 0.999;

/// The checks of one discipline; `first` is the one whose busy time all must share.
#[must_use]
pub fn of_discipline(gathered: &Gathered, first: &Gathered, frame: &Frame) -> Vec<Check> {
    let mut checks: Vec<_> = flow_balance(gathered).into_iter().collect();
    checks.push(idle(gathered));
    checks.extend(same_work(gathered, first));
    checks.extend(little(gathered, frame));
    checks.extend(slop(gathered));
    checks
}

/// Every message that arrived has departed, was dropped, or is held by the discipline.
fn flow_balance(gathered: &Gathered) -> Option<Check> {
    let held: Option<u64> = gathered.states.iter().map(|state| Some(state.held? + state.dropped)).sum();
    let held = held? as f64;
    let unfinished = gathered.total(|state| state.unfinished) as f64;
    let note = "messages that arrived and did not depart, against those the discipline holds or dropped";
    Some(Check::new(Some(&gathered.name), "flow balance", unfinished, held, 0.0, note))
}

/// The server never idles while messages wait.
fn idle(gathered: &Gathered) -> Check {
    let idle = gathered.total(|state| state.idle_over_backlog) as f64;
    let note = "instants at which the server was idle over a backlog";
    Check::new(Some(&gathered.name), "work conservation", 0.0, idle, 0.0, note)
}

/// Work-conserving disciplines that served as many packets were busy as long.
fn same_work(gathered: &Gathered, first: &Gathered) -> Option<Check> {
    let comparable = gathered.total(|state| state.ticks) == first.total(|state| state.ticks);
    let by_packets = gathered.states.iter().zip(&first.states).all(|(own, other)| own.now == other.now);
    if !comparable || !by_packets || gathered.name == first.name {
        return None;
    }
    let busy = |of: &Gathered| of.total_time(|state| state.busy) as f64 / CLOCK;
    let note = format!("time busy with the same packets, against `{}`", first.name);
    Some(Check::new(Some(&gathered.name), "work conservation", busy(first), busy(gathered), 0.0, note))
}

/// Little's law: the mean number of messages present is their rate times their mean time.
fn little(gathered: &Gathered, frame: &Frame) -> Option<Check> {
    let present: u128 = gathered.states.iter().map(|state| state.message_time).sum();
    let time = gathered.total_time(|state| state.now) as f64;
    // Some engines do not keep it: the accelerated one, which runs the replications without records.
    if time == 0.0 || gathered.states.iter().any(|state| state.message_time == 0) {
        return None;
    }
    let rate = gathered.total(|state| state.arrived) as f64 / (time / CLOCK);
    let Measure::Estimate(mean) = Measure::from(gathered.mean(0, None)) else { return None };
    let (low, high) = mean.interval(LEVEL);
    let tolerance = rate * (high - low) / 2.0;
    let unit = frame.time_unit;
    let note = format!(
        "messages present in the mean, against {rate:.4} a {unit} for {:.4}{unit} each",
        mean.value()
    );
    let present = present as f64 / time;
    Some(Check::new(Some(&gathered.name), "Little's law", present, rate * mean.value(), tolerance, note))
}

/// No message slowed another beyond the bound of alpha.
fn slop(gathered: &Gathered) -> Option<Check> {
    let (compared, violated) = gathered.audited?;
    let note = format!("violations of the bound of section 9 among {compared} pairs");
    Some(Check::new(Some(&gathered.name), "slop", 0.0, violated as f64, 0.0, note))
}
