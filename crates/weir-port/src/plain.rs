//! The plain engine of the port: one server that hands out packets, driven through the contract.
//!
//! | | |
//! |-|-|
//! | Source | Cherkasova and Rokicki, alpha report, sections 7 and 15 |
//! | Work | O(1) a packet, and the discipline's own work a grant |
//! | Units | the clock in nanoseconds; in the report's scenarios one unit of time is 10^9 of them |
//! | Departs from the source | the clock of the port is 64 bits wide and does not overflow |
//!
//! At each instant at which the server is free it accepts one packet and is busy for that packet's service
//! time. A grant is served packet by packet until its quantum is used or an arrival preempts it, and is
//! closed at its last *acceptance*: what arrives during that packet's transmission finds no open grant.
//! An acceptance comes before an arrival at the same instant, and an idle server takes the first packet of
//! an arrival before the second arrival of that instant.

use crate::arrivals::Arrivals;
use crate::engine::{BACKLOG_LIMIT, Engine, Flow, State, Stopped, Waiting};
use crate::flight::Flight;
use crate::observer::{Observer, Sample};
use crate::service::Drawn;
use weir_core::discipline::{CountDrops, Discipline, Enqueued, Open as OpenGate};
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::units::{Instant, Nanos, Packets};
use weir_lab::record::Departure;
use weir_workload::source::ServiceSource;

/// Whose grant is open, and what has been used of it.
struct OpenGrant {
    item: Message<Packets>,
    left: u64,
    quantum: u64,
    uncharged: u64,
}

/// The engine: a discipline, its input, and the state of the server.
pub struct Plain<D, A, S> {
    discipline: D,
    arrivals: A,
    service: Drawn<S>,
    flight: Flight,
    drops: CountDrops,
    grant: Option<OpenGrant>,
    boundary: Instant,
    tick: u64,
    arrived_packets: u64,
    busy: Nanos,
    idle_over_backlog: u64,
    sample_period: Nanos,
    next_sample: Instant,
}

impl<D, A, S> Engine for Plain<D, A, S>
where
    D: Discipline<Message<Packets>> + Send,
    A: Arrivals,
    S: ServiceSource + Send,
{
    fn advance<O: Observer>(&mut self, until: u64, observer: &mut O) -> Stopped {
        let mut open = self.grant.take();
        while self.tick < until {
            match open.take().or_else(|| self.choose(observer)) {
                Some(grant) => open = self.serve(grant, until, observer),
                None if !self.idle(observer) => return Stopped::Exhausted,
                None => {}
            }
            if self.flight.most() >= BACKLOG_LIMIT {
                self.grant = open;
                return Stopped::Overloaded;
            }
        }
        self.grant = open;
        Stopped::Reached
    }

    fn state(&self) -> State {
        State {
            ticks: self.tick,
            now: self.boundary.since(Instant::ZERO),
            busy: self.busy,
            arrived: self.flight.arrived(),
            unfinished: self.flight.len() as u64,
            dropped: self.drops.0,
            flow: Flow {
                unit: "packets",
                arrived: self.arrived_packets,
                served: self.tick,
                held: Some(
                    self.discipline.backlog().cost.get() + self.grant.as_ref().map_or(0, |grant| grant.left),
                ),
            },
            message_time: self.flight.message_time(),
            packet_time: Waiting::default(),
            idle_over_backlog: self.idle_over_backlog,
        }
    }
}

