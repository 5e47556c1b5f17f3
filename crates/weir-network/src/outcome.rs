//! The result of a run of the network: a tidy table of figures with their intervals, and where they come from.
//!
//! Times are in seconds, rates in bits per second, sizes in bytes; every figure carries its unit. There is no
//! NaN: a figure that does not exist says why. Packets belong to the interval in which they were sent.

use serde::Serialize;
use weir_lab::provenance::Provenance;
use weir_lab::result::{Check, Course, Distribution, TheoryRow};
use weir_lab::stats::DelayOverTime;
use weir_lab::stats::figure::{ALL, Figure, PairedDifference};
use weir_lab::stats::windows::OverTimeRow;

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkOutcome {
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// `B`.
    pub length_unit: &'static str,
    /// How the run went; never `unstable`, for a network that is overloaded drops.
    #[serde(flatten)]
    pub course: Course,
    /// What was counted in all replications.
    pub totals: Vec<Totals>,
    /// Intervals of sending time; the first is the whole run.
    pub intervals: Vec<IntervalRow>,
    /// The classes of the flows, by name.
    pub classes: Vec<String>,
    /// The flows, in the order of the scenario.
    pub flows: Vec<FlowRow>,
    /// The links, in the order of the scenario.
    pub links: Vec<LinkRow>,
    /// The figures.
    pub estimates: Vec<NetworkFigure>,
    /// Paired differences from the reference.
    pub differences: Vec<NetworkDifference>,
    /// Time series, means over the replications.
    pub series: Vec<Series>,
    /// Figures of successive windows, where `measure.over_time` asks for them: of each link, then of all packets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<OverTimeRow>,
    /// Delays over time in the first replication, by the time of sending.
    pub delay_over_time: Vec<DelayOverTime>,
    /// Histograms.
    pub distributions: Vec<NetworkDistribution>,
    /// Closed forms to compare the simulation with.
    pub theory: Vec<TheoryRow>,
    /// Self-checks.
    pub checks: Vec<Check>,
}

weir_lab::settles!(NetworkOutcome);

/// What was counted in all replications.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// The discipline.
    pub discipline: String,
    /// Packets sent.
    pub offered: u64,
    /// Packets that arrived.
    pub delivered: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Packets transmitted, counted at each link.
    pub hops: u64,
}

/// An interval of sending time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IntervalRow {
    /// `all` for the whole run, else `30s-60s`.
    pub name: String,
    /// Its begin, in seconds.
    pub from: f64,
    /// Its end.
    pub to: f64,
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowRow {
    /// Its name.
    pub name: String,
    /// Its class.
    pub class: String,
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// The names of the links it goes through.
    pub path: Vec<String>,
    /// `drawn`, `script`, `replay`, `reno` or `cubic`.
    pub traffic: &'static str,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkRow {
    /// Its name.
    pub name: String,
    /// The node whose interface it is.
    pub from: String,
    /// The node it leads to.
    pub to: String,
    /// Bits per second.
    pub rate: f64,
    /// Whether the compared disciplines order its queue, or one of its own.
    pub compared: bool,
}

/// What a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All flows.
    All,
    /// The flows of a class.
    Class,
    /// One flow.
    Flow,
    /// One link.
    Link,
    /// One flow at one link: `flow @ link`.
    Hop,
}

/// Flows that are measured together: all, a class, or one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flows {
    /// Which they are.
    pub scope: Scope,
    /// The flow or class; `all` for all flows.
    pub name: String,
}

/// What a figure is about, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Subject {
    /// What it is about.
    pub scope: Scope,
    /// The flow, class or link; `all` for all flows.
    pub name: String,
    /// The interval of sending time.
    pub interval: String,
}

/// One figure; of these metrics: `offer`, `throughput` (bit/s), `delay` (s), `delay_variance` (s^2), `loss` (share),
/// `reordered` (share), `jain` (share), `utilisation` (share), `queue` (pkt), `wait` (s), `drops` (pkt), `share` (share).
/// The statistics are `mean`, `p50`, `p90`, `p99`, `p99.9`, `max` and `min`.
pub type NetworkFigure = Figure<Subject>;
/// A paired difference of two disciplines on the same departures.
pub type NetworkDifference = PairedDifference<Subject>;
/// The distribution of the `delay` of packets.
pub type NetworkDistribution = Distribution<Flows>;

/// A time series of one flow: one value for each step of sending time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The discipline.
    pub discipline: String,
    /// The flow.
    pub flow: String,
    /// `offer`, `throughput` (bit/s) or `delay` (s).
    pub metric: &'static str,
    /// The unit.
    pub unit: &'static str,
    /// The step, in seconds.
    pub step: f64,
    /// The values from time zero; `None` where nothing was sent or nothing arrived.
    pub values: Vec<Option<f64>>,
}

impl Subject {
    /// This, in the whole run.
    #[must_use]
    pub fn new(scope: Scope, name: &str) -> Self {
        Self { scope, name: name.to_owned(), interval: ALL.to_owned() }
    }

    /// The same in the interval of this name.
    #[must_use]
    pub fn during(self, interval: String) -> Self {
        Self { interval, ..self }
    }
}
