//! Why a script was refused.

use core::fmt;

use crate::script::Place;

/// A refused script: where, what was found, what was expected, and what to write instead.
///
/// It prints on one line: `a.tg:3:8: found `lenght`, expected `length`: write `length` and a distribution`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptError {
    /// The file, as it was named.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The character within the line, counted from 1.
    pub column: u32,
    /// The text found there, shortened; `None` at the end of the script.
    pub found: Option<String>,
    /// What is wrong, with what was expected or the bound.
    pub reason: String,
    /// What to write or do instead.
    pub remedy: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, reason, remedy, .. } = self;
        write!(f, "{file}:{line}:{column}: {reason}: {remedy}")
    }
}

impl std::error::Error for ScriptError {}

/// An error at a place of a file.
pub(crate) fn refuse(
    file: &str,
    at: Place,
    found: Option<&str>,
    reason: String,
    remedy: &str,
) -> ScriptError {
    ScriptError {
        file: file.to_owned(),
        line: at.line.max(1),
        column: at.column.max(1),
        found: found.map(shorten),
        reason,
        remedy: remedy.to_owned(),
    }
}

/// The longest text repeated in an error, in characters.
const MAX_FOUND: usize = 40;

/// The text, or its beginning, without control characters.
pub(crate) fn shorten(text: &str) -> String {
    let mut characters = text.chars().map(|each| if each.is_control() { '?' } else { each });
    let short: String = characters.by_ref().take(MAX_FOUND).collect();
    if characters.next().is_some() { format!("{short}...") } else { short }
}
