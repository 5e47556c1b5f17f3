//! The scenario file of the port as it is written: one structure a table, one field a key.
//!
//! The structures are the only definition of the format. The parser, the normalised form and the JSON
//! Schema are derived from them, and the comments of the fields are the descriptions of the schema. What
//! the fields must satisfy together is checked in `check`.

use std::path::PathBuf;
use weir_document::Located;
use weir_document::header::{default_seed, default_tails};
use weir_document::quantity::{Length, LengthUnit, Share, Speed, Time, WarmUp};
use weir_lab::scenario::need::NeedTable;
use weir_workload::curve::CurveTable;
use weir_workload::document::{ArrivalProcess, default_header};
use weir_workload::{Separator, TimeUnit};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A scenario of the port: who arrives when and how large, under which disciplines, for how long.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PortScenario", title = "Scenario of the port")]
pub struct PortDocument {
    /// The version of this format: 1.
    pub weir: Located<u32>,
    /// The simulated place in which the disciplines act.
    pub model: PortModel,
    /// What the report is headed with.
    #[serde(default)]
    pub title: String,
    /// The seed of all random streams; the same seed gives the same numbers.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The disciplines to compare, as spec strings: `fifo`, `rr`, `sf`, `alpha:10`.
    pub disciplines: Located<Vec<Located<String>>>,
    /// The discipline of the list from which the others' paired differences are taken; default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Located<String>>,
    /// Who arrives when, and how large.
    pub workload: Located<Workload>,
    /// How long the service takes; default: that of the alpha report, 0.5u plus an exponential of mean 0.5u.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Located<Service>>,
    /// When a run ends and what of it counts.
    #[serde(default)]
    pub stop: Stop,
    /// What is measured.
    #[serde(default)]
    pub measure: Measure,
    /// What must hold; the verdict answers it. Default: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub need: Vec<Located<NeedTable>>,
}

weir_lab::document!(PortDocument);

/// The simulated place of a scenario of the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortModel {
    /// The message port of a node: one server, many messages.
    Port,
}

/// Who arrives when, and how large: arrivals from outside at a `load`, a mean `gap` or the rates of a `curve`, a `trace`, or
/// a `closed` loop of applications.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The offered load: work that arrives over work that the server can do; the mean over a curve. With a trace, time is
    /// scaled to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Located<f64>>,
    /// The mean time between two arrivals, in place of `load`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Located<Time>>,
    /// The process of arrivals; default: `poisson`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Located<ArrivalProcess>>,
    /// How the rate follows the time, such as `{ factors = [["0s", 0.5], ["10s", 2.0]], period = "20s" }`, or in `u` where the
    /// service is; `load` and `gap` are then the mean over its period, or up to its last point where it does not repeat.
    /// With `rates`, of messages in a second, neither is needed. Default: it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Located<CurveTable>>,
    /// The distribution of lengths; default: `report`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lengths: Option<Located<Lengths>>,
    /// The size of a packet, such as `"1460B"`: lengths in bytes become packets, the last one padded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<Located<Length>>,
    /// The number of applications that send; each message is of any of them with equal probability. Figures of
    /// each are given where there are at most 1,024. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Located<u64>>,
    /// Arrivals and lengths from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Located<TraceFile>>,
    /// A fixed number of applications, each of which waits for its message before it thinks and sends the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<Located<Closed>>,
}

weir_workload::textbook_laws! {
    /// The distribution of the lengths of messages.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Lengths of Length {
        before {
            /// The mixture of the alpha report: 90 % from 1 to 5 packets, 10 % of 20 packets.
            Report,
            /// Every message has this length.
            Constant(Located<Length>),
            /// All lengths from the first to the second, equally likely.
            Uniform(Located<Length>, Located<Length>),
            /// The memoryless distribution of this mean.
            Exponential(Located<Length>),
            /// Lengths with their probabilities, such as `[["1pkt", 0.9], ["20pkt", 0.1]]`.
            Mixture(Vec<(Located<Length>, Located<f64>)>),
            /// A CDF file of sizes in bytes, relative to the scenario.
            Cdf(Located<PathBuf>),
        }
        after {}
    }
}

