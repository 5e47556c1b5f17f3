//! The result of a run of the node: a tidy table of figures with their intervals, and where they come from.
//!
//! Times are in seconds; every figure carries its unit. There is no NaN: a figure that does not exist says why. What
//! lies in the measured time counts.
//!
//! Figures have kind and name: `process`, `queue` or `node` with its name, or `all` for all of the kind but the system's.
//!
//! | kind | metric | unit | |
//! |-|-|-|-|
//! | `process` | `share` | `1` | run time over elapsed |
//! | | `epoch_run` | `s` | run time in an epoch |
//! | | `need_met` | `1` | part of the epochs in which it was ready throughout |
//! | | `windfall`, `uncommitted` | `1` | shares of elapsed |
//! | | `response` | `s` | from ready to waiting |
//! | | `wait` | `s` | from ready to where its program first goes on |
//! | | `late` | `1` | part of its responses |
//! | | `schedulings`, `enqueue_rate`, `dequeue_rate` | `1/s` | |
//! | `queue` | `throughput` | `1/s` | |
//! | | `age` | `s` | |
//! | `node` | `busy`, `idle`, `uncharged` | `1` | shares |
//!
//! Statistics are `mean`, `p50`, `p90`, `p99`, `p99.9`, `min` and `max`; differences have `replication_min` and
//! `replication_max`, of each replication's own least and longest.

use serde::Serialize;

use weir_lab::provenance::Provenance;
use weir_lab::result::{Check, Course, Distribution, TheoryRow};
use weir_lab::stats::figure::{Figure, PairedDifference};
use weir_lab::stats::windows::OverTimeRow;

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct NodeOutcome {
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// How the run went; never `unstable`.
    #[serde(flatten)]
    pub course: Course,
    /// The epoch, in seconds.
    pub epoch: f64,
    /// The measured time of a replication, in seconds.
    pub measured: f64,
    /// The nodes, by name.
    pub nodes: Vec<String>,
    /// The processes.
    pub processes: Vec<ProcessRow>,
    /// The dual queues, by name.
    pub queues: Vec<String>,
    /// What was warned of: more promised than there is, processes that wait for ever, processes that never ran.
    pub warnings: Vec<Warning>,
    /// What was counted of every process, in all replications.
    pub process_totals: Vec<ProcessTotals>,
    /// What was counted of every node, in all replications.
    pub node_totals: Vec<NodeTotals>,
    /// Figures of successive windows, where `measure.over_time` asks for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<OverTimeRow>,
    /// The figures.
    pub estimates: Vec<Figure>,
    /// Paired differences from the reference.
    pub differences: Vec<PairedDifference>,
    /// Histograms.
    pub distributions: Vec<NodeDistribution>,
    /// What the sampler saw of the first replication.
    pub samples: Vec<Samples>,
    /// Who ran when, in part of the first replication.
    pub timelines: Vec<Timeline>,
    /// Closed forms to compare the simulation with.
    pub theory: Vec<TheoryRow>,
    /// Self-checks.
    pub checks: Vec<Check>,
}

weir_lab::settles!(NodeOutcome);

/// A process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProcessRow {
    /// Its name.
    pub name: String,
    /// The node where it begins.
    pub node: String,
    /// Its priority.
    pub priority: u8,
    /// Its need in an epoch, in seconds.
    pub need: f64,
    /// Its slice, in seconds; `None`: the discipline's.
    pub slice: Option<f64>,
    /// Its deadline, in seconds.
    pub deadline: Option<f64>,
    /// Whether it is one of the system's.
    pub system: bool,
}

/// What was warned of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The discipline.
    pub discipline: String,
    /// The node.
    pub node: String,
    /// What, with its values.
    pub text: String,
}

