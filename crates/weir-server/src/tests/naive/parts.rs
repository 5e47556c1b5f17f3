//! Requests that go to several cores: what is answered, open and needed is counted anew at every question.

use super::{Item, Naive, Place, Request};
use crate::model::{After, Cancel, FanOut, ServerScenario};
use crate::record::{Done, Ends, Part, Sink};
use crate::source::Parts;
use crate::source::parts::Needs;
use weir_core::discipline::DropReason;
use weir_core::pool::{Apart, ServerId};
use weir_core::units::{Instant, Nanos};
use weir_lab::stats::Histogram;

/// What a request is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    parts: Vec<Needs>,
    copies: Vec<Needs>,
    alone: Nanos,
}

impl Drawn {
    pub(super) fn of(parts: &Parts) -> Self {
        let alone = parts.alone(&mut Vec::new());
        Self { parts: parts.parts().to_vec(), copies: parts.copies().to_vec(), alone }
    }
}

/// What a sub-request, or a second copy, is a part of.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartOf {
    whole: usize,
    leg: usize,
    is_copy: bool,
    is_answer: bool,
}

#[derive(Debug)]
struct Whole {
    at: u64,
    class: u16,
    flow: u32,
    patience: u64,
    drawn: Drawn,
    /// Its sub-requests and second copies.
    parts: Vec<usize>,
    servers: Vec<Option<ServerId>>,
    /// When what is not answered goes a second time.
    timer: Option<u64>,
    number: usize,
    is_over: bool,
}

#[derive(Debug)]
pub(super) struct Wholes {
    model: FanOut,
    pub(super) parts: Parts,
    all: Vec<Whole>,
    /// By class, the responses so far, and the quantile of them that was looked up last, with when it is looked up again.
    seen: Vec<(Vec<u64>, Option<u64>, usize)>,
}

impl Wholes {
    pub(super) fn new(scenario: &ServerScenario, replication: u32) -> Option<Self> {
        let model = scenario.fan_out?;
        let parts = Parts::new(scenario, model, replication);
        Some(Self {
            model,
            parts,
            all: Vec::new(),
            seen: vec![(Vec::new(), None, 100); scenario.classes.len()],
        })
    }

    pub(super) fn arrives(&mut self, at: u64, class: u16, flow: u32, patience: u64, drawn: Drawn) -> usize {
        let servers = vec![None; drawn.parts.len()];
        let (timer, number, is_over) = (None, 0, false);
        let parts = Vec::new();
        self.all.push(Whole { at, class, flow, patience, drawn, parts, servers, timer, number, is_over });
        self.all.len() - 1
    }

    fn after(&self, class: u16) -> Option<u64> {
        match self.model.hedge?.after {
            After::Span(span) => Some(span.get()),
            After::Quantile(_) => self.seen[usize::from(class)].1,
        }
    }

    fn saw(&mut self, class: u16, response: u64) {
        let Some(After::Quantile(p)) = self.model.hedge.map(|hedge| hedge.after) else { return };
        let (responses, after, next) = &mut self.seen[usize::from(class)];
        responses.push(response);
        if responses.len() == *next {
            let mut histogram: Histogram = Histogram::new();
            responses.iter().for_each(|&response| histogram.record(response));
            *after = histogram.quantile(p).map(|nanoseconds| nanoseconds as u64);
            *next += *next / 8;
        }
    }
}

