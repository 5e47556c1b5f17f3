//! Requests that go to several cores, each with a queue of its own in order of arrival, of which nothing is cancelled but what a
//! lost request leaves: when every sub-request begins and ends is known when it comes.
//!
//! | | |
//! |-|-|
//! | Work | that of the dispatcher and O(1) a sub-request; O(sub-requests) more where not all are needed |
//! | Memory | as [`PerCore`], the sub-requests of one request, and some thousand services drawn ahead |

use std::hint::select_unpredictable;
use std::ops::Range;

use super::per_core::PerCore;
use super::scan::Numbers;
use super::{Course, Door, Request, Teller};
use crate::model::{Cancel, FanOut, ServerScenario};
use crate::record::{Done, Ends, Part, Served, Sink};
use crate::source::parts::Ahead;
use weir_core::discipline::DropReason;
use weir_core::item::Message;
use weir_core::pool::{Apart, Dispatcher};
use weir_core::units::{Instant, Nanos};
use weir_workload::requests::Requests;

/// When a sub-request ends; of equal times the lowest core is first.
#[inline(always)]
fn end(leg: &Served) -> (Instant, u32) {
    (leg.ended(), leg.server)
}

/// Sub-requests under a dispatcher.
pub(super) struct Parted<D, N> {
    cores: PerCore<D, N>,
    fan_out: FanOut,
    ahead: Ahead,
    apart: Apart,
    /// The sub-requests that have joined a core come first, with when they begin, or, of a lost request, their turn comes.
    legs: Vec<Served>,
    /// What sub-requests need, to find what as many as are needed take.
    services: Vec<Nanos>,
    /// A copy of the legs, to find the one that is the last needed.
    ends: Vec<Served>,
    served: u64,
}

/// What became of a request whose sub-requests came.
enum Came {
    /// As many joined as it needs.
    Joined(usize),
    /// It is lost: after this many had joined, of as many.
    Lost { before: usize, joined: usize, reason: DropReason },
}

/// A request that is answered.
struct Answered {
    /// The last sub-request of those that were needed.
    last: Served,
    /// What it takes on idle cores.
    alone: Nanos,
}

/// Whether the course of all sub-requests is known when they come.
pub(super) fn is_known(scenario: &ServerScenario, fan_out: FanOut) -> bool {
    let is_cancelled = fan_out.need < fan_out.to && fan_out.cancel != Cancel::None;
    fan_out.hedge.is_none() && !is_cancelled && !scenario.has_patience()
}

/// Whether something that waits may be left by a request that is lost.
pub(super) fn may_leave(scenario: &ServerScenario) -> bool {
    let cancels = scenario.fan_out.is_some_and(|fan_out| fan_out.to > 1 && fan_out.cancel != Cancel::None);
    cancels && scenario.site.queue.is_some()
}

impl<D: Dispatcher<Message<Nanos>>, N: Numbers> Parted<D, N> {
    pub(super) fn new(
        cores: PerCore<D, N>,
        scenario: &ServerScenario,
        fan_out: FanOut,
        replication: u32,
    ) -> Self {
        let nobody = Served { server: 0, began: Instant::ZERO, service: Nanos::ZERO };
        Self {
            cores,
            fan_out,
            ahead: Ahead::new(scenario, fan_out, replication),
            apart: Apart::new(scenario.site.servers),
            legs: vec![nobody; fan_out.to as usize],
            services: Vec::new(),
            ends: Vec::new(),
            served: 0,
        }
    }

    /// A request comes, of those that were drawn for the one at this place; whether it will be answered.
    #[inline(always)]
    fn request<S: Sink>(
        &mut self,
        now: u64,
        place: usize,
        request: &Request,
        teller: &mut Teller<'_, S>,
    ) -> bool {
        match self.joins(now, place, request, teller) {
            Came::Joined(joined) => {
                self.answered(now, place, joined, request, teller);
                true
            }
            Came::Lost { before, joined, reason } => {
                self.lost(now, request, before..joined, teller, reason);
                false
            }
        }
    }

    /// The sub-requests of a request join their cores, or are dropped.
    #[inline(always)]
    fn joins<S: Sink>(
        &mut self,
        now: u64,
        place: usize,
        request: &Request,
        teller: &mut Teller<'_, S>,
    ) -> Came {
        let further = self.ahead.of(place);
        let (mut joined, mut lost) = (0, None);
        let (mut open, need) = (self.fan_out.to, self.fan_out.need);
        let (cores, apart, legs) = (&mut self.cores, &mut self.apart, &mut self.legs[..]);
        apart.clear();
        for number in 0..legs.len() {
            let own = further.get(number.wrapping_sub(1));
            let service = own.copied().unwrap_or(request.service);
            match cores.joins(now, &Request { service, ..*request }, apart) {
                Ok((core, at)) => {
                    let (server, began) = (core as u32, Instant::new(at));
                    legs[joined] = Served { server, began, service: Nanos::new(service) };
                    joined += 1;
                }
                Err(reason) => {
                    open -= 1;
                    unserved(teller, request, Instant::new(now), Ends::Dropped);
                    if open < need {
                        lost = lost.or(Some((joined, reason)));
                    }
                }
            }
        }
        lost.map_or(Came::Joined(joined), |(before, reason)| Came::Lost { before, joined, reason })
    }

