//! What becomes of requests before the discipline: grants that begin and end, and requests that it drops.

use super::Request;
use super::cores::{LATEST, Open};
use super::leaving::cut_off_at;
use super::requests::{NOT_YET, Slot, State};
use super::run::Engine;
use crate::record::{Done, Fate, Gone, Sink};
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
        if !self.stopped.is_empty() {
            self.ask_stopped(now);
        }
        self.wake(now);
    }

    /// A grant ends, in which its request was served for `used`: the books of both, and the service that was done in it.
    #[inline]
    pub(super) fn end_grant(&mut self, now: Instant, core: u32, used: Nanos) -> Option<(Open, Nanos)> {
        let grant = self.cores.open[core as usize].take()?;
        let busy = now - grant.since;
        let mut overhead = (grant.begins - grant.since).min(busy);
        let mut used = used;
        if self.pace.is_some() {
            let time = used;
            used = self.done_in(core, &grant, time);
            overhead += time - used;
        }
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
        Some((grant, used))
    }

    /// A grant ends, in which its request was served for `used`, and with it the request if it is done.
    #[inline]
    fn close(&mut self, now: Instant, core: u32, used: Nanos) {
        let Some((mut grant, used)) = self.end_grant(now, core, used) else { return };
        let slot = grant.item.id;
        let request = self.slots.of(slot);
        if request.left == Nanos::ZERO && grant.begins <= now {
            self.pool.finish(now, ServerId(core), &grant.item, used);
            self.done(now, core, slot);
        } else if !self.deadlines.is_empty() && self.is_cut_off(now, slot) {
            self.cut_off(now, core, &grant.item, used);
        } else {
            let request = self.slots.of(slot);
            self.left.preemptions += 1;
            request.state = State::Waiting;
            self.slots.waiting += 1;
            grant.item.remaining = grant.item.remaining.minus(used);
            self.pool.requeue(now, ServerId(core), grant.item, used, &mut self.drops);
            self.forget_dropped(now);
        }
    }

    /// The service that a grant has done in this time, where cores are not all alike.
    #[cold]
    fn done_in(&mut self, core: u32, grant: &Open, time: Nanos) -> Nanos {
        let left = self.slots.of(grant.item.id).left;
        let Some(pace) = &self.pace else { return time };
        // Time is in whole nanoseconds, so the last part of the service may be done before it is over.
        match pace.end(core, grant.begins, left).since(grant.begins) <= time {
            true => left,
            false => pace.service(core, grant.begins, grant.begins.after(time)),
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
        if self.fan_out.is_some() {
            return self.part_done(now, core, slot);
        }
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
        if self.sink.follows() {
            self.sink.gone(slot, &gone(&request, now, Some(core), Fate::Served));
        }
        self.answered(now, slot, request.flow);
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
                Some(assigned) => match self.may_leave.then(|| self.has_left(now, core, &assigned)).flatten()
                {
                    Some(why) => {
                        self.leaves(now, core, &assigned.item, why);
                        continue;
                    }
                    None => self.begin(now, core, &assigned),
                },
                None => self.cores.idle(core),
            }
            return self.forget_dropped(now);
        }
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
        let (takes, least) = match &self.pace {
            None => (request.left, Nanos::ONE),
            Some(pace) => (pace.end(core, begins, request.left).since(begins), pace.least(core, begins)),
        };
        let mut serves = takes.min(assigned.quantum.max(least));
        let mut end = begins.after(serves);
        if !self.deadlines.is_empty() {
            end = end.min(cut_off_at(&self.deadlines, request));
            serves = end.since(begins);
        }
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
            if self.fan_out.is_some() {
                self.part_dropped(now, item.id, &request, reason);
                continue;
            }
            self.left.dropped += 1;
            self.sink.dropped(request.class, request.arrived, now, reason);
            if self.sink.follows() {
                self.sink.gone(item.id, &gone(&request, now, None, Fate::Dropped));
            }
            match self.retries.is_some() {
                true => self.fails(now, item.id, &request),
                false => self.arrivals.over(request.flow, now, true),
            }
        }
        self.drops = drops;
    }
}

/// A request that is gone, for a sink that follows each.
pub(super) fn gone(request: &Slot, ended: Instant, server: Option<u32>, fate: Fate) -> Gone {
    Gone {
        arrived: request.arrived,
        sent: request.arrived,
        began: (request.began != NOT_YET).then_some(request.began),
        ended,
        service: request.service,
        class: request.class,
        flow: request.flow,
        server,
        fate,
    }
}
