//! The measured time of a replication: what counts of a span, and which instants.

use weir_core::units::{Instant, Nanos};

/// The measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// From when.
    pub from: Instant,
    /// Until when; this instant is no part of it.
    pub until: Instant,
}

impl Window {
    /// From the end of the warm-up to the end of a replication.
    #[must_use]
    pub fn new(warm_up: Nanos, duration: Nanos) -> Self {
        let until = Instant::ZERO + duration;
        Self { from: until.min(Instant::ZERO + warm_up), until }
    }

    /// How long it is.
    #[must_use]
    pub fn span(self) -> Nanos {
        self.until - self.from
    }

    /// Whether an instant lies in it.
    #[inline]
    #[must_use]
    pub fn holds(self, at: Instant) -> bool {
        at.get().wrapping_sub(self.from.get()) < self.span().get()
    }

    /// How much of a span lies in it.
    #[inline]
    #[must_use]
    pub fn part(self, from: Instant, until: Instant) -> Nanos {
        until.min(self.until).since(from.max(self.from))
    }
}
