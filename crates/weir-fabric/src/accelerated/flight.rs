//! Packets under way, and the places that they stand in.
//!
//! A packet is in at most one queue at a time: of an input, of those on their way through a switch, or before a
//! scheduler. So queues are chains through the packets themselves, and take no memory of their own.
//!
//! | | |
//! |-|-|
//! | Memory | 72 bytes a packet, one place for each that was under way at once at most |

use crate::packet::Packet;
use crate::time::Ticks;

/// No packet.
pub(super) const NONE: u32 = u32::MAX;

/// A packet under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    /// When it was generated.
    pub(super) generated: Ticks,
    /// When it entered the buffer of its interface.
    pub(super) injected: Ticks,
    /// In an input: when its head may bid. On its way through a switch: when it is before the scheduler.
    pub(super) at: Ticks,
    /// In an input: when its tail has come.
    pub(super) tail: Ticks,
    /// What its scheduler has written down.
    pub(super) stamp: u64,
    /// The packet behind it.
    pub(super) next: u32,
    /// Its size on the wire, in bytes.
    pub(super) size: u32,
    /// Its flow.
    pub(super) flow: u32,
    /// Its number.
    pub(super) sequence: u32,
    /// Its destination, and its way up, in digits.
    pub(super) code: u32,
    pub(super) way: u32,
    /// The end-point that it comes from; there are at most 2^16.
    pub(super) source: u16,
    /// What it takes of buffers.
    pub(super) credits: u16,
    /// Its virtual channel.
    pub(super) channel: u8,
    /// In an input: the port that it leaves by.
    pub(super) output: u8,
    /// Whether it is the last of its message.
    pub(super) last: bool,
}

impl Flight {
    /// A packet that enters its interface.
    #[inline]
    pub(super) fn new(packet: &Packet, injected: Ticks, credits: u16, code: u32, way: u32) -> Self {
        Self {
            generated: packet.generated,
            injected,
            at: injected,
            tail: injected,
            stamp: 0,
            next: NONE,
            size: packet.size,
            flow: packet.flow,
            sequence: packet.sequence,
            code,
            way,
            source: packet.source as u16,
            credits,
            channel: packet.channel,
            output: 0,
            last: packet.last,
        }
    }
}

/// The packets under way. Places are used again, the one that was freed last first.
#[derive(Clone, Debug, Default)]
pub(super) struct Flights {
    all: Vec<Flight>,
    free: Vec<u32>,
}

impl Flights {
    /// Takes a packet in; its place.
    #[inline]
    pub(super) fn insert(&mut self, flight: Flight) -> u32 {
        if let Some(id) = self.free.pop() {
            self.all[id as usize] = flight;
            return id;
        }
        self.all.push(flight);
        self.all.len() as u32 - 1
    }

    /// The packet at a place.
    #[inline]
    pub(super) fn get(&self, id: u32) -> &Flight {
        &self.all[id as usize]
    }

    /// The packet at a place, to change.
    #[inline]
    pub(super) fn get_mut(&mut self, id: u32) -> &mut Flight {
        &mut self.all[id as usize]
    }

    /// Lets a packet go.
    #[inline]
    pub(super) fn remove(&mut self, id: u32) {
        self.free.push(id);
    }
}
