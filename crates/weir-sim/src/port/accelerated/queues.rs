//! The messages of a run by class, stored once for all strategies.
//!
//! Within a class every strategy serves messages in order of arrival, so a strategy's queue is one number
//! per class: the place of the first message it has not finished. Arrival instants, ticks and insertion
//! numbers stand here, in one ring per class, kept from the slowest strategy's place on.

use crate::port::timeline::Segment;

/// What is kept of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Its arrival.
    pub(super) at: u64,
    /// Ticks gone when it arrived.
    pub(super) tick: u64,
    /// Its place among all arrivals; none is as high as the mark behind the last.
    pub(super) order: u64,
}

const BEHIND: Entry = Entry { at: 0, tick: 0, order: u64::MAX };

/// The messages of one class.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    ring: Vec<Entry>,
    mask: u64,
    tail: u64,
}

impl Queue {
    fn new() -> Self {
        Self { ring: vec![BEHIND; 64], mask: 63, tail: 0 }
    }

    /// The ring; a message stands at its place modulo the length, a power of two.
    #[inline(always)]
    pub(super) fn ring(&self) -> &[Entry] {
        &self.ring
    }

    /// The message at a place not below the slowest strategy's, or the mark behind the last message.
    #[inline(always)]
    pub(super) fn entry(&self, place: u64) -> &Entry {
        &self.ring[(place & self.mask) as usize]
    }

    /// Makes room for `more` messages and the mark, if those from `first` on are kept.
    fn reserve(&mut self, first: u64, more: u64) {
        let needed = self.tail - first + more + 1;
        if needed <= self.ring.len() as u64 {
            return;
        }
        let mask = needed.next_power_of_two() - 1;
        let mut ring = vec![BEHIND; mask as usize + 1];
        for place in first..self.tail {
            ring[(place & mask) as usize] = *self.entry(place);
        }
        (self.ring, self.mask) = (ring, mask);
    }
}

/// The messages of all classes.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    classes: Vec<Queue>,
    incoming: Vec<u64>,
}

impl Queues {
    pub(super) fn new(classes: usize) -> Self {
        Self { classes: vec![Queue::new(); classes], incoming: vec![0; classes] }
    }

    /// The number of classes.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    #[inline(always)]
    pub(super) fn class(&self, class: usize) -> &Queue {
        &self.classes[class]
    }

    /// Appends the messages of a segment; `kept(class)` is the slowest strategy's place.
    pub(super) fn append(&mut self, segment: &Segment<'_>, kept: impl Fn(usize) -> u64) {
        self.incoming.fill(0);
        for &class in segment.class {
            self.incoming[usize::from(class)] += 1;
        }
        for (class, queue) in self.classes.iter_mut().enumerate() {
            queue.reserve(kept(class), self.incoming[class]);
        }
        for (i, &class) in segment.class.iter().enumerate() {
            let queue = &mut self.classes[usize::from(class)];
            let order = segment.first_order + i as u64;
            let place = (queue.tail & queue.mask) as usize;
            queue.ring[place] = Entry { at: segment.at[i], tick: segment.tick[i], order };
            queue.tail += 1;
        }
        for queue in &mut self.classes {
            let place = (queue.tail & queue.mask) as usize;
            queue.ring[place] = BEHIND;
        }
    }
}
