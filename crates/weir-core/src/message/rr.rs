//! Standard round robin: one quantum, then to the end of the list.
//!
//! A message is served for one quantum (one packet, in the port) and goes to the end at once, at the start
//! of that packet's transmission, so that messages arriving during the transmission stand behind it.
//! Newcomers go to the end as well.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, *Alpha Message Scheduling for Packet-Switched Interconnects*, section 3 |
//! | Work per item | O(1) for each quantum |
//! | Units | `quantum`: the item's cost (packets of a message, nanoseconds of a request) |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | the quantum is a parameter; the report's is one packet |

use core::fmt;
use std::collections::VecDeque;

use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Cost, Instant};

/// The parameter of both round robins.
pub(crate) const QUANTUM: Parameter = Parameter::new("quantum", Takes::Turn, "1")
    .listed("units of cost (packets, bytes or nanoseconds), at least 1")
    .meaning("how much a message is served before it goes to the end");

/// What the listings say.
pub const INFO: Info = Info {
    name: "rr",
    kind: Kind::Message,
    title: "round robin",
    rule: "serves one quantum of each message in turn; newcomers and served messages go to the end",
    source: "Cherkasova and Rokicki, alpha report, section 3",
    work: "O(1) per quantum",
    parameters: &[QUANTUM],
    example: "rr",
};

/// Why a round robin was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The quantum is nothing.
    Quantum,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantum => f.write_str("quantum is 0, must be at least 1 unit of cost"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// What may be used at once of `cost`; the whole quantum where nobody knows the cost.
#[inline]
pub(crate) fn share<C: Cost>(quantum: C, cost: C) -> C {
    if cost == C::ZERO { quantum } else { quantum.min(cost) }
}

/// Round robin, newcomers to the end.
#[derive(Clone, Debug)]
pub struct Rr<I: Item> {
    queue: VecDeque<I>,
    quantum: I::Cost,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Rr<I> {
    /// Serves `quantum` of each message in turn.
    ///
    /// # Errors
    /// The quantum is nothing.
    pub fn new(quantum: I::Cost) -> Result<Self, ConfigError> {
        if quantum == I::Cost::ZERO {
            return Err(ConfigError::Quantum);
        }
        Ok(Self { queue: VecDeque::new(), quantum, backlog: Backlog::default() })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// The quantum is no whole number, or nothing.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let quantum = I::Cost::of(arguments.whole("quantum")?);
        Ok(Self { queue: VecDeque::new(), quantum, backlog: Backlog::default() })
    }

    #[inline]
    fn append(&mut self, item: I) {
        self.backlog.add(item.cost());
        self.queue.push_back(item);
    }
}

impl<I: Item> Discipline<I> for Rr<I> {
    #[inline]
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        self.append(item);
        Enqueued::Queued
    }

    #[inline]
    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        if !gate.permits(self.queue.front()?) {
            return None;
        }
        let item = self.queue.pop_front()?;
        let cost = item.cost();
        self.backlog.remove(cost);
        Some(Grant { item, quantum: share(self.quantum, cost) })
    }

    #[inline]
    fn requeue(&mut self, _now: Instant, item: I, _used: I::Cost, _drops: &mut dyn Drops<I>) {
        self.append(item);
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let mut keep = self.backlog.less(keep);
        self.queue.retain(&mut keep);
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
    use crate::units::Packets;

    #[test]
    fn a_served_message_goes_to_the_end_at_once() {
        // c arrives during the transmission of a's first packet: behind b and a.
        assert_eq!(schedule("rr", "a3 b2 . c1"), "abacba");
    }

    #[test]
    fn a_larger_quantum_is_served_in_one() {
        assert_eq!(schedule("rr:2", "a3 b2 . c1"), "aabbca");
    }

    #[test]
    fn a_quantum_of_nothing_is_refused() {
        let error = Rr::<Message>::new(Packets::ZERO).expect_err("nothing");
        assert_eq!(error.to_string(), "quantum is 0, must be at least 1 unit of cost");
    }

    #[test]
    fn an_unknown_cost_gets_the_quantum() {
        assert_eq!(share(Packets::new(3), Packets::ZERO), Packets::new(3));
        assert_eq!(share(Packets::new(3), Packets::ONE), Packets::ONE);
    }
}
