//! The keys `window` and `over_time` of `measure`: windows of which a result has figures, with their bounds.

use weir_core::units::Nanos;
use weir_document::quantity::{Clock, Time};
use weir_document::{Checked, Checker, Located};

use crate::stats::windows;

/// The most values over time, of all rows, disciplines and replications.
pub const MOST_VALUES: u64 = 1 << 23;

/// Why a run with windows is not lengthened until it is settled.
pub const NOT_LONGER: &str =
    "cannot be combined with measure.over_time, whose windows are those of one length";

/// What the windows of a run are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// The length of a replication.
    pub duration: Nanos,
    /// What that is called.
    pub lasts: &'static str,
    /// What it is counted in.
    pub clock: Clock,
    /// Rows of figures of a run.
    pub rows: u64,
    /// Runs, of all that is compared in all replications.
    pub runs: u64,
}

impl Course {
    /// Of runs that end at `stop.duration`.
    #[must_use]
    pub fn of_duration(duration: Nanos, rows: u64, runs: u64) -> Self {
        Self { duration, lasts: "stop.duration", clock: Clock::Seconds, rows, runs }
    }
}

/// The length of the windows of which there are figures, if they are asked for.
///
/// # Errors
/// One key without the other; windows of no length, longer than a replication, too many of them, or too many values.
pub fn over_time(
    checker: &Checker<'_>,
    window: Option<&Located<Time>>,
    asked: Option<&Located<bool>>,
    course: Course,
) -> Checked<Option<Nanos>> {
    let asked = asked.filter(|asked| asked.value);
    let (window, asked) = match (window, asked) {
        (None, None) => return Ok(None),
        (None, Some(asked)) => {
            return checker.refuse(asked, "needs windows", "add, for example, `window = \"1s\"`");
        }
        (Some(window), None) => {
            let reason = "cuts the run into windows of which nothing is asked";
            return checker.refuse(window, reason, "add `over_time = true`, or remove it");
        }
        (Some(window), Some(asked)) => (window, asked),
    };
    let Course { duration, lasts, clock, rows, runs } = course;
    let written = |span: Nanos| Time { span, clock };
    let length = checker.some_span(window, Nanos::new(u64::MAX))?;
    if length > duration {
        let reason = format!("must be at most {lasts}, which is {}", written(duration));
        return checker.refuse(window, reason, "shorten it, or lengthen the run");
    }
    let count = windows::count(length, duration);
    if count > windows::MOST {
        let reason = format!("makes {count} windows, must make at most {}", windows::MOST);
        let least = Nanos::new(duration.get().div_ceil(windows::MOST));
        return checker.refuse(window, reason, format!("lengthen it to at least {}", written(least)));
    }
    let values = count.saturating_mul(rows).saturating_mul(runs);
    if values > MOST_VALUES {
        let reason = format!(
            "makes {values} values, {rows} of each of {count} windows in {runs} runs, must make at most {MOST_VALUES}"
        );
        return checker.refuse(asked, reason, "lengthen `window`, or run fewer replications");
    }
    Ok(Some(length))
}
