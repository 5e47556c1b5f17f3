//! Instants of each core in the order in which they come, which is that of time: rings that grow to the most they have
//! held.

use std::cell::{Cell, RefCell};

use super::scan::{Numbers, first_by};

/// What the first instant of an empty ring is.
const NONE: u64 = u64::MAX;
/// Places of a ring at the beginning; a power of two.
const FEW: usize = 16;
/// The binary digits of a core's number; its length is above them.
const DIGITS: u32 = 32;

/// Where the instants of a core are.
#[derive(Debug)]
struct Places {
    places: Box<[u64]>,
    head: usize,
}

/// Instants that never decrease, for each core. They are read through a shared reference, since looking at them lets go of
/// what has passed.
#[derive(Debug)]
pub(super) struct Rings<N> {
    /// The first instant of each, and how many there are: apart from the rest, so that all cores are looked through at once.
    first: N,
    length: N,
    rings: Vec<RefCell<Places>>,
}

impl<N: Numbers> Rings<N> {
    pub(super) fn new(cores: u32) -> Self {
        let ring = |_| RefCell::new(Places { places: vec![0; FEW].into_boxed_slice(), head: 0 });
        let never = u64::from(u32::MAX);
        Self {
            first: N::new(cores, NONE, NONE),
            length: N::new(cores, 0, never),
            rings: (0..cores).map(ring).collect(),
        }
    }

    #[inline(always)]
    fn of(&self, core: usize) -> (&Cell<u64>, &Cell<u64>) {
        (&self.first.as_ref()[core], &self.length.as_ref()[core])
    }

    /// How many of a core are later than `now`; the others are let go.
    #[inline]
    pub(super) fn later_than(&self, core: usize, now: u64) -> u64 {
        let (first, length) = self.of(core);
        if first.get() <= now {
            self.let_go(core, now);
        }
        length.get()
    }

    /// The core that has the fewest later than `now`, of several the first.
    #[inline]
    pub(super) fn shortest(&self, now: u64) -> usize {
        while let Some(core) = first_by(self.first.as_ref(), now) {
            self.let_go(core, now);
        }
        // Length and place in one word, so that they are compared without a branch.
        let both =
            (0..).zip(self.length.as_ref()).map(|(core, length): (u64, _)| length.get() << DIGITS | core);
        both.fold(u64::MAX, u64::min) as u32 as usize
    }

    #[inline]
    fn let_go(&self, core: usize, now: u64) {
        let mut ring = self.rings[core].borrow_mut();
        let (first, length) = self.of(core);
        let mask = ring.places.len() - 1;
        let (mut head, mut left) = (ring.head, length.get());
        let mut next = first.get();
        while next <= now && left > 0 {
            head = (head + 1) & mask;
            left -= 1;
            next = if left == 0 { NONE } else { ring.places[head] };
        }
        ring.head = head;
        length.set(left);
        first.set(next);
    }

    /// Whether as many as `room` or more of a core are later than `now`; the others are let go only where that is in
    /// question.
    #[inline(always)]
    pub(super) fn is_full(&self, core: usize, room: u64, now: u64) -> bool {
        self.of(core).1.get() >= room && self.later_than(core, now) >= room
    }

    /// Appends an instant, which is no earlier than the last; `now` is no later than any that is looked for from now on.
    #[inline(always)]
    pub(super) fn push(&mut self, core: usize, instant: u64, now: u64) {
        if self.of(core).1.get() as usize == self.rings[core].get_mut().places.len() {
            self.make_room(core, now);
        }
        let Places { places, head } = self.rings[core].get_mut();
        let (first, length) = (&self.first.as_ref()[core], &self.length.as_ref()[core]);
        let mask = places.len() - 1;
        places[(*head + length.get() as usize) & mask] = instant;
        if length.get() == 0 {
            first.set(instant);
        }
        length.set(length.get() + 1);
    }

    /// Lets go of what has passed, and grows where that is less than half of it.
    #[inline(never)]
    fn make_room(&mut self, core: usize, now: u64) {
        let held = self.later_than(core, now) as usize;
        let Places { places, head } = self.rings[core].get_mut();
        if 2 * held <= places.len() {
            return;
        }
        let mut grown = vec![0; 2 * places.len()];
        let mask = places.len() - 1;
        for (place, instant) in grown.iter_mut().take(held).enumerate() {
            *instant = places[(*head + place) & mask];
        }
        *places = grown.into_boxed_slice();
        *head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Of two cores, whose instants come in turns of different lengths.
    fn hold_what_queues_hold<N: Numbers>(looks: u64) {
        let (mut rings, mut queues) = (Rings::<N>::new(2), [VecDeque::new(), VecDeque::new()]);
        let mut state = 1_u64;
        let (mut now, mut last) = (0_u64, [0_u64; 2]);
        for turn in 0..10_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let core = (state >> 62 == 0) as usize;
            last[core] = last[core].max(now) + (state >> 60);
            rings.push(core, last[core], now);
            queues[core].push_back(last[core]);
            now += (state >> 40) % 9;
            for queue in &mut queues {
                while queue.front().is_some_and(|&first| first <= now) {
                    queue.pop_front();
                }
            }
            if turn % looks == 0 {
                let lengths = [0, 1].map(|core| queues[core].len() as u64);
                assert_eq!(rings.shortest(now), usize::from(lengths[1] < lengths[0]));
                assert_eq!([0, 1].map(|core| rings.later_than(core, now)), lengths);
                assert!(
                    rings.is_full(core, lengths[core], now) && !rings.is_full(core, lengths[core] + 1, now)
                );
            }
        }
    }

    #[test]
    fn they_hold_what_queues_hold() {
        for looks in [1, 7, 1_000] {
            hold_what_queues_hold::<[Cell<u64>; 8]>(looks);
            hold_what_queues_hold::<Vec<Cell<u64>>>(looks);
        }
    }
}
