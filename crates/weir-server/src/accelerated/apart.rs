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
use crate::record::{Done, Ends, Part, Sink};
use crate::source::parts::{From, Needs};
use crate::source::{Estimate, Parts};
use weir_core::discipline::DropReason;
use weir_core::item::Message;
use weir_core::pool::{Apart, Dispatcher};
use weir_core::units::{Instant, Nanos};
use weir_lab::stream::{Purpose, Stream, StreamKey};
use weir_workload::requests::Requests;

/// A sub-request that has joined a core.
#[derive(Clone, Copy, Debug)]
struct Leg {
    core: usize,
    service: u64,
    /// When it begins, or, of a lost request, its turn comes.
    at: u64,
    /// Of a lost request: it is not served.
    is_cancelled: bool,
}

impl Leg {
    /// When it ends; of equal times the lowest core is first.
    #[inline(always)]
    fn end(&self) -> (u64, usize) {
        (self.at + self.service, self.core)
    }
}

/// Sub-requests under a dispatcher.
pub(super) struct Parted<D, N> {
    cores: PerCore<D, N>,
    fan_out: FanOut,
    parts: Parts,
    apart: Apart,
    legs: Vec<Leg>,
    /// Nothing is estimated here.
    unused: Stream,
    scratch: Vec<Nanos>,
    /// A copy of the legs, to find the one that is the last needed.
    ends: Vec<Leg>,
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
                Ok((core, at)) => self.legs.push(Leg { core, service, at, is_cancelled: false }),
                Err(reason) => {
                    open -= 1;
                    tell(teller, request, (now, now, 0), Ends::Dropped);
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
        let is_all = need == self.legs.len();
        let last = if is_all {
            self.legs.iter().max_by_key(|leg| leg.end())
        } else {
            self.ends.clear();
            self.ends.extend_from_slice(&self.legs);
            Some(&*self.ends.select_nth_unstable_by_key(need - 1, Leg::end).1)
        };
        let Some(&last) = last else { return };
        for place in 0..self.legs.len() {
            let leg = self.legs[place];
            let ends = if is_all || leg.end() <= last.end() { Ends::Answer } else { Ends::Spare };
            self.serve(now, request, leg, teller, ends);
        }
        teller.sink.answered(&Done {
            arrived: Instant::new(request.arrived),
            began: Instant::new(last.at),
            ended: Instant::new(last.at + last.service),
            service: self.parts.alone(&mut self.scratch),
            class: request.class,
            flow: request.flow,
            server: last.core as u32,
            reordered: false,
            cold: false,
        });
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
        for (leg, part) in self.legs.iter_mut().enumerate() {
            part.is_cancelled = cancels && (leg >= place || part.at > now);
        }
        for leg in 0..self.legs.len() {
            let leg = self.legs[leg];
            if leg.is_cancelled {
                self.cores.stands(leg.core, leg.at, now);
                tell(teller, request, (leg.at, leg.at, 0), Ends::Cancelled);
            } else {
                self.serve(now, request, leg, teller, Ends::Spare);
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
        leg: Leg,
        teller: &mut Teller<'_, S>,
        ends: Ends,
    ) {
        let (end, _) = leg.end();
        self.cores.serves(leg.core, end, now);
        self.served += 1;
        teller.last = teller.last.max(end);
        teller.sink.busy(leg.core as u32, Instant::new(leg.at), Instant::new(end), Nanos::ZERO);
        tell(teller, request, (leg.at, end, leg.service), ends);
    }
}

/// Reports a sub-request: when it began and ended, and how long it was served.
#[inline(always)]
fn tell<S: Sink>(
    teller: &mut Teller<'_, S>,
    request: &Request,
    (began, ended, served): (u64, u64, u64),
    ends: Ends,
) {
    teller.sink.part(&Part {
        class: request.class,
        arrived: Instant::new(request.arrived),
        began: Instant::new(began),
        ended: Instant::new(ended),
        served: Nanos::new(served),
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
