//! Credits on their way back to senders: a small ring for each link.
//!
//! A return is posted when the end of its transfer becomes known, and is settled when the sender needs it, or when the
//! ring is full: then all that is due at the beginning of the window, before which no sender decides any more, is
//! given at once. What is left then is bounded, since an input carries out one transfer after the other; the bound is
//! asserted, for a return that is lost is a sender that never wakes.

use crate::fabric::time::{NEVER, Ticks};

/// So many credits of a channel, back at the sender at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Return {
    pub(super) at: Ticks,
    pub(super) credits: u16,
    pub(super) channel: u8,
}

/// The rings of all links.
#[derive(Clone, Debug)]
pub(super) struct Rings {
    all: Vec<Return>,
    /// Of each link the next to be taken, and how many there are; not reduced to the size of a ring.
    heads: Vec<(u32, u32)>,
    /// Places of a ring, a power of two.
    size: u32,
}

impl Rings {
    /// Empty rings of at least so many places.
    pub(super) fn new(links: usize, places: u32) -> Self {
        let size = places.next_power_of_two().max(8);
        Self { all: vec![Return::default(); links * size as usize], heads: vec![(0, 0); links], size }
    }

    #[inline]
    fn place(&self, link: usize, turn: u32) -> usize {
        link * self.size as usize + (turn & (self.size - 1)) as usize
    }

    /// Whether there is no room.
    #[inline]
    pub(super) fn is_full(&self, link: usize) -> bool {
        self.heads[link].1 == self.size
    }

    /// Posts a return, no earlier than those before it.
    #[inline]
    pub(super) fn push(&mut self, link: usize, back: Return) {
        let (head, count) = self.heads[link];
        assert!(count < self.size, "a ring of credits is full: its bound is wrong");
        let place = self.place(link, head.wrapping_add(count));
        self.all[place] = back;
        self.heads[link].1 = count + 1;
    }

    /// When the next return is back.
    #[inline]
    pub(super) fn next_at(&self, link: usize) -> Ticks {
        let (head, count) = self.heads[link];
        if count == 0 { NEVER } else { self.all[self.place(link, head)].at }
    }

    /// Takes the next return if it is back by `now`.
    #[inline]
    pub(super) fn take(&mut self, link: usize, now: Ticks) -> Option<Return> {
        let (head, count) = self.heads[link];
        if count == 0 {
            return None;
        }
        let back = self.all[self.place(link, head)];
        if back.at > now {
            return None;
        }
        self.heads[link] = (head.wrapping_add(1), count - 1);
        Some(back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_come_in_order_when_they_are_due() {
        let mut rings = Rings::new(2, 3);
        for turn in 0..100 {
            for at in [10, 20] {
                rings.push(1, Return { at: 100 * turn + at, credits: 3, channel: 1 });
            }
            assert_eq!((rings.next_at(0), rings.next_at(1)), (NEVER, 100 * turn + 10));
            assert!(rings.take(1, 100 * turn + 9).is_none() && rings.take(0, NEVER).is_none());
            let back = [15, 15, 20].map(|at| rings.take(1, 100 * turn + at).map(|back| back.at));
            assert_eq!(back, [Some(100 * turn + 10), None, Some(100 * turn + 20)]);
        }
    }

    #[test]
    #[should_panic(expected = "its bound is wrong")]
    fn what_does_not_fit_is_not_lost_silently() {
        let mut rings = Rings::new(1, 8);
        while !rings.is_full(0) {
            rings.push(0, Return::default());
        }
        rings.push(0, Return::default());
    }
}
