//! The position in a table, and the entries whose flows have packets: the first behind the position is found at once.
//!
//! Work of a decision: O(entries / 64) for each flow that the gate refuses, and once for the flow that is found.

use super::{Entry, Table};
use crate::units::Credits;

/// Entries in a word.
const WORD: usize = u64::BITS as usize;

/// A table with its position.
#[derive(Clone, Debug)]
pub(in crate::packet) struct Wheel {
    /// The flow of each entry; that of a free entry is never read.
    flows: Vec<u16>,
    /// The entries of each flow, one bit each, `waiting.len()` words a flow.
    masks: Vec<u64>,
    /// The entries whose flows have packets.
    waiting: Vec<u64>,
    /// Those that may still be chosen in this decision, where they take more than a word.
    left: Vec<u64>,
    /// The entry that was chosen last.
    at: usize,
}

impl Wheel {
    /// Nothing waits; the first entry is examined first. It knows flows below `flows`.
    pub(in crate::packet) fn new(table: &Table, flows: usize) -> Self {
        let entries = table.entries();
        let words = entries.len().div_ceil(WORD);
        let mut masks = vec![0; words * flows];
        for (at, entry) in entries.iter().enumerate() {
            if let Some(Entry { flow, .. }) = entry.filter(|entry| entry.weight > Credits::new(0)) {
                masks[flow as usize * words + at / WORD] |= 1 << (at % WORD);
            }
        }
        Self {
            flows: entries.iter().map(|entry| entry.map_or(0, |entry| entry.flow)).collect(),
            masks,
            waiting: vec![0; words],
            left: vec![0; words],
            at: entries.len() - 1,
        }
    }

    /// The entry that was chosen last.
    #[inline(always)]
    pub(in crate::packet) fn at(&self) -> usize {
        self.at
    }

    /// Its flow.
    #[inline(always)]
    pub(in crate::packet) fn flow(&self) -> u16 {
        self.flows[self.at]
    }

    /// The number of entries.
    #[inline(always)]
    pub(in crate::packet) fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether this flow has an entry.
    pub(in crate::packet) fn has(&self, flow: u16) -> bool {
        self.mask(flow).iter().any(|&word| word != 0)
    }

    #[inline(always)]
    fn mask(&self, flow: u16) -> &[u64] {
        let words = self.waiting.len();
        self.masks.get(flow as usize * words..).and_then(|masks| masks.get(..words)).unwrap_or(&[])
    }

    /// A flow has a packet again.
    #[inline(always)]
    pub(in crate::packet) fn fill(&mut self, flow: u16) {
        let words = self.waiting.len();
        let masks = &self.masks[flow as usize * words..];
        self.waiting.iter_mut().zip(masks).for_each(|(waiting, mask)| *waiting |= mask);
    }

    /// A flow has no packet any more.
    #[inline(always)]
    pub(in crate::packet) fn clear(&mut self, flow: u16) {
        let words = self.waiting.len();
        let masks = &self.masks[flow as usize * words..];
        self.waiting.iter_mut().zip(masks).for_each(|(waiting, mask)| *waiting &= !mask);
    }

    /// Goes to the next entry whose flow has a packet and is permitted, the present one last; how many entries the
    /// serial form examines for that. `None`, and stays, where there is none. Each flow is asked for once.
    #[inline(always)]
    pub(in crate::packet) fn advance(&mut self, permits: impl FnMut(u16) -> bool) -> Option<u64> {
        let next = match self.waiting[..] {
            [waiting] => self.next_of_word(waiting, permits),
            _ => self.next_of_words(permits),
        }?;
        let passed = if next > self.at { next - self.at } else { next + self.flows.len() - self.at };
        self.at = next;
        Some(passed as u64)
    }

    #[inline(always)]
    fn next_of_word(&self, mut left: u64, mut permits: impl FnMut(u16) -> bool) -> Option<usize> {
        let behind = u64::MAX << self.at << 1;
        while left != 0 {
            let first = if left & behind != 0 { left & behind } else { left };
            let next = first.trailing_zeros() as usize;
            let flow = self.flows[next];
            if permits(flow) {
                return Some(next);
            }
            left &= !self.masks[flow as usize];
        }
        None
    }

    #[inline(never)]
    fn next_of_words(&mut self, mut permits: impl FnMut(u16) -> bool) -> Option<usize> {
        self.left.copy_from_slice(&self.waiting);
        loop {
            let next = self.first_left()?;
            let flow = self.flows[next];
            if permits(flow) {
                return Some(next);
            }
            let masks = &self.masks[flow as usize * self.left.len()..];
            self.left.iter_mut().zip(masks).for_each(|(left, mask)| *left &= !mask);
        }
    }

    /// The first that is left: in the position's word behind it, in the words behind that one around the ring, at
    /// last in the position's word again.
    fn first_left(&self) -> Option<usize> {
        let (words, own) = (self.left.len(), self.at / WORD);
        let behind = u64::MAX << (self.at % WORD) << 1;
        (0..=words).find_map(|turn| {
            let word = (own + turn) % words;
            let left = self.left[word] & if turn == 0 { behind } else { u64::MAX };
            (left != 0).then(|| word * WORD + left.trailing_zeros() as usize)
        })
    }
}
