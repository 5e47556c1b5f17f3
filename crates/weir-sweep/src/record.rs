//! A record of a log, and reading a file of them, whatever became of it.
//!
//! | bytes | of the file | bytes | of a record |
//! |-|-|-|-|
//! | 8 | `weirlog\n` | 4 | the mark `\xffwr\n` |
//! | 4 | the layout of what follows | 4 | length of the state |
//! | 4 | the version of the numbers | 8 | content of the cell |
//! | 4 | the version of the states | 8 | seed |
//! | 4 | CRC-32 of the above | 4 | replication |
//! | | | 2 | grain |
//! | | | 2 | kind |
//! | | | 4 | CRC-32 of the state |
//! | | | 4 | CRC-32 of the above, the mark included |
//! | | | … | the state |
//!
//! Numbers are little-endian. An index needs the headers alone: their own check sum makes it safe to skip over the states,
//! which are checked when they are read. Where a header is damaged, the next mark with a right header is looked for; so a
//! cut or overwritten stretch costs the records that it touches, and no other. A state that happens to hold a header that is
//! right in all its parts is skipped over with its record, unless the header before it is damaged: then it would take a
//! check sum of its own state to match too.
//!
//! Work: O(records) to index, O(bytes) where something is damaged. Source: the project's own; length-prefixed and
//! check-summed records as in any write-ahead log.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::index::{Key, Kind, Version};

/// The beginning of a log.
const MAGIC: [u8; 8] = *b"weirlog\n";
/// The layout of the file and its records.
const LAYOUT: u32 = 1;
/// The beginning of a record.
const MARK: [u8; 4] = *b"\xffwr\n";
/// The length of the beginning of a file.
pub const HEAD: u64 = 24;
/// The length of the header of a record.
pub const HEADER: usize = 40;
/// The longest state.
pub const LONGEST: usize = 1 << 30;
/// The bytes read at a time in a search for a mark.
const PIECE: usize = 1 << 16;

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is of.
    pub key: Key,
    /// How finely it is kept.
    pub grain: u16,
    /// What the state is.
    pub kind: Kind,
    /// The length of the state.
    pub length: u32,
    /// The check sum of the state.
    pub sum: u32,
}

/// The beginning of a log of this version.
#[must_use]
pub fn head(version: Version) -> [u8; HEAD as usize] {
    let mut head = [0; HEAD as usize];
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&LAYOUT.to_le_bytes());
    head[12..16].copy_from_slice(&version.numbers.to_le_bytes());
    head[16..20].copy_from_slice(&version.states.to_le_bytes());
    let sum = crc32fast::hash(&head[..20]);
    head[20..].copy_from_slice(&sum.to_le_bytes());
    head
}

/// What the beginning of a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// A log of this version.
    Of(Version),
    /// A log of another layout.
    Other(u32),
    /// Less than a whole beginning: its writer was killed before its first record.
    Begun,
    /// No log, or a damaged one.
    Unknown,
}

/// Reads the beginning of a file.
#[must_use]
pub fn read_head(bytes: &[u8]) -> Head {
    let whole = |at: usize| {
        bytes
            .get(at..at + 4)
            .and_then(|four| four.try_into().ok())
            .map(u32::from_le_bytes)
            .unwrap_or_default()
    };
    if bytes.len() < HEAD as usize {
        // The version is not known yet: any beginning of a beginning.
        return if MAGIC.starts_with(&bytes[..bytes.len().min(8)]) { Head::Begun } else { Head::Unknown };
    }
    if bytes[..8] != MAGIC || crc32fast::hash(&bytes[..20]) != whole(20) {
        return Head::Unknown;
    }
    match whole(8) {
        LAYOUT => Head::Of(Version { numbers: whole(12), states: whole(16) }),
        other => Head::Other(other),
    }
}

