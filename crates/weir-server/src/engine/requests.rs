//! The requests present: slots that are used again, and the order of those whose service has not begun.

use super::LATEST;
use weir_core::units::{Instant, Nanos};

/// The most requests that are present at a time.
pub(super) const MOST: usize = 1 << 23;
/// No slot.
pub(super) const NOBODY: u32 = u32::MAX;
/// Service has not begun.
pub(super) const NOT_YET: Instant = LATEST;

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nowhere: the slot is free.
    Gone,
    /// At a receiver, or on its way from there.
    Received,
    /// In the discipline.
    Waiting,
    /// At a core.
    Served,
}

/// A request that is present.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) arrived: Instant,
    /// When its service began, or [`NOT_YET`].
    pub(super) began: Instant,
    /// What it needs, and what is left of it.
    pub(super) service: Nanos,
    pub(super) left: Nanos,
    /// What the discipline first knows of it.
    pub(super) known: Nanos,
    /// When it leaves, if its service has not begun by then.
    pub(super) leaves: Instant,
    /// Its place among all that came before the discipline.
    pub(super) number: u64,
    pub(super) flow: u32,
    /// Its neighbours among those that wait for their first service.
    before: u32,
    after: u32,
    pub(super) class: u16,
    pub(super) state: State,
    pub(super) cold: bool,
}

impl Slot {
    /// A request that has just arrived.
    pub(super) fn arrived(
        arrived: Instant,
        class: u16,
        flow: u32,
        service: Nanos,
        known: Nanos,
        patience: u64,
    ) -> Self {
        Self {
            arrived,
            began: NOT_YET,
            service,
            left: service,
            known,
            leaves: Instant::new(arrived.get().saturating_add(patience)),
            number: 0,
            flow,
            before: NOBODY,
            after: NOBODY,
            class,
            state: State::Received,
            cold: false,
        }
    }
}

impl Slot {
    /// A sub-request of it.
    pub(super) fn part(&self, service: Nanos, known: Nanos) -> Self {
        Self { service, left: service, known, ..*self }
    }

    /// The same request, as it arrives once more.
    pub(super) fn again(&self, arrived: Instant) -> Self {
        let patience = self.leaves.get().saturating_sub(self.arrived.get());
        let patience = if self.leaves == Instant::NEVER { u64::MAX } else { patience };
        Self::arrived(arrived, self.class, self.flow, self.service, self.known, patience)
    }
}

/// All slots.
#[derive(Debug)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The first and the last of those that wait for their first service, by number.
    first: u32,
    last: u32,
    delivered: u64,
    /// Requests that wait in the discipline.
    pub(super) waiting: u64,
}

impl Slots {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), first: NOBODY, last: NOBODY, delivered: 0, waiting: 0 }
    }

    /// How many requests are there.
    pub(super) fn held(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Keeps a request; `None` where there are [`MOST`] already.
    #[inline]
    pub(super) fn keep(&mut self, request: Slot) -> Option<u32> {
        if let Some(free) = self.free.pop() {
            self.slots[free as usize] = request;
            return Some(free);
        }
        let fresh = self.slots.len();
        self.slots.push(request);
        (fresh < MOST).then_some(fresh as u32)
    }

    /// The request of a slot, in whatever state; `None` where a discipline has made one up.
    #[inline]
    pub(super) fn get(&mut self, slot: u32) -> Option<&mut Slot> {
        self.slots.get_mut(slot as usize)
    }

    /// The request of a slot that the engine knows.
    #[inline]
    pub(super) fn of(&mut self, slot: u32) -> &mut Slot {
        &mut self.slots[slot as usize]
    }

    /// The request has left.
    #[inline]
    pub(super) fn let_go(&mut self, slot: u32) -> Slot {
        let request = self.of(slot);
        request.state = State::Gone;
        let gone = *request;
        self.free.push(slot);
        gone
    }

    /// The request comes before the discipline.
    #[inline]
    pub(super) fn deliver(&mut self, slot: u32) -> &mut Slot {
        self.delivered += 1;
        let number = self.delivered;
        self.waiting += 1;
        let request = self.of(slot);
        request.number = number;
        request.state = State::Waiting;
        request
    }

    /// Puts a request among those that wait for their first service, by its number.
    #[inline]
    pub(super) fn line_up(&mut self, slot: u32) {
        let number = self.of(slot).number;
        let (mut before, mut after) = (self.last, NOBODY);
        while before != NOBODY && self.of(before).number > number {
            (before, after) = (self.of(before).before, before);
        }
        let request = self.of(slot);
        (request.before, request.after) = (before, after);
        self.link(before, after, slot, slot);
    }

    /// Takes a request out of those that wait for their first service.
    #[inline]
    pub(super) fn step_out(&mut self, slot: u32) {
        let Slot { before, after, .. } = *self.of(slot);
        self.link(before, after, after, before);
    }

    /// Says to two neighbours, or to the ends of the line, who is between them.
    fn link(&mut self, before: u32, after: u32, next: u32, previous: u32) {
        match before {
            NOBODY => self.first = next,
            _ => self.of(before).after = next,
        }
        match after {
            NOBODY => self.last = previous,
            _ => self.of(after).before = previous,
        }
    }

    /// When the first of those that wait for their first service arrived.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.slots.get(self.first as usize).map(|request| request.arrived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrived(at: u64) -> Slot {
        Slot::arrived(Instant::new(at), 0, 0, Nanos::new(1), Nanos::new(1), u64::MAX)
    }

    #[test]
    fn the_line_is_in_order_of_numbers_whoever_leaves_and_comes_back() {
        let mut slots = Slots::new();
        let kept: Vec<u32> = (0..5).map(|at| slots.keep(arrived(at * 10)).expect("a few")).collect();
        for &slot in &kept {
            slots.deliver(slot);
            slots.line_up(slot);
        }
        assert_eq!(slots.oldest(), Some(Instant::new(0)));
        [0, 2, 1].into_iter().for_each(|place| slots.step_out(kept[place]));
        assert_eq!(slots.oldest(), Some(Instant::new(30)));
        slots.line_up(kept[1]);
        assert_eq!(slots.oldest(), Some(Instant::new(10)));
        slots.line_up(kept[0]);
        [0, 1, 3, 4].into_iter().for_each(|place| slots.step_out(kept[place]));
        assert_eq!((slots.oldest(), slots.first, slots.last), (None, NOBODY, NOBODY));
    }

    #[test]
    fn slots_are_used_again() {
        let mut slots = Slots::new();
        for round in 0..100 {
            let slot = slots.keep(arrived(round)).expect("one");
            assert_eq!((slot, slots.held()), (0, 1));
            slots.let_go(slot);
        }
        assert_eq!((slots.held(), slots.slots.len()), (0, 1));
    }
}
