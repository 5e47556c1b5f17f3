//! From text to the document: the refusals of the parser in the words of the user.

use serde::Deserialize;
use weir_core::units::Bytes;
use weir_document::words::mismatch;
use weir_document::{Source, Wording};

use super::ScenarioError;
use super::document::PortDocument;
use super::fabric::FabricDocument;
use super::network::NetworkDocument;
use super::node::NodeDocument;
use super::server::ServerDocument;

/// What is peculiar to scenarios.
const WORDING: Wording = Wording {
    longest: Bytes::new(1 << 20),
    shorten: "keep data in files that the scenario names",
    missing,
    parameters: "write a table of the name with its parameters, as `weir schema` describes it",
    mismatch: |value| mismatch(value, value.expected),
};
/// Of every model but the port, where there is no mean packet service to count in.
const IN_SECONDS: Wording = Wording {
    mismatch: |value| mismatch(value, value.expected.split(SERVICES).next().unwrap_or_default()),
    ..WORDING
};
/// What a span of time may be in a port alone.
const SERVICES: &str = ", or \"200u\"";

/// The document of one of the models.
pub(super) enum Document {
    Port(Box<PortDocument>),
    Network(Box<NetworkDocument>),
    Fabric(Box<FabricDocument>),
    Node(Box<NodeDocument>),
    Server(Box<ServerDocument>),
}

/// What is read of every scenario first.
#[derive(Deserialize)]
struct Head {
    model: ModelName,
}

/// The simulated place in which the disciplines act.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ModelName {
    Port,
    Network,
    Fabric,
    Node,
    Server,
}

/// Reads the document; unknown keys, wrong types and wrong units are refused here.
pub(super) fn document(source: &Source<'_>) -> Result<Document, ScenarioError> {
    source.check_length(&WORDING)?;
    let refused = |error| source.explain(&error, &WORDING);
    let in_seconds = |error| source.explain(&error, &IN_SECONDS);
    match toml::from_str(source.text) {
        Ok(Head { model: ModelName::Network }) => {
            toml::from_str(source.text).map(Document::Network).map_err(in_seconds)
        }
        Ok(Head { model: ModelName::Fabric }) => {
            toml::from_str(source.text).map(Document::Fabric).map_err(in_seconds)
        }
        Ok(Head { model: ModelName::Node }) => {
            toml::from_str(source.text).map(Document::Node).map_err(in_seconds)
        }
        Ok(Head { model: ModelName::Server }) => {
            toml::from_str(source.text).map(Document::Server).map_err(refused)
        }
        // Where `model` is missing it may be misspelt, which the reading of a whole document finds out.
        Err(error) if !error.message().starts_with("missing field") => Err(refused(error)),
        Ok(Head { model: ModelName::Port }) | Err(_) => {
            toml::from_str(source.text).map(Document::Port).map_err(refused)
        }
    }
}

/// What to do where a key is missing.
fn missing(field: &str) -> String {
    match field {
        "link" | "flow" | "channel" | "process" | "class" => {
            format!("add a table `[[{field}]]`, as `weir schema` describes it")
        }
        "network" | "stop" | "traffic" | "server" => {
            format!("add a table `[{field}]`, as `weir schema` describes it")
        }
        _ => format!("add `{field} = ...`, as `weir schema` describes it"),
    }
}
