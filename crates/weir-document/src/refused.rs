//! Why an input was refused: one error for documents and for the files that they name.

use core::fmt;
use core::ops::{Deref, DerefMut};
use weir_core::excerpt::shorten;

/// A refused input: where, which key, which value, against which bound, and what to write instead.
///
/// It prints on one line: `port.toml:5:8: workload.load is -1, must be above 0: write a load such as 0.95`.
/// Its parts are the fields of [`Refusal`], boxed so that results stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(Box<Refusal>);

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
    /// The dotted key of a document (`workload.load`), the column of a data file, or the name of an option.
    pub key: Option<String>,
    /// The value as it was written, shortened.
    pub value: Option<String>,
    /// What is wrong, with the bound; continues the sentence "`key` is `value`, ...", or "`key` `value` is ...".
    pub reason: String,
    /// What to write or do instead.
    pub remedy: String,
}

impl Refused {
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
    pub fn value(mut self, value: impl AsRef<str>) -> Self {
        self.value = Some(shorten(value.as_ref()));
        self
    }

    /// What is wrong, without the place and the remedy.
    #[must_use]
    pub fn message(&self) -> String {
        let reason = &self.reason;
        match (self.key.as_deref().map(shorten), &self.value) {
            (Some(key), Some(value)) if reason.starts_with("is ") => format!("{key} {value} {reason}"),
            (Some(key), Some(value)) => format!("{key} is {value}, {reason}"),
            (Some(key), None) => format!("{key} {reason}"),
            (None, Some(value)) => format!("{value} {reason}"),
            (None, None) => reason.clone(),
        }
    }
}

impl Deref for Refused {
    type Target = Refusal;
    fn deref(&self) -> &Refusal {
        &self.0
    }
}

impl DerefMut for Refused {
    fn deref_mut(&mut self) -> &mut Refusal {
        &mut self.0
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        write!(f, ": {}: {}", self.message(), self.remedy)
    }
}

impl std::error::Error for Refused {}

/// The system's reason, without its error number.
#[must_use]
pub fn plain_io(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_print_on_one_line() {
        let error = Refused::of_file("port.toml", "must be above 0", "write a load such as 0.95");
        assert_eq!(error.to_string(), "port.toml: must be above 0: write a load such as 0.95");
        let error = error.at(5, 8).key("workload.load").value("-1");
        let text = "port.toml:5:8: workload.load is -1, must be above 0: write a load such as 0.95";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_sentence_has_one_verb() {
        let error = Refused::of_file("t.csv", "is before the time of the row above", "sort the rows by time");
        let text = "t.csv:3:1: finished_at 4 is before the time of the row above: sort the rows by time";
        assert_eq!(error.at(3, 1).key("finished_at").value("4").to_string(), text);
    }

    #[test]
    fn long_keys_are_cut_where_they_are_shown() {
        let key = "laod\u{1b}".repeat(20);
        let error = Refused::of_file("f", "is not a key here", "m").key(&key);
        assert_eq!(error.key, Some(key));
        assert_eq!(error.message(), format!("{}... is not a key here", "laod?".repeat(12)));
    }

    #[test]
    fn long_values_are_cut_and_control_characters_replaced() {
        let value = |text: &str| Refused::of_file("f", "r", "m").value(text).value.clone().expect("given");
        assert_eq!(value(&"x\ny".repeat(9)), "x...");
        assert_eq!(value("a\u{1b}[2Jb"), "a?[2Jb");
        assert_eq!(value(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(value(&"x".repeat(61)), format!("{}...", "x".repeat(60)));
    }
}
