//! Shortest job first, without preemption.
//!
//! The waiting message of the smallest original length is served next, and served to its end. Equal
//! lengths are served in the order of their arrival.
//!
//! | | |
//! |-|-|
//! | Source | Harchol-Balter, *Performance Modeling and Design of Computer Systems*, 2013, chapter 31 (SJF) |
//! | Work per item | O(log n) in waiting messages |
//! | Units | the length is the item's cost when it arrives |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | a message given back before its end is the next to be served |

use super::clocked::Served;
use super::ranked::Ranked;
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::priority::{Key, Prioritized, copied_with_keys};
use crate::spec::SpecError;
use crate::units::Instant;

/// What the listings say.
pub const INFO: Info = Info {
    name: "sjf",
    kind: Kind::Message,
    title: "shortest job first",
    rule: "serves the message of the smallest original length, whole and without interruption",
    source: "Harchol-Balter, Performance Modeling and Design of Computer Systems, 2013, chapter 31",
    work: "O(log n)",
    parameters: &[],
    example: "sjf",
};

/// Shortest job first, without preemption.
#[derive(Clone, Debug)]
pub struct Sjf<I: Item> {
    waiting: Ranked<Key, I>,
    /// The message that was given back before its end.
    begun: Option<I>,
    backlog: Backlog<I::Cost>,
    served: Served,
}

impl<I: Item> Default for Sjf<I> {
    fn default() -> Self {
        Self {
            waiting: Ranked::default(),
            begun: None,
            backlog: Backlog::default(),
            served: Served::default(),
        }
    }
}

impl<I: Item> Sjf<I> {
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

    fn insert(&mut self, item: I, key: Key) {
        let rank = self.waiting.last(key);
        self.backlog.add(item.cost());
        self.waiting.insert(rank, item);
    }

    fn take(&mut self, gate: &dyn Gate<I>) -> Option<I> {
        match self.begun.take() {
            Some(item) if gate.permits(&item) => Some(item),
            Some(item) => {
                self.begun = Some(item);
                None
            }
            None => self.waiting.take(gate).map(|(_, item)| item),
        }
    }
}

impl<I: Item> Discipline<I> for Sjf<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        let key = self.served.key(item.cost());
        self.insert(item, key);
        Enqueued::Queued
    }

    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let item = self.take(gate)?;
        let quantum = item.cost();
        self.backlog.remove(quantum);
        Some(Grant { item, quantum })
    }

    fn charge(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        self.served.advance(used);
    }

    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        self.served.advance(used);
        if self.begun.is_some() {
            let _ = self.enqueue(now, item, drops);
            return;
        }
        self.backlog.add(item.cost());
        self.begun = Some(item);
    }

    fn finish(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        self.served.advance(used);
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let mut keep = self.backlog.less(keep);
        self.begun = self.begun.take().filter(&mut keep);
        self.waiting.retain(&mut keep);
        true
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

impl<I: Item> Prioritized<I> for Sjf<I> {
    fn key(&self, _now: Instant, item: &I) -> Key {
        self.served.key(item.cost())
    }

    fn enqueue_with_key(&mut self, _now: Instant, item: I, key: Key, _drops: &mut dyn Drops<I>) -> Enqueued {
        let key = key.max(self.served.key(item.cost()));
        self.insert(item, key);
        Enqueued::Queued
    }

    copied_with_keys!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{self, Promises};
    use crate::discipline::{CountDrops, Open};
    use crate::item::{Message, Packet};
    use crate::message::testing::{message, order_of};
    use crate::units::{Cost, Packets};

    conformance::suite!(conforms, Sjf::new, [work_conserving, resumable]);

    #[test]
    fn the_shortest_goes_first_and_ties_by_arrival() {
        let mut sjf = Sjf::new();
        assert_eq!(order_of(&mut sjf, &[5, 2, 9, 2, 1]), [4, 1, 3, 0, 2]);
    }

    #[test]
    fn what_has_begun_is_not_overtaken() {
        let mut sjf = Sjf::new();
        let drops = &mut CountDrops::default();
        assert_eq!(sjf.enqueue(Instant::ZERO, message(0, 9), drops), Enqueued::Queued);
        let grant = sjf.dequeue(Instant::ZERO, &Open, drops).expect("one waits");
        assert_eq!(grant.quantum, Packets::new(9));
        assert_eq!(sjf.enqueue(Instant::ZERO, message(1, 1), drops), Enqueued::Queued);
        sjf.requeue(Instant::ZERO, message(0, 8), Packets::new(1), drops);
        let grant = sjf.dequeue(Instant::ZERO, &Open, drops).expect("two wait");
        assert_eq!((grant.item.id, grant.quantum), (0, Packets::new(8)));
    }

    #[test]
    fn a_key_of_the_caller_takes_the_place_of_the_length() {
        let mut sjf = Sjf::new();
        let drops = &mut CountDrops::default();
        let six = sjf.key(Instant::ZERO, &message(0, 6));
        assert_eq!(sjf.enqueue_with_key(Instant::ZERO, message(0, 3), six, drops), Enqueued::Queued);
        assert_eq!(sjf.enqueue(Instant::ZERO, message(1, 5), drops), Enqueued::Queued);
        assert_eq!(sjf.dequeue(Instant::ZERO, &Open, drops).map(|grant| grant.item.id), Some(1));
    }

    /// A list, searched from the front.
    #[derive(Default)]
    struct Oracle<I: Item>(Vec<(u64, bool, I)>);

    impl<I: conformance::Sample> Discipline<I> for Oracle<I> {
        fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
            self.0.push((item.cost().count(), false, item));
            Enqueued::Queued
        }
        fn dequeue(&mut self, _: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
            let first = (0..self.0.len()).min_by_key(|&i| (!self.0[i].1, self.0[i].0))?;
            if !gate.permits(&self.0[first].2) {
                return None;
            }
            let (_, _, item) = self.0.remove(first);
            Some(Grant { item, quantum: item.cost() })
        }
        fn requeue(&mut self, _now: Instant, item: I, _used: I::Cost, _drops: &mut dyn Drops<I>) {
            self.0.push((0, true, item));
        }
        fn backlog(&self) -> Backlog<I::Cost> {
            conformance::backlog_of(self.0.iter().map(|entry| &entry.2))
        }
    }

    #[test]
    fn agrees_with_a_searched_list() {
        let promises = Promises { work_conserving: true, flow_order: false, resumable: true };
        conformance::agree::<Message, _, _>(Sjf::new, || Oracle(Vec::new()), promises);
        conformance::agree::<Packet, _, _>(Sjf::new, || Oracle(Vec::new()), promises);
    }
}
