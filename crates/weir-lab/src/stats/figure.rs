//! The figures of a result, one row each, and the paired differences between them.
//!
//! What subjects, metrics and statistics there are, the outcome of the model says. A subject is a structure whose keys stand
//! in the row as its own; [`Subject`] has a kind and a name. What a model says of a value besides the usual is another such
//! structure, the one that [`Beside`] describes. There is no NaN: a figure that does not exist says why.

use serde::Serialize;

use super::estimate::Measure;
use super::settled::Settled;

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
    /// What the model says besides.
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
    /// Whether the run was long enough for the interval; in JSON only where it was not.
    #[serde(skip_serializing_if = "Settled::is_settled")]
    pub settled: Settled,
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
    /// What the model says besides.
    #[serde(flatten)]
    pub beside: X,
    /// The unit.
    pub unit: &'static str,
    /// Why there is none.
    pub reason: Option<String>,
    /// Whether the run was long enough for the interval; in JSON only where it was not.
    #[serde(skip_serializing_if = "Settled::is_settled")]
    pub settled: Settled,
}

/// What a model says of a value besides its 95 % interval.
pub trait Beside {
    /// Of this.
    fn of(measure: &Measure) -> Self;

    /// The same of what is never less than this.
    #[must_use]
    fn at_least(self, _least: f64) -> Self
    where
        Self: Sized,
    {
        self
    }
}

impl Beside for () {
    fn of(_measure: &Measure) -> Self {}
}

/// What is reported of intervals.
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
pub(super) struct Told {
    pub(super) value: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) standard_error: Option<f64>,
    pub(super) method: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) settled: Settled,
}

impl Default for Told {
    fn default() -> Self {
        let (value, low, high, standard_error) = (None, None, None, None);
        Self { value, low, high, standard_error, method: None, reason: None, settled: Settled::YES }
    }
}

