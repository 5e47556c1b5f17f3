//! Queues that are served in turns of bytes, of which the longest gives way: what `sfq_linux` and `sfq_set`
//! share.
//!
//! Each queue has an allowance. In its turn it sends one packet if the allowance is above zero, which may
//! overdraw it; otherwise it gets a quantum and goes to the end of the round. One that gets its first packet
//! joins at the end with a full quantum. The longest is found by its [length](super::lengths).
//!
//! | | |
//! |-|-|
//! | Source | Linux, `net/sched/sch_sfq.c`; Shreedhar and Varghese, SIGCOMM '95, for turns of bytes |
//! | Work per packet | O(1) if `quantum >= max(cost)`, else O(queues); one step more per queue held back |
//! | Units | length: packets; allowance, quantum: the unit of the item's cost |
//! | Memory | 40 bytes per queue, one slot per waiting packet, one word per length; all stay |

use super::lengths::{Lengths, Link, Linked};
use crate::discipline::{Backlog, Gate};
use crate::item::Item;
use crate::units::Cost;

/// No queue, or no slot.
pub(super) use super::lengths::NONE;

/// No packet overdraws an allowance by more: what is beyond any size, yet far from the end of the numbers.
const MOST: u64 = 1 << 62;

/// The least quantum, in bytes. It bounds how often a flow of large packets is passed over.
pub(super) const LEAST_QUANTUM: u64 = 256;
/// The largest quantum, in bytes.
pub(super) const LARGEST_QUANTUM: u64 = i32::MAX as u64;

/// A packet and its neighbours in its queue.
#[derive(Clone, Debug)]
struct Slot<I> {
    item: Option<I>,
    next: u32,
    previous: u32,
}

#[derive(Clone, Debug)]
struct Queue {
    first: u32,
    last: u32,
    link: Link,
    /// The queue behind this one in the round.
    next: u32,
    allowance: i64,
}

const EMPTY: Queue = Queue { first: NONE, last: NONE, link: Link::EMPTY, next: NONE, allowance: 0 };

impl Linked for Queue {
    #[inline]
    fn link(&self) -> &Link {
        &self.link
    }
    #[inline]
    fn link_mut(&mut self) -> &mut Link {
        &mut self.link
    }
}

/// Queues by number; they come into being as they are used.
#[derive(Clone, Debug)]
pub(super) struct Queues<I: Item> {
    quantum: i64,
    queues: Vec<Queue>,
    slots: Vec<Slot<I>>,
    /// The first of the free slots, which are chained.
    free: u32,
    /// The last queue of the round, where `waiting` is not zero.
    last: u32,
    /// How many queues have packets.
    waiting: u32,
    lengths: Lengths,
    backlog: Backlog<I::Cost>,
}

/// Packets that were taken out of their queues together, in the order of the round.
pub(super) struct Gathered(u32);

impl<I: Item> Queues<I> {
    /// No queues. `quantum` is at most [`LARGEST_QUANTUM`], and not nothing.
    pub(super) fn new(quantum: I::Cost) -> Self {
        Self {
            quantum: quantum.count().clamp(1, LARGEST_QUANTUM) as i64,
            queues: Vec::new(),
            slots: Vec::new(),
            free: NONE,
            last: NONE,
            waiting: 0,
            lengths: Lengths::default(),
            backlog: Backlog::default(),
        }
    }

    pub(super) fn backlog(&self) -> Backlog<I::Cost> {
        self.backlog
    }

    /// How many packets wait in a queue.
    #[inline]
    pub(super) fn length(&self, queue: u32) -> u32 {
        self.queues.get(queue as usize).map_or(0, |queue| queue.link.length())
    }

    /// Puts a packet at the end of a queue.
    #[inline(always)]
    pub(super) fn append(&mut self, queue: u32, item: I) {
        if queue as usize >= self.queues.len() {
            self.queues.resize(queue as usize + 1, EMPTY);
        }
        self.backlog.add(item.cost());
        self.chain(queue, item);
        let length = self.length(queue) + 1;
        self.lengths.set(&mut self.queues, queue, length);
        if length == 1 {
            self.queues[queue as usize].allowance = self.quantum;
            self.join(queue);
        }
    }

    /// Puts a packet at the end of a queue that is not empty, in exchange for its head.
    pub(super) fn exchange(&mut self, queue: u32, item: I) -> Option<I> {
        self.backlog.add(item.cost());
        self.chain(queue, item);
        let head = self.unchain(queue, self.queues[queue as usize].first)?;
        self.backlog.remove(head.cost());
        Some(head)
    }

    /// Takes a packet from the longest queue: its head, or its last. Of several as long the one that had
    /// another length last; but where all have one packet, the one whose turn is next.
    pub(super) fn take_from_longest(&mut self, head: bool) -> Option<(u32, I)> {
        let longest = self.lengths.newest_of_longest()?;
        let queue = if self.lengths.longest() == 1 { self.whose_turn() } else { longest };
        let Queue { first, last, .. } = self.queues[queue as usize];
        let item = self.unchain(queue, if head { first } else { last })?;
        self.shorten(queue, &item);
        Some((queue, item))
    }

