//! `bpf/route/route.h`, compiled for the host, says of any frame what another parser says of it.

use std::net::Ipv4Addr;

use etherparse::{
    Ethernet2HeaderSlice, Ipv4HeaderSlice, Ipv6Header, Ipv6HeaderSlice, SingleVlanHeader,
    SingleVlanHeaderSlice,
};

/// `enum route_frame`.
const ROUTED: u8 = 0;
const NEIGHBOUR: u8 = 1;
const VLAN: u8 = 3;
const OTHER: u8 = 4;
const SHORT: u8 = 5;

/// What it is, its destination, and its tags: the type of the first, the outer and the inner VLAN.
type Said = (u8, [u8; 16], [u16; 3]);

/// What the program says of each frame.
fn said(frames: &[Vec<u8>]) -> Vec<Said> {
    let bytes = frames.iter().flat_map(|frame| [&(frame.len() as u16).to_le_bytes(), &frame[..]].concat());
    let said = crate::host::said("route", "route/classify.c", bytes.collect());
    let word = |said: &[u8], at: usize| u16::from_be_bytes([said[at], said[at + 1]]);
    let tags = |said: &[u8]| [word(said, 17), word(said, 19), word(said, 21)];
    said.chunks_exact(23).map(|it| (it[0], it[1..17].try_into().expect("16 bytes"), tags(it))).collect()
}

/// What another parser says of a frame.
fn expected(frame: &[u8]) -> Said {
    let Ok(ethernet) = Ethernet2HeaderSlice::from_slice(frame) else { return (SHORT, [0; 16], [0; 3]) };
    let (mut kind, mut behind) = (ethernet.ether_type().0, &frame[etherparse::Ethernet2Header::LEN..]);
    let (mut types, mut vlans) = (Vec::new(), Vec::new());
    while let 0x8100 | 0x88a8 = kind {
        if types.len() == 2 {
            return (VLAN, [0; 16], [types[0], vlans[0], vlans[1]]);
        }
        let Ok(tag) = SingleVlanHeaderSlice::from_slice(behind) else {
            return (SHORT, [0; 16], of_tags(&types, &vlans));
        };
        types.push(kind);
        vlans.push(tag.vlan_identifier().value());
        (kind, behind) = (tag.ether_type().0, &behind[SingleVlanHeader::LEN..]);
    }
    let tags = of_tags(&types, &vlans);
    // The tag before the packet is one of customers.
    if types.last().is_some_and(|&last| last != 0x8100) {
        return (VLAN, [0; 16], tags);
    }
    let (kind, to) = packet(kind, behind);
    (kind, to, tags)
}

fn of_tags(types: &[u16], vlans: &[u16]) -> [u16; 3] {
    match (types, vlans) {
        ([kind], [inner]) => [*kind, 0, *inner],
        ([kind, _], [outer, inner]) => [*kind, *outer, *inner],
        _ => [0; 3],
    }
}

fn packet(kind: u16, behind: &[u8]) -> (u8, [u8; 16]) {
    let nowhere = [0; 16];
    match kind {
        0x0800 => ipv4(behind).map_or((SHORT, nowhere), |to| (ROUTED, to.to_ipv6_mapped().octets())),
        0x86dd => ipv6(behind)
            .map_or((SHORT, nowhere), |(discovery, to)| (if discovery { NEIGHBOUR } else { ROUTED }, to)),
        0x0806 => (NEIGHBOUR, nowhere),
        _ => (OTHER, nowhere),
    }
}

/// The destination; the program leaves the version and the length of the header to the router.
fn ipv4(bytes: &[u8]) -> Option<Ipv4Addr> {
    let mut header = bytes.get(..20)?.to_vec();
    header[0] = 0x45;
    Some(Ipv4HeaderSlice::from_slice(&header).expect("20 bytes of version 4").destination_addr())
}

/// Whether it is neighbour discovery, and the destination.
fn ipv6(bytes: &[u8]) -> Option<(bool, [u8; 16])> {
    let mut header = bytes.get(..Ipv6Header::LEN)?.to_vec();
    header[0] = 0x60;
    let header = Ipv6HeaderSlice::from_slice(&header).expect("40 bytes of version 6");
    let kind = bytes.get(Ipv6Header::LEN);
    let discovery = header.next_header().0 == 58
        && header.hop_limit() == 255
        && kind.is_some_and(|kind| (133..=137).contains(kind));
    Some((discovery, header.destination()))
}

/// Numbers that differ from test to test only by their seed.
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    /// One of those, or anything.
    fn among(&mut self, usual: &[u64], below: u64) -> u64 {
        let place = self.next(usual.len() as u64 + 1) as usize;
        usual.get(place).copied().unwrap_or_else(|| self.next(below))
    }

    /// Random bytes, with what the program reads drawn mostly from what it knows; up to three tags.
    fn frame(&mut self) -> Vec<u8> {
        let tags = [0, 0, 1, 1, 2, 2, 3][self.next(7) as usize];
        let length = self.among(&[13, 14, 33, 34, 53, 54, 55, 64, 1514], 80) as usize;
        // Some end within their tags.
        let length = length + 4 * self.among(&[tags as u64], 4) as usize;
        let mut frame = (0..length).map(|_| self.next(256) as u8).collect::<Vec<_>>();
        let mut fixed = Vec::new();
        for tag in 0..=tags {
            let usual: &[u64] = match tag < tags {
                true => &[0x8100, 0x8100, 0x88a8],
                false => &[0x0800, 0x86dd, 0x86dd, 0x86dd, 0x0806, 0x88cc],
            };
            let [high, low] = (self.among(usual, 65_536) as u16).to_be_bytes();
            fixed.extend([(12 + 4 * tag, high), (13 + 4 * tag, low)]);
        }
        let header = 14 + 4 * tags;
        fixed.extend([
            (header + 6, self.among(&[58, 58, 17], 256) as u8),
            (header + 7, self.among(&[255, 255, 64], 256) as u8),
            (header + 40, self.among(&[132, 133, 135, 137, 138], 256) as u8),
        ]);
        for (place, byte) in fixed {
            if let Some(at) = frame.get_mut(place) {
                *at = byte;
            }
        }
        frame
    }
}

#[test]
fn any_frame_is_classified_as_another_parser_does() {
    let mut draw = Draw(7);
    let frames = (0..20_000).map(|_| draw.frame()).collect::<Vec<_>>();
    let said = said(&frames);
    assert_eq!(said.len(), frames.len());
    let (mut kinds, mut routed) = ([0u32; 7], [0u32; 3]);
    for (frame, said) in frames.iter().zip(said) {
        assert_eq!(said, expected(frame), "{frame:02x?}");
        kinds[usize::from(said.0)] += 1;
        if said.0 == ROUTED {
            routed[usize::from(said.2[0] != 0) + usize::from(said.2[1] != 0)] += 1;
        }
    }
    for kind in [ROUTED, NEIGHBOUR, VLAN, OTHER, SHORT] {
        assert!(kinds[usize::from(kind)] > 500, "of kind {kind} there were {kinds:?}");
    }
    assert!(routed.iter().all(|&count| count > 500), "by their tags: {routed:?}");
}
