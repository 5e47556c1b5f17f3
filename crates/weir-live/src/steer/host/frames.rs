//! What the header makes of any frame is what another parser makes of it.

use etherparse::{
    Ethernet2HeaderSlice, IpAuthHeaderSlice, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice,
    Ipv6RawExtHeaderSlice, SingleVlanHeaderSlice,
};
use weir_core::packet::hash::Keyed;
use weir_core::random::Random;

use super::super::setup::{ClassRule, Setup, Traffic};
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

/// Frames that are mostly what the header knows.
struct Draw(Random);

impl Draw {
    fn below(&mut self, below: u32) -> usize {
        self.0.pick(below) as usize
    }

    fn among<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32)]
    }

    fn any(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }

    /// A frame, cut or with a byte changed now and then.
    fn frame(&mut self) -> Vec<u8> {
        let mut frame = self.ethernet(true);
        match self.below(8) {
            0 => frame.truncate(self.below(frame.len() as u32 + 1)),
            1 => {
                let at = self.below(frame.len() as u32);
                frame[at] = self.below(256) as u8;
            }
            _ => {}
        }
        frame
    }

    fn ethernet(&mut self, outer: bool) -> Vec<u8> {
        let mut frame = self.any(12);
        for _ in 0..self.among(&[0, 0, 0, 1, 2, 3]) {
            frame.extend(self.among(&[0x8100_u16, 0x88a8]).to_be_bytes());
            frame.extend(self.any(2));
        }
        let kind = self.among(&[0x0800_u16, 0x0800, 0x86dd, 0x86dd, 0x0806, 0x05dc]);
        frame.extend(kind.to_be_bytes());
        frame.extend(self.packet(kind, outer));
        frame
    }

    fn packet(&mut self, kind: u16, outer: bool) -> Vec<u8> {
        let protocol = self.among(if outer { &[17_u8, 17, 6, 47, 4, 41, 1][..] } else { &[17, 6, 1] });
        let behind = self.transport(protocol, outer);
        match kind {
            0x0800 => {
                let options = 4 * self.among(&[0, 0, 0, 1, 10]);
                let mut header = self.any(20 + options);
                header[0] = 0x45 + (options / 4) as u8;
                let fragment = self.among(&[0_u16, 0, 0, 0, 0x4000, 0x2000, 0x0001]);
                header[6..8].copy_from_slice(&fragment.to_be_bytes());
                header[9] = protocol;
                [header, behind].concat()
            }
            0x86dd => {
                let mut header = self.any(40);
                header[0] = 0x60 | header[0] & 15;
                let (first, extensions) = self.extensions(protocol);
                header[6] = first;
                [header, extensions, behind].concat()
            }
            _ => self.any(28),
        }
    }

    /// Extension headers before a protocol, and the number of the first.
    fn extensions(&mut self, protocol: u8) -> (u8, Vec<u8>) {
        let (mut first, mut all) = (protocol, Vec::new());
        for _ in 0..self.among(&[0, 0, 0, 1, 2, 5]) {
            let kind = self.among(&[0_u8, 43, 60, 44, 51]);
            // The length counts what is behind the first eight bytes in eights; that of authentication in fours.
            let units = 1 + self.below(3);
            let length = if kind == 44 {
                8
            } else if kind == 51 {
                8 + 4 * units
            } else {
                8 + 8 * units
            };
            let mut header = self.any(length);
            header[0] = first;
            header[1] = units as u8;
            if kind == 44 {
                header[1] = 0;
                header[2] = 0;
                header[3] = self.among(&[0, 0, 6, 1, 8]);
            }
            (first, all) = (kind, [header, all].concat());
        }
        (first, all)
    }

    fn transport(&mut self, protocol: u8, outer: bool) -> Vec<u8> {
        let inner = self.among(&[0x0800_u16, 0x86dd]);
        match protocol {
            17 => self.datagram(outer),
            6 => self.any(30),
            4 => self.packet(0x0800, false),
            41 => self.packet(0x86dd, false),
            47 => {
                let flags = self.among(&[0_u16, 0x8000, 0x2000, 0xb000, 0x0001, 0x4000]);
                let kind = self.among(&[inner, inner, 0x6558, 0x0806]);
                let fields = [0x8000, 0x2000, 0x1000].iter().filter(|flag| flags & **flag != 0).count();
                let mut header = [flags.to_be_bytes(), kind.to_be_bytes()].concat();
                header.extend(self.any(4 * fields));
                [header, if kind == 0x6558 { self.ethernet(false) } else { self.packet(kind, false) }]
                    .concat()
            }
            _ => self.any(12),
        }
    }

    fn datagram(&mut self, outer: bool) -> Vec<u8> {
        let ports = if outer { &[9000_u16, 9001, 53, 4789, 6081][..] } else { &[9000, 53] };
        let port = self.among(ports);
        let inside = match port {
            4789 => {
                let flags = self.among(&[8, 8, 8, 0]);
                let mut header = self.any(8);
                header[0] = flags;
                [header, self.ethernet(false)].concat()
            }
            6081 => {
                let (options, kind) = (self.below(4), self.among(&[0x6558_u16, 0x0800, 0x86dd, 0x1234]));
                let mut header = self.any(8 + 4 * options);
                header[0] = options as u8 | self.among(&[0, 0, 0, 0x40]);
                header[2..4].copy_from_slice(&kind.to_be_bytes());
                [header, if kind == 0x6558 { self.ethernet(false) } else { self.packet(kind, false) }]
                    .concat()
            }
            _ => {
                let length = self.below(24);
                self.any(length)
            }
        };
        let length = (8 + inside.len()) as u16 - self.among(&[0, 0, 0, 3]);
        let header =
            [self.any(2), port.to_be_bytes().into(), length.to_be_bytes().into(), self.any(2)].concat();
        // As short frames are filled up.
        [header, inside, vec![255; self.among(&[0, 0, 6])]].concat()
    }
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
    let mut draw = Draw(Random::new(3));
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
    let mut draw = Draw(Random::new(4));
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