impl Told {
    /// A figure with its interval; one that is not random is exact to within `error`.
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
                ..Self::default()
            },
            (_, Some(estimate), _) => Self {
                value,
                low: Some(estimate.low()),
                high: Some(estimate.high()),
                standard_error: Some(estimate.standard_error()),
                method: Some(estimate.method().to_string()),
                reason: None,
                settled: estimate.settled(),
            },
            _ => Self {
                value,
                reason: (intervals == Intervals::Explained).then(|| ALONE.to_owned()),
                ..Self::default()
            },
        }
    }

    /// The same of what is never less than this: nor does its interval reach below. A value that is less, is of something
    /// else.
    pub(super) fn at_least(self, least: f64) -> Self {
        match self.value {
            Some(value) if value >= least => Self { low: self.low.map(|low| low.max(least)), ..self },
            _ => self,
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
    /// What was measured, of what is never below zero; where it has no interval, it does not say why.
    pub fn new(discipline: Option<&str>, title: Title<S>, measure: &Measure) -> Self {
        let told = Told::new(measure, Intervals::Bare, 0.0).at_least(0.0);
        Self::told(discipline, title, told, measure.count(), X::of(measure))
    }
}

impl<S, X> Figure<S, X> {
    /// Whether its statistic is a quantile, as `p99`.
    #[must_use]
    pub fn is_quantile(&self) -> bool {
        self.statistic.strip_prefix('p').is_some_and(|rest| rest.parse::<f64>().is_ok())
    }

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
            settled: told.settled,
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
            settled: told.settled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::row::{Comparison, DIFFERENCE, Row, Rows, differences, figures};
    use crate::stats::{Method, Unavailable};

    #[derive(Clone, Serialize)]
    struct Place {
        load: f64,
    }

    #[derive(Serialize)]
    struct Width {
        width: Option<f64>,
    }

    impl Beside for Width {
        fn of(measure: &Measure) -> Self {
            Self { width: measure.as_estimate().map(|estimate| estimate.half_width()) }
        }
    }

    /// One mean, and the longest.
    fn rows(parts: &[f64], load: f64) -> Vec<Row<Place>> {
        let parts: Vec<_> = parts.iter().copied().map(Some).collect();
        let title = Title::mean(Place { load }, "wait", "s");
        let longest = Title { statistic: "max", ..title.clone() };
        vec![Row::mean(title, parts.clone(), 9), Row::longest(longest, parts, 9)]
    }

    fn json(row: impl Serialize) -> String {
        serde_json::to_string(&row).expect("JSON")
    }

    #[test]
    fn subject_and_what_stands_beside_are_keys_of_the_row() {
        let title = || Title::mean(Place { load: 0.5 }, "wait", "s");
        let measure = Measure::estimate(2.0, 0.0, 9, Method::Replications { groups: 4 });
        let figure = Figure::<_, Width>::new(Some("fifo"), title(), &measure);
        let expected = r#"{"discipline":"fifo","load":0.5,"metric":"wait","statistic":"mean","value":2.0,"low":2.0,"high":2.0,"width":0.0,"standard_error":0.0,"count":9,"method":"4 replications","unit":"s","reason":null}"#;
        assert_eq!(json(figure), expected);
        let nothing = Unavailable::NoObservations.into();
        let apart = PairedDifference::new(["drr", "fifo"], title(), &nothing, ());
        let expected = r#"{"discipline":"drr","reference":"fifo","load":0.5,"metric":"wait","statistic":"mean","value":null,"low":null,"high":null,"unit":"s","reason":"no observations in this run"}"#;
        assert_eq!(json(&apart), expected);
        let named = json(PairedDifference { comparison: Some("improvement"), ..apart });
        assert!(named.contains(r#""metric":"wait","kind":"improvement","statistic":"mean""#), "{named}");
    }

    #[test]
    fn a9_no_interval_of_what_is_never_negative_reaches_below_zero() {
        let wide = |value| Measure::estimate(value, 10.0, 9, Method::Replications { groups: 4 });
        let title = || Title::mean(Place { load: 0.5 }, "wait", "s");
        let figure = |value| Figure::<_, ()>::new(Some("fifo"), title(), &wide(value)).low;
        assert_eq!(figure(2.0), Some(0.0));
        assert!(figure(-2.0).is_some_and(|low| low < -30.0), "what is negative itself is something else");
        let of_rows = Rows::bare(rows(&[1.0, 1.0, 100.0], 0.5));
        assert_eq!(of_rows.figures::<()>("fifo").next().and_then(|figure| figure.low), Some(0.0));
        let apart = PairedDifference::new(["drr", "fifo"], title(), &wide(2.0), ());
        assert!(apart.low.is_some_and(|low| low < -20.0), "a difference may be");
    }

    #[test]
    fn a_figure_without_an_interval_says_why_where_it_is_to() {
        let told = |rows: &Rows<Place>| -> Vec<Option<String>> {
            rows.figures::<()>("fifo").map(|figure| figure.reason).collect()
        };
        let explained = told(&Rows::new(rows(&[1.0], 0.5), true));
        assert!(explained[0].as_deref() == Some(ALONE) && explained[1].is_some());
        assert_eq!(told(&Rows::bare(rows(&[1.0], 0.5))), [None, None]);
        assert_eq!(told(&Rows::new(rows(&[1.0], 0.5), false)), [None, None]);
    }

    #[test]
    fn cells_are_compared_with_those_of_the_reference_at_their_place() {
        const TWICE: Comparison = Comparison { name: Some("twice"), unit: Some("1"), ..DIFFERENCE };
        let disciplines = ["fifo", "drr"].map(str::to_owned);
        let each = [[1.0, 2.0], [5.0, 6.0], [2.0, 3.0], [9.0, 10.0]];
        let cell = |(place, parts): (usize, &[f64; 2])| Rows::bare(rows(parts, place as f64 % 2.0));
        let cells: Vec<Rows<Place>> = each.iter().enumerate().map(cell).collect();
        let names: Vec<_> =
            figures::<_, ()>(&disciplines, &cells).into_iter().map(|row| row.discipline).collect();
        assert_eq!((names.len(), names[3].as_deref(), names[4].as_deref()), (8, Some("fifo"), Some("drr")));
        let ways = |title: &Title<Place>| -> &'static [Comparison] {
            if title.statistic == "mean" { &[DIFFERENCE, TWICE] } else { &[DIFFERENCE] }
        };
        let apart: Vec<PairedDifference<_, ()>> = differences(&disciplines, 0, &cells, ways);
        let told: Vec<_> = apart.iter().map(|row| (row.subject.load, row.value, row.unit)).collect();
        let [near, far] = [(0.0, Some(1.0)), (1.0, Some(4.0))];
        let at = |(load, value)| [(load, value, "s"), (load, value, "1"), (load, value, "s")];
        assert_eq!(told, [at(near), at(far)].concat());
        assert_eq!((apart[2].statistic, apart[1].comparison), ("replication_max", Some("twice")));
    }
}
