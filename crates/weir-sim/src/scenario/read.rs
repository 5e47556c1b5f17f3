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
use weir_document::quantity::Time;

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

/// What is wrong with a value of another type, and what to write; quantities say that they have a unit.
fn mismatch(value: &Mismatch<'_>, expected: &str) -> (&'static str, String) {
    let has_unit = value.expected.contains(" unit");
    let is_whole = matches!(value.expected, "u32" | "u64");
    let reason = match value.found {
        _ if value.is_number() && has_unit => "a number without a unit",
        "string" if has_unit && value.is_negative() => "must not be negative",
        "string" if has_unit && value.has_exponent() => {
            let remedy = format!("write out all digits, as {}", plain(expected));
            return ("must be without an exponent", remedy);
        }
        "string" if has_unit && is_time(value.text) => "finer than a nanosecond, or too long",
        "string" if has_unit => "not in a unit that is known here",
        "integer" if value.is_negative() && is_whole => {
            return ("must not be negative", "write a whole number from 0 up".to_owned());
        }
        "integer" if value.is_of_the_type => "out of range",
        _ => "not of the type that belongs here",
    };
    (reason, format!("write {}", plain(expected)))
}

/// Whether it is a decimal number with a unit of time.
fn is_time(text: &str) -> bool {
    let number = text.trim_end_matches(|each: char| each.is_ascii_lowercase());
    let unit = text.strip_prefix(number).unwrap_or_default();
    number.parse::<f64>().is_ok() && Time::is_unit(unit)
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
