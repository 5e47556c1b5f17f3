//! The result of a run of the fabric: a tidy table of figures with their intervals, and where they come from.
//!
//! Times are in seconds, sizes in bytes; every figure carries its unit. There is no NaN: a figure that does not exist
//! says why. What is delivered in the measured time counts.

use serde::Serialize;

use weir_lab::provenance::{EngineUsed, Provenance};
use weir_lab::result::{Check, TheoryRow};
use weir_lab::stats::Bins;

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct FabricOutcome {
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// `B`.
    pub length_unit: &'static str,
    /// The run was broken off; the replications that were finished count.
    pub interrupted: bool,
    /// Always `None`: a fabric that is overloaded holds its packets back.
    pub unstable: Option<String>,
    /// Which engine ran each discipline.
    pub engines: Vec<EngineUsed>,
    /// The disciplines, by their canonical specs.
    pub disciplines: Vec<String>,
    /// The one from which paired differences are taken.
    pub reference: String,
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
    /// Histograms.
    pub distributions: Vec<FabricDistribution>,
    /// Closed forms beside the simulation.
    pub theory: Vec<TheoryRow>,
    /// Self-checks.
    pub checks: Vec<Check>,
}

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

/// One figure of a channel, or of all.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FabricFigure {
    /// The discipline.
    pub discipline: String,
    /// The load.
    pub load: f64,
    /// The channel; `all` for all of them.
    pub channel: String,
    /// `offered`, `throughput` (share of what links carry), `accepted` (throughput over offered), `latency` (s, from the
    /// interface), `total_latency` (s, from generation), `message_latency` (s, of messages).
    pub metric: &'static str,
    /// `mean`, `p50`, `p90`, `p99`, `p99.9`, `max`.
    pub statistic: &'static str,
    /// The mean over the replications.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The lower end of its 90 % interval.
    pub low_90: Option<f64>,
    /// The upper end.
    pub high_90: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Packets behind it.
    pub count: u64,
    /// Where the interval comes from.
    pub method: Option<String>,
    /// The unit.
    pub unit: &'static str,
    /// Why there is no value.
    pub reason: Option<String>,
}

/// A paired difference of two disciplines on the same traffic, replication by replication.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FabricDifference {
    /// The discipline.
    pub discipline: String,
    /// The reference.
    pub reference: String,
    /// The load.
    pub load: f64,
    /// The channel; `all` for all of them.
    pub channel: String,
    /// What is compared.
    pub metric: &'static str,
    /// `difference` (the discipline's value less the reference's) or `improvement` (what it is below the reference's,
    /// over the reference's).
    pub kind: &'static str,
    /// The statistic.
    pub statistic: &'static str,
    /// The value.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The lower end of its 90 % interval.
    pub low_90: Option<f64>,
    /// The upper end.
    pub high_90: Option<f64>,
    /// The unit.
    pub unit: &'static str,
    /// Why there is none.
    pub reason: Option<String>,
}

/// Where a channel saturates: less than 99 % of what it offers arrives, and the replications leave no doubt of it. The
/// upper end of the 90 % interval of `accepted` is below 0.99; one replication has none, and tells of no saturation.
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

/// The distribution of the latency of a channel: the buckets that hold something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FabricDistribution {
    /// The discipline.
    pub discipline: String,
    /// The load.
    pub load: f64,
    /// The channel; `all` for all of them.
    pub channel: String,
    /// `latency`, `total_latency` or `message_latency`.
    pub metric: &'static str,
    /// Its bins, of packets or messages.
    #[serde(flatten)]
    pub bins: Bins,
}
