//! Processor sharing, by a quantum.
//!
//! All waiting messages share the server equally: each in turn is served for one quantum, newcomers
//! at the end of the round. As the quantum goes to zero this becomes processor sharing in the strict
//! sense, where each of n messages is served at 1/n of the speed; the fluid form of the simulator computes
//! that limit exactly.
//!
//! | | |
//! |-|-|
//! | Source | Kleinrock, *Time-shared systems: a theoretical treatment*, JACM 14(2), 1967 |
//! | Work per quantum | O(1) |
//! | Fairness | two messages that wait throughout an interval are served alike in it, to within one quantum |
//! | Units | `quantum`: the item's cost (packets of a message, nanoseconds of a request) |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | the quantum is not zero; a message interrupted within it has its rest first |

use core::fmt;
use std::collections::VecDeque;

use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind, Parameter, Takes};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Cost, Instant};

/// What the listings say.
pub const INFO: Info = Info {
    name: "ps",
    kind: Kind::Message,
    title: "processor sharing",
    rule: "serves all waiting messages in turn, one quantum each",
    source: "Kleinrock, Time-shared systems: a theoretical treatment, JACM 14(2), 1967",
    work: "O(1) per quantum",
    parameters: &[
        Parameter::new("quantum", Takes::Turn, "1").meaning("how much a message is served in its turn")
    ],
    example: "ps:quantum=1",
};

/// Why a configuration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError<C: Cost> {
    /// The quantum serves nothing.
    Quantum(C),
}

impl<C: Cost> fmt::Display for ConfigError<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Quantum(quantum) = self;
        write!(f, "quantum is {quantum}, must be at least {}", C::ONE)
    }
}

impl<C: Cost> core::error::Error for ConfigError<C> {}

/// Processor sharing, by a quantum.
#[derive(Clone, Debug)]
pub struct Ps<I: Item> {
    queue: VecDeque<I>,
    quantum: I::Cost,
    /// What is left of the turn of the head, or of the item of the open grant; zero between two turns.
    turn: I::Cost,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Ps<I> {
    /// Serves `quantum` of each message in turn.
    ///
    /// # Errors
    /// The quantum is zero.
    pub fn new(quantum: I::Cost) -> Result<Self, ConfigError<I::Cost>> {
        if quantum == I::Cost::ZERO {
            return Err(ConfigError::Quantum(quantum));
        }
        let (turn, backlog) = (I::Cost::ZERO, Backlog::default());
        Ok(Self { queue: VecDeque::new(), quantum, turn, backlog })
    }

    /// As a spec names it.
    ///
    /// # Errors
    /// The quantum is no whole number of at least 1.
    pub fn from_spec(arguments: &Arguments<'_>) -> Result<Self, SpecError> {
        let quantum = I::Cost::of(arguments.whole("quantum")?);
        Self::new(quantum).map_err(|error| arguments.error("quantum", error.to_string()))
    }
}

impl<I: Item> Discipline<I> for Ps<I> {
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
        let cost = item.cost();
        self.backlog.remove(cost);
        if self.turn == I::Cost::ZERO {
            self.turn = self.quantum;
        }
        // A cost of zero is not known, and bounds nothing.
        let quantum = if cost == I::Cost::ZERO { self.turn } else { self.turn.min(cost) };
        Some(Grant { item, quantum })
    }

    #[inline]
    fn charge(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        self.turn = self.turn.minus(used);
    }

    #[inline]
    fn requeue(&mut self, _now: Instant, item: I, used: I::Cost, _drops: &mut dyn Drops<I>) {
        self.turn = self.turn.minus(used);
        self.backlog.add(item.cost());
        if self.turn == I::Cost::ZERO {
            self.queue.push_back(item);
        } else {
            self.queue.push_front(item);
        }
    }

