//! The interface of a link: a discipline, and the ring of packets that it has let go.
//!
//! The ring takes packets from the discipline as soon as it has room: at an arrival, or where a transmission
//! ends. So a link changes by itself only at the ends of transmissions and at the discipline's own events; it learns
//! the time from the next arrival, and settles what has happened since.
//!
//! Order at one instant: the end of a transmission, the discipline's event, the arrival. Where an event falls due
//! while the ring is full the discipline is asked behind a closed gate, and whatever it grants is given back.
//!
//! Work per packet: one `enqueue`, one `dequeue` and a half on average; O(1) besides.

use crate::collector::Collector;
use crate::flight::Flight;
use crate::ring::Ring;
use crate::wire::{LinkTally, Outlet, Wire};
use weir_core::discipline::{Discipline, DropReason, Drops, Gate, Grant, Open};
use weir_core::units::{Bytes, Instant};

/// The packets that may wait at one link: beyond them the run ends.
pub const MOST_WAITING: u64 = 10_000_000;

/// A link, driven by its arrivals.
pub trait Interface: Send {
    /// Takes packets, in the order of their arrival, and does all that happens before `until`, which is not
    /// before the last of them. With [`Instant::NEVER`] it goes on until nothing waits.
    fn run(&mut self, arrivals: &[Flight], until: Instant, outlet: &mut Outlet<'_>);

    /// When something happens without an arrival, or [`Instant::NEVER`].
    fn wake(&self) -> Instant;

    /// Packets that wait, in the queue or, where that is not known apart, on the line.
    fn waiting(&self) -> u64;

    /// What was counted.
    fn tally(&self) -> &LinkTally;
}

/// A link whose queue is a discipline.
pub struct Driven<D> {
    discipline: D,
    wire: Wire,
    ring: Ring,
    /// The discipline's next event.
    event: Instant,
}

/// Takes what the discipline drops.
struct Lost<'a> {
    now: Instant,
    wire: &'a mut Wire,
    collector: &'a mut Collector,
}

impl Drops<Flight> for Lost<'_> {
    fn dropped(&mut self, flight: Flight, _reason: DropReason) {
        self.wire.lose(self.now, &flight, self.collector);
    }
}

/// A gate that is always closed.
struct Closed;

impl Gate<Flight> for Closed {
    fn permits(&self, _head: &Flight) -> bool {
        false
    }
}

impl<D: Discipline<Flight>> Driven<D> {
    /// An idle link.
    #[must_use]
    pub fn new(discipline: D, wire: Wire, ring: u32) -> Self {
        Self { discipline, wire, ring: Ring::new(ring), event: Instant::NEVER }
    }

    /// Reads the next event; one that is still due after it was handled waits for the next call.
    #[inline]
    fn read_event(&mut self, now: Instant) {
        let event = self.discipline.next_event().unwrap_or(Instant::NEVER);
        self.event = if event <= now { Instant::NEVER } else { event };
    }

    #[inline]
    fn next(&self) -> Instant {
        self.ring.first_end().min(self.event)
    }

    /// Fills the ring.
    #[inline(always)]
    fn serve(&mut self, now: Instant, outlet: &mut Outlet<'_>) {
        while !self.ring.is_full() {
            let mut lost = Lost { now, wire: &mut self.wire, collector: outlet.collector };
            let Some(Grant { item, quantum }) = self.discipline.dequeue(now, &Open, &mut lost) else {
                break;
            };
            self.discipline.finish(now, &item, quantum);
            let end = self.wire.send(now, &item, outlet);
            self.ring.push(end);
        }
        self.read_event(now);
    }

    /// What happens at `now`, which is the next instant at which something does.
    #[inline]
    fn step(&mut self, now: Instant, outlet: &mut Outlet<'_>) {
        if self.ring.first_end() <= now {
            self.ring.pop();
        }
        if self.ring.is_full() { self.event_behind_a_full_ring(now, outlet) } else { self.serve(now, outlet) }
    }

    #[cold]
    fn event_behind_a_full_ring(&mut self, now: Instant, outlet: &mut Outlet<'_>) {
        let mut lost = Lost { now, wire: &mut self.wire, collector: outlet.collector };
        if let Some(Grant { item, .. }) = self.discipline.dequeue(now, &Closed, &mut lost) {
            self.discipline.requeue(now, item, Bytes::new(0), &mut lost);
        }
        self.read_event(now);
    }

    #[inline]
    fn arrive(&mut self, flight: Flight, outlet: &mut Outlet<'_>) {
        let now = flight.at;
        while self.next() <= now {
            self.step(self.next(), outlet);
        }
        let mut lost = Lost { now, wire: &mut self.wire, collector: outlet.collector };
        if !lost.wire.takes(flight.size) {
            return lost.dropped(flight, DropReason::TooLarge);
        }
        // The line cannot be interrupted, so there is nobody to preempt.
        let _ = self.discipline.enqueue(now, flight, &mut lost);
        if self.ring.is_full() {
            self.read_event(now)
        } else {
            self.serve(now, outlet)
        }
        let waiting = self.discipline.backlog().items;
        self.wire.tally.longest = self.wire.tally.longest.max(waiting);
    }
}

impl<D: Discipline<Flight> + Send> Interface for Driven<D> {
    fn run(&mut self, arrivals: &[Flight], until: Instant, outlet: &mut Outlet<'_>) {
        for flight in arrivals {
            self.arrive(*flight, outlet);
        }
        while self.next() < until {
            if until == Instant::NEVER && self.ring.is_empty() && self.discipline.backlog().is_empty() {
                break;
            }
            self.step(self.next(), outlet);
        }
    }

    fn wake(&self) -> Instant {
        self.next()
    }

    fn waiting(&self) -> u64 {
        self.discipline.backlog().items
    }

    fn tally(&self) -> &LinkTally {
        &self.wire.tally
    }
}