/// A record as it is written, and its header.
#[must_use]
pub fn record(key: Key, grain: u16, kind: Kind, state: &[u8]) -> (Header, Vec<u8>) {
    let header = Header { key, grain, kind, length: state.len() as u32, sum: crc32fast::hash(state) };
    let mut record = Vec::with_capacity(HEADER + state.len());
    record.extend(MARK);
    record.extend(header.length.to_le_bytes());
    record.extend(key.content.to_le_bytes());
    record.extend(key.seed.to_le_bytes());
    record.extend(key.replication.to_le_bytes());
    record.extend(grain.to_le_bytes());
    record.extend(kind.number().to_le_bytes());
    record.extend(header.sum.to_le_bytes());
    let sum = crc32fast::hash(&record);
    record.extend(sum.to_le_bytes());
    record.extend(state);
    (header, record)
}

impl Header {
    /// From its bytes; nothing where they are none.
    #[must_use]
    pub fn read(bytes: &[u8; HEADER]) -> Option<Self> {
        let part = |from: usize, length: usize| {
            let mut whole = [0; 8];
            whole[..length].copy_from_slice(&bytes[from..from + length]);
            u64::from_le_bytes(whole)
        };
        if bytes[..4] != MARK || u64::from(crc32fast::hash(&bytes[..HEADER - 4])) != part(HEADER - 4, 4) {
            return None;
        }
        let key = Key { content: part(8, 8), seed: part(16, 8), replication: part(24, 4) as u32 };
        let kind = Kind::of(part(30, 2) as u16)?;
        let length = part(4, 4) as u32;
        let fits = length as usize <= LONGEST;
        fits.then_some(Self { key, grain: part(28, 2) as u16, kind, length, sum: part(32, 4) as u32 })
    }

    /// Whether this is the state.
    #[must_use]
    pub fn is_of(&self, state: &[u8]) -> bool {
        state.len() == self.length as usize && crc32fast::hash(state) == self.sum
    }
}

/// What was found in a stretch of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The records, each with the place of its state.
    pub records: Vec<(Header, u64)>,
    /// Where the next record begins, or the one that is not whole yet.
    pub end: u64,
    /// Bytes that belong to no record.
    pub skipped: u64,
}

/// Finds the records of a file from a place on.
///
/// # Errors
/// It cannot be read.
pub fn scan(file: &File, from: u64) -> io::Result<Found> {
    let length = file.metadata()?.len();
    let mut found = Found { end: from, ..Found::default() };
    let mut bytes = [0; HEADER];
    while found.end + HEADER as u64 <= length {
        file.read_exact_at(&mut bytes, found.end)?;
        let state = found.end + HEADER as u64;
        match Header::read(&bytes) {
            Some(header) if state + u64::from(header.length) <= length => {
                found.records.push((header, state));
                found.end = state + u64::from(header.length);
            }
            // A state that is not all there is cut, or being written now, and nothing is behind it; a header that is not
            // right is damaged.
            Some(_) | None => match next_mark(file, found.end + 1, length)? {
                Some(next) => (found.skipped, found.end) = (found.skipped + next - found.end, next),
                None => return Ok(found),
            },
        }
    }
    Ok(found)
}

/// Where the next right header begins.
fn next_mark(file: &File, from: u64, length: u64) -> io::Result<Option<u64>> {
    let mut piece = vec![0; PIECE + HEADER];
    let mut at = from;
    while at + HEADER as u64 <= length {
        let held = piece.len().min((length - at) as usize);
        file.read_exact_at(&mut piece[..held], at)?;
        let starts = held + 1 - HEADER;
        for start in (0..starts).filter(|&start| piece[start..].starts_with(&MARK)) {
            let header: Option<&[u8; HEADER]> = piece[start..].first_chunk();
            let right = header.and_then(Header::read);
            let ends = |header: &Header| at + start as u64 + HEADER as u64 + u64::from(header.length);
            if right.is_some_and(|header| ends(&header) <= length) {
                return Ok(Some(at + start as u64));
            }
        }
        at += starts as u64;
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
