//! What epoch scheduling keeps of a process.

use super::super::{Declared, Used};
use crate::units::Nanos;

/// No epoch at all.
pub(super) const NEVER: u64 = u64::MAX;

/// What is kept of a process. Spans are signed, since a slice can be overrun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    /// What it is still owed in this epoch.
    pub(super) rem: i64,
    /// What is left of its slice.
    pub(super) teocs: i64,
    /// What of its slice was allocated out of uncommitted time and is not yet used.
    pub(super) u: i64,
    /// The epoch that `rem`, `u` and `low` are of.
    pub(super) renewed: u64,
    /// The epoch of its last allocation; its next dispatch in another one allocates.
    pub(super) allocated: u64,
    pub(super) slice: i64,
    pub(super) priority: u8,
    /// Whether it is assigned to its low queue.
    pub(super) low: bool,
    /// What it is promised from epoch `need_from` on, and before.
    pub(super) need: i64,
    pub(super) need_before: i64,
    pub(super) need_from: u64,
    pub(super) used: Used,
}

impl Process {
    /// A process of which nothing is known.
    pub(super) fn stranger(slice: i64) -> Self {
        Self {
            rem: 0,
            teocs: 0,
            u: 0,
            renewed: NEVER,
            allocated: NEVER,
            slice,
            priority: Declared::default().priority,
            low: false,
            need: 0,
            need_before: 0,
            need_from: 0,
            used: Used::default(),
        }
    }

    /// What it is promised in an epoch, this one or the next.
    #[inline]
    pub(super) fn need_in(&self, epoch: u64) -> i64 {
        if self.need_from <= epoch { self.need } else { self.need_before }
    }

    /// What of an epoch is its own: still owed, or allocated.
    #[inline]
    pub(super) fn owed_in(&self, epoch: u64) -> i64 {
        if self.renewed == epoch { self.rem + self.u } else { self.need_in(epoch) }
    }

    /// Charges what it has used: its need first, then what was allocated to it. Returns the sum of both; the excess is
    /// paid out of uncommitted time.
    #[inline]
    pub(super) fn account(&mut self, used: i64) -> i64 {
        self.teocs = self.teocs.saturating_sub(used);
        if self.low {
            self.used.windfall = plus(self.used.windfall, used);
            return 0;
        }
        let owed = used.min(self.rem);
        let allocated = (used - owed).min(self.u);
        self.rem -= owed;
        self.u -= allocated;
        self.used.need = plus(self.used.need, owed);
        self.used.uncommitted = plus(self.used.uncommitted, used - owed);
        owed + allocated
    }

    /// Gives it its next slice, where `uncommitted` is free with what it gives back. Whoever could run for less than
    /// is useful goes to its low queue.
    #[inline]
    pub(super) fn allocate(&mut self, epoch: u64, uncommitted: i64, min_slice: i64) {
        (self.u, self.allocated, self.teocs) = (0, epoch, self.slice);
        if self.low {
            return;
        }
        // Below nothing where more is promised than there is: it is owed its need all the same.
        let available = self.rem.saturating_add(uncommitted.max(0));
        if available < min_slice {
            self.low = true;
        } else {
            self.teocs = self.slice.min(available);
            self.u = (self.teocs - self.rem).max(0);
        }
    }
}

#[inline]
fn plus(sum: Nanos, more: i64) -> Nanos {
    Nanos::new(sum.get().saturating_add(more.unsigned_abs()))
}
