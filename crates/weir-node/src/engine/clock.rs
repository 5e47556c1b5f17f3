//! How far a replication is, and whether anything in it can still move.

use crate::engine::process::Process;
use crate::engine::timer::Due;

/// The most operations and decisions at one instant; a program that does more comes to no end.
pub(super) const MOST_AT_ONCE: u64 = 1_000_000;

/// Epochs, instants, and the order of what is asked for.
#[derive(Debug)]
pub(super) struct Clock {
    /// The number of the epoch, and its beginning.
    pub(super) epoch: u64,
    pub(super) epoch_start: u64,
    /// How many things were asked of timers and switch so far.
    asked: u64,
    /// The last instant, and how much may still happen at it.
    instant: u64,
    budget: u64,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { epoch: 0, epoch_start: 0, asked: 0, instant: 0, budget: MOST_AT_ONCE }
    }

    /// An epoch begins.
    pub(super) fn turn(&mut self, now: u64) {
        self.epoch += 1;
        self.epoch_start = now;
    }

    /// What is asked of a timer or the switch for `at`: behind all that was asked before.
    #[inline]
    pub(super) fn due(&mut self, at: u64) -> Due {
        self.asked += 1;
        Due { at, number: self.asked }
    }

    /// Whether more may happen at `now`; `false` where a program, or a discipline, comes to no end.
    #[inline]
    pub(super) fn may_go_on(&mut self, now: u64) -> bool {
        if self.instant != now {
            (self.instant, self.budget) = (now, MOST_AT_ONCE);
        }
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }
}

/// Processes that have not ended, and what may still move them. The system's are left out: they never come to rest.
#[derive(Debug)]
pub(super) struct Life {
    alive: u64,
    /// Processes that are ready, what timers hold of them, and all that is under way over the switch.
    active: u64,
}

impl Life {
    pub(super) fn new(processes: &[Process]) -> Self {
        Self { alive: processes.iter().filter(|process| !process.system).count() as u64, active: 0 }
    }

    /// A process becomes ready, or a timer holds something of it.
    #[inline]
    pub(super) fn begins(&mut self, process: &Process) {
        self.active += u64::from(!process.system);
    }

    /// It is ready no more, or the timer has given it back.
    #[inline]
    pub(super) fn rests(&mut self, process: &Process) {
        self.active -= u64::from(!process.system);
    }

    pub(super) fn sends(&mut self) {
        self.active += 1;
    }

    pub(super) fn delivers(&mut self) {
        self.active -= 1;
    }

    pub(super) fn ends(&mut self, process: &Process) {
        self.alive -= u64::from(!process.system);
    }

    /// Some have not ended, and nothing can move any of them.
    #[inline]
    pub(super) fn is_stuck(&self) -> bool {
        self.active == 0 && self.alive > 0
    }
}
