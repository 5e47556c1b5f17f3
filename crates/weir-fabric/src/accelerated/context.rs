//! What switches and interfaces use together, and what they leave for each other at the end of a window.

use super::Ticks;
use super::flight::{Flights, NONE};
use super::plan::Plan;
use super::ring::Return;
use super::schedulers::Scheduler;
use super::sender::{Sender, Target};
use crate::job::Tally;
use crate::record::{Delivery, Sink};

/// A packet that has started, and the port that it goes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) port: u32,
    pub(super) id: u32,
}

/// Credits that go back, and the link that they go to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Returned {
    pub(super) link: u32,
    pub(super) back: Return,
}

/// What all share.
pub(super) struct Context<'a, S> {
    pub(super) plan: Plan,
    pub(super) scheduler: S,
    pub(super) flights: Flights,
    pub(super) tally: Tally,
    pub(super) sink: &'a mut dyn Sink,
    /// Packets that have started.
    pub(super) arrivals: Vec<Arrival>,
    /// Credits that go back.
    pub(super) returns: Vec<Returned>,
}

impl<S> Context<'_, S> {
    /// A packet starts on a link at `now`.
    #[inline(always)]
    pub(super) fn start<const V: usize, T>(&mut self, sender: &mut Sender<V, T>, id: u32, now: Ticks) {
        let flight = self.flights.get_mut(id);
        let free = now + self.plan.line.of(flight.size);
        let tail = free + self.plan.propagation;
        sender.occupy(free, flight.channel, flight.credits);
        self.tally.traversals += 1;
        match sender.target {
            Target::Host(host) => self.deliver(host, id, tail),
            Target::Port(port) => {
                (flight.at, flight.tail, flight.next) = (now + self.plan.bid, tail, NONE);
                self.arrivals.push(Arrival { port, id });
            }
        }
    }

    /// A free link asks its scheduler, and starts what that grants.
    #[inline(always)]
    pub(super) fn ask<const V: usize, T>(&mut self, sender: &mut Sender<V, T>, now: Ticks)
    where
        S: Scheduler<V, State = T>,
    {
        let effort = &mut self.tally.effort;
        if let Some(id) = sender.decide(&self.scheduler, &self.flights, effort, now) {
            self.start(sender, id, now);
        }
    }

    /// The tail of a packet comes to its end-point.
    #[inline(always)]
    fn deliver(&mut self, host: u32, id: u32, delivered: Ticks) {
        self.flights.remove(id);
        if delivered >= self.plan.end {
            return;
        }
        self.tally.delivered += 1;
        let flight = self.flights.get(id);
        self.sink.delivered(&Delivery {
            generated: flight.generated,
            injected: flight.injected,
            delivered,
            source: flight.source.into(),
            destination: host,
            flow: flight.flow,
            sequence: flight.sequence,
            size: flight.size,
            channel: flight.channel,
            last: flight.last,
        });
    }
}
