//! The figures of a result, one row each, of models whose figures have a kind and a name.
//!
//! What kinds, names, metrics and statistics there are, the outcome of the model says. There is no NaN: a figure that
//! does not exist says why.

use serde::Serialize;

/// What all of a kind are called together.
pub const ALL: &str = "all";

/// One figure of a subject, or of all of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The discipline.
    pub discipline: String,
    /// The kind of the subject.
    pub kind: &'static str,
    /// Its name; `all` for all of the kind.
    pub name: String,
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
pub struct PairedDifference {
    /// The discipline.
    pub discipline: String,
    /// The reference.
    pub reference: String,
    /// The kind of the subject.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// What is compared.
    pub metric: &'static str,
    /// The statistic; those that begin with `replication_` are of each replication's own least or longest.
    pub statistic: &'static str,
    /// The discipline's value less the reference's.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The unit.
    pub unit: &'static str,
    /// Why there is none.
    pub reason: Option<String>,
}
