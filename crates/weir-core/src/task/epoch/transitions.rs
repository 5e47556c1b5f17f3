//! The transitions of the state: an epoch begins, time is accounted, a slice is allocated or given back. The invariant
//! is checked after each of them in builds that check assertions.

use super::super::processes::{NOBODY, Queue};
use super::config::{Leftover, Returning};
use super::process::{NEVER, Process};
use super::{Epoch, LEVELS, NORMAL, signed};
use crate::item::Item;
use crate::units::Nanos;

impl<I: Item<Cost = Nanos>> Epoch<I> {
    /// The process with what it is owed in this epoch.
    #[inline]
    pub(super) fn renewed(&mut self, process: u32) -> &mut Process {
        let (epoch, leftover) = (self.epoch, self.config.leftover);
        let state = self.processes.state_mut(process);
        if state.renewed != epoch {
            (state.rem, state.u, state.low, state.renewed) = (state.need_in(epoch), 0, false, epoch);
            if leftover == Leftover::Keep && state.allocated != NEVER {
                state.allocated = epoch;
            }
        }
        state
    }

    /// Begins the epoch that `now` lies in, if it has not begun. The process of the open grant is charged before.
    #[inline]
    pub(super) fn turn(&mut self, now: i64) {
        if now >= self.epoch_end || !self.started {
            self.begin(now);
        }
    }

    /// Begins the epoch that `now` lies in, if it has begun before `now` and nobody runs. At the instant itself all that is
    /// due is posted first, and `dequeue` turns; of an open grant the engine is to give back the process first.
    #[inline]
    pub(super) fn turn_if_idle(&mut self, now: i64) {
        if self.running == NOBODY && (now > self.epoch_end || !self.started) {
            self.begin(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, now: i64) {
        self.epoch += u64::from(self.started);
        self.started = true;
        // Of a time at the end of the clock no epoch ends later than the clock.
        self.epoch_end = (now / self.config.length).saturating_add(1).saturating_mul(self.config.length);
        self.csp = self.epoch_end - self.committed;
        for level in 0..LEVELS / 2 {
            let low = core::mem::replace(&mut self.queues[level], Queue::EMPTY);
            let normal = &mut self.queues[level + usize::from(NORMAL)];
            let (first, second) = match self.config.returning {
                Returning::Behind => (*normal, low),
                Returning::Ahead => (low, *normal),
            };
            *normal = first;
            normal.append(&mut self.processes, second);
        }
        self.occupied = (self.occupied | self.occupied << NORMAL) & 0xF0;
        self.holds();
    }

    /// Charges what a process has used; returns whether so much of its slice is left that it keeps it when it is
    /// preempted. What is in excess of what is its own is paid out of uncommitted time, that is, `csp` stays.
    #[inline]
    pub(super) fn account(&mut self, process: u32, used: Nanos) -> bool {
        let preempt_left = self.config.preempt_left;
        let state = self.renewed(process);
        let own = state.account(signed(used));
        let keeps = state.teocs > preempt_left;
        self.csp += own;
        self.holds();
        keeps
    }

    /// Gives a process its next slice; what it has left of uncommitted time goes back before.
    #[inline]
    pub(super) fn allocate(&mut self, process: u32, now: i64) {
        let (epoch, csp, min_slice) = (self.epoch, self.csp, self.config.min_slice);
        let state = self.renewed(process);
        let csp = csp + state.u;
        state.allocate(epoch, csp.saturating_sub(now), min_slice);
        self.csp = csp - state.u;
        self.holds();
    }

    /// Gives back what a process has left of uncommitted time; its next dispatch allocates.
    #[inline]
    pub(super) fn release(&mut self, process: u32) {
        let state = self.renewed(process);
        state.allocated = NEVER;
        let back = core::mem::take(&mut state.u);
        self.csp += back;
        self.holds();
    }

    /// The level of the queue that a process is assigned to.
    #[inline]
    pub(super) fn level_of(&mut self, process: u32) -> u8 {
        let state = self.renewed(process);
        state.priority + if state.low { 0 } else { NORMAL }
    }

    #[inline]
    pub(super) fn join_tail(&mut self, process: u32) -> u8 {
        let level = self.level_of(process);
        self.queues[usize::from(level)].push_back(&mut self.processes, process);
        self.occupied |= 1 << level;
        level
    }

    #[inline]
    pub(super) fn join_head(&mut self, process: u32) {
        let level = self.level_of(process);
        self.queues[usize::from(level)].push_front(&mut self.processes, process);
        self.occupied |= 1 << level;
    }

    /// Takes the first process of the highest level.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u32, u8)> {
        let level = 7u8.checked_sub(self.occupied.leading_zeros() as u8)?;
        let queue = &mut self.queues[usize::from(level)];
        self.occupied &= !(u8::from(queue.holds_one()) << level);
        let process = queue.pop_front(&self.processes)?;
        Some((process, level))
    }

    /// The invariant, in builds that check.
    #[inline]
    pub(super) fn holds(&self) {
        debug_assert_eq!(self.imbalance(), 0, "csp + sum(rem + u) differs from the end of the epoch");
    }

    /// What `csp + sum(rem + u)` is beyond the end of the epoch: nothing, once an epoch has begun. The sum may pass the
    /// range of a number on its way; the difference does not.
    pub(super) fn imbalance(&self) -> i64 {
        if !self.started {
            return 0;
        }
        let owed = self.processes.states().map(|state| state.owed_in(self.epoch));
        owed.fold(self.csp.wrapping_sub(self.epoch_end), i64::wrapping_add)
    }
}
