//! Requests that go to several cores, each with a queue of its own in order of arrival, of which nothing is cancelled but what a
//! lost request leaves: when every sub-request begins and ends is known when it comes.
//!
//! | | |
//! |-|-|
//! | Work | that of the dispatcher and O(1) a sub-request; O(sub-requests) more where not all are needed |
//! | Memory | as [`PerCore`], and the sub-requests of one request |

use super::per_core::PerCore;
use super::scan::Numbers;
use super::{Course, Door, Request, Teller};
use crate::model::{Cancel, FanOut, ServerScenario};
use crate::record::{Done, Ends, Part, Served, Sink};
use crate::source::parts::{From, Needs};
use crate::source::{Estimate, Parts};
use weir_core::discipline::DropReason;
use weir_core::item::Message;
use weir_core::pool::{Apart, Dispatcher};
use weir_core::units::{Instant, Nanos};
use weir_lab::stream::{Purpose, Stream, StreamKey};
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
    parts: Parts,
    apart: Apart,
    /// The sub-requests that have joined a core, with when they begin, or, of a lost request, their turn comes.
    legs: Vec<Served>,
    /// Nothing is estimated here.
    unused: Stream,
    scratch: Vec<Nanos>,
    /// A copy of the legs, to find the one that is the last needed.
    ends: Vec<Served>,
    served: u64,
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
        let (seed, purpose) = (scenario.seed, Purpose::Services);
        Self {
            cores,
            fan_out,
            parts: Parts::new(scenario, fan_out, replication),
            apart: Apart::new(scenario.site.servers),
            legs: Vec::new(),
            unused: Stream::new(StreamKey { seed, replication, purpose, index: 1 }),
            scratch: Vec::new(),
            ends: Vec::new(),
            served: 0,
        }
    }

    /// A request comes; whether it will be answered.
    #[inline(always)]
    fn request<S: Sink>(&mut self, now: u64, request: &Request, teller: &mut Teller<'_, S>) -> bool {
        let service = Nanos::new(request.service);
        let first = Needs { service, known: service };
        self.parts.draw(request.class, first, &Estimate::Exact, From::Source(&mut self.unused));
        self.apart.clear();
        self.legs.clear();
        let mut lost: Option<(usize, DropReason)> = None;
        let (mut open, need) = (self.fan_out.to, self.fan_out.need);
        for needs in self.parts.parts() {
            let service = needs.service.get();
            match self.cores.joins(now, &Request { service, ..*request }, &mut self.apart) {
                Ok((core, at)) => {
                    let began = Instant::new(at);
                    self.legs.push(Served { server: core as u32, began, service: needs.service });
                }
                Err(reason) => {
                    open -= 1;
                    unserved(teller, request, Instant::new(now), Ends::Dropped);
                    if open < need {
                        lost = lost.or(Some((self.legs.len(), reason)));
                    }
                }
            }
        }
        match lost {
            None => self.answered(now, request, teller),
            Some((place, reason)) => self.lost(now, request, place, teller, reason),
        }
        lost.is_none()
    }

    /// All that is needed will be answered.
    #[inline(always)]
    fn answered<S: Sink>(&mut self, now: u64, request: &Request, teller: &mut Teller<'_, S>) {
        let need = self.fan_out.need as usize;
        let last = if need == self.legs.len() {
            self.serve_all(now, request, teller)
        } else {
            self.serve_some(now, request, need, teller)
        };
        let Some(last) = last else { return };
        teller.sink.answered(&Done {
            arrived: Instant::new(request.arrived),
            began: last.began,
            ended: last.ended(),
            service: self.parts.alone(&mut self.scratch),
            class: request.class,
            flow: request.flow,
            server: last.server,
            reordered: false,
            cold: false,
        });
    }

    /// All sub-requests are served and needed; the last of them.
    #[inline(always)]
    fn serve_all<S: Sink>(
        &mut self,
        now: u64,
        request: &Request,
        teller: &mut Teller<'_, S>,
    ) -> Option<Served> {
        let mut last = *self.legs.first()?;
        for leg in &self.legs {
            self.cores.serves(leg.server as usize, leg.ended().get(), now);
            // As the ends compare, without a branch for the core, which hardly ever decides.
            let (later, same) = (leg.ended() > last.ended(), leg.ended() == last.ended());
            if later | (same & (leg.server > last.server)) {
                last = *leg;
            }
        }
        self.served += self.legs.len() as u64;
        teller.last = teller.last.max(last.ended().get());
        teller.sink.all_served(request.class, Instant::new(request.arrived), &self.legs, last.ended());
        Some(last)
    }

    /// All sub-requests are served, and as many are needed; the last of those.
    fn serve_some<S: Sink>(
        &mut self,
        now: u64,
        request: &Request,
        need: usize,
        teller: &mut Teller<'_, S>,
    ) -> Option<Served> {
        self.ends.clear();
        self.ends.extend_from_slice(&self.legs);
        let last = *self.ends.select_nth_unstable_by_key(need.checked_sub(1)?, end).1;
        for place in 0..self.legs.len() {
            let leg = self.legs[place];
            let ends = if end(&leg) <= end(&last) { Ends::Answer } else { Ends::Spare };
            self.serve(now, request, &leg, teller, ends);
        }
        Some(last)
    }

    /// Too few are left since the one at this place was dropped: what has begun by then is served.
    #[cold]
    fn lost<S: Sink>(
        &mut self,
        now: u64,
        request: &Request,
        place: usize,
        teller: &mut Teller<'_, S>,
        reason: DropReason,
    ) {
        let cancels = self.fan_out.cancel != Cancel::None;
        for number in 0..self.legs.len() {
            let leg = self.legs[number];
            let turn = leg.began.get();
            if cancels && (number >= place || turn > now) {
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
    fn take<S: Sink>(&mut self, door: &mut Door, block: &Requests, teller: &mut Teller<'_, S>) -> u64 {
        let mut dropped = 0;
        for place in 0..block.len() {
            let request = Request::of(block, place);
            let now = door.passes(request.arrived);
            dropped += u64::from(!self.request(now, &request, teller));
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
