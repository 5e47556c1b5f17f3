//! The scenario file of a fabric as it is written: one structure a table, one field a key.
//!
//! As in the document of the port, the structures are the only definition of the format: parser, normalised
//! form and JSON Schema are derived from them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model;
use weir_document::header::{default_seed, default_tails};
use weir_document::quantity::{ByteSize, Length, Speed, Time};
use weir_document::{Brief, Located};
use weir_lab::scenario::need::NeedTable;
use weir_workload::curve::CurveTable;

/// A scenario of a fabric: end-points and switches joined by links with credits, where nothing is dropped, and a
/// scheduler of virtual channels at every output and interface.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FabricScenario", title = "Scenario of a fabric")]
pub struct FabricDocument {
    /// The version of this format: 1.
    pub weir: Located<u32>,
    /// The simulated place in which the disciplines act.
    pub model: FabricModel,
    /// What the report is headed with.
    #[serde(default)]
    pub title: String,
    /// The seed of all random streams; the same seed gives the same numbers.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The disciplines to compare, as spec strings: `drr:quantum=2048B,weights=2/1`. Each is in turn the scheduler of
    /// every switch output and of every interface; a virtual channel is a flow, and its number is its place in the file.
    pub disciplines: Located<Vec<Located<String>>>,
    /// The discipline of the list from which the others' paired differences are taken; default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Located<String>>,
    /// Who is joined to whom, by links and switches of which kind; default: 64 end-points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric: Option<Located<Fabric>>,
    /// The virtual channels, numbered from 0 in the order of the file.
    pub channel: Located<Vec<Located<Channel>>>,
    /// Who sends when.
    pub traffic: Located<FabricTraffic>,
    /// When a run ends and what of it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Located<FabricStop>>,
    /// What is measured.
    #[serde(default)]
    pub measure: FabricMeasure,
    /// What must hold; the verdict answers it. Default: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub need: Vec<Located<NeedTable>>,
}

weir_lab::document!(FabricDocument);

/// The simulated place of a scenario of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FabricModel {
    /// End-points and switches that drop nothing.
    Fabric,
}

/// Who is joined to whom, by links and switches of which kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// Who is joined to whom; default: `{ tree = { arity = 4, levels = 3 } }`, 64 end-points under 48 switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<Located<Topology>>,
    /// Which way up a packet takes; default: `deterministic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing: Option<Routing>,
    /// The largest packet on the wire; default: `"2048B"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Located<ByteSize>>,
    /// The unit of flow control, to which every packet is rounded up; default: `"64B"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit: Option<Located<ByteSize>>,
    /// Every link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Located<FabricLink>>,
    /// Every switch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<Located<FabricSwitch>>,
    /// The buffer of an interface, for each virtual channel; default: `"32768B"`, or a packet where that is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface_buffer: Option<Located<ByteSize>>,
}

/// Who is joined to whom.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// A tree of switches in perfect-shuffle wiring, with as many ports up as down.
    Tree(TreeShape),
    /// One switch.
    Single(SingleShape),
    /// Two levels of switches.
    LeafSpine(LeafSpineShape),
}

/// `arity` to the power of `levels` end-points under `levels` stages of switches of `2 * arity` ports.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeShape {
    /// Ports of a switch down, and as many up.
    pub arity: Located<u64>,
    /// Stages of switches.
    pub levels: Located<u64>,
}

/// One switch with an end-point at each port.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SingleShape {
    /// Its ports.
    pub ports: Located<u64>,
}

/// Leaves with end-points, each joined once to every spine.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpineShape {
    /// Switches with end-points.
    pub leaves: Located<u64>,
    /// Switches above them.
    pub spines: Located<u64>,
    /// End-points of each leaf.
    pub hosts: Located<u64>,
}

/// Which way up a packet takes; the way down is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Routing {
    /// The digits of the destination say.
    Deterministic,
    /// Drawn once for each flow.
    RandomPerFlow,
    /// The upward output with the most room for the channel; packets may overtake.
    AdaptiveUp,
}

impl From<Routing> for model::Routing {
    fn from(written: Routing) -> Self {
        match written {
            Routing::Deterministic => Self::Deterministic,
            Routing::RandomPerFlow => Self::RandomPerFlow,
            Routing::AdaptiveUp => Self::AdaptiveUp,
        }
    }
}

/// Every link of a fabric.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FabricLink {
    /// The rate of the line, before coding; default: `"2.5Gbit"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Located<Speed>>,
    /// How data is coded on the line; default: `8b/10b`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coding: Option<Coding>,
    /// The time from one end to the other; default: `"20ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation: Option<Located<Time>>,
    /// The time from the release of space to the credit at the sender; default: `"50ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_return: Option<Located<Time>>,
    /// So much of a packet has come when its head is known; default: `"8B"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Located<ByteSize>>,
}

/// Bits of data in bits of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Coding {
    /// All of the line is data.
    #[serde(rename = "none")]
    None,
    /// 8 bits of data in 10 of the line.
    #[serde(rename = "8b/10b")]
    EightInTen,
    /// 64 bits of data in 66 of the line.
    #[serde(rename = "64b/66b")]
    SixtyFourInSixtySix,
}

