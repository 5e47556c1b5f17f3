//! From a span of bytes to the line, the column, the dotted key and the value that stand there.
//!
//! Every refusal of a document, whether of its syntax, of its shape or of its meaning, starts as a span of bytes; the
//! rest of the error is read back from the text. So there is one way to say where.

use core::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::refused::Refused;

/// The text of a document and the name under which errors speak of it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name, such as the path of its file.
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// The line and the column, in characters, of a byte; both are counted from 1.
    #[must_use]
    pub fn line_and_column(&self, at: usize) -> (usize, usize) {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    fn slice(&self, span: &Range<usize>) -> Option<&'a str> {
        self.text.get(span.clone()).filter(|text| !text.is_empty())
    }

    /// An error at `span`, with the key that leads there and the value as written.
    #[must_use]
    pub fn refuse(
        &self,
        span: Range<usize>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Refused {
        let (line, column) = self.line_and_column(span.start);
        let mut error = Refused::of_file(self.name, reason, remedy).at(line, column);
        let found = DeTable::parse(self.text).ok().and_then(|root| key_at(&root, &span));
        if let Some((key, is_value)) = found {
            error = error.key(key);
            if let Some(value) = self.slice(&span).filter(|_| is_value) {
                error = error.value(value);
            }
        }
        error
    }

    /// An error of a key, given with the tables that it is in: at its value, or of the whole text where it does not stand
    /// in it.
    #[must_use]
    pub fn refuse_key(&self, path: &[&str], reason: impl Into<String>, remedy: impl Into<String>) -> Refused {
        let root = DeTable::parse(self.text).ok();
        match root.and_then(|root| span_of(root.get_ref(), path)) {
            Some(span) => self.refuse(span, reason, remedy),
            None => Refused::of_file(self.name, reason, remedy).key(path.join(".")),
        }
    }
}

/// Where the value of a key stands.
fn span_of(table: &DeTable<'_>, path: &[&str]) -> Option<Range<usize>> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    match (rest, value.get_ref()) {
        ([], _) => Some(value.span()),
        (rest, DeValue::Table(inner)) => span_of(inner, rest),
        _ => None,
    }
}

/// The dotted key at `span`, and whether the span is of its value.
fn key_at(root: &Spanned<DeTable<'_>>, span: &Range<usize>) -> Option<(String, bool)> {
    let mut path = Vec::new();
    let is_value = descend(root.get_ref(), span, &mut path)?;
    Some((path.join("."), is_value))
}

fn descend(table: &DeTable<'_>, span: &Range<usize>, path: &mut Vec<String>) -> Option<bool> {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        if key.span() == *span {
            return Some(false);
        }
        if let Some(found) = descend_value(value, span, path) {
            return Some(found);
        }
        path.pop();
    }
    None
}

fn descend_value(value: &Spanned<DeValue<'_>>, span: &Range<usize>, path: &mut Vec<String>) -> Option<bool> {
    let deeper = match value.get_ref() {
        DeValue::Table(table) => descend(table, span, path),
        DeValue::Array(array) => array.iter().find_map(|element| descend_value(element, span, path)),
        _ => None,
    };
    let is_table = matches!(value.get_ref(), DeValue::Table(_));
    deeper.or_else(|| (value.span() == *span).then_some(!is_table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let source = Source { name: "f", text: "a = 1\nü = \"é\" # b\n" };
        assert_eq!(source.line_and_column(0), (1, 1));
        assert_eq!(source.line_and_column(source.text.find('#').expect("present")), (2, 9));
        // Within a character, and behind the end.
        assert_eq!(source.line_and_column(7), (2, 1));
        assert_eq!(source.line_and_column(99), (3, 1));
    }

    #[test]
    fn a_span_finds_its_key_and_value() {
        let text = "[a.b]\nc = [1, { d = 22 }]\n[e]\n";
        let source = Source { name: "f", text };
        let at = text.find("22").expect("present");
        let error = source.refuse(at..at + 2, "is large", "lower it");
        assert_eq!(error.to_string(), "f:2:15: a.b.c.d 22 is large: lower it");
        let at = text.find('d').expect("present");
        let error = source.refuse(at..at + 1, "is not a key here", "remove it");
        assert_eq!(error.to_string(), "f:2:11: a.b.c.d is not a key here: remove it");
        let error = source.refuse(text.len()..text.len(), "ends here", "go on");
        assert_eq!(error.to_string(), "f:4:1: ends here: go on");
    }

    #[test]
    fn a_key_finds_its_place() {
        let source = Source { name: "f", text: "[a.b]\nc = 2\n[e]\nf = { g = 1 }\n" };
        let error = |path: &[&str]| source.refuse_key(path, "is wrong", "change it").to_string();
        assert_eq!(error(&["a", "b", "c"]), "f:2:5: a.b.c 2 is wrong: change it");
        assert_eq!(error(&["a", "b"]), "f:1:1: a.b is wrong: change it");
        assert_eq!(error(&["e", "f"]), "f:4:5: e.f is wrong: change it");
        assert_eq!(error(&["e", "f", "h"]), "f: e.f.h is wrong: change it");
        assert_eq!(error(&["a", "b", "c", "d"]), "f: a.b.c.d is wrong: change it");
    }
}
