//! What will happen in a fabric, and what is to be examined when it has.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::crossbar::{Transfer, Waiting};
use crate::packet::Handle;
use crate::time::{NEVER, Ticks};

/// What happens.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Generated { source: u32 },
    Free { link: u32, handle: Handle },
    Bid { port: u32, waiting: Waiting },
    Through(Transfer),
    Visible { link: u32, handle: Handle },
    Credit { link: u32, channel: u8, credits: u16 },
    Wake { link: u32 },
    Delivered { host: u32, handle: Handle },
}

/// An entry of the calendar; of those of one instant the first noted comes first.
struct Entry {
    at: Ticks,
    serial: u64,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.serial) == (other.at, other.serial)
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.serial).cmp(&(other.at, other.serial))
    }
}

/// What will happen, in the order of time.
#[derive(Default)]
pub(crate) struct Calendar {
    heap: BinaryHeap<Reverse<Entry>>,
    serial: u64,
}

impl Calendar {
    /// When the next entry is due, or [`NEVER`].
    pub(crate) fn next_at(&self) -> Ticks {
        self.heap.peek().map_or(NEVER, |Reverse(entry)| entry.at)
    }

    pub(crate) fn note(&mut self, at: Ticks, event: Event) {
        self.serial += 1;
        self.heap.push(Reverse(Entry { at, serial: self.serial, event }));
    }

    /// Takes the next entry, if it is due now.
    pub(crate) fn due(&mut self, now: Ticks) -> Option<Event> {
        if self.next_at() != now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry.event)
    }
}

/// Numbers to be examined in the next phase, each once.
#[derive(Default)]
pub(crate) struct Marks {
    list: Vec<u32>,
    marked: Vec<bool>,
}

impl Marks {
    pub(crate) fn new(count: u32) -> Self {
        Self { list: Vec::new(), marked: vec![false; count as usize] }
    }

    pub(crate) fn mark(&mut self, number: u32) {
        if !std::mem::replace(&mut self.marked[number as usize], true) {
            self.list.push(number);
        }
    }

    pub(crate) fn next(&mut self) -> Option<u32> {
        let number = self.list.pop()?;
        self.marked[number as usize] = false;
        Some(number)
    }
}
