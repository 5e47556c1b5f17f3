//! The keyed strategies' inner loop: heads of classes, and the lanes that serve them.

use super::key::{Key, Layout};
use super::keyed::{Lanes, Rows};
use super::queues::{Entry, Queues};
use super::tally::Probe;
use crate::port::timeline::Segment;

/// Packed keys of a segment.
#[derive(Clone, Debug)]
pub(super) struct Heads<K, const C: usize, const N: usize> {
    layout: Layout,
    /// The key of each class's first unfinished message; stale for the one being served.
    key: Rows<K, C, N>,
    /// The key of a whole message of the class, inserted at the layout's first tick and number.
    base: Rows<K, C, N>,
    /// What a packet takes off the key.
    step: Rows<K, C, N>,
    /// The tick's part of a key counts in these bits.
    tick_mask: [K; N],
    serving: Serving<K, N>,
}

/// The message each lane serves.
#[derive(Clone, Debug)]
struct Serving<K, const N: usize> {
    key: [K; N],
    step: [K; N],
    remaining: [u64; N],
    /// Ticks the lane still has to serve before the next arrival.
    left: [u64; N],
    /// Key and remaining packets before the last arrival.
    was: [K; N],
    was_remaining: [u64; N],
}

/// A message at its insertion.
struct Newcomer {
    class: usize,
    /// Its place in its class.
    place: u64,
    length: u64,
}

/// What does not change while a segment is played.
struct Context<'a, const C: usize> {
    /// The ring of each class's messages.
    rings: [&'a [Entry]; C],
    accepted: &'a [u64],
    first_tick: u64,
    classes: usize,
    /// The lanes in use.
    used: u64,
}

/// The message at a place of a ring whose length is a power of two.
#[inline(always)]
fn at_place(ring: &[Entry], place: u64) -> &Entry {
    &ring[place as usize & (ring.len() - 1)]
}

impl<K: Key, const C: usize, const N: usize> Heads<K, C, N> {
    pub(super) fn new() -> Self {
        let none = [K::default(); N];
        Self {
            layout: Layout::default(),
            key: [none; C],
            base: [none; C],
            step: [none; C],
            tick_mask: none,
            serving: Serving {
                key: none,
                step: none,
                remaining: [0; N],
                left: [0; N],
                was: none,
                was_remaining: [0; N],
            },
        }
    }

    /// Plays the segment on every lane.
    #[inline(always)]
    pub(super) fn play<P: Probe>(
        &mut self,
        lanes: &mut Lanes<C, N>,
        layout: Layout,
        queues: &Queues,
        segment: &Segment<'_>,
        probe: &mut P,
    ) {
        let used = u64::MAX >> (u64::BITS as usize - lanes.strategies.len());
        let rings = core::array::from_fn(|class| queues.class(class.min(queues.len() - 1)).ring());
        let (accepted, first_tick) = (segment.accepted, segment.first_tick);
        let context = Context { rings, accepted, first_tick, classes: queues.len(), used };
        self.load(lanes, layout, queues);
        let mut order = segment.first_order.wrapping_sub(1);
        let mut tick = segment.first_tick;
        for i in 0..=segment.at.len() {
            let until = segment.tick.get(i).copied().unwrap_or(segment.end_tick);
            let completed = self.serve(until - tick) & context.used;
            if P::DECISIONS {
                self.report(lanes, tick, until, probe);
            }
            self.complete(lanes, &context, completed, until, order, probe);
            tick = until;
            if i < segment.at.len() {
                order = segment.first_order + i as u64;
                let class = usize::from(segment.class[i]) % C;
                let newcomer =
                    Newcomer { class, place: lanes.arrived[class], length: u64::from(segment.length[i]) };
                let stamp = Entry { at: 0, tick, order };
                lanes.arrived[class] += 1;
                self.insert(lanes, &newcomer, &stamp);
                self.put_back(lanes);
            }
        }
        self.store(lanes);
    }

