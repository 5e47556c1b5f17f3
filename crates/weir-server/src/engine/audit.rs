//! What a discipline must never do, and what always holds.
//!
//! Grants of requests that do not wait, and grants of busy cores, are looked for in every run, since the engine could not go on
//! from there. With verification, the books are compared after every event as well.

use super::Request;
use super::run::Engine;
use crate::record::Sink;
use weir_core::pool::{Pool, ServerId};
use weir_core::units::Instant;
use weir_lab::error::RunError;

impl<D: Pool<Request>, S: Sink> Engine<'_, D, S> {
    /// Something that must never be; the run ends.
    #[cold]
    pub(super) fn violated(&mut self, now: Instant, reason: String) {
        let place = format!("`{}` at {}ns", self.discipline, now.get());
        self.failure.get_or_insert(RunError::Violated { place, reason });
    }

    /// Compares what discipline and engine know of what is there.
    pub(super) fn audit(&mut self, now: Instant) {
        self.left.checked += 1;
        let (told, waiting) = (self.pool.backlog().items, self.slots.waiting);
        if told != waiting {
            self.violated(now, format!("its backlog is of {told} requests, {waiting} wait"));
        }
        let lengths: Option<u64> = (0..self.cores.open.len() as u32)
            .map(|core| self.pool.length(ServerId(core)).map(u64::from))
            .sum();
        let there = waiting + self.cores.open.iter().flatten().count() as u64;
        if let Some(lengths) = lengths
            && lengths > there
        {
            self.violated(now, format!("{lengths} requests are at its cores, only {there} are there"));
        }
    }

    /// Whether all requests have left, each once.
    pub(super) fn audit_end(&mut self, now: Instant) {
        let left = self.left;
        let (held, busy) = (self.slots.held(), self.cores.open.iter().flatten().count());
        if left.offered != left.done + left.dropped || held != 0 || busy != 0 {
            let reason = format!(
                "{} requests arrived, {} are done, {} dropped and {held} there; {busy} cores are busy",
                left.offered, left.done, left.dropped
            );
            self.violated(now, reason);
        }
    }
}
