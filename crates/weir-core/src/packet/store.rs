//! First-in-first-out lines that share one store, laid out for very many of them: links and items stand apart,
//! and lines that will soon be served can be fetched together.

use core::hint::black_box;

/// No place.
const NONE: u32 = u32::MAX;

/// One line: its first place, its last, and how many items stand in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    first: u32,
    last: u32,
    pub(super) length: u32,
}

impl Default for Line {
    fn default() -> Self {
        Self { first: NONE, last: NONE, length: 0 }
    }
}

#[derive(Clone, Debug)]
struct Place<I> {
    item: Option<I>,
    /// The place behind this one: in its line, or among the free ones.
    next: u32,
}

/// The store; it grows to the largest number of items and stays.
#[derive(Clone, Debug)]
pub(super) struct Store<I> {
    places: Vec<Place<I>>,
    /// The first of the free places, which are chained.
    free: u32,
}

impl<I> Default for Store<I> {
    fn default() -> Self {
        Self { places: Vec::new(), free: NONE }
    }
}

impl<I> Store<I> {
    /// How many items there were at most.
    #[inline]
    pub(super) fn size(&self) -> usize {
        self.places.len()
    }

    /// The first item of a line.
    #[inline]
    pub(super) fn head(&self, line: &Line) -> Option<&I> {
        self.places.get(line.first as usize)?.item.as_ref()
    }

    /// Puts an item at the end of a line.
    #[inline]
    pub(super) fn append(&mut self, line: &mut Line, item: I) {
        let at = self.place(item);
        if line.length == 0 {
            line.first = at;
        } else {
            self.places[line.last as usize].next = at;
        }
        line.last = at;
        line.length += 1;
    }

    /// Takes the first item of a line.
    #[inline]
    pub(super) fn take(&mut self, line: &mut Line) -> Option<I> {
        if line.length == 0 {
            return None;
        }
        let place = self.places.get_mut(line.first as usize)?;
        line.length -= 1;
        let next = core::mem::replace(&mut place.next, self.free);
        self.free = core::mem::replace(&mut line.first, next);
        place.item.take()
    }

    /// Reads what the next calls on these lines will need, all at once: memory that is far away answers several
    /// questions in the time of one.
    #[cold]
    pub(super) fn fetch(&self, lines: impl Iterator<Item = Line>) {
        let read = |line: Line| {
            let next = |at: u32| self.places.get(at as usize).map_or(NONE, |place| place.next);
            next(line.first) ^ next(line.last) ^ u32::from(self.head(&line).is_some())
        };
        black_box(lines.fold(0, |all, line| all ^ read(line)));
    }

    #[inline]
    fn place(&mut self, item: I) -> u32 {
        let at = self.free;
        let filled = Place { item: Some(item), next: NONE };
        if let Some(place) = self.places.get_mut(at as usize) {
            self.free = place.next;
            *place = filled;
            return at;
        }
        self.places.push(filled);
        (self.places.len() - 1) as u32
    }
}

/// Lines in the order of their turns, in a ring of a power of two of places.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    ring: Vec<u32>,
    /// Where the first stands, not reduced to the size of the ring.
    head: usize,
    pub(super) count: usize,
}

impl Round {
    #[inline]
    fn place(&self, turn: usize) -> usize {
        self.head.wrapping_add(turn) & (self.ring.len().wrapping_sub(1))
    }

    /// The line that has so many turns before its own.
    #[inline]
    pub(super) fn get(&self, turn: usize) -> Option<u32> {
        if turn < self.count { self.ring.get(self.place(turn)).copied() } else { None }
    }

    /// A line joins behind the last.
    #[inline]
    pub(super) fn join(&mut self, line: u32) {
        if self.count == self.ring.len() {
            self.grow();
        }
        let place = self.place(self.count);
        self.ring[place] = line;
        self.count += 1;
    }

    /// The first line becomes the last.
    #[inline]
    pub(super) fn advance(&mut self) {
        let (first, end) = (self.place(0), self.place(self.count));
        if self.count > 0 {
            self.ring[end] = self.ring[first];
            self.head = self.head.wrapping_add(1);
        }
    }

    /// The first line leaves.
    #[inline]
    pub(super) fn leave(&mut self) {
        if self.count > 0 {
            self.head = self.head.wrapping_add(1);
            self.count -= 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let first = self.place(0).min(self.ring.len());
        self.ring.rotate_left(first);
        self.head = 0;
        self.ring.resize((2 * self.count).max(16), 0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::conformance::Random;

    #[test]
    fn a_round_is_a_queue_whose_first_can_become_its_last() {
        let mut random = Random::new(11);
        let (mut round, mut expected) = (Round::default(), VecDeque::new());
        for line in 0..20_000 {
            match random.below(5) {
                0 | 1 => {
                    round.join(line);
                    expected.push_back(line);
                }
                2 => {
                    round.leave();
                    expected.pop_front();
                }
                _ => {
                    round.advance();
                    expected.rotate_left(expected.len().min(1));
                }
            }
            if random.one_in(300) {
                while round.count > 0 {
                    round.leave();
                }
                expected.clear();
            }
            let turns = [0, 1, 5, expected.len()];
            assert!(turns.iter().all(|&turn| round.get(turn) == expected.get(turn).copied()));
            assert_eq!(round.count, expected.len());
        }
    }

    #[test]
    fn lines_share_the_places_that_others_leave() {
        let mut store = Store::default();
        let mut lines = [Line::default(); 3];
        for item in 0..300 {
            store.append(&mut lines[item % 3], item);
            store.fetch(lines.iter().copied());
            if item >= 9 {
                assert_eq!(store.take(&mut lines[item % 3]), Some(item - 9));
            }
        }
        assert_eq!(store.size(), 10);
        assert_eq!((store.head(&lines[0]), lines[0].length), (Some(&291), 3));
        assert_eq!(store.take(&mut Line::default()), None);
    }
}
