//! Reserved cores: a queue for each class, of which the longer ones may use fewer cores, the highest numbers (`darc`).
//!
//! A request that finds an idle core begins at once. Of the others nothing is known when they arrive, since who comes later
//! may go first; they begin, one after the other, where a core that may serve one is free, before the next request is
//! examined. As long as nobody waits whom the next free core may serve, that is one comparison.

use std::cell::Cell;
use std::collections::VecDeque;

use super::scan::{earliest, first_by};
use super::{Course, Door, Request, Teller};
use crate::record::{Batch, Sink};
use weir_core::discipline::DropReason;
use weir_core::item::ClassId;
use weir_core::pool::darc::Reservation;
use weir_core::units::Instant;
use weir_workload::requests::Requests;

/// Nobody waits.
const NEVER: u64 = Instant::NEVER.get();

/// The queue of a place in the order of classes.
#[derive(Clone, Debug)]
struct Place {
    /// The first core that may serve it; so may all behind.
    start: usize,
    waiting: VecDeque<Request>,
}

/// Requests that have begun and are not reported yet, in the order in which they do.
#[derive(Default)]
struct Begun {
    requests: Requests,
    began: Vec<u64>,
    server: Vec<u32>,
}

impl Begun {
    #[inline(always)]
    fn push(&mut self, request: &Request, server: u32, began: u64) {
        self.requests.at.push(request.arrived);
        self.requests.class.push(request.class);
        self.requests.flow.push(request.flow);
        self.requests.service.push(request.service);
        self.began.push(began);
        self.server.push(server);
    }

    fn tell<S: Sink>(&mut self, teller: &mut Teller<'_, S>) {
        let Requests { at, class, flow, service, .. } = &self.requests;
        teller.done(Batch { arrived: at, began: &self.began, service, class, flow, server: &self.server });
        self.requests.clear();
        self.began.clear();
        self.server.clear();
    }
}

/// Cores of which some are reserved.
pub(super) struct Reserved {
    reservation: Reservation,
    /// The shortest class first; no start is below that of a place before.
    places: Vec<Place>,
    /// Those that have somebody waiting, a bit each.
    filled: u128,
    /// When a core is free next that may serve somebody who waits.
    due: u64,
    /// When each core is free.
    free: Vec<Cell<u64>>,
    /// How many may wait at a place.
    room: usize,
    begun: Begun,
}

impl Reserved {
    /// `None` where a class may not use the cores of all longer ones.
    pub(super) fn new(reservation: Reservation, servers: u32, queue: Option<u32>) -> Option<Self> {
        let place = |start: u32| Place { start: start as usize, waiting: VecDeque::new() };
        let places = reservation.starts()?.map(place).collect();
        let free = vec![Cell::new(0); servers as usize];
        let room = queue.map_or(usize::MAX, |queue| queue as usize * servers as usize);
        let (filled, due) = (0, NEVER);
        Some(Self { reservation, places, filled, due, free, room, begun: Begun::default() })
    }

    /// A request begins on a core that is free by then.
    #[inline(always)]
    fn begin(&mut self, core: usize, began: u64, request: &Request) {
        self.free[core].set(began + request.service);
        self.begun.push(request, core as u32, began);
    }

    /// Who waits begins, where a core is free no later than `now`.
    #[inline(never)]
    fn begin_waiting(&mut self, now: u64) {
        while let Some((core, at)) = self.next_free().filter(|&(_, at)| at <= now) {
            let first = self.filled.trailing_zeros() as usize;
            let waiting = &mut self.places[first].waiting;
            let Some(request) = waiting.pop_front() else { break };
            if waiting.is_empty() {
                self.filled &= !(1 << first);
            }
            self.begin(core, at, &request);
        }
        self.due = self.next_free().map_or(NEVER, |(_, at)| at);
    }

    /// The core that is free next of those that may serve somebody who waits, and when. The first place that has somebody
    /// has the most cores, and is served first by all of them.
    fn next_free(&self) -> Option<(usize, u64)> {
        let start = self.places.get(self.filled.trailing_zeros() as usize)?.start;
        let core = start + earliest(&self.free[start..]);
        Some((core, self.free[core].get()))
    }

    /// A request comes before the discipline at `now`: it begins, or is put aside.
    ///
    /// # Errors
    /// It is dropped.
    #[inline(always)]
    fn request(&mut self, now: u64, request: &Request) -> Result<(), DropReason> {
        if self.due <= now {
            self.begin_waiting(now);
        }
        let place = self.reservation.place(ClassId(request.class)) as usize;
        let start = self.places[place].start;
        if let Some(idle) = first_by(&self.free[start..], now) {
            self.begin(start + idle, now, request);
            return Ok(());
        }
        if self.places[place].waiting.len() >= self.room {
            return Err(DropReason::QueueFull);
        }
        self.places[place].waiting.push_back(*request);
        self.filled |= 1 << place;
        self.due = self.due.min(self.free[start + earliest(&self.free[start..])].get());
        Ok(())
    }
}

impl Course for Reserved {
    #[inline(always)]
    fn take<S: Sink>(&mut self, door: &mut Door, block: &mut Requests, teller: &mut Teller<'_, S>) -> u64 {
        let mut dropped = 0;
        for place in 0..block.len() {
            let request = Request::of(block, place);
            let now = door.passes(request.arrived);
            if let Err(reason) = self.request(now, &request) {
                teller.left(&request, now, reason.into());
                dropped += 1;
            }
        }
        self.begun.tell(teller);
        dropped
    }

    fn close<S: Sink>(&mut self, teller: &mut Teller<'_, S>) {
        self.begin_waiting(NEVER - 1);
        self.begun.tell(teller);
    }
}
