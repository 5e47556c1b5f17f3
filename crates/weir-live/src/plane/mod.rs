//! The data plane: which class, flow, route and neighbour a frame has, and when it leaves.
//!
//! Sans-IO: no system call, no clock, no lock. Frames come in as handles ([`Buffer`]), time as an argument, and what is
//! to be sent goes out through [`Plane::depart`]; so the whole of a router is tested without one. After
//! [`Plane::new`] nothing allocates.
//!
//! ```text
//! arrive     parse -> drop what is malformed, martian or expired -> class, flow -> route -> neighbour
//!            -> enqueue at the interface it leaves by
//! depart     the transmission that is due ends -> dequeue -> pace -> delay line -> write the header -> out
//! next_event the end of a transmission, a release from the delay line, the discipline's own event, a neighbour's timer
//! ```
//!
//! A link is what it is in the simulation: a packet takes `(size + framing) / rate` on the line from the moment at
//! which the discipline grants it, and is handed to the device `propagation` after that. Where the daemon wakes late
//! it decides at the instants at which the line was free, so that a late timer costs no bandwidth. An interface
//! without a rate grants as many frames as the device has room for.
//!
//! | | |
//! |-|-|
//! | Source | RFC 1812 (forwarding), RFC 826 (ARP), RFC 4861 (neighbour discovery), RFC 1624 (checksum updates); the project's network model |
//! | Work per packet | parse O(1), class O(rules), route O(length of the prefix), discipline as it says |
//! | Memory | sized by the configuration: frames, flows, neighbours, routes |
//! | Units | instants and spans in nanoseconds since the daemon began; sizes of IP packets in bytes |

pub mod snapshot;

use std::net::IpAddr;

use weir_core::units::Instant;
use weir_document::Refused;

use crate::arena::{Arena, Buffer};
use crate::config::{MacAddress, Router};
use crate::io::Received;
use snapshot::Snapshot;

/// What the plane must know of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Its address.
    pub mac: MacAddress,
    /// The largest IP packet that it takes.
    pub mtu: u32,
    /// Whether it is up.
    pub up: bool,
}

/// A router without its sockets.
pub struct Plane {}

impl Plane {
    /// A router with empty queues; `devices` are those of its interfaces, in their order. `seed` is what all hashes
    /// that have no key of their own are taken under.
    ///
    /// # Errors
    /// A discipline refuses its arguments.
    pub fn new(router: Router, devices: &[DeviceFacts], frames: u32, seed: u64) -> Result<Self, Refused>;

    /// A frame came in by an interface. What is dropped goes back to the arena; what is to be answered, as ARP requests
    /// and echo requests are, is kept to be sent by the next [`Self::depart`] of that interface.
    pub fn arrive(&mut self, now: Instant, interface: usize, received: Received, arena: &mut Arena);

    /// Appends to `into` at most `room` frames that are to be sent by an interface now, with their headers written;
    /// all that the interface's line has done up to `now` is done.
    pub fn depart(&mut self, now: Instant, interface: usize, room: u32, arena: &mut Arena, into: &mut Vec<Buffer>);

    /// A frame could not be handed to its device, which is down or gone: it is counted and given back.
    pub fn failed(&mut self, interface: usize, buffer: Buffer, arena: &mut Arena);

    /// The device of an interface has changed.
    pub fn device(&mut self, interface: usize, facts: DeviceFacts);

    /// A neighbour said its address, as the [`Neighbourhood`](crate::io::neighbourhood) heard.
    pub fn heard(&mut self, now: Instant, interface: usize, address: IpAddr, mac: MacAddress, arena: &mut Arena);

    /// When [`Self::depart`] of some interface has something to do without an arrival; an interface that only waits
    /// for room is not among them.
    pub fn next_event(&self) -> Option<Instant>;

    /// Whether packets wait for room at the device of an interface.
    pub fn wants_room(&self, interface: usize) -> bool;

    /// Everything that waits at an interface leaves before anything new is queued there; new packets are dropped until
    /// [`Self::resume`].
    pub fn drain(&mut self, interface: usize);
    /// Ends [`Self::drain`].
    pub fn resume(&mut self, interface: usize);

    /// Takes another configuration of the same interfaces: it is built first, and nothing is changed where that fails.
    /// What waits moves over in order; nothing is lost, nothing is reordered within a flow, counters go on.
    ///
    /// # Errors
    /// A discipline refuses its arguments, or the interfaces are others.
    pub fn reload(&mut self, now: Instant, router: Router, arena: &mut Arena) -> Result<(), Refused>;

    /// What was counted so far.
    pub fn snapshot(&self, now: Instant, arena: &Arena) -> Snapshot;

    /// How many packets wait at all interfaces.
    pub fn waiting(&self) -> u64;
}
