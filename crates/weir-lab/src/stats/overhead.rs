//! What a message takes of a process, and what a scheduling costs besides, from counters alone.
//!
//! A process that runs for `t` of a second in every second, and in it handles `M` messages and is scheduled `n` times,
//! spends `t = M B + n s`: `B` on each message, `s` on each scheduling. Two settings that differ in how often the process is
//! scheduled for each message (another slice, or more time that is promised to nobody) tell both.
//!
//! | | |
//! |-|-|
//! | Source | Rettberg, BBN Report 5285, 1983, section 4.2: `B = (n2 t1 - n1 t2) / (n2 M1 - n1 M2)`, then `s = (t - M B) / n` |
//! | More than two settings | weighted least squares through the origin, which with two gives the same |
//! | Errors | of `t`, `M` and `n`, independent of one another and between settings: to first order that of `t - M B - n s`, whose variance is also the weight (effective variance; Orear, *Am. J. Phys.* 50, 1982) |
//! | Without given errors | more than two settings: from what the fit leaves over, with the t quantile; two: no interval |
//! | Work, memory | linear in the settings |
//! | Units | `t` in seconds a second, `M` and `n` in events a second; so `B` and `s` in seconds |
//!
//! `s` of one setting moves by `-M / n` with `B`: it is best read where `n` is largest, and `B` taken from settings whose `n` differ
//! the most. Where `B` is known from elsewhere, one setting is enough for `s`.

mod fit;

use std::fmt;

use serde::Serialize;

use fit::{Errors, Fitted};

/// A value and its standard error, 0 where it is exact or the error is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Known {
    /// The value.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
}

impl Known {
    /// A value of which no error is known.
    #[must_use]
    pub fn exactly(value: f64) -> Self {
        Self { value, standard_error: 0.0 }
    }
}

/// What was counted of a process at one setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Its run time, in seconds a second.
    pub run_time: Known,
    /// Messages a second.
    pub messages: Known,
    /// Schedulings a second.
    pub schedulings: Known,
}

/// A time in seconds, with its 95 % interval where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Span {
    /// The time, in seconds.
    pub value: f64,
    /// The lower end of its interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
}

/// What one setting shows of the overhead.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SettingOverhead {
    /// `(t - M B) / n`; `None` where nothing was scheduled.
    pub overhead: Option<Span>,
    /// What it moves by when `B` does: `-M / n`, seconds by second.
    pub sensitivity: Option<f64>,
    /// What the fit leaves over of the run time: `t - M B - n s`, in seconds a second.
    pub residual: f64,
}

/// What a message takes, and what a scheduling costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overhead {
    /// `s`: wait.
    pub unit: &'static str,
    /// What a message takes, `B`; as given, where it was.
    pub message_time: Span,
    /// What a scheduling costs, `s`.
    pub overhead: Span,
    /// How the errors of both go together, from -1 to 1; `None` where one has none.
    pub correlation: Option<f64>,
    /// The weighted squares of what is left over, by degree of freedom: about 1 where the given errors explain it. `None`
    /// without given errors, or where nothing can be left over.
    pub misfit: Option<f64>,
    /// What each setting tells, in their order.
    pub settings: Vec<SettingOverhead>,
    /// Where the intervals come from; `None` where there are none.
    pub method: Option<String>,
    /// Why there are none.
    pub reason: Option<&'static str>,
}

/// Why nothing is estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum OverheadError {
    /// There are fewer settings than are needed.
    TooFew {
        /// How many there are.
        held: usize,
        /// How many it takes.
        least: usize,
    },
    /// A value is not a number of at least 0.
    Value {
        /// The setting, from 1; 0: what holds for all.
        setting: usize,
        /// What it is.
        name: &'static str,
        /// The value.
        value: f64,
    },
    /// Some settings have standard errors and this one has none.
    NoError {
        /// The setting, from 1.
        setting: usize,
    },
    /// All settings have the same number of schedulings for each message, or nothing of one of both.
    Indeterminate {
        /// What is the same, or missing.
        reason: &'static str,
    },
    /// The result cannot be represented.
    OutOfRange,
}

impl fmt::Display for OverheadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { held, least } => write!(f, "settings are {held}, must be at least {least}"),
            Self::Value { setting: 0, name, value } => {
                write!(f, "{name} is {value}, must be a finite number of at least 0")
            }
            Self::Value { setting, name, value } => {
                write!(f, "{name} of setting {setting} is {value}, must be a finite number of at least 0")
            }
            Self::NoError { setting } => {
                write!(f, "setting {setting} has no standard error above 0, and others have")
            }
            Self::Indeterminate { reason } => write!(f, "the overhead cannot be estimated: {reason}"),
            Self::OutOfRange => f.write_str("the values are too large or too small to compute with"),
        }
    }
}

