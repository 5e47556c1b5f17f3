//! What becomes of requests that go to several cores: how they split, and what the end of a sub-request means.

use super::Request;
use super::fan_out::{Answer, FanOut};
use super::grants::gone;
use super::requests::{NOT_YET, Slot};
use super::run::Engine;
use crate::record::{Done, Ends, Fate, Gone, Part, Sink};
use weir_core::discipline::DropReason;
use weir_core::pool::{Pool, ServerId};
use weir_core::units::{Instant, Nanos};

impl<D: Pool<Request>, S: Sink> Engine<'_, D, S> {
    /// A request arrives that goes to several cores. It passes its receiver as one.
    #[inline(never)]
    pub(super) fn arrival_of_parts(&mut self, now: Instant) {
        let Some(request) = self.arrivals.take() else { return };
        let receiver = self.receiver(request.flow);
        let is_full = self.is_full(now, receiver);
        self.left.offered += 1;
        let Some(fan_out) = &mut self.fan_out else { return };
        self.arrivals.split(&request, &mut fan_out.parts);
        if is_full {
            return self.drop_at_receiver(now, &request, 1);
        }
        let Some(id) = fan_out.keep(&mut self.slots, request, self.left.offered - 1) else {
            return self.too_many();
        };
        if self.sink.follows() {
            for leg in 0..fan_out.model.to {
                let slot = fan_out.slot(id, leg);
                self.sink.came(slot, fan_out.came(slot));
            }
        }
        match &mut self.receivers {
            Some(receivers) => receivers.receive(now, id, receiver),
            None => self.split(now, id),
        }
    }

    /// A request comes before the discipline, sub-request by sub-request.
    pub(super) fn split(&mut self, now: Instant, id: u32) {
        let Some(fan_out) = &mut self.fan_out else { return };
        fan_out.apart.clear();
        fan_out.set_timer(now, id, &mut self.slots);
        for leg in 0..fan_out.model.to {
            let Some(slot) = self.fan_out.as_ref().map(|fan_out| fan_out.slot(id, leg)) else { return };
            self.enqueue_apart(now, slot, (id, leg), true);
        }
    }

    /// Sub-requests that are not answered go a second time.
    pub(super) fn send_again(&mut self, now: Instant) {
        let Some(id) = self.fan_out.as_mut().and_then(FanOut::take_timer) else { return };
        for leg in 0..self.scenario.parts() {
            let Some(fan_out) = &mut self.fan_out else { return };
            match fan_out.second(&mut self.slots, now, id, leg) {
                Ok(None) => {}
                Ok(Some(slot)) => {
                    if self.sink.follows() {
                        self.sink.came(slot, fan_out.came(slot));
                    }
                    self.enqueue_apart(now, slot, (id, leg), false);
                }
                Err(()) => return self.too_many(),
            }
        }
    }

    /// A sub-request, or a second copy of it, comes before the discipline.
    fn enqueue_apart(&mut self, now: Instant, slot: u32, (id, leg): (u32, u32), is_first: bool) {
        let (item, receiver) = self.comes(slot);
        let number = self.slots.of(slot).number;
        let Some(fan_out) = &mut self.fan_out else { return };
        let placed = self.pool.enqueue_apart(now, item, receiver, &mut fan_out.apart, &mut self.drops);
        if is_first {
            fan_out.joined(id, leg, number);
        }
        self.forget_dropped(now);
        self.act(now, placed);
    }

    /// A sub-request has been served to its end.
    pub(super) fn part_done(&mut self, now: Instant, core: u32, slot: u32) {
        let part = self.slots.let_go(slot);
        self.left.last = now.get();
        let Some(fan_out) = &mut self.fan_out else { return };
        let answer = fan_out.answer(slot);
        let (id, stops) = (fan_out.whole_of(slot).0, fan_out.stops(answer));
        let ends = if answer == Answer::Spare { Ends::Spare } else { Ends::Answer };
        self.tell_part(now, slot, &part, ends);
        let fate = if answer == Answer::Last { Fate::Served } else { Fate::Part(ends) };
        self.part_gone(now, slot, &part, Some(core), fate);
        if answer == Answer::Last {
            self.whole_answered(now, core, slot, &part);
        }
        if stops {
            self.stop_others(now, id);
        }
        if let Some(fan_out) = &mut self.fan_out {
            fan_out.leave(slot);
        }
    }

    /// A request has the last answer that it needs.
    fn whole_answered(&mut self, now: Instant, core: u32, slot: u32, part: &Slot) {
        let Some(fan_out) = &mut self.fan_out else { return };
        let whole = *fan_out.whole_of(slot).1;
        let request = whole.request;
        fan_out.saw(request.class, now - request.arrived);
        self.left.done += 1;
        let reordered = self.flows.end(request.flow, whole.number);
        self.sink.answered(&Done {
            arrived: request.arrived,
            began: part.began,
            ended: now,
            service: whole.alone,
            class: request.class,
            flow: request.flow,
            server: core,
            reordered,
            cold: false,
        });
        self.arrivals.over(request.flow, now, false);
    }

    /// Stops what is in service of a request and not needed any more; its cores are asked when the one that is free has been.
    fn stop_others(&mut self, now: Instant, id: u32) {
        for core in 0..self.cores.open.len() as u32 {
            let open = self.cores.open[core as usize];
            let stops = |fan_out: &FanOut| open.is_some_and(|open| fan_out.is_stopped(open.item.id, id));
            if self.fan_out.as_ref().is_some_and(stops) {
                self.stop(now, core);
            }
        }
    }

    /// Stops a service.
    fn stop(&mut self, now: Instant, core: u32) {
        let Some(open) = self.cores.open[core as usize] else { return };
        let used = now.since(open.begins).min(open.serves);
        let Some((grant, used)) = self.end_grant(now, core, used) else { return };
        let slot = grant.item.id;
        self.pool.finish(now, ServerId(core), &grant.item, used);
        self.cores.idle(core);
        self.stopped.push(core);
        let part = self.slots.let_go(slot);
        if self.control.is_some() && part.began == NOT_YET {
            self.slots.step_out(slot);
        }
        let server = (part.began != NOT_YET).then_some(core);
        self.part_lost(now, slot, &part, server, Fate::Part(Ends::Cancelled));
    }

    /// Asks the cores whose service was stopped.
    #[cold]
    pub(super) fn ask_stopped(&mut self, now: Instant) {
        let mut stopped = std::mem::take(&mut self.stopped);
        stopped.drain(..).for_each(|core| self.ask_idle(now, core));
        self.stopped = stopped;
    }

    /// The turn of a sub-request comes that is not needed any more, or has left.
    #[cold]
    pub(super) fn part_leaves(&mut self, now: Instant, core: u32, item: &Request) {
        let slot = item.id;
        let part = self.take_out(now, core, item);
        let Some(fan_out) = &self.fan_out else { return };
        let is_cancelled = fan_out.is_dropped(slot);
        let whole = *fan_out.whole_of(slot).1;
        let (ended, fate) = match is_cancelled {
            true => (now, Fate::Part(Ends::Cancelled)),
            // A second copy may be sent when the patience has ended and nobody knows yet.
            false => (part.leaves.max(part.arrived), Fate::Abandoned),
        };
        if self.part_lost(ended, slot, &part, None, fate) {
            self.left.dropped += 1;
            self.left.abandoned += 1;
            let request = whole.request;
            self.sink.abandoned(request.class, request.arrived, part.leaves, whole.alone);
        }
        self.forget_dropped(now);
    }

    /// The discipline has dropped a sub-request.
    #[cold]
    pub(super) fn part_dropped(&mut self, now: Instant, slot: u32, part: &Slot, reason: DropReason) {
        let Some(whole) = self.fan_out.as_ref().map(|fan_out| *fan_out.whole_of(slot).1) else { return };
        if self.part_lost(now, slot, part, None, Fate::Dropped) {
            self.left.dropped += 1;
            self.sink.dropped(whole.request.class, whole.request.arrived, now, reason);
            self.arrivals.over(whole.request.flow, now, true);
        }
    }

    /// A sub-request is gone, and not served to its end; whether its request is lost by that, which has this fate then.
    fn part_lost(&mut self, ended: Instant, slot: u32, part: &Slot, server: Option<u32>, fate: Fate) -> bool {
        let ends = if let Fate::Part(ends) = fate { ends } else { Ends::Dropped };
        self.tell_part(ended, slot, part, ends);
        let Some(fan_out) = &mut self.fan_out else { return false };
        let is_lost = fan_out.lose(slot);
        self.part_gone(ended, slot, part, server, if is_lost { fate } else { Fate::Part(ends) });
        if let Some(fan_out) = &mut self.fan_out {
            fan_out.leave(slot);
        }
        is_lost
    }

    /// Says what became of a sub-request to a sink that follows each.
    fn part_gone(&mut self, ended: Instant, slot: u32, part: &Slot, server: Option<u32>, fate: Fate) {
        let Some(fan_out) = self.fan_out.as_ref().filter(|_| self.sink.follows()) else { return };
        let arrived = fan_out.whole_of(slot).1.request.arrived;
        self.sink.gone(slot, &Gone { arrived, ..gone(part, ended, server, fate) });
    }

    fn tell_part(&mut self, ended: Instant, slot: u32, part: &Slot, ends: Ends) {
        let Some(fan_out) = &self.fan_out else { return };
        let has_begun = part.began != NOT_YET;
        self.sink.part(&Part {
            class: part.class,
            arrived: fan_out.whole_of(slot).1.request.arrived,
            sent: part.arrived,
            began: if has_begun { part.began } else { ended },
            ended,
            served: if has_begun { part.service - part.left } else { Nanos::ZERO },
            is_copy: fan_out.is_copy(slot),
            ends,
        });
    }
}
