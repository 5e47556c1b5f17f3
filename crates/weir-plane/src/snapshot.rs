//! What a router has counted so far, as its control socket and its metrics give it.
//!
//! Counters only grow, and go on over a change of the configuration where the interface stays. At any moment, of each
//! router: `received + fragments = fragmented + forwarded + to_router + dropped (by reason) + waiting`, which a test holds.

use core::iter::Sum;
use core::ops::AddAssign;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use weir_gauge::spans::Sojourn;

/// Why the router let a packet go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Shorter than its headers say, or a header that cannot be.
    Malformed,
    /// Neither IPv4, IPv6 nor ARP, where the device hands over such frames.
    NotIp,
    /// With VLAN tags that no interface has, or without one where none takes such frames.
    Vlan,
    /// A source or destination that no router may forward: unspecified, loopback, multicast, link-local, broadcast.
    Martian,
    /// Not sent to the device's own address.
    NotForUs,
    /// Its time to live ends here.
    Expired,
    /// No route leads to its destination.
    NoRoute,
    /// It would leave by the interface it came by, to whom it came from.
    Loop,
    /// Larger than the interface it leaves by takes.
    TooLarge,
    /// Its transport checksum was never completed, and is to be refused.
    PartialChecksum,
    /// Its next router does not answer.
    NoNeighbour,
    /// It waited for the answer of a neighbour, and too many came after it, to this neighbour or to others of the interface.
    NeighbourQueueFull,
    /// There was no free frame.
    NoMemory,
    /// The discipline: the queue is full.
    QueueFull,
    /// The discipline: congestion.
    Congestion,
    /// The discipline: larger than it ever grants.
    TooLargeForDiscipline,
    /// The discipline: no place for its class or flow.
    Unclassified,
    /// The interface it was to leave by is down or gone.
    InterfaceDown,
    /// The interface it was to leave by is being drained.
    Draining,
    /// The thread that serves the interface it was to leave by had too many packets from another to take.
    HandOverFull,
}

impl Reason {
    /// All of them, in their order.
    pub const ALL: [Self; 20] = [
        Self::Malformed,
        Self::NotIp,
        Self::Vlan,
        Self::Martian,
        Self::NotForUs,
        Self::Expired,
        Self::NoRoute,
        Self::Loop,
        Self::TooLarge,
        Self::PartialChecksum,
        Self::NoNeighbour,
        Self::NeighbourQueueFull,
        Self::NoMemory,
        Self::QueueFull,
        Self::Congestion,
        Self::TooLargeForDiscipline,
        Self::Unclassified,
        Self::InterfaceDown,
        Self::Draining,
        Self::HandOverFull,
    ];
}

/// Why the XDP program of an interface left a frame to the kernel. By AF_PACKET the router sees such frames, and
/// refuses those that it does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Left {
    /// ARP and neighbour discovery, which the daemon hears as well.
    Neighbour,
    /// For an address that the kernel has on the interface.
    Address,
    /// With VLAN tags that no interface has, or without one where none takes such frames.
    Vlan,
    /// Neither IPv4, IPv6 nor ARP.
    NotIp,
    /// Shorter than an Ethernet header and the fixed part of an IP header.
    Short,
    /// For the router, while it had no socket there: dropped instead where `on_failure` is `stop`.
    NoSocket,
}

/// Packets and bytes (of IP).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How many packets.
    pub packets: u64,
    /// How many bytes of IP in them.
    pub bytes: u64,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

impl Count {
    /// Counts a packet.
    #[inline]
    pub fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

/// What was counted of the whole router.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The router's name.
    pub name: String,
    /// Nanoseconds since the daemon began.
    pub now_ns: u64,
    /// How often the configuration was changed.
    pub reloads: u64,
    /// Frames of the arena.
    pub frames: u64,
    /// Frames of it that nobody has.
    pub frames_free: u64,
    /// The interfaces.
    pub interfaces: Vec<InterfaceSnapshot>,
}

impl Snapshot {
    /// Adds what a process has counted whose place this one has taken; what waited there waits here. A class that there is no
    /// more is counted with the last one; an interface that there is no more stands behind the others, as one that is down.
    pub fn add_past(&mut self, past: &Self) {
        self.reloads += past.reloads;
        for before in &past.interfaces {
            match self.interfaces.iter_mut().find(|interface| interface.name == before.name) {
                Some(interface) => interface.add_past(before),
                None => self.interfaces.push(before.gone()),
            }
        }
    }

    /// What all planes of a router have counted together; `server` says which of them serves an interface.
    #[must_use]
    pub fn of_all(mut parts: Vec<Self>, server: impl Fn(usize) -> usize) -> Self {
        let mut all = Self {
            interfaces: Vec::new(),
            frames_free: parts.iter().map(|part| part.frames_free).sum(),
            ..parts.first().cloned().unwrap_or_default()
        };
        for place in 0..parts.iter().map(|part| part.interfaces.len()).min().unwrap_or(0) {
            let mut interface = core::mem::take(&mut parts[server(place)].interfaces[place]);
            for (_, other) in parts.iter().enumerate().filter(|(part, _)| *part != server(place)) {
                interface.add(&other.interfaces[place]);
            }
            all.interfaces.push(interface);
        }
        all
    }
}

