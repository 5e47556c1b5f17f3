//! The ring of an interface: when each packet that it holds will have been sent.

use weir_core::units::Instant;

/// The ends of the transmissions to come, in order.
#[derive(Clone, Debug)]
pub struct Ring {
    ends: Box<[Instant]>,
    head: usize,
    held: usize,
    /// The first of them, or [`Instant::NEVER`].
    first: Instant,
}

impl Ring {
    /// An empty ring for `room` packets, at least one.
    #[must_use]
    pub fn new(room: u32) -> Self {
        let ends = vec![Instant::ZERO; room.max(1) as usize].into_boxed_slice();
        Self { ends, head: 0, held: 0, first: Instant::NEVER }
    }

    /// Whether no packet more fits.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.held == self.ends.len()
    }

    /// Whether it holds nothing.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// When the transmission under way ends, or [`Instant::NEVER`].
    #[inline]
    #[must_use]
    pub fn first_end(&self) -> Instant {
        self.first
    }

    /// Takes a packet whose transmission ends at `end`; there is room.
    #[inline]
    pub fn push(&mut self, end: Instant) {
        let place = self.head + self.held;
        let place = if place >= self.ends.len() { place - self.ends.len() } else { place };
        self.ends[place] = end;
        if self.held == 0 {
            self.first = end;
        }
        self.held += 1;
    }

    /// The first packet has been sent; there is one.
    #[inline]
    pub fn pop(&mut self) {
        self.head = if self.head + 1 == self.ends.len() { 0 } else { self.head + 1 };
        self.held -= 1;
        self.first = if self.held == 0 { Instant::NEVER } else { self.ends[self.head] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn it_keeps_the_order_of_the_ends() {
        for room in [1, 2, 3, 8] {
            let (mut ring, mut expected) = (Ring::new(room), VecDeque::new());
            for time in 0..1_000_u64 {
                let end = Instant::new(time);
                if ring.is_full() || (time % 7 < 3 && !ring.is_empty()) {
                    ring.pop();
                    expected.pop_front();
                }
                ring.push(end);
                expected.push_back(end);
                assert_eq!(ring.first_end(), expected[0]);
                assert_eq!(ring.is_full(), expected.len() == room as usize);
            }
        }
        assert_eq!(Ring::new(0).first_end(), Instant::NEVER);
    }
}
