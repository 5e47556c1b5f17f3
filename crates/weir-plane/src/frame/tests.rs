//! Frames by hand, and any bytes against another parser.

use weir_core::random::Random;

use super::*;
use crate::testing::{Udp, next, own};
use etherparse::{NetSlice, SlicedPacket, TransportSlice};

fn packet(bytes: &[u8]) -> Packet {
    match read(bytes) {
        Ok(Frame::Ip(packet)) => packet,
        other => panic!("{other:?}"),
    }
}

fn datagram(v4: bool) -> Vec<u8> {
    let udp = if v4 { Udp::new("10.0.0.1", "10.0.1.1", 30) } else { Udp::new("fd00::1", "fd00:1::1", 30) };
    Udp { class: 0xb9, ..udp }.frame(own(0), next(0))
}

#[test]
fn what_is_read_of_a_datagram() {
    for (v4, size, payload) in [(true, 58, 20), (false, 78, 40)] {
        let packet = packet(&datagram(v4));
        assert_eq!((packet.size, packet.payload, packet.protocol), (size, payload, UDP));
        assert_eq!((packet.ports, packet.dscp, packet.ecn, packet.ttl), ((1000, 2000), 46, 1, 64));
        assert_eq!((packet.part, packet.whole_or_nothing), (Part::Whole, true));
        assert!(!packet.ends.is_martian());
    }
}

#[test]
fn every_frame_that_ends_early_is_malformed() {
    for v4 in [true, false] {
        let frame = datagram(v4);
        for length in 0..frame.len() {
            assert_eq!(read(&frame[..length]), Err(Reason::Malformed), "{length}");
        }
    }
}

#[test]
fn headers_that_cannot_be_are_malformed() {
    for (v4, at, value) in [
        (true, 0, 0x65),  // Not of version 4.
        (true, 0, 0x44),  // Shorter than its header.
        (true, 0, 0x4f),  // Longer than its packet.
        (true, 3, 19),    // A length less than the header's.
        (true, 2, 0x10),  // A length beyond the frame.
        (true, 8, 0),     // Its checksum is wrong.
        (false, 0, 0x40), // Not of version 6.
        (false, 4, 1),    // A length beyond the frame.
    ] {
        let mut frame = datagram(v4);
        frame[ETHERNET + at] = value;
        assert_eq!(read(&frame), Err(Reason::Malformed), "{v4} {at}");
    }
    let mut jumbogram = datagram(false);
    jumbogram[ETHERNET + 4..ETHERNET + 7].fill(0);
    assert_eq!(read(&jumbogram), Err(Reason::Malformed));
}

#[test]
fn what_is_no_ip_is_told_apart() {
    let mut frame = datagram(true);
    for (kind, expected) in [
        (0x0806, Ok(Frame::Arp)),
        (0x8100, Err(Reason::Vlan)),
        (0x88a8, Err(Reason::Vlan)),
        (0x88cc, Err(Reason::NotIp)),
        (0x0026, Err(Reason::NotIp)),
    ] {
        checksum::write(&mut frame, 12, kind);
        assert_eq!(read(&frame), expected, "{kind:x}");
    }
}

#[test]
fn fragments_have_no_ports() {
    for (field, expected) in [(0x2000, Part::First), (0x2001, Part::Later), (0x0001, Part::Later)] {
        let mut frame = datagram(true);
        checksum::write(&mut frame, ETHERNET + 6, field);
        checksum::write(&mut frame, ETHERNET + 10, 0);
        let sum = !checksum::fold(checksum::sum(&frame[ETHERNET..ETHERNET + 20]));
        checksum::write(&mut frame, ETHERNET + 10, sum);
        let packet = packet(&frame);
        assert_eq!((packet.part, packet.ports, packet.whole_or_nothing), (expected, (0, 0), false));
    }
}

/// A datagram of IPv6 behind these extension headers.
fn extended(headers: &[(u8, &[u8])]) -> Vec<u8> {
    let mut frame = datagram(false);
    let datagram = frame.split_off(ETHERNET + 40);
    frame[ETHERNET + 6] = headers.first().map_or(UDP, |header| header.0);
    for (at, (_, bytes)) in headers.iter().enumerate() {
        frame.push(headers.get(at + 1).map_or(UDP, |header| header.0));
        frame.extend(*bytes);
    }
    frame.extend(datagram);
    let length = (frame.len() - ETHERNET - 40) as u16;
    checksum::write(&mut frame, ETHERNET + 4, length);
    frame
}

