//! The two round robins, one packet per turn.
//!
//! Every entry, of a newcomer or of a message put back, takes the next slot of a list, and RR serves slot
//! after slot: slot p at tick p. A message arriving during a transmission comes after the entry put back at
//! its start. RR' keeps newcomers in a list of their own, served first.
//!
//! An entry is the class and the packets left. Messages of one class keep their order (the earlier one has
//! each of its turns first), so the n-th to complete of a class is its n-th to arrive. Nothing branches on
//! the data: an entry is always written back one packet shorter, and counted only if a packet is left.

use super::queues::Queues;
use super::tally::Probe;
use crate::timeline::Segment;

/// Entries in order; those before `front` are gone.
#[derive(Clone, Debug, Default)]
struct List {
    slots: Vec<u64>,
    front: usize,
    back: usize,
}

impl List {
    /// Makes room for `more` entries and one slot beyond them.
    fn reserve(&mut self, more: usize) {
        let held = self.back - self.front;
        if self.front > held {
            self.slots.copy_within(self.front..self.back, 0);
            (self.front, self.back) = (0, held);
        }
        let needed = self.back + more + 1;
        if self.slots.len() < needed {
            self.slots.resize(needed + needed / 2, 0);
        }
    }
}

/// Round robin over the shared timeline; newcomers go to the head if `FRESH_FIRST` (RR'), else to the end.
#[derive(Clone, Debug)]
pub(super) struct RoundRobin<const FRESH_FIRST: bool> {
    pub(super) strategy: usize,
    /// Messages of each class completed, and their latencies.
    pub(super) count: Vec<u64>,
    pub(super) sum: Vec<u128>,
    list: List,
    fresh: List,
    /// Class and tick of each completion of the segment.
    done: Vec<(u32, u32)>,
}

impl<const FRESH_FIRST: bool> RoundRobin<FRESH_FIRST> {
    pub(super) fn new(strategy: usize, classes: usize) -> Self {
        Self {
            strategy,
            count: vec![0; classes],
            sum: vec![0; classes],
            list: List::default(),
            fresh: List::default(),
            done: Vec::new(),
        }
    }

    #[inline(always)]
    pub(super) fn play<P: Probe>(&mut self, queues: &Queues, segment: &Segment<'_>, probe: &mut P) {
        let (messages, ticks) = (segment.at.len(), segment.accepted.len());
        self.list.reserve(messages + ticks);
        self.fresh.reserve(messages);
        if self.done.len() <= ticks {
            self.done.resize(ticks + 1, (0, 0));
        }
        let completed = self.serve(segment, probe);
        for &(class, tick) in &self.done[..completed] {
            let class = class as usize;
            let entry = queues.entry(class, self.count[class]);
            let latency = segment.accepted[tick as usize] - entry.at;
            self.count[class] += 1;
            self.sum[class] += u128::from(latency);
            probe.completed(self.strategy, class, latency);
        }
    }

    /// Runs through the ticks and newcomers of the segment; returns the number of completions.
    #[inline(always)]
    fn serve<P: Probe>(&mut self, segment: &Segment<'_>, probe: &mut P) -> usize {
        let List { slots, mut front, mut back } = core::mem::take(&mut self.list);
        let List { slots: fresh, front: mut fresh_front, back: mut fresh_back } =
            core::mem::take(&mut self.fresh);
        let (mut slots, mut fresh) = (slots, fresh);
        let done = &mut self.done[..];
        let (mut tick, mut completed) = (segment.first_tick, 0);
        for i in 0..=segment.at.len() {
            let until = segment.tick.get(i).copied().unwrap_or(segment.end_tick);
            for now in (tick - segment.first_tick) as u32..(until - segment.first_tick) as u32 {
                let is_fresh = FRESH_FIRST && fresh_front < fresh_back;
                let entry = if is_fresh { fresh[fresh_front] } else { slots[front] };
                fresh_front += usize::from(is_fresh);
                front += usize::from(!is_fresh);
                let remaining = entry as u32;
                if P::DECISIONS {
                    let now = segment.first_tick + u64::from(now);
                    probe.served(self.strategy, now, (entry >> 32) as usize, u64::from(remaining), 1);
                }
                slots[back] = entry.wrapping_sub(1);
                back += usize::from(remaining != 1);
                done[completed] = ((entry >> 32) as u32, now);
                completed += usize::from(remaining == 1);
            }
            tick = until;
            if i < segment.at.len() {
                let entry = u64::from(segment.class[i]) << 32 | u64::from(segment.length[i]);
                if FRESH_FIRST {
                    fresh[fresh_back] = entry;
                    fresh_back += 1;
                } else {
                    slots[back] = entry;
                    back += 1;
                }
            }
        }
        self.list = List { slots, front, back };
        self.fresh = List { slots: fresh, front: fresh_front, back: fresh_back };
        completed
    }

    /// Packets still held: those left of every entry.
    pub(super) fn held(&self) -> u64 {
        let left = |list: &List| -> u64 {
            list.slots[list.front..list.back].iter().map(|&entry| u64::from(entry as u32)).sum()
        };
        left(&self.list) + left(&self.fresh)
    }
}
