//! A transfer in the network: its two ends, and the ways of their packets through the hosts.
//!
//! Packets sent again count as sent, and as late when they arrive after a newer one. Acknowledgements occupy
//! links and queues, and are counted there only. No packet is sent at or after the end of the flow.

use std::collections::VecDeque;

use weir_core::item::Addresses;
use weir_core::units::Instant;

use crate::network::collector::Collector;
use crate::network::delay::Passage;
use crate::network::flight::{BACK, ECHO, Flight, MARKED, NEVER};
use crate::network::tcp::{ACKNOWLEDGEMENT, Config, Receiver, Sender};

/// Packets on their way through the host that sends them.
pub struct Way {
    /// What they are like.
    packet: Flight,
    host: Passage,
    leaving: VecDeque<Flight>,
}

impl Way {
    fn new(packet: Flight, host: Passage) -> Self {
        Self { packet, host, leaving: VecDeque::new() }
    }

    fn send(&mut self, now: u64, number: u64, marks: u8) {
        let packet = self.packet;
        let (at, sequence, marks) = (self.host.through(now), number as u32, packet.marks | marks);
        self.leaving.push_back(Flight { at, sent: now, sequence, marks, ..packet });
    }

    /// When the next packet arrives at its first link, or [`NEVER`].
    #[must_use]
    pub fn head(&self) -> u64 {
        self.leaving.front().map_or(NEVER, |flight| flight.at)
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
    /// The packets.
    pub data: Way,
    /// The acknowledgements.
    pub acks: Way,
    start: u64,
    stop: u64,
}

impl Transfer {
    /// A transfer of packets like `packet` from `start` to `stop`, whose acknowledgements begin at the place
    /// `back` of the route.
    #[must_use]
    pub fn new(config: &Config, packet: Flight, back: u8, hosts: [Passage; 2], times: (u64, u64)) -> Self {
        let Addresses { source, destination } = packet.addresses;
        let acknowledgement = Flight {
            size: ACKNOWLEDGEMENT.get() as u32,
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
            start: times.0,
            stop: times.1,
        }
    }

    /// When the sender wants to be woken after `now`, or [`NEVER`].
    #[must_use]
    pub fn timer(&self, now: u64) -> u64 {
        if now >= self.stop {
            return NEVER;
        }
        self.sender.timer().map_or(NEVER, |timer| timer.get().max(now))
    }

    /// When it begins.
    #[must_use]
    pub fn start(&self) -> u64 {
        if self.start < self.stop { self.start } else { NEVER }
    }

    /// The sender is woken: it begins, or its timer may have run out.
    pub fn wake(&mut self, now: u64, collector: &mut Collector) {
        self.sender.on_timer(Instant::new(now));
        self.send(now, collector);
    }

    /// A packet of either way has come to its end.
    pub fn arrived(&mut self, flight: &Flight, collector: &mut Collector) {
        let number = u64::from(flight.sequence);
        if flight.marks & BACK == 0 {
            let answer = self.receiver.on_packet(number, flight.marks & MARKED != 0);
            self.acks.send(flight.at, answer.cumulative, if answer.echo { ECHO } else { 0 });
        } else {
            self.sender.on_ack(Instant::new(flight.at), number, flight.marks & ECHO != 0);
            self.send(flight.at, collector);
        }
    }

    fn send(&mut self, now: u64, collector: &mut Collector) {
        while now < self.stop {
            let Some(number) = self.sender.next(Instant::new(now)) else { break };
            let packet = self.data.packet;
            collector.sent(packet.flow, &[now], &[packet.size]);
            self.data.send(now, number, 0);
        }
    }
}

#[cfg(test)]
mod tests;
