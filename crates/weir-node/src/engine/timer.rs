//! The timer demon of a node: what it wakes, or posts, and when. Of equal times, in the order in which they were asked
//! for.

use weir_core::heap::{Heap, Order};

/// When something is due, and how many were asked for before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due {
    pub(super) at: u64,
    pub(super) number: u64,
}

impl Order for Due {
    const LAST: Self = Self { at: u64::MAX, number: u64::MAX };
}

/// What the demon does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// Wakes a process that sleeps.
    Wake(u32),
    /// Posts an event.
    Post(u32),
}

impl Default for Alarm {
    fn default() -> Self {
        Self::Wake(0)
    }
}

/// What was asked for and is not yet due.
#[derive(Debug)]
pub(super) struct Timer {
    heap: Heap<Due, Alarm>,
    /// When the first is due.
    due: u64,
    /// Room for what is kept when something is handed over.
    kept: Vec<(Due, Alarm)>,
}

impl Timer {
    pub(super) fn new() -> Self {
        Self { heap: Heap::new(), due: u64::MAX, kept: Vec::new() }
    }

    /// When the first is due; the end of the clock where there is none.
    #[inline]
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    #[inline]
    pub(super) fn ask(&mut self, due: Due, alarm: Alarm) {
        self.heap.push(due, alarm);
        self.due = self.due.min(due.at);
    }

    /// The first that is due by `now`.
    #[inline]
    pub(super) fn take(&mut self, now: u64) -> Option<Alarm> {
        if self.due > now {
            return None;
        }
        let taken = self.heap.pop().map(|(_, alarm)| alarm);
        self.due = self.heap.peek().map_or(u64::MAX, |(due, _)| due.at);
        taken
    }

    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Hands what `whose` says over to another.
    pub(super) fn hand_over(&mut self, other: &mut Self, whose: impl Fn(Alarm) -> bool) {
        let mut kept = std::mem::take(&mut self.kept);
        self.heap.drain(|due, alarm| match whose(alarm) {
            true => other.ask(due, alarm),
            false => kept.push((due, alarm)),
        });
        self.due = u64::MAX;
        for (due, alarm) in kept.drain(..) {
            self.ask(due, alarm);
        }
        self.kept = kept;
    }
}
