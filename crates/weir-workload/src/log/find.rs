//! What a column looks like.

use super::{DurationUnit, LogColumn, LogFormat, Stamp};

/// How many lines are examined.
pub(super) const SURVEYED: usize = 100;
/// How many characters of a value are shown.
const SHOWN: usize = 40;

/// A column of which no value was seen.
pub(super) fn column(name: &str, format: LogFormat) -> LogColumn {
    let unit = match (format, name) {
        // Of nginx, and as many write them with a key.
        (LogFormat::Access, "request_time" | "upstream_response_time" | "rt" | "urt" | "uht" | "uct") => {
            Some(DurationUnit::S)
        }
        (LogFormat::Envoy, "duration" | "upstream_service_time") => Some(DurationUnit::Ms),
        _ => DurationUnit::of_name(name),
    };
    LogColumn { name: name.to_owned(), example: String::new(), stamp: None, unit }
}

/// Takes a value into a column.
pub(super) fn fill(column: &mut LogColumn, value: &str) {
    if !column.example.is_empty() || value.is_empty() || value == "-" {
        return;
    }
    column.example = value.chars().take(SHOWN).collect();
    column.stamp = Stamp::of(value);
    if column.unit.is_none() && DurationUnit::Written.parse(value).is_some() {
        column.unit = Some(DurationUnit::Written);
    }
}
