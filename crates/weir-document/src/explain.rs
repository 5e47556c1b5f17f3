//! The refusals of the parser in the words of the user.

use core::ops::Range;

use serde::de::DeserializeOwned;

use crate::refused::Refused;
use crate::source::Source;
use crate::tree::{Tree, Unread};
use weir_core::nearest::nearest;
use weir_core::units::Bytes;

/// What is peculiar to one kind of document: how long it may be, and what its refusals advise.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    /// The longest document that is read.
    pub longest: Bytes,
    /// What to do with a longer one.
    pub shorten: &'static str,
    /// What to do where the key called this is missing.
    pub missing: fn(&str) -> String,
    /// What to write for a name that stands without the parameters that it needs.
    pub parameters: &'static str,
    /// What is wrong with a value of another type than belongs there, and what to write.
    pub mismatch: fn(&Mismatch<'_>) -> (&'static str, String),
}

/// A value that is not of the type that belongs there, in the words of the parser.
#[derive(Clone, Copy, Debug)]
pub struct Mismatch<'m> {
    /// The type of what stands there: `integer`, `floating point`, `string`, ...
    pub found: &'m str,
    /// What stands there, without its quotes.
    pub text: &'m str,
    /// What belongs there.
    pub expected: &'m str,
    /// Whether the type is right and the value is not.
    pub is_of_the_type: bool,
}

impl Mismatch<'_> {
    /// Whether a number stands there.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(self.found, "integer" | "floating point")
    }

    /// Whether it is below zero; with or without a unit.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    }

    /// Whether it is a number with an exponent, as `1e3ms`.
    #[must_use]
    pub fn has_exponent(&self) -> bool {
        let number = self.text.trim_start_matches(|each: char| each.is_ascii_digit() || ".-+".contains(each));
        let power = number.strip_prefix(['e', 'E']).map(|power| power.trim_start_matches(['-', '+']));
        number.len() < self.text.len()
            && power.is_some_and(|power| power.starts_with(|first: char| first.is_ascii_digit()))
    }
}

impl Source<'_> {
    /// Reads a document.
    ///
    /// # Errors
    /// It is too long, no TOML, or has other keys and types than belong in it.
    pub fn read<T: DeserializeOwned>(&self, wording: &Wording) -> Result<T, Refused> {
        let tree = self.tree(wording)?;
        tree.read().map_err(|error| self.explain(&error, wording))
    }

    /// Parses a document, for what is read from it in several steps.
    ///
    /// # Errors
    /// It is too long, or no TOML.
    pub fn tree(&self, wording: &Wording) -> Result<Tree<'_>, Refused> {
        self.check_length(wording)?;
        Tree::parse(self.text).map_err(|error| self.explain(&error, wording))
    }

    /// Refuses a document that is longer than those of its kind are read.
    ///
    /// # Errors
    /// The document is too long.
    pub fn check_length(&self, wording: &Wording) -> Result<(), Refused> {
        let (length, longest) = (self.text.len(), wording.longest.get());
        if length as u64 <= longest {
            return Ok(());
        }
        let reason = format!("has {length} bytes, at most {longest} are read");
        Err(Refused::of_file(self.name, reason, wording.shorten))
    }

    /// What the parser refused: unknown keys, wrong types, wrong units, wrong syntax.
    #[must_use]
    pub fn explain(&self, error: &Unread, wording: &Wording) -> Refused {
        let message = error.message.as_str();
        let whole_file: Range<usize> = 0..0;
        let span = error.span.clone().unwrap_or(whole_file);
        if message.starts_with("duplicate key") {
            let name = self.text.get(span.clone()).unwrap_or_default();
            return self.refuse(span, "is given twice", "keep one of the two").key(name);
        }
        let told = unknown(message)
            .or_else(|| missing(message, wording))
            .or_else(|| shape(message, wording))
            .or_else(|| mismatch(message, wording))
            .unwrap_or_else(|| syntax(message));
        let mut refusal = self.refuse(span, told.reason, told.remedy);
        if let Some(field) = told.missing {
            let table = refusal.key.take().map_or(String::new(), |table| format!("{table}."));
            refusal = refusal.key(format!("{table}{field}"));
            refusal.value = None;
        }
        refusal
    }
}

/// What is wrong, and what to write instead.
struct Explanation {
    reason: String,
    remedy: String,
    /// A key that is missing from the table at the span.
    missing: Option<String>,
}

impl Explanation {
    fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { reason: reason.into(), remedy: remedy.into(), missing: None }
    }
}

/// "unknown field `x`, expected one of `a`, `b`", and the same of a variant.
fn unknown(message: &str) -> Option<Explanation> {
    let (reason, rest) = match message.strip_prefix("unknown field ") {
        Some(rest) => ("is not a key here", rest),
        None => ("is not known here", message.strip_prefix("unknown variant ")?),
    };
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let name = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let hint = nearest(name, known.iter().copied());
    let hint = hint.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Some(Explanation::new(reason, format!("{hint}choose one of `{}`", known.join("`, `"))))
}

