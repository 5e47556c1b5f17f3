//! What the header makes of any frame is what another parser makes of it.

use etherparse::{
    Ethernet2HeaderSlice, IpAuthHeaderSlice, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice,
    Ipv6RawExtHeaderSlice, SingleVlanHeaderSlice,
};
use weir_core::packet::hash::Keyed;

use super::super::setup::{ClassRule, Setup, Traffic};
use super::draw::Draw;
use super::{bytes, numbers, said};

/// `enum steer_frame`.
const STEERED: u32 = 0;
const PASSED: u32 = 1;
const SHORT: u32 = 2;
const FRAGMENT: u32 = 3;

const FRAMES: usize = 60_000;
const SEED: u64 = 9;

/// A packet as the other parser reads it.
struct Packet {
    /// The message that flows are hashes of, but for ports and protocol.
    addresses: Vec<u8>,
    dscp: u8,
    protocol: u8,
    ports: (u16, u16),
    /// Where its transport begins, in bytes from the start of the frame.
    transport: usize,
    /// Where its payload begins, and its length; of UDP alone.
    payload: Option<(usize, usize)>,
}

/// A packet that is whole, or what else it is.
type Read = Result<Packet, (u32, Option<Packet>)>;

fn be16(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[0], bytes[1]])
}

/// What a frame carries, and where it begins.
fn ethernet(frame: &[u8], at: usize) -> Option<(u16, usize)> {
    let header = Ethernet2HeaderSlice::from_slice(frame.get(at..)?).ok()?;
    let (mut kind, mut at) = (header.ether_type().0, at + 14);
    for _ in 0..2 {
        if matches!(kind, 0x8100 | 0x88a8) {
            kind = SingleVlanHeaderSlice::from_slice(&frame[at..]).ok()?.ether_type().0;
            at += 4;
        }
    }
    Some((kind, at))
}

fn network(frame: &[u8], kind: u16, at: usize) -> Read {
    let behind = frame.get(at..).unwrap_or_default();
    let read = match kind {
        0x0800 => ipv4(behind, at),
        0x86dd => ipv6(behind, at),
        _ => return Err((PASSED, None)),
    };
    let mut packet = read?;
    let transport = &frame[packet.transport..];
    let least = match packet.protocol {
        17 => 8,
        6 => 20,
        _ => return Ok(packet),
    };
    if transport.len() < least {
        return Err((SHORT, None));
    }
    packet.ports = (be16(transport), be16(&transport[2..]));
    if packet.protocol == 17 {
        let length = usize::from(be16(&transport[4..]));
        packet.payload = Some((packet.transport + 8, length.saturating_sub(8)));
    }
    Ok(packet)
}

fn ipv4(bytes: &[u8], at: usize) -> Read {
    if bytes.len() < 20 {
        return Err((SHORT, None));
    }
    if bytes[0] >> 4 != 4 {
        return Err((PASSED, None));
    }
    let header = Ipv4HeaderSlice::from_slice(bytes).map_err(|_| (SHORT, None))?;
    let packet = Packet {
        addresses: [header.source(), header.destination()].concat(),
        dscp: header.dcp().value(),
        protocol: header.protocol().0,
        ports: (0, 0),
        transport: at + header.slice().len(),
        payload: None,
    };
    if header.is_fragmenting_payload() { Err((FRAGMENT, Some(packet))) } else { Ok(packet) }
}

fn ipv6(bytes: &[u8], at: usize) -> Read {
    if bytes.len() < 40 {
        return Err((SHORT, None));
    }
    if bytes[0] >> 4 != 6 {
        return Err((PASSED, None));
    }
    let header = Ipv6HeaderSlice::from_slice(bytes).map_err(|_| (SHORT, None))?;
    let mut packet = Packet {
        addresses: [header.source(), header.destination()].concat(),
        dscp: header.dscp().value(),
        protocol: header.next_header().0,
        ports: (0, 0),
        transport: at + 40,
        payload: None,
    };
    for _ in 0..4 {
        let rest = &bytes[packet.transport - at..];
        let Some((length, next, fragment)) = extension(rest, packet.protocol)? else { break };
        (packet.protocol, packet.transport) = (next, packet.transport + length);
        if fragment {
            return Err((FRAGMENT, Some(packet)));
        }
    }
    Ok(packet)
}