impl<D, A, S> Plain<D, A, S>
where
    D: Discipline<Message<Packets>>,
    A: Arrivals,
    S: ServiceSource + Send,
{
    /// An empty port. The queue is sampled every `sample_period`, never if that is 0.
    pub fn new(discipline: D, arrivals: A, service: Drawn<S>, sample_period: Nanos) -> Self {
        Self {
            discipline,
            arrivals,
            service,
            flight: Flight::default(),
            drops: CountDrops::default(),
            grant: None,
            boundary: Instant::ZERO,
            tick: 0,
            arrived_packets: 0,
            busy: Nanos::ZERO,
            idle_over_backlog: 0,
            sample_period,
            next_sample: if sample_period == Nanos::ZERO {
                Instant::NEVER
            } else {
                Instant::ZERO + sample_period
            },
        }
    }

    /// The server is free at `boundary`: takes in what arrived before, and asks the discipline.
    #[inline]
    fn choose<O: Observer>(&mut self, observer: &mut O) -> Option<OpenGrant> {
        while self.wake_before(self.boundary) {
            if let Some((message, at)) = self.wake(observer) {
                let _ = self.discipline.enqueue(at, message, &mut self.drops);
            }
        }
        let now = self.boundary;
        let grant = self.discipline.dequeue(now, &OpenGate, &mut self.drops)?;
        self.flight.begin(grant.item.id, self.boundary);
        let left = grant.item.remaining.get();
        Some(OpenGrant { item: grant.item, left, quantum: grant.quantum.get().min(left), uncharged: 0 })
    }

    /// Whether an arrival or a sample is due before the server's choice at `boundary`.
    #[inline]
    fn wake_before(&self, boundary: Instant) -> bool {
        let next = self.arrivals.next_at();
        self.next_sample < boundary || if A::BEFORE_ACCEPTANCE { next <= boundary } else { next < boundary }
    }

    /// Handles the earlier of the next sample and the next arrival; at one instant the arrival, so that the
    /// monitor sees what has come by then.
    #[inline]
    fn wake<O: Observer>(&mut self, observer: &mut O) -> Option<(Message<Packets>, Instant)> {
        if self.next_sample < self.arrivals.next_at() {
            self.sample(observer);
            return None;
        }
        Some(self.arrive(observer))
    }

    #[cold]
    fn sample<O: Observer>(&mut self, observer: &mut O) {
        observer.sampled(&Sample {
            at: self.next_sample,
            tick: self.tick,
            packets: self.arrived_packets - self.tick,
            messages: self.flight.len() as u64,
        });
        self.next_sample = self.next_sample.after(self.sample_period);
    }

    /// Takes the next arrival: the handle for the discipline, and its instant.
    #[inline]
    fn arrive<O: Observer>(&mut self, observer: &mut O) -> (Message<Packets>, Instant) {
        let arrival = self.arrivals.take();
        let packets = u64::from(arrival.length);
        let message = Message {
            id: self.flight.admit(&arrival),
            flow: FlowId(arrival.flow),
            class: ClassId(arrival.class),
            remaining: Packets::new(packets),
        };
        self.arrived_packets += packets;
        if O::EVERY_PACKET {
            observer.arrived(self.tick, self.flight.arrived() - 1, packets);
        }
        (message, arrival.at)
    }

    /// Nothing can be served: moves to the next arrival or the discipline's next event.
    #[cold]
    fn idle<O: Observer>(&mut self, observer: &mut O) -> bool {
        let event = self.discipline.next_event().unwrap_or(Instant::NEVER);
        let next = self.arrivals.next_at();
        if event.min(next) == Instant::NEVER {
            return false;
        }
        self.idle_over_backlog += u64::from(!self.flight.is_empty());
        self.boundary = self.boundary.max(event.min(next));
        while self.next_sample < self.boundary {
            self.sample(observer);
        }
        if next <= event {
            let (message, at) = self.arrive(observer);
            let _ = self.discipline.enqueue(at, message, &mut self.drops);
        }
        true
    }

    /// Serves an open grant; gives it back if tick `until` comes first.
    fn serve<O: Observer>(
        &mut self,
        mut grant: OpenGrant,
        until: u64,
        observer: &mut O,
    ) -> Option<OpenGrant> {
        while self.tick < until {
            let accepted = self.accept(&mut grant, observer);
            if grant.left == 0 {
                self.depart(&grant, accepted, observer);
                return None;
            }
            if grant.quantum == 0 {
                self.give_back(grant, accepted);
                return None;
            }
            grant = self.admit_during(grant, observer)?;
        }
        Some(grant)
    }

    /// Accepts one packet of the grant at `boundary` and returns that instant.
    #[inline]
    fn accept<O: Observer>(&mut self, grant: &mut OpenGrant, observer: &mut O) -> Instant {
        let accepted = self.boundary;
        if O::EVERY_PACKET {
            observer.accepted(self.tick, self.flight.get(grant.item.id).index);
        }
        grant.left -= 1;
        grant.quantum -= 1;
        grant.uncharged += 1;
        let time = self.service.draw();
        self.tick += 1;
        self.busy += time;
        self.boundary += time;
        accepted
    }

    #[inline]
    fn depart<O: Observer>(&mut self, grant: &OpenGrant, accepted: Instant, observer: &mut O) {
        let used = Packets::new(grant.uncharged);
        self.discipline.finish(accepted, &grant.item, used);
        let message = self.flight.release(grant.item.id, accepted);
        observer.departed(&Departure {
            index: message.index,
            flow: message.flow,
            class: message.class,
            length: message.length,
            arrival: message.arrival,
            first: message.first,
            last: accepted,
            completion: accepted + self.service.mean(),
            alone: Nanos::new(u64::from(message.length) * self.service.mean().get()),
            tick: self.tick - 1,
        });
        self.arrivals.delivered(message.flow, self.boundary);
    }

    #[inline]
    fn give_back(&mut self, grant: OpenGrant, now: Instant) {
        let item = Message { remaining: Packets::new(grant.left), ..grant.item };
        let used = Packets::new(grant.uncharged);
        self.discipline.requeue(now, item, used, &mut self.drops);
    }

    /// Takes in what arrives during a packet's transmission; `None` if the grant was preempted.
    #[inline]
    fn admit_during<O: Observer>(&mut self, mut grant: OpenGrant, observer: &mut O) -> Option<OpenGrant> {
        while self.wake_before(self.boundary) {
            let Some((message, at)) = self.wake(observer) else { continue };
            let now = at;
            self.discipline.charge(now, &grant.item, Packets::new(grant.uncharged));
            grant.uncharged = 0;
            if self.discipline.enqueue(now, message, &mut self.drops) == Enqueued::Preempts {
                self.give_back(grant, at);
                return None;
            }
        }
        if self.discipline.next_event().is_some_and(|event| event < self.boundary) {
            self.give_back(grant, self.boundary);
            return None;
        }
        Some(grant)
    }
}
