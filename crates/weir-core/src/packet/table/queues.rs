//! The queues of the flows that a table serves.

use crate::discipline::{Backlog, DropReason, Drops};
use crate::item::Item;
use crate::packet::flows::By;
use crate::packet::limits::Limits;
use crate::packet::slots::{Chain, Slots};
use crate::units::Bytes;

/// One flow.
#[derive(Clone, Debug, Default)]
struct Queue {
    packets: Chain,
    /// Whether an entry names it.
    served: bool,
}

/// A queue for each flow up to the highest that is served.
#[derive(Clone, Debug)]
pub(in crate::packet) struct Queues<I: Item> {
    by: By,
    limits: Limits,
    flows: Vec<Queue>,
    slots: Slots<I>,
    backlog: Backlog<I::Cost>,
}

impl<I: Item<Cost = Bytes>> Queues<I> {
    /// Empty queues of those flows that are served.
    pub(in crate::packet) fn new(by: By, limits: Limits, served: &[bool]) -> Self {
        let flows = served.iter().map(|&served| Queue { packets: Chain::default(), served }).collect();
        Self { by, limits, flows, slots: Slots::default(), backlog: Backlog::default() }
    }

    /// Puts the item into its queue, or drops it: larger than `largest`, of a flow that is not served, or without
    /// room. The flow, if it had no packet before.
    #[inline(always)]
    pub(in crate::packet) fn append(
        &mut self,
        item: I,
        largest: Bytes,
        drops: &mut dyn Drops<I>,
    ) -> Option<u16> {
        let flow = match self.by {
            By::Flow => item.flow().0,
            By::Class => item.class().0.into(),
        };
        let size = item.cost();
        let Some(queue) = self.flows.get_mut(flow as usize).filter(|queue| queue.served) else {
            drops.dropped(item, DropReason::Unclassified);
            return None;
        };
        if size > largest {
            drops.dropped(item, DropReason::TooLarge);
            return None;
        }
        let before = queue.packets.len();
        if !self.limits.admit(before.into(), self.backlog.items) {
            drops.dropped(item, DropReason::QueueFull);
            return None;
        }
        self.backlog.add(size);
        self.slots.append(&mut queue.packets, item);
        (before == 0).then_some(flow as u16)
    }

    /// The first packet of a flow.
    #[inline(always)]
    pub(in crate::packet) fn head(&self, flow: u16) -> Option<&I> {
        self.slots.head(&self.flows.get(flow as usize)?.packets)
    }

    /// Takes the first packet of a flow; whether it was the last one.
    #[inline(always)]
    pub(in crate::packet) fn take(&mut self, flow: u16) -> Option<(I, bool)> {
        let queue = self.flows.get_mut(flow as usize)?;
        let item = self.slots.take(&mut queue.packets)?;
        self.backlog.remove(item.cost());
        Some((item, queue.packets.len() == 0))
    }

    /// What waits.
    #[inline(always)]
    pub(in crate::packet) fn backlog(&self) -> Backlog<Bytes> {
        self.backlog
    }
}