impl std::error::Error for OverheadError {}

impl OverheadError {
    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::TooFew { .. } => "measure at another slice, or give the time of a message",
            Self::Value { .. } => {
                "give run times in seconds a second, messages and schedulings in events a second"
            }
            Self::NoError { .. } => "give standard errors for all settings, or for none",
            Self::Indeterminate { .. } => {
                "measure at settings that differ in the slice, and not in the messages alone"
            }
            Self::OutOfRange => "check the units: seconds a second, and events a second",
        }
    }
}

/// Estimates what a message takes and what a scheduling costs; `message_time` is what a message takes where that is known.
///
/// # Errors
/// [`OverheadError`].
pub fn estimate_overhead(settings: &[Setting], message_time: Option<f64>) -> Result<Overhead, OverheadError> {
    let least = if message_time.is_some() { 1 } else { 2 };
    if settings.len() < least {
        return Err(OverheadError::TooFew { held: settings.len(), least });
    }
    let has_errors = check(settings, message_time)?;
    let fitted = Fitted::new(settings, message_time, has_errors)?;
    let told = fitted.overhead(settings, Errors::of(settings, &fitted, has_errors));
    if told.is_finite() { Ok(told) } else { Err(OverheadError::OutOfRange) }
}

/// Whether all values can be computed with; tells whether their errors are given.
fn check(settings: &[Setting], message_time: Option<f64>) -> Result<bool, OverheadError> {
    let fine = |setting, name, value: f64| {
        let is_fine = value.is_finite() && value >= 0.0;
        if is_fine { Ok(()) } else { Err(OverheadError::Value { setting, name, value }) }
    };
    fine(0, "the time of a message", message_time.unwrap_or(0.0))?;
    for (place, setting) in (1..).zip(settings) {
        fine(place, "run time", setting.run_time.value)?;
        fine(place, "messages", setting.messages.value)?;
        fine(place, "schedulings", setting.schedulings.value)?;
        fine(place, "standard error of the run time", setting.run_time.standard_error)?;
        fine(place, "standard error of the messages", setting.messages.standard_error)?;
        fine(place, "standard error of the schedulings", setting.schedulings.standard_error)?;
    }
    let is_given = |setting: &Setting| {
        let each = [setting.run_time, setting.messages, setting.schedulings];
        each.iter().any(|known| known.standard_error > 0.0)
    };
    let given = settings.iter().filter(|setting| is_given(setting)).count();
    match settings.iter().position(|setting| !is_given(setting)) {
        Some(place) if given > 0 => Err(OverheadError::NoError { setting: place + 1 }),
        _ => Ok(given > 0),
    }
}

impl Span {
    fn is_finite(&self) -> bool {
        let each = [Some(self.value), self.low, self.high, self.standard_error];
        each.iter().flatten().all(|value| value.is_finite())
    }
}

