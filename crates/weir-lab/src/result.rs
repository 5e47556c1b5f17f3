//! Results: what those of every model have, and the whole of one whose figures have a kind and a name.
//!
//! A model that has no more to say than its figures makes an [`Outcome`] of them; what reads results shows it without
//! knowing the model. Work and memory: as of the rows.

use serde::Serialize;

use crate::provenance::{EngineUsed, Provenance};
use crate::runner::Model;
use crate::scenario::Read;
use crate::stats::Bins;
use crate::stats::figure::{Figure, PairedDifference, Subject};
use crate::stats::row::{self, DIFFERENCE, Rows};

/// Confidence of the intervals that a check holds against: a false alarm in a thousand.
pub const LEVEL: f64 = 0.999;

/// How a run went, and what was compared in it.
#[derive(Clone, Debug, Serialize)]
pub struct Course {
    /// The run was broken off; the replications that were finished count.
    pub interrupted: bool,
    /// Why there are no means.
    pub unstable: Option<String>,
    /// Which engine ran each discipline.
    pub engines: Vec<EngineUsed>,
    /// The disciplines, by their specs as written.
    pub disciplines: Vec<String>,
    /// The one from which paired differences are taken.
    pub reference: String,
}

impl Course {
    /// Of these disciplines, the reference by its place; `engine` ran that at a place, if one did.
    pub fn new(
        disciplines: &[String],
        reference: usize,
        interrupted: bool,
        engine: impl Fn(usize) -> Option<&'static str>,
    ) -> Self {
        let used = |(place, discipline): (usize, &String)| {
            Some(EngineUsed { discipline: discipline.clone(), engine: engine(place)? })
        };
        Self {
            interrupted,
            unstable: None,
            engines: disciplines.iter().enumerate().filter_map(used).collect(),
            disciplines: disciplines.to_vec(),
            reference: disciplines[reference].clone(),
        }
    }
}

/// The result of a run. Facts are what is the model's own; they must be a structure with keys that are not used here.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome<Facts = ()> {
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// How the run went.
    #[serde(flatten)]
    pub course: Course,
    /// What only this model tells.
    #[serde(flatten)]
    pub facts: Facts,
    /// The figures.
    pub estimates: Vec<Figure>,
    /// Paired differences from the reference.
    pub differences: Vec<PairedDifference>,
    /// Histograms.
    pub distributions: Vec<Distribution>,
    /// Closed forms beside the simulation.
    pub theory: Vec<TheoryRow>,
    /// Self-checks.
    pub checks: Vec<Check>,
}

impl<Facts> Outcome<Facts> {
    /// The result of a model that has one cell a discipline, in their order, and one engine; `rows` are those of the
    /// cells. What else there is to tell is for the caller to add.
    #[must_use]
    pub fn new<M: Read + Model>(provenance: Provenance, model: &M, rows: &[Rows], facts: Facts) -> Self {
        let compared = model.compared();
        let disciplines: Vec<String> = compared.disciplines.iter().map(|&name| name.to_owned()).collect();
        let interrupted = provenance.replications < model.replications();
        Self {
            provenance,
            course: Course::new(&disciplines, compared.reference, interrupted, |_| Some("plain")),
            facts,
            estimates: row::figures(&disciplines, rows),
            differences: row::differences(&disciplines, compared.reference, rows, |_| &[DIFFERENCE]),
            distributions: Vec::new(),
            theory: Vec::new(),
            checks: Vec::new(),
        }
    }
}

/// The distribution of a metric of a subject: the buckets that hold something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution<S = Subject> {
    /// The discipline.
    pub discipline: String,
    /// The subject.
    #[serde(flatten)]
    pub subject: S,
    /// What is measured.
    pub metric: &'static str,
    /// Its bins.
    #[serde(flatten)]
    pub bins: Bins,
}

/// A closed form beside the simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TheoryRow {
    /// The discipline; `None` for what all share.
    pub discipline: Option<String>,
    /// The class.
    pub class: String,
    /// The metric, as in the figures.
    pub metric: &'static str,
    /// The exact mean.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: &'static str,
    /// The formula, or why there is none.
    pub formula: String,
    /// Whether the simulation's 99.9 % interval covers it; `None` where nothing was simulated.
    pub agrees: Option<bool>,
}

/// A self-check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The discipline; `None` for what all share.
    pub discipline: Option<String>,
    /// What is checked.
    pub check: &'static str,
    /// What it should be.
    pub expected: f64,
    /// What it is.
    pub measured: f64,
    /// By how much they may differ.
    pub tolerance: f64,
    /// Whether they do not differ by more.
    pub ok: bool,
    /// What the two numbers are, with their units.
    pub note: String,
}

impl Check {
    /// A check that `measured` is within `tolerance` of `expected`.
    #[must_use]
    pub fn new(
        discipline: Option<&str>,
        check: &'static str,
        expected: f64,
        measured: f64,
        tolerance: f64,
        note: impl Into<String>,
    ) -> Self {
        let ok = (expected - measured).abs() <= tolerance;
        let discipline = discipline.map(str::to_owned);
        Self { discipline, check, expected, measured, tolerance, ok, note: note.into() }
    }
}
