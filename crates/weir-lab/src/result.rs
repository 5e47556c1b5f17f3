//! Results: what those of every model have, and the whole of one whose figures have a kind and a name.
//!
//! A model that has no more to say than its figures makes an [`Outcome`] of them; what reads results shows it without
//! knowing the model. Work and memory: as of the rows.

mod settling;

use serde::Serialize;

pub use self::settling::Settling;
use crate::judgement::{Judgement, plus_minus};
use crate::lengthened::Lengthened;
use crate::provenance::{EngineUsed, Provenance};
use crate::runner::Model;
use crate::scenario::Read;
use crate::stats::figure::{ALL, Figure, PairedDifference, Subject};
use crate::stats::row::{self, DIFFERENCE, Rows};
use crate::stats::{Bins, Settled};

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
    /// How much longer the run must be, where figures are not settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settling: Option<Settling>,
    /// What was done to settle them, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lengthened: Option<Lengthened>,
    /// Whether anything is random; in JSON only where nothing is: then one replication tells all.
    #[serde(skip_serializing_if = "is_true")]
    pub random: bool,
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
            settling: None,
            lengthened: None,
            random: true,
        }
    }
}

impl Course {
    /// The same, judged by its figures: how much longer the run must be, and why.
    #[must_use]
    pub fn judged<X>(self, figures: &[Figure<Subject, X>], reason: Option<String>) -> Self {
        self.settling(
            figures,
            reason,
            |subject| if subject.name == ALL { String::new() } else { subject.name.clone() },
        )
    }

    /// As [`Self::judged`], of figures whose subjects `words` names.
    #[must_use]
    pub fn settling<S, X>(
        self,
        figures: &[Figure<S, X>],
        reason: Option<String>,
        words: impl Fn(&S) -> String,
    ) -> Self {
        Self { settling: Settling::of(figures, words).map(|found| found.because(reason)), ..self }
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
    /// Closed forms to compare the simulation with.
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
        let estimates = row::figures(&disciplines, rows);
        let course = Course::new(&disciplines, compared.reference, interrupted, |_| Some("plain"));
        Self {
            provenance,
            course: course.judged(&estimates, None),
            facts,
            estimates,
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

/// A closed form to compare the simulation with.
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
    /// Whether the simulation's 99.9 % interval covers it; `None` where nothing was simulated, or it was not judged.
    pub agrees: Option<bool>,
    /// Why the simulation cannot be held against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<String>,
    /// Whether what was simulated is settled; in JSON only where it is not.
    #[serde(skip_serializing_if = "is_true")]
    pub settled: bool,
}

fn is_true(value: &bool) -> bool {
    *value
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
    /// Whether they do not differ by more; `None` where that was not judged.
    pub ok: Option<bool>,
    /// Why it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<String>,
    /// The confidence of the interval that the tolerance is, where it is one: chance fails 1 right figure in
    /// 1 / (1 - level). `None` where they can differ by a defect alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
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
        let ok = Some((expected - measured).abs() <= tolerance);
        let discipline = discipline.map(str::to_owned);
        let note = note.into();
        Self { discipline, check, expected, measured, tolerance, ok, unjudged: None, level: None, note }
    }

    /// The same, whose tolerance is half an interval at [`LEVEL`], or rests on one.
    #[must_use]
    pub fn by_interval(self) -> Self {
        Self { level: Some(LEVEL), ..self }
    }

    /// The same, as it was judged.
    #[must_use]
    pub fn judged(self, judgement: Judgement) -> Self {
        Self { ok: judgement.holds, unjudged: judgement.unjudged, ..self }
    }

    /// The same, judged only where the figure that it rests on is settled.
    #[must_use]
    pub fn resting_on(self, figure: Settled) -> Self {
        if figure.is_settled() { self } else { self.judged(Judgement::unsettled(figure)) }
    }

    /// The same, judged only where it lets at most this share of `size` pass: what lets more pass says nothing.
    #[must_use]
    pub fn telling(self, share: f64, size: f64) -> Self {
        if self.tolerance <= share * size.abs() {
            return self;
        }
        let reason = format!("tolerance {}", plus_minus(self.tolerance, size.abs()));
        self.judged(Judgement::none(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tolerance: f64) -> Check {
        Check::new(Some("fifo"), "Little's law", 10.0, 10.4, tolerance, "so many present").by_interval()
    }

    #[test]
    fn a2_a_check_that_lets_too_much_pass_is_there_and_not_judged() {
        let judged = |tolerance| check(tolerance).telling(0.05, 10.0);
        assert_eq!((judged(0.5).ok, judged(0.3).ok), (Some(true), Some(false)));
        let open = judged(0.8);
        assert_eq!((open.ok, open.unjudged.as_deref()), (None, Some("tolerance ±8.0 %")));
        assert_eq!(check(0.8).ok, Some(true));
    }

    #[test]
    fn a_check_says_that_it_was_not_judged_only_where_it_was_not() {
        let json = |check: &Check| serde_json::to_string(check).expect("JSON");
        let usual = json(&Check::new(None, "data", 1.0, 1.0, 0.0, ""));
        assert!(usual.ends_with(r#""tolerance":0.0,"ok":true,"note":""}"#), "{usual}");
        let open = json(&check(0.8).telling(0.05, 10.0));
        let expected = r#""ok":null,"unjudged":"tolerance ±8.0 %","level":0.999,"note":"so many present"}"#;
        assert!(open.ends_with(expected), "{open}");
    }
}