impl Overhead {
    fn is_finite(&self) -> bool {
        let spans = self.settings.iter().filter_map(|one| one.overhead);
        let numbers = self.settings.iter().flat_map(|one| [Some(one.residual), one.sensitivity]);
        spans.chain([self.message_time, self.overhead]).all(|span| span.is_finite())
            && numbers.chain([self.correlation, self.misfit]).flatten().all(f64::is_finite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::Noise;

    /// The report's generator: 0.5522 ms a message.
    const MESSAGE_TIME: f64 = 552.2e-6;
    const OVERHEAD: f64 = 129e-6;

    fn counted(run_time: f64, messages: f64, schedulings: f64) -> Setting {
        let [run_time, messages, schedulings] = [run_time, messages, schedulings].map(Known::exactly);
        Setting { run_time, messages, schedulings }
    }

    /// A process that has 961 ms of every second, in slices of this length.
    fn sliced(slice: f64) -> Setting {
        let schedulings = 0.961 / slice;
        counted(0.961, (0.961 - schedulings * OVERHEAD) / MESSAGE_TIME, schedulings)
    }

    fn assert_near(found: f64, expected: f64, part: f64) {
        assert!((found - expected).abs() <= part * expected.abs(), "{found}, expected {expected}");
    }

    #[test]
    fn two_settings_by_the_equations_of_the_report() {
        let (first, second) = (counted(0.9, 1500.0, 25.0), counted(0.95, 1300.0, 970.0));
        let found = estimate_overhead(&[first, second], None).expect("an estimate");
        let message_time = (970.0 * 0.9 - 25.0 * 0.95) / (970.0 * 1500.0 - 25.0 * 1300.0);
        assert_near(found.message_time.value, message_time, 1e-12);
        assert_near(found.overhead.value, (0.9 - 1500.0 * message_time) / 25.0, 1e-9);
        assert_eq!((found.overhead.standard_error, found.correlation, found.misfit), (None, None, None));
        assert!(found.method.is_none() && found.reason.is_some());
        // 60 at 25 schedulings a second, 1.3 at 970.
        assert_eq!(found.settings[0].sensitivity, Some(-60.0));
        assert_near(found.settings[1].sensitivity.expect("a number"), -1300.0 / 970.0, 1e-12);
        assert!(found.settings.iter().all(|one| one.residual.abs() < 1e-12));
    }

    #[test]
    fn configured_costs_are_recovered() {
        let slices = [96e-3, 48e-3, 20e-3, 5e-3, 2e-3, 1e-3];
        for count in 2..=slices.len() {
            let settings: Vec<Setting> =
                slices[slices.len() - count..].iter().map(|&slice| sliced(slice)).collect();
            let found = estimate_overhead(&settings, None).expect("an estimate");
            assert_near(found.message_time.value, MESSAGE_TIME, 1e-10);
            assert_near(found.overhead.value, OVERHEAD, 1e-8);
            for setting in &found.settings {
                assert_near(setting.overhead.expect("an overhead").value, OVERHEAD, 1e-6);
            }
        }
    }

    #[test]
    fn a_known_time_of_a_message_needs_one_setting() {
        let found = estimate_overhead(&[sliced(1e-3)], Some(MESSAGE_TIME)).expect("an estimate");
        assert_near(found.overhead.value, OVERHEAD, 1e-10);
        assert_eq!((found.message_time.value, found.message_time.low), (MESSAGE_TIME, None));
        // 1 us more of each message is taken from the overhead as the sensitivity says.
        let other = estimate_overhead(&[sliced(1e-3)], Some(MESSAGE_TIME + 1e-6)).expect("an estimate");
        let moved = (other.overhead.value - found.overhead.value) / 1e-6;
        assert_near(moved, found.settings[0].sensitivity.expect("a number"), 1e-6);
    }

    #[test]
    fn errors_of_two_settings_by_hand() {
        // B = t1 / M1, s = (t2 - M2 B) / n2.
        let mut settings = [counted(0.5, 1000.0, 0.0), counted(0.6, 1000.0, 100.0)];
        settings[0].run_time.standard_error = 0.003;
        settings[1].run_time.standard_error = 0.004;
        let found = estimate_overhead(&settings, None).expect("an estimate");
        assert_near(found.message_time.value, 0.5e-3, 1e-12);
        assert_near(found.message_time.standard_error.expect("an error"), 3e-6, 1e-12);
        assert_near(found.overhead.value, 1e-3, 1e-12);
        // 0.003 and 0.004, both over 100.
        assert_near(found.overhead.standard_error.expect("an error"), 5e-5, 1e-12);
        assert_near(found.correlation.expect("a correlation"), -0.6, 1e-12);
        assert_near(found.overhead.high.expect("high") - 1e-3, 1.959_963_985 * 5e-5, 1e-6);
        assert_eq!((found.settings[0].overhead, found.settings[0].sensitivity), (None, None));
        let alone = found.settings[1].overhead.expect("an overhead");
        assert_near(alone.standard_error.expect("an error"), 5e-5, 1e-12);
    }

    #[test]
    fn errors_of_messages_and_schedulings_count_by_what_they_take() {
        let mut settings = [counted(0.5, 1000.0, 0.0), counted(0.6, 1000.0, 100.0)];
        settings[0].messages.standard_error = 6.0;
        settings[1].schedulings.standard_error = 4.0;
        let found = estimate_overhead(&settings, None).expect("an estimate");
        // 6 messages of 0.5 ms are 3 ms, 4 schedulings of 1 ms are 4 ms.
        assert_near(found.message_time.standard_error.expect("an error"), 3e-6, 1e-9);
        assert_near(found.overhead.standard_error.expect("an error"), 5e-5, 1e-9);
    }

    /// A setting with normal errors of these standard errors, which are stated or not.
    fn noisy(setting: Setting, errors: [f64; 3], random: &mut Noise, is_told: bool) -> Setting {
        let mut vary = |known: Known, error: f64| Known {
            value: known.value + error * random.normal(),
            standard_error: if is_told { error } else { 0.0 },
        };
        Setting {
            run_time: vary(setting.run_time, errors[0]),
            messages: vary(setting.messages, errors[1]),
            schedulings: vary(setting.schedulings, errors[2]),
        }
    }

    fn covers(span: Span, truth: f64) -> bool {
        span.low.expect("low") <= truth && truth <= span.high.expect("high")
    }

    #[test]
    fn intervals_cover_at_about_their_level() {
        let mut random = Noise::new(7);
        for slices in [&[96e-3, 1e-3][..], &[96e-3, 20e-3, 5e-3, 2e-3, 1e-3]] {
            for (is_told, errors) in [(true, [1e-3, 3.0, 2.0]), (false, [1e-3, 0.0, 0.0])] {
                if !is_told && slices.len() == 2 {
                    continue;
                }
                let (mut of_message, mut of_overhead, mut of_last) = (0, 0, 0);
                for _ in 0..1000 {
                    let noisy = |&slice: &f64| noisy(sliced(slice), errors, &mut random, is_told);
                    let settings: Vec<Setting> = slices.iter().map(noisy).collect();
                    let found = estimate_overhead(&settings, None).expect("an estimate");
                    of_message += usize::from(covers(found.message_time, MESSAGE_TIME));
                    of_overhead += usize::from(covers(found.overhead, OVERHEAD));
                    let last = found.settings[slices.len() - 1].overhead.expect("an overhead");
                    of_last += usize::from(covers(last, OVERHEAD));
                }
                for covered in [of_message, of_overhead, of_last] {
                    assert!((925..=975).contains(&covered), "{slices:?} {is_told}: {covered} of 1000");
                }
            }
        }
    }

    #[test]
    fn what_errors_do_not_explain_shows() {
        let mut settings: Vec<Setting> = [96e-3, 20e-3, 5e-3, 1e-3].map(sliced).to_vec();
        settings.iter_mut().for_each(|one| one.run_time.standard_error = 1e-6);
        let fine = estimate_overhead(&settings, None).expect("an estimate").misfit.expect("a misfit");
        settings[2].run_time.value += 0.01;
        let bad = estimate_overhead(&settings, None).expect("an estimate").misfit.expect("a misfit");
        assert!(fine < 1e-6 && bad > 1e3, "{fine} {bad}");
    }

    #[test]
    fn what_cannot_be_told_is_refused() {
        let told = |settings: &[Setting], message_time| {
            estimate_overhead(settings, message_time).expect_err("refused").to_string()
        };
        let one = counted(0.9, 100.0, 10.0);
        assert_eq!(told(&[one], None), "settings are 1, must be at least 2");
        assert_eq!(told(&[], Some(1e-3)), "settings are 0, must be at least 1");
        let twice = counted(0.45, 50.0, 5.0);
        assert!(told(&[one, twice], None).contains("the same number of schedulings for each message"));
        let (idle, unscheduled) = (counted(0.9, 0.0, 10.0), counted(0.9, 10.0, 0.0));
        assert!(told(&[idle, idle], None).contains("no setting has messages"));
        assert!(told(&[unscheduled, unscheduled], None).contains("no setting has schedulings"));
        assert!(told(&[unscheduled], Some(0.0)).contains("no setting has schedulings"));
        let negative = counted(0.9, -1.0, 10.0);
        assert_eq!(
            told(&[one, negative], None),
            "messages of setting 2 is -1, must be a finite number of at least 0"
        );
        for value in [f64::NAN, f64::INFINITY] {
            assert!(told(&[one, counted(value, 1.0, 1.0)], None).starts_with("run time of setting 2"));
            assert!(told(&[one], Some(value)).starts_with("the time of a message is"));
        }
        let mut known = twice;
        known.schedulings.standard_error = 1.0;
        assert_eq!(told(&[one, known], None), "setting 1 has no standard error above 0, and others have");
        known.schedulings.standard_error = -1.0;
        assert!(
            told(&[one, known], None).starts_with("standard error of the schedulings of setting 2 is -1")
        );
    }

    #[test]
    fn no_size_of_numbers_gives_nonsense() {
        let sizes = [0.0, 1e-320, 1e-200, 1e-12, 1.0, 1e12, 1e200, f64::MAX];
        let mut random = Noise::new(3);
        let mut pick = || sizes[(random.bits() % sizes.len() as u64) as usize];
        for _ in 0..20_000 {
            let mut known = || Known { value: pick(), standard_error: pick() };
            let settings =
                [(); 3].map(|()| Setting { run_time: known(), messages: known(), schedulings: known() });
            if let Ok(found) = estimate_overhead(&settings, None) {
                assert!(found.is_finite(), "{settings:?}");
            }
        }
    }
}
