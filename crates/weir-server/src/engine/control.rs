//! What is measured for a discipline that controls itself, period by period; nothing for the others.

use weir_core::pool::{Delays, Measured};
use weir_core::units::{Instant, Nanos};

use super::cores::Open;
use super::requests::Slot;

/// The measurements.
#[derive(Debug)]
pub(super) struct Control {
    period: u64,
    /// When the period ends.
    ends: u64,
    /// When something is to be done: the period ends, or the discipline wants to be asked whom it wakes.
    pub(super) next_at: u64,
    /// Of services that begin in this period, and of grants whose overhead reaches beyond it.
    classes: Vec<Delays>,
    later: Vec<Delays>,
    /// What cores were busy in grants that are over, and what they had been at the beginning of the period.
    closed: u64,
    before: u64,
}

impl Control {
    pub(super) fn new(period: Nanos, classes: usize) -> Self {
        // A period of nothing would never end.
        let period = period.get().max(1);
        let none = || vec![Delays::default(); classes];
        let (ends, next_at) = (period, period);
        Self { period, ends, next_at, classes: none(), later: none(), closed: 0, before: 0 }
    }

    /// Whether the period ends.
    pub(super) fn ends(&self, now: u64) -> bool {
        self.ends == now
    }

    /// The discipline wants to be asked then whom it wakes.
    pub(super) fn set_alarm(&mut self, at: Option<Instant>) {
        self.next_at = at.map_or(self.ends, |at| self.ends.min(at.get()));
    }

    /// A grant that serves the request first is given: its service begins when overheads are over.
    #[inline]
    pub(super) fn begins(&mut self, request: &Slot) {
        let class = &mut self.classes[usize::from(request.class)];
        class.requests += 1;
        class.delay = Nanos::new(class.delay.get() + (request.began - request.arrived));
    }

    /// The grant is closed before the service has begun.
    pub(super) fn begins_not(&mut self, request: &Slot) {
        take(&mut self.classes[usize::from(request.class)], request);
    }

    /// A grant is over.
    #[inline]
    pub(super) fn was_busy(&mut self, span: u64) {
        self.closed += span;
    }

    /// Puts off a request whose service begins after the end of the period.
    pub(super) fn put_off(&mut self, request: &Slot) {
        take(&mut self.classes[usize::from(request.class)], request);
        let later = &mut self.later[usize::from(request.class)];
        later.requests += 1;
        later.delay = Nanos::new(later.delay.get() + (request.began - request.arrived));
    }

    /// What was measured in the period that ends.
    pub(super) fn measured<'c>(
        &mut self,
        now: u64,
        open: impl Iterator<Item = &'c Open>,
        oldest: Option<u64>,
    ) -> Measured<'_> {
        let busy = self.closed + open.map(|grant| now - grant.since).sum::<u64>();
        let in_period = busy - std::mem::replace(&mut self.before, busy);
        let oldest = Nanos::new(oldest.map_or(0, |arrived| now - arrived));
        Measured { classes: &self.classes, oldest, busy: Nanos::new(in_period) }
    }

    /// The next period begins.
    pub(super) fn turn(&mut self) {
        self.ends = self.ends.saturating_add(self.period);
        std::mem::swap(&mut self.classes, &mut self.later);
        self.later.fill(Delays::default());
    }
}

/// Takes a request out of what was counted.
fn take(class: &mut Delays, request: &Slot) {
    class.requests -= 1;
    class.delay = Nanos::new(class.delay.get() - (request.began - request.arrived));
}
