//! Moments that are taken in order, of which most come in order already.
//!
//! Moments of one lane come each after the one before, as the ends of timeouts of one length do. So only the first of each
//! lane stands in a heap, with those that belong to no lane; the others wait in a row behind it.
//!
//! | | |
//! |-|-|
//! | Work | O(log(lanes + moments of no lane)) to take one; to add one to a lane O(1) |
//! | Memory | the moments held |

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::collections::binary_heap::{BinaryHeap, PeekMut};

/// The lane of moments that belong to none.
const NO_LANE: usize = usize::MAX;

/// One lane.
#[derive(Clone, Debug)]
struct Lane<T> {
    /// Those behind the first, which is in the heap.
    rest: VecDeque<T>,
    /// The last; `None` where there is none at all.
    last: Option<T>,
}

/// Moments, of which no two are equal.
#[derive(Clone, Debug)]
pub(super) struct Moments<T> {
    first: BinaryHeap<Reverse<(T, usize)>>,
    lanes: Vec<Lane<T>>,
}

impl<T: Ord + Copy> Moments<T> {
    /// None yet, in so many lanes.
    pub(super) fn new(lanes: usize) -> Self {
        let lane = Lane { rest: VecDeque::new(), last: None };
        Self { first: BinaryHeap::new(), lanes: vec![lane; lanes] }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        if self.first.is_empty() {
            return;
        }
        self.first.clear();
        for lane in &mut self.lanes {
            lane.rest.clear();
            lane.last = None;
        }
    }

    /// The first of all, or `None`.
    #[inline]
    pub(super) fn first(&self) -> Option<&T> {
        self.first.peek().map(|Reverse((moment, _))| moment)
    }

    /// Adds one that belongs to no lane.
    pub(super) fn push(&mut self, moment: T) {
        self.first.push(Reverse((moment, NO_LANE)));
    }

    /// Adds one to a lane; where it is before the last of that, it is kept as one of no lane.
    #[inline]
    pub(super) fn push_to(&mut self, lane: usize, moment: T) {
        let place = lane;
        let Some(lane) = self.lanes.get_mut(place) else { return self.push(moment) };
        match lane.last {
            None => self.first.push(Reverse((moment, place))),
            Some(last) if last <= moment => lane.rest.push_back(moment),
            Some(_) => return self.push(moment),
        }
        lane.last = Some(moment);
    }

    /// Takes the first of all.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        let mut top = self.first.peek_mut()?;
        let Reverse((moment, place)) = *top;
        match self.lanes.get_mut(place) {
            None => {
                PeekMut::pop(top);
            }
            Some(lane) => match lane.rest.pop_front() {
                Some(next) => *top = Reverse((next, place)),
                None => {
                    lane.last = None;
                    PeekMut::pop(top);
                }
            },
        }
        Some(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_taken_in_the_order_of_a_heap() {
        let (mut moments, mut heap) = (Moments::new(3), BinaryHeap::new());
        let mut state = 3_u64;
        for number in 0..20_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let lane = (state >> 62) as usize;
            // Mostly in order within a lane; the last lane is none.
            let moment = (number / 4 * 4 + (state >> 40) % 9 + 100 * lane as u64, number);
            moments.push_to(lane, moment);
            heap.push(Reverse(moment));
            for _ in 0..(state >> 50) % 3 {
                assert_eq!(moments.first().copied(), heap.peek().map(|Reverse(first)| *first));
                assert_eq!(moments.pop(), heap.pop().map(|Reverse(first)| first));
            }
            if number % 5_000 == 0 {
                moments.clear();
                heap.clear();
            }
        }
        while let Some(Reverse(first)) = heap.pop() {
            assert_eq!(moments.pop(), Some(first));
        }
        assert_eq!((moments.pop(), moments.first()), (None, None));
    }
}
