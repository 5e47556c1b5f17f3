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
//!
//! `model` comes first: it says of which of the documents ([`PortDocument`], [`NetworkDocument`],
//! [`FabricDocument`], [`NodeDocument`], [`ServerDocument`]) the rest is read, each strict by itself.

mod check;
mod disciplines;
mod document;
mod fabric;
mod fingerprint;
mod input;
mod lengths;
mod network;
mod node;
mod port;
mod read;
mod replace;
mod server;
mod sources;

use std::path::Path;

use weir_document::Source;

pub use document::PortDocument;
pub use fabric::FabricDocument;
pub use network::NetworkDocument;
pub use node::NodeDocument;
pub use port::{
    Clock, Closed, Input, LatencyEnd, LengthUnit, Limit, Measure, NamedDiscipline, Open, PacketTime,
    PortScenario, Replay, Service, Stop, Think, WarmUp, WholeTime,
};
pub use server::ServerDocument;
pub use weir_document::quantity::NANOS_PER_UNIT;
pub use weir_document::{Refusal, Refused as ScenarioError};

use check::Checker;
use document::Located;
use fingerprint::Fingerprint;
use read::Document;

pub use crate::network::run::Frame;

use crate::fabric::model::FabricScenario;
use crate::network::model::NetworkScenario;
use crate::node::model::NodeScenario;
use crate::server::model::ServerScenario;

/// A scenario, read and checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Where it was read; 16 hexadecimal digits that change with the normalised form or with the bytes of a data
    /// file; and the normalised form, TOML that reads as the same scenario.
    pub frame: Frame,
    /// What the engines run.
    pub model: Model,
}

/// The simulated place, with what happens there.
#[derive(Clone, Debug)]
pub enum Model {
    /// The message port of a node.
    Port(PortScenario),
    /// Routers joined by links.
    Network(NetworkScenario),
    /// Switches that drop nothing.
    Fabric(FabricScenario),
    /// Processes on processors.
    Node(NodeScenario),
    /// Requests spread over cores.
    Server(ServerScenario),
}

impl Scenario {
    /// The scenario of the port, if it is one.
    #[must_use]
    pub fn port(&self) -> Option<&PortScenario> {
        match &self.model {
            Model::Port(port) => Some(port),
            _ => None,
        }
    }

    /// The scenario of a network, if it is one.
    #[must_use]
    pub fn network(&self) -> Option<&NetworkScenario> {
        match &self.model {
            Model::Network(network) => Some(network),
            _ => None,
        }
    }

    /// The scenario of a fabric, if it is one.
    #[must_use]
    pub fn fabric(&self) -> Option<&FabricScenario> {
        match &self.model {
            Model::Fabric(fabric) => Some(fabric),
            _ => None,
        }
    }

    /// The scenario of the node, if it is one.
    #[must_use]
    pub fn node(&self) -> Option<&NodeScenario> {
        match &self.model {
            Model::Node(node) => Some(node),
            _ => None,
        }
    }

    /// The scenario of the server, if it is one.
    #[must_use]
    pub fn server(&self) -> Option<&ServerScenario> {
        match &self.model {
            Model::Server(server) => Some(server),
            _ => None,
        }
    }

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
        let mut checker = Checker { source: &source, folder, fingerprint: Fingerprint::new() };
        let (model, written) = match read::document(&source)? {
            Document::Port(mut document) => {
                let port = checker.port(&document)?;
                let names = port.disciplines.iter().map(|discipline| &discipline.name);
                let reference = document.reference.as_mut();
                canonical_names(&mut document.disciplines.value, reference, names, port.reference);
                (Model::Port(port), toml::to_string(&document))
            }
            Document::Network(mut document) => {
                let network = checker.network(&mut document)?;
                let names = network.disciplines.iter();
                let reference = document.reference.as_mut();
                canonical_names(&mut document.disciplines.value, reference, names, network.reference);
                (Model::Network(network), toml::to_string(&document))
            }
            Document::Fabric(mut document) => {
                let fabric = checker.fabric(&document)?;
                let names = fabric.disciplines.iter();
                let reference = document.reference.as_mut();
                canonical_names(&mut document.disciplines.value, reference, names, fabric.reference);
                (Model::Fabric(fabric), toml::to_string(&document))
            }
            Document::Node(mut document) => {
                let node = checker.node_scenario(&document)?;
                let names = node.disciplines.iter();
                let reference = document.reference.as_mut();
                canonical_names(&mut document.disciplines.value, reference, names, node.reference);
                (Model::Node(node), toml::to_string(&document))
            }
            Document::Server(mut document) => {
                let server = checker.server_scenario(&document)?;
                let names = server.disciplines.iter();
                let reference = document.reference.as_mut();
                canonical_names(&mut document.disciplines.value, reference, names, server.reference);
                (Model::Server(server), toml::to_string(&document))
            }
        };
        let unwritten = |error: toml::ser::Error| {
            ScenarioError::of_file(name, format!("cannot be normalised ({error})"), "report this as a defect")
        };
        let scenario = written.map_err(unwritten)?;
        checker.fingerprint.add(scenario.as_bytes());
        let fingerprint = checker.fingerprint.to_string();
        Ok(Self { frame: Frame { file: name.to_owned(), fingerprint, scenario }, model })
    }
}

/// Writes the disciplines and the reference as results name them.
fn canonical_names<'n>(
    written: &mut [Located<String>],
    reference: Option<&mut Located<String>>,
    names: impl Iterator<Item = &'n String>,
    place: usize,
) {
    for (written, name) in written.iter_mut().zip(names) {
        written.value.clone_from(name);
    }
    if let Some(reference) = reference {
        reference.value.clone_from(&written[place].value);
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

/// The JSON Schema of the scenario file: that of one of the models.
#[must_use]
pub fn schema() -> String {
    let settings = schemars::generate::SchemaSettings::default();
    let dialect = settings.meta_schema.clone();
    let mut generator = settings.into_generator();
    let models = [
        generator.subschema_for::<PortDocument>(),
        generator.subschema_for::<NetworkDocument>(),
        generator.subschema_for::<FabricDocument>(),
        generator.subschema_for::<NodeDocument>(),
        generator.subschema_for::<ServerDocument>(),
    ];
    let schema = schemars::json_schema!({
        "$schema": dialect,
        "title": "Scenario",
        "description": "A scenario of weir: who sends when and how much, in which model, under which disciplines, for \
                        how long.",
        "oneOf": models,
        "$defs": generator.take_definitions(true),
    });
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
