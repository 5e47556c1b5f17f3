//! A router for tests: three interfaces, 10.0.N.0/24 and fd00:N::/64, the router at .254 and ::fe, a neighbour at .1
//! and ::1; and frames made by hand.

use std::net::IpAddr;

use weir_core::units::{Bytes, Instant, Nanos, Rate};

use super::checksum::{fold, sum};
use super::snapshot::Snapshot;
use super::{DeviceFacts, Plane};
use crate::Received;
use crate::arena::{Arena, Buffer};
use crate::config::{
    Checksums, Class, Defaults, FlowKey, Interface, Io, MacAddress, Mark, Neighbour, OnFailure, PriorityFrom,
    Route, Router, Rule, XDP_PRIORITY, Xdp,
};

/// Frames of the arena.
pub(crate) const FRAMES: u32 = 256;

/// The device of an interface.
pub(crate) fn own(interface: usize) -> MacAddress {
    MacAddress([2, 0, 0, 0, 0, interface as u8])
}

/// The device of the neighbour there.
pub(crate) fn next(interface: usize) -> MacAddress {
    MacAddress([2, 0, 0, 0, 1, interface as u8])
}

/// An interface with its neighbour.
pub(crate) fn interface(at: usize, discipline: &str) -> Interface {
    let text = |text: String| text.parse().expect("an address");
    Interface {
        name: format!("if{at}"),
        device: format!("if{at}"),
        vlan: None,
        priority_from: PriorityFrom::Received,
        is_removed: false,
        addresses: vec![
            format!("10.0.{at}.254/24").parse().expect("a prefix"),
            format!("fd00:{at}::fe/64").parse().expect("a prefix"),
        ],
        rate: Some(Rate::new(8_000_000)),
        framing: Bytes::new(0),
        propagation: Nanos::new(0),
        discipline: discipline.parse().expect("a spec"),
        mtu: None,
        neighbours: [format!("10.0.{at}.1"), format!("fd00:{at}::1")]
            .map(|address| Neighbour { address: text(address), mac: next(at) })
            .to_vec(),
        subscribers: None,
    }
}

/// A router whose interfaces all have this discipline, 8 Mbit/s (a byte takes a microsecond), no framing and no
/// delay; one class; the seed of its hash is 1.
pub(crate) fn router(discipline: &str) -> Router {
    let interfaces: Vec<Interface> = (0..3).map(|at| interface(at, discipline)).collect();
    let connected = interfaces.iter().zip(0..).flat_map(|(interface, at)| {
        interface.addresses.iter().map(move |net| Route { to: net.trunc(), via: None, interface: at })
    });
    Router {
        name: "r".into(),
        memory: Bytes::new(1 << 20),
        io: Io::Auto,
        on_failure: OnFailure::Pass,
        xdp: Xdp::Auto,
        xdp_priority: XDP_PRIORITY,
        checksums: Checksums::Complete,
        flow_key: FlowKey::FiveTuple,
        defaults: Defaults::Simulation,
        flow_buckets: 4096,
        hash_key: Some(1),
        most_neighbours: 1024,
        workers: 1,
        spin: Nanos::new(0),
        metrics: None,
        group: None,
        user: None,
        routes: connected.collect(),
        interfaces,
        classes: vec![Class { name: "default".into(), rule: Rule::default(), mark: Mark::default() }],
    }
}

/// The facts of three devices.
pub(crate) fn devices() -> Vec<DeviceFacts> {
    (0..3).map(device).collect()
}

/// The facts of one of them.
pub(crate) fn device(at: usize) -> DeviceFacts {
    DeviceFacts { mac: own(at), mtu: 1500, up: true, index: at as u32, carrier_changes: 0 }
}

/// A UDP datagram to be made into a frame for an interface.
#[derive(Clone, Debug)]
pub(crate) struct Udp {
    pub(crate) from: IpAddr,
    pub(crate) to: IpAddr,
    pub(crate) ports: (u16, u16),
    pub(crate) payload: Vec<u8>,
    pub(crate) ttl: u8,
    pub(crate) class: u8,
    /// Whether it is never to be fragmented.
    pub(crate) whole: bool,
}

impl Udp {
    pub(crate) fn new(from: &str, to: &str, payload: usize) -> Self {
        let read = |text: &str| text.parse().expect("an address");
        Self {
            from: read(from),
            to: read(to),
            ports: (1000, 2000),
            payload: vec![0x5a; payload],
            ttl: 64,
            class: 0,
            whole: true,
        }
    }

    /// From the neighbour at one interface to that at another, so that its IP packet is of `size` bytes.
    pub(crate) fn across(from: usize, to: usize, size: usize) -> Self {
        Self::new(&format!("10.0.{from}.1"), &format!("10.0.{to}.1"), size - 28)
    }

    /// Its bytes, from the Ethernet header on.
    pub(crate) fn frame(&self, device: MacAddress, from: MacAddress) -> Vec<u8> {
        let mut udp =
            [self.ports.0, self.ports.1, 8 + self.payload.len() as u16, 0].map(u16::to_be_bytes).concat();
        udp.extend(&self.payload);
        let mut frame = [device.0, from.0].concat();
        let pseudo = match (self.from, self.to) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                frame.extend([8, 0]);
                let mut ip = vec![
                    0x45,
                    self.class,
                    0,
                    0,
                    0x12,
                    0x34,
                    u8::from(self.whole) << 6,
                    0,
                    self.ttl,
                    17,
                    0,
                    0,
                ];
                ip.extend(from.octets().into_iter().chain(to.octets()));
                ip[2..4].copy_from_slice(&(20 + udp.len() as u16).to_be_bytes());
                let checksum = !fold(sum(&ip));
                ip[10..12].copy_from_slice(&checksum.to_be_bytes());
                frame.extend(&ip);
                sum(&ip[12..20])
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                frame.extend([0x86, 0xdd]);
                let mut ip = vec![0x60 | self.class >> 4, self.class << 4, 0, 0];
                ip.extend((udp.len() as u16).to_be_bytes());
                ip.extend([17, self.ttl]);
                ip.extend(from.octets().into_iter().chain(to.octets()));
                frame.extend(&ip);
                sum(&ip[8..40])
            }
            _ => panic!("both of one kind"),
        };
        let checksum = !fold(pseudo + 17 + udp.len() as u64 + sum(&udp));
        udp[6..8].copy_from_slice(&checksum.to_be_bytes());
        frame.extend(udp);
        frame
    }
}

