//! First in, first out, in a ring of places.
//!
//! What `VecDeque` does, but of so little code that it is compiled into its callers: an item that is handed over by a call
//! is copied through memory, in other pieces than it is read in right after, and the processor waits until the first have
//! arrived there.
//!
//! | | |
//! |-|-|
//! | Work | O(1), amortised over the growth |
//! | Memory | one place per item up to the next power of two of the most there were; stays |

/// The ring.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// A power of two of places, or none.
    places: Vec<Option<T>>,
    /// Where the first stands, not reduced to the number of places.
    head: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Vec::new(), head: 0, len: 0 }
    }
}

impl<T> Ring<T> {
    #[inline(always)]
    fn place(&self, turn: usize) -> usize {
        self.head.wrapping_add(turn) & self.places.len().wrapping_sub(1)
    }

    /// The first.
    #[inline(always)]
    pub(crate) fn front(&self) -> Option<&T> {
        self.places.get(self.place(0))?.as_ref()
    }

    /// An item joins the end.
    #[inline(always)]
    pub(crate) fn push_back(&mut self, item: T) {
        if self.len == self.places.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.places[place] = Some(item);
        self.len += 1;
    }

    /// An item goes before the first.
    pub(crate) fn push_front(&mut self, item: T) {
        if self.len == self.places.len() {
            self.grow();
        }
        self.head = self.head.wrapping_sub(1);
        let place = self.place(0);
        self.places[place] = Some(item);
        self.len += 1;
    }

    /// Takes the first.
    #[inline(always)]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let place = self.place(0);
        let item = self.places.get_mut(place)?.take()?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(item)
    }

    /// Removes what is not to be kept.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        for _ in 0..self.len {
            if let Some(item) = self.pop_front()
                && keep(&item)
            {
                self.push_back(item);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let first = self.place(0).min(self.places.len());
        self.places.rotate_left(first);
        self.head = 0;
        self.places.resize_with((2 * self.len).max(4), || None);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::conformance::Random;

    #[test]
    fn a_ring_is_a_queue() {
        let mut random = Random::new(5);
        let (mut ring, mut expected) = (Ring::default(), VecDeque::new());
        for item in 0..30_000 {
            match random.below(7) {
                0..3 => {
                    ring.push_back(item);
                    expected.push_back(item);
                }
                3 => {
                    ring.push_front(item);
                    expected.push_front(item);
                }
                _ => assert_eq!(ring.pop_front(), expected.pop_front()),
            }
            if random.one_in(500) {
                ring.retain(|item| item % 3 > 0);
                expected.retain(|item| item % 3 > 0);
            }
            assert_eq!((ring.front(), ring.len), (expected.front(), expected.len()));
        }
        while let Some(item) = expected.pop_front() {
            assert_eq!(ring.pop_front(), Some(item));
        }
        assert!(ring.pop_front().is_none() && ring.front().is_none());
    }
}
