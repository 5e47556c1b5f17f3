//! The keyed strategies' inner loop: heads of classes, and the lanes that serve them.
//!
//! Nothing in it branches on what a lane does, but the loops over the lanes that complete a message; what
//! is hard to foresee is computed both ways and selected.

use super::key::{Key, Layout};
use super::keyed::{Lanes, Rows};
use super::queues::{Entry, Queues};
use super::tally::Probe;
use crate::port::timeline::Segment;

/// Packed keys of a segment.
#[derive(Clone, Debug)]
pub(super) struct Heads<K, const C: usize, const N: usize> {
    /// The key of each class's first unfinished message, or a mark larger than every key; stale for the
    /// message being served.
    key: Rows<K, C, N>,
    /// The key of a whole message of the class, but for its stamp.
    base: Rows<K, C, N>,
    /// What a packet takes off the key.
    step: Rows<K, C, N>,
    /// The bits of a stamp that count.
    stamp_mask: [K; N],
    serving: Serving<K, N>,
}

/// The message each lane serves.
#[derive(Clone, Debug)]
struct Serving<K, const N: usize> {
    key: [K; N],
    remaining: [u64; N],
    /// Ticks the lane still has to serve before the next arrival.
    left: [u64; N],
}

/// A message at its insertion.
struct Newcomer<K> {
    class: usize,
    /// Its place in its class.
    place: u64,
    length: u64,
    stamp: K,
}

/// What does not change while a segment is played.
struct Context<'a, const C: usize> {
    /// The ring of each class's messages.
    rings: [&'a [Entry]; C],
    layout: &'a Layout,
    accepted: &'a [u64],
    first_tick: u64,
    classes: usize,
}

/// The message at a place of a ring whose length is a power of two.
#[inline(always)]
fn at_place(ring: &[Entry], place: u64) -> &Entry {
    &ring[place as usize & (ring.len() - 1)]
}

/// The mark of a class of which nothing waits; larger than every key, yet it names its class.
#[inline(always)]
fn nothing<K: Key, const C: usize>(class: usize) -> K {
    K::LARGEST.minus(K::of(C as u64 - 1)).plus(K::of(class as u64))
}

/// The class in the lowest bits of a key.
#[inline(always)]
fn class_of<K: Key, const C: usize>(key: K) -> usize {
    key.low() % C
}

impl<K: Key, const C: usize, const N: usize> Heads<K, C, N> {
    pub(super) fn new() -> Self {
        let none = [K::default(); N];
        Self {
            key: [none; C],
            base: [none; C],
            step: [none; C],
            stamp_mask: none,
            serving: Serving { key: none, remaining: [0; N], left: [0; N] },
        }
    }

    /// Plays the segment on every lane; `UNIFORM` says that no alpha depends on the class.
    #[inline(always)]
    pub(super) fn play<P: Probe, const UNIFORM: bool>(
        &mut self,
        lanes: &mut Lanes<C, N>,
        queues: &Queues,
        segment: &Segment<'_>,
        probe: &mut P,
    ) {
        let context = Context {
            rings: core::array::from_fn(|class| queues.ring(class.min(queues.len() - 1))),
            layout: queues.layout(),
            accepted: segment.accepted,
            first_tick: segment.first_tick,
            classes: queues.len(),
        };
        self.load(lanes, &context);
        let used = u64::MAX >> (u64::BITS as usize - lanes.used);
        let first = segment.tick.first().copied().unwrap_or(segment.end_tick);
        self.serving.left = [first - segment.first_tick; N];
        let completed = self.choose_and_serve::<P, UNIFORM>(lanes, &context, used, first, probe) & used;
        self.complete::<P, UNIFORM>(
            lanes,
            &context,
            completed,
            first,
            segment.first_order.wrapping_sub(1),
            probe,
        );
        for i in 0..segment.at.len() {
            let (order, tick) = (segment.first_order + i as u64, segment.tick[i]);
            let until = segment.tick.get(i + 1).copied().unwrap_or(segment.end_tick);
            let class = usize::from(segment.class[i]) % C;
            let place = lanes.arrived[class];
            let stamp = K::stamp(at_place(context.rings[class], place), context.layout);
            let newcomer = Newcomer { class, place, length: u64::from(segment.length[i]), stamp };
            lanes.arrived[class] += 1;
            self.put_back(lanes);
            let completed = self.insert_and_serve::<UNIFORM>(lanes, &newcomer, until - tick) & used;
            if P::DECISIONS {
                self.report_first(lanes, tick, until, probe);
            }
            self.complete::<P, UNIFORM>(lanes, &context, completed, until, order, probe);
        }
        self.store(lanes);
    }

