//! Highest response ratio next.
//!
//! When the server is free, the message of the largest ratio of wait to length is served next, and served
//! to its end. Short messages go first, but every wait grows without bound, so that nobody starves. (The
//! response ratio is `(wait + length) / length`, one more than the ratio compared here.) Equal ratios are
//! served in the order of arrival.
//!
//! | | |
//! |-|-|
//! | Source | Brinch Hansen, *An analysis of response ratio scheduling*, IFIP Congress 1971 |
//! | Work per item | O(log^2 n) amortised in waiting messages, by a kinetic tournament; while few wait, by a comparison of all of them |
//! | Units | the length is the item's cost when it arrives, at least 1; the wait is in nanoseconds |
//! | Memory | one slot per waiting item and two nodes; grows to the largest backlog and stays |
//! | Departs from the source | a message given back before its end is the next to be served |

use super::tournament::{Contestant, Tournament};
use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::info::{Arguments, Info, Kind};
use crate::item::Item;
use crate::spec::SpecError;
use crate::units::{Cost, Instant};

/// What the listings say.
pub const INFO: Info = Info {
    name: "hrrn",
    kind: Kind::Message,
    title: "highest response ratio next",
    rule: "serves the message whose wait is largest relative to its length, whole and without interruption",
    source: "Brinch Hansen, An analysis of response ratio scheduling, IFIP Congress 1971",
    work: "O(log^2 n) amortised",
    parameters: &[],
    example: "hrrn",
};

/// The most entries that are compared one by one, without a branch, in less time than a tournament takes. A tournament, once
/// begun, goes on until a quarter of this number is left, so that arrivals and departures do not switch it back and forth.
const FEW: usize = 48;

/// Highest response ratio next.
#[derive(Clone, Debug)]
pub struct Hrrn<I: Item> {
    /// All that wait while they are few, in no order.
    few: Vec<(Contestant, I)>,
    /// All that wait while they are many, by their places in the tournament.
    many: Vec<Option<I>>,
    tournament: Tournament,
    /// The message that was given back before its end.
    begun: Option<I>,
    inserted: u64,
    /// The latest moment seen: a tournament cannot be played backwards.
    now: Instant,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Default for Hrrn<I> {
    fn default() -> Self {
        Self {
            few: Vec::with_capacity(FEW),
            many: Vec::new(),
            tournament: Tournament::new(),
            begun: None,
            inserted: 0,
            now: Instant::ZERO,
            backlog: Backlog::default(),
        }
    }
}

impl<I: Item> Hrrn<I> {
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

    fn insert(&mut self, item: I) {
        self.inserted += 1;
        let cost = item.cost().count().max(1);
        let contestant = Contestant { arrival: self.now.get(), cost, number: self.inserted };
        if self.tournament.is_empty() && self.few.len() < FEW {
            self.few.push((contestant, item));
            return;
        }
        while let Some((contestant, item)) = self.few.pop() {
            self.enter(contestant, item);
        }
        self.enter(contestant, item);
    }

    /// Puts a message into the tournament.
    fn enter(&mut self, contestant: Contestant, item: I) {
        let place = self.tournament.insert(contestant, self.now.get()) as usize;
        if place >= self.many.len() {
            self.many.resize_with(place + 1, || None);
        }
        self.many[place] = Some(item);
    }

    fn take(&mut self, gate: &dyn Gate<I>) -> Option<I> {
        if self.begun.is_some() {
            return self.begun.take_if(|item| gate.permits(item));
        }
        let now = self.now.get();
        if self.tournament.is_empty() {
            let first = Contestant::first(self.few.iter().map(|(contestant, _)| contestant), now)?;
            return gate.permits(&self.few[first].1).then(|| self.few.swap_remove(first).1);
        }
        let place = self.tournament.winner(now)?;
        let item = self.many[place as usize].take_if(|item| gate.permits(item))?;
        self.tournament.remove(place, now);
        if self.tournament.len() <= FEW / 4 {
            self.leave_tournament();
        }
        Some(item)
    }

