//! The control of CoDel: which packets of one queue are dropped or marked, whatever queue that is.
//!
//! The queue is watched where packets leave it. If they have waited `target` or longer for a whole
//! `interval`, the control begins to drop: one packet at once, the next after `interval / sqrt(count)`,
//! where `count` is the number of drops so far; it ends with the first packet that waited less. If it begins
//! again within sixteen intervals, it goes on at the rate that it had reached.
//!
//! | | |
//! |-|-|
//! | Source | Nichols, Jacobson, McGregor and Iyengar, *Controlled Delay Active Queue Management*, RFC 8289, section 5 |
//! | Work per packet | O(1); a square root in whole numbers per drop |
//! | Units | `target`, `interval`: nanoseconds; `mtu`: the unit of the item's cost |
//! | Memory | 40 bytes |
//! | Departs from the source | a time is rounded down to a whole nanosecond; packets that can carry a mark are marked, if wanted (RFC 8290, section 4.2); behind a gate that does not permit the head nothing is learned |

use crate::discipline::{DropReason, Drops};
use crate::item::Item;
use crate::units::{Cost, Instant, Nanos};

/// A pause after which the control begins anew, in intervals.
const MEMORY: u64 = 16;

/// What the control holds a queue to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law<C: Cost> {
    /// The wait that is acceptable for ever.
    pub target: Nanos,
    /// How long a longer wait is accepted: about one round trip.
    pub interval: Nanos,
    /// Where no more than this waits behind the head, it is not late, however long it waited.
    pub mtu: C,
    /// Whether packets that can carry a mark are marked and not dropped.
    pub ecn: bool,
    /// The wait from which on every packet that leaves is marked, whatever the state; `None`: none.
    pub ce_threshold: Option<Nanos>,
}

impl<C: Cost> Law<C> {
    /// The values of the source: 5 ms, 100 ms, no marks.
    #[must_use]
    pub fn new(mtu: C) -> Self {
        let (target, interval) = (Nanos::new(5_000_000), Nanos::new(100_000_000));
        Self { target, interval, mtu, ecn: false, ce_threshold: None }
    }

    /// Whether a wait is acceptable, where `cost` still waits.
    #[inline]
    fn accepts(&self, sojourn: Nanos, cost: C) -> bool {
        sojourn < self.target || cost <= self.mtu
    }

    /// The packet, marked if it has waited for too long.
    #[inline]
    fn marked<I: Item<Cost = C>>(&self, head: Waited<I>) -> I {
        let Waited { mut item, sojourn } = head;
        if self.ce_threshold.is_some_and(|threshold| sojourn > threshold) {
            item.mark();
        }
        item
    }

    /// When the drop after that at `from` is due, the `count`th.
    #[inline]
    pub(super) fn next(&self, from: Instant, count: u32) -> Instant {
        later(from, gap(self.interval, count))
    }
}

/// What passes before the drop that is the `count`th: the root is exact, then rounded down. `count` is not zero.
#[inline]
pub(in crate::packet) fn gap(interval: Nanos, count: u32) -> Nanos {
    let interval = interval.get();
    Nanos::new(match interval.checked_mul(interval) {
        Some(square) => (square / u64::from(count)).isqrt(),
        None => (u128::from(interval).pow(2) / u128::from(count)).isqrt() as u64,
    })
}

/// `from + span`, or the end of the clock.
#[inline]
fn later(from: Instant, span: Nanos) -> Instant {
    Instant::new(from.get().saturating_add(span.get()))
}

/// A queue as its control sees it.
pub trait Queue<I: Item> {
    /// Takes the head, with the moment it came; `None` if there is none or the gate does not permit it.
    fn take(&mut self) -> Option<(I, Instant)>;
    /// What still waits, as the law's `mtu` counts it: in the queue, or in all that share its room.
    fn cost(&self) -> I::Cost;
    /// Whether nothing is left.
    fn is_empty(&self) -> bool;
}

/// A packet that has left its queue, with the time that it waited.
struct Waited<I> {
    item: I,
    sojourn: Nanos,
}

/// What a queue gave.
enum Taken<I> {
    /// It has nothing.
    Empty,
    /// The gate does not permit its head.
    Held,
    /// The wait is acceptable, or has not been too long for long.
    Below(Waited<I>),
    /// The wait has been too long for an interval.
    Over(Waited<I>),
}

