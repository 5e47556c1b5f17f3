//! Packets, and the handles of them that disciplines order.
//!
//! A packet stands once in a [`Store`] while it is in the fabric; queues and disciplines hold handles of 12 bytes.
//! Before a discipline a packet costs the bytes of its credits, as the fabric has them. Tables count those bytes in
//! credits of 64, whatever the fabric's are: `32cr` are 2048 bytes, as are `drr:quantum=2048B`.

use crate::time::{CreditUnit, Ticks};
use weir_core::item::{Addresses, ClassId, FlowId, Item};
use weir_core::units::Bytes;

/// Bytes of a credit as tables count, whatever the fabric's are.
pub const CREDIT_BYTES: u64 = 64;

/// A packet as disciplines see it: its flow and class are its channel, its cost is that of its whole credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    /// Names the packet to its engine.
    pub id: u32,
    /// What it costs a discipline, in bytes.
    pub cost: u32,
    /// What it takes of buffers, in credits.
    pub credits: u16,
    /// Its virtual channel.
    pub channel: u8,
}

impl Handle {
    /// A packet of `credits` credits.
    #[inline]
    #[must_use]
    pub fn new(id: u32, credits: u16, channel: u8, unit: CreditUnit) -> Self {
        Self { id, cost: unit.bytes(credits), credits, channel }
    }
}

/// What `credits` credits of the fabric are in those of a table.
#[inline(always)]
#[must_use]
pub fn table_credits(credits: u16, unit: CreditUnit) -> u32 {
    unit.bytes(credits).div_ceil(CREDIT_BYTES as u32)
}

impl Item for Handle {
    type Cost = Bytes;
    #[inline]
    fn flow(&self) -> FlowId {
        FlowId(u32::from(self.channel))
    }
    #[inline]
    fn class(&self) -> ClassId {
        ClassId(u16::from(self.channel))
    }
    #[inline]
    fn cost(&self) -> Bytes {
        Bytes::new(u64::from(self.cost))
    }
    #[inline]
    fn addresses(&self) -> Addresses {
        Addresses { source: u32::from(self.channel), destination: 0 }
    }
}

/// A packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// When it was generated, with the message that it belongs to.
    pub generated: Ticks,
    /// When it entered the buffer of its interface.
    pub injected: Ticks,
    /// The end-point that it comes from.
    pub source: u32,
    /// The end-point that it goes to.
    pub destination: u32,
    /// Its flow, of those of its source and channel.
    pub flow: u32,
    /// Its number among the packets of its source and channel, which wraps.
    pub sequence: u32,
    /// Its way up.
    pub way: u32,
    /// Its size on the wire, in bytes.
    pub size: u32,
    /// Its virtual channel.
    pub channel: u8,
    /// Whether it is the last of its message.
    pub last: bool,
}

/// The packets in the fabric. Places are used again, the one that was freed last first.
#[derive(Clone, Debug, Default)]
pub struct Store {
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl Store {
    /// Takes a packet in; its place.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> u32 {
        if let Some(id) = self.free.pop() {
            self.packets[id as usize] = packet;
            return id;
        }
        self.packets.push(packet);
        self.packets.len() as u32 - 1
    }

    /// The packet at a place.
    #[must_use]
    #[inline]
    pub fn get(&self, id: u32) -> &Packet {
        &self.packets[id as usize]
    }

    /// Lets a packet go.
    #[inline]
    pub fn remove(&mut self, id: u32) -> Packet {
        self.free.push(id);
        self.packets[id as usize]
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_small_and_costs_whole_credits() {
        let of = |credit| Handle::new(7, 3, 5, CreditUnit::new(Bytes::new(credit)));
        assert_eq!(size_of::<Handle>(), 12);
        assert_eq!((of(64).flow(), of(64).class()), (FlowId(5), ClassId(5)));
        assert_eq!([16, 64, 128].map(|credit| of(credit).cost()), [48, 192, 384].map(Bytes::new));
    }

    #[test]
    fn places_are_used_again() {
        let mut store = Store::default();
        let packet = |size| Packet { size, ..Packet::default() };
        let ids = [store.insert(packet(1)), store.insert(packet(2))];
        assert_eq!(store.remove(ids[0]), packet(1));
        assert_eq!((store.insert(packet(3)), store.len()), (ids[0], 2));
        assert_eq!((store.get(ids[0]).size, store.get(ids[1]).size), (3, 2));
    }
}
