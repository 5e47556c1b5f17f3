//! The fit behind [`super::estimate_overhead`]: least squares through the origin, and how errors go through it.
//!
//! Both times are linear in the run times of the settings, so their variances are sums over settings. The messages' column
//! is made a unit first and the schedulings' freed of it, which keeps digits where the two are nearly parallel.

use super::{Known, Overhead, OverheadError, Setting, SettingOverhead, Span};
use crate::stats::estimate::CONFIDENCE;
use crate::stats::student;

/// Settings differ in their schedulings for each message by less than this part: they cannot be distinguished.
const APART: f64 = 1e-9;
/// Weights are worked out anew this often at most; it takes about three.
const ROUNDS: usize = 50;

/// Both times, and what each of them moves by when the run time of a setting does.
pub(super) struct Fitted {
    message_time: f64,
    overhead: f64,
    on_message_time: Vec<f64>,
    on_overhead: Vec<f64>,
    /// Whether the time of a message was given.
    is_given: bool,
}

/// The variance of `t - M B - n s` of a setting.
fn variance(setting: &Setting, message_time: f64, overhead: f64) -> f64 {
    let Setting { run_time, messages, schedulings } = setting;
    run_time.standard_error.powi(2)
        + (message_time * messages.standard_error).powi(2)
        + (overhead * schedulings.standard_error).powi(2)
}

impl Fitted {
    /// Weights follow from the errors and from what is fitted: until both agree.
    pub(super) fn new(
        settings: &[Setting],
        message_time: Option<f64>,
        has_errors: bool,
    ) -> Result<Self, OverheadError> {
        let solve = |weights: &[f64]| match message_time {
            Some(message_time) => Self::given(settings, message_time, weights),
            None => Self::solved(settings, weights),
        };
        let mut fitted = solve(&vec![1.0; settings.len()])?;
        for _ in 0..if has_errors { ROUNDS } else { 0 } {
            let variances = settings.iter().map(|one| variance(one, fitted.message_time, fitted.overhead));
            let weights: Vec<f64> = variances.map(|variance| 1.0 / variance.sqrt()).collect();
            if !weights.iter().all(|weight| weight.is_finite()) {
                // An error of messages or schedulings alone, of which each takes no time.
                return Err(OverheadError::OutOfRange);
            }
            let next = solve(&weights)?;
            let moved =
                (next.message_time - fitted.message_time).abs() + (next.overhead - fitted.overhead).abs();
            let is_settled = moved <= 1e-12 * (next.message_time.abs() + next.overhead.abs());
            fitted = next;
            if is_settled {
                break;
            }
        }
        Ok(fitted)
    }

    /// Least squares: the messages' column first, then what the schedulings' has besides.
    fn solved(settings: &[Setting], weights: &[f64]) -> Result<Self, OverheadError> {
        let column = |of: fn(&Setting) -> Known| -> Vec<f64> {
            settings.iter().zip(weights).map(|(one, weight)| of(one).value * weight).collect()
        };
        let (messages, schedulings) = (column(|one| one.messages), column(|one| one.schedulings));
        let (length, all) = (norm(&messages), norm(&schedulings));
        if length == 0.0 || all == 0.0 {
            let reason = if length == 0.0 { "no setting has messages" } else { "no setting has schedulings" };
            return Err(OverheadError::Indeterminate { reason });
        }
        let unit: Vec<f64> = messages.iter().map(|value| value / length).collect();
        let along = dot(&unit, &schedulings);
        let besides: Vec<f64> =
            schedulings.iter().zip(&unit).map(|(value, unit)| value - along * unit).collect();
        let apart = norm(&besides);
        if apart <= APART * all {
            let reason = "all settings have the same number of schedulings for each message";
            return Err(OverheadError::Indeterminate { reason });
        }
        let on_overhead: Vec<f64> =
            besides.iter().zip(weights).map(|(value, weight)| value / apart / apart * weight).collect();
        let on_unit = unit.iter().zip(weights).map(|(value, weight)| value * weight);
        let on_message_time: Vec<f64> =
            on_unit.zip(&on_overhead).map(|(unit, overhead)| (unit - along * overhead) / length).collect();
        let run_times: Vec<f64> = settings.iter().map(|one| one.run_time.value).collect();
        Ok(Self {
            message_time: dot(&on_message_time, &run_times),
            overhead: dot(&on_overhead, &run_times),
            on_message_time,
            on_overhead,
            is_given: false,
        })
    }

    /// With the time of a message given only the overhead is fitted.
    fn given(settings: &[Setting], message_time: f64, weights: &[f64]) -> Result<Self, OverheadError> {
        let schedulings = || settings.iter().map(|one| one.schedulings.value);
        let squares: f64 = schedulings().zip(weights).map(|(value, weight)| (value * weight).powi(2)).sum();
        if squares == 0.0 {
            return Err(OverheadError::Indeterminate { reason: "no setting has schedulings" });
        }
        let on_overhead: Vec<f64> =
            schedulings().zip(weights).map(|(value, weight)| value * weight * weight / squares).collect();
        let left = settings.iter().map(|one| one.run_time.value - one.messages.value * message_time);
        let overhead = left.zip(&on_overhead).map(|(left, on)| left * on).sum();
        let on_message_time = vec![0.0; settings.len()];
        Ok(Self { message_time, overhead, on_message_time, on_overhead, is_given: true })
    }

