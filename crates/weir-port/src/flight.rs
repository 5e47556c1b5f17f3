//! Messages in flight: what the engine remembers of a message between its arrival and its departure.
//!
//! A slab: a freed place is taken by the next arrival, so that memory follows the backlog, not the length
//! of the run. The handle given to a discipline is the place.

use crate::arrivals::Arrival;
use weir_core::units::Instant;

/// What is remembered of one message.
#[derive(Clone, Copy, Debug, Default)]
pub struct InFlight {
    /// Its number in order of arrival.
    pub index: u64,
    /// Instant of arrival.
    pub arrival: Instant,
    /// Instant at which its first unit was accepted; [`Instant::NEVER`] until it is.
    pub first: Instant,
    /// Its length at arrival.
    pub length: u32,
    /// Its application.
    pub flow: u32,
    /// Its class.
    pub class: u16,
}

/// All messages in flight.
#[derive(Debug, Default)]
pub struct Flight {
    slots: Vec<InFlight>,
    free: Vec<u32>,
    arrived: u64,
    /// The sums of the instants of arrival and of departure, and the last of them.
    arrivals: u128,
    departures: u128,
    last: Instant,
}

impl Flight {
    /// Messages that have arrived so far.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Messages that have not yet departed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The most messages that were in flight at once.
    #[must_use]
    pub fn most(&self) -> usize {
        self.slots.len()
    }

    /// Whether every message that arrived has departed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The integral over time of the number of messages in flight, up to the last arrival or departure.
    ///
    /// Each message adds the time between its two instants, or until the last of all if it has not left.
    #[must_use]
    pub fn message_time(&self) -> u128 {
        self.departures + self.len() as u128 * u128::from(self.last.get()) - self.arrivals
    }

    /// Remembers a message and returns its handle.
    #[inline]
    pub fn admit(&mut self, arrival: &Arrival) -> u32 {
        self.arrivals += u128::from(arrival.at.get());
        self.last = self.last.max(arrival.at);
        let slot = InFlight {
            index: self.arrived,
            arrival: arrival.at,
            first: Instant::NEVER,
            length: arrival.length,
            flow: arrival.flow,
            class: arrival.class,
        };
        self.arrived += 1;
        match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = slot;
                id
            }
            None => self.grow(slot),
        }
    }

    #[cold]
    fn grow(&mut self, slot: InFlight) -> u32 {
        let id = u32::try_from(self.slots.len()).expect("the backlog limit is below 2^32 messages");
        self.slots.push(slot);
        id
    }

    /// The message with handle `id`.
    #[inline]
    #[must_use]
    pub fn get(&self, id: u32) -> &InFlight {
        &self.slots[id as usize]
    }

    /// A unit of the message is accepted at `at`; only the first is remembered.
    #[inline]
    pub fn begin(&mut self, id: u32, at: Instant) {
        let slot = &mut self.slots[id as usize];
        slot.first = slot.first.min(at);
    }

    /// Forgets a message that left at `at`.
    #[inline]
    pub fn release(&mut self, id: u32, at: Instant) -> InFlight {
        self.departures += u128::from(at.get());
        self.last = self.last.max(at);
        self.free.push(id);
        self.slots[id as usize]
    }
}
