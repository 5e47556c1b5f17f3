//! Why an input was refused: one error for request documents and for OpenSM files.

use core::fmt;
use core::ops::{Deref, DerefMut};

/// A refused input: where, which key, which value, against which bound, and what to write instead.
///
/// It prints on one line: `plan.toml:9:9: class.share is "0%", must be above 0%: write a share such as "25%"`.
/// Its parts are the fields of [`Refusal`], boxed so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError(Box<Refusal>);

/// The parts of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The file, as it was named.
    pub file: String,
    /// The line, counted from 1; `None` where the error is of the file as a whole.
    pub line: Option<usize>,
    /// The character within the line, counted from 1.
    pub column: Option<usize>,
    /// The dotted key of a document, or the name of an option.
    pub key: Option<String>,
    /// The value as it was written, shortened.
    pub value: Option<String>,
    /// What is wrong, with the bound; continues the sentence "`key` is `value`, ...".
    pub reason: String,
    /// What to write or do instead.
    pub remedy: String,
}

impl PlanError {
    /// An error of the file as a whole.
    #[must_use]
    pub fn of_file(file: &str, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self(Box::new(Refusal {
            file: file.to_owned(),
            line: None,
            column: None,
            key: None,
            value: None,
            reason: reason.into(),
            remedy: remedy.into(),
        }))
    }

    /// The same error at a line and column.
    #[must_use]
    pub fn at(mut self, line: usize, column: usize) -> Self {
        (self.line, self.column) = (Some(line), Some(column));
        self
    }

    /// The same error, of a key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The same error, of a value.
    #[must_use]
    pub fn value(mut self, value: &str) -> Self {
        self.value = Some(shorten(value));
        self
    }

    /// What is wrong, without the place and the remedy.
    #[must_use]
    pub fn message(&self) -> String {
        let reason = &self.reason;
        match (&self.key, &self.value) {
            (Some(key), Some(value)) => format!("{key} is {value}, {reason}"),
            (Some(key), None) => format!("{key} {reason}"),
            (None, Some(value)) => format!("{value} {reason}"),
            (None, None) => reason.clone(),
        }
    }
}

impl Deref for PlanError {
    type Target = Refusal;
    fn deref(&self) -> &Refusal {
        &self.0
    }
}

impl DerefMut for PlanError {
    fn deref_mut(&mut self) -> &mut Refusal {
        &mut self.0
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        write!(f, ": {}: {}", self.message(), self.remedy)
    }
}

impl std::error::Error for PlanError {}

/// The longest value repeated in an error, in characters.
const MAX_VALUE: usize = 60;

/// The text, or its beginning, without control characters.
pub(crate) fn shorten(text: &str) -> String {
    let mut characters = text.chars().map(|each| if each.is_control() { '?' } else { each });
    let short: String = characters.by_ref().take(MAX_VALUE).collect();
    if characters.next().is_some() { format!("{short}...") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_print_on_one_line() {
        let error = PlanError::of_file("plan.toml", "must be above 0%", "write a share such as \"25%\"")
            .at(9, 9)
            .key("class.share")
            .value("\"0%\"");
        let text = "plan.toml:9:9: class.share is \"0%\", must be above 0%: write a share such as \"25%\"";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn long_values_are_cut_and_control_characters_replaced() {
        assert_eq!(shorten("a\nb"), "a?b");
        assert_eq!(shorten(&"x".repeat(100)), format!("{}...", "x".repeat(60)));
    }
}
