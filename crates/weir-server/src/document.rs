//! The scenario file of the server as it is written: one structure a table, one field a key.
//!
//! As in the document of the port, the structures are the only definition of the format: parser, normalised
//! form and JSON Schema are derived from them.

pub(crate) mod fan_out;
pub(crate) mod span;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fan_out::{FanOutTable, HedgeTable};
use span::{Bound, ServiceTime};
use weir_document::Located;
use weir_document::header::{default_seed, default_tails};
use weir_document::quantity::{RequestRate, Time, UnitCost};
use weir_lab::scenario::need::NeedTable;
use weir_workload::curve::CurveTable;
use weir_workload::document::default_header;
use weir_workload::{Separator, TimeUnit};

/// A scenario of the server: requests that are spread over cores, by a dispatcher or from a queue that cores share.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ServerScenario", title = "Scenario of the server")]
pub struct ServerDocument {
    /// The version of this format: 1.
    pub weir: Located<u32>,
    /// The simulated place in which the disciplines act.
    pub model: ServerModel,
    /// What the report is headed with.
    #[serde(default)]
    pub title: String,
    /// The seed of all random streams; the same seed gives the same numbers.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The disciplines to compare, as spec strings: `rr`, `jsq`, `cfcfs`, `per_server(jsq,discipline=sf)`, `darc`.
    pub disciplines: Located<Vec<Located<String>>>,
    /// The discipline of the list from which the others' paired differences are taken; default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Located<String>>,
    /// The cores, their queues, and what lies between arrival and service.
    pub server: Located<ServerTable>,
    /// The classes of requests.
    pub class: Located<Vec<Located<ClassTable>>>,
    /// Who arrives when.
    pub workload: Located<ServerWorkload>,
    /// When a run ends and what of it counts.
    #[serde(default)]
    pub stop: ServerStop,
    /// What is measured.
    #[serde(default)]
    pub measure: ServerMeasure,
    /// What must hold; the verdict answers it. Default: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub need: Vec<Located<NeedTable>>,
}

weir_lab::document!(ServerDocument);

/// The simulated place of a scenario of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerModel {
    /// Requests spread over cores.
    Server,
}

/// The cores, their queues, and what lies between arrival and service.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerTable {
    /// How many cores serve requests, from 1 to 1,024.
    pub cores: Located<u64>,
    /// How many cores, or queues of a network card, receive requests; a request comes to the receiver `flow mod
    /// receivers`. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receivers: Option<Located<u64>>,
    /// How many requests may wait for each core, the one that is served not counted, or `"unbounded"`; a queue that cores
    /// share holds as many for each of them. Default: 4096.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Located<Bound>>,
    /// What a receiver spends on each request, one after the other; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<Located<Time>>,
    /// How many requests may wait for each receiver, the one it sees to not counted, or `"unbounded"`; a request that finds
    /// no place is dropped. Needs `dispatch`. Default: `"unbounded"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<Located<Bound>>,
    /// From the receiver to the queue; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hand_over: Option<Located<Time>>,
    /// What a core spends more on a request whose flow another core served last; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold: Option<Located<Time>>,
    /// What disciplines know of the service time of a request; default: `exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Located<KnownService>>,
    /// How fast each core is, from 0.001 to 1: a service takes its time over that, and the `load` is over the sum of all.
    /// Taken again from the first where there are more cores. Default: each is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speeds: Option<Located<Vec<Located<f64>>>>,
    /// When a core is slower for a while, or stands still. Default: never.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault: Vec<Located<FaultTable>>,
}

/// A core that is slower for a while, or stands still: what it serves goes on afterwards, and its queue waits.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultTable {
    /// Which core, from 0.
    pub core: Located<u64>,
    /// When it begins, from the beginning of a run.
    pub at: Located<Time>,
    /// How long it lasts.
    pub lasts: Located<Time>,
    /// By what the core's speed is multiplied meanwhile, from 0.001 to 1, or 0: it stands still. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Located<f64>>,
}

/// What disciplines know of the service time of a request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KnownService {
    /// All of it.
    Exact,
    /// The mean of its class.
    Class,
    /// The service time, multiplied by a random number between `1 / factor` and `factor`, evenly in its logarithm.
    Within(Located<f64>),
}