/// What was counted of a process in the measured time, in all replications of a discipline. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProcessTotals {
    /// The discipline.
    pub discipline: String,
    /// The process.
    pub process: String,
    /// What it was charged for, overheads included.
    pub run_time: f64,
    /// Of it, out of its need; `None` where the discipline does not tell kinds apart.
    pub need_time: Option<f64>,
    /// Of it, out of what nobody is promised.
    pub uncommitted_time: Option<f64>,
    /// Of it, out of what others were promised and did not claim.
    pub windfall_time: Option<f64>,
    /// How often it was started, or went on at a decision.
    pub schedulings: u64,
    /// How often it became ready.
    pub wakeups: u64,
    /// How often it waited, or ended.
    pub waits: u64,
    /// Epochs in which it was ready throughout.
    pub epochs_ready: u64,
    /// Of these, those in which it ran less than its need.
    pub needs_missed: u64,
    /// The most that it lacked of its need in one of these.
    pub worst_shortfall: f64,
    /// Responses that were longer than its deadline, also those that were not over at the end; `None` where it has none.
    pub late: Option<u64>,
    /// The longest response that was not over at the end of a replication, as long as it had been by then; `None` where all
    /// were over, and of a process that has no deadline and never waits by its program.
    pub unfinished: Option<f64>,
    /// Data that it put in queues.
    pub enqueued: u64,
    /// Data that it took from queues.
    pub dequeued: u64,
    /// How often it moved to another node.
    pub moves: u64,
}

/// What was counted of a node in the measured time, in all replications of a discipline. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeTotals {
    /// The discipline.
    pub discipline: String,
    /// The node.
    pub node: String,
    /// What processes were charged for.
    pub run_time: f64,
    /// Idle.
    pub idle_time: f64,
    /// Busy for nobody.
    pub uncharged_time: f64,
    /// By path, in the order of section 6: restart, swap, to idle, from idle to the last, from idle, idle on.
    pub paths: [u64; 6],
    /// A process of a normal queue took the processor from one of a low queue.
    pub high_over_low: u64,
}

/// What a distribution of the node is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfProcess {
    /// The process; `all` for all but the system's.
    pub process: String,
}

/// The distribution of a `response` or a `wait`.
pub type NodeDistribution = Distribution<OfProcess>;

/// What the sampler saw: rates over successive intervals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Samples {
    /// The discipline.
    pub discipline: String,
    /// `process`, `queue` or `node`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// `run_time` (ms/s), `schedulings`, `wakeups` (1/s) of a process; `messages` (1/s), `length` (at the end of the
    /// interval) of a queue; `idle`, `uncharged` (ms/s) and each path and `high_over_low` (1/s) of a node.
    pub metric: &'static str,
    /// The unit.
    pub unit: &'static str,
    /// The interval, in seconds; the n-th value is of the n-th interval from the beginning.
    pub interval: f64,
    /// The values.
    pub values: Vec<f64>,
}

/// Who ran when. Columns of equal length: the n-th of each make up a row. Times are in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// The discipline.
    pub discipline: String,
    /// From when.
    pub from: f64,
    /// Until when; earlier than asked for where `truncated`.
    pub until: f64,
    /// More happened than is kept.
    pub truncated: bool,
    /// What processes were charged for.
    pub runs: Runs,
    /// Lengths of queues, at each change.
    pub lengths: Lengths,
    /// Moments: turns of epochs, wake-ups, waits, moves.
    pub marks: Marks,
    /// When the critical scheduling period of a node begins, as it stands at each change.
    pub critical: Critical,
}

/// What processes were charged for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Runs {
    /// Places in [`NodeOutcome::nodes`].
    pub node: Vec<u32>,
    /// Places in [`NodeOutcome::processes`]; `None`: nobody, the processor is busy with overhead.
    pub process: Vec<Option<u32>>,
    /// The level of the queue.
    pub level: Vec<Option<i8>>,
    /// From when.
    pub from: Vec<f64>,
    /// Until when.
    pub until: Vec<f64>,
}

/// Lengths of queues.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Lengths {
    /// Places in [`NodeOutcome::queues`].
    pub queue: Vec<u32>,
    /// When.
    pub at: Vec<f64>,
    /// How many it holds from then on.
    pub length: Vec<u64>,
}

/// Moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Marks {
    /// `epoch`, `woke`, `waits`, `moved`.
    pub what: Vec<&'static str>,
    /// Places in [`NodeOutcome::processes`]; `None` of an epoch.
    pub process: Vec<Option<u32>>,
    /// When.
    pub at: Vec<f64>,
}

/// Critical scheduling periods.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Critical {
    /// Places in [`NodeOutcome::nodes`].
    pub node: Vec<u32>,
    /// As it stands from when on.
    pub at: Vec<f64>,
    /// When it begins.
    pub begins: Vec<f64>,
}

weir_lab::encode! {
    Samples { discipline, kind, name, metric, unit, interval, values }
    Timeline { discipline, from, until, truncated, runs, lengths, marks, critical }
    Runs { node, process, level, from, until }
    Lengths { queue, at, length }
    Marks { what, process, at }
    Critical { node, at, begins }
}
