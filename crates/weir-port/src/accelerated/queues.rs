//! The messages of a run by class, stored once for all strategies.
//!
//! Within a class every strategy serves messages in order of arrival, so a strategy's queue is one number
//! per class: the place of the first message it has not finished. Arrival instants, ticks and insertion
//! numbers stand here, in one ring per class, kept from the slowest strategy's place on.

use super::key::{Key, Layout};
use crate::timeline::Segment;

/// What is kept of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Its arrival.
    pub(super) at: u64,
    /// What its insertion adds to a key of 64 bits, if that holds it.
    pub(super) stamp: u64,
    /// Ticks gone when it arrived.
    pub(super) tick: u64,
    /// Its place among all arrivals; none is as high as the mark behind the last.
    pub(super) order: u64,
}

const BEHIND: Entry = Entry { at: 0, stamp: 0, tick: 0, order: u64::MAX };

/// The message at a place of a ring whose length is a power of two.
#[inline(always)]
pub(super) fn at_place(ring: &[Entry], place: u64) -> &Entry {
    &ring[place as usize & (ring.len() - 1)]
}

/// The messages of one class, each at its place modulo the length of the ring, a power of two.
#[derive(Clone, Debug)]
struct Queue {
    ring: Vec<Entry>,
    first: u64,
    tail: u64,
}

impl Queue {
    fn slot(&self, place: u64) -> usize {
        place as usize & (self.ring.len() - 1)
    }

    /// Forgets what stands before `first` and makes room for `more` messages and the mark.
    fn reserve(&mut self, first: u64, more: u64) {
        self.first = first;
        let needed = self.tail - first + more + 1;
        if needed > self.ring.len() as u64 {
            let length = needed.next_power_of_two() as usize;
            let mut ring = vec![BEHIND; length];
            for place in first..self.tail {
                ring[place as usize & (length - 1)] = self.ring[self.slot(place)];
            }
            self.ring = ring;
        }
    }

    fn push(&mut self, entry: Entry) {
        let slot = self.slot(self.tail);
        self.ring[slot] = entry;
        self.tail += 1;
    }

    fn restamp(&mut self, layout: &Layout) {
        for place in self.first..self.tail {
            let slot = self.slot(place);
            let entry = &mut self.ring[slot];
            entry.stamp = layout.low_stamp(entry.tick, entry.order);
        }
    }
}

/// The messages of all classes, and the layout of their keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Queues {
    classes: Vec<Queue>,
    incoming: Vec<u64>,
    /// The largest product of a length and an alpha.
    largest: u128,
    layout: Layout,
    narrow: bool,
}

impl Queues {
    /// Queues for this many classes, and keys with `fraction_bits` binary places and at most `largest` large
    /// before a tick is added.
    pub(super) fn new(classes: usize, class_bits: u32, fraction_bits: u32, largest: u128) -> Self {
        Self {
            classes: vec![Queue { ring: vec![BEHIND; 64], first: 0, tail: 0 }; classes],
            incoming: vec![0; classes],
            largest,
            layout: Layout { class_bits, fraction_bits, ..Layout::default() },
            narrow: false,
        }
    }

    /// The number of classes.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// The ring of a class.
    #[inline(always)]
    pub(super) fn ring(&self, class: usize) -> &[Entry] {
        &self.classes[class].ring
    }

    /// The message of a class at a place not below the slowest strategy's.
    #[inline(always)]
    pub(super) fn entry(&self, class: usize, place: u64) -> &Entry {
        at_place(self.ring(class), place)
    }

    /// The layout of the keys.
    #[inline(always)]
    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether 64 bits hold the keys of the last segment appended.
    #[inline(always)]
    pub(super) fn is_narrow(&self) -> bool {
        self.narrow
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
        self.lay_out(segment);
        for (i, &class) in segment.class.iter().enumerate() {
            let (tick, order) = (segment.tick[i], segment.first_order + i as u64);
            let stamp = self.layout.low_stamp(tick, order);
            self.classes[usize::from(class)].push(Entry { at: segment.at[i], stamp, tick, order });
        }
        for queue in &mut self.classes {
            let slot = queue.slot(queue.tail);
            queue.ring[slot] = BEHIND;
        }
    }

    /// Keeps the layout while the segment's keys fit, else makes a new one with room to spare.
    fn lay_out(&mut self, segment: &Segment<'_>) {
        let (tick, order) = (segment.end_tick, segment.first_order + segment.at.len() as u64);
        if self.narrow && self.layout.fits(self.largest, tick, order, <i64 as Key>::ROOM) {
            return;
        }
        let waiting = self.classes.iter().filter(|queue| queue.first < queue.tail);
        let oldest = waiting.map(|queue| queue.ring[queue.slot(queue.first)]).min_by_key(|entry| entry.order);
        let (first_tick, first_order) =
            oldest.map_or((segment.first_tick, segment.first_order), |entry| (entry.tick, entry.order));
        let needed = u64::BITS - (order - first_order).leading_zeros();
        self.layout = Layout { order_bits: needed.max(13) + 3, first_order, first_tick, ..self.layout };
        self.narrow = self.layout.fits(self.largest, tick, order, <i64 as Key>::ROOM);
        if !self.narrow {
            self.layout.order_bits = needed;
            self.narrow = self.layout.fits(self.largest, tick, order, <i64 as Key>::ROOM);
        }
        for queue in &mut self.classes {
            queue.restamp(&self.layout);
        }
    }
}
