//! The packets that were dropped last, with where and why: what an operator inspects when a count goes up.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work per dropped packet | O(1): its first [`HEAD`] bytes are copied |
//! | Memory | [`MOST`] entries of some 200 bytes, made at the start; the oldest goes first |
//! | Units | nanoseconds, bytes |

use weir_core::units::Instant;

use crate::snapshot::Reason;

/// How many are kept.
pub const MOST: usize = 512;
/// How many bytes of each frame are kept: headers, also of a tunnel, and the beginning of what they carry.
pub const HEAD: usize = 192;

/// The addresses that a frame begins with; its tags are behind them.
const ADDRESSES: usize = 12;

/// A packet that was dropped.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    /// When.
    pub at: Instant,
    /// The place of the interface that counts it.
    pub interface: u16,
    /// Why.
    pub reason: Reason,
    /// How many bytes the frame had.
    pub length: u32,
    head: [u8; HEAD],
}

impl Dropped {
    /// What is kept of a frame, and of the VLAN tags that were taken off it.
    pub(crate) fn new(at: Instant, frame: (&[u8], &[u8]), interface: usize, reason: Reason) -> Self {
        let (bytes, tags) = frame;
        let (addresses, rest) = bytes.split_at(bytes.len().min(ADDRESSES));
        let (mut head, mut kept) = ([0; HEAD], 0);
        for part in [addresses, tags, rest] {
            let count = part.len().min(HEAD - kept);
            head[kept..kept + count].copy_from_slice(&part[..count]);
            kept += count;
        }
        Self { at, interface: interface as u16, reason, length: (bytes.len() + tags.len()) as u32, head }
    }

    /// The first bytes of the frame, from the Ethernet header on.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head[..HEAD.min(self.length as usize)]
    }
}

/// See above.
#[derive(Clone, Debug)]
pub struct Record {
    entries: Vec<Dropped>,
    /// How many were dropped so far.
    count: u64,
    /// The time of the turn.
    now: Instant,
}

impl Default for Record {
    fn default() -> Self {
        Self { entries: Vec::with_capacity(MOST), count: 0, now: Instant::ZERO }
    }
}

impl Record {
    /// What is dropped from now on is dropped then.
    #[inline]
    pub(crate) fn set_now(&mut self, now: Instant) {
        self.now = now;
    }

    /// The time of the turn.
    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// Takes note of a packet.
    pub(crate) fn note(&mut self, dropped: Dropped) {
        match self.entries.get_mut((self.count % MOST as u64) as usize) {
            Some(oldest) => *oldest = dropped,
            None => self.entries.push(dropped),
        }
        self.count += 1;
    }

    /// How many were dropped so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Those that are kept, the oldest first.
    pub fn last(&self) -> impl Iterator<Item = &Dropped> {
        let oldest = if self.entries.len() < MOST { 0 } else { (self.count % MOST as u64) as usize };
        let (newer, older) = self.entries.split_at(oldest);
        older.iter().chain(newer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_are_kept_in_their_order() {
        let mut record = Record::default();
        assert_eq!((record.count(), record.last().count()), (0, 0));
        for number in 0..=MOST as u64 + 4 {
            record.set_now(Instant::new(number));
            record.note(Dropped::new(record.now(), (&[number as u8; 300], &[]), 3, Reason::QueueFull));
            let last: Vec<u64> = record.last().map(|dropped| dropped.at.get()).collect();
            let first = (number + 1).saturating_sub(MOST as u64);
            assert_eq!(last, (first..=number).collect::<Vec<_>>());
        }
        assert_eq!(record.count(), MOST as u64 + 5);
        let last = record.last().last().expect("one");
        assert_eq!((last.length, last.head().len(), last.head()[0]), (300, HEAD, (MOST as u64 + 4) as u8));
        record.note(Dropped::new(record.now(), (&[7; 9], &[]), 0, Reason::Malformed));
        assert_eq!(record.last().last().expect("one").head(), [7; 9]);
        record.note(Dropped::new(record.now(), (&[7; 14], &[8; 4]), 0, Reason::Malformed));
        let last = record.last().last().expect("one");
        assert_eq!((last.length, last.head()), (18, &[[7; 12].as_slice(), &[8; 4], &[7; 2]].concat()[..]));
    }
}
