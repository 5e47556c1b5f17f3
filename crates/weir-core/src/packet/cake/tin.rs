//! A tin: the queues of packets of like code points, and whose turn is next among them.
//!
//! A queue that gets a packet after a rest is *sparse* and joins the end of the new queues, which go before the old
//! ones, with a turn of its own. One whose turn is used up goes to the end of the old ones: it is *bulk* from then on if
//! it has packets, and counts among the busy queues of its hosts; if it has none it *waits* there, and is bulk with its
//! next packet. Whoever is found empty with something left of its turn rests. A turn is the quantum divided by the
//! number of busy queues of its source or of its destination, whichever is larger.
//!
//! | | |
//! |-|-|
//! | Source | Hoeiland-Joergensen, Taht and Morton, *Piece of CAKE*, 2018; Linux, `net/sched/sch_cake.c` |
//! | Work | O(1) if a turn is at least the largest packet, else O(queues) |
//! | Units | turns: parts of 2^16 of a byte, so that a small part of a quantum is still exact |
//! | Departs from the source | parts of bytes are kept and not rounded at random; what the gate holds back goes to the end of the old queues and keeps its turn |

use super::cobalt::{Control, Law};
use super::config::{Config, Fairness};
use super::diffserv::Share;
use super::hosts::Hosts;
use super::pace::Pace;
use super::sets::{Found, Sets};
use super::store::Store;
use crate::discipline::{DropReason, Drops, Gate};
use crate::item::{Addresses, Item};
use crate::packet::hash::Label;
use crate::packet::list::{List, Node};
use crate::random::Random;
use crate::units::{Bytes, Instant};

/// Bits of a part of a byte.
const PART: u32 = 16;

/// What a queue is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// It is in no list.
    #[default]
    Rests,
    /// It is in its first turn.
    Sparse,
    /// It has used up its first turn, and has nothing.
    Waits,
    /// It has used up its first turn, and more has come.
    Bulk,
}

/// One queue; its packets are in the store.
#[derive(Clone, Debug, Default)]
struct Queue {
    next: u32,
    state: State,
    /// The places of its hosts, where these are counted.
    source: u32,
    destination: u32,
    /// What is left of its turn; nothing where this is not positive.
    deficit: i64,
    control: Control,
}

impl Node for Queue {
    #[inline]
    fn next(&self) -> u32 {
        self.next
    }
    #[inline]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// What a visit to a queue led to.
enum Visit<I> {
    /// A packet of this queue.
    Grant(I, usize),
    /// It rests.
    Empty,
    /// The gate holds its head back.
    Held,
    /// It had nothing left of its turn.
    Short,
}

/// What a queue is served in its turn.
#[inline]
fn gain_of(queue: &Queue, turn: i64, fairness: Fairness, sources: &Hosts, destinations: &Hosts) -> i64 {
    let mut busy = 1;
    if fairness.divides_source() {
        busy = sources.busy(queue.source).max(busy);
    }
    if fairness.divides_destination() {
        busy = destinations.busy(queue.destination).max(busy);
    }
    turn / i64::from(busy)
}

/// A tin.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    /// The number of its first queue in the store.
    first: usize,
    law: Law,
    fairness: Fairness,
    /// What a queue is served in its turn, in parts.
    turn: i64,
    sets: Sets,
    queues: Vec<Queue>,
    sources: Hosts,
    destinations: Hosts,
    new: List,
    old: List,
    /// Packets that wait in it.
    waiting: u64,
    /// When it has used what its threshold allows; `None` where there is no rate.
    pub(super) pace: Option<Pace>,
    /// What it is served in its turn where there is no rate, in bytes, and what is left of that.
    pub(super) quantum: i64,
    pub(super) deficit: i64,
}

impl Tin {
    /// An empty one, whose queues are those from `first` on.
    pub(super) fn new(config: &Config, share: &Share, first: usize) -> Self {
        let hosts = |counted| Hosts::new(if counted { config.queues } else { 0 });
        Self {
            first,
            law: config.law(share),
            fairness: config.fairness,
            turn: (config.quantum(share) as i64) << PART,
            sets: Sets::new(config.queues),
            queues: vec![Queue::default(); config.queues],
            sources: hosts(config.fairness.divides_source()),
            destinations: hosts(config.fairness.divides_destination()),
            new: List::default(),
            old: List::default(),
            waiting: 0,
            pace: share.threshold.map(Pace::new),
            quantum: share.quantum.into(),
            deficit: 0,
        }
    }

