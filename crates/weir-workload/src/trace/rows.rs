//! The rows of a CSV file, one line each, with the number of the line.
//!
//! Quoted fields are read as RFC 4180 has them, but for line breaks within: a quote that is not closed on
//! its line is refused there, and cannot swallow the rest of the file. Empty lines and lines that begin with
//! `#` are passed over.

use std::io::Read;

use csv_core::ReadRecordResult;

use super::lines::Lines;
use weir_document::Refused;

/// Reads row by row.
pub(crate) struct Rows<'n, R> {
    lines: Lines<'n, R>,
    parser: csv_core::Reader,
    row: Row,
}

/// The fields of one row.
#[derive(Default)]
pub(crate) struct Row {
    text: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
}

impl Row {
    /// How many fields there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// A field without the blanks around it; empty where there is none.
    pub(crate) fn field(&self, place: usize) -> &str {
        if place >= self.count {
            return "";
        }
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        let end = self.ends[place];
        core::str::from_utf8(&self.text[start..end]).unwrap_or_default().trim()
    }

    /// Leaves no field.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.count = 0;
    }

    /// One more field.
    pub(crate) fn push(&mut self, field: &str) {
        self.text.extend_from_slice(field.as_bytes());
        self.ends.push(self.text.len());
        self.count += 1;
    }
}

impl<'n, R: Read> Rows<'n, R> {
    pub(crate) fn new(source: R, separator: u8, name: &'n str) -> Self {
        let parser = csv_core::ReaderBuilder::new().delimiter(separator).build();
        Self { lines: Lines::new(source, name), parser, row: Row::default() }
    }

    /// The next row and the number of its line; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(&Row, usize)>, Refused> {
        if !self.lines.advance_to_content()? {
            return Ok(None);
        }
        self.split()?;
        Ok(Some((&self.row, self.lines.number())))
    }

    fn split(&mut self) -> Result<(), Refused> {
        let line = self.lines.line();
        if core::str::from_utf8(line).is_err() {
            return Err(self.lines.refuse("the row is not UTF-8 text", "save the file as UTF-8"));
        }
        self.parser.reset();
        let Row { text, ends, count } = &mut self.row;
        text.resize(line.len() + 1, 0);
        ends.resize(line.len() + 2, 0);
        let (result, _, _, fields) = self.parser.read_record(line, text, ends);
        *count = fields;
        if matches!(result, ReadRecordResult::Record) {
            return Ok(());
        }
        Err(self
            .lines
            .refuse("a quote is not closed on its line", "close it, or write it twice within a field"))
    }
}
