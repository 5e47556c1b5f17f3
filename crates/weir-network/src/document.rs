//! The scenario file of a network as it is written: one structure a table, one field a key.
//!
//! As in the document of the port, the structures are the only definition of the format: parser, normalised
//! form and JSON Schema are derived from them.

pub(crate) mod phase;
pub(crate) mod script;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_document::header::{default_seed, default_tails};
use weir_document::quantity::{Address, Length, Overhead, Speed, Time};
use weir_document::{Brief, Located};
use weir_lab::scenario::need::NeedTable;
use weir_workload::curve::CurveTable;
use weir_workload::document::{ArrivalProcess, default_header};
use weir_workload::{Separator, TimeUnit};

pub(crate) use phase::Tick;
pub(crate) use script::{Random, ScriptFile};

/// A scenario of a network: hosts that send to each other through routers, and at each link a queue that a
/// discipline orders.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NetworkScenario", title = "Scenario of a network")]
pub struct NetworkDocument {
    /// The version of this format: 1.
    pub weir: Located<u32>,
    /// The simulated place in which the disciplines act.
    pub model: NetworkModel,
    /// What the report is headed with.
    #[serde(default)]
    pub title: String,
    /// The seed of all random streams; the same seed gives the same numbers.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The disciplines to compare, as spec strings: `fifo`, `drr:quantum=1514B`. Each orders in turn the queue of
    /// every link that has none of its own.
    pub disciplines: Located<Vec<Located<String>>>,
    /// The discipline of the list from which the others' paired differences are taken; default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Located<String>>,
    /// Who is there.
    pub network: Located<Network>,
    /// What joins them.
    pub link: Located<Vec<Located<Link>>>,
    /// Who sends to whom, and what.
    pub flow: Located<Vec<Located<Flow>>>,
    /// When a run ends and what of it counts.
    pub stop: Located<NetworkStop>,
    /// What is measured.
    #[serde(default)]
    pub measure: NetworkMeasure,
    /// What must hold; the verdict answers it. Default: nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub need: Vec<Located<NeedTable>>,
}

weir_lab::document!(NetworkDocument);

/// The simulated place of a scenario of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NetworkModel {
    /// Hosts and routers joined by links.
    Network,
}

/// Who is there: hosts, which send and receive, and routers, which pass on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The names of the hosts.
    pub hosts: Located<Vec<Located<String>>>,
    /// The names of the routers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routers: Option<Located<Vec<Located<String>>>>,
    /// The classes of the flows in order, which is their rank where a discipline knows one; default: in order of
    /// appearance in the flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Located<Vec<Located<String>>>>,
    /// The time that a packet takes in a router, before its next link: a time, or a table with jitter. Packets
    /// that came in by one link keep their order. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forwarding: Option<Located<Brief<Time, Delay>>>,
    /// The time that a packet takes in a host, once where it is sent and once where it is received; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_processing: Option<Located<Brief<Time, Delay>>>,
    /// Addresses of hosts, over which disciplines take their hashes: those of all their flows that have none of
    /// their own. Default: every flow has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addresses: Option<BTreeMap<String, Located<Address>>>,
}

/// A span of time with its jitter, of one kind at most.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delay {
    /// The part that is always there; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant: Option<Located<Time>>,
    /// The mean of an exponential time added to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponential: Option<Located<Time>>,
    /// The longest of a time added to it that is uniform from zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uniform: Option<Located<Time>>,
}

/// A line between two nodes, with the queue before it: `between` two nodes in both directions, or `from` one
/// `to` another.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name; default: `FROM-TO`. The other direction of `between` is called `NAME reverse`; by default,
    /// `TO-FROM`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Located<String>>,
    /// Two nodes, which it joins in both directions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<Located<(Located<String>, Located<String>)>>,
    /// The node whose interface it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Located<String>>,
    /// The node it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Located<String>>,
    /// The rate of the line.
    pub rate: Located<Speed>,
    /// The time from the end of a transmission to the arrival; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagation: Option<Located<Time>>,
    /// What every transmission takes besides the bits of the packet: a time, or bytes of framing. Or a table of
    /// times by discipline, as names (`sfq`), whole specs, or `default` for those not named. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Located<Brief<Overhead, ByDiscipline>>>,
    /// Added to every transmission, and holding the line meanwhile: 0.25 ms on average next to packets of 0.75 ms leave three
    /// quarters of the rate. The longest of a time that is uniform from zero, or a table of one law. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Located<Brief<Time, Jitter>>>,
    /// How many packets the interface takes from the queue ahead, the one in transmission included; default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<Located<u64>>,
    /// The largest packet, without framing; at least 68B. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Located<Length>>,
    /// The discipline of this queue, whichever are compared; default: those that are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discipline: Option<Located<String>>,
}

