//! The measured time of a replication: what counts of a span, and which instants.

use weir_core::units::{Instant, Nanos};

/// The measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// From when.
    pub from: u64,
    /// Until when; this instant is no part of it.
    pub until: u64,
}

impl Window {
    /// From the end of the warm-up to the end of a replication.
    #[must_use]
    pub fn new(warm_up: Nanos, duration: Nanos) -> Self {
        Self { from: warm_up.min(duration).get(), until: duration.get() }
    }

    /// How long it is.
    #[must_use]
    pub fn span(self) -> u64 {
        self.until - self.from
    }

    /// Whether an instant lies in it.
    #[inline]
    #[must_use]
    pub fn holds(self, at: u64) -> bool {
        at.wrapping_sub(self.from) < self.span()
    }

    /// How much of a span lies in it.
    #[inline]
    #[must_use]
    pub fn part(self, from: Instant, until: Instant) -> u64 {
        until.get().min(self.until).saturating_sub(from.get().max(self.from))
    }
}
