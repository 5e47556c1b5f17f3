//! Parts of a result that every model has: self-checks, and closed forms beside the simulation.

use serde::Serialize;

/// Confidence of the intervals that a check holds against: a false alarm in a thousand.
pub const LEVEL: f64 = 0.999;

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
