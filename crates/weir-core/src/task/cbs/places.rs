//! Where the processes are: ready with budget, throttled, in the background, or waiting.

use super::Cbs;
use super::server::{ONE, Promise, Server};
use crate::item::Item;
use crate::task::Used;
use crate::task::virtual_time::Rank;
use crate::units::{Cost, Nanos};

/// Where a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Not ready.
    Waits,
    /// Ready, with budget.
    Ready,
    /// Ready, without budget until its deadline.
    Throttled,
    /// Ready, without a need.
    Background,
    /// Granted.
    Runs,
}

/// What is kept of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    pub(super) server: Server,
    pub(super) place: Place,
    pub(super) slice: Nanos,
    /// What is left of its slice in the background.
    pub(super) left: Nanos,
    /// Whether it stands in the background queue, be it of old.
    pub(super) is_linked: bool,
    /// Whether it has an entry among the timers, and among those that fade.
    has_timer: bool,
    fades: bool,
    /// Its part of the active bandwidth.
    active: u128,
    /// Its part of what is promised, and whether that is more than it asks for, as its server still has it.
    promised: u128,
    lowers: bool,
    /// What it has run out of its budget, and what that took of it, in 2^-62 ns.
    ran: Nanos,
    consumed: u128,
    windfall: Nanos,
}

impl Process {
    pub(super) fn of(promise: Promise, slice: Nanos) -> Self {
        Self {
            server: Server::of(promise),
            place: Place::Waits,
            slice,
            left: slice,
            is_linked: false,
            has_timer: false,
            fades: false,
            active: 0,
            promised: 0,
            lowers: false,
            ran: Nanos::ZERO,
            consumed: 0,
            windfall: Nanos::ZERO,
        }
    }

    pub(super) fn promised(&self) -> u128 {
        self.promised
    }

    /// The bandwidth that its server has in any case: if it waits, until its zero-lag time.
    pub(super) fn holds(&self, now: u64) -> u128 {
        let is_over = self.place == Place::Waits && self.server.zero_lag() <= now;
        if is_over { 0 } else { self.server.promise().bandwidth() }
    }

    /// It has run for this long: out of its budget at this rate, or in the background.
    #[inline]
    pub(super) fn charge(&mut self, used: Nanos, rate: Option<u128>) {
        match rate {
            Some(rate) => {
                self.ran = self.ran.plus(used);
                self.consumed = self.consumed.saturating_add(self.server.consume(used, rate));
            }
            None => {
                self.windfall = self.windfall.plus(used);
                self.left = self.left.minus(used);
            }
        }
    }

    /// Whether it waits, and has bandwidth that it will not have for long if it goes on to.
    #[inline]
    fn is_to_fade(&self) -> bool {
        self.place == Place::Waits && (self.active != 0 || self.lowers)
    }

    pub(super) fn used(&self) -> Used {
        let need = Nanos::new(u64::try_from(self.consumed / ONE).unwrap_or(u64::MAX));
        Used { need, uncommitted: self.ran.minus(need), windfall: self.windfall }
    }
}

impl<I: Item<Cost = Nanos>> Cbs<I> {
    /// A process that is ready goes where it belongs; in the background to the head, if it is to be first there and has
    /// some of its slice left.
    #[inline]
    pub(super) fn place(&mut self, process: u32, now: u64, first: bool) {
        let state = self.processes.state_mut(process);
        if state.server.is_exhausted() && state.server.deadline() <= now {
            state.server.replenish(now);
        }
        let server = state.server;
        if state.lowers && !server.is_outdated() {
            self.count_promised(process, now);
        }
        let state = self.processes.state_mut(process);
        if server.promise().is_none() {
            state.place = Place::Background;
            self.set_active(process, false);
            self.link(process, first);
        } else if !server.is_exhausted() {
            state.place = Place::Ready;
            self.set_active(process, true);
            self.ready.push(Rank::new(server.deadline().into(), process), ());
        } else {
            state.place = Place::Throttled;
            self.set_active(process, true);
            self.set_timer(process);
            if self.throttled_run {
                self.link(process, first);
            }
        }
    }

