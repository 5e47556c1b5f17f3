//! From text to the document: the refusals of the parser in the words of the user.

use core::ops::Range;

use super::document::Document;
use super::error::ScenarioError;
use super::place::{Source, nearest};

/// The longest scenario that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;

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
    toml::from_str(source.text).map_err(|error| explain(source, &error))
}

/// What is wrong, and what to write instead.
struct Explanation {
    reason: String,
    remedy: String,
    /// A key that is missing from the table at the span.
    missing: Option<String>,
}

fn explain(source: &Source<'_>, error: &toml::de::Error) -> ScenarioError {
    let message = error.message();
    let whole_file: Range<usize> = 0..0;
    let span = error.span().unwrap_or(whole_file);
    let told = unknown(message)
        .or_else(|| missing(message))
        .or_else(|| mismatch(message))
        .unwrap_or_else(|| syntax(message));
    let mut refusal = source.refuse(span, told.reason, told.remedy);
    if let Some(field) = told.missing {
        let table = refusal.key.take().map_or(String::new(), |table| format!("{table}."));
        refusal = ScenarioError { value: None, ..refusal.key(format!("{table}{field}")) };
    }
    refusal
}

/// `unknown field `x`, expected one of `a`, `b``, and the same of a variant.
fn unknown(message: &str) -> Option<Explanation> {
    let (what, rest) = match message.strip_prefix("unknown field ") {
        Some(rest) => ("is not a key here", rest),
        None => ("is not known", message.strip_prefix("unknown variant ")?),
    };
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let name = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let hint = nearest(name, known.iter().copied());
    let hint = hint.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    let remedy = format!("{hint}known are `{}`", known.join("`, `"));
    Some(Explanation { reason: what.to_owned(), remedy, missing: None })
}

/// `missing field `x``.
fn missing(message: &str) -> Option<Explanation> {
    let field = message.strip_prefix("missing field `")?.strip_suffix('`')?;
    let remedy = format!("add `{field} = ...`, as `weir schema` describes it");
    Some(Explanation { reason: "is missing".to_owned(), remedy, missing: Some(field.to_owned()) })
}

/// `invalid type: integer `10`, expected a span of time ...`, and the same of values and lengths.
fn mismatch(message: &str) -> Option<Explanation> {
    let kinds = ["invalid type: ", "invalid value: ", "invalid length ", "wanted "];
    let rest = kinds.iter().find_map(|kind| message.strip_prefix(kind))?;
    let (found, expected) = rest.split_once(", expected ")?;
    let expected = plain(expected);
    let kind = found.split(['`', '"']).next().unwrap_or(found).trim();
    let reason = match kind {
        "string" => format!("must be {expected}"),
        _ => format!("must be {expected}, not {}", with_article(kind)),
    };
    Some(Explanation { reason, remedy: format!("write {expected}"), missing: None })
}

/// The parser's words for types, in the user's.
fn plain(expected: &str) -> String {
    let text = match expected {
        "f64" => "a number, such as 0.95",
        "u32" | "u64" => "a whole number from 0 up, such as 100_000_000",
        "a boolean" => "true or false",
        "a string" | "path string" => "a string in quotes",
        "a sequence" => "a list in brackets",
        "map" | "a map" => "a table in braces",
        "string or table" | "enum" => "a name, or a table of one name and its parameters",
        _ if expected.starts_with("struct ") => "a table",
        _ if expected.starts_with("a tuple of size 2") || expected.starts_with("tuple variant") => {
            "a list of two values in brackets"
        }
        _ => expected,
    };
    text.to_owned()
}

fn with_article(kind: &str) -> String {
    let kind = match kind {
        "map" => "table",
        "sequence" => "list",
        "floating point" => "number with a fraction",
        "integer" => "whole number",
        "" => "such a value",
        other => other,
    };
    format!("a {kind}")
}

fn syntax(message: &str) -> Explanation {
    let reason = message.lines().next().unwrap_or_default().to_lowercase();
    let remedy = if reason.starts_with("duplicate key") {
        "keep one of the two"
    } else {
        "correct the TOML here: `key = value`, text in quotes"
    };
    Explanation { reason, remedy: remedy.to_owned(), missing: None }
}