    /// Packs the lanes' state for a segment.
    #[inline(always)]
    fn load(&mut self, lanes: &Lanes<C, N>, context: &Context<'_, C>) {
        let layout = context.layout;
        for lane in 0..N {
            self.stamp_mask[lane] = if lanes.ticked[lane] { K::LARGEST } else { K::of(layout.order_mask()) };
        }
        for class in 0..C {
            let length = K::of(lanes.lengths[class]);
            for lane in 0..N {
                let step = K::of(lanes.alpha[class][lane]) << layout.shift();
                self.step[class][lane] = step;
                self.base[class][lane] = step.times(length).plus(K::of(class as u64));
                self.key[class][lane] = nothing::<K, C>(class);
            }
        }
        for lane in 0..lanes.used {
            for class in 0..context.classes {
                let place = lanes.head[class][lane];
                if place < lanes.arrived[class] {
                    let served = K::of(lanes.lengths[class] - lanes.remaining[class][lane]);
                    let stamp = K::stamp(at_place(context.rings[class], place), layout);
                    let whole = self.base[class][lane].plus(stamp & self.stamp_mask[lane]);
                    self.key[class][lane] = whole.minus(self.step[class][lane].times(served));
                }
            }
        }
        self.serving.remaining = [0; N];
    }

    /// Every lane whose message is complete takes the one with the smallest key, and serves it for at most
    /// the ticks it has left. Returns the lanes where it is complete too.
    #[inline(always)]
    fn choose_and_serve<P: Probe, const UNIFORM: bool>(
        &mut self,
        lanes: &Lanes<C, N>,
        context: &Context<'_, C>,
        chosen: u64,
        until: u64,
        probe: &mut P,
    ) -> u64 {
        let (mut key, mut remaining) = ([K::LARGEST; N], [0; N]);
        self.choose(lanes, context.classes, &mut key, &mut remaining);
        let step = self.steps::<UNIFORM>(&key);
        if P::DECISIONS {
            self.report(lanes, chosen, until, &key, &remaining, probe);
        }
        let serving = &mut self.serving;
        let mut completed = 0;
        for lane in 0..N {
            let used = remaining[lane].min(serving.left[lane]);
            serving.remaining[lane] = remaining[lane] - used;
            serving.left[lane] -= used;
            serving.key[lane] = key[lane].minus(step[lane].times(K::of(used)));
            completed |= u64::from(remaining[lane] == used) << lane;
        }
        completed
    }

    /// The message of each lane: the one it serves, or, if that is complete, the one with the smallest key.
    #[inline(always)]
    fn choose(&self, lanes: &Lanes<C, N>, classes: usize, key: &mut [K; N], remaining: &mut [u64; N]) {
        let (keys, packets, serving) = (&self.key, &lanes.remaining, &self.serving);
        // A short table is always scanned whole: a fixed number of steps lets the lanes go side by side.
        let scanned = if C <= 8 { C } else { classes };
        for lane in 0..N {
            let mut smallest = keys[0][lane];
            for row in &keys[1..scanned] {
                smallest = smallest.min(row[lane]);
            }
            let mut waiting = 0;
            if C > 8 || N == 1 {
                waiting = packets[class_of::<K, C>(smallest)][lane];
            } else {
                // Keys differ, since they name their classes; so this finds the same without an index.
                for class in 0..C {
                    let packets = packets[class][lane];
                    waiting |= if keys[class][lane] == smallest { packets } else { 0 };
                }
            }
            let (served, left) = (serving.key[lane], serving.remaining[lane]);
            key[lane] = if left == 0 { smallest } else { served };
            remaining[lane] = if left == 0 { waiting } else { left };
        }
    }

    /// What a packet takes off each of these keys.
    #[inline(always)]
    fn steps<const UNIFORM: bool>(&self, key: &[K; N]) -> [K; N] {
        if UNIFORM {
            return self.step[0];
        }
        core::array::from_fn(|lane| self.step[class_of::<K, C>(key[lane])][lane])
    }

    /// Keeps what a later segment needs.
    #[inline(always)]
    fn store(&mut self, lanes: &mut Lanes<C, N>) {
        for lane in 0..lanes.used {
            let class = class_of::<K, C>(self.serving.key[lane]);
            lanes.remaining[class][lane] = self.serving.remaining[lane];
        }
    }

