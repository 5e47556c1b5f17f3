//! The books of time: who is told to have had the processor, so that no time crosses the end of an epoch.
//!
//! Time is told where a process is left, and before that only where an epoch ends. What an interrupt takes is told in
//! advance; the part of it beyond the next boundary (the end of the epoch, or of the run, or a comparison of
//! nodes) is put off until there.

use weir_core::units::Instant;

use crate::engine::world::{NOBODY, World, at};
use crate::record::Sink;

/// Who had a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// A process, and the level that it ran on.
    Process(u32, Option<i8>),
    Idle,
    /// Busy for nobody.
    Overhead,
}

/// What is told once the boundary is passed.
#[derive(Clone, Copy, Debug)]
enum PutOff {
    Had { node: u32, who: Who, from: u64, until: u64 },
    Started { node: u32, process: u32, at: u64, woke: Option<Instant> },
}

/// What is put off, and until when.
#[derive(Debug, Default)]
pub(super) struct Books {
    /// No time is told across it.
    pub(super) boundary: u64,
    put_off: Vec<PutOff>,
    /// Room for what is put off next.
    spare: Vec<PutOff>,
}

impl<S: Sink, const V: bool> World<'_, S, V> {
    /// Tells who had the processor of a node.
    #[inline]
    pub(super) fn had(&mut self, node: u32, who: Who, from: u64, until: u64) {
        if V {
            self.audit_time(node, who, from, until);
        }
        self.had_or_put_off(node, who, from, until);
    }

    #[inline]
    fn had_or_put_off(&mut self, node: u32, who: Who, from: u64, until: u64) {
        if until <= self.books.boundary {
            self.tell(node, who, from, until);
        } else {
            self.put_off(node, who, from, until);
        }
    }

    #[cold]
    #[inline(never)]
    fn put_off(&mut self, node: u32, who: Who, from: u64, until: u64) {
        let boundary = self.books.boundary.max(from);
        self.tell(node, who, from, boundary);
        self.books.put_off.push(PutOff::Had { node, who, from: boundary, until });
    }

    #[inline]
    fn tell(&mut self, node: u32, who: Who, from: u64, until: u64) {
        if from == until {
            return;
        }
        match who {
            Who::Process(process, level) => {
                self.processes[process as usize].recent += until - from;
                self.sink.ran(node as usize, process as usize, level, at(from), at(until));
            }
            Who::Idle => self.sink.nobody(node as usize, false, at(from), at(until)),
            Who::Overhead => self.sink.nobody(node as usize, true, at(from), at(until)),
        }
    }

    /// Tells that a process is started.
    #[inline]
    pub(super) fn started(&mut self, node: u32, process: u32, moment: u64, woke: Option<Instant>) {
        if moment < self.books.boundary {
            self.sink.dispatched(node as usize, process as usize, at(moment), woke);
        } else {
            self.books.put_off.push(PutOff::Started { node, process, at: moment, woke });
        }
    }

    /// The boundary was passed, and is here now: tells what was put off until then.
    pub(super) fn pass_boundary(&mut self, boundary: u64) {
        self.books.boundary = boundary;
        let room = std::mem::take(&mut self.books.spare);
        let mut all = std::mem::replace(&mut self.books.put_off, room);
        for put_off in all.drain(..) {
            match put_off {
                PutOff::Had { node, who, from, until } => self.had_or_put_off(node, who, from, until),
                PutOff::Started { node, process, at, woke } => self.started(node, process, at, woke),
            }
        }
        self.books.spare = all;
    }
}

/// Who has the processor while nothing interrupts it.
#[inline]
pub(super) fn who(running: u32, level: Option<i8>) -> Who {
    if running == NOBODY { Who::Idle } else { Who::Process(running, level) }
}
