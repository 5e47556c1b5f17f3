//! What is reported to senders, as they read it.

use super::*;
use crate::frame::{self, Frame};
use crate::testing::*;

fn read(bytes: &[u8]) -> Packet {
    match frame::read(bytes) {
        Ok(Frame::Ip(packet)) => packet,
        other => panic!("{other:?}"),
    }
}

/// Type, code, last word of the header, and what is quoted, if the checksums are right.
fn told(frame: &[u8]) -> (u8, u8, u32, Vec<u8>) {
    let packet = read(frame);
    let icmp = &frame[ETHERNET + usize::from(packet.payload)..];
    let pseudo = match packet.ends {
        Ends::V4 { .. } => 0,
        Ends::V6 { .. } => checksum::pseudo(frame, packet.ends, ICMPV6, icmp.len()),
    };
    assert_eq!(fold(pseudo + sum(icmp)), 0xffff);
    assert_eq!((mac(frame, 0), mac(frame, 6)), (next(0), own(0)));
    let rest = icmp[4..8].iter().fold(0, |all, &byte| all << 8 | u32::from(byte));
    (icmp[0], icmp[1], rest, icmp[8..].to_vec())
}

fn from(v4: bool, to: &str, payload: usize) -> Udp {
    Udp::new(if v4 { "10.0.0.1" } else { "fd00::1" }, to, payload)
}

#[test]
fn senders_are_told_why() {
    for (v4, datagram, expected) in [
        (true, Udp { ttl: 1, ..from(true, "10.0.1.1", 8) }, (11, 0, 0)),
        (true, Udp { ttl: 0, ..from(true, "10.0.1.1", 8) }, (11, 0, 0)),
        (false, Udp { ttl: 1, ..from(false, "fd00:1::1", 8) }, (3, 0, 0)),
        (true, from(true, "11.0.0.1", 8), (3, 0, 0)),
        (false, from(false, "fd99::1", 8), (1, 0, 0)),
        (true, from(true, "10.0.1.1", 1473), (3, 4, 1500)),
        (false, from(false, "fd00:1::1", 1453), (2, 0, 1500)),
        (true, from(true, "10.0.0.254", 8), (3, 3, 0)),
        (false, from(false, "fd00:2::fe", 8), (1, 4, 0)),
    ] {
        let mut bench = Bench::new(router("fifo"));
        let frame = datagram.frame(own(0), next(0));
        bench.arrive(3, 0, &frame);
        let answers = bench.depart(3, 0, 9);
        let (kind, code, rest, quoted) = told(&answers[0]);
        assert_eq!((answers.len(), (kind, code, rest)), (1, expected), "{datagram:?}");
        let quote = (frame.len() - ETHERNET).min(if v4 { QUOTED_V4 } else { QUOTED_V6 });
        assert_eq!(quoted, frame[ETHERNET..ETHERNET + quote], "{datagram:?}");
        let packet = read(&answers[0]);
        assert_eq!(packet.ends.destination(), datagram.from);
        assert_eq!(packet.ends.source().to_string(), if v4 { "10.0.0.254" } else { "fd00::fe" });
        assert_eq!(bench.arena.free(), FRAMES);
        bench.holds(3);
    }
}

/// A message of ICMP from the neighbour at the first interface to the router.
fn message(v4: bool, kind: u8, payload: usize) -> Vec<u8> {
    let to = if v4 { "10.0.2.254" } else { "fd00:2::fe" };
    let mut frame = from(v4, to, payload).frame(own(0), next(0));
    let at = ETHERNET + usize::from(read(&frame).payload);
    frame[at..at + 8].copy_from_slice(&[kind, 0, 0, 0, 1, 2, 3, 4]);
    if v4 {
        frame[ETHERNET + 9] = ICMP;
        checksum::write(&mut frame, ETHERNET + 10, 0);
        let header = !fold(sum(&frame[ETHERNET..ETHERNET + 20]));
        checksum::write(&mut frame, ETHERNET + 10, header);
        let message = !fold(sum(&frame[at..]));
        checksum::write(&mut frame, at + 2, message);
    } else {
        frame[ETHERNET + 6] = ICMPV6;
        write_icmpv6_checksum(&mut frame);
    }
    frame
}