impl Coding {
    /// Bits of data, in so many bits of the line.
    pub(crate) fn ratio(self) -> (u32, u32) {
        match self {
            Self::None => (1, 1),
            Self::EightInTen => (8, 10),
            Self::SixtyFourInSixtySix => (64, 66),
        }
    }
}

/// Every switch of a fabric: input and output buffers, and a crossbar between them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FabricSwitch {
    /// The speed of the crossbar over that of a link's data, from 1 to 16; default: 1.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_up: Option<Located<f64>>,
    /// What a header takes through an unloaded switch; default: `"145ns"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Located<Time>>,
    /// The buffer of an input, for each virtual channel; default: `"16384B"`, or a packet where that is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_buffer: Option<Located<ByteSize>>,
    /// The buffer of an output, for each virtual channel; default: `"16384B"`, or a packet where that is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_buffer: Option<Located<ByteSize>>,
}

/// A virtual channel.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Channel {
    /// Its name; no two channels have the same.
    pub name: Located<String>,
    /// Its part of the offered load, relative to the other channels; default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Located<f64>>,
    /// The sizes of its packets or messages; default: those of `traffic.size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Located<PacketSize>>,
}

/// How large packets or messages are.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacketSize {
    /// Packets all of one payload.
    Constant(Located<ByteSize>),
    /// Packets with payloads of a bounded Pareto law.
    Pareto(Located<ParetoSize>),
    /// Messages whose sizes a CDF file gives, relative to the scenario, or a table of a law, such as
    /// `{ lognormal = { mean = "20kB", cv = 3.0 } }`; they are cut into packets of the MTU.
    Messages(Located<Brief<PathBuf, MessageLaw>>),
}

weir_workload::textbook_laws! {
    /// How the sizes of messages are drawn.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum MessageLaw of Length {
        before {
            /// Exponential, of this mean.
            Exponential(Located<Length>),
            /// Sizes with their probabilities, such as `[["1kB", 0.9], ["1MB", 0.1]]`.
            Mixture(Vec<(Located<Length>, Located<f64>)>),
        }
        after {}
    }
}

/// A bounded Pareto law, by its mean or by its shape.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParetoSize {
    /// The least payload.
    pub minimum: Located<ByteSize>,
    /// The largest payload.
    pub maximum: Located<ByteSize>,
    /// The mean payload, from which the shape follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Located<ByteSize>>,
    /// The shape, instead of the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Located<f64>>,
    /// What becomes of the part above the largest; default: `truncated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
}

/// What becomes of the part of a law above the largest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// It is cut off, and the rest scaled.
    Truncated,
    /// It is moved to the largest value.
    Capped,
}

/// Who sends when.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FabricTraffic {
    /// What every interface offers over what a link carries, in bytes on the wire, with all channels together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Located<f64>>,
    /// Several loads, each of them run, instead of `load`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loads: Option<Located<Vec<Located<f64>>>>,
    /// When packets or messages come; default: `poisson`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Located<FabricArrivals>>,
    /// How the rate of all interfaces follows the time, such as `{ factors = [["0s", 0.5], ["2ms", 2.0]], period = "4ms" }`; a load
    /// is then the mean over its period, or up to its last point where it does not repeat. Default: it stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Located<CurveTable>>,
    /// How large packets or messages are; default: a truncated Pareto law of mean `"176B"` from `"56B"` to `"2040B"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Located<PacketSize>>,
    /// What is added to the payload of every packet; default: `"8B"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Located<ByteSize>>,
    /// The mean rate of one point-to-point flow; default: `"1Mbit"`. An interface has as many flows of a channel as
    /// make up its load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_rate: Option<Located<Speed>>,
    /// Flows that all go to one end-point; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_spot: Option<Located<HotSpot>>,
}

weir_workload::arrival_processes! {
    /// When the packets or messages of a channel come, at each interface.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum FabricArrivals {
        /// At exponential gaps, several packets of one flow at once.
        Bursts(Bursts),
    }
}

/// The number of packets of a burst: the floor of a Pareto law from 1, with a cap.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bursts {
    /// The shape of the law.
    pub shape: Located<f64>,
    /// The most packets of a burst.
    pub cap: Located<u64>,
}

/// Flows that all go to one end-point.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotSpot {
    /// The number of the end-point, from 0.
    pub host: Located<u64>,
    /// The part of all flows that go there, above 0 and at most 1; the end-point's own do not.
    pub share: Located<f64>,
}

/// When a run ends and what of it counts. What is under way at the end is not waited for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FabricStop {
    /// What is generated or delivered before this time does not count; default: `"1ms"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Located<Time>>,
    /// The end of a replication, warm-up included; default: `"5ms"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Located<Time>>,
    /// The number of independent replications; it is part of the result, unlike the number of threads. Default: 10.
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
pub struct FabricMeasure {
    /// Whether quantiles and distributions are measured; means and maxima alone are faster. Default: true.
    #[serde(default = "default_tails")]
    pub tails: bool,
    /// The length of the windows of `over_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Located<Time>>,
    /// Whether the packets outside and inside, the throughput and the latency are reported for each window, with intervals over the
    /// replications; needs `window`, and one load. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<Located<bool>>,
    /// Whether every event is checked: credits, buffers, cut-through timing, order. Default: false.
    #[serde(default)]
    pub verify: bool,
}

impl Default for FabricMeasure {
    fn default() -> Self {
        Self { tails: default_tails(), window: None, over_time: None, verify: false }
    }
}
