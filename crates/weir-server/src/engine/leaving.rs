//! Requests that leave unserved, or before they are done: those without patience, those late for their deadline, and those
//! that do not join.

use super::Request;
use super::grants::gone;
use super::requests::{NOT_YET, Slot, State};
use super::run::Engine;
use crate::model::{Deadline, Hopeless, ServerScenario};
use crate::record::{Fate, Lost, Sink, Unserved};
use weir_core::pool::{Assigned, Pool, ServerId};
use weir_core::units::{Instant, Nanos};

/// Why a request is not served though its turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// Its patience has ended; or it is a sub-request that is not needed any more.
    Abandons,
    /// Its deadline.
    Misses,
}

/// The deadlines by class; empty where there are none.
pub(super) fn deadlines(scenario: &ServerScenario) -> Vec<Option<Deadline>> {
    match scenario.has_deadline() {
        true => scenario.classes.iter().map(|class| class.deadline).collect(),
        false => Vec::new(),
    }
}

/// When a request is cut off where it is served; [`Instant::NEVER`] where it is not.
#[inline]
pub(super) fn cut_off_at(deadlines: &[Option<Deadline>], request: &Slot) -> Instant {
    match deadlines.get(usize::from(request.class)) {
        Some(&Some(Deadline { within, drop: Hopeless::During })) => request.arrived.after(within),
        _ => Instant::NEVER,
    }
}

impl<D: Pool<Request>, S: Sink> Engine<'_, D, S> {
    /// Whether a request does not join; if so, that is reported.
    #[inline(never)]
    pub(super) fn balks(&mut self, now: Instant, request: &Slot, attempt: u32) -> bool {
        let (waiting, number) = (self.slots.waiting, self.left.offered);
        let balks = self.balking.as_ref().is_some_and(|one| one.balks(request.class, waiting, number));
        if balks {
            self.left.balked += 1;
            self.lost(now, Unserved::Balked, request);
            if self.sink.follows() {
                let balked = gone(request, now, None, Fate::Unserved(Unserved::Balked));
                self.sink.turned_away(self.coming(attempt), &balked);
            }
            self.arrivals.over(request.flow, now, true);
        }
        balks
    }

    /// A request is not served, or not to its end.
    pub(super) fn lost(&mut self, now: Instant, why: Unserved, request: &Slot) {
        self.left.dropped += 1;
        let &Slot { class, arrived, service, left, .. } = request;
        self.sink.lost(&Lost { why, class, arrived, now, service, left });
    }

    /// Whether a request is not served though its turn has come.
    #[inline]
    pub(super) fn has_left(&mut self, now: Instant, core: u32, assigned: &Assigned<Request>) -> Option<Gone> {
        let waits = |request: &&mut Slot| request.state == State::Waiting;
        let request = self.slots.get(assigned.item.id).filter(waits)?;
        let is_new = request.began == NOT_YET;
        if is_new && request.leaves < now {
            return Some(Gone::Abandons);
        }
        if self.fan_out.as_ref().is_some_and(|fan_out| fan_out.is_dropped(assigned.item.id)) {
            return Some(Gone::Abandons);
        }
        let deadline = self.deadlines.get(usize::from(request.class)).copied().flatten()?;
        let until = request.arrived.after(deadline.within);
        let misses = match deadline.drop {
            Hopeless::Before => {
                // Faults to come are not known to the server.
                let takes = self.scenario.site.speed(ServerId(core)).time_of(request.left);
                is_new && now.after(assigned.overhead).after(takes) > until
            }
            Hopeless::During => now >= until,
        };
        misses.then_some(Gone::Misses)
    }

    /// The turn of a request comes that has left.
    #[cold]
    pub(super) fn leaves(&mut self, now: Instant, core: u32, item: &Request, why: Gone) {
        if self.fan_out.is_some() {
            return self.part_leaves(now, core, item);
        }
        let request = self.take_out(now, core, item);
        let (ended, fate) = match why {
            Gone::Abandons => {
                self.left.dropped += 1;
                self.left.abandoned += 1;
                self.sink.abandoned(request.class, request.arrived, request.leaves, request.service);
                (request.leaves, Fate::Abandoned)
            }
            Gone::Misses => {
                self.lost(now, Unserved::Missed, &request);
                (now, Fate::Unserved(Unserved::Missed))
            }
        };
        if self.sink.follows() {
            self.sink.gone(item.id, &gone(&request, ended, None, fate));
        }
        self.fails(now, item.id, &request);
        self.forget_dropped(now);
    }

    /// Takes out a request whose turn has come, and that is not served.
    pub(super) fn take_out(&mut self, now: Instant, core: u32, item: &Request) -> Slot {
        self.pool.finish(now, ServerId(core), item, Nanos::ZERO);
        self.slots.waiting -= 1;
        let request = self.slots.let_go(item.id);
        if self.control.is_some() && request.began == NOT_YET {
            self.slots.step_out(item.id);
        }
        request
    }

    /// Whether the request of a grant that ends is cut off.
    #[inline]
    pub(super) fn is_cut_off(&mut self, now: Instant, slot: u32) -> bool {
        cut_off_at(&self.deadlines, self.slots.of(slot)) <= now
    }

    /// A request is cut off where it is served.
    #[cold]
    pub(super) fn cut_off(&mut self, now: Instant, core: u32, item: &Request, used: Nanos) {
        self.pool.finish(now, ServerId(core), item, used);
        let request = self.slots.let_go(item.id);
        if self.control.is_some() && request.began == NOT_YET {
            self.slots.step_out(item.id);
        }
        self.lost(now, Unserved::Missed, &request);
        if self.sink.follows() {
            self.sink.gone(item.id, &gone(&request, now, Some(core), Fate::Unserved(Unserved::Missed)));
        }
        self.fails(now, item.id, &request);
    }
}
