//! Reserved cores: a queue for each class, of which the longer ones may use fewer cores, the highest numbers (`darc`).
//!
//! A request that finds an idle core begins at once. Of the others nothing is known when they arrive, since who comes later
//! may go first; they begin, one after the other, where a core that may serve one is free, before the next request is
//! looked at. As long as nobody waits whom the next free core may serve, that is one comparison.

use std::collections::VecDeque;

use super::scan::{earliest, first_by};
use super::{Course, Request, Teller, tell};
use crate::record::Sink;
use weir_core::discipline::DropReason;
use weir_core::item::ClassId;
use weir_core::pool::darc::Reservation;
use weir_core::units::Instant;

/// Nobody waits.
const NEVER: u64 = Instant::NEVER.get();

/// The queue of a place in the order of classes.
#[derive(Clone, Debug)]
struct Place {
    /// The first core that may serve it; so may all behind.
    start: usize,
    waiting: VecDeque<Request>,
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
    free: Vec<u64>,
    /// Since when each is busy without a gap.
    since: Vec<u64>,
    /// How many may wait at a place.
    room: usize,
}

impl Reserved {
    /// `None` where a class may not use the cores of all longer ones.
    pub(super) fn new(reservation: Reservation, servers: u32, queue: Option<u32>) -> Option<Self> {
        let place = |start: u32| Place { start: start as usize, waiting: VecDeque::new() };
        let places = reservation.starts()?.map(place).collect();
        let cores = vec![0; servers as usize];
        let room = queue.map_or(usize::MAX, |queue| queue as usize * servers as usize);
        let (filled, due) = (0, NEVER);
        Some(Self { reservation, places, filled, due, free: cores.clone(), since: cores, room })
    }

    /// A request begins on a core that is free by then.
    #[inline(always)]
    fn begin<S: Sink>(&mut self, core: usize, began: u64, request: &Request, teller: &mut Teller<'_, S>) {
        let free = self.free[core];
        if began > free {
            tell(core as u32, self.since[core], free, teller.sink);
            self.since[core] = began;
        }
        self.free[core] = began + request.service;
        teller.done(request, core as u32, began);
    }

    /// Who waits begins, where a core is free no later than `now`.
    #[inline(never)]
    fn begin_waiting<S: Sink>(&mut self, now: u64, teller: &mut Teller<'_, S>) {
        while let Some((core, at)) = self.next_free().filter(|&(_, at)| at <= now) {
            let first = self.filled.trailing_zeros() as usize;
            let waiting = &mut self.places[first].waiting;
            let Some(request) = waiting.pop_front() else { break };
            if waiting.is_empty() {
                self.filled &= !(1 << first);
            }
            self.begin(core, at, &request, teller);
        }
        self.due = self.next_free().map_or(NEVER, |(_, at)| at);
    }

    /// The core that is free next of those that may serve somebody who waits, and when. The first place that has somebody
    /// has the most cores, and is served first by all of them.
    fn next_free(&self) -> Option<(usize, u64)> {
        let start = self.places.get(self.filled.trailing_zeros() as usize)?.start;
        let core = start + earliest(&self.free[start..]);
        Some((core, self.free[core]))
    }
}

impl Course for Reserved {
    #[inline(always)]
    fn request<S: Sink>(
        &mut self,
        now: u64,
        request: &Request,
        teller: &mut Teller<'_, S>,
    ) -> Result<(), DropReason> {
        if self.due <= now {
            self.begin_waiting(now, teller);
        }
        let place = self.reservation.place(ClassId(request.class)) as usize;
        let start = self.places[place].start;
        if let Some(idle) = first_by(&self.free[start..], now) {
            self.begin(start + idle, now, request, teller);
            return Ok(());
        }
        if self.places[place].waiting.len() >= self.room {
            return Err(DropReason::QueueFull);
        }
        self.places[place].waiting.push_back(*request);
        self.filled |= 1 << place;
        self.due = self.due.min(self.free[start + earliest(&self.free[start..])]);
        Ok(())
    }

    fn close<S: Sink>(&mut self, teller: &mut Teller<'_, S>) {
        self.begin_waiting(NEVER - 1, teller);
        for (core, (&since, &free)) in self.since.iter().zip(&self.free).enumerate() {
            tell(core as u32, since, free, teller.sink);
        }
    }

    fn moved(&self) -> u64 {
        0
    }
}