    /// The parts of a key that come from the instant of insertion.
    #[inline(always)]
    fn stamp(&self, entry: &Entry) -> (K, K) {
        let layout = &self.layout;
        let tick =
            K::of(entry.tick.wrapping_sub(layout.first_tick)) << (layout.shift() + layout.fraction_bits);
        (tick, K::of(entry.order.wrapping_sub(layout.first_order)) << layout.class_bits)
    }

    /// The mark of a class of which nothing waits; larger than every key, yet it names its class.
    #[inline(always)]
    fn nothing(&self, class: usize) -> K {
        K::LARGEST.minus(K::of(C as u64 - 1)).plus(K::of(class as u64))
    }

    #[inline(always)]
    fn class_of(&self, key: K) -> usize {
        key.low() % C
    }

    /// Packs the lanes' state for a segment.
    #[inline(always)]
    fn load(&mut self, lanes: &Lanes<C, N>, layout: Layout, queues: &Queues) {
        self.layout = layout;
        for lane in 0..N {
            self.tick_mask[lane] = if lanes.ticked[lane] { K::LARGEST } else { K::default() };
        }
        for class in 0..C {
            let nothing = self.nothing(class);
            let length = K::of(lanes.lengths[class]);
            for lane in 0..N {
                let step = K::of(lanes.alpha[class][lane]) << layout.shift();
                self.step[class][lane] = step;
                self.base[class][lane] = step.times(length).plus(K::of(class as u64));
                self.key[class][lane] = nothing;
            }
        }
        for lane in 0..lanes.strategies.len() {
            for class in 0..queues.len() {
                let place = lanes.head[class][lane];
                if place < lanes.arrived[class] {
                    let served = lanes.lengths[class] - lanes.remaining[class][lane];
                    let whole = self.whole(class, lane, queues.class(class).entry(place));
                    self.key[class][lane] = whole.minus(self.step[class][lane].times(K::of(served)));
                }
            }
            self.choose(lanes, lane, queues.len());
        }
    }

    /// The key at insertion of a message.
    #[inline(always)]
    fn whole(&self, class: usize, lane: usize, entry: &Entry) -> K {
        let (tick, order) = self.stamp(entry);
        self.base[class][lane].plus(tick & self.tick_mask[lane]).plus(order)
    }

    /// The lane takes the message with the smallest key.
    #[inline(always)]
    fn choose(&mut self, lanes: &Lanes<C, N>, lane: usize, classes: usize) {
        let mut smallest = self.key[0][lane];
        // A short table is always scanned whole: a fixed number of steps costs less than fewer ones.
        for row in &self.key[1..if C <= 8 { C } else { classes }] {
            smallest = smallest.min(row[lane]);
        }
        let class = self.class_of(smallest);
        self.serving.key[lane] = smallest;
        self.serving.step[lane] = self.step[class][lane];
        self.serving.remaining[lane] = lanes.remaining[class][lane];
    }

    /// Keeps what a later segment needs.
    #[inline(always)]
    fn store(&mut self, lanes: &mut Lanes<C, N>) {
        for lane in 0..lanes.strategies.len() {
            let class = self.class_of(self.serving.key[lane]);
            lanes.remaining[class][lane] = self.serving.remaining[lane];
        }
    }

    /// Places the newcomer in every lane in which it is the first of its class, and puts it ahead of the
    /// message served if its key is strictly smaller (its number is the largest, so never by a tie).
    #[inline(always)]
    fn insert(&mut self, lanes: &Lanes<C, N>, newcomer: &Newcomer, stamp: &Entry) {
        let (tick, order) = self.stamp(stamp);
        let head = &lanes.head[newcomer.class];
        let base = &self.base[newcomer.class];
        let step = &self.step[newcomer.class];
        let row = &mut self.key[newcomer.class];
        let serving = &mut self.serving;
        for lane in 0..N {
            let key = base[lane].plus(tick & self.tick_mask[lane]).plus(order);
            let first = head[lane] == newcomer.place;
            row[lane] = if first { key } else { row[lane] };
            let (was, was_remaining) = (serving.key[lane], serving.remaining[lane]);
            let ahead = first & (key < was);
            serving.was[lane] = was;
            serving.was_remaining[lane] = was_remaining;
            serving.key[lane] = if ahead { key } else { was };
            serving.step[lane] = if ahead { step[lane] } else { serving.step[lane] };
            serving.remaining[lane] = if ahead { newcomer.length } else { was_remaining };
        }
    }

