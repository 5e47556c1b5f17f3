//! Which queue takes the most room: a heap of all queues, each of which knows its place in it.
//!
//! | | |
//! |-|-|
//! | Source | Williams, *Algorithm 232: Heapsort*, Communications of the ACM 7(6), 1964 |
//! | Work | O(log queues) per change, seldom more than a step |
//! | Memory | sixteen bytes per queue |

/// The heap: no queue takes more room than the one above it; of equal ones that with the lower number is above.
#[derive(Clone, Debug)]
pub(super) struct Fattest {
    rooms: Vec<u64>,
    heap: Vec<u32>,
    places: Vec<u32>,
}

impl Fattest {
    /// Makes `queues` queues, none of which takes any.
    pub(super) fn new(queues: usize) -> Self {
        let heap: Vec<u32> = (0..queues as u32).collect();
        Self { rooms: vec![0; queues], places: heap.clone(), heap }
    }

    /// The one that takes the most.
    pub(super) fn first(&self) -> usize {
        self.heap[0] as usize
    }

    /// A queue takes more.
    #[inline]
    pub(super) fn grow(&mut self, queue: usize, by: u64) {
        self.rooms[queue] += by;
        let mut place = self.places[queue] as usize;
        while place > 0 && self.is_before(place, (place - 1) / 2) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    /// A queue takes less.
    #[inline]
    pub(super) fn shrink(&mut self, queue: usize, by: u64) {
        self.rooms[queue] -= by;
        let mut place = self.places[queue] as usize;
        loop {
            let mut first = place;
            for below in [2 * place + 1, 2 * place + 2] {
                if below < self.heap.len() && self.is_before(below, first) {
                    first = below;
                }
            }
            if first == place {
                return;
            }
            self.swap(place, first);
            place = first;
        }
    }

    #[inline]
    fn is_before(&self, place: usize, other: usize) -> bool {
        let (queue, other) = (self.heap[place], self.heap[other]);
        let (room, others) = (self.rooms[queue as usize], self.rooms[other as usize]);
        room > others || room == others && queue < other
    }

    fn swap(&mut self, place: usize, other: usize) {
        self.heap.swap(place, other);
        for place in [place, other] {
            self.places[self.heap[place] as usize] = place as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Random;

    #[test]
    fn the_first_is_the_one_that_a_search_finds() {
        let mut random = Random::new(2);
        let (mut fattest, mut rooms) = (Fattest::new(40), [0_u64; 40]);
        for _ in 0..20_000 {
            let (queue, by) = (random.below(40) as usize, random.below(5));
            if random.one_in(2) {
                fattest.grow(queue, by);
                rooms[queue] += by;
            } else {
                fattest.shrink(queue, by.min(rooms[queue]));
                rooms[queue] -= by.min(rooms[queue]);
            }
            let most = rooms.iter().max().expect("forty");
            let expected = rooms.iter().position(|room| room == most);
            assert_eq!(Some(fattest.first()), expected);
        }
    }
}