#[test]
fn extension_headers_are_passed_over() {
    let options: &[u8] = &[0, 0, 0, 0, 0, 0, 0];
    let longer = [&[1_u8][..], &[0; 14]].concat();
    let authentication = [&[4_u8][..], &[0; 22]].concat();
    let all = extended(&[(0, options), (60, &longer), (43, options), (51, &authentication)]);
    let read_all = packet(&all);
    assert_eq!(
        (read_all.protocol, read_all.payload, read_all.ports),
        (UDP, 40 + 8 + 16 + 8 + 24, (1000, 2000))
    );
    for (fragment, expected) in [(0x0001, Part::First), (0x0009, Part::Later), (0x0000, Part::Whole)] {
        let [high, low] = u16::to_be_bytes(fragment);
        let frame = extended(&[(44, &[0, high, low, 0, 0, 0, 1])]);
        assert_eq!((packet(&frame).part, packet(&frame).protocol), (expected, UDP));
    }
    let most = vec![(60, options); MOST_EXTENSIONS];
    assert_eq!(packet(&extended(&most)).protocol, UDP);
    assert_eq!(read(&extended(&[&most[..], &most[..1]].concat())), Err(Reason::Malformed));
    // An extension that says it is longer than the packet.
    assert_eq!(read(&extended(&[(0, &[99, 0, 0, 0, 0, 0, 0])])), Err(Reason::Malformed));
}

#[test]
fn martians_are_known() {
    for (address, expected) in [
        ("0.1.2.3", true),
        ("127.0.0.1", true),
        ("169.254.1.1", true),
        ("169.253.1.1", false),
        ("224.0.0.1", true),
        ("240.0.0.1", true),
        ("255.255.255.255", true),
        ("223.255.255.255", false),
        ("::", true),
        ("::1", true),
        ("::2", false),
        ("::ffff:10.0.0.1", true),
        ("fe80::1", true),
        ("febf::1", true),
        ("fec0::1", false),
        ("ff02::1", true),
        ("2001:db8::1", false),
    ] {
        let good = if address.contains(':') { "fd00::1" } else { "10.0.0.1" };
        for (from, to) in [(address, good), (good, address)] {
            let packet = packet(&Udp::new(from, to, 0).frame(own(0), next(0)));
            assert_eq!(packet.ends.is_martian(), expected, "{from} {to}");
        }
    }
}

/// What both parsers read must be the same.
fn agrees(bytes: &[u8]) {
    let (Ok(Frame::Ip(packet)), Ok(sliced)) = (read(bytes), SlicedPacket::from_ethernet(bytes)) else {
        return;
    };
    if packet.size == 40 {
        // Where IPv6 says there is no payload, the other one takes all that follows.
        return;
    }
    let (source, destination): (IpAddr, IpAddr) = match &sliced.net {
        Some(NetSlice::Ipv4(ip)) => {
            let header = ip.header();
            assert_eq!((packet.size, packet.ttl), (header.total_len(), header.ttl()));
            assert_eq!((packet.dscp, packet.ecn), (header.dcp().value(), header.ecn().value()));
            (header.source_addr().into(), header.destination_addr().into())
        }
        Some(NetSlice::Ipv6(ip)) => {
            let header = ip.header();
            assert_eq!((packet.size, packet.ttl), (40 + header.payload_length(), header.hop_limit()));
            (header.source_addr().into(), header.destination_addr().into())
        }
        other => panic!("{other:?}"),
    };
    assert_eq!((packet.ends.source(), packet.ends.destination()), (source, destination));
    if let Some(TransportSlice::Udp(udp)) = &sliced.transport {
        let expected =
            if packet.part == Part::Whole { (udp.source_port(), udp.destination_port()) } else { (0, 0) };
        assert_eq!((packet.protocol, packet.ports), (UDP, expected));
    }
}

#[test]
fn any_bytes_are_read_as_another_parser_reads_them() {
    let mut random = Random::new(7);
    for round in 0..60_000 {
        let mut frame = match round % 3 {
            0 => datagram(true),
            1 => datagram(false),
            _ => extended(&[(60, &[0; 7]), (44, &[0, 0, 0, 0, 0, 0, 1])]),
        };
        for _ in 0..random.below(4) {
            let at = random.below(frame.len() as u64) as usize;
            frame[at] = random.bits() as u8;
        }
        frame.truncate(random.below(2 * frame.len() as u64).max(14) as usize);
        agrees(&frame);
    }
}
