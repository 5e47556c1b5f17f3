//! Sums against a naive one, updates against sums anew, and checksums that were left out.

use weir_core::random::Random;

use super::*;
use crate::frame::{self, Frame};
use crate::testing::{Udp, next, own};

fn naive(bytes: &[u8]) -> u16 {
    let mut sum = 0_u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[test]
fn sums_are_those_of_word_after_word() {
    let mut random = Random::new(1);
    for length in 0..300 {
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        assert_eq!(fold(sum(&bytes)), naive(&bytes), "{length}");
    }
    assert_eq!(fold(sum(&vec![0xff; 65_536])), 0xffff);
    assert_eq!((fold(0), fold(u64::MAX)), (0, 0xffff));
}

#[test]
fn an_update_is_the_sum_anew() {
    // Every before and after of one word, in a header whose others are not all zero (RFC 1624, section 3).
    let mut random = Random::new(2);
    for _ in 0..200_000 {
        let (before, after) = (random.bits() as u16, random.bits() as u16);
        let (before, after) = match random.below(4) {
            0 => (before, 0),
            1 => (0xffff, after),
            2 => (before, 0xffff),
            _ => (before, after),
        };
        let others = 1 + random.below(0xffff);
        let whole = |word: u16| !fold(others + u64::from(word));
        assert_eq!(update(whole(before), before, after), whole(after), "{before} {after} {others}");
    }
}

fn read(bytes: &[u8]) -> Packet {
    match frame::read(bytes) {
        Ok(Frame::Ip(packet)) => packet,
        other => panic!("{other:?}"),
    }
}

fn both(payload: usize) -> [Udp; 2] {
    [Udp::new("10.0.0.1", "10.0.1.1", payload), Udp::new("fd00::1", "fd00:1::1", payload)]
}

#[test]
fn a_passed_router_and_a_mark_leave_the_header_right() {
    for mut datagram in both(5) {
        datagram.class = 0x02;
        let mut frame = datagram.frame(own(0), next(0));
        for ttl in (1..64).rev() {
            let packet = read(&frame);
            decrement_ttl(&mut frame, &packet);
            assert_eq!(read(&frame).ttl, ttl);
        }
        mark(&mut frame);
        // Reading checks the checksum of IPv4.
        assert_eq!((read(&frame).ecn, read(&frame).dscp), (3, 0));
        (datagram.class, datagram.ttl) = (3, 1);
        assert_eq!(frame, datagram.frame(own(0), next(0)));
    }
}

#[test]
fn a_checksum_that_was_left_out_is_found_and_completed() {
    for payload in [0, 1, 2, 3, 100, 1001] {
        for datagram in both(payload) {
            let whole = datagram.frame(own(0), next(0));
            let packet = read(&whole);
            assert_eq!(transport(&whole, &packet, None), Transport::Complete);
            let place = ETHERNET + usize::from(packet.payload) + 6;
            let mut partial = whole.clone();
            let length = usize::from(packet.size - packet.payload);
            write(&mut partial, place, fold(pseudo(&whole, packet.ends, UDP, length)));
            assert_eq!(transport(&partial, &packet, None), Transport::Partial(place));
            assert!(!is_right(&partial, &packet, place) && is_right(&whole, &packet, place));
            complete(&mut partial, &packet, place);
            assert_eq!(partial, whole);
            // By the kernel's word, whatever stands there.
            assert_eq!(transport(&whole, &packet, Some(true)), Transport::Partial(place));
            assert_eq!(transport(&partial, &packet, Some(false)), Transport::Complete);
        }
    }
}

#[test]
fn what_is_not_known_here_cannot_be_completed() {
    let mut frame = Udp::new("10.0.0.1", "10.0.1.1", 30).frame(own(0), next(0));
    rewrite(&mut frame, ETHERNET + 8, u16::from_be_bytes([64, 132]));
    let packet = read(&frame);
    assert_eq!(transport(&frame, &packet, None), Transport::Complete);
    assert_eq!(transport(&frame, &packet, Some(true)), Transport::Unknown);
    // Too short for the checksum of its protocol.
    let mut frame = Udp::new("10.0.0.1", "10.0.1.1", 7).frame(own(0), next(0));
    rewrite(&mut frame, ETHERNET + 8, u16::from_be_bytes([64, TCP]));
    assert_eq!(transport(&frame, &read(&frame), None), Transport::Complete);
}

#[test]
fn udp_has_no_checksum_of_zero() {
    // Two bytes of payload that bring the sum to all ones.
    let mut datagram = Udp::new("10.0.0.1", "10.0.1.1", 2);
    datagram.payload = vec![0, 0];
    let frame = datagram.frame(own(0), next(0));
    let packet = read(&frame);
    let place = ETHERNET + usize::from(packet.payload) + 6;
    datagram.payload = word(&frame, place).to_be_bytes().to_vec();
    let mut frame = datagram.frame(own(0), next(0));
    complete(&mut frame, &packet, place);
    assert_eq!(word(&frame, place), 0xffff);
}
