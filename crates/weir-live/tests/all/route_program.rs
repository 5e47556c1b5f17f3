//! `bpf/route/route.h`, compiled for the host, says of any frame what another parser says of it.

use std::net::Ipv4Addr;

use etherparse::{Ethernet2HeaderSlice, Ipv4HeaderSlice, Ipv6Header, Ipv6HeaderSlice};

/// `enum route_frame`.
const ROUTED: u8 = 0;
const NEIGHBOUR: u8 = 1;
const VLAN: u8 = 3;
const OTHER: u8 = 4;
const SHORT: u8 = 5;

type Said = (u8, [u8; 16]);

/// What the program says of each frame.
fn said(frames: &[Vec<u8>]) -> Vec<Said> {
    let bytes = frames.iter().flat_map(|frame| [&(frame.len() as u16).to_le_bytes(), &frame[..]].concat());
    let said = crate::host::said("route", "route/classify.c", bytes.collect());
    said.chunks_exact(17).map(|said| (said[0], said[1..].try_into().expect("16 bytes"))).collect()
}

/// What another parser says of a frame.
fn expected(frame: &[u8]) -> Said {
    let nowhere = [0; 16];
    let Ok(ethernet) = Ethernet2HeaderSlice::from_slice(frame) else { return (SHORT, nowhere) };
    let behind = &frame[etherparse::Ethernet2Header::LEN..];
    match ethernet.ether_type().0 {
        0x0800 => ipv4(behind).map_or((SHORT, nowhere), |to| (ROUTED, to.to_ipv6_mapped().octets())),
        0x86dd => ipv6(behind)
            .map_or((SHORT, nowhere), |(discovery, to)| (if discovery { NEIGHBOUR } else { ROUTED }, to)),
        0x0806 => (NEIGHBOUR, nowhere),
        0x8100 | 0x88a8 => (VLAN, nowhere),
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

    /// Random bytes, with what the program looks at drawn mostly from what it knows.
    fn frame(&mut self) -> Vec<u8> {
        let length = self.among(&[13, 14, 33, 34, 53, 54, 55, 64, 1514], 80) as usize;
        let mut frame = (0..length).map(|_| self.next(256) as u8).collect::<Vec<_>>();
        let ethertype =
            self.among(&[0x0800, 0x86dd, 0x86dd, 0x86dd, 0x0806, 0x8100, 0x88a8, 0x88cc], 65_536) as u16;
        let [high, low] = ethertype.to_be_bytes();
        let fixed = [
            (12, high),
            (13, low),
            (20, self.among(&[58, 58, 17], 256) as u8),
            (21, self.among(&[255, 255, 64], 256) as u8),
            (54, self.among(&[132, 133, 135, 137, 138], 256) as u8),
        ];
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
    let mut kinds = [0u32; 7];
    for (frame, said) in frames.iter().zip(said) {
        assert_eq!(said, expected(frame), "{frame:02x?}");
        kinds[usize::from(said.0)] += 1;
    }
    for kind in [ROUTED, NEIGHBOUR, VLAN, OTHER, SHORT] {
        assert!(kinds[usize::from(kind)] > 500, "of kind {kind} there were {kinds:?}");
    }
}
