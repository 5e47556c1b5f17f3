//! The keyed strategies' inner loop: heads of classes, and the lanes that serve them.
//!
//! A lane is a strategy. Every table has a row for each of `C` classes and a column for each of `N` lanes, both
//! powers of two, so that a row is one vector and the place `class * N + lane` is the same cell in all tables:
//!
//! ```text
//!                 lane 0      lane 1    ..   lane N-1
//! key  class 0  [ key       | key       | .. | (stale)   ]  of the class's first unfinished message,
//!      class 1  [ nothing   | (stale)   | .. | key       ]  `nothing` where there is none,
//!       ..                                                  stale where it is the one served
//!      class C-1[ (stale)   | key       | .. | nothing   ]
//!                    |           |               |          the smallest of a column is served next
//! serving.key   [ key       | key       | .. | key       ]
//!
//! a key         [ alpha x packets left + tick of insertion | insertion number | class ]
//!                                                          ^ `Layout::shift`
//! ```
//!
//! | table | cell | written |
//! |-|-|-|
//! | `key` | the key as of now | at an arrival, a completion, a preemption |
//! | `base` | the key of a whole message without its stamp: `step x length + class` | once a segment |
//! | `step` | what a packet takes off the key: alpha, shifted | once a segment |
//! | `Lanes::head` | the place of the first unfinished message in the ring of its class | at a completion |
//! | `Lanes::remaining` | its packets left; stale where it is the one served | at a completion, a preemption, once a segment |
//! | `Lanes::whole` | the length of the class, so that `remaining` is refilled from the same cell | never |
//! | `Lanes::sum`, `Lanes::carry` | latencies so far, lower and upper 64 bits | at a completion |
//!
//! What holds between two calls of `play`'s loop, in every lane in use:
//!
//! - `key = base + (stamp & stamp_mask) - step x packets served`, where the message at `head` has arrived and is
//!   not the one served; of that one `serving.key` and `serving.remaining` tell. With `UNIFORM` all rows of `step`
//!   are alike.
//! - `nothing(class)` is larger than every key and still names its class, so that no minimum asks whether a class
//!   is empty.
//! - `serving.left` is above 0 only where what was served is complete. A lane with nothing to serve has none
//!   left: ticks are packets accepted, and every strategy has as many to serve (see [`crate::timeline`]).
//! - `serving.others` is the smallest key of the classes not served, as found at the last arrival, and is used up
//!   by the first completion after it; it is kept where [`Heads::BY_ROWS`] holds.
//! - `serving.was` and `serving.was_remaining` describe what was served before the last arrival: where the newcomer
//!   went ahead of it, they go back into the tables.
//!
//! Nothing in it branches on what a lane does, but the loops over the lanes that complete a message; what
//! is hard to foresee is computed both ways and selected.

mod completion;

use super::key::{Key, Layout, class_of, nothing};
use super::keyed::{Lanes, Rows};
use super::queues::{Entry, Queues, at_place};
use super::tally::Probe;
use crate::timeline::Segment;

/// Packed keys of a segment.
#[derive(Clone, Debug)]
pub(super) struct Heads<K, const C: usize, const N: usize> {
    /// The key of each class's first unfinished message, or [`nothing`]; stale for the one served.
    key: Rows<K, C, N>,
    /// The key of a whole message of the class, but for its stamp.
    base: Rows<K, C, N>,
    /// What a packet takes off the key.
    step: Rows<K, C, N>,
    /// The bits of a stamp that count: all, or without the tick for a strategy that ignores it.
    stamp_mask: [K; N],
    serving: Serving<K, N>,
}

/// The message each lane serves.
#[derive(Clone, Debug)]
struct Serving<K, const N: usize> {
    /// Its key now.
    key: [K; N],
    /// Its packets left.
    remaining: [u64; N],
    /// Ticks the lane still has to serve before the next arrival.
    left: [u64; N],
    /// The smallest key of the other classes.
    others: [K; N],
    /// What it served before the last arrival, and how much of it was left.
    was: [K; N],
    was_remaining: [u64; N],
}

/// A message at its insertion.
struct Newcomer<K> {
    class: usize,
    /// Its place in its class.
    place: u64,
    length: u64,
    stamp: K,
}

