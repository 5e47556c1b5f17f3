//! The result of a run: a tidy table of figures with their intervals, and where they come from.
//!
//! Times are in the scenario's unit of time, lengths in its unit of length; every figure carries its unit.
//! There is no NaN: a figure that does not exist says why.

use serde::Serialize;
use weir_lab::provenance::{EngineUsed, Provenance};
use weir_lab::result::{Check, TheoryRow};
use weir_lab::stats::{Bins, Measure};

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// `pkt`, `B` or `tok`.
    pub length_unit: &'static str,
    /// The offered load; `None` in a closed loop.
    pub load: Option<f64>,
    /// Packets accepted, or messages served whole, by each discipline in all replications.
    pub ticks: u64,
    /// Messages that arrived in all replications, for the first discipline.
    pub messages: u64,
    /// Of them, those not served when the run ended: not counted in any latency.
    pub unfinished: u64,
    /// Simulated time of all replications together.
    pub duration: f64,
    /// The run was broken off; what was finished counts.
    pub interrupted: bool,
    /// Why there are no means.
    pub unstable: Option<String>,
    /// What was left out at the start.
    pub warm_up: WarmUpUsed,
    /// The requested precision, and whether it was reached.
    pub precision: Option<Precision>,
    /// Which engine ran each discipline.
    pub engines: Vec<EngineUsed>,
    /// The disciplines, by their canonical specs.
    pub disciplines: Vec<String>,
    /// The one from which paired differences are taken.
    pub reference: String,
    /// The classes of messages, `all` first.
    pub classes: Vec<ClassRow>,
    /// The figures.
    pub estimates: Vec<Figure>,
    /// Paired differences from the reference.
    pub differences: Vec<Difference>,
    /// Closed forms.
    pub theory: Vec<TheoryRow>,
    /// Self-checks.
    pub checks: Vec<Check>,
    /// Histograms.
    pub distributions: Vec<Distribution>,
}

/// What was left out at the start.
#[derive(Clone, Debug, Serialize)]
pub struct WarmUpUsed {
    /// The rule, in words.
    pub rule: String,
    /// Ticks of each replication that are not counted.
    pub ticks: u64,
}

/// A requested precision.
#[derive(Clone, Debug, Serialize)]
pub struct Precision {
    /// Half an interval over the mean, at most.
    pub target: f64,
    /// Whether every mean reached it.
    pub met: bool,
    /// The means that did not, by discipline and class.
    pub unmet: Vec<String>,
}

/// A class of messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassRow {
    /// Its name: `all`, `20pkt`, `1..5pkt`, or that of the trace.
    pub name: String,
    /// The smallest length, where the class is one of lengths.
    pub low: Option<u64>,
    /// The largest length.
    pub high: Option<u64>,
    /// Messages counted in it, of the first discipline.
    pub count: u64,
    /// The mean length of these.
    pub mean_length: Option<f64>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The discipline; `None` for what all share.
    pub discipline: Option<String>,
    /// The class.
    pub class: String,
    /// The application, where the figure is one application's.
    pub flow: Option<u32>,
    /// What is measured.
    pub metric: &'static str,
    /// `mean`, `p50`, `p90`, `p99`, `p99.9`, `max`, `share`, `min`.
    pub statistic: &'static str,
    /// The value.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Observations behind it.
    pub count: u64,
    /// Where the interval comes from: batch means, replications, sections.
    pub method: Option<String>,
    /// The unit.
    pub unit: &'static str,
    /// Why there is no value.
    pub reason: Option<String>,
}

impl Figure {
    /// A figure of `measure`.
    pub fn new(
        discipline: Option<&str>,
        class: &str,
        metric: &'static str,
        statistic: &'static str,
        unit: &'static str,
        measure: &Measure,
    ) -> Self {
        let estimate = measure.as_estimate();
        let (count, reason) = match measure {
            Measure::Estimate(estimate) => (estimate.count(), None),
            Measure::Maximum { count, .. } | Measure::Observed { count, .. } => (*count, None),
            Measure::NotAvailable { reason } => (0, Some(reason.to_string())),
        };
        Self {
            discipline: discipline.map(str::to_owned),
            class: class.to_owned(),
            flow: None,
            metric,
            statistic,
            value: measure.value(),
            low: estimate.map(|e| e.low()),
            high: estimate.map(|e| e.high()),
            standard_error: estimate.map(|e| e.standard_error()),
            count,
            method: estimate.map(|e| e.method().to_string()),
            unit,
            reason,
        }
    }

    /// The same figure, of one application.
    #[must_use]
    pub fn of_flow(mut self, flow: usize) -> Self {
        self.flow = u32::try_from(flow).ok();
        self
    }
}

/// A paired difference of two disciplines on the same arrivals and services.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The discipline.
    pub discipline: String,
    /// The reference.
    pub reference: String,
    /// The class.
    pub class: String,
    /// What is compared.
    pub metric: &'static str,
    /// Always `mean`.
    pub statistic: &'static str,
    /// The discipline's mean less the reference's.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The discipline's mean over the reference's.
    pub ratio: Option<f64>,
    /// The lower end of its 95 % interval.
    pub ratio_low: Option<f64>,
    /// The upper end.
    pub ratio_high: Option<f64>,
    /// The standard error of the ratio.
    pub ratio_standard_error: Option<f64>,
    /// The unit of the difference.
    pub unit: &'static str,
    /// Why there is none.
    pub reason: Option<String>,
}

/// The distribution of a metric in a class: the buckets of its histogram that hold something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// The discipline.
    pub discipline: String,
    /// The class.
    pub class: String,
    /// The metric.
    pub metric: &'static str,
    /// Its bins, of messages.
    #[serde(flatten)]
    pub bins: Bins,
}
