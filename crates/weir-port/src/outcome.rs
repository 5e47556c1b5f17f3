//! The result of a run: a tidy table of figures with their intervals, and where they come from.
//!
//! Times are in the scenario's unit of time, lengths in its unit of length; every figure carries its unit.
//! There is no NaN: a figure that does not exist says why.

use serde::Serialize;
use weir_lab::lengthened::{Lengthened, Settles};
use weir_lab::provenance::{EngineUsed, Provenance};
use weir_lab::result::{self, Check, Settling, TheoryRow};
use weir_lab::stats::Measure;
use weir_lab::stats::figure::{self, ALL};
use weir_lab::stats::windows::OverTimeRow;

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
    /// Simulated time of all replications together, each from 0 to the end of its last service, for the first discipline.
    pub duration: f64,
    /// The run was broken off; what was finished counts.
    pub interrupted: bool,
    /// Why there are no means.
    pub unstable: Option<String>,
    /// What was left out at the start.
    pub warm_up: WarmUpUsed,
    /// What is to be known of the load before figures are read, where it follows a curve.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The requested precision, and whether it was reached.
    pub precision: Option<Precision>,
    /// Which engine ran each discipline.
    pub engines: Vec<EngineUsed>,
    /// The disciplines, by their specs as written.
    pub disciplines: Vec<String>,
    /// The one from which paired differences are taken.
    pub reference: String,
    /// How much longer the run must be, where figures are not settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settling: Option<Settling>,
    /// What was done to settle them, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lengthened: Option<Lengthened>,
    /// The classes of messages, `all` first.
    pub classes: Vec<ClassRow>,
    /// Figures of successive windows, where `measure.over_time` asks for them: of all messages, then of each class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<OverTimeRow>,
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

/// What figures are about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Subject {
    /// The class.
    pub class: String,
    /// The application, where the figure is one application's.
    pub flow: Option<u32>,
}

/// What differences and distributions are about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OfClass {
    /// The class.
    pub class: String,
}

/// The discipline's mean over the reference's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Its value.
    pub ratio: Option<f64>,
    /// The lower end of its 95 % interval.
    pub ratio_low: Option<f64>,
    /// The upper end.
    pub ratio_high: Option<f64>,
    /// Its standard error.
    pub ratio_standard_error: Option<f64>,
}

/// One figure; the statistics are `mean`, `p50`, `p90`, `p99`, `p99.9`, `max`, `share` and `min`. Its interval comes from
/// batch means, replications, sections.
pub type Figure = figure::Figure<Subject>;
/// A paired difference of the means of two disciplines on the same arrivals and services.
pub type Difference = figure::PairedDifference<OfClass, Ratio>;
/// The distribution of a metric of the messages of a class.
pub type Distribution = result::Distribution<OfClass>;

impl Settles for Outcome {
    fn settling(&self) -> Option<&Settling> {
        self.settling.as_ref()
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted
    }

    fn is_empty(&self) -> bool {
        self.messages == 0
    }

    fn say(&mut self, lengthened: Lengthened) {
        self.lengthened = Some(lengthened);
    }
}

impl Subject {
    /// All applications together.
    #[must_use]
    pub fn new(class: &str) -> Self {
        Self { class: class.to_owned(), flow: None }
    }

    /// An application, in all classes.
    #[must_use]
    pub fn flow(flow: usize) -> Self {
        Self { flow: u32::try_from(flow).ok(), ..Self::new(ALL) }
    }
}

impl Ratio {
    /// As it was measured.
    #[must_use]
    pub fn new(measure: &Measure) -> Self {
        let estimate = measure.as_estimate();
        Self {
            ratio: measure.value(),
            ratio_low: estimate.map(|estimate| estimate.low()),
            ratio_high: estimate.map(|estimate| estimate.high()),
            ratio_standard_error: estimate.map(|estimate| estimate.standard_error()),
        }
    }
}