/// The length of an extension header, what follows it, and whether it says that the packet is a fragment.
#[expect(clippy::type_complexity, reason = "the error is that of a packet")]
fn extension(bytes: &[u8], protocol: u8) -> Result<Option<(usize, u8, bool)>, (u32, Option<Packet>)> {
    let short = (SHORT, None);
    Ok(Some(match protocol {
        0 | 43 | 60 => {
            let Ok(header) = Ipv6RawExtHeaderSlice::from_slice(bytes) else { return Err(short) };
            (header.slice().len(), header.next_header().0, false)
        }
        44 => {
            let Ok(header) = Ipv6FragmentHeaderSlice::from_slice(bytes) else { return Err(short) };
            (8, header.next_header().0, header.is_fragmenting_payload())
        }
        51 => {
            let Ok(header) = IpAuthHeaderSlice::from_slice(bytes) else { return Err(short) };
            (header.slice().len(), header.next_header().0, false)
        }
        _ => return Ok(None),
    }))
}

/// What a packet carries, and where that begins; `None`: it encapsulates nothing.
fn inside(frame: &[u8], packet: &Packet) -> Option<(u16, usize)> {
    let at = packet.transport;
    let behind = &frame[at..];
    match packet.protocol {
        4 => Some((0x0800, at)),
        41 => Some((0x86dd, at)),
        47 => {
            let flags = be16(behind.get(..4)?);
            let fields = [0x8000, 0x2000, 0x1000].iter().filter(|flag| flags & **flag != 0).count();
            (flags & 0x4007 == 0).then(|| (be16(&behind[2..]), at + 4 + 4 * fields))
        }
        17 => {
            let header = behind.get(8..16)?;
            match packet.ports.1 {
                4789 => (header[0] & 8 != 0).then_some((0x6558, at + 16)),
                6081 if header[0] >> 6 == 0 => {
                    Some((be16(&header[2..]), at + 16 + 4 * usize::from(header[0] & 63)))
                }
                _ => None,
            }
        }
        _ => None,
    }
    .filter(|(kind, _)| *kind != 0)
}

/// The request of a frame, or what else it is.
fn request(frame: &[u8], setup: &Setup) -> Result<Packet, u32> {
    let (kind, at) = ethernet(frame, 0).ok_or(SHORT)?;
    // The header knows a frame without a type by a 0 in its place.
    let read = if kind == 0 { return Err(SHORT) } else { network(frame, kind, at) };
    if setup.traffic == Traffic::Udp {
        return match read {
            Ok(packet) if packet.protocol == 17 && setup.ports.contains(&packet.ports.1) => Ok(packet),
            Err((FRAGMENT, Some(packet))) if packet.protocol == 17 => Err(FRAGMENT),
            Ok(_) | Err((FRAGMENT, _)) => Err(PASSED),
            Err((kind, _)) => Err(kind),
        };
    }
    let packet = read.map_err(|(kind, _)| kind)?;
    let Some((mut kind, mut at)) = inside(frame, &packet) else {
        return if setup.traffic == Traffic::Ip { Ok(packet) } else { Err(PASSED) };
    };
    if kind == 0x6558 {
        (kind, at) = ethernet(frame, at).filter(|(kind, _)| *kind != 0).ok_or(SHORT)?;
    }
    match network(frame, kind, at) {
        Ok(inner) | Err((FRAGMENT, Some(inner))) => Ok(inner),
        Err((SHORT, _)) => Err(SHORT),
        Err(_) => Ok(packet),
    }
}

fn class(frame: &[u8], packet: &Packet, rule: &ClassRule) -> bool {
    match rule {
        ClassRule::One => false,
        ClassRule::Byte { offset, at_least } => {
            let offset = *offset as usize;
            let byte = packet.payload.filter(|(_, length)| offset < *length);
            byte.and_then(|(at, _)| frame.get(at + offset)).copied().unwrap_or_default() >= *at_least
        }
        ClassRule::Ports(ports) => ports.contains(&packet.ports.1),
        ClassRule::Dscp(points) => points.contains(&packet.dscp),
    }
}

