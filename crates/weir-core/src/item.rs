//! Items: the units of work that disciplines order.
//!
//! An item is a small handle moved by value; the payload stays with the caller. Its flow says whose it
//! is, its class what kind it is, its cost what is still to be served of it.

use crate::units::{Bytes, Cost, Packets};

/// Whose item it is: an application of the port, a 5-tuple of a network, a process of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// What kind of item it is; selects per-class parameters such as a message's own alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u16);

/// Where an item comes from and goes to: what hashes of flows are taken over. An address that is longer than
/// 32 bits is folded by the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addresses {
    /// Where it comes from.
    pub source: u32,
    /// Where it goes to.
    pub destination: u32,
}

/// What a packet asks of the network: its code point of differentiated services (RFC 2474), from 0, which asks for
/// nothing, to 63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dscp(u8);

impl Dscp {
    /// The largest number of a code point.
    pub const LARGEST: u8 = 63;

    /// The code point of the six low bits of `number`.
    #[must_use]
    #[inline]
    pub const fn new(number: u8) -> Self {
        Self(number & Self::LARGEST)
    }

    /// Its number, from 0 to 63.
    #[must_use]
    #[inline]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// One unit of work, moved by value; a small handle, the payload stays with the caller.
pub trait Item: Sized {
    /// The unit of its service: packets of a message, bytes of a packet, nanoseconds of a task.
    type Cost: Cost;
    /// Whether it is always served whole: the quantum of its grant is what it costs.
    const WHOLE: bool = false;
    /// Whose item it is.
    fn flow(&self) -> FlowId;
    /// Distinguishes it from all others present; zero where it has no number. Only dispatchers that hear what becomes
    /// of requests ([`Dispatcher::hears`](crate::pool::Dispatcher::hears)) need it.
    #[inline]
    fn number(&self) -> u32 {
        0
    }
    /// What kind of item it is.
    #[inline]
    fn class(&self) -> ClassId {
        ClassId::default()
    }
    /// What is still to be served; zero where nobody knows (a task). The engine lowers it as it serves.
    fn cost(&self) -> Self::Cost;
    /// Where it comes from and goes to; its flow stands for both where nobody says.
    #[inline]
    fn addresses(&self) -> Addresses {
        Addresses { source: self.flow().0, destination: 0 }
    }
    /// What it asks of the network; nothing where nobody says.
    #[inline]
    fn dscp(&self) -> Dscp {
        Dscp::default()
    }
    /// Marks it with congestion (RFC 3168); `false` if it cannot carry a mark, and is to be dropped instead.
    #[inline]
    fn mark(&mut self) -> bool {
        false
    }
}

/// A message of the port: several packets (or, served whole, several bytes) of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<C: Cost = Packets> {
    /// Names the message to its engine.
    pub id: u32,
    /// The application that submitted it.
    pub flow: FlowId,
    /// Its length class, or the class whose alpha it carries.
    pub class: ClassId,
    /// What is still to be served of it.
    pub remaining: C,
}

impl<C: Cost> Item for Message<C> {
    type Cost = C;
    #[inline]
    fn flow(&self) -> FlowId {
        self.flow
    }
    #[inline]
    fn number(&self) -> u32 {
        self.id
    }
    #[inline]
    fn class(&self) -> ClassId {
        self.class
    }
    #[inline]
    fn cost(&self) -> C {
        self.remaining
    }
}

/// A packet at a link: served whole, its cost is its size on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Names the packet to its engine.
    pub id: u32,
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Its traffic class.
    pub class: ClassId,
    /// Its size on the wire.
    pub size: Bytes,
}

impl Item for Packet {
    type Cost = Bytes;
    const WHOLE: bool = true;
    #[inline]
    fn flow(&self) -> FlowId {
        self.flow
    }
    #[inline]
    fn number(&self) -> u32 {
        self.id
    }
    #[inline]
    fn class(&self) -> ClassId {
        self.class
    }
    #[inline]
    fn cost(&self) -> Bytes {
        self.size
    }
}