    /// The process waits from now on.
    #[inline]
    pub(super) fn depart(&mut self, process: u32, now: u64) {
        let state = self.processes.state_mut(process);
        state.place = Place::Waits;
        state.server.rest();
        self.fade(process, now);
        self.tidy();
    }

    /// All that is due: who is throttled until now has budget again, and bandwidth that fades is no longer active.
    #[inline]
    pub(super) fn advance(&mut self, now: u64) {
        while let Some((rank, ())) = self.timers.peek()
            && rank.moment() <= now.into()
        {
            self.timers.pop();
            let state = self.processes.state_mut(rank.process());
            state.has_timer = false;
            if state.place == Place::Throttled {
                self.place(rank.process(), now, true);
            }
        }
        self.forget(now);
        self.tidy();
    }

    /// Bandwidth that fades until now is no longer active, nor promised to who has given it back.
    #[inline]
    pub(super) fn forget(&mut self, now: u64) {
        while let Some((rank, ())) = self.fading.peek()
            && rank.moment() <= now.into()
        {
            self.fading.pop();
            self.processes.state_mut(rank.process()).fades = false;
            self.fade(rank.process(), now);
        }
    }

    /// A process is promised this with its next budget.
    pub(super) fn promise(&mut self, process: u32, promise: Promise, now: u64) {
        self.processes.state_mut(process).server.declare(promise);
        self.count_promised(process, now);
        self.fade(process, now);
        self.tidy();
    }

    /// Counts as promised to a process what it asks for, or what its server still has, if that is more.
    fn count_promised(&mut self, process: u32, now: u64) {
        let state = self.processes.state_mut(process);
        let declared = state.server.declared().bandwidth();
        let part = declared.max(state.holds(now));
        self.promised = self.promised - state.promised + part;
        (state.promised, state.lowers) = (part, part > declared);
    }

    /// Counts the bandwidth of a process as active, or not.
    #[inline]
    pub(super) fn set_active(&mut self, process: u32, is_active: bool) {
        if self.reclaims {
            let state = self.processes.state_mut(process);
            let bandwidth = if is_active { state.server.promise().bandwidth() } else { 0 };
            self.active = self.active - state.active + bandwidth;
            state.active = bandwidth;
        }
    }

    /// The bandwidth of a process that waits is active until its zero-lag time, and what it gives back promised to it.
    #[inline]
    fn fade(&mut self, process: u32, now: u64) {
        let state = self.processes.state_mut(process);
        if !state.is_to_fade() {
            return;
        }
        let until = state.server.zero_lag();
        if until <= now {
            if state.lowers {
                self.count_promised(process, now);
            }
            self.set_active(process, false);
        } else if !state.fades {
            // The time of an entry that exists already is earlier; the entry is then examined again.
            state.fades = true;
            self.fading.push(Rank::new(until.into(), process), ());
        }
    }

    fn set_timer(&mut self, process: u32) {
        let state = self.processes.state_mut(process);
        if !state.has_timer {
            state.has_timer = true;
            self.timers.push(Rank::new(state.server.deadline().into(), process), ());
        }
    }

    /// Removes first entries for which nothing will be due.
    #[inline]
    fn tidy(&mut self) {
        while let Some((rank, ())) = self.timers.peek() {
            let state = self.processes.state_mut(rank.process());
            if state.place != Place::Waits {
                break;
            }
            state.has_timer = false;
            self.timers.pop();
        }
        while let Some((rank, ())) = self.fading.peek() {
            let state = self.processes.state_mut(rank.process());
            if state.is_to_fade() {
                break;
            }
            state.fades = false;
            self.fading.pop();
        }
    }

    /// The process stands in the background queue from now on, if it does not yet.
    fn link(&mut self, process: u32, first: bool) {
        let state = self.processes.state_mut(process);
        if state.is_linked {
            return;
        }
        state.is_linked = true;
        if first && state.left > Nanos::ZERO {
            self.background.push_front(&mut self.processes, process);
        } else {
            state.left = state.slice;
            self.background.push_back(&mut self.processes, process);
        }
    }
}
