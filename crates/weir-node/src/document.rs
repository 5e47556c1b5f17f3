//! The scenario file of the node as it is written: one structure a table, one field a key.
//!
//! As in the document of the port, the structures are the only definition of the format: parser, normalised
//! form and JSON Schema are derived from them.

pub(crate) mod preset;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use preset::Preset;
use weir_document::Located;
use weir_document::header::{default_seed, default_tails};
use weir_document::quantity::Time;
use weir_lab::scenario::need::NeedTable;

/// A scenario of the node: processes on processors, the events and queues by which they wait for each other, and at
/// every processor a scheduler.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NodeScenario", title = "Scenario of the node")]
pub struct NodeDocument {
    /// The version of this format: 1.
    pub weir: Located<u32>,
    /// The simulated place in which the disciplines act.
    pub model: NodeModel,
    /// What the report is headed with.
    #[serde(default)]
    pub title: String,
    /// The seed of all random streams; the same seed gives the same numbers.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The disciplines to compare, as spec strings: `epoch`, `epoch:allocate=at_dispatch`. Each is in turn the
    /// scheduler of every node.
    pub disciplines: Located<Vec<Located<String>>>,
    /// The discipline of the list from which the others' paired differences are taken; default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Located<String>>,
    /// The nodes, and what their interrupts cost; default: one node where nothing costs anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Located<NodeTable>>,
    /// The queues, each of data or of those who wait for it; default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<Located<QueueTable>>,
    /// The events; default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub event: Vec<Located<EventTable>>,
    /// What processes have in common; default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub template: Vec<Located<Template>>,
    /// Laws of times by name: a program that says `compute NAME`, `sleep NAME` or `post EVENT after NAME` takes as long as that law
    /// draws. Default: none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub law: BTreeMap<String, Located<DurationLaw>>,
    /// The processes.
    pub process: Located<Vec<Located<ProcessTable>>>,
    /// Whether processes move from node to node; default: they stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance: Option<Located<BalanceTable>>,
    /// When a run ends and what of it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Located<NodeStop>>,
    /// What is measured.
    #[serde(default)]
    pub measure: NodeMeasure,
    /// What must hold; the verdict answers it. Default: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub need: Vec<Located<NeedTable>>,
}

weir_lab::document!(NodeDocument);

weir_workload::textbook_laws! {
    /// A law of times that programs name.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum DurationLaw of Time {
        before {
            /// Exponential, of this mean.
            Exponential(Located<Time>),
            /// Evenly distributed, from the first to the second.
            Uniform(Located<Time>, Located<Time>),
        }
        after {}
    }
}

/// The simulated place of a scenario of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeModel {
    /// Processes on processors.
    Node,
}

/// The nodes: a processor each, joined by a switch.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeTable {
    /// What needs and run times are measured over; disciplines have it as `length` or `period` where their specs do not
    /// say. Default: `"100ms"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Located<Time>>,
    /// The names of the nodes; default: `["node"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Located<Vec<Located<String>>>>,
    /// What interrupts and posts cost; default: `"none"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<Located<Preset<CostTable>>>,
    /// The processes of the system, on every node; default: `"none"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<Located<Preset<SystemTable>>>,
    /// The time of a post to another node; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch_delay: Option<Located<Time>>,
}

/// What interrupts and posts cost, in processor time. Each is `"0ns"` by default.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostTable {
    /// The scheduler where the same process goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<Located<Time>>,
    /// The timer's interrupt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<Located<Time>>,
    /// The scheduler where one process is left and another started; at least `restart`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap: Option<Located<Time>>,
    /// A post on the same node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post: Option<Located<Time>>,
    /// A post or an enqueue to another node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<Located<Time>>,
}

/// The processes of the system, one of each on every node, and what is charged to nobody.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SystemTable {
    /// The Epoch Scheduler, of priority 3, which wakes at the beginning of each epoch; default: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch_scheduler: Option<Located<SystemProcess>>,
    /// The Remote Demon, of priority 2, which wakes half an epoch later; default: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_demon: Option<Located<SystemProcess>>,
    /// Spent at the turn of every epoch and charged to nobody; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncharged: Option<Located<Time>>,
}

/// A process of the system.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SystemProcess {
    /// What it computes in each epoch.
    pub run: Located<Time>,
    /// Its need; default: what it computes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<Located<Time>>,
}

/// A queue that holds data or those who wait for it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueTable {
    /// Its name; no two queues have the same.
    pub name: Located<String>,
    /// Its node; default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Located<String>>,
}

