//! Processor sharing exactly: the server divides itself evenly among all messages present.
//!
//! | | |
//! |-|-|
//! | Source | Kleinrock, *Time-shared systems: a theoretical treatment*, JACM 14(2), 1967: the quantum goes to 0 |
//! | Work | O(log n) an arrival and a departure, n messages present |
//! | Units | ticks of the engine's clock; its own clock and attained service in 2^-32 ticks |
//! | Departs from the source | departures are reported in whole ticks, rounded up; the rounding does not add up |
//!
//! All present messages have the same service per unit of time, so one number, the service `attained` by a
//! message present since the beginning, orders all departures: a message of work w that arrives when it is
//! v departs when it is v + w. This is the accelerated form of the discipline `ps` in the limit of a
//! vanishing quantum; it has no packets, so the port must serve messages whole.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::arrivals::Arrivals;
use crate::engine::{BACKLOG_LIMIT, Engine, Flow, State, Stopped, Waiting};
use crate::flight::Flight;
use crate::observer::{Departures, Observer};
use crate::whole::Work;
use weir_core::units::{Instant, Nanos};
use weir_lab::record::Departure;

/// Bits after the binary point of the clock and of attained service.
const FRACTION: u32 = 32;

/// The engine: its input, and the messages present by attained service at departure.
pub struct Fluid<A> {
    arrivals: A,
    work: Work,
    flight: Flight,
    departures: Departures,
    present: BinaryHeap<Reverse<Present>>,
    attained: u128,
    now: u128,
    departed: u64,
    busy: u128,
}

/// A message present; the one that departs first, then the one that arrived first, is the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Present {
    /// Attained service at departure.
    goal: u128,
    number: u64,
    id: u32,
}

/// The first whole tick that is not before `instant`.
fn rounded_up(instant: u128) -> u64 {
    u64::try_from(instant.div_ceil(1 << FRACTION)).unwrap_or(u64::MAX)
}

/// A span over how many share it, rounded up. Divided in 64 bits where they are enough, which takes a fraction of the time.
#[inline]
fn divided(span: u128, among: u64) -> u128 {
    match u64::try_from(span) {
        Ok(span) => span.div_ceil(among).into(),
        Err(_) => span.div_ceil(among.into()),
    }
}

impl<A: Arrivals> Engine for Fluid<A> {
    fn advance<O: Observer>(&mut self, until: u64, observer: &mut O) -> Stopped {
        let stopped = self.run(until, observer);
        self.departures.tell(observer);
        stopped
    }

    fn state(&self) -> State {
        State {
            ticks: self.departed,
            now: Nanos::new(rounded_up(self.now)),
            busy: Nanos::new(rounded_up(self.busy)),
            arrived: self.flight.arrived(),
            unfinished: self.flight.len() as u64,
            dropped: 0,
            flow: Flow {
                unit: "messages",
                arrived: self.flight.arrived(),
                served: self.departed,
                held: Some(self.present.len() as u64),
            },
            message_time: self.flight.message_time(),
            packet_time: Waiting::default(),
            idle_over_backlog: 0,
        }
    }
}

impl<A: Arrivals> Fluid<A> {
    /// An idle server.
    pub fn new(arrivals: A, work: Work) -> Self {
        Self {
            arrivals,
            work,
            flight: Flight::default(),
            departures: Departures::default(),
            present: BinaryHeap::new(),
            attained: 0,
            now: 0,
            departed: 0,
            busy: 0,
        }
    }

    #[inline]
    fn run<O: Observer>(&mut self, until: u64, observer: &mut O) -> Stopped {
        while self.departed < until {
            match self.next_departure() {
                Some(end) if end <= u128::from(self.arrivals.next_at().get()) << FRACTION => {
                    self.depart(end, observer)
                }
                None if self.arrivals.next_at() == Instant::NEVER => {
                    return Stopped::Exhausted;
                }
                _ => self.arrive(),
            }
            if self.flight.len() >= BACKLOG_LIMIT {
                return Stopped::Overloaded;
            }
        }
        Stopped::Reached
    }

    /// The instant at which the first of those present departs if nobody arrives: a whole number of 2^-32
    /// ticks, so that time up to a departure is divided without a remainder.
    fn next_departure(&self) -> Option<u128> {
        let Reverse(Present { goal, .. }) = self.present.peek()?;
        Some(self.now + goal.saturating_sub(self.attained) * self.present.len() as u128)
    }

    /// Lets time pass up to an arrival: everybody present attains the same.
    fn pass(&mut self, to: u128) {
        let span = to - self.now;
        if !self.present.is_empty() {
            // Rounded up, or a departure that falls on a tick would be reported as the next.
            self.attained += divided(span, self.present.len() as u64);
            self.busy += span;
        }
        self.now = to;
    }

    fn arrive(&mut self) {
        let arrival = self.arrivals.take();
        self.pass(self.now.max(u128::from(arrival.at.get()) << FRACTION));
        let id = self.flight.admit(&arrival);
        self.flight.begin(id, arrival.at);
        let goal = self.attained + (u128::from(self.work.of(arrival.length).get()) << FRACTION);
        self.present.push(Reverse(Present { goal, number: self.flight.arrived(), id }));
    }

    fn depart<O: Observer>(&mut self, end: u128, observer: &mut O) {
        let Some(Reverse(Present { goal, id, .. })) = self.present.pop() else { return };
        // All have attained what the first of them needed: it takes a whole number of 2^-32 ticks.
        self.attained = self.attained.max(goal);
        self.busy += end - self.now;
        self.now = end;
        let end = Instant::new(rounded_up(end));
        let message = self.flight.release(id, end);
        let departure = Departure {
            index: message.index,
            flow: message.flow,
            class: message.class,
            length: message.length,
            arrival: message.arrival,
            first: message.first,
            last: end,
            completion: end,
            alone: self.work.of(message.length),
            tick: self.departed,
        };
        self.departures.push(departure, observer);
        self.departed += 1;
        self.arrivals.delivered(message.flow, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_divided_alike_in_both_widths() {
        for span in [0, 1, 7, u128::from(u64::MAX), u128::from(u64::MAX) + 1, 1 << 90] {
            for among in [1_u64, 3, 1 << 20] {
                assert_eq!(divided(span, among), span.div_ceil(among.into()), "{span} among {among}");
            }
        }
    }
}
