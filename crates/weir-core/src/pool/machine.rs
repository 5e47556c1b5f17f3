//! A pool of servers in small, for the tests of pool disciplines: it drives one as the contract says, and holds it to it.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::testing::Request;
use super::{Assigned, Delays, Measured, Placed, Pool, ReceiverId, ServerId, WHOLE};
use crate::discipline::DropReason;
use crate::info::{Arguments, Info};
use crate::item::{ClassId, FlowId};
use crate::spec::{Spec, SpecError};
use crate::units::{Cost, Instant, Nanos};

/// A request that arrives at `at` and needs `service`, both in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub at: u64,
    pub class: u16,
    pub flow: u32,
    pub service: u64,
}

/// What `make` makes of the arguments of a spec; under its own type, so that a test sees inside.
pub(super) fn made<P>(
    info: &'static Info,
    spec: &str,
    make: impl FnOnce(&Arguments<'_>) -> Result<P, SpecError>,
) -> P {
    let parsed: Spec = spec.parse().expect(spec);
    Arguments::new(&parsed, info).and_then(|arguments| make(&arguments)).expect(spec)
}

/// Up to 60 requests of `classes` classes, in the order of their arrivals.
pub(super) fn requests(classes: u16) -> impl Strategy<Value = Vec<Arrival>> {
    let one = (0_u64..20, 0..classes, 0_u32..8, 1_u64..40);
    prop::collection::vec(one, 1..60).prop_map(|drawn| {
        let mut at = 0;
        let arrive = |(gap, class, flow, service): (u64, u16, u32, u64)| {
            at += gap;
            Arrival { at, class, flow, service }
        };
        drawn.into_iter().map(arrive).collect()
    })
}

/// One grant: who was served where, from when to when, after which overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub id: u32,
    pub server: u32,
    pub from: u64,
    pub to: u64,
    pub overhead: u64,
}

/// What came of a run.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// In the order of their beginnings.
    pub pieces: Vec<Piece>,
    pub dropped: Vec<u32>,
    /// Whether a server was ever idle while something waited.
    pub idled_over_backlog: bool,
    /// How many servers were in use after each control.
    pub in_use: Vec<u32>,
}

impl Run {
    /// Who was served, in the order of beginnings; once for each grant.
    pub(super) fn order(&self) -> Vec<u32> {
        self.pieces.iter().map(|piece| piece.id).collect()
    }

    /// The server and the times of each grant of a request.
    pub(super) fn spans_of(&self, id: u32) -> Vec<(u32, u64, u64)> {
        let own = self.pieces.iter().filter(|piece| piece.id == id);
        own.map(|piece| (piece.server, piece.from, piece.to)).collect()
    }
}

/// An open grant, and until when it lasts.
struct Open {
    item: Request,
    used: Nanos,
    until: u64,
}

struct Machine<'p> {
    pool: &'p mut dyn Pool<Request>,
    servers: Vec<Option<Open>>,
    arrivals: VecDeque<(u32, Arrival)>,
    began: Vec<bool>,
    arrived: Vec<u64>,
    classes: Vec<Delays>,
    next_control: Option<u64>,
    waiting: u64,
    drops: Vec<(Request, DropReason)>,
    run: Run,
}

/// Serves the requests to the end. At one instant boundaries come first, then the control, then arrivals.
pub(super) fn run(pool: &mut dyn Pool<Request>, servers: u32, requests: &[Arrival]) -> Run {
    let next_control = pool.period().map(|period| period.get());
    let mut machine = Machine {
        pool,
        servers: (0..servers).map(|_| None).collect(),
        arrivals: (0..).zip(requests.iter().copied()).collect(),
        began: vec![false; requests.len()],
        arrived: requests.iter().map(|request| request.at).collect(),
        classes: vec![Delays::default(); 64],
        next_control,
        waiting: 0,
        drops: Vec::new(),
        run: Run::default(),
    };
    while let Some(now) = machine.next() {
        machine.step(now);
    }
    assert!(machine.pool.backlog().is_empty(), "something waits at the end");
    let dropped = &mut machine.run.dropped;
    *dropped = machine.drops.iter().map(|(item, _)| item.id).collect();
    let begun = machine.began.iter().filter(|began| **began).count();
    assert_eq!(begun + dropped.len(), requests.len(), "each is served or dropped");
    machine.run
}