    /// All that is needed will be answered.
    #[inline(always)]
    fn answered<S: Sink>(
        &mut self,
        now: u64,
        place: usize,
        joined: usize,
        request: &Request,
        teller: &mut Teller<'_, S>,
    ) {
        let need = self.fan_out.need as usize;
        let answered = if need == self.legs.len() {
            self.serve_all(now, request, teller)
        } else {
            self.serve_some(now, place, joined, request, teller)
        };
        let Some(Answered { last, alone }) = answered else { return };
        teller.sink.answered(&Done {
            arrived: Instant::new(request.arrived),
            began: last.began,
            ended: last.ended(),
            service: alone,
            class: request.class,
            flow: request.flow,
            server: last.server,
            reordered: false,
            cold: false,
        });
    }

    /// All sub-requests are served and needed.
    #[inline(always)]
    fn serve_all<S: Sink>(
        &mut self,
        now: u64,
        request: &Request,
        teller: &mut Teller<'_, S>,
    ) -> Option<Answered> {
        let mut alone = Nanos::ZERO;
        let mut last = (self.legs.first()?.ended(), 0);
        for (number, leg) in self.legs.iter().enumerate() {
            let ended = leg.ended();
            self.cores.serves(leg.server as usize, ended.get(), now);
            alone = alone.max(leg.service);
            // Without a branch, since that depends on chance; that two end at once hardly ever happens.
            let (longest, place) = last;
            last = (longest.max(ended), select_unpredictable(ended > longest, number, place));
            if ended == longest && leg.server > self.legs[place].server {
                last.1 = number;
            }
        }
        let last = self.legs[last.1];
        self.served += self.legs.len() as u64;
        teller.last = teller.last.max(last.ended().get());
        teller.sink.all_served(request.class, Instant::new(request.arrived), &self.legs, last.ended());
        Some(Answered { last, alone })
    }

    /// Those that have joined are served, and as many are needed.
    fn serve_some<S: Sink>(
        &mut self,
        now: u64,
        place: usize,
        joined: usize,
        request: &Request,
        teller: &mut Teller<'_, S>,
    ) -> Option<Answered> {
        let before = (self.fan_out.need as usize).checked_sub(1)?;
        self.ends.clear();
        self.ends.extend_from_slice(&self.legs[..joined]);
        let last = *self.ends.select_nth_unstable_by_key(before, end).1;
        for number in 0..joined {
            let leg = self.legs[number];
            let ends = if end(&leg) <= end(&last) { Ends::Answer } else { Ends::Spare };
            self.serve(now, request, &leg, teller, ends);
        }
        self.services.clear();
        self.services.extend(self.ahead.of(place).iter().map(|&service| Nanos::new(service)));
        self.services.resize(self.legs.len(), Nanos::new(request.service));
        let alone = *self.services.select_nth_unstable(before).1;
        Some(Answered { last, alone })
    }

    /// Too few are left since one was dropped after so many had joined, of all that did: what has begun by then is served.
    #[cold]
    fn lost<S: Sink>(
        &mut self,
        now: u64,
        request: &Request,
        after: Range<usize>,
        teller: &mut Teller<'_, S>,
        reason: DropReason,
    ) {
        let cancels = self.fan_out.cancel != Cancel::None;
        for number in 0..after.end {
            let leg = self.legs[number];
            let turn = leg.began.get();
            if cancels && (number >= after.start || turn > now) {
                self.cores.stands(leg.server as usize, turn, now);
                unserved(teller, request, leg.began, Ends::Cancelled);
            } else {
                self.serve(now, request, &leg, teller, Ends::Spare);
            }
        }
        teller.sink.dropped(request.class, Instant::new(request.arrived), Instant::new(now), reason);
    }

    /// A sub-request is served.
    #[inline(always)]
    fn serve<S: Sink>(
        &mut self,
        now: u64,
        request: &Request,
        leg: &Served,
        teller: &mut Teller<'_, S>,
        ends: Ends,
    ) {
        self.cores.serves(leg.server as usize, leg.ended().get(), now);
        self.served += 1;
        teller.last = teller.last.max(leg.ended().get());
        teller.sink.busy(leg.server, leg.began, leg.ended(), Nanos::ZERO);
        teller.sink.part(&leg.part(request.class, Instant::new(request.arrived), ends));
    }
}

/// Reports a sub-request that is over at this time without service.
fn unserved<S: Sink>(teller: &mut Teller<'_, S>, request: &Request, at: Instant, ends: Ends) {
    teller.sink.part(&Part {
        class: request.class,
        arrived: Instant::new(request.arrived),
        sent: Instant::new(request.arrived),
        began: at,
        ended: at,
        served: Nanos::ZERO,
        is_copy: false,
        ends,
    });
}

impl<D: Dispatcher<Message<Nanos>>, N: Numbers> Course for Parted<D, N> {
    #[inline(always)]
    fn take<S: Sink>(&mut self, door: &mut Door, block: &mut Requests, teller: &mut Teller<'_, S>) -> u64 {
        let (mut dropped, together) = (0, self.ahead.requests());
        for begin in (0..block.len()).step_by(together) {
            let places = begin..(begin + together).min(block.len());
            self.ahead.draw(&block.class[places.clone()]);
            for place in places {
                let request = Request::of(block, place);
                let now = door.passes(request.arrived);
                dropped += u64::from(!self.request(now, place - begin, &request, teller));
            }
        }
        dropped
    }

    fn grants(&self, _done: u64) -> u64 {
        self.served
    }

    fn moved(&self) -> u64 {
        self.cores.redirected()
    }
}
