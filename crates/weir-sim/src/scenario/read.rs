//! From text to the document: the refusals of the parser in the words of the user.

use core::ops::Range;

use serde::Deserialize;

use super::document::PortDocument;
use super::error::ScenarioError;
use super::fabric::FabricDocument;
use super::network::NetworkDocument;
use super::place::{Source, nearest};

/// The longest scenario that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The document of one of the models.
pub(super) enum Document {
    Port(Box<PortDocument>),
    Network(Box<NetworkDocument>),
    Fabric(Box<FabricDocument>),
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
}

/// Reads the document; unknown keys, wrong types and wrong units are refused here.
pub(super) fn document(source: &Source<'_>) -> Result<Document, ScenarioError> {
    if source.text.len() > MAX_BYTES {
        let reason = format!("has {} bytes, at most {MAX_BYTES} are read", source.text.len());
        return Err(ScenarioError::of_file(
            source.name,
            reason,
            "keep data in files that the scenario names",
        ));
    }
    let refused = |error| explain(source, &error);
    match toml::from_str(source.text) {
        Ok(Head { model: ModelName::Network }) => {
            toml::from_str(source.text).map(Document::Network).map_err(refused)
        }
        Ok(Head { model: ModelName::Fabric }) => {
            toml::from_str(source.text).map(Document::Fabric).map_err(refused)
        }
        // Where `model` is missing it may be misspelt, which the reading of a whole document finds out.
        Err(error) if !error.message().starts_with("missing field") => Err(refused(error)),
        Ok(Head { model: ModelName::Port }) | Err(_) => {
            toml::from_str(source.text).map(Document::Port).map_err(refused)
        }
    }
}

/// What is wrong, and what to write instead.
struct Explanation {
    reason: String,
    remedy: String,
    /// A key that is missing from the table at the span.
    missing: Option<String>,
}

impl Explanation {
    fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: remedy.into(), missing: None }
    }
}

fn explain(source: &Source<'_>, error: &toml::de::Error) -> ScenarioError {
    let message = error.message();
    let whole_file: Range<usize> = 0..0;
    let span = error.span().unwrap_or(whole_file);
    if message.starts_with("duplicate key") {
        let name = source.text.get(span.clone()).unwrap_or_default();
        return source.refuse(span, "stands here a second time", "keep one of the two").key(name);
    }
    let told = unknown(message)
        .or_else(|| missing(message))
        .or_else(|| shape(message))
        .or_else(|| mismatch(message))
        .unwrap_or_else(|| syntax(message));
    let mut refusal = source.refuse(span, told.reason, told.remedy);
    if let Some(field) = told.missing {
        let table = refusal.key.take().map_or(String::new(), |table| format!("{table}."));
        refusal = refusal.key(format!("{table}{field}"));
        refusal.value = None;
    }
    refusal
}

/// "unknown field `x`, expected one of `a`, `b`", and the same of a variant.
fn unknown(message: &str) -> Option<Explanation> {
    let (reason, rest) = match message.strip_prefix("unknown field ") {
        Some(rest) => ("is not a key here", rest),
        None => ("is not known here", message.strip_prefix("unknown variant ")?),
    };
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let name = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let hint = nearest(name, known.iter().copied());
    let hint = hint.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Some(Explanation::new(reason, format!("{hint}known are `{}`", known.join("`, `"))))
}

/// "missing field `x`".
fn missing(message: &str) -> Option<Explanation> {
    let field = message.strip_prefix("missing field `")?.strip_suffix('`')?;
    let remedy = match field {
        "link" | "flow" | "channel" => format!("add a table `[[{field}]]`, as `weir schema` describes it"),
        "network" | "stop" | "traffic" => format!("add a table `[{field}]`, as `weir schema` describes it"),
        _ => format!("add `{field} = ...`, as `weir schema` describes it"),
    };
    Some(Explanation { missing: Some(field.to_owned()), ..Explanation::new("is missing", remedy) })
}

/// Wrong numbers of elements, and names with or without parameters.
fn shape(message: &str) -> Option<Explanation> {
    let is_variant = message.contains("newtype variant") || message.contains("tuple variant");
    if message.starts_with("wanted ") {
        let remedy = "write a name in quotes, or a table of one name with its parameters in braces";
        return Some(Explanation::new("must be one name, alone or with its parameters", remedy));
    }
    if message.starts_with("invalid type: unit variant") && is_variant {
        let remedy = "write a table of the name with its parameters, as `weir schema` describes it";
        return Some(Explanation::new("needs parameters", remedy));
    }
    if let Some(found) = message.strip_prefix("expected table, found ") {
        let reason = format!("must be a table of parameters, not a {found}");
        return Some(Explanation::new(
            reason,
            "write its parameters in braces or, without names, in brackets",
        ));
    }
    if message.starts_with("invalid length") || message.starts_with("expected tuple") {
        let count = if message.contains("with 3 elements") { "three" } else { "two" };
        let remedy = format!("write a list of {count} values in brackets");
        return Some(Explanation::new(format!("must have {count} values"), remedy));
    }
    None
}

/// "invalid type: integer `10`, expected a span of time ...", and the same of values.
fn mismatch(message: &str) -> Option<Explanation> {
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    let (found, expected) = rest.split_once(", expected ")?;
    let kind = found.split(['`', '"']).next().unwrap_or(found).trim();
    let is_number = matches!(kind, "integer" | "floating point");
    let reason = match kind {
        _ if is_number && expected.contains(" unit") => "a number without a unit",
        "string" if expected.contains(" unit") => "not in a unit that is known here",
        "integer" if message.starts_with("invalid value") => "out of range",
        _ => "not of the type that belongs here",
    };
    Some(Explanation::new(reason, format!("write {}", plain(expected))))
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

fn syntax(message: &str) -> Explanation {
    let reason = message.lines().next().unwrap_or_default().to_lowercase();
    Explanation::new(reason, "correct the TOML here: `key = value`, text in quotes")
}
