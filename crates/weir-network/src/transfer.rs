//! A transfer in the network: its two ends, and the ways of their packets through the hosts.
//!
//! A flight is numbered by its place among all that its end has sent: a packet sent again has a new number, so
//! that it counts as sent, and arrives out of order only where a later transmission overtook it. What a number
//! stands for is kept outside the network, from the oldest that is still needed. Acknowledgements occupy links and
//! queues, and are counted there only. No packet is sent at or after the end of the flow.

use std::collections::VecDeque;

use crate::collector::Collector;
use crate::delay::Passage;
use crate::flight::{BACK, Flight, MARKED};
use crate::tcp::{Ack, Config, Receiver, Sender};
use crate::wire::Interval;
use weir_core::item::Addresses;
use weir_core::units::{Bytes, Instant};

/// Packets on their way through the host that sends them, each with what it carries.
pub struct Way<T> {
    /// What they are like.
    packet: Flight,
    host: Passage,
    leaving: VecDeque<Flight>,
    /// What was sent, from the number `forgotten` on.
    carried: VecDeque<T>,
    forgotten: u32,
}

impl<T: Copy> Way<T> {
    fn new(packet: Flight, host: Passage) -> Self {
        Self { packet, host, leaving: VecDeque::new(), carried: VecDeque::new(), forgotten: 0 }
    }

    fn send(&mut self, now: Instant, load: T, size: Bytes) {
        let packet = self.packet;
        let sequence = self.forgotten.wrapping_add(self.carried.len() as u32);
        self.carried.push_back(load);
        let (at, size) = (self.host.through(now), size.get() as u32);
        self.leaving.push_back(Flight { at, sent: now, sequence, size, ..packet });
    }

    /// What a flight carries; `None` where it is not needed any more.
    fn load(&self, flight: &Flight) -> Option<T> {
        self.carried.get(flight.sequence.wrapping_sub(self.forgotten) as usize).copied()
    }

    /// Forgets the oldest that are not needed any more.
    fn forget(&mut self, useless: impl Fn(&T) -> bool) {
        while self.carried.front().is_some_and(&useless) {
            self.carried.pop_front();
            self.forgotten = self.forgotten.wrapping_add(1);
        }
    }

    /// When the next packet arrives at its first link, or [`Instant::NEVER`].
    #[must_use]
    pub fn head(&self) -> Instant {
        self.leaving.front().map_or(Instant::NEVER, |flight| flight.at)
    }

    /// The next packet.
    pub fn take(&mut self) -> Option<Flight> {
        self.leaving.pop_front()
    }
}

/// A transfer.
pub struct Transfer {
    sender: Sender,
    receiver: Receiver,
    /// The packets, with their numbers in the transfer.
    pub data: Way<u64>,
    /// The acknowledgements.
    pub acks: Way<Ack>,
    active: Interval,
}

impl Transfer {
    /// A transfer of packets like `packet` in the time in which it is `active`, whose acknowledgements begin at
    /// the place `back` of the route.
    #[must_use]
    pub fn new(config: &Config, packet: Flight, back: u8, hosts: [Passage; 2], active: Interval) -> Self {
        let Addresses { source, destination } = packet.addresses;
        let acknowledgement = Flight {
            addresses: Addresses { source: destination, destination: source },
            hop: back,
            marks: BACK,
            ..packet
        };
        let [host, other] = hosts;
        Self {
            sender: Sender::new(config),
            receiver: Receiver::new(config.window),
            data: Way::new(packet, host),
            acks: Way::new(acknowledgement, other),
            active,
        }
    }

    /// When the sender wants to be woken after `now`, or [`Instant::NEVER`].
    #[must_use]
    pub fn timer(&self, now: Instant) -> Instant {
        if now >= self.active.to {
            return Instant::NEVER;
        }
        self.sender.timer().map_or(Instant::NEVER, |timer| timer.max(now))
    }

    /// When it begins.
    #[must_use]
    pub fn start(&self) -> Instant {
        let Interval { from, to } = self.active;
        if from < to { from } else { Instant::NEVER }
    }

    /// The sender is woken: it begins, or its timer may have run out.
    pub fn wake(&mut self, now: Instant, collector: &mut Collector) {
        self.sender.on_timer(now);
        self.send(now, collector);
    }

    /// A packet of either way has come to its end.
    pub fn arrived(&mut self, flight: &Flight, collector: &mut Collector) {
        if flight.marks & BACK == 0 {
            // What is forgotten was acknowledged, as packet 0 was.
            let number = self.data.load(flight).unwrap_or(0);
            let answer = self.receiver.on_packet(number, flight.marks & MARKED != 0);
            self.acks.send(flight.at, answer, answer.size());
        } else if let Some(answer) = self.acks.load(flight) {
            self.sender.on_ack(flight.at, &answer);
            let first = self.sender.first();
            self.data.forget(|number| *number < first);
            self.acks.forget(|answer| answer.cumulative < first);
            self.send(flight.at, collector);
        }
    }

    fn send(&mut self, now: Instant, collector: &mut Collector) {
        while now < self.active.to {
            let Some(number) = self.sender.next(now) else { break };
            let packet = self.data.packet;
            collector.sent(packet.flow, &[now], &[packet.size]);
            self.data.send(now, number, Bytes::new(u64::from(packet.size)));
        }
    }
}

#[cfg(test)]
mod tests;
