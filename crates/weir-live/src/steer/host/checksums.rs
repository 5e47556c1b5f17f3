//! What the header completes is the checksum that another program computes, and nothing else is changed.

use etherparse::{IpNumber, PacketBuilder, VlanId};
use weir_plane::checksum::{fold, sum};

use super::super::setup::{ClassRule, Setup, Traffic};
use super::draw::Draw;
use super::{bytes, numbers, said};

const FRAMES: usize = 4_000;
const IPV4: [[u8; 4]; 2] = [[10, 0, 1, 2], [192, 0, 2, 77]];
const IPV6: [[u8; 16]; 2] = [
    [0xfd, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2],
    [0xfd, 0, 0, 0, 0, 0, 0, 9, 0x80, 0, 0, 0, 0, 0xff, 0, 3],
];
const TCP: u8 = 6;
const UDP: u8 = 17;

/// A frame whose checksums are complete, and the place of its own.
struct Whole {
    frame: Vec<u8>,
    /// Where its IP header and its transport begin.
    network: usize,
    transport: usize,
    protocol: u8,
}

impl Whole {
    /// A frame of UDP or TCP over either version of IP, with a tag now and then, and this payload.
    fn new(draw: &mut Draw, payload: &[u8], udp: Option<u16>) -> Self {
        let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let (tagged, four) = (draw.one_in(4), draw.one_in(2));
        let network = if tagged { 18 } else { 14 };
        let tag = VlanId::try_new(7).expect("of twelve bits");
        let packet = match (tagged, four) {
            (false, true) => ethernet.ipv4(IPV4[0], IPV4[1], 64),
            (false, false) => ethernet.ipv6(IPV6[0], IPV6[1], 64),
            (true, true) => ethernet.single_vlan(tag).ipv4(IPV4[0], IPV4[1], 64),
            (true, false) => ethernet.single_vlan(tag).ipv6(IPV6[0], IPV6[1], 64),
        };
        let mut frame = Vec::new();
        match udp {
            Some(port) => packet.udp(4_000, port).write(&mut frame, payload),
            None => packet.tcp(4_000, 80, 12_345, 1_000).write(&mut frame, payload),
        }
        .expect("into memory");
        let transport = network + if four { 20 } else { 40 };
        Self { frame, network, transport, protocol: if udp.is_some() { UDP } else { TCP } }
    }

    /// The place of its checksum.
    fn field(&self) -> usize {
        self.transport + if self.protocol == UDP { 6 } else { 16 }
    }

    /// The frame as it is sent where the checksum is left to the device.
    fn left_to_device(&self) -> Vec<u8> {
        let addresses = if self.transport - self.network == 20 { 12..20 } else { 8..40 };
        let length = (self.frame.len() - self.transport) as u64;
        let sum = sum(&self.frame[self.network..][addresses]) + u64::from(self.protocol) + length;
        let mut frame = self.frame.clone();
        frame[self.field()..][..2].copy_from_slice(&fold(sum).to_be_bytes());
        frame
    }
}

/// What the header makes of frames: whether it completed a checksum, and the frame.
fn completed(frames: &[Vec<u8>]) -> Vec<(bool, Vec<u8>)> {
    let command = |frame: &Vec<u8>| [&b"C"[..], &(frame.len() as u16).to_ne_bytes(), &frame[..]].concat();
    let answers = said(frames.iter().flat_map(command).collect());
    let mut rest = &answers[..];
    let mut one = |frame: &Vec<u8>| {
        let (done, behind) = rest.split_at(4);
        let (frame, behind) = behind.split_at(frame.len());
        rest = behind;
        (done == 1_u32.to_ne_bytes(), frame.to_vec())
    };
    frames.iter().map(&mut one).collect()
}

/// Frames with payloads of any length.
fn wholes(draw: &mut Draw) -> Vec<Whole> {
    let one = |draw: &mut Draw| {
        let length = draw.below(1_400);
        let (payload, port) = (draw.any(length), draw.one_in(2).then_some(9_000));
        Whole::new(draw, &payload, port)
    };
    (0..FRAMES).map(|_| one(draw)).collect()
}