    /// Those that are left are few.
    fn leave_tournament(&mut self) {
        let now = self.now.get();
        while let Some(place) = self.tournament.anybody() {
            if let Some(item) = self.many[place as usize].take() {
                self.few.push((self.tournament.contestant(place), item));
            }
            self.tournament.remove(place, now);
        }
    }
}

impl<I: Item> Discipline<I> for Hrrn<I> {
    fn enqueue(&mut self, now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        self.now = self.now.max(now);
        self.backlog.add(item.cost());
        self.insert(item);
        Enqueued::Queued
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.now = self.now.max(now);
        let item = self.take(gate)?;
        let quantum = item.cost();
        self.backlog.remove(quantum);
        Some(Grant { item, quantum })
    }

    fn requeue(&mut self, now: Instant, item: I, _used: I::Cost, drops: &mut dyn Drops<I>) {
        if self.begun.is_some() {
            let _ = self.enqueue(now, item, drops);
            return;
        }
        self.backlog.add(item.cost());
        self.begun = Some(item);
    }

    copied!();

    fn retain(&mut self, keep: &mut dyn FnMut(&I) -> bool) -> bool {
        let mut keep = self.backlog.less(keep);
        self.begun = self.begun.take().filter(&mut keep);
        self.few.retain(|(_, item)| keep(item));
        for (place, waiting) in (0..).zip(&mut self.many) {
            if waiting.take_if(|item| !keep(item)).is_some() {
                self.tournament.remove(place, self.now.get());
            }
        }
        true
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{self, Promises, Random, Sample};
    use crate::discipline::{CountDrops, Open};
    use crate::item::{ClassId, FlowId, Message, Packet};
    use crate::message::testing::{message, order_of};
    use crate::units::Packets;

    conformance::suite!(conforms, Hrrn::new, [work_conserving, resumable]);

    #[test]
    fn those_that_arrive_together_are_served_by_arrival_at_first() {
        // At time zero every ratio is zero.
        assert_eq!(order_of(&mut Hrrn::new(), &[5, 2, 9]), [0, 1, 2]);
    }

    #[test]
    fn the_largest_ratio_of_wait_to_length_goes_first() {
        let drops = &mut CountDrops::default();
        let mut next_at = |at: u64| {
            let mut hrrn = Hrrn::new();
            assert_eq!(hrrn.enqueue(Instant::ZERO, message(0, 10), drops), Enqueued::Queued);
            assert_eq!(hrrn.enqueue(Instant::new(30), message(1, 4), drops), Enqueued::Queued);
            hrrn.dequeue(Instant::new(at), &Open, drops).map(|grant| grant.item.id)
        };
        // 40/10 against 10/4; equal at 50, where the earlier wins: 50/10 against 20/4; 51/10 < 21/4.
        assert_eq!(next_at(40), Some(0));
        assert_eq!(next_at(50), Some(0));
        assert_eq!(next_at(51), Some(1));
    }

    #[test]
    fn what_has_begun_is_not_overtaken() {
        let mut hrrn = Hrrn::new();
        let drops = &mut CountDrops::default();
        assert_eq!(hrrn.enqueue(Instant::ZERO, message(0, 9), drops), Enqueued::Queued);
        assert!(hrrn.dequeue(Instant::ZERO, &Open, drops).is_some());
        assert_eq!(hrrn.enqueue(Instant::ZERO, message(1, 1), drops), Enqueued::Queued);
        hrrn.requeue(Instant::new(500), message(0, 8), Packets::new(1), drops);
        let grant = hrrn.dequeue(Instant::new(500), &Open, drops).expect("two wait");
        assert_eq!((grant.item.id, grant.quantum.get()), (0, 8));
    }

    /// A list, searched from the front for the largest exact ratio.
    struct Oracle<I>(Vec<(Instant, u64, bool, I)>);

    impl<I: Sample> Discipline<I> for Oracle<I> {
        fn enqueue(&mut self, now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
            self.0.push((now, item.cost().count(), false, item));
            Enqueued::Queued
        }
        fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
            let mut best = 0;
            for i in 1..self.0.len() {
                let ((a, c, _, _), (b, d, _, _)) = (self.0[best], self.0[i]);
                let (best_wait, wait) = ((now - a).get(), (now - b).get());
                if u128::from(wait) * u128::from(c) > u128::from(best_wait) * u128::from(d) {
                    best = i;
                }
            }
            let best = self.0.iter().position(|entry| entry.2).unwrap_or(best);
            if !gate.permits(&self.0.get(best)?.3) {
                return None;
            }
            let (_, _, _, item) = self.0.remove(best);
            Some(Grant { item, quantum: item.cost() })
        }
        fn requeue(&mut self, now: Instant, item: I, _used: I::Cost, _drops: &mut dyn Drops<I>) {
            self.0.push((now, item.cost().count(), true, item));
        }
        fn backlog(&self) -> Backlog<I::Cost> {
            conformance::backlog_of(self.0.iter().map(|entry| &entry.3))
        }
    }

