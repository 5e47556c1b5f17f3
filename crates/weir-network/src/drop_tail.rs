//! First in, first out with a full queue that refuses the newcomer, without its queue.
//!
//! Where packets leave in the order in which they came, the end of a transmission is known at the arrival: after
//! the one before. A packet finds `n` others in the system if the `n`-th accepted before it has not left yet, so
//! the ends of the last accepted packets say everything: whether there is room (the one `limit + ring` before
//! has left), when the packet enters the ring (when the one `ring` before leaves), and how long the queue is.
//!
//! Work per packet: one comparison where it finds no longer queue than before. Memory: eight bytes for each packet
//! of the longest queue. Equal to [`Driven`](super::interface::Driven) over `fifo`, which a test holds it to.

use crate::flight::Flight;
use crate::interface::Interface;
use crate::wire::{LinkTally, Outlet, Wire};
use weir_core::units::Instant;

/// The number of transmissions whose ends are kept at first.
const FEW: usize = 16;

/// A drop-tail link.
pub struct DropTail {
    wire: Wire,
    /// Packets that may wait outside the ring; `u64::MAX` for any number.
    limit: u64,
    ring: u64,
    /// When the last packets accepted leave, by their number in a power of two of places.
    ends: Vec<Instant>,
    /// How many were accepted.
    accepted: u64,
}

impl DropTail {
    /// An idle link whose queue holds `limit` packets, or any number.
    #[must_use]
    pub fn new(wire: Wire, limit: Option<u64>, ring: u32) -> Self {
        let ring = u64::from(ring.max(1));
        let places = FEW.max((ring as usize + 1).next_power_of_two());
        Self { wire, limit: limit.unwrap_or(u64::MAX), ring, ends: vec![Instant::ZERO; places], accepted: 0 }
    }

    /// When the packet accepted `back` before the next one leaves; the beginning where there was none.
    #[inline]
    fn end_of(&self, back: u64) -> Instant {
        let place = self.accepted.wrapping_sub(back) as usize & (self.ends.len() - 1);
        self.ends[place]
    }

    #[inline]
    fn arrive(&mut self, flight: &Flight, outlet: &mut Outlet<'_>) {
        let now = flight.at;
        if !self.wire.takes(flight.size) {
            return self.wire.lose(now, flight, outlet.collector);
        }
        // As many as ever: the queue is full, or longer than before.
        if self.end_of(self.wire.tally.longest + self.ring) > now {
            if self.wire.tally.longest >= self.limit {
                return self.wire.lose(now, flight, outlet.collector);
            }
            self.lengthen();
        }
        let entry = now.max(self.end_of(self.ring));
        let end = self.wire.send(entry, flight, outlet);
        let place = self.accepted as usize & (self.ends.len() - 1);
        self.ends[place] = end;
        self.accepted += 1;
    }

    #[cold]
    fn lengthen(&mut self) {
        self.wire.tally.longest += 1;
        let places = self.ends.len();
        if self.wire.tally.longest + self.ring < places as u64 {
            return;
        }
        let mut ends = vec![Instant::ZERO; 2 * places];
        for back in 1..=places as u64 {
            let number = self.accepted.wrapping_sub(back) as usize;
            ends[number & (2 * places - 1)] = self.ends[number & (places - 1)];
        }
        self.ends = ends;
    }
}

impl Interface for DropTail {
    fn run(&mut self, arrivals: &[Flight], _until: Instant, outlet: &mut Outlet<'_>) {
        for flight in arrivals {
            self.arrive(flight, outlet);
        }
    }

    fn wake(&self) -> Instant {
        Instant::NEVER
    }

    fn waiting(&self) -> u64 {
        self.wire.tally.longest
    }

    fn tally(&self) -> &LinkTally {
        &self.wire.tally
    }
}