/// A CSV file with one row a message, in order of arrival.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// The file, relative to the scenario; may be compressed by gzip. Lines that begin with `#` are comments.
    pub file: Located<PathBuf>,
    /// The column of the arrival time; default: `time`. Without a header, columns are named "1", "2", ....
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The column of the length; default: `length`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<String>,
    /// The column that names the application; default: `flow`, if there is one. Figures of each are given where
    /// there are at most 1,024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The column that names the class; default: `class`, if there is one. At most 64 pairs of class and alpha.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The column of the message's own alpha; default: `alpha`, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<String>,
    /// How the time is written.
    pub time_unit: Located<TimeUnit>,
    /// The probability with which each row is kept, the same rows for every seed; default: 1, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thin: Option<Located<f64>>,
    /// What the length counts.
    pub length_unit: Located<LengthUnit>,
    /// Whether the first row names the columns.
    #[serde(default = "default_header")]
    pub header: bool,
    /// What stands between two fields.
    #[serde(default)]
    pub separator: Separator,
}

/// A fixed number of applications, each of which waits for its message before it thinks and sends the next.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// How many applications, where all are alike; figures of each are given where there are at most 1,024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applications: Option<Located<u64>>,
    /// The time between the delivery of a message and the submission of the next; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Located<Think>>,
    /// Groups of applications, each with lengths of its own, in place of `applications` and `workload.lengths`. All
    /// applications are numbered in the order of their groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Located<Vec<Located<Group>>>>,
}

/// Applications of a closed loop that are alike.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// What it is called where groups are the classes of the report; default: `group 1`, `group 2`, ....
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Located<String>>,
    /// How many applications; default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applications: Option<Located<u64>>,
    /// The distribution of the lengths of their messages.
    pub lengths: Located<Lengths>,
    /// The time between the delivery of a message and the submission of the next; default: that of `workload.closed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Located<Think>>,
}

/// The time between the delivery of a message and the submission of the next.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Think {
    /// Always the same.
    Constant(Located<Time>),
    /// Exponential, of this mean.
    Exponential(Located<Time>),
}

/// How long the service takes: by `packet`, by `rate`, or `per_token`; exactly one of them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// The distribution of the service time of one packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<Located<PacketTime>>,
    /// The rate of the link. With `workload.packet`, packets of that size; without, messages served by the byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Located<Speed>>,
    /// The service time of one token of a request; requests are served as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_token: Option<Located<Time>>,
    /// Whether the service of a whole message can be interrupted; default: true. Packets never are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption: Option<Located<bool>>,
}

/// The distribution of the service time of one packet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacketTime {
    /// Always the same.
    Constant(Located<Time>),
    /// Exponential, of this mean.
    Exponential(Located<Time>),
    /// The first time, plus an exponential time whose mean is the second.
    ShiftedExponential(Located<Time>, Located<Time>),
}

/// When a run ends and what of it counts. A trace ends by itself; a curve is run once unless the number of packets or
/// messages is given.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// How many packets are served, in all replications together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Located<u64>>,
    /// How many messages arrive, in all replications together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Located<u64>>,
    /// End earlier, once the 95 % interval of every mean latency is within this share of the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<Located<Share>>,
    /// The number of independent replications; it is part of the result, unlike the number of threads. Default: 1, with a
    /// curve 10, since intervals are then those of the replications alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replications: Option<Located<u64>>,
    /// What is left out at the start: `"mser"` (detected), `"none"`, or a time. Default: `"mser"`, for a
    /// trace and a curve `"none"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Located<WarmUp>>,
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
pub struct Measure {
    /// Where the latency of a message ends; default: `acceptance` of packets, `completion` of whole messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Located<LatencyEnd>>,
    /// What the classes of the report are; default: what the workload has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Located<ClassesBy>>,
    /// The period at which the queue length is sampled, where messages are served by packets; default: 200 mean
    /// service times, with a curve at most a thirtieth of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_period: Option<Located<Time>>,
    /// The length of the windows of `over_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Located<Time>>,
    /// Whether the messages inside, the throughput and the latency are reported for each window, with intervals over the
    /// replications; needs `window`. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<Located<bool>>,
    /// Whether quantiles and distributions are measured; means alone are faster. Default: true.
    #[serde(default = "default_tails")]
    pub tails: bool,
    /// Whether the bound of alpha scheduling is checked packet by packet, at a cost in speed. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<Located<bool>>,
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            latency: None,
            classes: None,
            queue_period: None,
            window: None,
            over_time: None,
            tails: default_tails(),
            verify: None,
        }
    }
}

/// Where the latency of a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LatencyEnd {
    /// At the acceptance of the last packet by the server, as in the alpha report.
    Acceptance,
    /// At the end of the service.
    Completion,
}

/// What the classes of the report are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClassesBy {
    /// One class a length.
    Length,
    /// The deciles of the distribution of lengths.
    Decile,
    /// The column of classes of the trace, or of alphas.
    Trace,
    /// The groups of applications of a closed loop.
    Group,
}
