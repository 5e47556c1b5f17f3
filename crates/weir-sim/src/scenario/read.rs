//! From text to the document: the refusals of the parser in the words of the user.

use serde::Deserialize;
use weir_core::units::Bytes;
use weir_document::{Mismatch, Source, Wording};

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
    mismatch,
};

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
    match toml::from_str(source.text) {
        Ok(Head { model: ModelName::Network }) => {
            toml::from_str(source.text).map(Document::Network).map_err(refused)
        }
        Ok(Head { model: ModelName::Fabric }) => {
            toml::from_str(source.text).map(Document::Fabric).map_err(refused)
        }
        Ok(Head { model: ModelName::Node }) => {
            toml::from_str(source.text).map(Document::Node).map_err(refused)
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
        "network" | "stop" | "traffic" | "server" => format!("add a table `[{field}]`, as `weir schema` describes it"),
        _ => format!("add `{field} = ...`, as `weir schema` describes it"),
    }
}

/// What is wrong with a value of another type, and what to write; quantities say that they have a unit.
fn mismatch(value: &Mismatch<'_>) -> (&'static str, String) {
    let has_unit = value.expected.contains(" unit");
    let reason = match value.found {
        _ if value.is_number() && has_unit => "a number without a unit",
        "string" if has_unit => "not in a unit that is known here",
        "integer" if value.is_of_the_type => "out of range",
        _ => "not of the type that belongs here",
    };
    (reason, format!("write {}", plain(value.expected)))
}

/// The parser's words for types, in the user's.
fn plain(expected: &str) -> &str {
    match expected {
        "f64" => "a number, such as 0.95",
        "u32" | "u64" => "a whole number from 0 up, such as 100_000_000",
        "a boolean" => "true or false",
        "a string" | "path string" => "text in quotes",
        "a sequence" => "a list in brackets",
        "unit variant" | "unit" => "the name alone, in quotes",
        _ if expected.contains("tuple") => "a list of two values in brackets",
        _ if expected.starts_with("struct ") || expected.contains("map") => "a table of its own keys",
        _ => expected,
    }
}