    #[test]
    fn agrees_with_a_searched_list() {
        let promises = Promises { work_conserving: true, flow_order: false, resumable: true };
        conformance::agree::<Message, _, _>(Hrrn::new, || Oracle(Vec::new()), promises);
        conformance::agree::<Packet, _, _>(Hrrn::new, || Oracle(Vec::new()), promises);
    }

    #[test]
    fn agrees_with_a_searched_list_while_many_come_and_go() {
        let (mut hrrn, mut oracle) = (Hrrn::new(), Oracle(Vec::new()));
        let mut random = Random::new(4);
        let drops = &mut CountDrops::default();
        let (mut now, mut changes, mut plays) = (Instant::ZERO, 0, false);
        for id in 0..6_000 {
            let item: Message = Sample::sample(id, FlowId(0), ClassId(0), 1 + random.below(1_000));
            now = Instant::new(now.get() + random.below(2_000));
            assert_eq!(hrrn.enqueue(now, item, drops), oracle.enqueue(now, item, drops));
            // By turns hardly anybody is served, and two for each that comes.
            let served = if id / 100 % 2 == 0 { u64::from(random.one_in(10)) } else { 2 };
            for _ in 0..served {
                assert_eq!(hrrn.dequeue(now, &Open, drops), oracle.dequeue(now, &Open, drops));
            }
            changes += u32::from(plays == hrrn.tournament.is_empty());
            plays = !hrrn.tournament.is_empty();
        }
        assert!(changes >= 40, "{changes}");
    }

    #[test]
    fn agrees_with_a_searched_list_over_a_long_busy_period() {
        let (mut hrrn, mut oracle) = (Hrrn::new(), Oracle(Vec::new()));
        let mut random = Random::new(3);
        let drops = &mut CountDrops::default();
        let mut now = Instant::ZERO;
        for id in 0..3_000 {
            let cost = 1 + random.bits() % (1 << random.below(40));
            let item: Message = Sample::sample(id, FlowId(0), ClassId(0), cost);
            now = Instant::new(now.get() + random.bits() % (1 << random.below(30)));
            assert_eq!(hrrn.enqueue(now, item, drops), oracle.enqueue(now, item, drops));
            if random.one_in(2) {
                assert_eq!(hrrn.dequeue(now, &Open, drops), oracle.dequeue(now, &Open, drops));
            }
        }
        while let Some(grant) = oracle.dequeue(now, &Open, drops) {
            assert_eq!(hrrn.dequeue(now, &Open, drops), Some(grant));
            now = Instant::new(now.get() + random.below(1 << 34));
        }
        assert!(hrrn.backlog().is_empty());
    }
}
