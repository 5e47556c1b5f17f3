//! The rows of a CSV file, one line each, with the number of the line.
//!
//! Quoted fields are read as RFC 4180 has them, but for line breaks within: a quote that is not closed on
//! its line is refused there, and cannot swallow the rest of the file. Empty lines and lines that begin with
//! `#` are passed over.

use std::io::{BufRead, BufReader, Read};

use csv_core::ReadRecordResult;

use weir_document::{Refused, plain_io};

/// The longest line, in bytes.
const MAX_LINE: usize = 1 << 20;
/// What some programs write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads row by row.
pub(crate) struct Rows<'n, R> {
    source: BufReader<R>,
    parser: csv_core::Reader,
    name: &'n str,
    number: usize,
    line: Vec<u8>,
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
        let start = if place == 0 { 0 } else { self.ends.get(place - 1).copied().unwrap_or(0) };
        let end = if place < self.count { self.ends[place] } else { start };
        core::str::from_utf8(&self.text[start..end]).unwrap_or_default().trim()
    }
}

impl<'n, R: Read> Rows<'n, R> {
    pub(crate) fn new(source: R, separator: u8, name: &'n str) -> Self {
        let parser = csv_core::ReaderBuilder::new().delimiter(separator).build();
        let source = BufReader::with_capacity(1 << 16, source);
        Self { source, parser, name, number: 0, line: Vec::new(), row: Row::default() }
    }

    /// An error at the line that was read last.
    pub(crate) fn refuse(&self, reason: impl Into<String>, remedy: &str) -> Refused {
        Refused::of_file(self.name, reason, remedy).at(self.number, 1)
    }

    /// The next row and the number of its line; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(&Row, usize)>, Refused> {
        while self.read_line()? {
            let is_blank = self.line.iter().all(u8::is_ascii_whitespace);
            if !is_blank && self.line[0] != b'#' {
                self.split()?;
                return Ok(Some((&self.row, self.number)));
            }
        }
        Ok(None)
    }

    /// Reads a line, its end included; false at the end of the file.
    fn read_line(&mut self) -> Result<bool, Refused> {
        self.line.clear();
        self.number += 1;
        let read = self.source.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut self.line);
        if let Err(error) = read {
            let reason = format!("cannot be read on ({})", plain_io(&error));
            return Err(self.refuse(reason, "check the file; it may have been cut off"));
        }
        if self.line.len() > MAX_LINE {
            return Err(self.refuse(format!("the line is longer than {MAX_LINE} bytes"), "check the file"));
        }
        if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
            self.line.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(!self.line.is_empty())
    }

    fn split(&mut self) -> Result<(), Refused> {
        if core::str::from_utf8(&self.line).is_err() {
            return Err(self.refuse("the row is not UTF-8 text", "save the file as UTF-8"));
        }
        if !self.line.ends_with(b"\n") {
            self.line.push(b'\n');
        }
        self.parser.reset();
        let Row { text, ends, count } = &mut self.row;
        text.resize(self.line.len() + 1, 0);
        ends.resize(self.line.len() + 2, 0);
        let (result, _, _, fields) = self.parser.read_record(&self.line, text, ends);
        *count = fields;
        if matches!(result, ReadRecordResult::Record) {
            return Ok(());
        }
        Err(self.refuse("a quote is not closed on its line", "close it, or write it twice within a field"))
    }
}
