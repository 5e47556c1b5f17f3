//! The self-checks printed with every result.

use crate::audit::Audited;
use crate::figures::Frame;
use crate::gathered::Gathered;
use weir_lab::judgement::Judgement;
use weir_lab::result::{Check, LEVEL};
use weir_lab::stats::Measure;

/// The checks of one discipline; `first` is the one whose instants all must share.
#[must_use]
pub fn of_discipline(gathered: &Gathered, first: &Gathered, frame: &Frame) -> Vec<Check> {
    let mut checks: Vec<_> = flow_balance(gathered).into_iter().collect();
    checks.push(idle(gathered));
    checks.extend(same_work(gathered, first, frame));
    checks.extend(little(gathered, frame));
    checks.extend(little_of_packets(gathered, first, frame));
    checks.extend(slop(gathered));
    checks
}

/// What arrived was served, or is held by the discipline.
fn flow_balance(gathered: &Gathered) -> Option<Check> {
    let held: Option<u64> = gathered.states.iter().map(|state| state.flow.held).sum();
    let held = held? as f64 + gathered.total(|state| state.dropped) as f64;
    let unserved = gathered.total(|state| state.flow.arrived - state.flow.served) as f64;
    let unit = gathered.states.first()?.flow.unit;
    let note = format!("{unit} that arrived and were not served, against those held or dropped");
    Some(Check::new(Some(&gathered.name), "flow balance", unserved, held, 0.0, note))
}

/// The server never idles while messages wait.
fn idle(gathered: &Gathered) -> Check {
    let idle = gathered.total(|state| state.idle_over_backlog) as f64;
    let note = "instants at which the server was idle over a backlog";
    Check::new(Some(&gathered.name), "work conservation", 0.0, idle, 0.0, note)
}

/// Work-conserving disciplines have served as many packets at the same instant.
fn same_work(gathered: &Gathered, first: &Gathered, frame: &Frame) -> Option<Check> {
    let served = |of: &Gathered| of.total(|state| state.ticks);
    let alike = served(gathered) == served(first);
    if !frame.shared_instants || !alike || gathered.name == first.name {
        return None;
    }
    let time = |of: &Gathered| of.total_time(|state| state.now) as f64 / of.clock;
    let note = format!("time in which the same packets were served, against `{}`", first.name);
    Some(Check::new(Some(&gathered.name), "work conservation", time(first), time(gathered), 0.0, note))
}

/// Half a 99.9 % interval over its value, beyond which Little's law is not judged.
const TELLING: f64 = 0.25;

/// Little's law: the mean number of messages present is their rate times their mean time.
fn little(gathered: &Gathered, frame: &Frame) -> Option<Check> {
    let present: u128 = gathered.states.iter().map(|state| state.message_time).sum();
    let time = gathered.total_time(|state| state.now) as f64;
    // Some engines do not keep it: the accelerated one, which runs what has no records.
    if time == 0.0 || gathered.states.iter().any(|state| state.message_time == 0) {
        return None;
    }
    let rate = gathered.total(|state| state.arrived) as f64 / (time / gathered.clock);
    let measure = gathered.mean_measured(0, None);
    let mean = measure.value()?;
    let unfinished = gathered.total(|state| state.unfinished) as f64 * gathered.clock / time;
    let each = mean - frame.transmission;
    let expected = rate * each;
    // What is unfinished was present for a part of its time; the rest is rounding.
    let rest = unfinished * mean + 1e-9 * expected;
    let unit = frame.time_unit;
    let note =
        format!("messages present in the mean, against {rate:.4e} a {unit} for {each:.4e} {unit} each");
    let present = present as f64 / time;
    let check = |span: f64| {
        let tolerance = rate * span + rest;
        Check::new(Some(&gathered.name), "Little's law", present, expected, tolerance, note)
    };
    Some(judged(frame, by_interval(&measure, check).telling(TELLING, expected)))
}

/// Little's law for packets: the mean number waiting, by the queue monitor, is the sum of all waits over
/// time. It is the same for every discipline that shares the timeline, so it is reported of the first.
fn little_of_packets(gathered: &Gathered, first: &Gathered, frame: &Frame) -> Option<Check> {
    let integral: u128 = gathered.states.iter().map(|state| state.packet_time.integral).sum();
    let time: u128 = gathered.states.iter().map(|state| u128::from(state.packet_time.time.get())).sum();
    if integral == 0 || time == 0 || gathered.name != first.name {
        return None;
    }
    let monitored = Measure::from(gathered.queue_length());
    let value = monitored.value()?;
    let note = "packets waiting in the mean: readings of the queue, against the sum of all waits over time";
    let by_waits = integral as f64 / time as f64;
    let check = |span| Check::new(None, "Little's law", value, by_waits, span, note);
    Some(judged(frame, by_interval(&monitored, check).telling(TELLING, value)))
}

/// Little's law holds what was measured against what was present from the beginning, so that it is not judged where a curve had
/// another rate before.
fn judged(frame: &Frame, check: Check) -> Check {
    if frame.is_steady {
        return check;
    }
    check.judged(Judgement::none("the rate of workload.curve was another before the measured part"))
}

/// A check within half the 99.9 % interval of a measure; not judged where there is none.
fn by_interval(measure: &Measure, check: impl FnOnce(f64) -> Check) -> Check {
    let Some(estimate) = measure.as_estimate() else {
        return check(0.0).by_interval().judged(Judgement::none("no interval"));
    };
    let (low, high) = estimate.interval(LEVEL);
    check((high - low) / 2.0).by_interval()
}

/// No message slowed another beyond the bound of alpha.
fn slop(gathered: &Gathered) -> Option<Check> {
    let Audited { compared, violated } = gathered.audited?;
    let note = format!("violations of the bound of section 9 among {compared} pairs");
    Some(Check::new(Some(&gathered.name), "slop", 0.0, violated as f64, 0.0, note))
}
