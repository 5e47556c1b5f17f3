//! The bytes of a file, plain or gzip, one record at a time.
//!
//! A record is held while it is read; how much of it, its reader says and has bounded before. The buffer
//! grows with what is really there, never with what a length claims.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;

use crate::error::{CaptureError, Fault};

const GZIP: &[u8] = &[0x1f, 0x8b];
const CHUNK: usize = 64 << 10;

/// A file that is read record by record.
pub(crate) struct Input<'r> {
    source: Box<dyn BufRead + 'r>,
    /// Where the record begins.
    begin: u64,
    /// How far the file is read.
    offset: u64,
    record: Vec<u8>,
}

impl<'r> Input<'r> {
    /// Begins at the first byte; a file that begins as gzip does is unpacked.
    pub(crate) fn new(source: impl Read + 'r) -> Result<Self, CaptureError> {
        let mut plain = BufReader::with_capacity(CHUNK, source);
        let is_gzip = plain.fill_buf().map_err(|error| unreadable(&error).at(0))?.starts_with(GZIP);
        let source: Box<dyn BufRead + 'r> = if is_gzip {
            Box::new(BufReader::with_capacity(CHUNK, MultiGzDecoder::new(plain)))
        } else {
            Box::new(plain)
        };
        Ok(Self { source, begin: 0, offset: 0, record: Vec::new() })
    }

    /// Lets go of the record that is held; the next begins here.
    pub(crate) fn begin(&mut self) {
        self.begin = self.offset;
        self.record.clear();
    }

    /// Where the record begins.
    pub(crate) const fn place(&self) -> u64 {
        self.begin
    }

    /// What is held of the record.
    pub(crate) fn record(&self) -> &[u8] {
        &self.record
    }

    /// Reads until `length` bytes of the record are held; false if the file ends before.
    pub(crate) fn hold(&mut self, length: usize) -> Result<bool, CaptureError> {
        while self.record.len() < length {
            let held = self.record.len();
            self.record.resize(held + (length - held).min(CHUNK), 0);
            let read = self.source.read(&mut self.record[held..]);
            self.record.truncate(held + read.as_ref().map_or(0, |read| *read));
            match read.map_or_else(|error| ended(&error), Ok) {
                Ok(0) => return Ok(false),
                Ok(read) => self.offset += read as u64,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(&error).at(self.begin)),
            }
        }
        Ok(true)
    }

    /// Passes over bytes without holding them; false if the file ends before.
    pub(crate) fn skip(&mut self, mut length: u64) -> Result<bool, CaptureError> {
        while length > 0 {
            let read = match self.source.fill_buf() {
                Ok(buffer) => buffer.len().min(usize::try_from(length).unwrap_or(usize::MAX)),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => ended(&error).map_err(|error| unreadable(&error).at(self.begin))?,
            };
            if read == 0 {
                return Ok(false);
            }
            self.source.consume(read);
            self.offset += read as u64;
            length -= read as u64;
        }
        Ok(true)
    }
}

/// A compressed file that was cut off ends where it was cut.
fn ended(error: &io::Error) -> io::Result<usize> {
    if error.kind() == ErrorKind::UnexpectedEof {
        Ok(0)
    } else {
        Err(io::Error::new(error.kind(), error.to_string()))
    }
}

fn unreadable(error: &io::Error) -> Fault {
    // Without the number that the system appends.
    let text = error.to_string().to_lowercase();
    Fault::Unreadable(text.split(" (os error").next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(bytes).expect("in memory");
        packer.finish().expect("in memory")
    }

    #[test]
    fn records_have_their_place_and_the_end_is_told() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|byte| byte as u8).collect();
        for file in [bytes.clone(), packed(&bytes)] {
            let mut input = Input::new(&file[..]).expect("readable");
            assert_eq!(input.hold(4), Ok(true));
            assert_eq!(input.hold(150_000), Ok(true));
            assert_eq!(input.record(), &bytes[..150_000]);
            assert_eq!(input.skip(10), Ok(true));
            input.begin();
            assert_eq!((input.place(), input.record()), (150_010, &[][..]));
            assert_eq!(input.hold(60_000), Ok(false));
            assert_eq!(input.record(), &bytes[150_010..]);
            assert_eq!(input.skip(1), Ok(false));
        }
    }

    #[test]
    fn a_compressed_file_that_was_cut_ends_there() {
        let file = packed(&[7; 100_000]);
        let mut input = Input::new(&file[..file.len() - 20]).expect("readable");
        assert_eq!(input.hold(200_000), Ok(false));
        let mut input = Input::new(&file[..file.len() - 20]).expect("readable");
        assert_eq!(input.skip(200_000), Ok(false));
    }

    #[test]
    fn a_damaged_compressed_file_is_refused() {
        let mut file = packed(&[7; 1000]);
        let last = file.len() - 6;
        file[last] ^= 1;
        let mut input = Input::new(&file[..]).expect("readable");
        assert!(matches!(input.hold(2000), Err(CaptureError { byte: 0, fault: Fault::Unreadable(_) })));
    }
}
