//! The keyed strategies' inner loop: heads of classes, and the lanes that serve them.

use super::key::{Key, Layout};
use super::keyed::{Lanes, Rows};
use super::queues::{Entry, Queues};
use super::tally::Probe;
use crate::port::timeline::Segment;

/// Packed keys of a segment.
#[derive(Clone, Debug)]
pub(super) struct Heads<K, const N: usize> {
    layout: Layout,
    /// The key of each class's first unfinished message; stale for the one being served.
    key: Rows<K, N>,
    /// The key of a whole message of the class, inserted at the layout's first tick and number.
    base: Rows<K, N>,
    /// What a packet takes off the key.
    step: Rows<K, N>,
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
struct Context<'a> {
    queues: &'a Queues,
    segment: &'a Segment<'a>,
    classes: usize,
    /// The lanes in use.
    used: u64,
}

impl<K: Key, const N: usize> Heads<K, N> {
    pub(super) fn new(classes: usize) -> Self {
        let none = [K::default(); N];
        Self {
            layout: Layout::default(),
            key: vec![none; classes],
            base: vec![none; classes],
            step: vec![none; classes],
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
        lanes: &mut Lanes<N>,
        layout: Layout,
        queues: &Queues,
        segment: &Segment<'_>,
        probe: &mut P,
    ) {
        let used = u64::MAX >> (u64::BITS as usize - lanes.strategies.len());
        let context = Context { queues, segment, classes: queues.len(), used };
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
                let class = usize::from(segment.class[i]);
                let newcomer =
                    Newcomer { class, place: lanes.arrived[class], length: u64::from(segment.length[i]) };
                let stamp = Entry { at: 0, tick, order };
                lanes.arrived[class] += 1;
                let preempted = self.insert(lanes, &newcomer, &stamp) & context.used;
                self.put_back(lanes, preempted);
            }
        }
        self.store(lanes);
    }

    /// The parts of a key that come from the instant of insertion.
    #[inline(always)]
    fn stamp(&self, entry: &Entry) -> (K, K) {
        let layout = &self.layout;
        let tick = K::of(entry.tick - layout.first_tick) << (layout.shift() + layout.fraction_bits);
        (tick, K::of(entry.order - layout.first_order) << layout.class_bits)
    }

    /// The mark of a class of which nothing waits; larger than every key, yet it names its class.
    #[inline(always)]
    fn nothing(&self, class: usize) -> K {
        K::LARGEST.minus(K::of((1 << self.layout.class_bits) - 1)).plus(K::of(class as u64))
    }

    #[inline(always)]
    fn class_of(&self, key: K) -> usize {
        key.low() & ((1 << self.layout.class_bits) - 1)
    }

    /// Packs the lanes' state for a segment.
    #[inline(always)]
    fn load(&mut self, lanes: &Lanes<N>, layout: Layout, queues: &Queues) {
        self.layout = layout;
        for lane in 0..N {
            self.tick_mask[lane] = if lanes.ticked[lane] { K::LARGEST } else { K::default() };
        }
        for class in 0..self.key.len() {
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
    fn choose(&mut self, lanes: &Lanes<N>, lane: usize, classes: usize) {
        let mut smallest = self.key[0][lane];
        for row in &self.key[1..classes] {
            smallest = smallest.min(row[lane]);
        }
        let class = self.class_of(smallest);
        self.serving.key[lane] = smallest;
        self.serving.step[lane] = self.step[class][lane];
        self.serving.remaining[lane] = lanes.remaining[class][lane];
    }

    /// Keeps what a later segment needs.
    #[inline(always)]
    fn store(&mut self, lanes: &mut Lanes<N>) {
        for lane in 0..lanes.strategies.len() {
            let class = self.class_of(self.serving.key[lane]);
            lanes.remaining[class][lane] = self.serving.remaining[lane];
        }
    }

    /// Places the newcomer in every lane in which it is the first of its class, and puts it ahead of the
    /// message served if its key is strictly smaller (its number is the largest, so never by a tie).
    /// Returns the lanes where it did.
    #[inline(always)]
    fn insert(&mut self, lanes: &Lanes<N>, newcomer: &Newcomer, stamp: &Entry) -> u64 {
        let (tick, order) = self.stamp(stamp);
        let head = &lanes.head[newcomer.class];
        let base = &self.base[newcomer.class];
        let step = &self.step[newcomer.class];
        let row = &mut self.key[newcomer.class];
        let serving = &mut self.serving;
        let mut preempted = 0;
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
            preempted |= u64::from(ahead) << lane;
        }
        preempted
    }

    /// The preempted messages go back to the head of their classes.
    #[inline(always)]
    fn put_back(&mut self, lanes: &mut Lanes<N>, preempted: u64) {
        let mut rest = preempted;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let class = self.class_of(self.serving.was[lane]);
            self.key[class][lane] = self.serving.was[lane];
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
        lanes: &mut Lanes<N>,
        context: &Context<'_>,
        completed: u64,
        until: u64,
        order: u64,
        probe: &mut P,
    ) {
        let mut rest = completed;
        while rest != 0 {
            let mut again = 0;
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
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
        lanes: &mut Lanes<N>,
        context: &Context<'_>,
        lane: usize,
        tick: u64,
        order: u64,
        probe: &mut P,
    ) {
        let class = self.class_of(self.serving.key[lane]);
        let queue = context.queues.class(class);
        let place = lanes.head[class][lane];
        let accepted = context.segment.accepted[(tick - context.segment.first_tick) as usize];
        let latency = accepted - queue.entry(place).at;
        lanes.sum[class][lane] += u128::from(latency);
        probe.completed(lanes.strategies[lane], class, latency);
        lanes.head[class][lane] = place + 1;
        lanes.remaining[class][lane] = lanes.lengths[class];
        let next = queue.entry(place + 1);
        self.key[class][lane] =
            if next.order <= order { self.whole(class, lane, next) } else { self.nothing(class) };
    }

    /// Reports what `serve` has just served.
    fn report<P: Probe>(&self, lanes: &Lanes<N>, tick: u64, until: u64, probe: &mut P) {
        for (lane, &strategy) in lanes.strategies.iter().enumerate() {
            let used = until - tick - self.serving.left[lane];
            if used > 0 {
                let class = self.class_of(self.serving.key[lane]);
                probe.served(strategy, tick, class, self.serving.remaining[lane] + used, used);
            }
        }
    }
}
