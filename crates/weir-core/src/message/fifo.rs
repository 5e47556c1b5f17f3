//! First in, first out.
//!
//! A message that has begun is served to its end before the next begins. With a limit it is the drop-tail
//! queue of routers: who finds it full is dropped. An item that is given back was admitted before and is
//! taken back, whatever the limit.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, *Alpha Message Scheduling for Packet-Switched Interconnects*, alpha = 0 |
//! | Work per item | O(1) |
//! | Units | `limit`: waiting items, or their cost together where that is in bytes |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | the limit, which the source lacks |

use std::collections::VecDeque;

use crate::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant, Limit, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::Instant;

/// What the listings say.
pub const INFO: Info = Info {
    name: "fifo",
    kind: Kind::Message,
    title: "first in, first out",
    rule: "serves whole messages in the order of their arrival",
    source: "Cherkasova and Rokicki, alpha report, section 4 (alpha = 0)",
    work: "O(1)",
    parameters: &[Parameter::new("limit", Takes::Limit, "none")
        .or(&["none"])
        .listed("such as `100pkt` or, for packets, `64KiB`; or `none`")
        .refused("packets such as 100pkt, bytes such as 64KiB, each at least 1, or `none`")
        .meaning("how much may wait; a newcomer that finds no room is dropped")],
    example: "fifo",
};

/// First in, first out.
#[derive(Clone, Debug)]
pub struct Fifo<I: Item> {
    queue: VecDeque<I>,
    limit: Limit<I::Cost>,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Default for Fifo<I> {
    fn default() -> Self {
        Self::limited(Limit::none())
    }
}

impl<I: Item> Fifo<I> {
    /// An empty queue that takes whatever comes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty queue that drops who would exceed `limit`. One that admits nothing drops everything.
    #[must_use]
    pub fn limited(limit: Limit<I::Cost>) -> Self {
        Self { queue: VecDeque::new(), limit, backlog: Backlog::default() }
    }

    /// Whether one more, `item`, may wait.
    #[inline(always)]
    pub(crate) fn admits(&self, item: &I) -> bool {
        self.limit.admits(&self.backlog, item.cost())
    }

    /// Puts an item at the end.
    #[inline(always)]
    pub(crate) fn append(&mut self, item: I) {
        self.backlog.add(item.cost());
        self.queue.push_back(item);
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// The limit is nothing, no such quantity, or in bytes where items are not.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Ok(Self::limited(arguments.limit("limit")?))
    }
}

impl<I: Item> Discipline<I> for Fifo<I> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if self.admits(&item) {
            self.append(item);
        } else {
            drops.dropped(item, DropReason::QueueFull);
        }
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let head = self.queue.front()?;
        if !gate.permits(head) {
            return None;
        }
        // Of what it costs, which is read before it is taken: an item that nobody looks into is handed over in the pieces
        // in which it lies.
        let quantum = head.cost();
        let item = self.queue.pop_front()?;
        self.backlog.remove(quantum);
        Some(Grant { item, quantum })
    }

    #[inline]
    fn requeue(&mut self, _now: Instant, item: I, _used: I::Cost, _drops: &mut dyn Drops<I>) {
        self.backlog.add(item.cost());
        self.queue.push_front(item);
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let mut keep = self.backlog.less(keep);
        self.queue.retain(&mut keep);
        true
    }

    #[inline]
    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;
    use crate::discipline::Open;
    use crate::item::{ClassId, FlowId, Message, Packet};
    use crate::registry::{message_discipline, packet_discipline};
    use crate::units::{Bytes, Nanos};

    conformance::suite!(conforms, Fifo::new, [work_conserving, flow_order, resumable]);
    conformance::suite!(
        conforms_with_a_limit,
        || Fifo::limited(Limit { items: 3, ..Limit::none() }),
        [work_conserving, flow_order, resumable]
    );
    conformance::suite!(conforms_with_a_limit_in_bytes: [Packet], || limited(2_000), [work_conserving, flow_order]);

    fn limited(bytes: u64) -> Fifo<Packet> {
        Fifo::limited(Limit { cost: Bytes::new(bytes), ..Limit::none() })
    }

    fn packet(id: u32, size: u64) -> Packet {
        Packet { id, flow: FlowId(0), class: ClassId(0), size: Bytes::new(size) }
    }

    /// Offers packets of these sizes; the names of the dropped ones.
    fn dropped(queue: &mut dyn Discipline<Packet>, sizes: &[u64]) -> Vec<u32> {
        let mut drops = Vec::new();
        for (id, &size) in (0..).zip(sizes) {
            let _ = queue.enqueue(Instant::ZERO, packet(id, size), &mut drops);
        }
        assert!(drops.iter().all(|(_, reason)| *reason == DropReason::QueueFull));
        drops.into_iter().map(|(packet, _)| packet.id).collect()
    }

    fn named(spec: &str) -> Box<dyn Discipline<Packet> + Send> {
        packet_discipline(&spec.parse().expect(spec)).expect(spec)
    }

    #[test]
    fn who_finds_it_full_is_dropped() {
        let mut queue = named("fifo:limit=2pkt");
        assert_eq!(dropped(&mut *queue, &[100, 100, 1, 1]), [2, 3]);
        // One leaves, one more has room.
        assert!(queue.dequeue(Instant::ZERO, &Open, &mut Vec::new()).is_some());
        assert_eq!(dropped(&mut *queue, &[100, 100]), [1]);
    }

    #[test]
    fn a_limit_in_bytes_drops_what_does_not_fit() {
        // 1000 wait; 1001 more do not fit, 24 do, and then nothing but the empty packet.
        assert_eq!(dropped(&mut *named("fifo:1KiB"), &[1000, 1001, 24, 1, 0]), [1, 3]);
        assert_eq!(dropped(&mut *named("fifo:limit=none"), &[u64::MAX; 9]), []);
        assert_eq!(dropped(&mut *named("fifo:limit=18446744073709551615B"), &[u64::MAX, 1]), []);
    }

    #[test]
    fn what_is_given_back_is_taken_beyond_the_limit() {
        let mut queue = limited(100);
        assert_eq!(dropped(&mut queue, &[100]), []);
        let mut drops = Vec::new();
        let first = queue.dequeue(Instant::ZERO, &Open, &mut drops).expect("one waits").item;
        assert_eq!(dropped(&mut queue, &[60]), []);
        queue.requeue(Instant::ZERO, packet(first.id, 50), Bytes::new(50), &mut drops);
        assert_eq!((queue.backlog().items, queue.backlog().cost), (2, Bytes::new(110)));
        assert!(drops.is_empty());
    }

    #[test]
    fn limits_are_refused_with_value_and_remedy() {
        let refused = |spec: &str| {
            let spec = spec.parse().expect(spec);
            message_discipline::<Message<Nanos>>(&spec).map(drop).expect_err("refused").to_string()
        };
        let expected = "must be packets such as 100pkt, bytes such as 64KiB, each at least 1, or `none`";
        for value in ["0pkt", "0B", "100", "-1pkt", "many", "1e3pkt", "18446744073709551616B"] {
            let message = refused(&format!("fifo:limit={value}"));
            assert_eq!(message, format!("`fifo`: limit is `{value}`, {expected}"));
        }
        assert_eq!(
            refused("fifo:64KiB"),
            "`fifo`: limit is `64KiB`, which needs items counted in bytes; these are counted in ns, \
             write packets such as 100pkt"
        );
    }
}