    /// What is left over of the run time of a setting.
    fn residual(&self, setting: &Setting) -> f64 {
        let Setting { run_time, messages, schedulings } = setting;
        run_time.value - messages.value * self.message_time - schedulings.value * self.overhead
    }

    /// More settings than what is fitted.
    fn degrees_of_freedom(&self, settings: &[Setting]) -> usize {
        settings.len() - if self.is_given { 1 } else { 2 }
    }

    pub(super) fn overhead(&self, settings: &[Setting], errors: Errors) -> Overhead {
        let of = |moves: &[f64]| errors.standard_error(moves);
        let (first, second) = (of(&self.on_message_time), of(&self.on_overhead));
        let together = errors.covariance(&self.on_message_time, &self.on_overhead);
        let correlation = match (together, first, second) {
            (Some(together), Some(first), Some(second)) if first > 0.0 && second > 0.0 => {
                Some((together / (first * second)).clamp(-1.0, 1.0))
            }
            _ => None,
        };
        let each = settings.iter().enumerate().map(|(place, one)| self.setting(place, one, &errors));
        Overhead {
            unit: "s",
            message_time: errors.span(self.message_time, first.filter(|_| !self.is_given)),
            overhead: errors.span(self.overhead, second),
            correlation,
            misfit: errors.misfit,
            settings: each.collect(),
            method: errors.method.clone(),
            reason: errors.reason,
        }
    }

    fn setting(&self, place: usize, setting: &Setting, errors: &Errors) -> SettingOverhead {
        let (messages, schedulings) = (setting.messages.value, setting.schedulings.value);
        let residual = self.residual(setting);
        if schedulings == 0.0 {
            return SettingOverhead { overhead: None, sensitivity: None, residual };
        }
        let on = |(other, on_message_time): (usize, &f64)| {
            (f64::from(u8::from(other == place)) - messages * on_message_time) / schedulings
        };
        let moves: Vec<f64> = self.on_message_time.iter().enumerate().map(on).collect();
        let overhead = (setting.run_time.value - messages * self.message_time) / schedulings;
        SettingOverhead {
            overhead: Some(errors.span(overhead, errors.standard_error(&moves))),
            sensitivity: Some(-messages / schedulings),
            residual,
        }
    }
}

/// The variances of what is left over, where they are known, and what intervals rest on them.
pub(super) struct Errors {
    variances: Option<Vec<f64>>,
    /// How many standard errors an interval reaches.
    reach: f64,
    misfit: Option<f64>,
    method: Option<String>,
    reason: Option<&'static str>,
}

impl Errors {
    pub(super) fn of(settings: &[Setting], fitted: &Fitted, has_errors: bool) -> Self {
        let freedom = fitted.degrees_of_freedom(settings);
        let residuals: Vec<f64> = settings.iter().map(|one| fitted.residual(one)).collect();
        if has_errors {
            let variances: Vec<f64> =
                settings.iter().map(|one| variance(one, fitted.message_time, fitted.overhead)).collect();
            let squares: f64 = residuals.iter().zip(&variances).map(|(left, of)| left * left / of).sum();
            return Self {
                variances: Some(variances),
                reach: student::normal_quantile(0.5 + CONFIDENCE / 2.0),
                misfit: (freedom > 0).then(|| squares / freedom as f64),
                method: Some("given standard errors".to_owned()),
                reason: None,
            };
        }
        let none = Self {
            variances: None,
            reach: 0.0,
            misfit: None,
            method: None,
            reason: Some(
                "no standard errors are given, and as many settings as are fitted leave nothing over",
            ),
        };
        if freedom == 0 {
            return none;
        }
        let variance = dot(&residuals, &residuals) / freedom as f64;
        Self {
            variances: Some(vec![variance; settings.len()]),
            reach: student::two_sided(CONFIDENCE, freedom as u64),
            method: Some(format!("what {} settings leave over", settings.len())),
            reason: None,
            ..none
        }
    }

    /// The covariance of two figures, by what each moves by with the run times.
    fn covariance(&self, first: &[f64], second: &[f64]) -> Option<f64> {
        let variances = self.variances.as_ref()?;
        Some(first.iter().zip(second).zip(variances).map(|((first, second), of)| first * second * of).sum())
    }

    fn standard_error(&self, moves: &[f64]) -> Option<f64> {
        self.covariance(moves, moves).map(f64::sqrt)
    }

    fn span(&self, value: f64, standard_error: Option<f64>) -> Span {
        let reach = standard_error.map(|error| self.reach * error);
        Span {
            value,
            low: reach.map(|reach| value - reach),
            high: reach.map(|reach| value + reach),
            standard_error,
        }
    }
}

fn dot(first: &[f64], second: &[f64]) -> f64 {
    first.iter().zip(second).map(|(first, second)| first * second).sum()
}

/// The length of a column, without overflow of its squares.
fn norm(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * values.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
}
