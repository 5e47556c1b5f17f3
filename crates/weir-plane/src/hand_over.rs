//! Several planes of one router, each in a thread of its own: who serves an interface, and what goes from one to another.
//!
//! An interface is served by one plane, as all of its device are: its queue, its neighbours and what the router says there. A plane that receives for
//! an interface of another decides by itself where a packet goes, and hands it to the plane that serves the interface it
//! leaves by; all that is no transit goes whole to the plane that serves the interface it came in by. What one plane
//! hands to another keeps its order. Counters of an interface are the sums of those of all planes.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work per packet | O(1) |
//! | Memory | one turn's packets |
//! | Units | nanoseconds since the daemon began |

use std::net::IpAddr;

use weir_core::units::Instant;

use super::answers::Trouble;
use super::frame::{ETHERNET, Packet};
use super::snapshot::Reason;
use super::{Plane, Received};
use crate::arena::{Arena, Buffer};

/// Which of the planes of a router one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its place among them.
    pub this: usize,
    /// How many there are.
    pub of: usize,
    /// The device of each interface; where this is empty each has its own.
    devices: Vec<usize>,
}

impl Part {
    /// The only plane of a router.
    pub const WHOLE: Self = Self::new(0, 1);

    /// The plane at place `this` of `of` planes.
    #[must_use]
    pub const fn new(this: usize, of: usize) -> Self {
        Self { this, of, devices: Vec::new() }
    }

    /// Interfaces of one device are served by one plane.
    pub(super) fn set_devices(&mut self, devices: Vec<usize>) {
        self.devices = devices;
    }

    /// The place of the plane that serves an interface.
    #[must_use]
    #[inline]
    pub fn server(&self, interface: usize) -> usize {
        self.devices.get(interface).unwrap_or(&interface) % self.of
    }

    /// Whether it serves an interface.
    #[must_use]
    #[inline]
    pub fn serves(&self, interface: usize) -> bool {
        self.of == 1 || self.server(interface) == self.this
    }
}

/// What goes from one plane to another.
#[derive(Debug)]
pub struct Handed {
    /// The interface that it came in by.
    at: u16,
    buffer: Buffer,
    what: What,
}

#[derive(Debug)]
enum What {
    /// A frame that nobody has counted.
    Frame { partial: Option<bool> },
    /// A packet that is to leave.
    Transit { packet: Packet, transit: Transit },
    /// A packet that was dropped, which is to be reported to its sender.
    Dropped { packet: Packet, trouble: Trouble },
}

/// A packet on its way to the interface that it leaves by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transit {
    /// The interface.
    pub(super) egress: u16,
    /// The next router, or its destination.
    pub(super) hop: IpAddr,
    /// When it came in.
    pub(super) arrived: u64,
    /// Whether its transport checksum is still to be completed.
    pub(super) partial: Option<bool>,
}

/// What a plane has for others.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) part: Part,
    out: Vec<(usize, Handed)>,
}

impl Post {
    /// Nothing yet.
    pub(super) const fn new(part: Part) -> Self {
        Self { part, out: Vec::new() }
    }

    fn hand(&mut self, to: usize, at: usize, buffer: Buffer, what: What, arena: &mut Arena) {
        arena.lend(&buffer);
        let to = self.part.server(to);
        self.out.push((to, Handed { at: at as u16, buffer, what }));
    }

    /// A frame goes whole to the plane that serves the interface it came in by.
    #[cold]
    pub(super) fn frame(&mut self, at: usize, received: Received, arena: &mut Arena) {
        let Received { buffer, partial } = received;
        self.hand(at, at, buffer, What::Frame { partial }, arena);
    }

    /// A packet goes to the plane that serves the interface it leaves by.
    #[inline]
    pub(super) fn transit(
        &mut self,
        at: usize,
        buffer: Buffer,
        packet: Packet,
        transit: Transit,
        arena: &mut Arena,
    ) {
        self.hand(transit.egress.into(), at, buffer, What::Transit { packet, transit }, arena);
    }

    /// A dropped packet is reported to its sender by the plane that serves the interface it came in by.
    #[cold]
    pub(super) fn dropped(
        &mut self,
        at: usize,
        buffer: Buffer,
        packet: Packet,
        trouble: Trouble,
        arena: &mut Arena,
    ) {
        self.hand(at, at, buffer, What::Dropped { packet, trouble }, arena);
    }
}

impl Plane {
    /// Which of the planes of its router it is.
    #[must_use]
    pub fn part(&self) -> &Part {
        &self.post.part
    }

    /// Whether there is something for other planes.
    #[must_use]
    #[inline]
    pub fn has_handed(&self) -> bool {
        !self.post.out.is_empty()
    }

    /// What there is for other planes since the last call, in its order, each with the place of its plane.
    #[inline]
    pub fn handed(&mut self) -> impl Iterator<Item = (usize, Handed)> + '_ {
        self.post.out.drain(..)
    }

    /// Takes what another plane has handed over.
    #[inline]
    pub fn take(&mut self, now: Instant, handed: Handed, arena: &mut Arena) {
        let Handed { at, buffer, what } = handed;
        let at = usize::from(at);
        arena.adopt(&buffer);
        match what {
            What::Transit { packet, transit } => {
                arena.set_now(now);
                self.forward(now.get(), at, buffer, &packet, transit, arena);
            }
            What::Frame { partial } => {
                arena.set_now(now);
                self.enter(now.get(), at, Received { buffer, partial }, arena);
            }
            What::Dropped { packet, trouble } => self.tell(now.get(), at, buffer, &packet, trouble, arena),
        }
    }

    /// There was no room for what was to be handed over.
    #[cold]
    pub fn refused(&mut self, handed: Handed, arena: &mut Arena) {
        let Handed { at, buffer, what } = handed;
        arena.adopt(&buffer);
        let tally = &mut self.ports[usize::from(at)].tally;
        let size = match &what {
            What::Dropped { .. } => return arena.give(buffer),
            What::Transit { packet, .. } => packet.size,
            What::Frame { .. } => {
                let size = (buffer.length() as usize).saturating_sub(ETHERNET) as u16;
                tally.received.add(size.into());
                size
            }
        };
        self.refuse(at.into(), Reason::HandOverFull, size, buffer, arena);
    }
}
