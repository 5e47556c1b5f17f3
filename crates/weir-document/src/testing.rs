//! What tests of documents need, here and in the crates above; of no other use.
//!
//! A table of refusals is a text of blocks, with an empty line between two: a document, then `=> ` and its refusal.

use std::path::{Path, PathBuf};

use weir_core::info::Info;

use crate::Refused;

/// A text with its usual parts in the place of the words that stand for them.
#[must_use]
pub fn filled(parts: &[(&str, &str)], text: &str) -> String {
    parts.iter().fold(text.to_owned(), |text, (word, part)| text.replace(word, part))
}

/// The names of disciplines as a refusal lists them, so that a new one changes no table.
#[must_use]
pub fn names<'i>(disciplines: impl IntoIterator<Item = &'i &'i Info>) -> String {
    let names: Vec<&str> = disciplines.into_iter().map(|info| info.name).collect();
    names.join("`, `")
}

/// A refusal in its one line; it has a place, a reason and a remedy.
#[must_use]
pub fn told(refused: &Refused) -> String {
    assert!(refused.line.is_some() && refused.column.is_some(), "no place: {refused}");
    assert!(!refused.remedy.is_empty() && !refused.reason.is_empty(), "{refused:?}");
    refused.to_string()
}

/// Holds what reads a document to a table of refusals, word by word.
pub fn assert_refusals<T>(table: &str, read: impl Fn(&str) -> Result<T, Refused>) {
    let mut wrong = String::new();
    for block in table.trim_end().split("\n\n") {
        let (text, expected) = block.split_once("\n=> ").expect("each block has its refusal");
        let got = read(text).map_or_else(|refused| told(&refused), |_| "accepted".to_owned());
        if got != expected {
            wrong.push_str(&format!("{text}\nexpected {expected}\ngot      {got}\n\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Holds a page to bounds of the code: each stands in a row of a table that has its key.
pub fn assert_bounds<'k>(page: &str, bounds: impl IntoIterator<Item = (&'k str, String)>) {
    for (key, bound) in bounds {
        let row = |line: &&str| line.starts_with('|') && line.contains(key);
        let found = page.lines().filter(row).any(|line| line.contains(&bound));
        assert!(found, "no row of {key} has {bound}");
    }
}

/// A number as pages write it, `4,194,304`.
#[must_use]
pub fn grouped(number: u64) -> String {
    match number {
        1000.. => format!("{},{:03}", grouped(number / 1000), number % 1000),
        _ => number.to_string(),
    }
}

/// A folder for a test that needs files, removed at its end.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// An empty one; the name is that of one test of a process.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("weir-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for tests");
        Self(path)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file and says where it is.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("a file for tests");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "a = 1\n=> f:1:1: a is here: leave it\n\nb = 2\na = 1\n=> f:2:1: a is here: leave it\n";

    /// Refuses the first line that begins with the letter.
    fn read(letter: char) -> impl Fn(&str) -> Result<(), Refused> {
        move |text| match text.lines().position(|line| line.starts_with(letter)) {
            Some(line) => Err(Refused::of_file("f", "a is here", "leave it").at(line + 1, 1)),
            None => Ok(()),
        }
    }

    #[test]
    fn every_block_of_a_table_is_read() {
        assert_refusals(TABLE, read('a'));
    }

    #[test]
    #[should_panic(expected = "expected f:2:1: a is here: leave it\ngot      f:1:1: a is here: leave it")]
    fn another_refusal_is_told() {
        assert_refusals(&TABLE.replace("b = 2", "a = 2"), read('a'));
    }

    #[test]
    #[should_panic(expected = "got      accepted")]
    fn what_is_accepted_is_told() {
        assert_refusals(TABLE, read('b'));
    }

    #[test]
    fn bounds_are_looked_for_in_the_rows_of_their_key() {
        let page = "| `a` | up to 4,096 |\n| `b` | 7 |\n";
        assert_bounds(page, [("`a`", format!("up to {} |", grouped(4096))), ("`b`", grouped(7))]);
        let missing = std::panic::catch_unwind(|| assert_bounds(page, [("`b`", grouped(4096))]));
        assert!(missing.is_err());
    }
}
