//! The data plane: which class, flow, route and neighbour a frame has, and when it leaves.
//!
//! Sans-IO: no system call, no clock, no lock. [`config`] is the one definition of a router's configuration, and the
//! [`arena`] holds its frames. They come in as handles ([`Buffer`]), time as an argument, and what is to be sent goes
//! out through [`Plane::depart`]; so the whole of a router is tested without one. After [`Plane::new`] nothing
//! allocates.
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

mod answers;
pub mod arena;
pub mod checksum;
mod classify;
pub mod config;
mod discovery;
pub mod dropped;
mod egress;
pub mod estate;
mod forward;
mod fragment;
mod frame;
mod hand_over;
mod line;
mod neighbours;
mod oversleep;
mod parked;
mod port;
mod prefixes;
mod reload;
mod routes;
pub mod snapshot;
pub mod subscribers;
mod succession;
mod successor;
mod tally;
#[cfg(test)]
pub(crate) mod testing;
mod vlan;
mod waiting;

use core::fmt;

use weir_core::message::fifo::Fifo;
use weir_core::packet::hash::Keyed;
use weir_core::units::Instant;
use weir_document::Refused;

use crate::arena::{Arena, Buffer};
use crate::config::{MacAddress, Router};
use classify::Classifier;
use egress::Frames;
use hand_over::Post;
pub use hand_over::{Handed, Part};
use line::NEVER;
use oversleep::Oversleep;
use parked::Parked;
use port::{Most, Outlet, Port};
use routes::Routes;
use snapshot::{InterfaceSnapshot, Reason, Snapshot};
use subscribers::{Reading, Subscribed};
pub use successor::{Remains, Successor};
use vlan::Trunks;

/// What the plane must know of a device; by default there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Its address.
    pub mac: MacAddress,
    /// The largest IP packet that it takes.
    pub mtu: u32,
    /// Whether it is up.
    pub up: bool,
    /// Its number in the kernel, which another device of the same name would not have.
    pub index: u32,
    /// How often its line came and went.
    pub carrier_changes: u32,
}

/// A frame that has come in.
#[derive(Debug)]
pub struct Received {
    /// Where it lies, from its Ethernet header on.
    pub buffer: Buffer,
    /// Whether its transport checksum is still to be completed; `None` where the device does not say.
    pub partial: Option<bool>,
}

/// What is to be reported to the operator, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Packets came in by an interface whose transport checksums were never completed, and were refused.
    PartialChecksums {
        /// The interface.
        interface: usize,
    },
}

/// A router without its sockets.
pub struct Plane {
    router: Router,
    /// What the queue of each interface holds, in words: a snapshot is taken between packets.
    holds: Vec<String>,
    seed: u64,
    reloads: u64,
    classifier: Classifier,
    routes: Routes,
    parked: Parked,
    ports: Vec<Port>,
    /// Of each device: what is known of it, and its interfaces.
    devices: Vec<DeviceFacts>,
    trunks: Trunks,
    /// Fragments of a packet, until they are queued.
    pieces: Vec<Buffer>,
    oversleep: Oversleep,
    /// What is for the other planes of the router.
    post: Post,
}

impl fmt::Debug for Plane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plane").field("name", &self.router.name).field("waiting", &self.waiting()).finish()
    }
}

impl Plane {
    /// A router with empty queues; `devices` are those of its interfaces ([`Router::devices`]). `seed` is what all hashes
    /// that have no key of their own are taken under.
    ///
    /// # Errors
    /// A discipline refuses its arguments, or the devices are not as many as its interfaces have.
    pub fn new(router: Router, devices: &[DeviceFacts], frames: u32, seed: u64) -> Result<Self, Refused> {
        Self::part_of(router, Part::WHOLE, devices, frames, seed)
    }

