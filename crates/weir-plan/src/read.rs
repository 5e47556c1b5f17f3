//! From the text of a request to its document.

use serde::de::DeserializeOwned;
use weir_core::units::Bytes;
use weir_document::{Mismatch, Source, Wording};

use crate::PlanError;

/// What is peculiar to requests.
const WORDING: Wording = Wording {
    longest: Bytes::new(1 << 18),
    shorten: "ask for fewer classes",
    missing,
    parameters: "write a table of the name with its parameters",
    mismatch,
};

/// Reads the document; unknown keys and wrong types are refused here.
pub(crate) fn document<T: DeserializeOwned>(source: &Source<'_>) -> Result<T, PlanError> {
    source.check_length(&WORDING)?;
    toml::from_str(source.text).map_err(|error| source.explain(&error, &WORDING))
}

/// What to do where a key is missing.
fn missing(field: &str) -> String {
    match field {
        "class" => "add a table `[[class]]` for each class, with `name` and `share`".to_owned(),
        "table" => "add a table `[table]` with `entries`".to_owned(),
        "link" => "add a table `[link]` with `rate`".to_owned(),
        _ => format!("add `{field} = ...`"),
    }
}

/// What is wrong with a value of another type, and what to write; quantities are read as text first.
fn mismatch(value: &Mismatch<'_>) -> (&'static str, String) {
    let reason = match value.expected {
        "a string" if value.is_number() => "a number without a unit",
        _ => "not of the type that belongs here",
    };
    let remedy = match value.expected {
        "a string" => "write text in quotes, a quantity with its unit, such as \"2048B\" or \"25%\"",
        "u8" | "u16" | "u32" | "u64" => "write a whole number from 0 up",
        "a sequence" => "write a list in brackets",
        _ => "write a table of its own keys",
    };
    (reason, remedy.to_owned())
}
