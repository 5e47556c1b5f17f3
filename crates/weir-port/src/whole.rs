//! The port that serves messages whole: work is time, and service can be interrupted at any instant.
//!
//! | | |
//! |-|-|
//! | Source | the M/G/1 queue with preemptive-resume service, e.g. Harchol-Balter, *Performance Modeling and Design of Computer Systems*, part VII |
//! | Work | O(1) an arrival and a grant, and the discipline's own |
//! | Units | the cost of an item is its service time in ticks of the engine's clock |
//! | Departs from the source | service times are whole ticks, at least one: nanoseconds, or picoseconds on a fast link ([`crate::ticks`]) |
//!
//! Where the server cannot be interrupted (`preemption = false`), a grant runs to its end whatever arrives.
//! A completion comes before an arrival at the same instant.

use crate::arrivals::Arrivals;
use crate::engine::{BACKLOG_LIMIT, Engine, Flow, State, Stopped, Waiting};
use crate::flight::Flight;
use crate::observer::{Departures, Observer};
use crate::ticks::Ticks;
use weir_core::discipline::{CountDrops, Discipline, Enqueued, Open as OpenGate};
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::units::{Instant, Nanos};
use weir_lab::record::Departure;

/// The service time of a message of a given length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    per_unit: f64,
    ticks: Ticks,
}

impl Work {
    /// `per_unit` nanoseconds for each unit of length, counted in `ticks`; `None` unless it is finite and positive.
    #[must_use]
    pub fn new(per_unit: f64, ticks: Ticks) -> Option<Self> {
        let per_unit = ticks.of_nanoseconds(per_unit);
        (per_unit.is_finite() && per_unit > 0.0).then_some(Self { per_unit, ticks })
    }

    /// The unit of the service times.
    pub(crate) fn unit(self) -> &'static str {
        self.ticks.of_work()
    }

    /// The service time, at least a tick.
    #[inline]
    #[must_use]
    pub fn of(self, length: u32) -> Nanos {
        // As `f64::round`, which is a call where the target's baseline has no instruction for it.
        const TWO_52: f64 = 4_503_599_627_370_496.0;
        let time = f64::from(length) * self.per_unit;
        if time >= TWO_52 {
            return Nanos::new(time as u64);
        }
        let moved = time + TWO_52;
        let nearest = moved.to_bits() & ((1 << 52) - 1);
        Nanos::new((nearest + u64::from(time - (moved - TWO_52) >= 0.5)).max(1))
    }
}

/// The grant being served, since when, and what remains of it and of its item.
struct OpenGrant {
    item: Message<Nanos>,
    since: Instant,
    left: Nanos,
    quantum: Nanos,
}

/// The engine: a discipline, its input, and the state of the server.
pub struct Whole<D, A> {
    discipline: D,
    arrivals: A,
    work: Work,
    preemption: bool,
    flight: Flight,
    drops: CountDrops,
    departures: Departures,
    grant: Option<OpenGrant>,
    now: Instant,
    departed: u64,
    busy: Nanos,
    arrived_work: Nanos,
    idle_over_backlog: u64,
}

impl<D, A> Engine for Whole<D, A>
where
    D: Discipline<Message<Nanos>> + Send,
    A: Arrivals,
{
    fn advance<O: Observer>(&mut self, until: u64, observer: &mut O) -> Stopped {
        let stopped = self.run(until, observer);
        self.departures.tell(observer);
        stopped
    }

    fn state(&self) -> State {
        State {
            ticks: self.departed,
            now: self.now.since(Instant::ZERO),
            busy: self.busy,
            arrived: self.flight.arrived(),
            unfinished: self.flight.len() as u64,
            dropped: self.drops.0,
            flow: Flow {
                unit: self.work.unit(),
                arrived: self.arrived_work.get(),
                served: self.busy.get(),
                held: Some(
                    self.discipline.backlog().cost.get()
                        + self.grant.as_ref().map_or(0, |grant| grant.left.get()),
                ),
            },
            message_time: self.flight.message_time(),
            packet_time: Waiting::default(),
            idle_over_backlog: self.idle_over_backlog,
        }
    }
}

