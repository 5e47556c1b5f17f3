//! Round robin with newcomers at the head (RR').
//!
//! Messages that have sent nothing yet stand, in the order of their arrival, before all those that have;
//! after its first quantum a message joins the round robin at the end. So the list is two queues, the
//! fresh one first.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, *Alpha Message Scheduling for Packet-Switched Interconnects*, section 3 |
//! | Work per item | O(1) for each quantum |
//! | Units | `quantum`: the item's cost (packets of a message, nanoseconds of a request) |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | no clock, hence not its overflow after 2^31 packets; the quantum is a parameter |

use std::collections::VecDeque;

use super::rr::{ConfigError, QUANTUM, share};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Cost, Instant};

/// What the listings say.
pub const INFO: Info = Info {
    name: "rr_head",
    kind: Kind::Message,
    title: "round robin, newcomers at the head (RR')",
    rule: "serves messages that have sent nothing first, in order of arrival, then the others in turn",
    source: "Cherkasova and Rokicki, alpha report, section 3 (RR')",
    work: "O(1) per quantum",
    parameters: &[QUANTUM],
    example: "rr_head",
};

/// Round robin, newcomers to the head.
#[derive(Clone, Debug)]
pub struct RrHead<I: Item> {
    fresh: VecDeque<I>,
    begun: VecDeque<I>,
    quantum: I::Cost,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> RrHead<I> {
    /// Serves `quantum` of each message in turn.
    ///
    /// # Errors
    /// The quantum is nothing.
    pub fn new(quantum: I::Cost) -> Result<Self, ConfigError> {
        if quantum == I::Cost::ZERO {
            return Err(ConfigError::Quantum);
        }
        Ok(Self { fresh: VecDeque::new(), begun: VecDeque::new(), quantum, backlog: Backlog::default() })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// The quantum is no whole number, or nothing.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let quantum = I::Cost::of(arguments.whole("quantum")?);
        Ok(Self { fresh: VecDeque::new(), begun: VecDeque::new(), quantum, backlog: Backlog::default() })
    }
}

impl<I: Item> Discipline<I> for RrHead<I> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        self.backlog.add(item.cost());
        self.fresh.push_back(item);
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let queue = if self.fresh.is_empty() { &mut self.begun } else { &mut self.fresh };
        if !gate.permits(queue.front()?) {
            return None;
        }
        let item = queue.pop_front()?;
        let cost = item.cost();
        self.backlog.remove(cost);
        Some(Grant { item, quantum: share(self.quantum, cost) })
    }

    #[inline]
    fn requeue(&mut self, _now: Instant, item: I, _used: I::Cost, _drops: &mut dyn Drops<I>) {
        self.backlog.add(item.cost());
        self.begun.push_back(item);
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let mut keep = self.backlog.less(keep);
        self.fresh.retain(&mut keep);
        self.begun.retain(&mut keep);
        true
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::schedule;
    use super::*;
    use crate::item::Message;

    #[test]
    fn fresh_messages_go_first_in_order_of_arrival() {
        assert_eq!(schedule("rr_head", "a3 b2 . c1"), "abcaba");
        assert_eq!(schedule("rr_head", "a4 .. b2 . c2"), "aabcabca");
    }

    #[test]
    fn a_quantum_of_nothing_is_refused() {
        assert_eq!(RrHead::<Message>::new(Cost::ZERO).err(), Some(ConfigError::Quantum));
    }
}
