//! Sub-requests, and second copies of them: how many there were, how they ended, and what the cores did for them.
//!
//! | | |
//! |-|-|
//! | Work | O(1) a sub-request |
//! | Memory | three numbers a class |
//! | Units | nanoseconds |

use super::Collector;
use crate::record::{Ends, Part, Served, Sink};
use weir_core::units::{Instant, Nanos};

/// What was counted of sub-requests whose request arrived in the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartCounts {
    /// Those that were sent, second copies included.
    pub sent: u64,
    /// Of them, second copies.
    pub copies: u64,
    /// Those that were not served to their end, since they were not needed any more.
    pub cancelled: u64,
}

impl PartCounts {
    /// Counts what `other` has counted too.
    pub fn merge(&mut self, other: Self) {
        self.sent += other.sent;
        self.copies += other.copies;
        self.cancelled += other.cancelled;
    }
}

impl Collector {
    /// Counts a sub-request, which is in vain where it is not needed, or its client has given up by then.
    pub(super) fn count_part(&mut self, part: &Part) {
        let (from, until) = (self.window.from, self.window.until);
        let (class, served) = (usize::from(part.class), u128::from(part.served.get()));
        self.told.service += served;
        let reaches = |end| part.arrived < end && part.ended > end;
        if reaches(from) || reaches(until) {
            self.told.reaching += served;
        }
        let is_late = self.is_late(class, (part.ended - part.arrived).get());
        if part.ends != Ends::Answer || is_late {
            let spent = self.window.part(part.began, part.ended).min(part.served);
            self.told.late += u128::from(spent.get());
        }
        if self.window.holds(part.arrived) {
            self.told.counted += served;
            let counts = &mut self.classes[class].parts;
            counts.sent += 1;
            counts.copies += u64::from(part.is_copy);
            counts.cancelled += u64::from(part.ends == Ends::Cancelled);
        }
    }

    /// Counts sub-requests of one request that are all served and needed: at once, where all of it lies in the measured time and
    /// nobody gives up.
    #[inline(always)]
    pub(super) fn count_served(&mut self, class: u16, arrived: Instant, served: &[Served], last: Instant) {
        if !self.timeouts.is_empty() || arrived < self.window.from || last > self.window.until {
            return self.count_served_apart(class, arrived, served);
        }
        let mut work = 0;
        for each in served {
            work += each.service.get();
            self.cores[each.server as usize].busy += each.service.get();
        }
        self.told.busy += u128::from(work);
        self.told.service += u128::from(work);
        self.told.counted += u128::from(work);
        self.classes[usize::from(class)].parts.sent += served.len() as u64;
    }

    #[cold]
    fn count_served_apart(&mut self, class: u16, arrived: Instant, served: &[Served]) {
        for each in served {
            self.busy(each.server, each.began, each.ended(), Nanos::ZERO);
            self.count_part(&each.part(class, arrived, Ends::Answer));
        }
    }
}