/// "missing field `x`".
fn missing(message: &str, wording: &Wording) -> Option<Explanation> {
    let field = message.strip_prefix("missing field `")?.strip_suffix('`')?;
    let remedy = (wording.missing)(field);
    Some(Explanation { missing: Some(field.to_owned()), ..Explanation::new("is missing", remedy) })
}

/// Wrong numbers of elements, and names with or without parameters.
fn shape(message: &str, wording: &Wording) -> Option<Explanation> {
    let is_variant = message.contains("newtype variant") || message.contains("tuple variant");
    if message.starts_with("wanted ") {
        let remedy = "write a name in quotes, or a table of one name with its parameters in braces";
        return Some(Explanation::new("must be one name, alone or with its parameters", remedy));
    }
    if message.starts_with("invalid type: unit variant") && is_variant {
        return Some(Explanation::new("needs parameters", wording.parameters));
    }
    if let Some(found) = message.strip_prefix("expected table, found ") {
        let reason = format!("must be a table of parameters, not a {found}");
        return Some(Explanation::new(
            reason,
            "write its parameters in braces or, without names, in brackets",
        ));
    }
    if message.starts_with("invalid length") || message.starts_with("expected tuple") {
        let count = if message.contains("with 3 elements") { "three" } else { "two" };
        let remedy = format!("write a list of {count} values in brackets");
        return Some(Explanation::new(format!("must have {count} values"), remedy));
    }
    None
}

/// "invalid type: integer `10`, expected a span of time ...", and the same of values.
fn mismatch(message: &str, wording: &Wording) -> Option<Explanation> {
    let of_type = message.strip_prefix("invalid value: ");
    let rest = message.strip_prefix("invalid type: ").or(of_type)?;
    let (found, expected) = rest.split_once(", expected ")?;
    let (found, text) = found.split_once(['`', '"']).unwrap_or((found, ""));
    let (found, text) = (found.trim(), text.trim_end_matches(['`', '"']));
    let is_of_the_type = of_type.is_some();
    let (reason, remedy) = (wording.mismatch)(&Mismatch { found, text, expected, is_of_the_type });
    Some(Explanation::new(reason, remedy))
}

fn syntax(message: &str) -> Explanation {
    let reason = message.lines().next().unwrap_or_default().to_lowercase();
    Explanation::new(reason, "correct the TOML here: `key = value`, text in quotes")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    const WORDING: Wording = Wording {
        longest: Bytes::new(80),
        shorten: "write less",
        missing: |key| format!("add `{key}`"),
        parameters: "write them behind it",
        mismatch: |it| ("of another type", format!("write {}", it.expected)),
    };

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what is refused is looked at")]
    struct Document {
        load: f64,
        size: Option<Size>,
        range: Option<(u32, u32)>,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only what is refused is looked at")]
    enum Size {
        Report,
        Uniform { low: u32 },
        Constant(u32),
    }

    fn told(text: &str) -> String {
        let source = Source { name: "f", text };
        source.read::<Document>(&WORDING).err().map_or_else(String::new, |refused| refused.to_string())
    }

    #[test]
    fn the_parser_is_put_into_words() {
        for (text, expected) in [
            ("load = 1", ""),
            (
                "laod = 1",
                "f:1:1: laod is not a key here: did you mean `load`? choose one of `load`, `size`, `range`",
            ),
            ("size = \"report\"", "f:1:1: load is missing: add `load`"),
            ("load = \"1\"", "f:1:8: load is \"1\", of another type: write f64"),
            ("load = 1\nload = 2", "f:2:1: load is given twice: keep one of the two"),
            ("load = 1\nsize = \"uniform\"", "f:2:8: size is \"uniform\", "),
            (
                "load = 1\nsize = \"constant\"",
                "f:2:8: size is \"constant\", needs parameters: write them behind it",
            ),
            (
                "load = 1\nsize = \"rport\"",
                "f:2:8: size \"rport\" is not known here: did you mean `report`? ",
            ),
            (
                "load = 1\nrange = [1]",
                "f:2:9: range is [1], must have two values: write a list of two values",
            ),
            ("load 1", "f:1:6: "),
        ] {
            let told = told(text);
            assert!(told.starts_with(expected) && told.is_empty() == expected.is_empty(), "{text}: {told}");
        }
    }

    #[test]
    fn signs_and_exponents_are_known() {
        let of = |text| Mismatch { found: "string", text, expected: "a time", is_of_the_type: true };
        for text in ["-5ms", "-1", "-0.5%"] {
            assert!(of(text).is_negative() && !of(text).has_exponent(), "{text}");
        }
        for text in ["1e3ms", "2.5E-3s", "1e+3"] {
            assert!(of(text).has_exponent() && !of(text).is_negative(), "{text}");
        }
        for text in ["", "-", "-x", "e3", "5ms", "5e", "5es", "echo"] {
            assert!(!of(text).has_exponent() && !of(text).is_negative(), "{text}");
        }
    }

    #[test]
    fn long_documents_are_refused_unread() {
        let refused = told(&" ".repeat(81));
        assert_eq!(refused, "f: has 81 bytes, at most 80 are read: write less");
    }
}
