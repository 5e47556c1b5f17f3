//! First in, first out.
//!
//! A message that has begun is served to its end before the next begins.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, *Alpha Message Scheduling for Packet-Switched Interconnects*, alpha = 0 |
//! | Work per item | O(1) |
//! | Units | none |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | no |

use std::collections::VecDeque;

use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant};
use crate::info::{Arguments, Info, Kind};
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
    parameters: &[],
    example: "fifo",
};

/// First in, first out.
#[derive(Clone, Debug)]
pub struct Fifo<I: Item> {
    queue: VecDeque<I>,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Default for Fifo<I> {
    fn default() -> Self {
        Self { queue: VecDeque::new(), backlog: Backlog::default() }
    }
}

impl<I: Item> Fifo<I> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// As a spec names it; it has no parameters.
    ///
    /// # Errors
    /// None: a spec with arguments was refused before.
    pub fn from_spec(_arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        Ok(Self::new())
    }
}

impl<I: Item> Discipline<I> for Fifo<I> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        self.backlog.add(item.cost());
        self.queue.push_back(item);
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        if !gate.permits(self.queue.front()?) {
            return None;
        }
        let item = self.queue.pop_front()?;
        let quantum = item.cost();
        self.backlog.remove(quantum);
        Some(Grant { item, quantum })
    }

    #[inline]
    fn requeue(&mut self, _now: Instant, item: I, _used: I::Cost, _drops: &mut dyn Drops<I>) {
        self.backlog.add(item.cost());
        self.queue.push_front(item);
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    conformance::suite!(conforms, Fifo::new, [work_conserving, flow_order, resumable]);
}
