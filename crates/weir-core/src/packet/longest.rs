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
//! | Memory | 40 bytes per queue, one slot per waiting packet; both stay |

use super::lengths::Lengths;
use super::slots::{Before, Chain, Slots};
use crate::discipline::{Backlog, Gate, Grant};
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

#[derive(Clone, Debug, Default)]
struct Queue {
    packets: Chain,
    /// The queue behind this one in the round.
    next: u32,
    allowance: i64,
}

/// Queues by number; they come into being as they are used.
#[derive(Clone, Debug)]
pub(super) struct Queues<I: Item> {
    quantum: i64,
    queues: Vec<Queue>,
    slots: Slots<I>,
    before: Before,
    /// The last queue of the round, where `waiting` is not zero.
    last: u32,
    /// How many queues have packets.
    waiting: u32,
    lengths: Lengths,
    backlog: Backlog<I::Cost>,
}

/// Packets that were taken out of their queues together, in the order of the round.
pub(super) struct Gathered(Chain);

impl<I: Item> Queues<I> {
    /// No queues. `quantum` is at most [`LARGEST_QUANTUM`], and not nothing.
    pub(super) fn new(quantum: I::Cost) -> Self {
        Self {
            quantum: quantum.count().clamp(1, LARGEST_QUANTUM) as i64,
            queues: Vec::new(),
            slots: Slots::default(),
            before: Before::default(),
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
        self.queues.get(queue as usize).map_or(0, |queue| queue.packets.len())
    }

    /// Puts a packet at the end of a queue.
    #[inline(always)]
    pub(super) fn append(&mut self, queue: u32, item: I) {
        if queue as usize >= self.queues.len() {
            self.queues.resize_with(queue as usize + 1, Queue::default);
        }
        self.backlog.add(item.cost());
        let Queue { packets, allowance, .. } = &mut self.queues[queue as usize];
        self.before.note(self.slots.append(packets, item));
        let length = packets.len();
        self.lengths.longer(queue, length);
        if length == 1 {
            *allowance = self.quantum;
            self.join(queue);
        }
    }

    /// Puts a packet at the end of a queue that is not empty, in exchange for its head.
    pub(super) fn exchange(&mut self, queue: u32, item: I) -> Option<I> {
        self.backlog.add(item.cost());
        let packets = &mut self.queues[queue as usize].packets;
        self.before.note(self.slots.append(packets, item));
        let head = self.slots.take(packets)?;
        self.backlog.remove(head.cost());
        Some(head)
    }

    /// Takes a packet from the longest queue: its head, or its last. Of several as long the one that had
    /// another length last; but where all have one packet, the one whose turn is next.
    pub(super) fn take_from_longest(&mut self, head: bool) -> Option<(u32, I)> {
        let longest = self.lengths.newest_of_longest()?;
        let queue = if self.lengths.longest() == 1 { self.whose_turn() } else { longest };
        let packets = &mut self.queues[queue as usize].packets;
        let item = if head || packets.len() == 1 {
            self.slots.take(packets)
        } else {
            self.slots.take_last(packets, &self.before)
        }?;
        self.shorten(queue, item.cost());
        Some((queue, item))
    }

    /// Takes the packet whose turn it is. What it costs is read before it is taken, so that it is handed over in the
    /// pieces in which it lies.
    #[inline(always)]
    pub(super) fn next(&mut self, gate: &dyn Gate<I>) -> Option<(u32, Grant<I>)> {
        // Queues held back in a row, and queues visited in vain since the last rounds were skipped.
        let (mut held, mut in_vain) = (0, 0);
        while self.waiting > 0 {
            let queues = &mut self.queues[..];
            let at = queues[self.last as usize].next;
            let queue = &mut queues[at as usize];
            let first = self.slots.first(&mut queue.packets)?;
            let head = first.item()?;
            if !gate.permits(head) {
                held += 1;
            } else if queue.allowance <= 0 {
                queue.allowance += self.quantum;
                held = 0;
            } else {
                let quantum = head.cost();
                queue.allowance -= quantum.count().min(MOST) as i64;
                let item = first.take()?;
                self.shorten(at, quantum);
                return Some((at, Grant { item, quantum }));
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
        let mut gathered = Chain::default();
        for _ in 0..self.waiting {
            let at = self.whose_turn();
            self.last = at;
            self.slots.join(&mut gathered, self.queues[at as usize].packets);
        }
        self.queues.fill_with(Queue::default);
        self.lengths.clear();
        (self.waiting, self.backlog) = (0, Backlog::default());
        Gathered(gathered)
    }

    /// The first of the packets that were taken out; it may be appended anew.
    pub(super) fn next_of(&mut self, gathered: &mut Gathered) -> Option<I> {
        self.slots.take(&mut gathered.0)
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
    fn shorten(&mut self, queue: u32, cost: I::Cost) {
        self.backlog.remove(cost);
        let Queue { packets, next, .. } = &self.queues[queue as usize];
        self.lengths.shorter(queue, packets.len());
        if packets.len() == 0 {
            let next = *next;
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
        let head = self.slots.head(&queue.packets)?;
        gate.permits(head).then_some(queue.allowance)
    }
}

#[cfg(test)]
pub(super) mod oracle;
