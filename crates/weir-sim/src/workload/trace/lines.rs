//! A bound on the length of a line, so that a file of one endless line is refused instead of held.

use std::io::{Error, ErrorKind, Read, Result};

/// The longest line, in bytes.
const MAX_LINE: usize = 1 << 20;

/// Passes bytes on until a line is too long.
pub(super) struct LineLimit<R> {
    inner: R,
    /// Bytes since the last end of a line.
    line: usize,
}

impl<R: Read> LineLimit<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, line: 0 }
    }
}

impl<R: Read> Read for LineLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let count = self.inner.read(buffer)?;
        self.line = match buffer[..count].iter().rposition(|byte| *byte == b'\n') {
            Some(last) => count - last - 1,
            None => self.line + count,
        };
        if self.line > MAX_LINE {
            let reason = format!("the line is longer than {MAX_LINE} bytes");
            return Err(Error::new(ErrorKind::InvalidData, reason));
        }
        Ok(count)
    }
}
