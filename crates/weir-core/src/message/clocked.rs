//! Lengths as keys, with the clock that orders equal lengths.
//!
//! It is what `alpha * length + clock` becomes for a large alpha: the shorter first, and of two that are equal the
//! one whose key is of an earlier clock. The order of insertion says the same as long as every message has its own
//! key. One that takes over the key of an earlier message (in-order delivery) takes over its clock, and stands before
//! messages of that length that came in between.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, *Alpha Message Scheduling for Packet-Switched Interconnects*, sections 5, 6 and 11 |
//! | Work per item | [`Shortest`]: O(1) for lengths below 64, else O(log n) |
//! | Units | key: units of cost times 2^64, and the units served so far |
//! | Memory | [`Shortest`]: one slot per waiting item; grows to the largest backlog and stays |
//! | Departs from the source | no: the listing's alpha of 10^6 is this order while the clock has not gone on by 10^6 units |

use crate::discipline::{Backlog, Discipline, Drops, Enqueued, Gate, Grant, copied};
use crate::heap::Order;
use crate::item::Item;
use crate::priority::{Key, Prioritized, copied_with_keys};
use crate::ranked::Ranked;
use crate::units::{Cost, Instant};

/// Bits of a key below the length.
const CLOCK_BITS: u32 = 64;

/// The units served so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Served(u64);

impl Served {
    /// The key of a message of `cost` that is inserted now.
    #[inline]
    pub(super) fn key<C: Cost>(self, cost: C) -> Key {
        Key((u128::from(cost.count()) << CLOCK_BITS) | u128::from(self.0))
    }

    #[inline]
    pub(super) fn advance<C: Cost>(&mut self, used: C) {
        self.0 = self.0.saturating_add(used.count());
    }
}

/// The key of what has used this much since it was granted with `key`.
#[inline]
fn less<C: Cost>(key: Key, used: C) -> Key {
    Key(key.0.saturating_sub(u128::from(used.count()) << CLOCK_BITS))
}

/// A place in the order of service: the key, and among equal keys the number of the insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    key: Key,
    number: u64,
}

impl Order for Place {
    /// Has the largest number, which no insertion has.
    const LAST: Self = Self { key: Key(u128::MAX), number: u64::MAX };
}

/// Shortest remaining first, equal remainders by the clock of their keys: what in-order delivery goes around for `sf`
/// and an infinite alpha.
#[derive(Clone, Debug)]
pub(super) struct Shortest<I: Item> {
    queue: Ranked<Place, I>,
    served: Served,
    inserted: u64,
    /// The place of the item of the open grant, and what it has used.
    open: Option<(Place, I::Cost)>,
    backlog: Backlog<I::Cost>,
}

impl<I: Item> Shortest<I> {
    /// An empty queue.
    pub(super) fn new() -> Self {
        Self {
            queue: Ranked::default(),
            served: Served::default(),
            inserted: 0,
            open: None,
            backlog: Backlog::default(),
        }
    }

    fn place(&mut self, place: Place, item: I) {
        let cost = item.cost();
        self.backlog.add(cost);
        self.queue.push(place, cost.count(), item);
    }
}

impl<I: Item> Discipline<I> for Shortest<I> {
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let key = self.served.key(item.cost());
        self.enqueue_with_key(now, item, key, drops)
    }

    fn dequeue(&mut self, _now: Instant, gate: &dyn Gate<I>, _drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let (place, item) = self.queue.pop_if(|item| gate.permits(item))?;
        let quantum = item.cost();
        self.backlog.remove(quantum);
        self.open = Some((place, I::Cost::ZERO));
        Some(Grant { item, quantum })
    }

    fn charge(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        self.served.advance(used);
        if let Some((_, so_far)) = &mut self.open {
            *so_far = so_far.plus(used);
        }
    }

    fn requeue(&mut self, now: Instant, item: I, used: I::Cost, drops: &mut dyn Drops<I>) {
        self.charge(now, &item, used);
        match self.open.take() {
            Some((place, used)) => self.place(Place { key: less(place.key, used), ..place }, item),
            // Without a grant to end, it is a newcomer.
            None => {
                let _ = self.enqueue(now, item, drops);
            }
        }
    }

    fn finish(&mut self, _now: Instant, _item: &I, used: I::Cost) {
        self.served.advance(used);
        self.open = None;
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

impl<I: Item> Prioritized<I> for Shortest<I> {
    fn key(&self, _now: Instant, item: &I) -> Key {
        self.served.key(item.cost())
    }

    fn enqueue_with_key(&mut self, _now: Instant, item: I, key: Key, _drops: &mut dyn Drops<I>) -> Enqueued {
        let key = key.max(self.served.key(item.cost()));
        let preempts = self.open.is_some_and(|(place, used)| key < less(place.key, used));
        self.inserted += 1;
        self.place(Place { key, number: self.inserted }, item);
        if preempts { Enqueued::Preempts } else { Enqueued::Queued }
    }

    copied_with_keys!();
}