/// Times by discipline.
pub(crate) type ByDiscipline = BTreeMap<String, Located<Time>>;

/// A random span of time.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Jitter {
    /// Uniform from zero to this.
    Uniform(Located<Time>),
    /// Exponential, of this mean.
    Exponential(Located<Time>),
}

/// Packets of one host to another, with exactly one of `gap`, `rate`, `tg`, `trace` and `tcp`, or with `curve` alone.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name; default: `FROM to TO`. No two flows have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Located<String>>,
    /// The host that sends.
    pub from: Located<String>,
    /// The host that receives.
    pub to: Located<String>,
    /// The nodes between them, in order; default: a path of the fewest links, at a tie by the order of the links
    /// in the file. Acknowledgements of `tcp` take the same nodes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Located<Vec<Located<String>>>>,
    /// Its class; default: `default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Located<String>>,
    /// The code point of differentiated services of its packets and of their acknowledgements, which `cake` looks at:
    /// 46 for EF, 8 for CS1; default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Located<u64>>,
    /// When it begins; default: `"0s"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Located<Time>>,
    /// When it ends: nothing is sent at or after this time. Default: the duration of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Located<Time>>,
    /// Departures wait for the next multiple of this time, or for ticks with a phase; default: they do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Located<Brief<Time, Tick>>>,
    /// That many such flows, called `NAME 1`, `NAME 2` and so on; default: one, called `NAME`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<Located<u64>>,
    /// Each of them starts that much later than the one before; default: all start at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stagger: Option<Located<Time>>,
    /// Where its packets come from, as hashes see it; with `count`, the first of consecutive ones. Default: that
    /// of the host, or one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_address: Option<Located<Address>>,
    /// Where its packets go to, as hashes see it; with `count`, all the same. Default: that of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_address: Option<Located<Address>>,
    /// The time from a departure to the next: a time, or a table of a law. The first departs one gap after `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Located<Brief<Time, Law<Time>>>>,
    /// The mean rate of a process of packets, Poisson where `arrivals` names no other, their sizes as `size` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Located<Speed>>,
    /// The process of packets of that mean rate, which `start` meets at any instant of it; default: `poisson`. With `rate`, or a
    /// `curve` of `rates`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Located<ArrivalProcess>>,
    /// How the rate follows the time from `start` on, such as `{ factors = [["0s", 0.5], ["10s", 2.0]], period = "20s" }`; `gap` or
    /// `rate` then give the mean over its period, or up to its last point where it does not repeat. With `rates`, of packets in a
    /// second, neither is needed. Default: the rate stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<Located<CurveTable>>,
    /// The size of a packet, headers included: a size, or a table of a law. With `gap`, `rate` or `curve`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Located<Brief<Length, Law<Length>>>>,
    /// How many packets are sent at most, with `gap`, `rate` or `curve`; default: as many as fit before `stop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Located<u64>>,
    /// Packets at the times of a TG script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tg: Option<Located<ScriptFile>>,
    /// Packets at the times of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Located<PacketFile>>,
    /// A transfer that adapts to the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Located<Tcp>>,
}