/// What an insertion led to, a bit for each lane.
struct Outcome {
    /// What is served is complete.
    completed: u64,
    /// The newcomer is ahead of what was served.
    preempted: u64,
}

/// What does not change while a segment is played.
struct Context<'a, const C: usize> {
    /// The ring of each class's messages.
    rings: [&'a [Entry]; C],
    layout: &'a Layout,
    /// When each tick of the segment is accepted, from `first_tick` on.
    accepted: &'a [u64],
    first_tick: u64,
    /// Classes in use.
    classes: usize,
}

impl<K: Key, const C: usize, const N: usize> Heads<K, C, N> {
    /// Whether the whole table of keys is gone through at each arrival, all lanes side by side.
    const BY_ROWS: bool = C <= 8 && N > 1;

    pub(super) fn new() -> Self {
        let none = [K::default(); N];
        Self {
            key: [none; C],
            base: [none; C],
            step: [none; C],
            stamp_mask: none,
            serving: Serving {
                key: none,
                remaining: [0; N],
                left: [0; N],
                others: none,
                was: none,
                was_remaining: [0; N],
            },
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
        let before = segment.first_order.wrapping_sub(1);
        let completed = self.resume::<P, UNIFORM>(lanes, &context, first, probe);
        self.complete::<P, UNIFORM>(lanes, &context, completed, first, before, probe);
        for i in 0..segment.at.len() {
            let (order, tick) = (segment.first_order + i as u64, segment.tick[i]);
            let until = segment.tick.get(i + 1).copied().unwrap_or(segment.end_tick);
            let class = usize::from(segment.class[i]) % C;
            let place = lanes.arrived[class];
            let stamp = K::stamp(at_place(context.rings[class], place), context.layout);
            let newcomer = Newcomer { class, place, length: u64::from(segment.length[i]), stamp };
            lanes.arrived[class] += 1;
            let Outcome { completed, preempted } =
                self.insert_and_serve::<UNIFORM>(lanes, &newcomer, until - tick);
            let completed = completed & used;
            // A single lane is put back untested, which changes nothing: what it serves has a stale entry.
            self.put_back(lanes, if N == 1 { 1 } else { preempted & used });
            if P::DECISIONS {
                self.report(lanes, tick, until, probe);
            }
            let again = if Self::BY_ROWS {
                self.complete_first::<P, UNIFORM>(lanes, &context, completed, until, order, probe)
            } else {
                completed
            };
            self.complete::<P, UNIFORM>(lanes, &context, again, until, order, probe);
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
    }

    /// Every lane takes the message with the smallest key and serves it up to tick `until`; returns the
    /// lanes where it is complete.
    #[inline(always)]
    fn resume<P: Probe, const UNIFORM: bool>(
        &mut self,
        lanes: &Lanes<C, N>,
        context: &Context<'_, C>,
        until: u64,
        probe: &mut P,
    ) -> u64 {
        let mut completed = 0;
        for lane in 0..lanes.used.min(N) {
            self.serving.left[lane] = until - context.first_tick;
            let key = self.smallest(lane, context.classes);
            completed |= self.take::<P, UNIFORM>(lanes, lane, key, until, probe) << lane;
        }
        completed
    }

    /// The smallest key of a lane.
    #[inline(always)]
    fn smallest(&self, lane: usize, classes: usize) -> K {
        if N == 1 { self.smallest_alone(classes) } else { self.smallest_of(lane, classes) }
    }

    /// The same of a single lane, key by key. A call of its own, compiled for every processor: with vectors the keys of all
    /// classes would be read together, which must wait until the one just written is in the cache.
    #[inline(never)]
    fn smallest_alone(&self, classes: usize) -> K {
        self.smallest_of(0, classes)
    }

    #[inline(always)]
    fn smallest_of(&self, lane: usize, classes: usize) -> K {
        let key = |class: usize| self.key.as_flattened()[class * N + lane];
        if C == 8 {
            let pair = |class| key(class).min(key(class + 1));
            pair(0).min(pair(2)).min(pair(4).min(pair(6)))
        } else {
            (1..classes).fold(key(0), |smallest, class| smallest.min(key(class)))
        }
    }

    /// The lane takes the message of this key and serves it for at most the ticks it has left; returns 1
    /// if it is complete.
    #[inline(always)]
    fn take<P: Probe, const UNIFORM: bool>(
        &mut self,
        lanes: &Lanes<C, N>,
        lane: usize,
        key: K,
        until: u64,
        probe: &mut P,
    ) -> u64 {
        let class = class_of::<K, C>(key);
        let left = self.serving.left[lane];
        let remaining = lanes.remaining.as_flattened()[class * N + lane];
        let after = remaining.saturating_sub(left);
        if P::DECISIONS && left > 0 {
            probe.served(lanes.strategies[lane], until - left, class, remaining, remaining - after);
        }
        let step = self.step[if UNIFORM { 0 } else { class }][lane];
        self.serving.left[lane] = left.saturating_sub(remaining);
        self.serving.remaining[lane] = after;
        self.serving.key[lane] = key.minus(step.times(K::of(remaining))).plus(step.times(K::of(after)));
        u64::from(after == 0)
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
    /// serves the message of each lane for at most `ticks`.
    #[inline(always)]
    fn insert_and_serve<const UNIFORM: bool>(
        &mut self,
        lanes: &Lanes<C, N>,
        newcomer: &Newcomer<K>,
        ticks: u64,
    ) -> Outcome {
        let Newcomer { class, place, length, stamp } = *newcomer;
        let steps = self.steps::<UNIFORM>(&self.serving.key);
        let (head, base, step) = (&lanes.head[class], &self.base[class], &self.step[class]);
        let (rows, serving) = (&mut self.key, &mut self.serving);
        let mut fresh = [K::LARGEST; N];
        let slots = &mut rows[class];
        for lane in 0..N {
            let whole = base[lane].plus(stamp & self.stamp_mask[lane]);
            let key = if head[lane] == place { whole } else { K::LARGEST };
            // Where it is the first of its class there is a mark, which is larger.
            slots[lane] = slots[lane].min(if key < serving.key[lane] { K::LARGEST } else { key });
            fresh[lane] = key;
        }
        let mut outcome = 0;
        for lane in 0..N {
            let key = fresh[lane];
            let (was, remaining) = (serving.key[lane], serving.remaining[lane]);
            let (new_price, price) = (step[lane], steps[lane]);
            let ahead = key < was;
            if Self::BY_ROWS {
                let mut others = if ahead { was } else { K::LARGEST };
                for slots in rows.iter() {
                    // A slot's lowest bits are its class; that of the message served until now is stale.
                    let slot = slots[lane];
                    let same = (slot ^ was) & K::of(C as u64 - 1) == K::default();
                    others = others.min(if same { K::LARGEST } else { slot });
                }
                serving.others[lane] = others;
            }
            let packets = if ahead { length } else { remaining };
            let price = if ahead && !UNIFORM { new_price } else { price };
            let used = packets.min(ticks);
            serving.was[lane] = was;
            serving.was_remaining[lane] = remaining;
            serving.remaining[lane] = packets - used;
            serving.left[lane] = ticks - used;
            serving.key[lane] = was.min(key).minus(price.times(K::of(used)));
            outcome |= u64::from(packets == used) << lane | u64::from(ahead) << (lane + 32);
        }
        Outcome { completed: outcome & u64::from(u32::MAX), preempted: outcome >> 32 }
    }

    /// In these lanes, what was served before the last arrival goes back to the head of its class.
    #[inline(always)]
    fn put_back(&mut self, lanes: &mut Lanes<C, N>, preempted: u64) {
        let mut rest = preempted;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize % N;
            rest &= rest - 1;
            let here = class_of::<K, C>(self.serving.was[lane]) * N + lane;
            self.key.as_flattened_mut()[here] = self.serving.was[lane];
            lanes.remaining.as_flattened_mut()[here] = self.serving.was_remaining[lane];
        }
    }

    /// Reports what every lane has served since an arrival at `tick`.
    fn report<P: Probe>(&self, lanes: &Lanes<C, N>, tick: u64, until: u64, probe: &mut P) {
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
