//! Blocks: what of a recording is whole or not there.

use crate::number::put;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// What the whole recording is about.
    Head = b'H',
    /// Tasks that were admitted.
    Tasks = b'T',
    /// Wake-ups and polls.
    Events = b'E',
    /// The run ended in order.
    End = b'Z',
}

impl Kind {
    pub(crate) const fn of(byte: u8) -> Option<Self> {
        match byte {
            b'H' => Some(Self::Head),
            b'T' => Some(Self::Tasks),
            b'E' => Some(Self::Events),
            b'Z' => Some(Self::End),
            _ => None,
        }
    }
}

/// Bytes before what a block holds.
pub(crate) const FRAME: usize = 9;
/// The most bytes that a block holds.
pub(crate) const LARGEST: usize = 1 << 24;

pub(crate) fn sum(kind: u8, held: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&[kind]);
    sum.update(&(held.len() as u32).to_le_bytes());
    sum.update(held);
    sum.finalize()
}

/// What stands before `held` in the file.
#[must_use]
pub fn frame(kind: Kind, held: &[u8]) -> [u8; FRAME] {
    let mut frame = [kind as u8; FRAME];
    frame[1..5].copy_from_slice(&(held.len() as u32).to_le_bytes());
    frame[5..].copy_from_slice(&sum(kind as u8, held).to_le_bytes());
    frame
}

/// What the first block holds.
#[must_use]
pub fn head(discipline: &str, epoch: u64, workers: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, discipline.len() as u64);
    bytes.extend(discipline.as_bytes());
    put(&mut bytes, epoch);
    put(&mut bytes, u64::from(workers));
    bytes
}

/// What the last block holds; `lost` has an element for each worker.
#[must_use]
pub fn end(at: u64, lost: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, at);
    for lost in lost {
        put(&mut bytes, *lost);
    }
    bytes
}
