//! The books of time: who is reported to have had the processor, so that no time crosses the end of an epoch.
//!
//! Time is reported where a process is left, and before that only where an epoch ends. What an interrupt takes is
//! reported in advance; the part of it beyond the next boundary (the end of the epoch, or of the run, or a comparison
//! of nodes) is put off until there.

use crate::engine::process::Process;
use crate::engine::world::{NOBODY, at};
use crate::record::Sink;
use weir_core::units::Instant;

/// Who had a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// A process, and the level that it ran on.
    Process(u32, Option<i8>),
    Idle,
    /// Busy for nobody.
    Overhead,
}

impl Who {
    /// Who has the processor while nothing interrupts it.
    #[inline]
    pub(super) fn runs(running: u32, level: Option<i8>) -> Self {
        if running == NOBODY { Self::Idle } else { Self::Process(running, level) }
    }
}

/// Somebody, or nobody, had the processor of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Had {
    pub(super) node: u32,
    pub(super) who: Who,
    pub(super) from: u64,
    pub(super) until: u64,
}

/// A process is started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) node: u32,
    pub(super) process: u32,
    pub(super) at: u64,
    /// When it became ready, if it has not run since.
    pub(super) woke: Option<Instant>,
}

/// What is reported once the boundary is passed.
#[derive(Clone, Copy, Debug)]
enum PutOff {
    Had(Had),
    Started(Start),
}

/// Who gets the reports, what is put off, and until when.
pub(super) struct Books<'a, S> {
    pub(super) sink: &'a mut S,
    /// No time is reported across it.
    pub(super) boundary: u64,
    put_off: Vec<PutOff>,
    /// Room for what is put off next.
    spare: Vec<PutOff>,
}

impl<'a, S: Sink> Books<'a, S> {
    pub(super) fn new(sink: &'a mut S) -> Self {
        Self { sink, boundary: 0, put_off: Vec::new(), spare: Vec::new() }
    }

    /// Tells who had the processor of a node.
    #[inline]
    pub(super) fn had(&mut self, processes: &mut [Process], had: Had) {
        if had.until <= self.boundary {
            self.tell(processes, had);
        } else {
            self.put_off(processes, had);
        }
    }

    #[cold]
    #[inline(never)]
    fn put_off(&mut self, processes: &mut [Process], had: Had) {
        let boundary = self.boundary.max(had.from);
        self.tell(processes, Had { until: boundary, ..had });
        self.put_off.push(PutOff::Had(Had { from: boundary, ..had }));
    }

    #[inline]
    fn tell(&mut self, processes: &mut [Process], Had { node, who, from, until }: Had) {
        if from == until {
            return;
        }
        let (node, span) = (node as usize, until - from);
        let (from, until) = (at(from), at(until));
        match who {
            Who::Process(process, level) => {
                processes[process as usize].recent += span;
                self.sink.ran(node, process as usize, level, from, until);
            }
            Who::Idle => self.sink.nobody(node, false, from, until),
            Who::Overhead => self.sink.nobody(node, true, from, until),
        }
    }

    /// Tells that a process is started.
    #[inline]
    pub(super) fn started(&mut self, start: Start) {
        if start.at < self.boundary {
            self.sink.dispatched(start.node as usize, start.process as usize, at(start.at), start.woke);
        } else {
            self.put_off.push(PutOff::Started(start));
        }
    }

    /// The boundary was passed, and is here now: tells what was put off until then.
    pub(super) fn pass_boundary(&mut self, processes: &mut [Process], boundary: u64) {
        self.boundary = boundary;
        let room = std::mem::take(&mut self.spare);
        let mut all = std::mem::replace(&mut self.put_off, room);
        for put_off in all.drain(..) {
            match put_off {
                PutOff::Had(had) => self.had(processes, had),
                PutOff::Started(start) => self.started(start),
            }
        }
        self.spare = all;
    }
}