/// What the kernel has counted of an interface, since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCounts {
    /// Frames that came in and found no room in the socket: the daemon was too slow, or had no free frames.
    pub receive_dropped: u64,
    /// Frames that the device did not take, though it was given them.
    pub transmit_failed: u64,
}

impl AddAssign for KernelCounts {
    fn add_assign(&mut self, other: Self) {
        self.receive_dropped += other.receive_dropped;
        self.transmit_failed += other.transmit_failed;
    }
}

impl Sum for KernelCounts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

/// What was counted of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceSnapshot {
    /// Its name.
    pub name: String,
    /// By which means frames come in and leave.
    pub means: String,
    /// Whether it is up.
    pub up: bool,
    /// Its discipline, as it is written.
    pub discipline: String,
    /// How many packets wait there at most, and how long they take on the line, in words.
    #[serde(default)]
    pub holds: String,
    /// The rate at which frames leave, such as `10Mbit`; nothing where there is no limit.
    pub rate: Option<String>,
    /// Came in by it, whatever became of them.
    pub received: Count,
    /// Came in by it for the router itself: ARP, neighbour discovery, echo requests.
    pub to_router: Count,
    /// Left by it.
    pub forwarded: Count,
    /// Made by the router itself and left by it, besides those forwarded.
    pub originated: Count,
    /// Came in by it and were cut into fragments, since the interface that they leave by takes no packets of their size.
    #[serde(default)]
    pub fragmented: Count,
    /// The fragments that they were cut into, each counted from then on as a packet.
    #[serde(default)]
    pub fragments: Count,
    /// Came in by it and were dropped before they joined a queue, by reason.
    pub refused: BTreeMap<Reason, Count>,
    /// How long after they were due packets were handed to the device, where there is a rate: what the router's own
    /// process adds to their delay.
    #[serde(default)]
    pub lateness: Sojourn,
    /// Whether metrics are given for each of its subscribers.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub subscriber_metrics: bool,
    /// Classes of what leaves by it.
    pub classes: Vec<ClassSnapshot>,
    /// What the kernel has counted.
    pub kernel: KernelCounts,
    /// Frames that the XDP program left to the kernel: they are not among those that came in.
    #[serde(default)]
    pub left_to_kernel: BTreeMap<Left, u64>,
}

impl InterfaceSnapshot {
    /// Adds what a plane has counted that does not serve the interface: all that it knows is what came in.
    fn add(&mut self, other: &Self) {
        self.received += other.received;
        self.to_router += other.to_router;
        self.fragmented += other.fragmented;
        self.fragments += other.fragments;
        self.kernel += other.kernel;
        for (reason, count) in &other.refused {
            *self.refused.entry(*reason).or_default() += *count;
        }
    }
}

impl InterfaceSnapshot {
    /// What it has counted, where nothing waits any more.
    fn gone(&self) -> Self {
        let mut gone = Self { up: false, ..self.clone() };
        for class in &mut gone.classes {
            let waited = core::mem::take(&mut class.waiting);
            class.oldest_ns = 0;
            if waited.packets > 0 {
                *class.dropped.entry(Reason::InterfaceDown).or_default() += waited;
            }
        }
        gone
    }

    fn add_past(&mut self, past: &Self) {
        self.add(past);
        self.forwarded += past.forwarded;
        self.originated += past.originated;
        self.lateness.add(&past.lateness);
        for (why, count) in &past.left_to_kernel {
            *self.left_to_kernel.entry(*why).or_default() += count;
        }
        let last = self.classes.len().saturating_sub(1);
        for before in &past.classes {
            let place = self.classes.iter().position(|class| class.name == before.name).unwrap_or(last);
            let Some(class) = self.classes.get_mut(place) else { continue };
            class.offered += before.offered;
            class.forwarded += before.forwarded;
            class.marked += before.marked;
            class.sojourn.add(&before.sojourn);
            for (reason, count) in &before.dropped {
                *class.dropped.entry(*reason).or_default() += *count;
            }
        }
    }
}

/// What was counted of a class at the interface that it leaves by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassSnapshot {
    /// Its name.
    pub name: String,
    /// Offered to the queue.
    pub offered: Count,
    /// Left.
    pub forwarded: Count,
    /// Marked with congestion.
    pub marked: Count,
    /// Dropped at the queue or behind it, by reason.
    pub dropped: BTreeMap<Reason, Count>,
    /// Waiting now: in the queue, in transmission, on the delay line, or for a neighbour.
    pub waiting: Count,
    /// How long the oldest of them has been here.
    pub oldest_ns: u64,
    /// From arrival to the end of transmission: nothing before the first.
    pub sojourn: Sojourn,
}