/// A router and what left it.
pub(crate) struct Bench {
    pub(crate) plane: Plane,
    pub(crate) arena: Arena,
}

impl Bench {
    pub(crate) fn new(router: Router) -> Self {
        let plane = Plane::new(router, &devices(), FRAMES, 1).expect("a router");
        Self { plane, arena: Arena::new(FRAMES).expect("memory") }
    }

    /// A buffer with these bytes; `None` where no frame is free.
    pub(crate) fn buffer(&mut self, bytes: &[u8]) -> Option<Buffer> {
        let mut buffer = self.arena.take(256)?;
        assert!(buffer.resize(bytes.len() as u32));
        self.arena.bytes_mut(&mut buffer).copy_from_slice(bytes);
        Some(buffer)
    }

    /// These bytes come in by an interface.
    pub(crate) fn arrive(&mut self, now: u64, interface: usize, bytes: &[u8]) {
        let buffer = self.buffer(bytes).expect("a free frame");
        let received = Received { buffer, partial: None };
        self.plane.arrive(Instant::new(now), interface, received, &mut self.arena);
    }

    /// A datagram comes in by an interface from the neighbour there.
    pub(crate) fn datagram(&mut self, now: u64, interface: usize, datagram: &Udp) {
        self.arrive(now, interface, &datagram.frame(own(interface), next(interface)));
    }

    /// What leaves by an interface at `now`.
    pub(crate) fn depart(&mut self, now: u64, interface: usize, room: u32) -> Vec<Vec<u8>> {
        let mut into = Vec::new();
        self.plane.depart(Instant::new(now), interface, room, &mut self.arena, &mut into);
        into.into_iter().map(|buffer| self.give(buffer)).collect()
    }

    fn give(&mut self, buffer: Buffer) -> Vec<u8> {
        let bytes = self.arena.bytes(&buffer).to_vec();
        self.arena.give(buffer);
        bytes
    }

    /// When the router has next something to do.
    pub(crate) fn wake(&self) -> Option<u64> {
        self.plane.next_event().map(Instant::get)
    }

    /// Lets the router do all that it does by itself until `end`; what left by an interface, and when.
    pub(crate) fn run(&mut self, interface: usize, end: u64) -> Vec<(u64, Vec<u8>)> {
        let mut left = Vec::new();
        let mut guard = 0;
        while let Some(now) = self.wake().filter(|&now| now <= end) {
            for at in 0..3 {
                let frames = self.depart(now, at, u32::MAX);
                left.extend(frames.into_iter().filter(|_| at == interface).map(|frame| (now, frame)));
            }
            guard += 1;
            assert!(guard < 1_000_000, "it wakes for nothing at {now}");
        }
        left
    }

    pub(crate) fn snapshot(&self, now: u64) -> Snapshot {
        self.plane.snapshot(Instant::new(now), &self.arena)
    }

    /// `received + fragments = fragmented + forwarded + to_router + dropped + waiting`, in packets and bytes, and all frames are somewhere.
    pub(crate) fn holds(&self, now: u64) {
        let snapshot = self.snapshot(now);
        let (mut came, mut gone, mut lost) = ((0, 0), (0, 0), (0, 0));
        for interface in &snapshot.interfaces {
            let add = |to: &mut (u64, u64), count: super::snapshot::Count| {
                to.0 += count.packets;
                to.1 += count.bytes;
            };
            add(&mut came, interface.received);
            add(&mut came, interface.fragments);
            add(&mut gone, interface.fragmented);
            add(&mut gone, interface.to_router);
            add(&mut gone, interface.forwarded);
            interface.refused.values().for_each(|&count| add(&mut gone, count));
            interface.refused.values().for_each(|&count| add(&mut lost, count));
            for class in &interface.classes {
                class.dropped.values().for_each(|&count| add(&mut gone, count));
                class.dropped.values().for_each(|&count| add(&mut lost, count));
                add(&mut gone, class.waiting);
                let mut of_class = (0, 0);
                class.dropped.values().for_each(|&count| add(&mut of_class, count));
                add(&mut of_class, class.waiting);
                add(&mut of_class, class.forwarded);
                assert_eq!(of_class, (class.offered.packets, class.offered.bytes), "{}", class.name);
            }
        }
        assert_eq!(came, gone, "{snapshot:#?}");
        assert_eq!(lost.0, self.arena.dropped().count(), "each is noted");
    }
}

/// An ARP message: whether it asks, who speaks, who is asked.
pub(crate) fn arp(asks: bool, from: (&str, MacAddress), target: &str) -> Vec<u8> {
    let octets = |text: &str| text.parse::<std::net::Ipv4Addr>().expect("an address").octets();
    let mut frame = [MacAddress::BROADCAST.0, from.1.0].concat();
    frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, if asks { 1 } else { 2 }]);
    frame.extend(from.1.0);
    frame.extend(octets(from.0));
    frame.extend([0; 6]);
    frame.extend(octets(target));
    frame.resize(60, 0);
    frame
}
