//! From the text of a request to its document, and from bytes of it to a line, a column and a key.

use core::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::PlanError;

/// The longest request that is read, in bytes.
const MAX_BYTES: usize = 1 << 18;

/// The text of a request and the name under which errors speak of it.
pub(crate) struct Source<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// Reads the document; unknown keys and wrong types are refused here.
    pub(crate) fn document<T: DeserializeOwned>(&self) -> Result<T, PlanError> {
        if self.text.len() > MAX_BYTES {
            let reason = format!("has {} bytes, at most {MAX_BYTES} are read", self.text.len());
            return Err(PlanError::of_file(self.name, reason, "ask for fewer classes"));
        }
        toml::from_str(self.text).map_err(|error| self.explain(&error))
    }

    /// The line and the column, in characters, of a byte.
    pub(crate) fn line_and_column(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// An error at `span`, with the key that leads there and the value as written.
    pub(crate) fn refuse(
        &self,
        span: &Range<usize>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> PlanError {
        let (line, column) = self.line_and_column(span.start);
        let mut error = PlanError::of_file(self.name, reason, remedy).at(line, column);
        let found = DeTable::parse(self.text).ok().and_then(|root| key_at(root.get_ref(), span));
        if let Some((key, is_value)) = found {
            error = error.key(key);
            if let Some(value) = self.text.get(span.clone()).filter(|text| is_value && !text.is_empty()) {
                error = error.value(value);
            }
        }
        error
    }

    fn explain(&self, error: &toml::de::Error) -> PlanError {
        let message = error.message();
        let span = error.span().unwrap_or(0..0);
        if let Some(field) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
            return self.missing(&span, field);
        }
        let (reason, remedy) =
            unknown(message).or_else(|| mismatch(message)).unwrap_or_else(|| syntax(message));
        self.refuse(&span, reason, remedy)
    }

    fn missing(&self, span: &Range<usize>, field: &str) -> PlanError {
        let remedy = match field {
            "class" => "add a table `[[class]]` for each class, with `name` and `share`".to_owned(),
            "table" => "add a table `[table]` with `entries`".to_owned(),
            "link" => "add a table `[link]` with `rate`".to_owned(),
            _ => format!("add `{field} = ...`"),
        };
        let mut error = self.refuse(span, "is missing", remedy);
        let table = error.key.take().map_or(String::new(), |table| format!("{table}."));
        error.value = None;
        error.key(format!("{table}{field}"))
    }
}

/// The dotted key at `span`, and whether the span is of its value.
fn key_at(table: &DeTable<'_>, span: &Range<usize>) -> Option<(String, bool)> {
    table.iter().find_map(|(key, value)| {
        let name = key.get_ref();
        if key.span() == *span {
            return Some((name.to_string(), false));
        }
        let (below, is_value) = within(value, span)?;
        Some((if below.is_empty() { name.to_string() } else { format!("{name}.{below}") }, is_value))
    })
}

/// The same within a value: an empty key where the span is of the value itself.
fn within(value: &Spanned<DeValue<'_>>, span: &Range<usize>) -> Option<(String, bool)> {
    let deeper = match value.get_ref() {
        DeValue::Table(table) => key_at(table, span),
        DeValue::Array(array) => array.iter().find_map(|element| within(element, span)),
        _ => None,
    };
    let is_table = matches!(value.get_ref(), DeValue::Table(_));
    deeper.or_else(|| (value.span() == *span).then(|| (String::new(), !is_table)))
}

/// "unknown field `x`, expected one of `a`, `b`", and the same of a variant.
fn unknown(message: &str) -> Option<(String, String)> {
    let (reason, rest) = match message.strip_prefix("unknown field ") {
        Some(rest) => ("is not a key here", rest),
        None => ("is not known here", message.strip_prefix("unknown variant ")?),
    };
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let name = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let hint = nearest(name, &known).map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Some((reason.to_owned(), format!("{hint}known are `{}`", known.join("`, `"))))
}

/// "invalid type: integer `10`, expected a string", and the same of values.
fn mismatch(message: &str) -> Option<(String, String)> {
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    let (found, expected) = rest.split_once(", expected ")?;
    let is_number = found.starts_with("integer") || found.starts_with("floating point");
    let reason = match expected {
        "a string" if is_number => "a number without a unit",
        _ => "not of the type that belongs here",
    };
    let remedy = match expected {
        "a string" => "write text in quotes, a quantity with its unit, such as \"2048B\" or \"25%\"",
        "u8" | "u16" | "u32" | "u64" => "write a whole number from 0 up",
        "a sequence" => "write a list in brackets",
        _ => "write a table of its own keys",
    };
    Some((reason.to_owned(), remedy.to_owned()))
}

fn syntax(message: &str) -> (String, String) {
    let reason = message.lines().next().unwrap_or_default().to_lowercase();
    (reason, "correct the TOML here: `key = value`, text in quotes".to_owned())
}

/// The name in `known` that is at most two edits away, if there is one.
pub(crate) fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let limit = if name.chars().count() < 5 { 1 } else { 2 };
    let edits = known.iter().map(|&other| (distance(name, other), other));
    edits.filter(|(edits, _)| *edits <= limit).min().map(|(_, other)| other)
}

/// Single-character edits between two names (Levenshtein); long names are far from everything.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 40;
    if a.len() > LONGEST || b.len() > LONGEST {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.chars().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_near_enough_are_found() {
        assert_eq!(nearest("shara", &["share", "name"]), Some("share"));
        assert_eq!(nearest("latecny", &["latency", "name"]), Some("latency"));
        assert_eq!(nearest("colour", &["latency", "name"]), None);
    }
}