weir_workload::textbook_laws! {
    /// How values are drawn.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[schemars(rename = "{Q}Law")]
    pub enum Law<Q> of Q {
        before {
            /// Always the same.
            Constant(Located<Q>),
            /// Uniform from the first to the second.
            Uniform(Located<Q>, Located<Q>),
            /// Exponential, of this mean.
            Exponential(Located<Q>),
            /// Exponential of the first as its mean, and drawn again until it is from the second to the third.
            BoundedExponential(Located<Q>, Located<Q>, Located<Q>),
            /// Two states in turn, the first first: the mean number of draws in a state, and the law there.
            Markov2((Located<f64>, Located<StateLaw<Q>>), (Located<f64>, Located<StateLaw<Q>>)),
        }
        after {
            /// Values with their probabilities, such as `[["64B", 0.6], ["1500B", 0.4]]`.
            Mixture(Vec<(Located<Q>, Located<f64>)>),
        }
    }
}

/// How values are drawn in one state.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "{Q}StateLaw")]
pub enum StateLaw<Q> {
    /// Always the same.
    Constant(Located<Q>),
    /// Uniform from the first to the second.
    Uniform(Located<Q>, Located<Q>),
    /// Exponential, of this mean.
    Exponential(Located<Q>),
    /// Exponential of the first as its mean, and drawn again until it is from the second to the third.
    BoundedExponential(Located<Q>, Located<Q>, Located<Q>),
}

/// A CSV file with one row a packet, in order of departure. The flow begins with the first row of the file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketFile {
    /// The file, relative to the scenario; may be compressed by gzip. Lines that begin with `#` are comments.
    pub file: Located<PathBuf>,
    /// The column of the departure time; default: `time`. Without a header, columns are named "1", "2", ....
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// How the time is written.
    pub time_unit: Located<TimeUnit>,
    /// The probability with which each row is kept, the same rows for every seed; default: 1, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thin: Option<Located<f64>>,
    /// The column of the size in bytes; default: `size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// Only the rows that have these values in these columns, such as `{ dir = "f" }`; default: all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Located<BTreeMap<String, String>>>,
    /// Whether it begins again when it has ended, one mean gap of the whole file later; default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Located<bool>>,
    /// Whether the first row names the columns.
    #[serde(default = "default_header")]
    pub header: bool,
    /// What stands between two fields.
    #[serde(default)]
    pub separator: Separator,
}

/// A transfer that adapts to the network, as TCP does: its window grows with acknowledgements and shrinks with
/// losses.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// How its window grows and shrinks; default: `reno`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion: Option<CongestionControl>,
    /// The size of a full packet, headers included; default: `"1500B"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet: Option<Located<Length>>,
    /// How much is sent, in packets; default: as much as gets through before `stop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Located<u64>>,
    /// Whether its packets can carry congestion marks; default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// The largest window, in packets; default: 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Located<u64>>,
}

/// How a window grows and shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CongestionControl {
    /// By one packet each round trip, and to a half at a loss (RFC 5681, RFC 6675).
    Reno,
    /// By a cubic function of the time since the last loss (RFC 9438).
    Cubic,
}

/// When a run ends and what of it counts. Packets on their way at the end still arrive.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkStop {
    /// Nothing is sent at or after this time.
    pub duration: Located<Time>,
    /// Packets sent before this time do not count; default: all do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Located<Time>>,
    /// The number of independent replications; it is part of the result, unlike the number of threads. Default: 8; 1 where
    /// nothing is random, whatever is written.
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
pub struct NetworkMeasure {
    /// Times that divide the run into intervals of sending time, such as `["0s", "30s", "60s"]`. Figures are given
    /// for each interval besides the whole run. Default: for the whole run alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Located<Vec<Located<Time>>>>,
    /// The step of time series; default: there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Located<Time>>,
    /// The length of the windows of `over_time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Located<Time>>,
    /// Whether the queue and the utilisation of each link, the packets sent, their delays and their loss are reported for each window,
    /// with intervals over the replications; needs `window`. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<Located<bool>>,
    /// Whether quantiles and distributions are measured; means alone are faster. Default: true.
    #[serde(default = "default_tails")]
    pub tails: bool,
    /// Whether figures are given for each flow, and not only for all flows and by class; default: for up to 1,024
    /// flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Located<bool>>,
}

impl Default for NetworkMeasure {
    fn default() -> Self {
        Self {
            intervals: None,
            series: None,
            window: None,
            over_time: None,
            tails: default_tails(),
            flows: None,
        }
    }
}
