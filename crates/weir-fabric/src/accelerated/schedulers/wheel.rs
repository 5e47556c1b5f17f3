//! A table of entries, and the first behind a position whose channel is active: one bit for each entry.
//!
//! Work: a look-up where there are up to 64 entries and 8 channels; otherwise a step for each active channel and word.

use super::Channels;
use weir_core::packet::table::Table;

/// Entries in a word.
const WORD: usize = u64::BITS as usize;
/// Up to this many channels, what is active is looked up in a table.
const FEW: usize = 8;

/// An entry.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    channel: u8,
    weight: u32,
}

/// The entry that a search has found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Where it is.
    pub(super) at: u16,
    /// How many entries the serial form examines for that.
    pub(super) examined: u64,
}

/// A table; the position is a link's own.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// Those of a free entry are never read.
    entries: Vec<Slot>,
    /// The entries of each channel, `words` a channel.
    masks: Vec<u64>,
    words: usize,
    /// The entries of each set of channels, in one word; nothing where there are many of either.
    sets: Vec<u64>,
}

impl Wheel {
    /// A wheel of a table, for `channels` channels.
    pub(super) fn new(table: &Table, channels: usize) -> Self {
        let entries = table.entries();
        let words = entries.len().div_ceil(WORD);
        let mut masks = vec![0; words * channels];
        for (at, entry) in entries.iter().enumerate() {
            let served = entry.filter(|entry| entry.weight.get() > 0 && usize::from(entry.flow) < channels);
            if let Some(entry) = served {
                masks[usize::from(entry.flow) * words + at / WORD] |= 1 << (at % WORD);
            }
        }
        let set = |set: usize| {
            (0..channels).fold(0, |all, at| all | if set >> at & 1 == 1 { masks[at] } else { 0 })
        };
        let has_sets = words == 1 && channels <= FEW;
        let sets = if has_sets { (0..1 << FEW).map(set).collect() } else { Vec::new() };
        // A channel beyond has no bit, and no entry that is ever read.
        let entry = |entry: &Option<weir_core::packet::table::Entry>| {
            let slot = |entry: weir_core::packet::table::Entry| Slot {
                channel: entry.flow as u8,
                weight: entry.weight.get() as u32,
            };
            entry.map_or_else(Slot::default, slot)
        };
        Self { entries: entries.iter().map(entry).collect(), masks, words, sets }
    }

    /// Where the first entry is the next.
    pub(super) fn before_first(&self) -> u16 {
        self.entries.len() as u16 - 1
    }

    /// The number of entries.
    #[inline(always)]
    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// The channel of an entry.
    #[inline(always)]
    pub(super) fn channel(&self, at: u16) -> usize {
        self.entries[usize::from(at)].channel.into()
    }

    /// The weight of an entry.
    #[inline(always)]
    pub(super) fn weight(&self, at: u16) -> u32 {
        self.entries[usize::from(at)].weight
    }

    /// The next entry behind `at` whose channel is active, the one at it last.
    #[inline(always)]
    pub(super) fn next(&self, at: u16, active: Channels) -> Option<Found> {
        let next = if let Some(&left) = self.sets.get(usize::from(active)) {
            let behind = left & (u64::MAX << at << 1);
            let first = if behind != 0 { behind } else { left };
            if first == 0 {
                return None;
            }
            first.trailing_zeros() as u16
        } else {
            self.next_of_words(at, active)?
        };
        let passed = if next > at { next - at } else { next + self.entries.len() as u16 - at };
        Some(Found { at: next, examined: passed.into() })
    }

    #[inline(never)]
    fn next_of_words(&self, at: u16, active: Channels) -> Option<u16> {
        let own = usize::from(at) / WORD;
        let behind = u64::MAX << (usize::from(at) % WORD) << 1;
        (0..=self.words).find_map(|turn| {
            let word = (own + turn) % self.words;
            let (mut left, mut rest) = (0, active);
            while rest != 0 {
                left |= self.masks[rest.trailing_zeros() as usize * self.words + word];
                rest &= rest - 1;
            }
            left &= if turn == 0 { behind } else { u64::MAX };
            (left != 0).then(|| (word * WORD) as u16 + left.trailing_zeros() as u16)
        })
    }
}
