//! What is measured for a discipline that controls itself, period by period; nothing for the others.

use super::cores::Open;
use super::requests::Slot;
use weir_core::pool::{Delays, Measured};
use weir_core::units::{Instant, Nanos};

/// The measurements.
#[derive(Debug)]
pub(super) struct Control {
    period: Nanos,
    /// When the period ends.
    ends: Instant,
    /// When something is to be done: the period ends, or the discipline wants to be asked whom it wakes.
    pub(super) next_at: Instant,
    /// Of services that begin in this period, and of grants whose overhead reaches beyond it.
    classes: Vec<Delays>,
    later: Vec<Delays>,
    /// What cores were busy in grants that are over, and what they had been at the beginning of the period.
    closed: Nanos,
    before: Nanos,
}

impl Control {
    pub(super) fn new(period: Nanos, classes: usize) -> Self {
        // A period of nothing would never end.
        let period = period.max(Nanos::ONE);
        let none = || vec![Delays::default(); classes];
        let ends = Instant::ZERO + period;
        let (closed, before) = (Nanos::ZERO, Nanos::ZERO);
        Self { period, ends, next_at: ends, classes: none(), later: none(), closed, before }
    }

    /// Whether the period ends.
    pub(super) fn ends(&self, now: Instant) -> bool {
        self.ends == now
    }

    /// The discipline wants to be asked then whom it wakes.
    pub(super) fn set_alarm(&mut self, at: Option<Instant>) {
        self.next_at = at.map_or(self.ends, |at| self.ends.min(at));
    }

    /// A grant that serves the request first is given: its service begins when overheads are over.
    #[inline]
    pub(super) fn begins(&mut self, request: &Slot) {
        let class = &mut self.classes[usize::from(request.class)];
        class.requests += 1;
        class.delay += request.began - request.arrived;
    }

    /// The grant is closed before the service has begun.
    pub(super) fn begins_not(&mut self, request: &Slot) {
        take(&mut self.classes[usize::from(request.class)], request);
    }

    /// A grant is over.
    #[inline]
    pub(super) fn was_busy(&mut self, span: Nanos) {
        self.closed += span;
    }

    /// Puts off a request whose service begins after the end of the period.
    pub(super) fn put_off(&mut self, request: &Slot) {
        take(&mut self.classes[usize::from(request.class)], request);
        let later = &mut self.later[usize::from(request.class)];
        later.requests += 1;
        later.delay += request.began - request.arrived;
    }

    /// What was measured in the period that ends.
    pub(super) fn measured<'c>(
        &mut self,
        now: Instant,
        open: impl Iterator<Item = &'c Open>,
        oldest: Option<Instant>,
    ) -> Measured<'_> {
        let busy = self.closed + open.map(|grant| now - grant.since).sum::<Nanos>();
        let in_period = busy - std::mem::replace(&mut self.before, busy);
        let oldest = oldest.map_or(Nanos::ZERO, |arrived| now - arrived);
        Measured { classes: &self.classes, oldest, busy: in_period }
    }

    /// The next period begins.
    pub(super) fn turn(&mut self) {
        self.ends = self.ends.after(self.period);
        std::mem::swap(&mut self.classes, &mut self.later);
        self.later.fill(Delays::default());
    }
}

/// Takes a request out of what was counted.
fn take(class: &mut Delays, request: &Slot) {
    class.requests -= 1;
    class.delay -= request.began - request.arrived;
}
