//! What the tests of several message disciplines share.

use crate::discipline::{CountDrops, Discipline, Enqueued, Open};
use crate::item::{ClassId, FlowId, Message};
use crate::units::{Instant, Packets};

/// Message `id` of flow 0 and of this length.
pub(super) fn message(id: u32, length: u64) -> Message {
    Message { id, flow: FlowId(0), class: ClassId(0), remaining: Packets::new(length) }
}

/// Messages of these lengths arrive together; the order in which they are finished.
pub(super) fn order_of(discipline: &mut dyn Discipline<Message>, lengths: &[u64]) -> Vec<u32> {
    let (now, drops) = (Instant::ZERO, &mut CountDrops::default());
    for (id, &length) in (0..).zip(lengths) {
        assert_eq!(discipline.enqueue(now, message(id, length), drops), Enqueued::Queued);
    }
    let mut finished = Vec::new();
    while let Some(grant) = discipline.dequeue(now, &Open, drops) {
        let rest = Message { remaining: grant.item.remaining - grant.quantum, ..grant.item };
        if rest.remaining == Packets::new(0) {
            discipline.finish(now, &grant.item, grant.quantum);
            finished.push(rest.id);
        } else {
            discipline.requeue(now, rest, grant.quantum, drops);
        }
    }
    finished
}