impl<D, A> Whole<D, A>
where
    D: Discipline<Message<Nanos>>,
    A: Arrivals,
{
    /// An idle server.
    pub fn new(discipline: D, arrivals: A, work: Work, preemption: bool) -> Self {
        Self {
            discipline,
            arrivals,
            work,
            preemption,
            flight: Flight::default(),
            drops: CountDrops::default(),
            departures: Departures::default(),
            grant: None,
            now: Instant::ZERO,
            departed: 0,
            busy: Nanos::ZERO,
            arrived_work: Nanos::ZERO,
            idle_over_backlog: 0,
        }
    }

    #[inline]
    fn run<O: Observer>(&mut self, until: u64, observer: &mut O) -> Stopped {
        while self.departed < until {
            match self.grant.take().or_else(|| self.choose()) {
                Some(grant) => self.grant = self.serve(grant, observer),
                None if !self.idle() => return Stopped::Exhausted,
                None => {}
            }
            if self.flight.len() >= BACKLOG_LIMIT {
                return Stopped::Overloaded;
            }
        }
        Stopped::Reached
    }

    /// An application that is delivered to submits before the server chooses at that instant.
    #[inline]
    fn choose(&mut self) -> Option<OpenGrant> {
        while A::BEFORE_ACCEPTANCE && self.arrivals.next_at() <= self.now {
            let _ = self.arrive();
        }
        let now = self.now;
        let grant = self.discipline.dequeue(now, &OpenGate, &mut self.drops)?;
        let left = grant.item.remaining;
        Some(OpenGrant { item: grant.item, since: self.now, left, quantum: grant.quantum.min(left) })
    }

    /// Takes in the next arrival, at its instant.
    #[inline]
    fn arrive(&mut self) -> Enqueued {
        let arrival = self.arrivals.take();
        self.now = self.now.max(arrival.at);
        let work = self.work.of(arrival.length);
        self.arrived_work += work;
        let message = Message {
            id: self.flight.admit(&arrival),
            flow: FlowId(arrival.flow),
            class: ClassId(arrival.class),
            remaining: work,
        };
        self.discipline.enqueue(self.now, message, &mut self.drops)
    }

    #[cold]
    fn idle(&mut self) -> bool {
        let event = self.discipline.next_event().unwrap_or(Instant::NEVER);
        let next = self.arrivals.next_at();
        if event.min(next) == Instant::NEVER {
            return false;
        }
        self.idle_over_backlog += u64::from(!self.flight.is_empty());
        self.now = self.now.max(event.min(next));
        if next <= event {
            let _ = self.arrive();
        }
        true
    }

    /// Serves until the quantum is used or something happens; gives the grant back if it goes on.
    #[inline]
    fn serve<O: Observer>(&mut self, mut grant: OpenGrant, observer: &mut O) -> Option<OpenGrant> {
        let end = grant.since + grant.quantum;
        let event = self.discipline.next_event().unwrap_or(Instant::NEVER).max(grant.since);
        if self.arrivals.next_at() >= end.min(event) {
            return self.close(grant, end.min(event), observer);
        }
        let at = self.arrivals.next_at().max(self.now);
        self.use_up(&mut grant, at);
        if self.arrive() == Enqueued::Preempts && self.preemption {
            self.give_back(&grant);
            return None;
        }
        Some(grant)
    }

    /// Charges the grant for the time up to `at`.
    #[inline]
    fn use_up(&mut self, grant: &mut OpenGrant, at: Instant) {
        let used = at - grant.since;
        if used > Nanos::ZERO {
            self.flight.begin(grant.item.id, grant.since);
        }
        self.discipline.charge(at, &grant.item, used);
        self.busy += used;
        grant.since = at;
        grant.left -= used;
        grant.quantum -= used;
    }

    #[inline]
    fn give_back(&mut self, grant: &OpenGrant) {
        let item = Message { remaining: grant.left, ..grant.item };
        self.discipline.requeue(self.now, item, Nanos::ZERO, &mut self.drops);
    }

    /// The quantum is used at `end`, or an event of the discipline is due: the message departs or waits.
    #[inline]
    fn close<O: Observer>(
        &mut self,
        mut grant: OpenGrant,
        end: Instant,
        observer: &mut O,
    ) -> Option<OpenGrant> {
        self.now = end;
        self.use_up(&mut grant, end);
        if grant.left > Nanos::ZERO {
            self.give_back(&grant);
            return None;
        }
        self.discipline.finish(end, &grant.item, Nanos::ZERO);
        let message = self.flight.release(grant.item.id, end);
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
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_times_are_rounded_half_up() {
        let per_units = [0.1, 0.3, 0.5, 0.8, 1.0, 2.5, 1e-9, 1e6 + 0.5, 1e10, 3e18];
        let lengths = (0..2_000).chain([12_345_679, u32::MAX - 1, u32::MAX]);
        for (length, per_unit) in lengths.flat_map(|length| per_units.map(|per_unit| (length, per_unit))) {
            let work = Work::new(per_unit, Ticks::NANOSECONDS).expect("positive");
            let rounded = (f64::from(length) * per_unit).round() as u64;
            assert_eq!(work.of(length).get(), rounded.max(1), "{length} {per_unit}");
        }
    }
}
