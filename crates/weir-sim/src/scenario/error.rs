//! Why an input was refused: one error type for scenarios and for the data files they name.

use core::fmt;
use core::ops::{Deref, DerefMut};

/// A refused input: where, which key, which value, against which bound, and what to write instead.
///
/// It prints on one line: `port.toml:5:8: workload.load is -1, must be above 0: write a load such as 0.95`.
/// Its parts are the fields of [`Refusal`], boxed so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError(Box<Refusal>);

/// The parts of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The file, as it was named.
    pub file: String,
    /// The line, counted from 1; `None` where the error is of the file as a whole.
    pub line: Option<usize>,
    /// The character within the line, or the field within a row of a data file, counted from 1.
    pub column: Option<usize>,
    /// The dotted key (`workload.load`), or the column of a data file.
    pub key: Option<String>,
    /// The value as it was written.
    pub value: Option<String>,
    /// What is wrong, with the bound; continues the sentence "`key` is `value`, ...".
    pub reason: String,
    /// What to write or do instead.
    pub remedy: String,
}

impl ScenarioError {
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
        self.line = Some(line);
        self.column = Some(column);
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
    pub fn value(mut self, value: impl Into<String>) -> Self {
        self.value = Some(shorten(value.into()));
        self
    }
}

impl Deref for ScenarioError {
    type Target = Refusal;
    fn deref(&self) -> &Refusal {
        &self.0
    }
}

impl DerefMut for ScenarioError {
    fn deref_mut(&mut self) -> &mut Refusal {
        &mut self.0
    }
}

/// The longest value repeated in an error, in characters.
const MAX_VALUE: usize = 60;

fn shorten(value: String) -> String {
    let line = value.lines().next().unwrap_or_default();
    if line.chars().count() <= MAX_VALUE && line.len() == value.len() {
        return value;
    }
    format!("{}...", line.chars().take(MAX_VALUE).collect::<String>())
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        f.write_str(": ")?;
        match (&self.key, &self.value) {
            (Some(key), Some(value)) => write!(f, "{key} is {value}, ")?,
            (Some(key), None) => write!(f, "{key} ")?,
            (None, Some(value)) => write!(f, "{value} ")?,
            (None, None) => {}
        }
        write!(f, "{}: {}", self.reason, self.remedy)
    }
}

impl std::error::Error for ScenarioError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_print_on_one_line() {
        let error = ScenarioError::of_file("port.toml", "must be above 0", "write a load such as 0.95")
            .at(5, 8)
            .key("workload.load")
            .value("-1");
        let text = "port.toml:5:8: workload.load is -1, must be above 0: write a load such as 0.95";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn long_values_are_cut() {
        let error = ScenarioError::of_file("f", "r", "m").value("x\ny".repeat(9));
        assert_eq!(error.value.as_deref(), Some("x..."));
    }
}