impl Machine<'_> {
    /// When something happens next; `None` once everybody has left.
    fn next(&self) -> Option<u64> {
        let boundary = self.servers.iter().flatten().map(|open| open.until).min();
        let event = self.arrivals.front().map(|(_, request)| request.at).into_iter().chain(boundary).min();
        let control = self.next_control.filter(|_| event.is_some() || self.waiting > 0);
        assert!(self.waiting == 0 || event.or(control).is_some(), "something waits and nothing is due");
        let alarm = self.pool.wakes_at().map(Instant::get);
        event.into_iter().chain(control).chain(alarm).min()
    }

    fn step(&mut self, now: u64) {
        for server in 0..self.servers.len() {
            if self.servers[server].as_ref().is_some_and(|open| open.until == now) {
                self.close(now, server);
            }
        }
        if self.next_control == Some(now) {
            self.control(now);
        }
        if self.pool.wakes_at().is_some_and(|at| at.get() == now) {
            self.wake(now);
            assert!(self.pool.wakes_at().is_none_or(|at| at.get() > now), "an alarm goes on");
        }
        while let Some((id, request)) = self.arrivals.pop_front_if(|(_, request)| request.at == now) {
            self.arrive(now, id, request);
        }
        let idle = self.servers.iter().any(Option::is_none);
        self.run.idled_over_backlog |= idle && self.waiting > 0;
        assert_eq!(self.pool.backlog().items, self.waiting, "the backlog at {now}");
    }

    fn arrive(&mut self, now: u64, id: u32, request: Arrival) {
        let (class, flow) = (ClassId(request.class), FlowId(request.flow));
        let item = Request { id, flow, class, remaining: Nanos::new(request.service) };
        self.waiting += 1;
        let dropped = self.drops.len();
        let placed = self.pool.enqueue(Instant::new(now), item, ReceiverId(0), &mut self.drops);
        self.waiting -= (self.drops.len() - dropped) as u64;
        match placed {
            Placed::Queued => {}
            Placed::Ask(server) => self.ask(now, server),
            Placed::Preempts(server) => panic!("{server:?} is preempted, which none of these do"),
        }
    }

    /// The open grant of a server ends.
    fn close(&mut self, now: u64, server: usize) {
        let Open { item, used, .. } = self.servers[server].take().expect("open");
        let (at, id) = (Instant::new(now), ServerId(server as u32));
        let rest = item.remaining.minus(used);
        if rest == Nanos::ZERO {
            self.pool.finish(at, id, &item, used);
        } else {
            self.waiting += 1;
            self.pool.requeue(at, id, Request { remaining: rest, ..item }, used, &mut self.drops);
        }
        self.ask(now, id);
        self.wake(now);
    }

    /// A server without an open grant asks for the next.
    fn ask(&mut self, now: u64, server: ServerId) {
        let open = &mut self.servers[server.0 as usize];
        assert!(open.is_none(), "{server:?} is asked for, and is busy");
        let Some(Assigned { item, quantum, overhead }) =
            self.pool.dequeue(Instant::new(now), server, &mut self.drops)
        else {
            return;
        };
        let used = if quantum == WHOLE { item.remaining } else { item.remaining.min(quantum) };
        let from = now + overhead.get();
        let piece =
            Piece { id: item.id, server: server.0, from, to: from + used.get(), overhead: overhead.get() };
        *open = Some(Open { item, used, until: piece.to });
        self.run.pieces.push(piece);
        self.waiting -= 1;
        if !core::mem::replace(&mut self.began[item.id as usize], true) {
            let delays = &mut self.classes[usize::from(item.class.0)];
            delays.requests += 1;
            delays.delay += Nanos::new(now - self.arrived[item.id as usize]);
        }
    }

    fn wake(&mut self, now: u64) {
        while let Some(server) = self.pool.wake(Instant::new(now)) {
            self.ask(now, server);
        }
    }

    fn control(&mut self, now: u64) {
        let period = self.pool.period().expect("one is due");
        let dropped = |id: usize| self.drops.iter().any(|(item, _)| item.id as usize == id);
        let waits = |&id: &usize| self.arrived[id] < now && !self.began[id] && !dropped(id);
        let oldest = (0..self.began.len()).find(waits).map_or(0, |id| now - self.arrived[id]);
        let measured = Measured { classes: &self.classes, oldest: Nanos::new(oldest), busy: Nanos::ZERO };
        self.pool.control(Instant::new(now), &measured);
        self.run.in_use.extend(self.pool.in_use());
        self.classes.fill(Delays::default());
        self.next_control = Some(now + period.get());
        self.wake(now);
    }
}
