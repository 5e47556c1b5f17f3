//! From the text of a request to its document, and the checks that all requests have in common.

use serde::de::DeserializeOwned;
use weir_core::units::{Bytes, Nanos};
use weir_document::{Located, Mismatch, Source, Wording};

use crate::PlanError;
use crate::quantity;

/// The version of the format.
const VERSION: u64 = 1;
/// The longest name, in characters.
const MAX_NAME: usize = 32;

/// What is peculiar to requests.
const WORDING: Wording = Wording {
    longest: Bytes::new(1 << 18),
    shorten: "ask for fewer classes, or write processes that are alike once, with `count`",
    missing,
    parameters: "write a table of the name with its parameters",
    mismatch,
};

/// Reads the document; unknown keys and wrong types are refused here.
pub(crate) fn document<T: DeserializeOwned>(source: &Source<'_>) -> Result<T, PlanError> {
    source.read(&WORDING)
}

/// What to do where a key is missing.
fn missing(field: &str) -> String {
    match field {
        "class" => "add a table `[[class]]` for each class, with `name` and `share`".to_owned(),
        "table" => "add a table `[table]` with `entries`".to_owned(),
        "process" => "add a table `[[process]]` for each process, with `name` and `need`".to_owned(),
        "nodes" => "add a table `[nodes]`, with `count` unless as few as suffice are wanted".to_owned(),
        "need" => "add `need = \"20ms\"`, what it is promised in each epoch".to_owned(),
        "link" => "add a table `[link]` with `rate`".to_owned(),
        _ => format!("add `{field} = ...`"),
    }
}

/// What is wrong with a value of another type, and what to write; quantities are read as text first.
fn mismatch(value: &Mismatch<'_>) -> (&'static str, String) {
    let reason = match value.expected {
        "a string" if value.is_number() => "a number without a unit",
        "u8" | "u16" | "u32" | "u64" if value.is_negative() => "must not be negative",
        _ => "of the wrong type",
    };
    let remedy = match value.expected {
        "a string" => {
            "write text in quotes, a quantity with its unit, such as \"2048B\", \"25%\" or \"20ms\""
        }
        "u8" | "u16" | "u32" | "u64" => "write a whole number from 0 up",
        "a sequence" => "write a list in brackets",
        _ => "write a table of its own keys",
    };
    (reason, remedy.to_owned())
}

pub(crate) type Checked<T> = Result<T, PlanError>;

/// Checks of single values, by whoever checks a document.
pub(crate) trait Checks<'a> {
    /// The document.
    fn source(&self) -> &Source<'a>;

    fn refuse<T, V>(&self, at: &Located<T>, reason: impl Into<String>, remedy: &str) -> Checked<V> {
        Err(self.source().refuse(at.span.clone(), reason, remedy))
    }

    fn version(&self, written: &Located<u64>) -> Checked<()> {
        if written.value == VERSION {
            return Ok(());
        }
        let reason = format!("must be {VERSION}, the version of the format read here");
        self.refuse(written, reason, "write `weir = 1`")
    }

    fn name(&self, written: &Located<String>, example: &str) -> Checked<String> {
        let name = &written.value;
        let is_plain = name.chars().all(|each| !each.is_control() && !"\"\\`".contains(each));
        if name.trim().is_empty() || name.chars().count() > MAX_NAME || !is_plain {
            let reason = format!("must be from 1 to {MAX_NAME} characters without quotes and backslashes");
            return self.refuse(written, reason, &format!("choose a name such as \"{example}\""));
        }
        Ok(name.clone())
    }

    fn whole(&self, written: &Located<u64>, low: u64, high: u64) -> Checked<u32> {
        match u32::try_from(written.value) {
            Ok(number) if (low..=high).contains(&u64::from(number)) => Ok(number),
            _ => self.refuse(written, format!("must be from {low} to {high}"), "write a number within"),
        }
    }

    fn time(&self, written: &Located<String>) -> Checked<Nanos> {
        match quantity::time(&written.value) {
            Some(time) if time.get() > 0 => Ok(time),
            _ => self.refuse(written, "must be a time above 0 with its unit", "write it as in \"20us\""),
        }
    }
}
