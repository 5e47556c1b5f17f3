//! The figures of a result, one row each, and the paired differences between them.
//!
//! What subjects, metrics and statistics there are, the outcome of the model says. A subject is a structure whose keys stand
//! in the row as its own; [`Subject`] has a kind and a name. What a model tells of a value beside the usual is another such
//! structure, [`Beside`] its interval. There is no NaN: a figure that does not exist says why.

use serde::Serialize;

use super::estimate::Measure;

/// What all of a kind are called together.
pub const ALL: &str = "all";

/// Where an interval comes from if it is none.
const EXACT: &str = "exact: nothing is random";
/// Why there is none of one replication.
const ALONE: &str = "one replication tells a value, an interval needs at least 2";

/// What a figure is about: one of a kind, or all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Subject {
    /// Its kind.
    pub kind: &'static str,
    /// Its name; `all` for all of the kind.
    pub name: String,
}

/// What a figure is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Title<S = Subject> {
    /// What it is about.
    pub subject: S,
    /// What is measured.
    pub metric: &'static str,
    /// `mean`, a quantile as `p99`, `min`, `max`.
    pub statistic: &'static str,
    /// The unit.
    pub unit: &'static str,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure<S = Subject, X = ()> {
    /// The discipline; `None` for what all share.
    pub discipline: Option<String>,
    /// What it is about.
    #[serde(flatten)]
    pub subject: S,
    /// What is measured.
    pub metric: &'static str,
    /// `mean`, a quantile as `p99`, `min`, `max`.
    pub statistic: &'static str,
    /// The value: the mean over the replications; quantiles, `min` and `max` are of all of them.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// What the model tells beside it.
    #[serde(flatten)]
    pub beside: X,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Observations behind it.
    pub count: u64,
    /// Where the interval comes from.
    pub method: Option<String>,
    /// The unit.
    pub unit: &'static str,
    /// Why there is no value, or no interval.
    pub reason: Option<String>,
}

/// A paired difference of two disciplines on the same work, replication by replication.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairedDifference<S = Subject, X = ()> {
    /// The discipline.
    pub discipline: String,
    /// The reference.
    pub reference: String,
    /// What it is about.
    #[serde(flatten)]
    pub subject: S,
    /// What is compared.
    pub metric: &'static str,
    /// How, in models that compare in several ways.
    #[serde(rename = "kind", skip_serializing_if = "Option::is_none")]
    pub comparison: Option<&'static str>,
    /// The statistic; those that begin with `replication_` are of each replication's own least or longest.
    pub statistic: &'static str,
    /// The discipline's value less the reference's, if it is not compared in another way.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// What the model tells beside it.
    #[serde(flatten)]
    pub beside: X,
    /// The unit.
    pub unit: &'static str,
    /// Why there is none.
    pub reason: Option<String>,
}

/// What a model tells of a value beside its 95 % interval.
pub trait Beside {
    /// Of this.
    fn of(measure: &Measure) -> Self;
}

impl Beside for () {
    fn of(_measure: &Measure) -> Self {}
}

/// What is told of intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intervals {
    /// Nothing is random: every figure is exact.
    Exact,
    /// A figure without one says why.
    Explained,
    /// A figure without one does not say why.
    Bare,
}

/// A value with its interval.
#[derive(Default)]
pub(super) struct Told {
    pub(super) value: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) standard_error: Option<f64>,
    pub(super) method: Option<String>,
    pub(super) reason: Option<String>,
}

impl Told {
    /// A figure with its interval; one that is not random is told within `error`.
    pub(super) fn new(measure: &Measure, intervals: Intervals, error: f64) -> Self {
        let value = measure.value();
        match (measure, measure.as_estimate(), value) {
            (Measure::NotAvailable { reason }, _, _) => Self::nothing(reason.to_string()),
            (_, _, Some(exact)) if intervals == Intervals::Exact => Self {
                value,
                low: Some(exact - error),
                high: Some(exact + error),
                standard_error: Some(0.0),
                method: Some(EXACT.to_owned()),
                reason: None,
            },
            (_, Some(estimate), _) => Self {
                value,
                low: Some(estimate.low()),
                high: Some(estimate.high()),
                standard_error: Some(estimate.standard_error()),
                method: Some(estimate.method().to_string()),
                reason: None,
            },
            _ => Self {
                value,
                reason: (intervals == Intervals::Explained).then(|| ALONE.to_owned()),
                ..Self::default()
            },
        }
    }

    /// No value.
    pub(super) fn nothing(reason: String) -> Self {
        Self { reason: Some(reason), ..Self::default() }
    }
}

impl Subject {
    /// The one of this name, or `all`.
    pub fn new(kind: &'static str, name: &str) -> Self {
        Self { kind, name: name.to_owned() }
    }
}

impl<S> Title<S> {
    /// Of a mean.
    pub fn mean(subject: S, metric: &'static str, unit: &'static str) -> Self {
        Self { subject, metric, statistic: "mean", unit }
    }
}

impl<S, X: Beside> Figure<S, X> {
    /// What was measured; where it has no interval, it does not say why.
    pub fn new(discipline: Option<&str>, title: Title<S>, measure: &Measure) -> Self {
        let told = Told::new(measure, Intervals::Bare, 0.0);
        Self::told(discipline, title, told, measure.count(), X::of(measure))
    }
}

impl<S, X> Figure<S, X> {
    pub(super) fn told(discipline: Option<&str>, title: Title<S>, told: Told, count: u64, beside: X) -> Self {
        Self {
            discipline: discipline.map(str::to_owned),
            subject: title.subject,
            metric: title.metric,
            statistic: title.statistic,
            value: told.value,
            low: told.low,
            high: told.high,
            beside,
            standard_error: told.standard_error,
            count,
            method: told.method,
            unit: title.unit,
            reason: told.reason,
        }
    }
}

impl<S, X> PairedDifference<S, X> {
    /// Of the discipline from the reference, by their `names`; where it has no interval, it does not say why.
    pub fn new(names: [&str; 2], title: Title<S>, measure: &Measure, beside: X) -> Self {
        Self::told(names, title, Told::new(measure, Intervals::Bare, 0.0), beside)
    }

    pub(super) fn told(names: [&str; 2], title: Title<S>, told: Told, beside: X) -> Self {
        Self {
            discipline: names[0].to_owned(),
            reference: names[1].to_owned(),
            subject: title.subject,
            metric: title.metric,
            comparison: None,
            statistic: title.statistic,
            value: told.value,
            low: told.low,
            high: told.high,
            beside,
            unit: title.unit,
            reason: told.reason,
        }
    }
}