    /// One of the planes of a router.
    ///
    /// # Errors
    /// As of [`Self::new`].
    pub fn part_of(
        router: Router,
        mut part: Part,
        devices: &[DeviceFacts],
        frames: u32,
        seed: u64,
    ) -> Result<Self, Refused> {
        if devices.len() != router.devices().len() {
            let (found, devices) = (devices.len(), router.devices().len());
            let reason = format!("has interfaces of {devices} devices, but {found} were found");
            return Err(Refused::of_file(&router.name, reason, "name devices that exist"));
        }
        let (hash, classes) = (Keyed::new(seed), router.classes.len());
        let places = router.device_places();
        let mut ports = Vec::with_capacity(places.len());
        part.set_devices(places.clone());
        for (at, (interface, place)) in router.interfaces.iter().zip(&places).enumerate() {
            let make = successor::build(&router, at, seed)?;
            // What another plane serves has no queue here.
            let discipline = if part.serves(at) { make() } else { Box::new(Fifo::new()) };
            let waiting = waiting::share(frames, places.len());
            let most = Most { neighbours: router.most_neighbours, waiting };
            let mut port = Port::new(interface, devices[*place], discipline, classes, hash, most);
            port.subscribe(interface.subscribers.as_ref().filter(|_| part.serves(at)).map(Subscribed::new));
            ports.push(port);
        }
        let (classifier, routes) = (Classifier::new(&router, seed), Routes::new(&router));
        let (holds, trunks) = (router.bounds(), Trunks::new(&router));
        Ok(Self {
            router,
            holds,
            seed,
            reloads: 0,
            classifier,
            routes,
            parked: Parked::new(frames),
            ports,
            devices: devices.to_vec(),
            trunks,
            pieces: Vec::with_capacity(fragment::MOST),
            oversleep: Oversleep::default(),
            post: Post::new(part),
        })
    }

    /// Appends to `into` at most `room` frames that are to be sent by an interface now, with their headers written;
    /// all that the interface's line has done up to `now` is done.
    #[inline]
    pub fn depart(
        &mut self,
        now: Instant,
        interface: usize,
        room: u32,
        arena: &mut Arena,
        into: &mut Vec<Buffer>,
    ) {
        if let Some(port) = self.ports.get_mut(interface) {
            arena.set_now(now);
            let frames = &mut Frames { parked: &mut self.parked, arena };
            port.depart(now.get(), frames, &mut Outlet { room, classes: &self.router.classes, into });
        }
    }

    /// A frame could not be handed to its device, which is down or gone: it is counted and given back.
    #[inline]
    pub fn failed(&mut self, interface: usize, buffer: Buffer, arena: &mut Arena) {
        if let Some(port) = self.ports.get_mut(interface)
            && port.failed(&mut self.parked, &buffer)
        {
            arena.note(&buffer, interface, Reason::InterfaceDown);
        }
        arena.give(buffer);
    }

    /// A device has changed: what was learned of the neighbours of its interfaces holds no longer, unless only the largest
    /// packet is another.
    pub fn device(&mut self, device: usize, facts: DeviceFacts) {
        let Some(known) = self.devices.get_mut(device) else { return };
        *known = facts;
        for &at in self.trunks.of(device) {
            if !self.router.interfaces[at].is_removed {
                self.ports[at].set_device(facts, &mut self.parked);
            }
        }
    }

    /// The interfaces of a device, also those that are removed; the first counts what is of none.
    #[must_use]
    #[inline]
    pub fn interfaces_of(&self, device: usize) -> &[usize] {
        self.trunks.of(device)
    }

    /// When [`Self::depart`] of some interface has something to do without an arrival; an interface that only waits
    /// for room is not among them.
    #[must_use]
    #[inline]
    pub fn next_event(&self) -> Option<Instant> {
        let wake = self.ports.iter().map(|port| port.wake(&self.parked)).min();
        wake.filter(|&wake| wake < NEVER).map(Instant::new)
    }

    /// The loop looks at `now` for the first time since it was to sleep until `due`, or to spin.
    #[inline]
    pub fn woken(&mut self, now: Instant, due: Instant) {
        self.oversleep.note(now.get(), due.get());
    }

