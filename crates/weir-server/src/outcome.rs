//! The result of a run of the server: a tidy table of figures with their intervals, and where they come from.
//!
//! Times are in seconds; every figure carries its unit. There is no NaN: a figure that does not exist says why. Requests
//! that arrive in the measured time count, and what cores do in it.
//!
//! Figures have kind and name: `class` with the name of the class, or `all` for all of them; `core` with `all`.
//!
//! | kind | metric | unit | |
//! |-|-|-|-|
//! | `class` | `delay` | `s` | from arrival to where service begins first |
//! | | `response` | `s` | from arrival to the end of service |
//! | | `slowdown` | `1` | response over service |
//! | | `dropped` | `1` | share of the requests that arrived |
//! | | `abandoned` | `1` | of them, those that left since their service did not begin in time; only where a class has a `patience` |
//! | | `balked` | `1` | of them, those that did not join, since too many waited; only where a class has `balk` |
//! | | `missed` | `1` | of them, those that were dropped for their deadline; only where a class has a `deadline` |
//! | | `refused` | `1` | of them, those that the circuit breaker refused; only with `workload.breaker` |
//! | | `late` | `1` | share of those done whose client had given up; only where a class has a `timeout` or a `deadline` |
//! | | `goodput` | `1/s` | requests that were done in time, over the measured time; only where a class has a `timeout` or a `deadline` |
//! | | `attempts` | `1` | attempts a request; only where clients try again |
//! | | `hedged` | `1` | share of the sub-requests, or requests, that were sent a second time; only with `workload.hedge` |
//! | | `cancelled` | `1` | share of the sub-requests that were not served to their end, since they were not needed any more; only where something is cancelled |
//! | | `reordered`, `cold` | `1` | shares of the requests that were done |
//! | | `throughput` | `1/s` | requests that arrived in the measured time and were done, over it |
//! | `core` | `utilisation`, `overhead` | `1` | share of the time of all cores; overheads keep a core busy |
//! | | `tipped` | `1` | share of the replications in which more than half of the attempts of the last tenth of the measured time fail; only where clients try again |
//! | | `recovery` | `s` | from the end of a burst until most attempts no longer fail; only where clients try again; none where a replication does not come back |
//! | | `wasted` | `1` | share of the time of all cores for what was done too late, or not to its end, or for sub-requests that were not needed; only where a class has a `timeout` or a `deadline`, or answers are not needed |
//! | | `in_use` | `cores` | that may be given requests: what power is spent on |
//!
//! Where requests go to several cores, these are the figures of the whole request: `delay` is that of the sub-request that was answered
//! last, `slowdown` is over what the request takes on idle cores.
//!
//! Statistics are `mean`, `p50`, `p90`, `p99`, `p99.9`, `p99.99` and `max`, of `delay` also `window_max`, the largest mean
//! of a window; differences have `replication_max` and `replication_window_max`, of each replication's own.

use serde::Serialize;

use weir_lab::provenance::Provenance;
use weir_lab::result::{Check, Course, Distribution, TheoryRow};
use weir_lab::stats::DelayOverTime;
use weir_lab::stats::figure::{Figure, PairedDifference};
use weir_lab::stats::windows::OverTimeRow;

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct ServerOutcome {
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The offered load, all cores together being 1; `None` where it is not known: with clients, and where it grows.
    pub load: Option<f64>,
    /// How the run went.
    #[serde(flatten)]
    pub course: Course,
    /// Cores.
    pub cores: u32,
    /// Receivers.
    pub receivers: u32,
    /// How many requests may wait in one queue; `None`: any number.
    pub queue: Option<u32>,
    /// The measured time of a replication, in seconds.
    pub measured: f64,
    /// The classes of requests.
    pub classes: Vec<ClassRow>,
    /// What was warned of.
    pub warnings: Vec<Warning>,
    /// What figures do not say of themselves.
    pub notes: Vec<String>,
    /// What was counted of every class and of all, in all replications.
    pub class_totals: Vec<ClassTotals>,
    /// What was counted of every discipline, in all replications.
    pub discipline_totals: Vec<DisciplineTotals>,
    /// What was counted of every core, in all replications.
    pub core_totals: Vec<CoreTotals>,
    /// The figures.
    pub estimates: Vec<Figure>,
    /// Paired differences from the reference.
    pub differences: Vec<PairedDifference>,
    /// Histograms.
    pub distributions: Vec<ServerDistribution>,
    /// Means of successive windows of the first replication.
    pub windows: Vec<Windows>,
    /// Figures of windows over all replications, where `measure.over_time` asks for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over_time: Vec<OverTimeRow>,
    /// Queueing delays over time in the first replication, by the time of arrival.
    pub delay_over_time: Vec<DelayOverTime>,
    /// How many cores were in use in the first replication.
    pub in_use: Vec<InUse>,
    /// Closed forms to compare the simulation with.
    pub theory: Vec<TheoryRow>,
    /// Self-checks.
    pub checks: Vec<Check>,
}

