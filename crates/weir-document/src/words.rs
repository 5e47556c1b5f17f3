//! Words that every kind of document needs: of values that are not what belongs there, of disciplines, of names.

use crate::explain::Mismatch;
use crate::quantity::Time;
use weir_core::excerpt::shorten;
use weir_core::info::Info;
use weir_core::nearest::nearest;
use weir_core::registry;
use weir_core::spec::SpecError;

/// What is wrong with a value of another type, and what to write; quantities say that they have a unit.
#[must_use]
pub fn mismatch(value: &Mismatch<'_>, expected: &str) -> (&'static str, String) {
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
        "string" if has_unit => "in an unknown unit",
        "integer" if value.is_negative() && is_whole => {
            return ("must not be negative", "write a whole number from 0 up".to_owned());
        }
        "integer" if value.is_of_the_type => "out of range",
        _ => "of the wrong type",
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

/// A refused spec, as reason and remedy.
#[must_use]
pub fn discipline(error: SpecError, of: &str, example: &str) -> (String, String) {
    match error {
        SpecError::Syntax { at, reason } => {
            (format!("cannot be read at byte {at}: {reason}"), format!("write a spec such as \"{example}\""))
        }
        SpecError::UnknownName { orders: None, remedy, .. } => (format!("not a discipline of {of}"), remedy),
        SpecError::UnknownName { orders: Some(orders), remedy, .. } => {
            (format!("not a discipline of {of}, as it orders {orders}"), remedy)
        }
        SpecError::UnknownParameter { discipline, parameter, remedy } => {
            (format!("`{discipline}` has no parameter `{parameter}`"), remedy)
        }
        SpecError::Value { discipline, parameter, reason } => {
            let has_it = |info: &&Info| info.parameters.iter().any(|known| known.name == parameter);
            let example = registry::named(discipline).find(has_it).map_or(discipline, |info| info.example);
            (format!("its parameter `{parameter}` {reason}"), format!("write a spec such as `{example}`"))
        }
        other => (other.to_string(), format!("write a spec such as \"{example}\"")),
    }
}

/// The remedy for a name that is not known: the nearest of those that are, and the first of them.
#[must_use]
pub fn known_names<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    format!("{}choose one of {}", hint(name, known.clone()), listed(known))
}

/// The name that was meant, as the beginning of a remedy; nothing where none is near.
#[must_use]
pub fn hint<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    nearest(name, known).map_or(String::new(), |near| format!("did you mean `{}`? ", shorten(near)))
}

/// The first of some names, each shortened as a value is.
#[must_use]
pub fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const MOST: usize = 32;
    let mut names = names.map(shorten);
    let first: Vec<String> = names.by_ref().take(MOST).collect();
    let rest = if names.next().is_some() { ", and more" } else { "" };
    format!("`{}`{rest}", first.join("`, `"))
}
