//! Lanes whose message is complete: it is counted out, and they go on to the next, one by one.

use core::hint::select_unpredictable;

use super::{Context, Heads};
use crate::accelerated::key::{Key, class_of, nothing};
use crate::accelerated::keyed::Lanes;
use crate::accelerated::queues::at_place;
use crate::accelerated::tally::Probe;

impl<K: Key, const C: usize, const N: usize> Heads<K, C, N> {
    /// Counts the completed messages out and lets their lanes go on to the next, the others being as
    /// `insert_and_serve` found them; returns the lanes where that is complete too.
    #[inline(always)]
    pub(super) fn complete_first<P: Probe, const UNIFORM: bool>(
        &mut self,
        lanes: &mut Lanes<C, N>,
        context: &Context<'_, C>,
        completed: u64,
        until: u64,
        order: u64,
        probe: &mut P,
    ) -> u64 {
        let (mut rest, mut again) = (completed, 0);
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize % N;
            rest &= rest - 1;
            let next = self.count_out(lanes, context, lane, until, order, probe);
            let key = next.least(self.serving.others[lane]);
            again |= self.take::<P, UNIFORM>(lanes, lane, key, until, probe) << lane;
        }
        again
    }

    /// Counts completed messages out and lets their lanes go on, until none completes.
    #[inline(always)]
    pub(super) fn complete<P: Probe, const UNIFORM: bool>(
        &mut self,
        lanes: &mut Lanes<C, N>,
        context: &Context<'_, C>,
        completed: u64,
        until: u64,
        order: u64,
        probe: &mut P,
    ) {
        let mut rest = completed;
        while rest != 0 {
            let mut again = 0;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize % N;
                rest &= rest - 1;
                self.count_out(lanes, context, lane, until, order, probe);
                let key = self.smallest(lane, context.classes);
                again |= self.take::<P, UNIFORM>(lanes, lane, key, until, probe) << lane;
            }
            rest = again;
        }
    }

    /// The lane's message has had its last packet; the next of its class, if it has arrived (its number is
    /// at most `order`), becomes the class's first. Returns the key there.
    #[inline(always)]
    fn count_out<P: Probe>(
        &mut self,
        lanes: &mut Lanes<C, N>,
        context: &Context<'_, C>,
        lane: usize,
        until: u64,
        order: u64,
        probe: &mut P,
    ) -> K {
        let class = class_of::<K, C>(self.serving.key[lane]);
        let last = until - self.serving.left[lane] - 1 - context.first_tick;
        // One place in all tables.
        let here = class * N + lane;
        let ring = context.rings[class];
        let head = &mut lanes.head.as_flattened_mut()[here];
        let place = *head;
        *head = place + 1;
        let latency = context.accepted[last as usize] - at_place(ring, place).at;
        let sum = &mut lanes.sum.as_flattened_mut()[here];
        let (low, carry) = sum.overflowing_add(latency);
        *sum = low;
        if carry {
            lanes.carry.as_flattened_mut()[here] += 1;
        }
        probe.completed(lanes.strategies[lane], class, latency);
        lanes.remaining.as_flattened_mut()[here] = lanes.whole.as_flattened()[here];
        // Both are computed and one is selected: whether another message waits is hard to foresee.
        let next = at_place(ring, place + 1);
        let stamp = K::stamp(next, context.layout) & self.stamp_mask[lane];
        let key = self.base.as_flattened()[here].plus(stamp);
        let key = select_unpredictable(next.order <= order, key, nothing::<K, C>(class));
        self.key.as_flattened_mut()[here] = key;
        key
    }
}