weir_lab::settles!(ServerOutcome);

/// A class of requests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassRow {
    /// Its name.
    pub name: String,
    /// Its share of all requests.
    pub share: f64,
    /// The mean of its service, in seconds.
    pub service: f64,
    /// A slowdown that is not to be exceeded, where one is asked for.
    pub slo: Option<f64>,
}

/// What was warned of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The discipline; `None` for what all share.
    pub discipline: Option<String>,
    /// What, with its values.
    pub text: String,
}

/// What was counted of the requests of a class that arrived in the measured time, in all replications of a discipline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassTotals {
    /// The discipline.
    pub discipline: String,
    /// The class; `all` for all of them.
    pub class: String,
    /// Requests that arrived.
    pub offered: u64,
    /// Of them, those that were done.
    pub done: u64,
    /// Of them, those that left unserved.
    pub dropped: u64,
    /// Of these, those that left since their service did not begin in time; `None` where no class has a `patience`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abandoned: Option<u64>,
    /// Of the dropped, those that did not join; `None` where no class has `balk`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balked: Option<u64>,
    /// Of the dropped, those that were dropped for their deadline; `None` where no class has a `deadline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<u64>,
    /// Of the dropped, those that the circuit breaker refused; `None` where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<u64>,
    /// Attempts that were not the first of their request; `None` where clients do not try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retried: Option<u64>,
    /// Done when their client had given up; `None` where no class has a `timeout` or a `deadline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// Sub-requests that were sent, second copies included; `None` where requests go to one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// Of them, second copies; `None` without `workload.hedge`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<u64>,
    /// Of them, those that were not served to their end, since they were not needed; `None` where nothing is cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<u64>,
    /// Done, but after a later one of their flow; `None` where it is not measured.
    pub reordered: Option<u64>,
    /// Served by another core than the request of their flow before; `None` where it is not measured.
    pub cold: Option<u64>,
}

/// What was counted of a discipline in all replications, from their beginning to their end, warm-up included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DisciplineTotals {
    /// The discipline.
    pub discipline: String,
    /// Requests that arrived.
    pub offered: u64,
    /// Those that were done.
    pub done: u64,
    /// Those that left unserved.
    pub dropped: u64,
    /// Grants.
    pub decisions: u64,
    /// Grants that ended before the request was done.
    pub preemptions: u64,
    /// Requests that went to another core than they were first sent to.
    pub moved: u64,
    /// The most cores that were in use at a time, in the measured time.
    pub peak_in_use: u32,
}

/// What was counted of a core in the measured time, in all replications of a discipline. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoreTotals {
    /// The discipline.
    pub discipline: String,
    /// The core, from 0.
    pub core: u32,
    /// Busy, overheads included.
    pub busy: f64,
    /// Of it, what was no service.
    pub overhead: f64,
}

/// What a distribution of the server is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfClass {
    /// The class; `all` for all of them.
    pub class: String,
}

/// The distribution of the `delay`, the `response` or the `slowdown` of a class.
pub type ServerDistribution = Distribution<OfClass>;

/// Means of successive windows of the first replication, from its beginning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Windows {
    /// The discipline.
    pub discipline: String,
    /// The class; `all` for all of them.
    pub class: String,
    /// `delay`.
    pub metric: &'static str,
    /// The unit of the values.
    pub unit: &'static str,
    /// The length of a window, in seconds; the n-th value is of the n-th window.
    pub interval: f64,
    /// The means; `None` where no service began in the window.
    pub values: Vec<Option<f64>>,
    /// Requests whose service began in the window.
    pub counts: Vec<u64>,
}

/// How many cores were in use in the first replication, at each change.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InUse {
    /// The discipline.
    pub discipline: String,
    /// There were more changes than are kept.
    pub truncated: bool,
    /// When, in seconds.
    pub at: Vec<f64>,
    /// How many from then on.
    pub count: Vec<u32>,
}