/// A frame in VXLAN: with the checksum of the tunnel, which counts what is inside as complete, or without.
fn in_tunnel(draw: &mut Draw, inner: &Whole, sent: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let header = [8_u8, 0, 0, 0, 0, 0, 42, 0];
    let outer = Whole::new(draw, &[&header[..], &inner.frame].concat(), Some(4_789));
    let mut whole = outer.frame.clone();
    if draw.one_in(2) {
        whole[outer.field()..][..2].fill(0);
    }
    let mut before = whole.clone();
    let at = before.len() - sent.len();
    before[at..].copy_from_slice(sent);
    (before, whole)
}

#[test]
fn a_checksum_that_was_left_to_a_device_is_completed() {
    let draw = &mut Draw::new(11);
    let frames = wholes(draw);
    let left: Vec<Vec<u8>> = frames.iter().map(Whole::left_to_device).collect();
    for (whole, (done, frame)) in frames.iter().zip(completed(&left)) {
        assert!(done && frame == whole.frame, "{:02x?}", whole.frame);
    }
}

#[test]
fn it_is_completed_inside_a_tunnel_too() {
    let draw = &mut Draw::new(12);
    let frames = wholes(draw);
    let pairs: Vec<(Vec<u8>, Vec<u8>)> =
        frames.iter().map(|inner| in_tunnel(draw, inner, &inner.left_to_device())).collect();
    let before: Vec<Vec<u8>> = pairs.iter().map(|(before, _)| before.clone()).collect();
    for ((_, whole), (done, frame)) in pairs.iter().zip(completed(&before)) {
        assert!(done && frame == *whole, "{whole:02x?}");
    }
}

#[test]
fn a_checksum_that_is_complete_is_left_as_it_is() {
    let draw = &mut Draw::new(13);
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for inner in wholes(draw) {
        frames.push(in_tunnel(draw, &inner, &inner.frame).1);
        frames.push(inner.frame);
    }
    let after = completed(&frames);
    assert!(frames.iter().zip(&after).all(|(before, (_, after))| before == after));
    // One in 65,536 is taken for partial, and computed anew with the same result.
    assert!(after.iter().filter(|(done, _)| *done).count() < 5);
}

#[test]
fn any_frame_can_be_looked_at() {
    let draw = &mut Draw::new(14);
    let frames: Vec<Vec<u8>> = (0..20_000).map(|_| draw.frame()).collect();
    assert_eq!(completed(&frames).len(), frames.len());
}

/// What the header says of a packet of this protocol, where all of IP is steered.
fn kind_of(protocol: u8, message: &[u8]) -> u32 {
    let setup = Setup {
        traffic: Traffic::Ip,
        class_rule: ClassRule::One,
        ports: vec![],
        flow_seed: 1,
        service: None,
    };
    let mut frame = Vec::new();
    let packet = PacketBuilder::ethernet2([2; 6], [2; 6]).ipv4(IPV4[0], IPV4[1], 64);
    packet.write(&mut frame, IpNumber(protocol), message).expect("into memory");
    let read = [&b"F"[..], &(frame.len() as u16).to_ne_bytes(), &frame[..]].concat();
    numbers([&b"S"[..], bytes(&setup.layout()), &read[..]].concat())[0]
}

#[test]
fn what_cannot_be_completed_is_left_to_the_kernel() {
    const LEFT_OUT: u32 = 6;
    let (mut sctp, mut gre) = ([7; 16], [0; 32]);
    (gre[0], gre[2], gre[4]) = (0x80, 8, 1);
    gre[8] = 0x45;
    assert_eq!((kind_of(132, &sctp), kind_of(47, &gre)), (0, 0));
    sctp[8..12].fill(0);
    gre[4] = 0;
    assert_eq!((kind_of(132, &sctp), kind_of(47, &gre)), (LEFT_OUT, LEFT_OUT));
}
