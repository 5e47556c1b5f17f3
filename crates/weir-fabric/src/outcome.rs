//! The result of a run of the fabric: a tidy table of figures with their intervals, and where they come from.
//!
//! Times are in seconds, sizes in bytes; every figure carries its unit. There is no NaN: a figure that does not exist
//! says why. What is delivered in the measured time counts.

use serde::Serialize;

use weir_lab::provenance::Provenance;
use weir_lab::result::{Check, Course, Distribution, TheoryRow};
use weir_lab::stats::figure::{Figure, PairedDifference};
use weir_lab::stats::windows::OverTimeRow;

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct FabricOutcome {
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// `B`.
    pub length_unit: &'static str,
    /// How the run went; never `unstable`, for a fabric that is overloaded holds its packets back.
    #[serde(flatten)]
    pub course: Course,
    /// End-points, switches and links, one for each direction.
    pub size: FabricSize,
    /// The virtual channels, in the order of the scenario.
    pub channels: Vec<ChannelRow>,
    /// The loads, in the order of the scenario.
    pub loads: Vec<f64>,
    /// What was counted in all replications.
    pub totals: Vec<Totals>,
    /// The figures.
    pub estimates: Vec<FabricFigure>,
    /// Paired differences from the reference.
    pub differences: Vec<FabricDifference>,
    /// For each discipline and channel the least of the loads at which it saturates.
    pub saturation: Vec<Saturation>,
    /// Figures of successive windows, where `measure.over_time` asks for them: of all packets, then of each channel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<OverTimeRow>,
    /// Histograms.
    pub distributions: Vec<FabricDistribution>,
    /// Closed forms to compare the simulation with.
    pub theory: Vec<TheoryRow>,
    /// Self-checks.
    pub checks: Vec<Check>,
}

weir_lab::settles!(FabricOutcome);

/// How large the fabric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FabricSize {
    /// End-points.
    pub hosts: u32,
    /// Switches.
    pub switches: u32,
    /// Links, one for each direction.
    pub links: u32,
}

/// A virtual channel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelRow {
    /// Its name.
    pub name: String,
    /// Its part of the offered load.
    pub share: f64,
}

/// What was counted in all replications of a discipline at a load, warm-up included.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Totals {
    /// The discipline.
    pub discipline: String,
    /// The load.
    pub load: f64,
    /// Packets generated.
    pub generated: u64,
    /// Packets that arrived.
    pub delivered: u64,
    /// Packets over links, each counted.
    pub traversals: u64,
    /// Decisions of all schedulers.
    pub decisions: u64,
    /// Entries of tables, or flows, that they examined.
    pub examined: u64,
    /// The most that one of them examined.
    pub most_examined: u64,
    /// Reads of several entries at once, of all decisions.
    pub steps: u64,
    /// The most reads of one decision.
    pub most_steps: u64,
}

/// What figures are about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subject {
    /// The load.
    pub load: f64,
    /// The channel; `all` for all of them.
    pub channel: String,
}

/// A 90 % interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Narrower {
    /// Its lower end.
    pub low_90: Option<f64>,
    /// The upper end.
    pub high_90: Option<f64>,
}

/// One figure; of these metrics: `offered`, `throughput` (share of what links carry), `accepted` (throughput over offered),
/// `latency` (s, from the interface), `total_latency` (s, from generation), `message_latency` (s, of messages). The
/// statistics are `mean`, `p50`, `p90`, `p99`, `p99.9` and `max`; the value is the mean over the replications.
pub type FabricFigure = Figure<Subject, Narrower>;
/// A paired difference of two disciplines on the same traffic, compared by `difference` or by `improvement`: what the
/// discipline's value is below the reference's, over the reference's.
pub type FabricDifference = PairedDifference<Subject, Narrower>;
/// The distribution of the `latency`, the `total_latency` or the `message_latency` of packets or messages.
pub type FabricDistribution = Distribution<Subject>;

/// Where a channel saturates: less than 99 % of what it offers arrives, and the replications leave no doubt of it. The
/// upper end of the 90 % interval of `accepted` is below 0.99; one replication has none, and shows no saturation.
/// That a channel does not saturate is known only where the interval is narrow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Saturation {
    /// The discipline.
    pub discipline: String,
    /// The channel; `all` for all of them.
    pub channel: String,
    /// The least such load of the scenario's; `None` if none is known.
    pub load: Option<f64>,
}
