//! What becomes of requests before the discipline: grants that begin and end, and requests that it drops.

use super::Request;
use super::cores::{LATEST, Open};
use super::requests::{NOT_YET, Slot, State};
use super::run::Engine;
use crate::record::{Done, Sink};
use weir_core::pool::{Assigned, Pool, ServerId};
use weir_core::units::{Cost, Instant, Nanos};

impl<D: Pool<Request>, S: Sink> Engine<'_, D, S> {
    pub(super) fn preempt(&mut self, now: Instant, core: u32) {
        let Some(&Some(grant)) = self.cores.open.get(core as usize) else {
            return self.violated(now, format!("it preempts core {core}, which serves nobody"));
        };
        self.close(now, core, now.since(grant.begins));
        self.ask(now, core);
        self.wake(now);
    }

    /// The first grant that ends does.
    #[inline]
    pub(super) fn end_of_service(&mut self, now: Instant, core: u32) {
        let Some(grant) = self.cores.open[core as usize] else { return };
        self.close(now, core, grant.serves);
        self.ask(now, core);
        self.wake(now);
    }

    /// A grant ends, in which its request was served `used`.
    #[inline]
    fn close(&mut self, now: Instant, core: u32, used: Nanos) {
        let Some(mut grant) = self.cores.open[core as usize].take() else { return };
        let busy = now - grant.since;
        let overhead = (grant.begins - grant.since).min(busy);
        self.sink.busy(core, grant.since, now, overhead);
        let slot = grant.item.id;
        let request = self.slots.of(slot);
        request.left -= used;
        if let Some(control) = &mut self.control {
            control.was_busy(busy);
            if grant.first && grant.begins > now {
                control.begins_not(request);
                self.slots.line_up(slot);
            }
        }
        let request = self.slots.of(slot);
        if grant.begins > now && grant.first {
            request.began = NOT_YET;
            if self.may_leave {
                self.put_back(now, slot);
            }
        }
        let request = self.slots.of(slot);
        if request.left == Nanos::ZERO && grant.begins <= now {
            self.pool.finish(now, ServerId(core), &grant.item, used);
            self.done(now, core, slot);
        } else {
            self.left.preemptions += 1;
            request.state = State::Waiting;
            self.slots.waiting += 1;
            grant.item.remaining = grant.item.remaining.minus(used);
            self.pool.requeue(now, ServerId(core), grant.item, used, &mut self.drops);
            self.forget_dropped(now);
        }
    }

    /// A request is put back before its service has begun; its client may have given up meanwhile.
    #[cold]
    fn put_back(&mut self, now: Instant, slot: u32) {
        let request = *self.slots.of(slot);
        if request.leaves < now {
            self.fails(now, slot, &request);
        }
    }

    /// A request is done.
    #[inline]
    fn done(&mut self, now: Instant, core: u32, slot: u32) {
        let request = self.slots.let_go(slot);
        self.left.done += 1;
        self.left.last = now.get();
        let reordered = self.flows.end(request.flow, request.number);
        self.sink.done(&Done {
            arrived: request.arrived,
            began: request.began,
            ended: now,
            service: request.service,
            class: request.class,
            flow: request.flow,
            server: core,
            reordered,
            cold: request.cold,
        });
        self.arrivals.over(request.flow, now, false);
    }

    /// Asks those that the discipline wakes, one after the other.
    #[inline]
    pub(super) fn wake(&mut self, now: Instant) {
        // Each may be woken for nothing once; more is a discipline that comes to no end.
        let mut patience = 4 * self.cores.open.len();
        while let Some(ServerId(core)) = self.pool.wake(now) {
            self.ask_idle(now, core);
            patience -= 1;
            if patience == 0 || self.failure.is_some() {
                return self.violated(now, format!("it wakes core {core} again and again"));
            }
        }
    }

    /// Asks what an idle core does next.
    #[inline]
    pub(super) fn ask_idle(&mut self, now: Instant, core: u32) {
        match self.cores.open.get(core as usize) {
            Some(None) => self.ask(now, core),
            Some(Some(_)) => self.violated(now, format!("it has core {core} asked, which is busy")),
            None => self.violated(now, format!("it has core {core} asked, which does not exist")),
        }
    }

    /// Asks what a core without a grant does next.
    #[inline]
    fn ask(&mut self, now: Instant, core: u32) {
        loop {
            match self.pool.dequeue(now, ServerId(core), &mut self.drops) {
                Some(assigned) if self.may_leave && self.has_left(now, &assigned) => {
                    self.abandoned(now, core, &assigned.item);
                    continue;
                }
                Some(assigned) => self.begin(now, core, &assigned),
                None => self.cores.idle(core),
            }
            return self.forget_dropped(now);
        }
    }

    /// Whether a request has left before its turn came.
    #[inline]
    fn has_left(&mut self, now: Instant, assigned: &Assigned<Request>) -> bool {
        let waits = |request: &&mut Slot| request.state == State::Waiting && request.began == NOT_YET;
        self.slots.get(assigned.item.id).filter(waits).is_some_and(|request| request.leaves < now)
    }

    /// The turn of a request comes that has left.
    #[cold]
    fn abandoned(&mut self, now: Instant, core: u32, item: &Request) {
        self.pool.finish(now, ServerId(core), item, Nanos::ZERO);
        self.slots.waiting -= 1;
        let request = self.slots.let_go(item.id);
        if self.control.is_some() {
            self.slots.step_out(item.id);
        }
        self.left.dropped += 1;
        self.left.abandoned += 1;
        self.sink.abandoned(request.class, request.arrived, request.leaves, request.service);
        self.fails(now, item.id, &request);
        self.forget_dropped(now);
    }

    /// A core is given a request.
    #[inline]
    fn begin(&mut self, now: Instant, core: u32, assigned: &Assigned<Request>) {
        let slot = assigned.item.id;
        let waits = |request: &&mut Slot| request.state == State::Waiting;
        let Some(request) = self.slots.get(slot).filter(waits) else {
            return self.violated(now, format!("it grants request {slot}, which does not wait"));
        };
        let cold = self.flows.serve(request.flow, core);
        let cost = if cold { self.scenario.costs.cold } else { Nanos::ZERO };
        let begins = now.after(assigned.overhead).after(cost);
        let serves = request.left.min(assigned.quantum.max(Nanos::ONE));
        let end = begins.after(serves);
        request.state = State::Served;
        let first = request.began == NOT_YET;
        if first {
            (request.began, request.cold) = (begins, cold);
            if let Some(control) = &mut self.control {
                control.begins(request);
                self.slots.step_out(slot);
            }
        }
        self.slots.waiting -= 1;
        self.left.decisions += 1;
        self.controls = 0;
        self.cores.open[core as usize] =
            Some(Open { item: assigned.item, since: now, begins, serves, first });
        match end < LATEST {
            true => self.cores.ends(core, end),
            false => {
                self.overloaded(format!("a service would end after {}ns, where the clock ends", LATEST.get()))
            }
        }
    }

    /// Forgets what the discipline has dropped in a call.
    #[inline]
    pub(super) fn forget_dropped(&mut self, now: Instant) {
        if !self.drops.is_empty() {
            self.drop_all(now);
        }
    }

    #[cold]
    fn drop_all(&mut self, now: Instant) {
        let mut drops = std::mem::take(&mut self.drops);
        for (item, reason) in drops.drain(..) {
            let Some(State::Waiting) = self.slots.get(item.id).map(|request| request.state) else {
                self.violated(now, format!("it drops request {}, which does not wait", item.id));
                continue;
            };
            self.slots.waiting -= 1;
            let request = self.slots.let_go(item.id);
            if self.control.is_some() && request.began == NOT_YET {
                self.slots.step_out(item.id);
            }
            self.left.dropped += 1;
            self.sink.dropped(request.class, request.arrived, now, reason);
            self.fails(now, item.id, &request);
            self.arrivals.over(request.flow, now, true);
        }
        self.drops = drops;
    }
}
