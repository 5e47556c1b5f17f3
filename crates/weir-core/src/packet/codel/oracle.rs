//! The control once more, for tests: lists that are searched, times in floating point.

use super::Law;
use crate::discipline::{DropReason, Drops, Gate};
use crate::item::Item;
use crate::units::{Cost, Instant};

/// A queue with its control; the fields bear the names of the source.
pub(in crate::packet) struct Naive<I> {
    /// The packets, with the time of arrival in nanoseconds.
    pub(in crate::packet) queue: Vec<(I, u64)>,
    /// What waits in other queues that count as well.
    pub(in crate::packet) elsewhere: u64,
    first_above_time: f64,
    drop_next: f64,
    count: i64,
    lastcount: i64,
    dropping: bool,
    /// Drops made so far.
    pub(in crate::packet) drops: u64,
}

/// The head, whether it may be dropped, and whether the gate held something back in its place.
struct Result<I> {
    packet: Option<I>,
    ok_to_drop: bool,
    held: bool,
}

impl<I: Item + Copy> Naive<I> {
    pub(in crate::packet) fn new() -> Self {
        let (first_above_time, drop_next, count, lastcount) = (0.0, 0.0, 0, 0);
        let (queue, elsewhere, dropping, drops) = (Vec::new(), 0, false, 0);
        Self { queue, elsewhere, first_above_time, drop_next, count, lastcount, dropping, drops }
    }

    pub(in crate::packet) fn bytes(&self) -> u64 {
        self.queue.iter().map(|(item, _)| item.cost().count()).sum()
    }

    fn dodequeue(&mut self, law: &Law<I::Cost>, now: f64, gate: &dyn Gate<I>) -> Result<I> {
        let Some(&(item, arrived)) = self.queue.first() else {
            self.first_above_time = 0.0;
            return Result { packet: None, ok_to_drop: false, held: false };
        };
        if !gate.permits(&item) {
            return Result { packet: None, ok_to_drop: false, held: true };
        }
        self.queue.remove(0);
        let sojourn = now - arrived as f64;
        let mut ok_to_drop = false;
        if sojourn < law.target.get() as f64 || self.bytes() + self.elsewhere <= law.mtu.count() {
            self.first_above_time = 0.0;
        } else if self.first_above_time == 0.0 {
            self.first_above_time = now + law.interval.get() as f64;
        } else {
            ok_to_drop = now >= self.first_above_time;
        }
        Result { packet: Some(item), ok_to_drop, held: false }
    }

    fn control_law(&self, law: &Law<I::Cost>, from: f64) -> f64 {
        from + (law.interval.get() as f64 / (self.count as f64).sqrt()).floor()
    }

    fn drop(&mut self, packet: Option<I>, drops: &mut dyn Drops<I>) {
        drops.dropped(packet.expect("a packet that may be dropped"), DropReason::Congestion);
        self.drops += 1;
    }

    /// What the discipline serves next; nothing here can carry a mark.
    pub(in crate::packet) fn dequeue(
        &mut self,
        law: &Law<I::Cost>,
        now: Instant,
        gate: &dyn Gate<I>,
        drops: &mut dyn Drops<I>,
    ) -> Option<I> {
        let now = now.get() as f64;
        let mut r = self.dodequeue(law, now, gate);
        if self.dropping {
            if !r.ok_to_drop && !r.held {
                self.dropping = false;
            }
            while self.dropping && r.ok_to_drop && now >= self.drop_next {
                self.drop(r.packet, drops);
                self.count += 1;
                r = self.dodequeue(law, now, gate);
                if r.ok_to_drop || r.held {
                    self.drop_next = self.control_law(law, self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if r.ok_to_drop {
            self.drop(r.packet, drops);
            r = self.dodequeue(law, now, gate);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16.0 * law.interval.get() as f64 {
                self.count = delta;
            }
            self.drop_next = self.control_law(law, now);
            self.lastcount = self.count;
        }
        r.packet
    }
}
