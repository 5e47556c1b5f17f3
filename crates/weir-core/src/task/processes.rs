//! The processes of a discipline: what each keeps, its readiness while it waits for the processor, and queues of them.
//!
//! A process stands in at most one queue, linked through the table; so queues are joined in one step, and nothing is
//! allocated once every process has been seen. O(1) for every operation.

use crate::discipline::{Backlog, DropReason, Drops};
use crate::item::{FlowId, Item};
use crate::units::Nanos;

/// The most processes of a discipline.
pub const MAX_PROCESSES: u32 = 1 << 18;

/// No process.
pub(super) const NOBODY: u32 = u32::MAX;

/// A process, in cache lines of its own.
#[repr(align(64))]
struct Entry<I, S> {
    /// Its readiness, while it waits for the processor.
    ready: Option<I>,
    /// Who comes after it in its queue.
    next: u32,
    /// What the discipline keeps of it.
    state: S,
}

/// All processes, by number.
pub(super) struct Processes<I, S> {
    entries: Vec<Entry<I, S>>,
    waiting: u64,
}

impl<I: Item<Cost = Nanos>, S> Processes<I, S> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), waiting: 0 }
    }

    /// Whether the process has a place, which it is given if it lacks one and its number allows it.
    #[inline]
    pub(super) fn admit(&mut self, process: FlowId, make: impl FnMut() -> S) -> bool {
        (process.0 as usize) < self.entries.len() || self.grow(process, make)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, process: FlowId, mut make: impl FnMut() -> S) -> bool {
        if process.0 >= MAX_PROCESSES {
            return false;
        }
        let make = || Entry { ready: None, next: NOBODY, state: make() };
        self.entries.resize_with(process.0 as usize + 1, make);
        true
    }

    /// Keeps the readiness of a process that has none; of one that is ready already it is dropped.
    #[inline]
    pub(super) fn keep(&mut self, item: I, drops: &mut dyn Drops<I>) -> bool {
        let entry = &mut self.entries[item.flow().0 as usize];
        if entry.ready.is_some() {
            drops.dropped(item, DropReason::AlreadyReady);
            return false;
        }
        entry.ready = Some(item);
        self.waiting += 1;
        true
    }

    /// Keeps the readiness of a process, which is given a place if it lacks one. It is dropped if there is none for it,
    /// or if the process is ready already or the one that runs.
    #[inline]
    pub(super) fn accept(
        &mut self,
        item: I,
        running: Option<u32>,
        make: impl FnMut() -> S,
        drops: &mut dyn Drops<I>,
    ) -> bool {
        let process = item.flow();
        if !self.admit(process, make) {
            drops.dropped(item, DropReason::Unclassified);
            return false;
        }
        if running == Some(process.0) {
            drops.dropped(item, DropReason::AlreadyReady);
            return false;
        }
        self.keep(item, drops)
    }

    /// Whether a process waits for the processor.
    #[inline]
    pub(super) fn is_ready(&self, process: u32) -> bool {
        self.entries.get(process as usize).is_some_and(|entry| entry.ready.is_some())
    }

    /// Takes the readiness of a process.
    #[inline]
    pub(super) fn take(&mut self, process: u32) -> Option<I> {
        let item = self.entries[process as usize].ready.take();
        self.waiting -= u64::from(item.is_some());
        item
    }

    /// Whether the process is known, and is neither ready nor the one that runs.
    pub(super) fn waits(&self, process: u32, running: Option<u32>) -> bool {
        self.get(process).is_some() && !self.is_ready(process) && running != Some(process)
    }

    #[inline]
    pub(super) fn get(&self, process: u32) -> Option<&S> {
        self.entries.get(process as usize).map(|entry| &entry.state)
    }

    #[inline]
    pub(super) fn state(&self, process: u32) -> &S {
        &self.entries[process as usize].state
    }

    #[inline]
    pub(super) fn state_mut(&mut self, process: u32) -> &mut S {
        &mut self.entries[process as usize].state
    }

    pub(super) fn states(&self) -> impl Iterator<Item = &S> {
        self.entries.iter().map(|entry| &entry.state)
    }

    #[inline]
    pub(super) fn backlog(&self) -> Backlog<Nanos> {
        Backlog { items: self.waiting, cost: Nanos::new(0) }
    }
}

/// A queue of processes; which they are stands in their table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    head: u32,
    tail: u32,
}

impl Queue {
    pub(super) const EMPTY: Self = Self { head: NOBODY, tail: NOBODY };

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.head == NOBODY
    }

    /// Whether one process stands in it, of a queue that is not empty.
    #[inline]
    pub(super) fn holds_one(self) -> bool {
        self.head == self.tail
    }

    #[inline]
    pub(super) fn head(self) -> Option<u32> {
        (self.head != NOBODY).then_some(self.head)
    }

    #[inline]
    pub(super) fn push_back<I, S>(&mut self, processes: &mut Processes<I, S>, process: u32) {
        // Without a branch: whether a queue is empty is as good as random.
        let is_empty = self.is_empty();
        let before = if is_empty { process } else { self.tail };
        processes.entries[before as usize].next = process;
        processes.entries[process as usize].next = NOBODY;
        self.head = if is_empty { process } else { self.head };
        self.tail = process;
    }

    #[inline]
    pub(super) fn push_front<I, S>(&mut self, processes: &mut Processes<I, S>, process: u32) {
        processes.entries[process as usize].next = self.head;
        if self.head == NOBODY {
            self.tail = process;
        }
        self.head = process;
    }

    #[inline]
    pub(super) fn pop_front<I, S>(&mut self, processes: &Processes<I, S>) -> Option<u32> {
        let process = self.head()?;
        self.head = processes.entries[process as usize].next;
        Some(process)
    }

    /// Puts all of `other` behind its own.
    #[inline]
    pub(super) fn append<I, S>(&mut self, processes: &mut Processes<I, S>, other: Self) {
        if self.is_empty() {
            *self = other;
        } else if let Some(first) = other.head() {
            processes.entries[self.tail as usize].next = first;
            self.tail = other.tail;
        }
    }
}