    /// Whether packets wait for room at the device of an interface.
    #[must_use]
    #[inline]
    pub fn wants_room(&self, interface: usize) -> bool {
        self.ports.get(interface).is_some_and(|port| port.egress.wants_room())
    }

    /// Everything that waits at an interface leaves before anything new is queued there; new packets are dropped until
    /// [`Self::resume`].
    pub fn drain(&mut self, interface: usize) {
        self.set_draining(interface, true);
    }

    /// Ends [`Self::drain`].
    pub fn resume(&mut self, interface: usize) {
        self.set_draining(interface, false);
    }

    /// Whether an interface takes nothing new.
    #[must_use]
    #[inline]
    pub fn is_draining(&self, interface: usize) -> bool {
        self.ports.get(interface).is_some_and(|port| port.is_draining)
    }

    fn set_draining(&mut self, interface: usize, draining: bool) {
        if let Some(port) = self.ports.get_mut(interface) {
            port.is_draining = draining;
        }
    }

    /// What was counted so far. The means of the interfaces and what the kernel has counted are not known here.
    #[must_use]
    pub fn snapshot(&self, now: Instant, arena: &Arena) -> Snapshot {
        let mut oldest = vec![vec![u64::MAX; self.router.classes.len()]; self.ports.len()];
        for (_, entry) in self.parked.present() {
            let first = &mut oldest[usize::from(entry.egress)][usize::from(entry.whose.class)];
            *first = entry.arrived.min(*first);
        }
        let interfaces = (0..self.ports.len()).map(|at| self.interface(now, at, &oldest[at]));
        Snapshot {
            name: self.router.name.clone(),
            now_ns: now.get(),
            reloads: self.reloads,
            frames: arena.frames().into(),
            frames_free: arena.free().into(),
            interfaces: interfaces.collect(),
        }
    }

    /// What was counted of the subscribers of an interface, if it has some and this plane serves it: a copy of the counts,
    /// of which whoever wants it makes a [snapshot](subscribers::Reading::snapshot).
    #[must_use]
    pub fn subscribers(&self, now: Instant, interface: usize) -> Option<Reading> {
        let port = self.ports.get(interface)?;
        let subscribed = port.subscribed.as_ref()?;
        Some(Reading {
            interface: self.router.interfaces[interface].name.clone(),
            now_ns: now.get(),
            rate: self.router.interfaces[interface].rate.unwrap_or_default(),
            table: subscribed.table(),
            counts: port.egress.tallies.subscribers.clone(),
        })
    }

    fn interface(&self, now: Instant, at: usize, oldest: &[u64]) -> InterfaceSnapshot {
        let (interface, port) = (&self.router.interfaces[at], &self.ports[at]);
        let mut snapshot = InterfaceSnapshot {
            name: interface.name.clone(),
            up: port.facts.up,
            discipline: interface.discipline.to_string(),
            holds: self.holds[at].clone(),
            rate: interface.rate.map(|rate| rate.to_string()),
            subscriber_metrics: interface.subscribers.as_ref().is_some_and(|named| named.metrics),
            received: port.tally.received,
            to_router: port.tally.to_router,
            originated: port.tally.originated,
            fragmented: port.tally.fragmented,
            fragments: port.tally.fragments,
            refused: port.tally.refused.snapshot(),
            lateness: port.egress.lateness.snapshot(),
            ..InterfaceSnapshot::default()
        };
        for ((class, tally), oldest) in
            self.router.classes.iter().zip(&port.egress.tallies.classes).zip(oldest)
        {
            snapshot.forwarded.packets += tally.forwarded.packets;
            snapshot.forwarded.bytes += tally.forwarded.bytes;
            snapshot.classes.push(tally.snapshot(&class.name, now.get().saturating_sub(*oldest)));
        }
        snapshot
    }

    /// How many packets wait at all interfaces.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let classes = self.ports.iter().flat_map(|port| &port.egress.tallies.classes);
        classes.map(|class| class.waiting.packets).sum()
    }
}

#[cfg(test)]
mod tests;
