//! Scenarios: one TOML file that says who arrives when and how large, in which model, under which
//! disciplines, and for how long.
//!
//! A scenario is checked once, here, and completely: unknown keys are refused with a suggestion, every
//! quantity carries its unit, and every refusal names the file, the line, the column, the key, the value,
//! the bound and the remedy ([`ScenarioError`]). The data files it names are read at the same time, so that
//! nothing is found wrong after a run has begun. A load of 1 or more is no error of form: the scenario is
//! accepted and carries a [statement](PortScenario::statement) in place of means.
//!
//! ```toml
//! weir = 1
//! model = "port"
//! disciplines = ["fifo", "rr", "sf", "alpha:10"]
//! reference = "sf"
//!
//! [workload]
//! load = 0.95
//! lengths = "report"
//!
//! [stop]
//! packets = 100_000_000
//! ```

mod check;
mod document;
mod error;
mod fingerprint;
mod input;
mod lengths;
mod place;
mod port;
mod quantity;
mod read;
mod replace;
mod sources;

use std::path::Path;

pub use document::Document;
pub use error::{Refusal, ScenarioError};
pub(crate) use place::nearest;
pub use port::{
    Clock, Closed, Input, LatencyEnd, LengthUnit, Limit, Measure, NamedDiscipline, Open, PacketTime,
    PortScenario, Replay, Service, Stop, Think, WarmUp, WholeTime,
};
pub use quantity::NANOS_PER_UNIT;

use check::Checker;
use fingerprint::Fingerprint;
use place::Source;

/// A scenario, read and checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file, or the name under which the text was given.
    pub name: String,
    /// What the engines run.
    pub port: PortScenario,
    /// The scenario in normalised form: TOML that reads as the same scenario, for the record of a run.
    pub normalised: String,
    /// 16 hexadecimal digits that change with the normalised form or with the bytes of a data file.
    pub fingerprint: String,
}

impl Scenario {
    /// Reads a scenario file; the data files it names are relative to it.
    ///
    /// # Errors
    /// The file cannot be read, or its content is refused.
    pub fn from_file(path: &Path) -> Result<Self, ScenarioError> {
        Self::from_file_with(path, &[])
    }

    /// Reads a scenario file with some keys replaced: `("stop.packets", "100_000")`. A value is TOML; one
    /// that is not is taken as text.
    ///
    /// # Errors
    /// The file cannot be read, or its content or a replacement is refused.
    pub fn from_file_with(path: &Path, replaced: &[(&str, &str)]) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        let text = read_text(path, &name)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        if replaced.is_empty() {
            return Self::from_toml(&text, &name, folder);
        }
        // A refusal has a place only in the text as it was written: that of the file goes before.
        let changed = replace::keys(&text, &name, replaced)?;
        Self::from_toml(&changed, &name, folder).or_else(|mut refusal| {
            Self::from_toml(&text, &name, folder)?;
            if refusal.file == name {
                (refusal.line, refusal.column) = (None, None);
            }
            Err(refusal)
        })
    }

    /// Reads a scenario from text; errors speak of `name`, and data files are relative to `folder`.
    ///
    /// # Errors
    /// The text is refused, or a data file that it names.
    pub fn from_toml(text: &str, name: &str, folder: &Path) -> Result<Self, ScenarioError> {
        let source = Source { name, text };
        let mut document = read::document(&source)?;
        let mut checker = Checker { source: &source, folder, fingerprint: Fingerprint::new() };
        let port = checker.port(&document)?;
        for (written, discipline) in document.disciplines.value.iter_mut().zip(&port.disciplines) {
            written.value.clone_from(&discipline.name);
        }
        let reference = &port.disciplines[port.reference].name;
        document.reference.iter_mut().for_each(|written| written.value.clone_from(reference));
        let unwritten = |error: toml::ser::Error| {
            ScenarioError::of_file(name, format!("cannot be normalised ({error})"), "report this as a defect")
        };
        let normalised = toml::to_string(&document).map_err(unwritten)?;
        checker.fingerprint.add(normalised.as_bytes());
        Ok(Self { name: name.to_owned(), port, normalised, fingerprint: checker.fingerprint.to_string() })
    }
}

fn read_text(path: &Path, name: &str) -> Result<String, ScenarioError> {
    let text = std::fs::read(path).map_err(|error| {
        let reason = format!("cannot be read ({})", plain_io(&error));
        ScenarioError::of_file(name, reason, "check the path and its permissions")
    })?;
    String::from_utf8(text).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        ScenarioError::of_file(name, "is not UTF-8 text", "save it as UTF-8").at(line, 1)
    })
}

/// The JSON Schema of the scenario file.
#[must_use]
pub fn schema() -> String {
    let schema = schemars::schema_for!(Document);
    format!("{:#}", schema.as_value())
}

/// The system's reason, without its error number.
pub(crate) fn plain_io(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.to_lowercase()
}

#[cfg(test)]
mod tests;
