//! The lines of a file that may be long, each with its number.

use std::io::{BufRead, BufReader, Read};

use weir_document::{Refused, plain_io};

/// The longest line, in bytes.
const MAX_LINE: usize = 1 << 20;
/// What some programs write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads line by line.
pub(crate) struct Lines<'n, R> {
    source: BufReader<R>,
    name: &'n str,
    number: usize,
    line: Vec<u8>,
}

impl<'n, R: Read> Lines<'n, R> {
    pub(crate) fn new(source: R, name: &'n str) -> Self {
        let source = BufReader::with_capacity(1 << 16, source);
        Self { source, name, number: 0, line: Vec::new() }
    }

    /// The line that was read last, with an end of line, which the last of a file need not have.
    pub(crate) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Its number, from 1.
    pub(crate) const fn number(&self) -> usize {
        self.number
    }

    /// An error at the line that was read last.
    pub(crate) fn refuse(&self, reason: impl Into<String>, remedy: &str) -> Refused {
        Refused::of_file(self.name, reason, remedy).at(self.number, 1)
    }

    /// Reads a line, its end included; false at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<bool, Refused> {
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
        if self.line.is_empty() {
            return Ok(false);
        }
        if !self.line.ends_with(b"\n") {
            self.line.push(b'\n');
        }
        Ok(true)
    }

    /// Reads up to the next line that is neither empty nor begins with `#`; false at the end of the file.
    pub(crate) fn advance_to_content(&mut self) -> Result<bool, Refused> {
        while self.advance()? {
            let is_blank = self.line.iter().all(u8::is_ascii_whitespace);
            if !is_blank && self.line[0] != b'#' {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