/// What the header is to say of a frame: its kind, its flow, its class, and where its payload begins.
fn expected(frame: &[u8], setup: &Setup) -> [u32; 4] {
    let packet = match request(frame, setup) {
        Ok(packet) => packet,
        Err(kind) => return [kind, 0, 0, 0],
    };
    let (source, destination) = packet.ports;
    let mut message = packet.addresses.clone();
    message.extend([source.to_be_bytes(), destination.to_be_bytes()].concat());
    message.push(packet.protocol);
    let flow = Keyed::new(setup.flow_seed).hash(&message) as u32;
    let payload = packet.payload.map_or(0, |(at, _)| at as u32);
    [STEERED, flow, class(frame, &packet, &setup.class_rule).into(), payload]
}

fn setups() -> Vec<Setup> {
    let rules = [
        ClassRule::One,
        ClassRule::Byte { offset: 3, at_least: 128 },
        ClassRule::Ports(vec![53, 9001]),
        ClassRule::Dscp((0..16).collect()),
    ];
    let traffics = [Traffic::Udp, Traffic::Ip, Traffic::Encapsulated];
    let of = |traffic| {
        let setup = move |class_rule: &ClassRule| Setup {
            traffic,
            class_rule: class_rule.clone(),
            ports: vec![9000, 9001, 4789],
            flow_seed: SEED,
            service: None,
        };
        rules.iter().map(setup).collect::<Vec<_>>()
    };
    traffics.into_iter().flat_map(of).collect()
}

fn command(command: u8, frame: &[u8]) -> Vec<u8> {
    [&[command][..], &(frame.len() as u16).to_ne_bytes(), frame].concat()
}

#[test]
fn any_frame_is_read_as_by_another_parser() {
    let mut draw = Draw::new(3);
    let frames: Vec<Vec<u8>> = (0..FRAMES).map(|_| draw.frame()).collect();
    let setups = setups();
    let mut commands = Vec::new();
    for (setup, frames) in setups.iter().zip(frames.chunks(FRAMES / setups.len())) {
        commands.extend([b"S", bytes(&setup.layout())].concat());
        frames.iter().for_each(|frame| commands.extend(command(b'F', frame)));
    }
    let answers = numbers(commands);
    assert_eq!(answers.len(), 4 * FRAMES);
    let mut kinds = [0; 4];
    for (at, (frame, said)) in frames.iter().zip(answers.chunks(4)).enumerate() {
        let setup = &setups[at * setups.len() / FRAMES];
        assert_eq!(said, expected(frame, setup), "{setup:?} {frame:02x?}");
        kinds[said[0] as usize] += 1;
    }
    assert!(kinds.iter().all(|count| *count > 1_000), "{kinds:?}");
}

#[test]
fn a_datagram_that_is_turned_round_twice_is_what_it_was() {
    let mut draw = Draw::new(4);
    let frames: Vec<Vec<u8>> = (0..2_000).map(|_| draw.frame()).collect();
    let mut answers = &said(frames.iter().flat_map(|frame| command(b'M', frame)).collect())[..];
    let mut turned = Vec::new();
    for frame in &frames {
        let (done, rest) = answers.split_at(4);
        let (said, rest) = rest.split_at(frame.len());
        answers = rest;
        if done == 1_u32.to_ne_bytes() {
            assert_eq!((&said[..6], &said[6..12]), (&frame[6..12], &frame[..6]));
            turned.push((frame, said.to_vec()));
        } else {
            assert_eq!(said, frame, "it is left as it was");
        }
    }
    assert!(turned.len() > 200, "{}", turned.len());
    let back = said(turned.iter().flat_map(|(_, frame)| command(b'M', frame)).collect());
    let before = turned.iter().flat_map(|(frame, _)| [&1_u32.to_ne_bytes()[..], &frame[..]].concat());
    assert_eq!(back, before.collect::<Vec<_>>());
}
