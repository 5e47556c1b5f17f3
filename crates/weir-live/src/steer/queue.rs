//! The queue of one processor as the loop knows it: open, draining or closed, its thread, and what was lost in it.
//!
//! Where the kernel does not report requests that found a queue full, they show as a difference: steered, not served, and
//! nothing waits. A queue whose counts stand still while its thread sleeps has nothing that waits.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Units | requests |

use std::io;

use weir_core::units::{Instant, Nanos};

use super::counts::ProcessorCounts;

/// How long after a decision what was sent by the one before is in its queue, at the latest: frames are handed over in
/// batches, at the end of the receiver's turn.
const SETTLED: Nanos = Nanos::new(40_000_000);

/// A queue.
#[derive(Debug, Default)]
pub(super) struct Queue {
    is_open: bool,
    /// Since when it gets no requests any more.
    draining: Option<Instant>,
    thread: Option<u32>,
    /// Whether that thread runs elsewhere than on its processor.
    astray: bool,
    priority: String,
    /// What was counted when it was checked last.
    seen: ProcessorCounts,
    /// Requests that were steered to it, and neither served nor counted as dropped.
    lost: u64,
    /// Whether it could not be made, which is said once.
    refused: bool,
}

impl Queue {
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether new requests may be sent to it.
    pub(super) fn takes(&self) -> bool {
        self.is_open && !self.astray
    }

    pub(super) fn is_draining(&self) -> bool {
        self.is_open && self.draining.is_some()
    }

    /// The kernel has made it.
    pub(super) fn open(&mut self) {
        let (seen, lost) = (self.seen, self.lost);
        *self = Self { is_open: true, seen, lost, ..Self::default() };
    }

    /// It gets requests, maybe again.
    pub(super) fn keep(&mut self) {
        if !self.astray {
            self.draining = None;
        }
    }

    /// Its thread runs elsewhere: it is to be closed before its processor serves again.
    pub(super) fn goes_astray(&mut self) {
        self.astray = true;
    }

    /// The kernel does not make it.
    pub(super) fn refused(&mut self, processor: u32, error: &io::Error) {
        if !self.refused {
            crate::daemon::log::warning(format_args!(
                "processor {processor}: its queue cannot be made: {error}; others serve, and it is tried again"
            ));
        }
        self.refused = true;
    }

    /// It gets no requests any more, from now on.
    pub(super) fn drain(&mut self, now: Instant) {
        if self.is_open {
            self.draining.get_or_insert(now);
        }
    }

    /// The kernel has removed it.
    pub(super) fn close(&mut self) {
        self.is_open = false;
        self.draining = None;
        self.thread = None;
        self.astray = false;
    }

    pub(super) fn thread(&self) -> Option<u32> {
        self.thread
    }

    pub(super) fn priority(&self) -> &str {
        if self.thread.is_some() { &self.priority } else { "unknown" }
    }

    pub(super) fn lacks_thread(&self) -> bool {
        self.is_open && self.thread.is_none()
    }

    pub(super) fn has_thread(&mut self, thread: u32, priority: String) {
        (self.thread, self.priority) = (Some(thread), priority);
    }

    /// Takes note of what was counted, while its thread slept or not.
    pub(super) fn look(&mut self, now: Instant, counts: &ProcessorCounts, sleeps: bool) {
        let stands = *counts == self.seen;
        let is_settled = self.draining.is_none_or(|since| since + SETTLED <= now);
        if stands && sleeps && is_settled {
            self.lost = counts.waiting();
        }
        // What was on its way is counted again once it is served.
        self.lost = self.lost.min(counts.waiting());
        self.seen = *counts;
    }

    /// Requests that nobody served, and of which nobody reported.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether it is to be checked again soon.
    pub(super) fn is_unsettled(&self) -> bool {
        self.is_draining() || self.lacks_thread()
    }

    /// Whether nothing comes and nothing waits any more.
    pub(super) fn is_drained(&self, now: Instant) -> bool {
        let is_settled = self.draining.is_some_and(|since| since + SETTLED <= now);
        self.is_open && is_settled && self.seen.waiting() <= self.lost
    }
}