    /// Whether a queue of it may have packets.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.new.len() + self.old.len() > 0
    }

    /// If nothing waits in it, an idle time ends: what it was allowed and has not used is lost.
    #[inline]
    pub(super) fn resume(&mut self, now: Instant) {
        if let Some(pace) = self.pace.as_mut().filter(|_| self.waiting == 0) {
            pace.resume(now);
        }
    }

    /// A packet joins its queue, whose number in the store is returned.
    #[inline]
    pub(super) fn join<I: Item<Cost = Bytes>>(&mut self, now: Instant, config: &Config, item: &I) -> usize {
        let at = self.place(now, config.tag(self.fairness.label(item)));
        match self.queues[at].state {
            State::Rests => self.wake(now, at, config, item.addresses()),
            State::Waits => self.keep_busy(at),
            State::Sparse | State::Bulk => {}
        }
        self.waiting += 1;
        self.first + at
    }

    /// The queue of a tag.
    #[inline]
    fn place(&mut self, now: Instant, tag: u32) -> usize {
        let is_free = |at: u32| {
            let Queue { state, mut control, .. } = self.queues[at as usize];
            control.rest(&self.law, now);
            state == State::Rests && control.has_forgotten(now)
        };
        let at = match self.sets.find(tag, is_free) {
            Found::Known(at) => return at as usize,
            Found::Free(at) => {
                self.queues[at as usize].control = Control::default();
                at
            }
            Found::Full => self.sets.home(tag),
        };
        if self.queues[at as usize].state == State::Rests {
            self.sets.take(at, tag);
        }
        at as usize
    }

    /// A queue that rested is sparse.
    fn wake(&mut self, now: Instant, at: usize, config: &Config, of: Addresses) {
        let Addresses { source, destination } = of;
        if self.fairness.divides_source() {
            self.queues[at].source = self.sources.join(config.tag(Label { source, ..Label::default() }));
        }
        if self.fairness.divides_destination() {
            let label = Label { destination, ..Label::default() };
            self.queues[at].destination = self.destinations.join(config.tag(label));
        }
        self.queues[at].control.rest(&self.law, now);
        self.queues[at].state = State::Sparse;
        self.queues[at].deficit = self.gain(at);
        self.new.push(&mut self.queues, at as u32);
    }

    /// A queue is bulk.
    fn keep_busy(&mut self, at: usize) {
        let queue = &mut self.queues[at];
        queue.state = State::Bulk;
        if self.fairness.divides_source() {
            self.sources.keep_busy(queue.source);
        }
        if self.fairness.divides_destination() {
            self.destinations.keep_busy(queue.destination);
        }
    }

    /// A queue rests.
    fn rest(&mut self, now: Instant, at: usize) {
        let queue = &mut self.queues[at];
        let was_busy = queue.state == State::Bulk;
        queue.state = State::Rests;
        queue.control.emptied(&self.law, now);
        if self.fairness.divides_source() {
            self.sources.leave(queue.source, was_busy);
        }
        if self.fairness.divides_destination() {
            self.destinations.leave(queue.destination, was_busy);
        }
    }

    /// What a queue is served in its turn.
    #[inline]
    fn gain(&self, at: usize) -> i64 {
        gain_of(&self.queues[at], self.turn, self.fairness, &self.sources, &self.destinations)
    }

    /// A packet of a queue leaves, and takes this much of the line.
    #[inline]
    pub(super) fn charge(&mut self, at: usize, size: Bytes) {
        self.queues[at].deficit -= (size.get() as i64) << PART;
    }

    /// A queue, by its number in the store, has lost a packet because there was no room.
    pub(super) fn overflowed(&mut self, now: Instant, queue: usize) {
        self.waiting -= 1;
        self.queues[queue - self.first].control.overflowed(&self.law, now);
    }

    /// The next packet, and its queue; `None` if there is none, or the gate holds back all that there are.
    #[inline]
    pub(super) fn next<I: Item<Cost = Bytes>>(
        &mut self,
        store: &mut Store<I>,
        random: &mut Random,
        now: Instant,
        gate: &dyn Gate<I>,
        drops: &mut dyn Drops<I>,
    ) -> Option<(I, usize)> {
        // Queues held back in a row, and queues visited in vain since rounds were last skipped.
        let (mut held, mut in_vain) = (0, 0);
        loop {
            let left = u64::from(self.old.len()).saturating_sub(in_vain + 1);
            let passed = if self.new.len() == 0 { self.pass_over_short(left) } else { 0 };
            in_vain += passed;
            held = if passed > 0 { 0 } else { held };
            match self.visit(store, random, now, gate, drops)? {
                Visit::Grant(item, at) => return Some((item, at)),
                Visit::Empty => {}
                Visit::Held => held += 1,
                Visit::Short => held = 0,
            }
            let queues = u64::from(self.new.len() + self.old.len());
            if held >= queues {
                return None;
            }
            in_vain += 1;
            if in_vain >= queues {
                self.skip_rounds(store, gate);
                in_vain = 0;
            }
        }
    }

    /// Visits the first of the old queues as long as they have nothing left of their turns, `most` of them at most. Where a
    /// host has many queues a turn is a small part of a packet, and most visits are such.
    #[inline]
    fn pass_over_short(&mut self, most: u64) -> u64 {
        let Self { turn, fairness, queues, sources, destinations, old, .. } = self;
        old.pass_over(queues, most, |queue| {
            let is_short = queue.deficit <= 0 && queue.state != State::Sparse;
            if is_short {
                queue.deficit += gain_of(queue, *turn, *fairness, sources, destinations);
            }
            is_short
        })
    }

    /// Visits the first of the new queues, or else of the old ones; `None` if there is none.
    #[inline]
    fn visit<I: Item<Cost = Bytes>>(
        &mut self,
        store: &mut Store<I>,
        random: &mut Random,
        now: Instant,
        gate: &dyn Gate<I>,
        drops: &mut dyn Drops<I>,
    ) -> Option<Visit<I>> {
        let is_new = self.new.len() > 0;
        let at = if is_new { self.new.first() } else { self.old.first() }? as usize;
        let is_empty = store.is_empty(self.first + at);
        if self.queues[at].deficit <= 0 {
            match self.queues[at].state {
                State::Sparse if is_empty => self.queues[at].state = State::Waits,
                State::Sparse => self.keep_busy(at),
                _ => {}
            }
            self.queues[at].deficit += self.gain(at);
            self.make_old(is_new);
            return Some(Visit::Short);
        }
        if is_empty {
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.pop(&self.queues);
            self.rest(now, at);
            return Some(Visit::Empty);
        }
        let Some(item) = self.take(at, store, random, now, gate, drops) else {
            self.make_old(is_new);
            return Some(Visit::Held);
        };
        Some(Visit::Grant(item, at))
    }

    /// The next packet of a queue that its control lets pass, at the latest its last; `None` if the gate holds it back.
    #[inline]
    fn take<I: Item<Cost = Bytes>>(
        &mut self,
        at: usize,
        store: &mut Store<I>,
        random: &mut Random,
        now: Instant,
        gate: &dyn Gate<I>,
        drops: &mut dyn Drops<I>,
    ) -> Option<I> {
        let (number, control) = (self.first + at, &mut self.queues[at].control);
        loop {
            store.head(number).filter(|head| gate.permits(head))?;
            let (mut item, since) = store.take(number)?;
            self.waiting -= 1;
            if !control.drops(&self.law, now, since, &mut item, random) || store.is_empty(number) {
                return Some(item);
            }
            drops.dropped(item, DropReason::Congestion);
        }
    }

    /// The first of the new or the old queues goes to the end of the old ones.
    #[inline]
    fn make_old(&mut self, is_new: bool) {
        let from = if is_new { &mut self.new } else { &mut self.old };
        if let Some(at) = from.pop(&self.queues) {
            self.old.push(&mut self.queues, at);
        }
    }

    /// How many turns an old queue lacks before it has something left of one; `None` if it has.
    fn lacking(&self, at: u32) -> Option<i64> {
        let deficit = self.queues[at as usize].deficit;
        (deficit <= 0).then(|| -deficit / self.gain(at as usize) + 1)
    }

    /// Every queue was visited in vain, so that all are old: gives at once all the rounds that would be in vain too.
    #[cold]
    fn skip_rounds<I: Item<Cost = Bytes>>(&mut self, store: &Store<I>, gate: &dyn Gate<I>) {
        let old = self.old;
        let is_ready = |at: u32| {
            let head = store.head(self.first + at as usize);
            self.queues[at as usize].deficit > 0 && head.is_none_or(|head| gate.permits(head))
        };
        if old.iter(&self.queues).any(is_ready) {
            return;
        }
        let least = old.iter(&self.queues).filter_map(|at| self.lacking(at)).min();
        let Some(rounds) = least.map(|rounds| rounds - 1).filter(|&rounds| rounds > 0) else { return };
        let mut next = old.first();
        for _ in 0..old.len() {
            let Some(at) = next else { return };
            if self.lacking(at).is_some() {
                self.queues[at as usize].deficit += rounds * self.gain(at as usize);
            }
            next = Some(self.queues[at as usize].next);
        }
    }
}
