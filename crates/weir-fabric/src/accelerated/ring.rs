//! Credits on their way back to a sender.
//!
//! A return is posted when the end of its transfer becomes known, and is settled when the sender needs it, or when
//! there is no room: then all that is due at the beginning of the window, before which no sender decides any more, is
//! given at once. What is left then is a few, since an input carries out one transfer after the other; where short
//! packets meet long spans and it is more, it spills into a queue, for a return that is lost is a sender that never
//! wakes.

use std::collections::VecDeque;

use crate::time::{NEVER, Ticks};

/// Places next to the sender: a line of memory.
const PLACES: usize = 8;
/// Times of returns are below this bound.
pub(super) const END: Ticks = 1 << 40;

/// Credits of a channel that are back at the sender at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Return {
    pub(super) at: Ticks,
    pub(super) credits: u16,
    pub(super) channel: u8,
}

impl Return {
    #[inline(always)]
    fn packed(self) -> u64 {
        self.at << 24 | u64::from(self.credits) << 8 | u64::from(self.channel)
    }

    #[inline(always)]
    fn unpacked(packed: u64) -> Self {
        Self { at: packed >> 24, credits: (packed >> 8) as u16, channel: packed as u8 }
    }
}

/// The returns of a link, in the order of their times.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    places: [u64; PLACES],
    /// The next to be taken, not reduced to the places, and how many there are in them.
    head: u32,
    count: u32,
    spilt: VecDeque<u64>,
}

impl Ring {
    /// Empty.
    pub(super) fn new() -> Self {
        Self { places: [0; PLACES], head: 0, count: 0, spilt: VecDeque::new() }
    }

    /// Whether there is no room next to the sender.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.count as usize == PLACES
    }

    /// Posts a return, no earlier than those before it.
    #[inline(always)]
    pub(super) fn push(&mut self, back: Return) {
        if self.is_full() {
            return self.spill(back);
        }
        self.places[self.head.wrapping_add(self.count) as usize % PLACES] = back.packed();
        self.count += 1;
    }

    #[cold]
    #[inline(never)]
    fn spill(&mut self, back: Return) {
        self.spilt.push_back(back.packed());
    }

    /// When the next return is back.
    #[inline(always)]
    pub(super) fn next_at(&self) -> Ticks {
        if self.count == 0 { NEVER } else { Return::unpacked(self.places[self.head as usize % PLACES]).at }
    }

    /// Takes the next return if it is back by `now`.
    #[inline(always)]
    pub(super) fn take(&mut self, now: Ticks) -> Option<Return> {
        if self.next_at() > now || self.count == 0 {
            return None;
        }
        let back = Return::unpacked(self.places[self.head as usize % PLACES]);
        self.head = self.head.wrapping_add(1);
        self.count -= 1;
        if let Some(packed) = self.spilt.pop_front() {
            self.push(Return::unpacked(packed));
        }
        Some(back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_come_in_order_when_they_are_due() {
        for many in [1, 3, 8, 9, 40] {
            let mut ring = Ring::new();
            for turn in 0..50 {
                let back = |at: u64| Return { at: 1000 * turn + at, credits: at as u16, channel: 1 };
                (0..many).for_each(|at| ring.push(back(at)));
                assert_eq!(ring.next_at(), 1000 * turn);
                for at in 0..many {
                    assert_eq!(ring.is_full(), many - at >= 8);
                    assert_eq!((1000 * turn + at).checked_sub(1).and_then(|early| ring.take(early)), None);
                    assert_eq!(ring.take(1000 * turn + at), Some(back(at)));
                }
                assert_eq!((ring.take(END), ring.next_at()), (None, NEVER));
            }
        }
    }

    #[test]
    fn the_largest_values_fit() {
        let back = Return { at: END - 1, credits: u16::MAX, channel: u8::MAX };
        assert_eq!(Return::unpacked(back.packed()), back);
    }
}
