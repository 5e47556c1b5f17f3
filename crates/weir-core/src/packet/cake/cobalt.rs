//! COBALT, the control of one queue of `cake`: CoDel, and BLUE for flows that CoDel does not slow down.
//!
//! The CoDel part judges each packet that leaves by its wait. While packets wait longer than `target`, one is marked
//! or dropped after an `interval`, the next after `interval / sqrt(count)`. Once they wait less, `count` falls again at
//! the same pace, so that a queue that stands again soon is met at about the rate that it needed; an empty queue
//! goes on to fall. The BLUE part drops at random, also what can carry a mark: its probability grows by 1/256 when the
//! queue loses a packet because there is no room, and falls by 1/4096 while it is empty, each at most once in a `target`.
//!
//! | | |
//! |-|-|
//! | Source | Hoeiland-Joergensen, Taht and Morton, *Piece of CAKE*, 2018; Palmei et al., *Design and Evaluation of COBALT Queue Discipline*, LANMAN 2019; Feng, Shin, Kandlur and Saha, *The BLUE Active Queue Management Algorithms*, IEEE/ACM Transactions on Networking 10(4), 2002; details as in Linux, `net/sched/sch_cake.c` |
//! | Work per packet | O(1) amortised: what `count` has gained it loses; a square root in whole numbers per step |
//! | Units | `target`, `interval`, `mtu_time`: nanoseconds; probability: parts of 2^32 |
//! | Memory | 48 bytes |
//! | Departs from the source | square roots are exact and rounded down; what falls while a queue is empty is reckoned when the next packet comes, and not by visits that depend on how often somebody asks |

use crate::item::Item;
use crate::packet::codel::control::gap;
use crate::random::Random;
use crate::units::{Instant, Nanos};

/// What the probability of a drop gains when there was no room, and loses in a `target` of rest.
const GAIN: u32 = 1 << 24;
const LOSS: u32 = 1 << 20;

/// What a queue is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Law {
    /// The wait that is acceptable for ever.
    pub(super) target: Nanos,
    /// How long a longer wait is accepted.
    pub(super) interval: Nanos,
    /// The time that the largest packet takes; four of them are always an acceptable wait.
    pub(super) mtu_time: Nanos,
}

/// The state of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Control {
    /// Marks and drops that have not been lived down.
    count: u32,
    /// The probability of a drop, in parts of 2^32.
    p_drop: u32,
    /// When the next mark or drop is due, or the next step down; without a count, when its last packet is forgotten.
    drop_next: Instant,
    /// When the probability last changed.
    blue_at: Option<Instant>,
    dropping: bool,
}

impl Control {
    /// Whether a packet that has come at `since` is dropped as it leaves; it may be marked instead.
    #[inline]
    pub(super) fn drops<I: Item>(
        &mut self,
        law: &Law,
        now: Instant,
        since: Instant,
        item: &mut I,
        random: &mut Random,
    ) -> bool {
        let mut drop = self.codel(law, now, since, item);
        if self.p_drop > 0 {
            drop |= ((random.bits() >> 32) as u32) < self.p_drop;
        }
        if self.count == 0 {
            self.drop_next = now.after(law.interval);
        } else if now > self.drop_next && !drop {
            self.drop_next = now;
        }
        drop
    }

    /// The part of CoDel.
    #[inline]
    fn codel<I: Item>(&mut self, law: &Law, now: Instant, since: Instant, item: &mut I) -> bool {
        let due = self.is_due(now);
        let sojourn = now.since(since).get();
        let stands = sojourn > law.target.get() && sojourn > law.mtu_time.get().saturating_mul(4);
        if stands && !self.dropping {
            self.drop_next = now;
            self.step(law);
        }
        if stands {
            self.count = self.count.max(1);
        }
        self.dropping = stands;
        if due && stands {
            self.count = self.count.saturating_add(1);
            self.step(law);
            return !item.mark();
        }
        if due {
            self.step_down(law, now);
        }
        false
    }

    #[inline]
    fn is_due(&self, now: Instant) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// The next mark, drop or step down is due a gap later.
    #[inline]
    fn step(&mut self, law: &Law) {
        self.drop_next = self.drop_next.after(gap(law.interval, self.count.max(1)));
    }

    /// The count falls by all that is due.
    #[cold]
    fn step_down(&mut self, law: &Law, now: Instant) {
        while self.is_due(now) {
            self.count -= 1;
            self.step(law);
        }
    }

    /// Its queue has lost a packet because there was no room.
    pub(super) fn overflowed(&mut self, law: &Law, now: Instant) {
        if self.blue_at.is_none_or(|at| now.since(at) > law.target) {
            self.p_drop = self.p_drop.saturating_add(GAIN);
            self.blue_at = Some(now);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Its queue is found empty.
    pub(super) fn emptied(&mut self, law: &Law, now: Instant) {
        // The time in which packets waited is no rest, but for one step.
        let earliest = Instant::new(now.get().saturating_sub(law.target.get()));
        self.blue_at = self.blue_at.map(|at| at.max(earliest));
        self.rest(law, now);
    }

    /// Its queue has been empty until now.
    pub(super) fn rest(&mut self, law: &Law, now: Instant) {
        self.dropping = false;
        self.step_down(law, now);
        let Some(at) = self.blue_at.filter(|_| self.p_drop > 0) else { return };
        let steps = now.since(at).get() / law.target.get().max(1);
        let loss = u32::try_from(steps).unwrap_or(u32::MAX).saturating_mul(LOSS);
        self.p_drop = self.p_drop.saturating_sub(loss);
        self.blue_at = Some(at.after(Nanos::new(steps.saturating_mul(law.target.get()))));
    }

    /// Whether nothing is left of what its queue has been through.
    pub(super) fn has_forgotten(&self, now: Instant) -> bool {
        self.p_drop == 0 && self.count == 0 && now >= self.drop_next
    }
}

#[cfg(test)]
mod tests;