impl Naive<'_> {
    fn whole(&mut self, whole: usize) -> &mut Whole {
        &mut self.wholes.as_mut().expect("requests go to several cores").all[whole]
    }

    fn model(&self) -> FanOut {
        self.wholes.as_ref().expect("requests go to several cores").model
    }

    fn parts_of(&self, whole: usize) -> impl Iterator<Item = (PartOf, &Request)> {
        let wholes = self.wholes.as_ref().expect("requests go to several cores");
        let request = move |&id: &usize| (self.requests[id].part.expect("a part"), &self.requests[id]);
        wholes.all[whole].parts.iter().map(request)
    }

    fn is_answered(&self, whole: usize, leg: usize) -> bool {
        self.parts_of(whole).any(|(part, _)| part.leg == leg && part.is_answer)
    }

    fn is_there(&self, whole: usize, leg: usize) -> bool {
        self.parts_of(whole).any(|(part, request)| part.leg == leg && request.place != Place::Gone)
    }

    /// How many sub-requests are answered, and how many are or may be.
    fn answers(&self, whole: usize) -> (u32, u32) {
        let legs = || 0..self.model().to as usize;
        let answered = legs().filter(|&leg| self.is_answered(whole, leg)).count();
        let may_be = legs().filter(|&leg| self.is_answered(whole, leg) || self.is_there(whole, leg)).count();
        (answered as u32, may_be as u32)
    }

    fn is_over(&self, whole: usize) -> bool {
        self.wholes.as_ref().is_some_and(|wholes| wholes.all[whole].is_over)
    }

    /// What is to be cancelled of a part that is not needed.
    fn cancelled(&self, id: usize) -> Option<Cancel> {
        let part = self.requests[id].part?;
        let model = self.model();
        if self.is_answered(part.whole, part.leg) {
            return Some(model.hedge.map_or(model.cancel, |hedge| hedge.cancel));
        }
        self.is_over(part.whole).then_some(model.cancel)
    }

    fn push(&mut self, sent: u64, part: PartOf, needs: Needs) -> usize {
        let id = self.requests.len();
        let whole = self.whole(part.whole);
        whole.parts.push(id);
        let (class, flow, leaves) = (whole.class, whole.flow, whole.at.saturating_add(whole.patience));
        self.requests.push(Request {
            at: sent,
            class,
            flow,
            service: needs.service.get(),
            known: needs.known.get(),
            leaves,
            left: needs.service.get(),
            began: None,
            cold: false,
            delivered: 0,
            place: Place::Unsent,
            attempt: (0, 1),
            sent_in: 0,
            gave_up: false,
            carries: None,
            part: Some(part),
        });
        id
    }

    pub(super) fn split(&mut self, now: u64, whole: usize) {
        let class = self.whole(whole).class;
        let after = self.wholes.as_ref().and_then(|wholes| wholes.after(class));
        self.whole(whole).timer = after.map(|after| now + after);
        if let Some(after) = after {
            let (need, drawn) = (self.model().need as usize, &mut self.whole(whole).drawn);
            let both = drawn.parts.iter().zip(&drawn.copies);
            let sooner = both.map(|(one, copy)| one.service.min(Nanos::new(after) + copy.service));
            let mut sorted: Vec<Nanos> = sooner.collect();
            sorted.sort_unstable();
            drawn.alone = sorted[need - 1];
        }
        let (at, needs) = (self.whole(whole).at, self.whole(whole).drawn.parts.clone());
        let part = |leg| PartOf { whole, leg, is_copy: false, is_answer: false };
        let ids: Vec<usize> =
            needs.iter().enumerate().map(|(leg, &needs)| self.push(at, part(leg), needs)).collect();
        let mut apart = Apart::new(self.scenario.site.servers);
        for (leg, id) in ids.into_iter().enumerate() {
            if leg == 0 {
                self.whole(whole).number = self.delivered + 1;
            }
            self.offer(now, id, Some(&mut apart));
            self.whole(whole).servers[leg] = apart.last();
        }
    }

    /// The next request of which something goes a second time, and when.
    pub(super) fn next_timer(&self) -> Option<(u64, usize)> {
        let all = self.wholes.iter().flat_map(|wholes| wholes.all.iter().enumerate());
        let of = |(id, whole): (usize, &Whole)| Some((whole.timer.filter(|_| !whole.is_over)?, id));
        all.filter_map(of).min()
    }

    pub(super) fn send_again(&mut self, now: u64, whole: usize) {
        self.whole(whole).timer = None;
        for leg in 0..self.model().to as usize {
            if self.is_over(whole) || self.is_answered(whole, leg) || !self.is_there(whole, leg) {
                continue;
            }
            let needs = self.whole(whole).drawn.copies[leg];
            let id = self.push(now, PartOf { whole, leg, is_copy: true, is_answer: false }, needs);
            let mut apart = Apart::new(self.scenario.site.servers);
            if let Some(server) = self.whole(whole).servers[leg] {
                apart.add(server);
            }
            self.offer(now, id, Some(&mut apart));
        }
    }

    pub(super) fn part_done(&mut self, now: u64, core: u32, id: usize) {
        let part = self.requests[id].part.expect("a part");
        let is_needed = !self.is_over(part.whole) && !self.is_answered(part.whole, part.leg);
        self.requests[id].place = Place::Gone;
        self.tell(now, id, if is_needed { Ends::Answer } else { Ends::Spare });
        if !is_needed {
            return;
        }
        self.requests[id].part = Some(PartOf { is_answer: true, ..part });
        if self.answers(part.whole).0 == self.model().need {
            self.answered(now, core, id, part.whole);
        }
        let mut cores: Vec<(u32, usize)> =
            self.serving.iter().map(|one| (one.core, one.item.id as usize)).collect();
        cores.sort_unstable();
        for (core, other) in cores {
            let is_own = self.requests[other].part.is_some_and(|other| other.whole == part.whole);
            if is_own && self.cancelled(other) == Some(Cancel::All) {
                self.stop(now, core);
            }
        }
    }

    fn answered(&mut self, now: u64, core: u32, id: usize, whole: usize) {
        self.whole(whole).is_over = true;
        let began = self.requests[id].began.expect("it was served");
        let &mut Whole { at, class, flow, number, ref drawn, .. } = self.whole(whole);
        let alone = drawn.alone;
        let later = |&(other, place): &(u32, usize)| other == flow && place > number;
        let reordered = self.scenario.measure.order && self.ended.iter().any(later);
        self.ended.push((flow, number));
        self.told.answered(&Done {
            arrived: Instant::new(at),
            began: Instant::new(began),
            ended: Instant::new(now),
            service: alone,
            class,
            flow,
            server: core,
            reordered,
            cold: false,
        });
        self.wholes.as_mut().expect("some").saw(class, now - at);
        self.over(now, id, false);
    }

    fn stop(&mut self, now: u64, core: u32) {
        let place = self.serving.iter().position(|one| one.core == core).expect("it serves");
        let one = self.serving.remove(place);
        let (id, time) = (one.item.id as usize, now.saturating_sub(one.begins));
        let used = self.done_within(core, one.begins, now).min(self.requests[id].left);
        let overhead = Nanos::new(one.begins.min(now) - one.since + time - used);
        self.told.busy(core, Instant::new(one.since), Instant::new(now), overhead);
        let request = &mut self.requests[id];
        request.left -= used;
        if one.first && one.begins > now {
            request.began = None;
            let begun = (one.begins, request.class, one.begins - request.at);
            let place = self.begun.iter().position(|&other| other == begun).expect("it was to begin");
            self.begun.remove(place);
        }
        self.pool.finish(Instant::new(now), ServerId(core), &one.item, Nanos::new(used));
        self.stopped.push(core);
        self.gone(now, id, Ends::Cancelled);
    }

    /// The turn of a part comes: whether it leaves.
    pub(super) fn part_leaves(&mut self, now: u64, core: u32, item: &Item) -> bool {
        let id = item.id as usize;
        let is_cancelled = self.cancelled(id).is_some_and(|cancel| cancel != Cancel::None);
        let request = &self.requests[id];
        let has_left = request.began.is_none() && request.leaves < now;
        if !is_cancelled && !has_left {
            return false;
        }
        let leaves = request.leaves;
        self.pool.finish(Instant::new(now), ServerId(core), item, Nanos::ZERO);
        let (ends, at) =
            if is_cancelled { (Ends::Cancelled, now) } else { (Ends::Dropped, leaves.max(request.at)) };
        if let Some(whole) = self.gone(at, id, ends) {
            let &mut Whole { class, at, ref drawn, .. } = self.whole(whole);
            let alone = drawn.alone;
            self.told.abandoned(class, Instant::new(at), Instant::new(leaves), alone);
        }
        self.drop_all(now);
        true
    }

    pub(super) fn part_dropped(&mut self, now: u64, id: usize, reason: DropReason) {
        if let Some(whole) = self.gone(now, id, Ends::Dropped) {
            let &mut Whole { class, at, .. } = self.whole(whole);
            self.told.dropped(class, Instant::new(at), Instant::new(now), reason);
            self.over(now, id, true);
        }
    }

    /// A part is gone without an answer; its request, if that is lost now.
    fn gone(&mut self, now: u64, id: usize, ends: Ends) -> Option<usize> {
        self.requests[id].place = Place::Gone;
        self.tell(now, id, ends);
        let whole = self.requests[id].part.expect("a part").whole;
        let is_lost = !self.is_over(whole) && self.answers(whole).1 < self.model().need;
        self.whole(whole).is_over |= is_lost;
        is_lost.then_some(whole)
    }

    fn tell(&mut self, now: u64, id: usize, ends: Ends) {
        let request = &self.requests[id];
        let PartOf { whole, is_copy, .. } = request.part.expect("a part");
        let served = request.began.map_or(0, |_| request.service - request.left);
        let (class, began) = (request.class, Instant::new(request.began.unwrap_or(now)));
        let sent = Instant::new(request.at);
        let arrived = Instant::new(self.whole(whole).at);
        let (ended, served) = (Instant::new(now), Nanos::new(served));
        self.told.part(&Part { class, arrived, sent, began, ended, served, is_copy, ends });
    }
}
