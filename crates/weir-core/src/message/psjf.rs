//! Preemptive shortest job first.
//!
//! The message of the smallest *original* length is in service; a shorter newcomer takes its place at
//! once. The preempted message resumes where it stopped and keeps its rank, which is its original length
//! and, among equals, its arrival.
//!
//! | | |
//! |-|-|
//! | Source | Harchol-Balter, *Performance Modeling and Design of Computer Systems*, 2013, chapter 32 |
//! | Work per item | O(log n) in waiting messages |
//! | Units | the length is the item's cost when it arrives |
//! | Memory | one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | no; equal lengths, which it leaves open, are first come, first served |

use super::clocked::Served;
use super::ranked::{Rank, Ranked};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::priority::{Key, Prioritized, copied_with_keys};
use crate::spec::SpecError;
use crate::units::Instant;

/// What the listings say.
pub const INFO: Info = Info {
    name: "psjf",
    kind: Kind::Message,
    title: "preemptive shortest job first",
    rule: "serves the message of the smallest original length; a shorter newcomer preempts",
    source: "Harchol-Balter, Performance Modeling and Design of Computer Systems, 2013, chapter 32",
    work: "O(log n)",
    parameters: &[],
    example: "psjf",
};

/// Preemptive shortest job first.
#[derive(Clone, Debug)]
pub struct Psjf<I: Item> {
    waiting: Ranked<Key, I>,
    /// The rank of the item of the open grant.
    open: Option<Rank<Key>>,
    backlog: Backlog<I::Cost>,
    served: Served,
}

impl<I: Item> Default for Psjf<I> {
    fn default() -> Self {
        Self {
            waiting: Ranked::default(),
            open: None,
            backlog: Backlog::default(),
            served: Served::default(),
        }
    }
}

impl<I: Item> Psjf<I> {
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

    fn insert(&mut self, rank: Rank<Key>, item: I) {
        self.backlog.add(item.cost());
        self.waiting.insert(rank, item);
    }

    fn newcomer(&mut self, item: I, key: Key) -> Enqueued {
        let rank = self.waiting.last(key);
        self.insert(rank, item);
        match self.open {
            Some(open) if rank < open => Enqueued::Preempts,
            _ => Enqueued::Queued,
        }
    }
}

impl<I: Item> Discipline<I> for Psjf<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        let key = self.served.key(item.cost());
        self.newcomer(item, key)
    }

    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let (rank, item) = self.waiting.take(gate)?;
        let quantum = item.cost();
        self.open = Some(rank);
        self.backlog.remove(quantum);
        Some(Grant { item, quantum })
    }

    fn charge(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        self.served.advance(used);
    }

    fn requeue(&mut self, _now: Instant, item: I, used: I::Cost, _drops: &mut dyn Drops<I>) {
        self.served.advance(used);
        let rank = self.open.take().unwrap_or_else(|| self.waiting.last(self.served.key(item.cost())));
        self.insert(rank, item);
    }

    fn finish(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        self.served.advance(used);
        self.open = None;
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let mut keep = self.backlog.less(keep);
        self.waiting.retain(&mut keep);
        true
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

impl<I: Item> Prioritized<I> for Psjf<I> {
    fn key(&self, _now: Instant, item: &I) -> Key {
        self.served.key(item.cost())
    }

    fn enqueue_with_key(&mut self, _now: Instant, item: I, key: Key, _drops: &mut dyn Drops<I>) -> Enqueued {
        let key = key.max(self.served.key(item.cost()));
        self.newcomer(item, key)
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

    conformance::suite!(conforms, Psjf::new, [work_conserving, resumable]);

    #[test]
    fn the_shortest_goes_first_and_ties_by_arrival() {
        assert_eq!(order_of(&mut Psjf::new(), &[5, 2, 9, 2, 1]), [4, 1, 3, 0, 2]);
    }

    #[test]
    fn the_original_length_counts_not_the_rest() {
        let mut psjf = Psjf::new();
        let drops = &mut CountDrops::default();
        assert_eq!(psjf.enqueue(Instant::ZERO, message(0, 9), drops), Enqueued::Queued);
        assert!(psjf.dequeue(Instant::ZERO, &Open, drops).is_some());
        // One packet of message 0 is left; the newcomer is longer than that, and shorter than nine.
        psjf.charge(Instant::ZERO, &message(0, 9), Packets::new(8));
        assert_eq!(psjf.enqueue(Instant::ZERO, message(1, 9), drops), Enqueued::Queued);
        assert_eq!(psjf.enqueue(Instant::ZERO, message(2, 8), drops), Enqueued::Preempts);
        psjf.requeue(Instant::ZERO, message(0, 1), Packets::ZERO, drops);
        let mut served = Vec::new();
        while let Some(grant) = psjf.dequeue(Instant::ZERO, &Open, drops) {
            psjf.finish(Instant::ZERO, &grant.item, grant.quantum);
            served.push((grant.item.id, grant.quantum.get()));
        }
        assert_eq!(served, [(2, 8), (0, 1), (1, 9)]);
    }

    #[test]
    fn nobody_is_preempted_once_the_grant_is_closed() {
        let mut psjf = Psjf::new();
        let drops = &mut CountDrops::default();
        let seven = psjf.key(Instant::ZERO, &message(0, 7));
        assert_eq!(psjf.enqueue_with_key(Instant::ZERO, message(0, 3), seven, drops), Enqueued::Queued);
        let grant = psjf.dequeue(Instant::ZERO, &Open, drops).expect("one waits");
        assert_eq!(psjf.enqueue(Instant::ZERO, message(1, 5), drops), Enqueued::Preempts);
        psjf.finish(Instant::ZERO, &grant.item, grant.quantum);
        assert_eq!(psjf.enqueue(Instant::ZERO, message(2, 1), drops), Enqueued::Queued);
    }

    /// A list of (original length, item) in the order of arrival; the item of the open grant keeps its
    /// place in it.
    struct Oracle<I> {
        list: Vec<(u64, bool, I)>,
    }

    impl<I: conformance::Sample> Discipline<I> for Oracle<I> {
        fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
            let key = item.cost().count();
            let preempts = self.list.iter().any(|(other, open, _)| *open && key < *other);
            self.list.push((key, false, item));
            if preempts { Enqueued::Preempts } else { Enqueued::Queued }
        }
        fn dequeue(&mut self, _: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
            let entry = self.list.iter_mut().min_by_key(|(key, _, _)| *key)?;
            if !gate.permits(&entry.2) {
                return None;
            }
            entry.1 = true;
            Some(Grant { item: entry.2, quantum: entry.2.cost() })
        }
        fn requeue(&mut self, _now: Instant, item: I, _used: I::Cost, _drops: &mut dyn Drops<I>) {
            for entry in self.list.iter_mut().filter(|entry| entry.1) {
                (entry.1, entry.2) = (false, item);
            }
        }
        fn finish(&mut self, _now: Instant, _item: &I, _used: I::Cost) {
            self.list.retain(|entry| !entry.1);
        }
        fn backlog(&self) -> Backlog<I::Cost> {
            conformance::backlog_of(self.list.iter().filter(|entry| !entry.1).map(|entry| &entry.2))
        }
    }

    #[test]
    fn agrees_with_a_searched_list() {
        let promises = Promises { work_conserving: true, flow_order: false, resumable: true };
        let oracle = || Oracle { list: Vec::new() };
        conformance::agree::<Message, _, _>(Psjf::new, oracle, promises);
        let oracle = || Oracle { list: Vec::new() };
        conformance::agree::<Packet, _, _>(Psjf::new, oracle, promises);
    }
}