    #[inline]
    fn finish(&mut self, _now: Instant, _item: &I, _used: I::Cost) {
        self.turn = I::Cost::ZERO;
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
    use super::*;
    use crate::conformance::{self, Promises, Sample};
    use crate::discipline::{CountDrops, Open};
    use crate::item::{Message, Packet};
    use crate::message::testing::{message, order_of};
    use crate::units::Packets;

    fn ps<I: Item>(quantum: u64) -> Ps<I> {
        Ps::new(I::Cost::of(quantum)).expect("valid")
    }

    conformance::suite!(conforms, || ps(1), [work_conserving, resumable]);
    conformance::suite!(conforms_in_large_quanta, || ps(7), [work_conserving, resumable]);

    #[test]
    fn the_quantum_must_serve_something() {
        let error = Ps::<Message>::new(Packets::ZERO).expect_err("zero");
        assert_eq!(error, ConfigError::Quantum(Packets::ZERO));
        assert_eq!(error.to_string(), "quantum is 0pkt, must be at least 1pkt");
    }

    #[test]
    fn messages_take_turns() {
        // Lengths 3, 1, 2: a b c a c a; they end in the order b, c, a.
        assert_eq!(order_of(&mut ps(1), &[3, 1, 2]), [1, 2, 0]);
        // By two: a a | b | c c | a.
        assert_eq!(order_of(&mut ps(2), &[3, 1, 2]), [1, 2, 0]);
        assert_eq!(order_of(&mut ps(3), &[3, 1, 2]), [0, 1, 2]);
    }

    #[test]
    fn an_interrupted_turn_is_resumed_first() {
        let mut ps = ps(4);
        let drops = &mut CountDrops::default();
        for id in 0..2 {
            assert_eq!(ps.enqueue(Instant::ZERO, message(id, 9), drops), Enqueued::Queued);
        }
        assert!(ps.dequeue(Instant::ZERO, &Open, drops).is_some());
        ps.charge(Instant::ZERO, &message(0, 9), Packets::new(1));
        ps.requeue(Instant::ZERO, message(0, 7), Packets::new(1), drops);
        let grant = ps.dequeue(Instant::ZERO, &Open, drops).expect("two wait");
        assert_eq!((grant.item.id, grant.quantum.get()), (0, 2));
        ps.requeue(Instant::ZERO, message(0, 5), Packets::new(2), drops);
        let grant = ps.dequeue(Instant::ZERO, &Open, drops).expect("two wait");
        assert_eq!((grant.item.id, grant.quantum.get()), (1, 4));
    }

    #[test]
    fn those_that_wait_together_are_served_alike() {
        let mut ps = ps(7);
        let drops = &mut CountDrops::default();
        for id in 0..5 {
            assert_eq!(ps.enqueue(Instant::ZERO, message(id, 1_000_000), drops), Enqueued::Queued);
        }
        let mut random = conformance::Random::new(1);
        let mut served = [0; 5];
        for _ in 0..10_000 {
            let grant = ps.dequeue(Instant::ZERO, &Open, drops).expect("none ends");
            let used = Packets::new(random.below(grant.quantum.get() + 1));
            served[grant.item.id as usize] += used.get();
            ps.requeue(Instant::ZERO, grant.item.served(used), used, drops);
            let (least, most) = (served.iter().min(), served.iter().max());
            assert!(most <= least.map(|least| least + 7).as_ref(), "{served:?}");
        }
    }

    /// Each message with the number of its next turn; a newcomer joins behind all of the current round.
    struct Oracle<I> {
        list: Vec<(u64, I)>,
        next: u64,
        quantum: u64,
        left: u64,
        served: u64,
    }

    impl<I: Sample> Discipline<I> for Oracle<I> {
        fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
            self.next += 1;
            self.list.push((self.next, item));
            Enqueued::Queued
        }
        fn dequeue(&mut self, _: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
            let first = (0..self.list.len()).min_by_key(|&i| self.list[i].0)?;
            if !gate.permits(&self.list[first].1) {
                return None;
            }
            let (turn, item) = self.list.remove(first);
            if self.served != turn {
                (self.served, self.left) = (turn, self.quantum);
            }
            Some(Grant { item, quantum: I::Cost::of(self.left.min(item.cost().count())) })
        }
        fn charge(&mut self, _now: Instant, _item: &I, used: I::Cost) {
            self.left -= used.count();
        }
        fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
            self.charge(now, &item, used);
            if self.left > 0 {
                return self.list.push((self.served, item));
            }
            let _ = self.enqueue(now, item, drops);
        }
        fn backlog(&self) -> Backlog<I::Cost> {
            conformance::backlog_of(self.list.iter().map(|entry| &entry.1))
        }
    }

    #[test]
    fn agrees_with_numbered_turns() {
        let promises = Promises { work_conserving: true, flow_order: false, resumable: true };
        for quantum in [1, 3, 20] {
            let oracle = || Oracle { list: Vec::new(), next: 0, quantum, left: 0, served: 0 };
            conformance::agree::<Message, _, _>(|| ps(quantum), oracle, promises);
        }
        let oracle = || Oracle { list: Vec::new(), next: 0, quantum: 100, left: 0, served: 0 };
        conformance::agree::<Packet, _, _>(|| ps(100), oracle, promises);
    }
}
