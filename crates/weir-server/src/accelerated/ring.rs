//! Instants in the order in which they come, which is that of time: a ring that grows to the most it has held.

use std::cell::{Cell, RefCell};

/// What [`Ring::first`] is over an empty ring.
const NONE: u64 = u64::MAX;
/// Places at the beginning; a power of two.
const FEW: usize = 16;

/// Instants that never decrease. It is read through a shared reference, since looking at it lets go of what has passed.
#[derive(Debug)]
pub(super) struct Ring {
    places: RefCell<Box<[u64]>>,
    head: Cell<usize>,
    length: Cell<u32>,
    first: Cell<u64>,
}

impl Ring {
    pub(super) fn new() -> Self {
        let places = RefCell::new(vec![0; FEW].into_boxed_slice());
        Self { places, head: Cell::new(0), length: Cell::new(0), first: Cell::new(NONE) }
    }

    /// How many are later than `now`; the others are let go.
    #[inline]
    pub(super) fn later_than(&self, now: u64) -> u32 {
        if self.first.get() <= now {
            self.let_go(now);
        }
        self.length.get()
    }

    #[inline]
    fn let_go(&self, now: u64) {
        let places = self.places.borrow();
        let mask = places.len() - 1;
        let (mut head, mut length) = (self.head.get(), self.length.get());
        let mut first = self.first.get();
        while first <= now && length > 0 {
            head = (head + 1) & mask;
            length -= 1;
            first = if length == 0 { NONE } else { places[head] };
        }
        self.head.set(head);
        self.length.set(length);
        self.first.set(first);
    }

    /// Appends an instant, which is no earlier than the last.
    #[inline]
    pub(super) fn push(&mut self, instant: u64) {
        let length = self.length.get();
        let places = self.places.get_mut();
        if length as usize == places.len() {
            Self::grow(places, &self.head);
        }
        let mask = places.len() - 1;
        places[(self.head.get() + length as usize) & mask] = instant;
        if length == 0 {
            self.first.set(instant);
        }
        self.length.set(length + 1);
    }

    #[cold]
    fn grow(places: &mut Box<[u64]>, head: &Cell<usize>) {
        let mut grown = vec![0; 2 * places.len()];
        let (late, early) = places.split_at(head.get());
        grown[..early.len()].copy_from_slice(early);
        grown[early.len()..places.len()].copy_from_slice(late);
        *places = grown.into_boxed_slice();
        head.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn it_holds_what_a_queue_holds() {
        let (mut ring, mut queue) = (Ring::new(), VecDeque::new());
        let mut state = 1_u64;
        let (mut now, mut last) = (0_u64, 0_u64);
        for _ in 0..10_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            last = last.max(now) + (state >> 60);
            ring.push(last);
            queue.push_back(last);
            now += (state >> 40) % 9;
            while queue.front().is_some_and(|&first| first <= now) {
                queue.pop_front();
            }
            assert_eq!(ring.later_than(now) as usize, queue.len());
        }
    }
}
