//! Where the figures of a result come from: the scenario, and the engines.

use serde::Serialize;

/// What the result repeats of the scenario's document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Where the scenario was read.
    pub file: String,
    /// Names the scenario and its data files.
    pub fingerprint: String,
    /// The scenario in normalised form.
    pub scenario: String,
}

/// Which engine ran a discipline.
#[derive(Clone, Debug, Serialize)]
pub struct EngineUsed {
    /// The discipline.
    pub discipline: String,
    /// `plain`, `accelerated`, `whole` or `fluid`.
    pub engine: &'static str,
}
