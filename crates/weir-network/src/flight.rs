//! A packet on its way: all there is to it, moved by value through queues and links.
//!
//! No slab and no allocation per packet: the disciplines hold the packets themselves.

use weir_core::item::{Addresses, ClassId, Dscp, FlowId, Item};
use weir_core::units::{Bytes, Instant};

/// It can carry a congestion mark (RFC 3168).
pub const CAPABLE: u8 = 1;
/// It carries one.
pub const MARKED: u8 = 2;

/// It is an acknowledgement, on its way back.
pub const BACK: u8 = 4;

/// A packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// When it arrives where it goes next: at the queue of a link, or at its destination.
    pub at: Instant,
    /// When it was sent.
    pub sent: Instant,
    /// Its flow.
    pub flow: u32,
    /// Its place among all that its flow has sent, from 0.
    pub sequence: u32,
    /// Its size in bytes.
    pub size: u32,
    /// What hashes are taken over.
    pub addresses: Addresses,
    /// Its class, of fewer than a hundred.
    pub class: u8,
    /// Its code point.
    pub dscp: Dscp,
    /// The link it goes to next, or waits at: a place in the route of its flow.
    pub hop: u8,
    /// [`CAPABLE`], [`MARKED`], [`BACK`].
    pub marks: u8,
}

impl Item for Flight {
    type Cost = Bytes;
    const WHOLE: bool = true;

    #[inline]
    fn flow(&self) -> FlowId {
        FlowId(self.flow)
    }

    #[inline]
    fn class(&self) -> ClassId {
        ClassId(self.class.into())
    }

    #[inline]
    fn cost(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }

    #[inline]
    fn addresses(&self) -> Addresses {
        self.addresses
    }

    #[inline]
    fn dscp(&self) -> Dscp {
        self.dscp
    }

    #[inline]
    fn mark(&mut self) -> bool {
        let capable = self.marks & CAPABLE != 0;
        self.marks |= if capable { MARKED } else { 0 };
        capable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_small_and_marked_only_where_it_can_be() {
        assert_eq!(size_of::<Flight>(), 40);
        let mut flight = Flight {
            at: Instant::ZERO,
            sent: Instant::ZERO,
            flow: 0,
            sequence: 0,
            size: 1,
            addresses: Addresses::default(),
            class: 0,
            dscp: Dscp::default(),
            hop: 0,
            marks: 0,
        };
        assert!(!flight.mark() && flight.marks == 0);
        flight.marks = CAPABLE;
        assert!(flight.mark() && flight.marks == CAPABLE | MARKED);
    }
}
