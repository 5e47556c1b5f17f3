//! The arithmetic of one server: budget, deadline, wake-up, replenishment.
//!
//! Budgets are counted in 2^-62 ns, bandwidths in 2^-62ths of the processor, so that what a time of whole nanoseconds
//! takes of a budget, at any rate, is exact. Bandwidths are rounded down: in a sum of all there can be, more than the
//! processor goes unnoticed up to 2^-46 of it. Deadlines beyond 2^64 ns, 584 years, count as that.

use crate::units::Nanos;

const FRACTION_BITS: u32 = 62;
/// The whole processor, as a bandwidth; a nanosecond, as a budget.
pub(super) const ONE: u128 = 1 << FRACTION_BITS;

/// What a process is promised: a time in every period. Nothing if the need is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Promise {
    pub(super) need: Nanos,
    pub(super) period: Nanos,
}

impl Promise {
    /// The part of `period` that `need` is of `epoch`, rounded down, but not to nothing.
    pub(super) fn of(need: Nanos, epoch: Nanos, period: Nanos) -> Self {
        let part = u128::from(need.get()) * u128::from(period.get()) / u128::from(epoch.get().max(1));
        let part = u64::try_from(part).unwrap_or(u64::MAX).max(u64::from(need > Nanos::new(0)));
        Self { need: Nanos::new(part), period }
    }

    pub(super) fn is_none(self) -> bool {
        self.need.get() == 0
    }

    pub(super) fn bandwidth(self) -> u128 {
        (u128::from(self.need.get()) << FRACTION_BITS) / u128::from(self.period.get().max(1))
    }

    fn budget(self) -> i128 {
        i128::from(self.need.get()) << FRACTION_BITS
    }
}

/// What is promised together by this bandwidth, in a period; rounded up.
pub(super) fn committed(bandwidth: u128, period: Nanos) -> Nanos {
    let whole = bandwidth.saturating_mul(u128::from(period.get())).div_ceil(ONE);
    Nanos::new(u64::try_from(whole).unwrap_or(u64::MAX))
}

/// A server with its budget until its deadline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Server {
    /// What its budget and deadline come from.
    promise: Promise,
    /// What they come from next.
    next: Promise,
    /// Below zero where it was overrun.
    budget: i128,
    deadline: u64,
}

impl Server {
    pub(super) fn of(promise: Promise) -> Self {
        Self { promise, next: promise, budget: 0, deadline: 0 }
    }

    /// With the next budget, this is what comes from it.
    pub(super) fn declare(&mut self, next: Promise) {
        self.next = next;
    }

    pub(super) fn promise(&self) -> Promise {
        self.promise
    }

    pub(super) fn declared(&self) -> Promise {
        self.next
    }

    /// Whether its budget is not yet one of what was declared last.
    pub(super) fn is_outdated(&self) -> bool {
        self.promise != self.next
    }

    pub(super) fn deadline(&self) -> u64 {
        self.deadline
    }

    /// Whether there is less than a nanosecond of its budget.
    #[inline]
    pub(super) fn is_exhausted(&self) -> bool {
        self.budget < ONE as i128
    }

    /// How long its budget lasts at this rate of the clock, in whole nanoseconds.
    #[inline]
    pub(super) fn lasts(&self, rate: u128) -> Nanos {
        let span = self.budget.max(0).unsigned_abs() / rate.max(1);
        Nanos::new(u64::try_from(span).unwrap_or(u64::MAX))
    }

    /// It has run for this long, at this rate; returns what that took of its budget.
    #[inline]
    pub(super) fn consume(&mut self, used: Nanos, rate: u128) -> u128 {
        let consumed = u128::from(used.get()) * rate;
        self.budget = self.budget.saturating_sub_unsigned(consumed);
        consumed
    }

    /// Its process waits: of its budget whole nanoseconds are kept.
    #[inline]
    pub(super) fn rest(&mut self) {
        self.budget &= !(ONE as i128 - 1);
    }

    /// Its process wakes. What is left of the budget is kept with the deadline, unless it could not be used up until
    /// then without more than the bandwidth.
    #[inline]
    pub(super) fn wake(&mut self, now: u64) {
        let until = i128::from(self.deadline.saturating_sub(now));
        let budget = self.budget >> FRACTION_BITS;
        let Promise { need, period } = self.promise;
        if until == 0 || budget * i128::from(period.get()) >= until * i128::from(need.get()) {
            self.begin(now);
        }
    }

    /// The next period, at the end of the last one. A budget that was overrun is made up for out of the next, and the
    /// deadline comes later by as many periods as that takes; one that is over already begins now.
    pub(super) fn replenish(&mut self, now: u64) {
        if self.promise != self.next || self.promise.is_none() {
            return self.begin(now);
        }
        let budget = self.promise.budget();
        let periods = self.budget.min(0).saturating_neg() / budget + 1;
        self.budget = self.budget.saturating_add(periods.saturating_mul(budget)).min(budget);
        let span = periods.saturating_mul(self.promise.period.get().into());
        self.deadline = self.deadline.saturating_add(u64::try_from(span).unwrap_or(u64::MAX));
        if self.deadline <= now {
            self.begin(now);
        }
    }

    /// A whole budget for the period that begins now.
    fn begin(&mut self, now: u64) {
        self.promise = self.next;
        self.budget = self.promise.budget();
        self.deadline = now.saturating_add(self.promise.period.get());
    }

    /// When its process, which waits, has no more than its bandwidth behind it: until then it counts as active, and
    /// from then on a wake-up begins a period.
    #[inline]
    pub(super) fn zero_lag(&self) -> u64 {
        let Promise { need, period } = self.promise;
        let budget = (self.budget >> FRACTION_BITS).max(0).unsigned_abs();
        let span = budget * u128::from(period.get()) / u128::from(need.get().max(1));
        self.deadline.saturating_sub(u64::try_from(span).unwrap_or(u64::MAX))
    }
}
