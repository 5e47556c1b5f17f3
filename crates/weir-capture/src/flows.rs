//! Flows: packets between the same two ends, in both directions, numbered as they appear.
//!
//! A flow is a pair of addresses with their ports, and a protocol. The direction of its first packet is
//! forward. A flow does not end: the same ends an hour later are the same flow. Tags of virtual networks are
//! not part of it.
//!
//! A packet costs one look-up in a table whose hash function is keyed, so that nobody can choose addresses
//! that slow it down. A flow takes about 150 bytes.

use core::cmp::{Ordering, Reverse};
use core::net::IpAddr;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::Serialize;
use weir_core::units::Nanos;

use crate::error::Fault;
use crate::frame::Packet;
use crate::limits;

/// Whether a packet goes as the first packet of its flow, or the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// As the first.
    Forward,
    /// The other way.
    Reverse,
}

impl Direction {
    /// As in a schedule: `f` or `r`.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Forward => 'f',
            Self::Reverse => 'r',
        }
    }
}

/// An address with a port.
type End = (IpAddr, u16);

/// The ends in an order of their own, and the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    low: End,
    high: End,
    protocol: u8,
}

/// What is known of one direction of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Half {
    /// Packets.
    pub packets: u64,
    /// Their bytes on the line.
    pub bytes: u64,
    /// When the first came, in nanoseconds since the first of the capture.
    pub first_ns: u64,
    /// When the last came.
    pub last_ns: u64,
    /// The code point of the first.
    pub dscp: u8,
}

impl Half {
    fn add(&mut self, at: Nanos, bytes: u32, dscp: u8) {
        if self.packets == 0 {
            (self.first_ns, self.dscp) = (at.get(), dscp);
        }
        self.last_ns = at.get();
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Flow {
    /// Its number, from 0.
    pub flow: u32,
    /// The protocol of the IP header.
    pub ip_proto: u8,
    /// The lower of its two ports, which is that of the service as a rule; 0 where it has none.
    pub service_port: u16,
    /// In the direction of its first packet.
    pub forward: Half,
    /// In the other direction.
    pub reverse: Half,
}

/// The flows of a capture.
#[derive(Debug, Default)]
pub struct Flows {
    /// The place of a flow, and whether its first packet went from the high end to the low one.
    places: HashMap<Key, (u32, bool)>,
    flows: Vec<Flow>,
}

impl Flows {
    /// Counts a packet; returns the number of its flow and its direction.
    ///
    /// # Errors
    /// One flow more than [`limits::FLOWS`].
    pub fn add(&mut self, packet: &Packet, at: Nanos, bytes: u32) -> Result<(u32, Direction), Fault> {
        let source = (packet.source, packet.ports.0);
        let destination = (packet.destination, packet.ports.1);
        let falls = source.cmp(&destination) == Ordering::Greater;
        let (low, high) = if falls { (destination, source) } else { (source, destination) };
        let place = match self.places.entry(Key { low, high, protocol: packet.protocol }) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(_) if self.flows.len() == limits::FLOWS => return Err(Fault::Flows),
            Entry::Vacant(vacant) => {
                let flow = self.flows.len() as u32;
                self.flows.push(Flow {
                    flow,
                    ip_proto: packet.protocol,
                    service_port: packet.ports.0.min(packet.ports.1),
                    forward: Half::default(),
                    reverse: Half::default(),
                });
                *vacant.insert((flow, falls))
            }
        };
        let (flow, first_fell) = place;
        let direction = if falls == first_fell { Direction::Forward } else { Direction::Reverse };
        let entry = &mut self.flows[flow as usize];
        let half = if direction == Direction::Forward { &mut entry.forward } else { &mut entry.reverse };
        half.add(at, bytes, packet.dscp);
        Ok((flow, direction))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flows.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// The flows with the most bytes forward, at most `count`, the largest first.
    #[must_use]
    pub fn largest(mut self, count: usize) -> Vec<Flow> {
        self.flows.sort_by_key(|flow| (Reverse(flow.forward.bytes), flow.flow));
        self.flows.truncate(count);
        self.flows
    }
}