    /// Places the newcomer in every lane in which it is the first of its class, and puts it ahead of the
    /// message served if its key is strictly smaller (its number is the largest, so never by a tie). Then
    /// serves the message of each lane for at most `ticks`; returns the lanes where it is complete.
    #[inline(always)]
    fn insert_and_serve<const UNIFORM: bool>(
        &mut self,
        lanes: &Lanes<C, N>,
        newcomer: &Newcomer<K>,
        ticks: u64,
    ) -> u64 {
        let Newcomer { class, place, length, stamp } = *newcomer;
        let steps = self.steps::<UNIFORM>(&self.serving.key);
        let (head, base, step) = (&lanes.head[class], &self.base[class], &self.step[class]);
        let row = &mut self.key[class];
        let serving = &mut self.serving;
        let mut completed = 0;
        for lane in 0..N {
            let whole = base[lane].plus(stamp & self.stamp_mask[lane]);
            let key = if head[lane] == place { whole } else { K::LARGEST };
            // Where it is the first, the row has the mark of nothing.
            row[lane] = row[lane].min(key);
            let (was, remaining) = (serving.key[lane], serving.remaining[lane]);
            let (new_price, price) = (step[lane], steps[lane]);
            let ahead = key < was;
            let packets = if ahead { length } else { remaining };
            let price = if ahead && !UNIFORM { new_price } else { price };
            let used = packets.min(ticks);
            serving.remaining[lane] = packets - used;
            serving.left[lane] = ticks - used;
            serving.key[lane] = was.min(key).minus(price.times(K::of(used)));
            completed |= u64::from(packets == used) << lane;
        }
        completed
    }

    /// What each lane serves is written to the head of its class, in case it is preempted.
    #[inline(always)]
    fn put_back(&mut self, lanes: &mut Lanes<C, N>) {
        for lane in 0..lanes.used.min(N) {
            let key = self.serving.key[lane];
            let class = class_of::<K, C>(key);
            self.key[class][lane] = key;
            lanes.remaining[class][lane] = self.serving.remaining[lane];
        }
    }

    /// Counts the completed messages out and lets their lanes go on to the next.
    #[inline(always)]
    fn complete<P: Probe, const UNIFORM: bool>(
        &mut self,
        lanes: &mut Lanes<C, N>,
        context: &Context<'_, C>,
        completed: u64,
        until: u64,
        order: u64,
        probe: &mut P,
    ) {
        let mut completed = completed;
        while completed != 0 {
            let mut rest = completed;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize % N;
                rest &= rest - 1;
                let tick = until - self.serving.left[lane] - 1;
                self.count_out(lanes, context, lane, tick, order, probe);
            }
            completed =
                self.choose_and_serve::<P, UNIFORM>(lanes, context, completed, until, probe) & completed;
        }
    }

    /// The lane's message had its last packet accepted at `tick`; the next of its class, if it has arrived
    /// (its number is at most `order`), becomes the class's first.
    #[inline(always)]
    fn count_out<P: Probe>(
        &mut self,
        lanes: &mut Lanes<C, N>,
        context: &Context<'_, C>,
        lane: usize,
        tick: u64,
        order: u64,
        probe: &mut P,
    ) {
        let class = class_of::<K, C>(self.serving.key[lane]);
        // One place in all tables.
        let here = class * N + lane;
        let ring = context.rings[class];
        let head = &mut lanes.head.as_flattened_mut()[here];
        let place = *head;
        *head = place + 1;
        let latency = context.accepted[(tick - context.first_tick) as usize] - at_place(ring, place).at;
        let sum = &mut lanes.sum.as_flattened_mut()[here];
        let (low, carry) = sum.overflowing_add(latency);
        *sum = low;
        lanes.carry.as_flattened_mut()[here] += u64::from(carry);
        probe.completed(lanes.strategies[lane], class, latency);
        lanes.remaining.as_flattened_mut()[here] = lanes.whole.as_flattened()[here];
        // Both are computed and one is selected: whether another message waits is hard to foresee.
        let next = at_place(ring, place + 1);
        let stamp = K::stamp(next, context.layout) & self.stamp_mask[lane];
        let key = self.base.as_flattened()[here].plus(stamp);
        self.key.as_flattened_mut()[here] = if next.order <= order { key } else { nothing::<K, C>(class) };
    }

    /// Reports what these lanes are about to serve.
    fn report<P: Probe>(
        &self,
        lanes: &Lanes<C, N>,
        which: u64,
        until: u64,
        key: &[K; N],
        remaining: &[u64; N],
        probe: &mut P,
    ) {
        for lane in (0..lanes.used).filter(|lane| which >> lane & 1 == 1) {
            let (left, remaining) = (self.serving.left[lane], remaining[lane]);
            if left > 0 {
                let class = class_of::<K, C>(key[lane]);
                probe.served(lanes.strategies[lane], until - left, class, remaining, remaining.min(left));
            }
        }
    }

    /// Reports what every lane has served since an arrival at `tick`.
    fn report_first<P: Probe>(&self, lanes: &Lanes<C, N>, tick: u64, until: u64, probe: &mut P) {
        for lane in 0..lanes.used {
            let used = until - tick - self.serving.left[lane];
            if used > 0 {
                let class = class_of::<K, C>(self.serving.key[lane]);
                let remaining = self.serving.remaining[lane] + used;
                probe.served(lanes.strategies[lane], tick, class, remaining, used);
            }
        }
    }
}