/// A class of requests.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassTable {
    /// Its name; no two classes have the same.
    pub name: Located<String>,
    /// Its share of all requests, such as 0.995; all shares sum to 1. One class may leave it out and has the rest. With a
    /// share of 0 it has no requests, and no figures. A trace has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Located<f64>>,
    /// How long its requests are served: `"500ns"`, or a law. A trace has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Located<ServiceTime>>,
    /// The slowdown that is not to be exceeded, above 1; default: none is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slo: Option<Located<f64>>,
    /// How long its requests wait for their service to begin before they leave: a span, or a law. Who has left stands in
    /// the queue until its turn comes, and is not served then. Default: they wait for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Located<ServiceTime>>,
    /// How long its clients wait for the answer, from arrival on, before they give up. The server does not know, and does
    /// the work all the same. Default: they wait for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Located<Time>>,
    /// By when the answer must be there, from arrival on. The server knows, and drops for it what `drop` says. Default: there
    /// is no such time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Located<DeadlineTable>>,
    /// Where its requests do not join the queue but go away. Default: they always join.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balk: Option<Located<BalkTable>>,
}

/// By when the answer must be there, and what is dropped for it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadlineTable {
    /// How long after its arrival a request must be answered.
    pub within: Located<Time>,
    /// Which requests the server drops.
    pub drop: Located<DeadlineDrop>,
}

/// Which requests are dropped for their deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeadlineDrop {
    /// Where their turn comes: those that would end late at the speed of the core if nothing came between, such as a fault.
    /// The service must be known.
    Before,
    /// Those whose deadline has come: where they wait when their turn comes, where they are served at once.
    During,
}

/// Where requests do not join the queue: either `at` a number that wait, or at an expected `wait`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BalkTable {
    /// How many requests must wait, in all queues together, for others not to join.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Located<u64>>,
    /// Where the expected wait is longer: those that wait and one more, times the mean service of all requests, over the
    /// cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Located<Time>>,
    /// The probability with which a request does not join then. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<Located<f64>>,
}

/// Who arrives when: from outside at a `load` or a `rate`, from a `trace`, or a `closed` loop of clients.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerWorkload {
    /// The offered load: work that arrives over work that all cores can do; of the first level, where there are several, and
    /// the mean over a curve. With a trace, time is scaled to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Located<f64>>,
    /// How many requests arrive in a second, such as `"2.5M/s"`, in place of `load`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Located<RequestRate>>,
    /// The process of arrivals; default: `poisson`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Located<ServerArrivals>>,
    /// How the rate grows; default: it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Located<LevelTable>>,
    /// For how long the rate is another, and what it is then; not with `levels`. Default: it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Located<BurstTable>>,
    /// How the rate follows the time, such as `{ factors = [["0s", 0.5], ["10s", 2.0]], period = "20s" }`; `load` and `rate`
    /// are then the mean over its period, or up to its last point where it does not repeat. Not with `levels` or `burst`.
    /// Default: it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Located<CurveTable>>,
    /// The number of flows; each request is of any of them with equal probability. Default: as many as receivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Located<u64>>,
    /// Arrivals, classes and service times from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Located<RequestFile>>,
    /// A fixed number of clients, each of which waits for its request before it thinks and sends the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<Located<Clients>>,
    /// How clients try again whose request is refused, leaves the queue, or is not answered in time. Default: they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Located<RetryTable>>,
    /// A circuit breaker that all clients share: where too many attempts fail, none is sent for a while. Default: there is
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaker: Option<Located<BreakerTable>>,
    /// To how many cores a request goes, and how many answers it needs. Default: to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<Located<FanOutTable>>,
    /// When a second copy of a request goes to another core, since the first is not answered. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hedge: Option<Located<HedgeTable>>,
}

/// A circuit breaker that all clients share: where too many attempts fail, none is sent for a while.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BreakerTable {
    /// It opens where this part of the attempts that ended in the window has failed. Default: 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<Located<f64>>,
    /// How far back attempts count, by when they were answered or failed.
    pub window: Located<Time>,
    /// It does not open while fewer attempts have ended in the window. Default: 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<Located<u64>>,
    /// How long it stays open, and refuses all attempts.
    pub open: Located<Time>,
    /// How many attempts are sent then, the others refused: when all of them have ended it closes, or opens again, by the same
    /// part. Default: 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<Located<u64>>,
}

/// How clients try again whose request is refused, leaves the queue, or is not answered in time.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryTable {
    /// The most attempts a request may have, the first included. Default: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<Located<u64>>,
    /// How long a client waits after its first attempt.
    pub backoff: Located<Time>,
    /// By what that is multiplied after every further attempt. Default: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<Located<f64>>,
    /// The part of it that is random: 0 is none, with 1 it is evenly anything up to it. Default: 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Located<f64>>,
    /// How many further attempts there may be for each request, over all clients together, such as 0.1. Default: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Located<f64>>,
}