/// An event, which anybody posts and its owner waits for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventTable {
    /// Its name; no two events have the same.
    pub name: Located<String>,
    /// The process that waits for it.
    pub owner: Located<String>,
}

/// What processes have in common; a key of the process goes before that of its template.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// Its name; no two templates have the same.
    pub name: Located<String>,
    /// From 0, in no hurry, to 3, vital; default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Located<u64>>,
    /// What a process is promised in every epoch; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<Located<Time>>,
    /// How long a process runs at most before others of its standing do; default: as the discipline has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<Located<Time>>,
    /// A period of its own, in which a discipline that knows periods promises it the same part as in the epoch; default:
    /// the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Located<Time>>,
    /// The share of a process relative to others'; default: its need in microseconds, at least 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<Located<u64>>,
    /// A response that is longer than this is late; default: none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Located<Time>>,
    /// When a process is first ready; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<Located<Time>>,
    /// Whether rebalancing may move a process; default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub movable: Option<bool>,
    /// What a process does, in which `$key` stands for `set.key` of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Located<String>>,
    /// A CSV file of wake-ups and run times that are replayed, relative to the scenario, instead of a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Located<PathBuf>>,
}

/// A process, or several that are alike.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessTable {
    /// Its name; no two processes have the same.
    pub name: Located<String>,
    /// The template with what is not said here; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Located<String>>,
    /// How many there are. With `count = 3` they are called `NAME.1`, `NAME.2`, `NAME.3`; default: one, called `NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Located<u64>>,
    /// The node where it begins; default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Located<String>>,
    /// From 0, in no hurry, to 3, vital; default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Located<u64>>,
    /// What it is promised in every epoch; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<Located<Time>>,
    /// How long it runs at most before others of its standing do; default: as the discipline has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<Located<Time>>,
    /// A period of its own, in which a discipline that knows periods promises it the same part as in the epoch; default:
    /// the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Located<Time>>,
    /// Its share relative to others'; default: its need in microseconds, at least 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<Located<u64>>,
    /// A response that is longer than this is late; default: none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Located<Time>>,
    /// When it is first ready; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<Located<Time>>,
    /// Whether rebalancing may move it; default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub movable: Option<bool>,
    /// What it does: statements, one a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Located<String>>,
    /// A CSV file of wake-ups and run times that are replayed, relative to the scenario, instead of a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<Located<PathBuf>>,
    /// What stands for `$key` in its program; default: nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, Located<String>>,
}

/// Whether processes move from the busiest node to the least busy one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BalanceTable {
    /// How often nodes are compared.
    pub every: Located<Time>,
    /// What a move costs the process, in processor time at its new node; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Located<Time>>,
}

/// When a run ends and what of it counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeStop {
    /// What is before this does not count, best whole epochs; the epochs that are measured lie wholly behind it.
    /// Default: `"1s"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Located<Time>>,
    /// The end of a replication, warm-up included, best whole epochs. Default: `"11s"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Located<Time>>,
    /// The number of independent replications; it is part of the result, unlike the number of threads. Default: 1
    /// where nothing is random, 10 otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replications: Option<Located<u64>>,
    /// Run as many times as long as it takes until every figure is settled, at most `settle_limit` times; the result says
    /// how many times. Default: false.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub settle: bool,
    /// How many times as long a run may become until it is settled. Default: 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle_limit: Option<Located<u64>>,
}

/// What is measured.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeMeasure {
    /// Whether quantiles and distributions are measured; means and maxima alone are faster. Default: true.
    #[serde(default = "default_tails")]
    pub tails: bool,
    /// Whether the discipline's invariant and the books of the engine are checked at every transition. Default: false.
    #[serde(default)]
    pub verify: bool,
    /// The length of the windows of `over_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Located<Time>>,
    /// Whether run time and responses of the processes, the lengths of the queues and the use of the nodes are reported for each
    /// window, with intervals over the replications; needs `window`. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<Located<bool>>,
    /// The interval of the sampler, of the first replication; default: nothing is sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Located<Time>>,
    /// What the timeline shows of the first replication; default: the first five measured epochs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Located<TimelineTable>>,
}

impl Default for NodeMeasure {
    fn default() -> Self {
        Self {
            tails: default_tails(),
            verify: false,
            window: None,
            over_time: None,
            sample: None,
            timeline: None,
        }
    }
}

/// What the timeline shows of the first replication.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimelineTable {
    /// Where it begins.
    pub from: Located<Time>,
    /// Where it ends.
    pub until: Located<Time>,
}