#[test]
fn echoes_come_back() {
    for (v4, asked, expected) in [(true, 8, 0), (false, 128, 129)] {
        let mut bench = Bench::new(router("fifo"));
        let frame = message(v4, asked, 33);
        bench.arrive(0, 0, &frame);
        let answers = bench.depart(0, 0, 9);
        let (kind, code, rest, payload) = told(&answers[0]);
        assert_eq!((kind, code, rest, payload.len()), (expected, 0, 0x0102_0304, 33));
        let (packet, question) = (read(&answers[0]), read(&frame));
        assert_eq!(packet.ends.source(), question.ends.destination());
        assert_eq!((packet.ends.destination(), packet.ttl), (question.ends.source(), TTL));
        assert_eq!(bench.snapshot(0).interfaces[0].to_router.packets, 1);
        bench.holds(0);
    }
}

#[test]
fn an_echo_to_the_link_local_address_comes_back() {
    let own_address = crate::discovery::link_local(own(0)).octets();
    let asker = crate::discovery::link_local(next(0)).octets();
    for (source, expected) in [(asker, 1), ([0; 16], 0)] {
        let mut frame = message(false, 128, 8);
        frame[ETHERNET + 8..ETHERNET + 24].copy_from_slice(&source);
        frame[ETHERNET + 24..ETHERNET + 40].copy_from_slice(&own_address);
        write_icmpv6_checksum(&mut frame);
        let mut bench = Bench::new(router("fifo"));
        bench.arrive(0, 0, &frame);
        assert_eq!(bench.depart(0, 0, 9).len(), expected);
        bench.holds(0);
    }
}

#[test]
fn nothing_is_said_about_errors_and_later_fragments() {
    let silent = |frame: &[u8]| {
        let mut bench = Bench::new(router("fifo"));
        bench.arrive(0, 0, frame);
        assert_eq!(bench.depart(0, 0, 9).len(), 0, "{frame:?}");
        bench.holds(0);
    };
    for (v4, kind) in [(true, 3), (true, 11), (false, 1), (false, 3)] {
        let mut frame = message(v4, kind, 8);
        // To nowhere, so that it would be reported to the sender of anything else.
        if v4 {
            frame[ETHERNET + 16] = 11;
            checksum::write(&mut frame, ETHERNET + 10, 0);
            let header = !fold(sum(&frame[ETHERNET..ETHERNET + 20]));
            checksum::write(&mut frame, ETHERNET + 10, header);
        } else {
            frame[ETHERNET + 24] = 0xfc;
        }
        silent(&frame);
    }
    let mut fragment = Udp { ttl: 1, ..from(true, "10.0.1.1", 8) }.frame(own(0), next(0));
    checksum::write(&mut fragment, ETHERNET + 6, 7);
    checksum::write(&mut fragment, ETHERNET + 10, 0);
    let header = !fold(sum(&fragment[ETHERNET..ETHERNET + 20]));
    checksum::write(&mut fragment, ETHERNET + 10, header);
    silent(&fragment);
    // Where it may be fragmented, nobody asked for a report.
    let mut large = from(true, "10.0.1.1", 1473).frame(own(0), next(0));
    checksum::write(&mut large, ETHERNET + 6, 0);
    checksum::write(&mut large, ETHERNET + 10, 0);
    let header = !fold(sum(&large[ETHERNET..ETHERNET + 20]));
    checksum::write(&mut large, ETHERNET + 10, header);
    silent(&large);
}

#[test]
fn errors_are_limited_in_rate() {
    let mut limit = Limit::new(1_000, 50);
    let at_once = (0..100).filter(|_| limit.admits(0)).count();
    let evenly = (1..=1_000).filter(|at| limit.admits(at * 500_000)).count();
    assert_eq!((at_once, evenly), (50, 500));
    let mut bench = Bench::new(router("fifo"));
    for _ in 0..200 {
        bench.datagram(0, 0, &from(true, "11.0.0.1", 8));
    }
    assert_eq!(bench.depart(0, 0, 999).len(), 50);
    bench.holds(0);
}