weir_workload::arrival_processes! {
    /// The process of arrivals at a server.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum ServerArrivals {
        /// All requests of a period at its beginning.
        Trains(Trains),
    }
}

/// All requests of a period at its beginning: as many as the rate brings in one period, rounded down with the rest carried
/// over.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trains {
    /// The period.
    pub every: Located<Time>,
    /// The time between requests of a train; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spacing: Option<Located<Time>>,
}

/// A rate that is multiplied again and again; the last level goes on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelTable {
    /// How long each level lasts.
    pub every: Located<Time>,
    /// How many levels there are, the first included.
    pub count: Located<u64>,
    /// By what the rate is multiplied from one level to the next; default: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<Located<f64>>,
}

/// A rate that is another for a while.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstTable {
    /// When it begins, from the beginning of the run.
    pub at: Located<Time>,
    /// How long it lasts.
    pub lasts: Located<Time>,
    /// By what the rate is multiplied meanwhile.
    pub factor: Located<f64>,
}

/// A fixed number of clients, each of which waits for its request before it thinks and sends the next.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clients {
    /// How many; each is a flow.
    pub clients: Located<u64>,
    /// The time between the end of a request and the next; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Located<ServiceTime>>,
}

/// A CSV file with one row a request, in order of arrival.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestFile {
    /// The file, relative to the scenario; may be compressed by gzip. Lines that begin with `#` are comments.
    pub file: Located<PathBuf>,
    /// The column of the arrival time; default: `time`. Without a header, columns are named "1", "2", ....
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// How the time is written.
    pub time_unit: Located<TimeUnit>,
    /// The probability with which each row is kept, the same rows for every seed; default: 1, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thin: Option<Located<f64>>,
    /// What a request costs: `base`, and so much for each unit of its columns.
    pub service: Located<RequestCost>,
    /// The column that names the class; its values are the names of the classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Located<String>>,
    /// Bounds that tell the classes apart, in place of a column of names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Located<Split>>,
    /// The column that names the flow; default: `flow`, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// Whether the first row names the columns.
    #[serde(default = "default_header")]
    pub header: bool,
    /// What stands between two fields.
    #[serde(default)]
    pub separator: Separator,
}

/// What a request of a trace costs: `base`, and so much for each unit of its columns.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "what one of each column costs, such as `{ per_unit = { took_ms = \"1ms\" } }`"
)]
pub struct RequestCost {
    /// What every request costs; default: `"0ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Located<Time>>,
    /// What one unit of a column costs, such as `{ GeneratedTokens = "20ms" }`; default: nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub per_unit: BTreeMap<String, Located<UnitCost>>,
}

/// Bounds that tell the classes of a trace apart: the first class is below the first bound, the last at or above the last.
/// Either of the service, or of a column.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// Bounds of the service time, in ascending order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Located<Vec<Located<Time>>>>,
    /// The column whose numbers have the bounds `at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<Located<String>>,
    /// Bounds of the column, in ascending order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Located<Vec<Located<f64>>>>,
}

/// When a run ends and what of it counts. A trace ends by itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerStop {
    /// How many requests arrive in the mean, in all replications together; it becomes a duration by the rate. Default:
    /// 2,000,000, or all levels, or a curve once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Located<u64>>,
    /// Nobody arrives from here on, warm-up included, in place of `requests`; a closed loop needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Located<Time>>,
    /// Requests that arrive before this do not count; default: a tenth of the duration, nothing of levels, of a curve
    /// and of a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Located<Time>>,
    /// The number of independent replications; it is part of the result, unlike the number of threads. Default: 10, of a
    /// trace 1.
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
pub struct ServerMeasure {
    /// Whether quantiles and distributions are measured; means alone are faster. Default: true.
    #[serde(default = "default_tails")]
    pub tails: bool,
    /// Whether reordering within flows is measured. Default: false.
    #[serde(default)]
    pub order: bool,
    /// The length of a window, whose means are reported over time; default: there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Located<Time>>,
    /// Whether the queue, utilisation, the shares that leave, are dropped or late, and quantiles of the delay are reported for each
    /// window, with intervals over the replications; needs `window`. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<Located<bool>>,
    /// Whether the books are checked as the run goes, at a cost in speed. Default: false.
    #[serde(default)]
    pub verify: bool,
}

impl Default for ServerMeasure {
    fn default() -> Self {
        Self { tails: default_tails(), order: false, window: None, over_time: None, verify: false }
    }
}