    /// Takes the packet whose turn it is.
    #[inline(always)]
    pub(super) fn next(&mut self, gate: &dyn Gate<I>) -> Option<(u32, I)> {
        // Queues held back in a row, and queues visited in vain since the last rounds were skipped.
        let (mut held, mut in_vain) = (0, 0);
        while self.waiting > 0 {
            let at = self.whose_turn();
            let queue = &mut self.queues[at as usize];
            let first = queue.first;
            let head = self.slots[first as usize].item.as_ref()?;
            if !gate.permits(head) {
                held += 1;
            } else if queue.allowance <= 0 {
                queue.allowance += self.quantum;
                held = 0;
            } else {
                queue.allowance -= head.cost().count().min(MOST) as i64;
                let item = self.unchain(at, first)?;
                self.shorten(at, &item);
                return Some((at, item));
            }
            self.last = at;
            if held >= self.waiting {
                return None;
            }
            in_vain += 1;
            if in_vain > 2 * u64::from(self.waiting) {
                self.skip_rounds(gate);
                in_vain = 0;
            }
        }
        None
    }

    /// Takes all packets out of their queues.
    pub(super) fn gather(&mut self) -> Gathered {
        let mut gathered = Gathered(NONE);
        let mut end = NONE;
        for _ in 0..self.waiting {
            let at = self.whose_turn();
            self.last = at;
            let Queue { first, last, .. } = self.queues[at as usize];
            match self.slots.get_mut(end as usize) {
                Some(slot) => slot.next = first,
                None => gathered = Gathered(first),
            }
            end = last;
        }
        self.queues.fill(EMPTY);
        self.lengths.clear();
        (self.waiting, self.backlog) = (0, Backlog::default());
        gathered
    }

    /// The first of the packets that were taken out; it may be appended anew.
    pub(super) fn next_of(&mut self, gathered: &mut Gathered) -> Option<I> {
        let at = gathered.0;
        let slot = self.slots.get_mut(at as usize)?;
        gathered.0 = slot.next;
        self.release(at)
    }

    /// The queue whose turn is next, where one has packets.
    #[inline]
    fn whose_turn(&self) -> u32 {
        self.queues[self.last as usize].next
    }

    /// The queue joins the end of the round.
    #[inline]
    fn join(&mut self, queue: u32) {
        let behind = if self.waiting == 0 { queue } else { self.whose_turn() };
        if self.waiting > 0 {
            self.queues[self.last as usize].next = queue;
        }
        self.queues[queue as usize].next = behind;
        self.last = queue;
        self.waiting += 1;
    }

    /// Counts a packet less in a queue; one that is empty now is the first of the round, and leaves it.
    #[inline(always)]
    fn shorten(&mut self, queue: u32, item: &I) {
        self.backlog.remove(item.cost());
        let length = self.length(queue) - 1;
        self.lengths.set(&mut self.queues, queue, length);
        if length == 0 {
            let next = self.queues[queue as usize].next;
            self.queues[self.last as usize].next = next;
            self.waiting -= 1;
        }
    }

    /// Every queue was visited in vain, and some lacks allowance: gives at once all the rounds that would be
    /// in vain too.
    #[cold]
    fn skip_rounds(&mut self, gate: &dyn Gate<I>) {
        let mut rounds = i64::MAX;
        let mut at = self.whose_turn();
        for _ in 0..self.waiting {
            if let Some(allowance) = self.allowance(at, gate) {
                rounds = rounds.min(if allowance > 0 { 0 } else { -allowance / self.quantum + 1 });
            }
            at = self.queues[at as usize].next;
        }
        let given = (rounds - 1).max(0).saturating_mul(self.quantum);
        for _ in 0..self.waiting {
            if self.allowance(at, gate).is_some() {
                let queue = &mut self.queues[at as usize];
                queue.allowance = queue.allowance.saturating_add(given);
            }
            at = self.queues[at as usize].next;
        }
    }

    /// The allowance of a queue; `None` if the gate holds it back.
    fn allowance(&self, queue: u32, gate: &dyn Gate<I>) -> Option<i64> {
        let queue = &self.queues[queue as usize];
        let head = self.slots.get(queue.first as usize)?.item.as_ref()?;
        gate.permits(head).then_some(queue.allowance)
    }

    /// Links a packet to the end of a queue.
    #[inline(always)]
    fn chain(&mut self, queue: u32, item: I) {
        // Room is made without the packet, which would be laid into memory for a call.
        if self.free as usize >= self.slots.len() {
            self.grow();
        }
        let (at, previous) = (self.free, self.queues[queue as usize].last);
        let slot = &mut self.slots[at as usize];
        self.free = slot.next;
        *slot = Slot { item: Some(item), next: NONE, previous };
        match self.slots.get_mut(previous as usize) {
            Some(slot) => slot.next = at,
            None => self.queues[queue as usize].first = at,
        }
        self.queues[queue as usize].last = at;
    }

    /// One more slot, the only free one.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.free = self.slots.len() as u32;
        self.slots.push(Slot { item: None, next: NONE, previous: NONE });
    }

    /// Takes a packet out of its queue, wherever it stands.
    #[inline(always)]
    fn unchain(&mut self, queue: u32, at: u32) -> Option<I> {
        let Slot { next, previous, .. } = *self.slots.get(at as usize)?;
        match self.slots.get_mut(previous as usize) {
            Some(slot) => slot.next = next,
            None => self.queues[queue as usize].first = next,
        }
        match self.slots.get_mut(next as usize) {
            Some(slot) => slot.previous = previous,
            None => self.queues[queue as usize].last = previous,
        }
        self.release(at)
    }

    /// Empties a slot.
    #[inline(always)]
    fn release(&mut self, at: u32) -> Option<I> {
        let slot = self.slots.get_mut(at as usize)?;
        slot.next = core::mem::replace(&mut self.free, at);
        slot.item.take()
    }
}

#[cfg(test)]
pub(super) mod oracle;