    /// What was served goes back to the head of its class. Where it is still being served that changes
    /// nothing, since the entry of the class being served is stale; so no lane needs a test.
    #[inline(always)]
    fn put_back(&mut self, lanes: &mut Lanes<C, N>) {
        for lane in 0..lanes.strategies.len().min(N) {
            let was = self.serving.was[lane];
            let class = self.class_of(was);
            self.key[class][lane] = was;
            lanes.remaining[class][lane] = self.serving.was_remaining[lane];
        }
    }

    /// Serves the message of each lane for at most `ticks`; returns the lanes where it is complete.
    #[inline(always)]
    fn serve(&mut self, ticks: u64) -> u64 {
        let serving = &mut self.serving;
        let mut completed = 0;
        for lane in 0..N {
            let used = serving.remaining[lane].min(ticks);
            let remaining = serving.remaining[lane] - used;
            serving.remaining[lane] = remaining;
            serving.left[lane] = ticks - used;
            serving.key[lane] = serving.key[lane].minus(serving.step[lane].times(K::of(used)));
            completed |= u64::from(remaining == 0) << lane;
        }
        completed
    }

    /// Counts the completed messages out and lets their lanes go on to the next.
    #[inline(always)]
    fn complete<P: Probe>(
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
                let left = self.serving.left[lane];
                self.count_out(lanes, context, lane, until - left - 1, order, probe);
                self.choose(lanes, lane, context.classes);
                let used = self.serving.remaining[lane].min(left);
                if P::DECISIONS && used > 0 {
                    let class = self.class_of(self.serving.key[lane]);
                    let remaining = self.serving.remaining[lane];
                    probe.served(lanes.strategies[lane], until - left, class, remaining, used);
                }
                self.serving.left[lane] = left - used;
                self.serving.remaining[lane] -= used;
                let spent = self.serving.step[lane].times(K::of(used));
                self.serving.key[lane] = self.serving.key[lane].minus(spent);
                again |= u64::from(self.serving.remaining[lane] == 0) << lane;
            }
            rest = again;
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
        let class = self.class_of(self.serving.key[lane]);
        let ring = context.rings[class];
        let place = lanes.head[class][lane];
        let accepted = context.accepted[(tick - context.first_tick) as usize];
        let latency = accepted - at_place(ring, place).at;
        lanes.sum[class][lane] += u128::from(latency);
        probe.completed(lanes.strategies[lane], class, latency);
        lanes.head[class][lane] = place + 1;
        lanes.remaining[class][lane] = lanes.lengths[class];
        // Both are computed and one is selected: whether another message waits is hard to foresee.
        let next = at_place(ring, place + 1);
        let (whole, nothing) = (self.whole(class, lane, next), self.nothing(class));
        self.key[class][lane] = if next.order <= order { whole } else { nothing };
    }

    /// Reports what `serve` has just served.
    fn report<P: Probe>(&self, lanes: &Lanes<C, N>, tick: u64, until: u64, probe: &mut P) {
        for (lane, &strategy) in lanes.strategies.iter().enumerate() {
            let used = until - tick - self.serving.left[lane];
            if used > 0 {
                let class = self.class_of(self.serving.key[lane]);
                probe.served(strategy, tick, class, self.serving.remaining[lane] + used, used);
            }
        }
    }
}