/// The state of the control of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// An interval after the wait became too long, if it is.
    first_above: Option<Instant>,
    /// When the next drop is due while dropping; when it would have been, afterwards.
    drop_next: Instant,
    /// Drops since dropping began, and those that it began with.
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Control {
    /// The next packet of `queue` that is to be served; those before it that are not go to `drops`.
    #[inline]
    pub fn next<I: Item>(
        &mut self,
        law: &Law<I::Cost>,
        now: Instant,
        queue: &mut impl Queue<I>,
        drops: &mut dyn Drops<I>,
    ) -> Option<I> {
        let Some((item, since)) = queue.take() else {
            let is_held = !queue.is_empty();
            self.first_above = self.first_above.filter(|_| is_held);
            self.dropping &= is_held;
            return None;
        };
        let sojourn = now.since(since);
        // What is mostly so is decided here. The rest is apart: a packet that is handed over must lie in memory, and this
        // one need not.
        if !self.dropping && law.accepts(sojourn, queue.cost()) {
            self.first_above = None;
            return Some(law.marked(Waited { item, sojourn }));
        }
        self.press(Waited { item, sojourn }, law, now, queue, drops)
    }

    /// The same where the wait of the head is too long, or was.
    #[inline(never)]
    fn press<I: Item>(
        &mut self,
        head: Waited<I>,
        law: &Law<I::Cost>,
        now: Instant,
        queue: &mut impl Queue<I>,
        drops: &mut dyn Drops<I>,
    ) -> Option<I> {
        let taken = match self.judge(head, law, now, queue) {
            taken if self.dropping => self.go_on(taken, law, now, queue, drops),
            Taken::Over(head) => self.begin(head, law, now, queue, drops),
            other => other,
        };
        let (Taken::Below(head) | Taken::Over(head)) = taken else { return None };
        Some(law.marked(head))
    }

    /// Takes the head of the queue and judges its wait.
    fn take<I: Item>(&mut self, law: &Law<I::Cost>, now: Instant, queue: &mut impl Queue<I>) -> Taken<I> {
        let Some((item, since)) = queue.take() else {
            if !queue.is_empty() {
                return Taken::Held;
            }
            self.first_above = None;
            return Taken::Empty;
        };
        self.judge(Waited { item, sojourn: now.since(since) }, law, now, queue)
    }

    /// Judges the wait of a packet that was taken.
    fn judge<I: Item>(
        &mut self,
        head: Waited<I>,
        law: &Law<I::Cost>,
        now: Instant,
        queue: &mut impl Queue<I>,
    ) -> Taken<I> {
        if law.accepts(head.sojourn, queue.cost()) {
            self.first_above = None;
            return Taken::Below(head);
        }
        let due = *self.first_above.get_or_insert(later(now, law.interval));
        if now < due { Taken::Below(head) } else { Taken::Over(head) }
    }

    /// Dropping goes on: whatever is due by now is dropped.
    fn go_on<I: Item>(
        &mut self,
        mut taken: Taken<I>,
        law: &Law<I::Cost>,
        now: Instant,
        queue: &mut impl Queue<I>,
        drops: &mut dyn Drops<I>,
    ) -> Taken<I> {
        loop {
            let Taken::Over(mut head) = taken else {
                self.dropping = matches!(taken, Taken::Held);
                return taken;
            };
            if now < self.drop_next {
                return Taken::Over(head);
            }
            self.count = self.count.saturating_add(1);
            if law.ecn && head.item.mark() {
                self.drop_next = law.next(self.drop_next, self.count);
                return Taken::Over(head);
            }
            drops.dropped(head.item, DropReason::Congestion);
            taken = self.take(law, now, queue);
            if matches!(taken, Taken::Over(_) | Taken::Held) {
                self.drop_next = law.next(self.drop_next, self.count);
            }
        }
    }

    /// Dropping begins, with `head`.
    #[cold]
    fn begin<I: Item>(
        &mut self,
        mut head: Waited<I>,
        law: &Law<I::Cost>,
        now: Instant,
        queue: &mut impl Queue<I>,
        drops: &mut dyn Drops<I>,
    ) -> Taken<I> {
        let taken = if law.ecn && head.item.mark() {
            Taken::Over(head)
        } else {
            drops.dropped(head.item, DropReason::Congestion);
            self.take(law, now, queue)
        };
        let reached = self.count - self.last_count;
        let recent = now.since(self.drop_next).get() < law.interval.get().saturating_mul(MEMORY);
        self.count = if reached > 1 && recent { reached } else { 1 };
        self.last_count = self.count;
        self.drop_next = law.next(now, self.count);
        self.dropping = true;
        taken
    }
}
