//! Where the figures of a result come from: the scenario, and the engines.

use serde::Serialize;

use crate::scenario::need::Need;

/// What the result repeats of the scenario's document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Where the scenario was read.
    pub file: String,
    /// Names the scenario and its data files.
    pub fingerprint: String,
    /// The disciplines compared, in canonical form.
    pub canonical: Vec<String>,
    /// The scenario in normalised form.
    pub scenario: String,
    /// What it says must hold.
    pub needs: Vec<Need>,
}

/// Which engine ran a discipline.
#[derive(Clone, Debug, Serialize)]
pub struct EngineUsed {
    /// The discipline.
    pub discipline: String,
    /// `plain`, `accelerated`, `whole` or `fluid`.
    pub engine: &'static str,
}

/// What the result of every model begins with.
#[derive(Clone, Debug, Serialize)]
pub struct Provenance {
    /// The version of weir.
    pub weir: &'static str,
    /// The name of the model.
    pub model: &'static str,
    /// The title of the scenario.
    pub title: String,
    /// Where the scenario was read.
    pub file: String,
    /// Names the scenario and its data files.
    pub fingerprint: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// The canonical forms of the disciplines, in their order: one text for all ways to write the same one.
    pub canonical: Vec<String>,
    /// The scenario in normalised form.
    pub scenario: String,
    /// Independent replications behind the figures; those that were finished.
    pub replications: u32,
    /// The unit of times.
    pub time_unit: &'static str,
    /// What the scenario says must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
}

impl Provenance {
    /// That of a scenario of `model` with this title and seed, whose times are in seconds.
    #[must_use]
    pub fn new(model: &'static str, title: &str, seed: u64, frame: &Frame, replications: usize) -> Self {
        Self {
            weir: env!("CARGO_PKG_VERSION"),
            model,
            title: title.to_owned(),
            file: frame.file.clone(),
            fingerprint: frame.fingerprint.clone(),
            seed,
            canonical: frame.canonical.clone(),
            scenario: frame.scenario.clone(),
            replications: replications as u32,
            time_unit: "s",
            needs: frame.needs.clone(),
        }
    }
}
