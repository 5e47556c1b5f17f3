//! A discipline that takes the place of another: what waits in the old one leaves first.
//!
//! Where a new discipline would drop what waits, the old one is kept until it is empty, and the new one collects what
//! arrives meanwhile. So nothing is lost, and no packet of a flow overtakes another.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work per packet | that of the disciplines |
//! | Units | bytes of IP |

use weir_core::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use weir_core::item::Item;
use weir_core::units::{Bytes, Instant};

/// A discipline in a box.
pub(super) type Boxed<I> = Box<dyn Discipline<I> + Send>;

/// A gate that is always closed.
pub(super) struct Closed;

impl<I> Gate<I> for Closed {
    fn permits(&self, _head: &I) -> bool {
        false
    }
}

/// A discipline, and while there is one the discipline before it.
pub(super) struct Succession<I: Item<Cost = Bytes>> {
    current: Boxed<I>,
    /// What is served first, until it is empty.
    before: Option<Boxed<I>>,
    /// Whether the open grant is of the one before.
    granted_before: bool,
}

impl<I: Item<Cost = Bytes>> Succession<I> {
    /// A discipline without a predecessor.
    pub(super) fn new(current: Boxed<I>) -> Self {
        Self { current, before: None, granted_before: false }
    }

    /// Whether there is a predecessor.
    pub(super) fn has_predecessor(&self) -> bool {
        self.before.is_some()
    }

    /// `next` takes the place of all, and has what they had; they come back, to be dropped by whoever has time.
    pub(super) fn replace(&mut self, next: Boxed<I>) -> Self {
        core::mem::replace(self, Self::new(next))
    }

    /// `next` takes the place of the current one, which is served until it is empty; there is no predecessor.
    pub(super) fn succeed(&mut self, next: Boxed<I>) {
        self.before = Some(core::mem::replace(&mut self.current, next));
    }

    /// The one before has nothing left.
    #[cold]
    fn retire(&mut self) {
        self.before = None;
    }
}

/// Asks behind a closed gate: an event is handled, and whatever is granted is given back.
pub(super) fn handle_event<I: Item<Cost = Bytes>, D: Discipline<I> + ?Sized>(
    discipline: &mut D,
    now: Instant,
    drops: &mut dyn Drops<I>,
) {
    if let Some(Grant { item, .. }) = discipline.dequeue(now, &Closed, drops) {
        discipline.requeue(now, item, Bytes::new(0), drops);
    }
}

impl<I: Item<Cost = Bytes>> Discipline<I> for Succession<I> {
    #[inline]
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        self.current.enqueue(now, item, drops)
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        if let Some(before) = &mut self.before {
            let grant = before.dequeue(now, gate, drops);
            if grant.is_some() || !before.backlog().is_empty() {
                self.granted_before = true;
                if self.current.next_event().is_some_and(|event| event <= now) {
                    handle_event(&mut self.current, now, drops);
                }
                return grant;
            }
            self.retire();
        }
        self.granted_before = false;
        self.current.dequeue(now, gate, drops)
    }

    fn requeue(&mut self, now: Instant, item: I, used: Bytes, drops: &mut dyn Drops<I>) {
        match &mut self.before {
            Some(before) if self.granted_before => before.requeue(now, item, used, drops),
            _ => self.current.requeue(now, item, used, drops),
        }
    }

    #[inline]
    fn finish(&mut self, now: Instant, item: &I, used: Bytes) {
        match &mut self.before {
            Some(before) if self.granted_before => before.finish(now, item, used),
            _ => self.current.finish(now, item, used),
        }
    }

    #[inline]
    fn next_event(&self) -> Option<Instant> {
        let before = self.before.as_ref().and_then(|before| before.next_event());
        [before, self.current.next_event()].into_iter().flatten().min()
    }

    #[inline]
    fn backlog(&self) -> Backlog<Bytes> {
        let mut backlog = self.current.backlog();
        if let Some(before) = &self.before {
            let more = before.backlog();
            backlog.items += more.items;
            backlog.cost += more.cost;
        }
        backlog
    }
}

#[cfg(test)]
mod tests {
    use weir_core::discipline::Open;
    use weir_core::item::{ClassId, FlowId, Packet};
    use weir_core::registry::packet_discipline;

    use super::*;

    fn named(spec: &str) -> Boxed<Packet> {
        packet_discipline(&spec.parse().expect(spec)).expect(spec)
    }

    fn packet(id: u32, flow: u32) -> Packet {
        Packet { id, flow: FlowId(flow), class: ClassId(0), size: Bytes::new(100) }
    }

    fn served(queue: &mut Succession<Packet>, now: u64) -> Option<u32> {
        let grant = queue.dequeue(Instant::new(now), &Open, &mut Vec::new())?;
        queue.finish(Instant::new(now), &grant.item, grant.quantum);
        Some(grant.item.id)
    }

    #[test]
    fn what_waits_with_the_old_one_leaves_first() {
        let mut queue = Succession::new(named("fifo"));
        let mut drops = Vec::new();
        for id in 0..3 {
            let _ = queue.enqueue(Instant::ZERO, packet(id, 0), &mut drops);
        }
        queue.succeed(named("fifo:limit=1pkt"));
        let _ = queue.enqueue(Instant::ZERO, packet(3, 0), &mut drops);
        assert_eq!((queue.backlog().items, queue.backlog().cost), (4, Bytes::new(400)));
        let ids: Vec<u32> = core::iter::from_fn(|| served(&mut queue, 1)).collect();
        assert_eq!(ids, [0, 1, 2, 3]);
        assert!(drops.is_empty() && !queue.has_predecessor());
    }

    #[test]
    fn the_old_one_is_waited_for_while_it_holds_back() {
        // 100 bytes at 8 kbit/s are 100 ms; the bucket holds one packet, which leaves at once.
        let mut queue = Succession::new(named("tbf(fifo,rate=8kbit,burst=100B)"));
        let mut drops = Vec::new();
        for id in 0..2 {
            let _ = queue.enqueue(Instant::ZERO, packet(id, 0), &mut drops);
        }
        assert_eq!(served(&mut queue, 0), Some(0));
        queue.succeed(named("fifo"));
        let _ = queue.enqueue(Instant::ZERO, packet(2, 0), &mut drops);
        assert_eq!(served(&mut queue, 0), None);
        assert_eq!(queue.next_event(), Some(Instant::new(100_000_000)));
        assert_eq!(served(&mut queue, 100_000_000), Some(1));
        assert_eq!(served(&mut queue, 100_000_000), Some(2));
    }
}
