//! Reads a log, and says whether it is whole.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use weir_document::Refused;

use super::{Header, Kind, MAGIC, MAX_HEADER, Record, VERSION, record};

/// How a log ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its last record: it is whole.
    Whole,
    /// Without: what was written later is lost, and this many bytes of a record that is not whole.
    Cut {
        /// Bytes after the last whole record.
        rest: usize,
    },
}

const NOT_A_LOG: &str = "name a log written by `weird tg --log`";
const DAMAGED: &str = "the file was damaged; take the log of another run";

/// A log: its header, and its records as an iterator, which ends at the first error.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    name: String,
    header: Header,
    /// The offset of the next record in the file.
    offset: u64,
    records: i64,
    ending: Option<Ending>,
    failed: bool,
}

impl Reader<BufReader<File>> {
    /// Opens a log.
    ///
    /// # Errors
    /// It cannot be read, or has no header.
    pub fn open(path: &Path) -> Result<Self, Refused> {
        let name = path.display().to_string();
        let unread = |error: io::Error| {
            Refused::of_file(
                &name,
                format!("the file cannot be read: {error}"),
                "check the name and who may read it",
            )
        };
        if !path.metadata().map_err(unread)?.is_file() {
            return Err(Refused::of_file(&name, "it is not a file", NOT_A_LOG));
        }
        Self::new(BufReader::with_capacity(1 << 16, File::open(path).map_err(unread)?), &name)
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header of a log that is called `name`.
    ///
    /// # Errors
    /// There is none.
    pub fn new(mut from: R, name: &str) -> Result<Self, Refused> {
        let refuse = |reason: &str| Refused::of_file(name, reason, NOT_A_LOG);
        let mut fixed = [0; 16];
        let read = fill(&mut from, &mut fixed).map_err(|error| refuse(&error.to_string()))?;
        if read < 8 || fixed[0..8] != MAGIC {
            return Err(refuse("at byte 0: it is not a log"));
        }
        let word = |at: usize| fixed[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
        let (version, length) = (word(8), word(12));
        if read < fixed.len() || version != VERSION {
            return Err(refuse(&format!(
                "at byte 8: the version of the log is {version}, must be {VERSION}"
            )));
        }
        if length > MAX_HEADER {
            return Err(refuse(&format!(
                "at byte 12: its header has {length} bytes, must be at most {MAX_HEADER}"
            )));
        }
        let mut text = Vec::new();
        let most = u64::from(length);
        from.by_ref().take(most).read_to_end(&mut text).map_err(|error| refuse(&error.to_string()))?;
        if text.len() as u64 != most {
            return Err(refuse(&format!("at byte {}: its header is cut", 16 + text.len())));
        }
        let header = serde_json::from_slice(&text).map_err(|error| {
            refuse(&format!("at byte {}: its header: {error}", 15 + error.column().max(1)))
        })?;
        let offset = 16 + most;
        Ok(Self { from, name: name.to_owned(), header, offset, records: 0, ending: None, failed: false })
    }

    /// What the log says of its run.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// How it ends; `None` before the last record has been read, and after an error.
    #[must_use]
    pub const fn ending(&self) -> Option<Ending> {
        self.ending
    }

    fn step(&mut self) -> Result<Option<Record>, String> {
        let mut bytes = [0; record::SIZE];
        let read = fill(&mut self.from, &mut bytes).map_err(|error| error.to_string())?;
        if read < bytes.len() {
            self.ending = Some(Ending::Cut { rest: read });
            return Ok(None);
        }
        let record = Record::read(&bytes)?;
        if record.kind != Kind::End {
            self.offset += record::SIZE as u64;
            self.records += 1;
            return Ok(Some(record));
        }
        if record.other != self.records {
            return Err(format!("the log ends with {} records, {} are there", record.other, self.records));
        }
        if fill(&mut self.from, &mut bytes).map_err(|error| error.to_string())? > 0 {
            return Err("something follows the end of the log".to_owned());
        }
        self.ending = Some(Ending::Whole);
        Ok(None)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record, Refused>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.ending.is_some() {
            return None;
        }
        let step = self.step();
        self.failed = step.is_err();
        let reason = |reason| format!("at byte {}: {reason}", self.offset);
        step.map_err(|error| Refused::of_file(&self.name, reason(error), DAMAGED)).transpose()
    }
}

/// Reads until the buffer is full or the input ends; returns how many bytes.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
