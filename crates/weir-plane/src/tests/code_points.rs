//! What the two halves of the old type-of-service byte do: congestion marks by every discipline that manages its
//! queue, and the tins of `cake` by the code point.

use std::net::IpAddr;

use super::super::frame::{self, Frame};
use crate::snapshot::Reason;
use crate::testing::*;

/// Disciplines that mark, alone and within others.
const MARKING: [&str; 6] = [
    "codel(target=100us,interval=1ms,ecn=yes)",
    "fq_codel(target=100us,interval=1ms)",
    "cake(rate=7Mbit,rtt=2ms)",
    "cake(rate=unlimited,rtt=2ms,fairness=flows)",
    "tbf(fq_codel(target=100us,interval=1ms),rate=7Mbit,burst=3kB)",
    "priority(cake(rtt=2ms,diffserv=besteffort),bands=2)",
];

/// From the neighbour at interface 0 to that at 1, by IPv4 or IPv6.
fn across(v6: bool) -> Udp {
    if v6 { Udp::new("fd00:0::1", "fd00:1::1", 952) } else { Udp::across(0, 1, 1000) }
}

/// Eighty datagrams at once with this in the low bits of their class: how many leave marked, and are dropped early.
fn congested(discipline: &str, v6: bool, ecn: u8) -> (u64, u64) {
    let mut bench = Bench::new(router(discipline));
    for _ in 0..80 {
        bench.datagram(0, 0, &Udp { class: 40 << 2 | ecn, ..across(v6) });
    }
    let frames = bench.run(1, 1 << 40);
    let class = bench.snapshot(0).interfaces[1].classes[0].clone();
    let dropped = class.dropped.get(&Reason::Congestion).map_or(0, |it| it.packets);
    assert_eq!(frames.len() as u64 + dropped, 80, "{discipline}: nothing else is dropped");
    let mut marked = 0;
    for (_, bytes) in &frames {
        // What is not a header with its checksum does not read as one.
        let Ok(Frame::Ip(packet)) = frame::read(bytes) else { panic!("{discipline}: {bytes:x?}") };
        assert_eq!((packet.dscp, matches!(packet.ends.source(), IpAddr::V6(_))), (40, v6));
        assert!(packet.ecn == ecn || packet.ecn == 3, "{discipline}: {} was {ecn}", packet.ecn);
        marked += u64::from(packet.ecn == 3 && ecn != 3);
    }
    if ecn != 3 {
        assert_eq!(class.marked.packets, marked, "{discipline}");
    }
    (marked, dropped)
}

#[test]
fn what_can_carry_a_mark_is_marked_and_what_cannot_is_dropped() {
    for discipline in MARKING {
        for v6 in [false, true] {
            for capable in [1, 2] {
                let (marked, dropped) = congested(discipline, v6, capable);
                assert!(marked > 0 && dropped == 0, "{discipline}: {marked} marked, {dropped} dropped");
            }
            let (marked, dropped) = congested(discipline, v6, 0);
            assert!(marked == 0 && dropped > 0, "{discipline}: {marked} marked, {dropped} dropped");
            assert_eq!(congested(discipline, v6, 3).1, 0, "{discipline}: what is marked already stays");
        }
    }
}

/// The code points of forty datagrams that come in one after another, in the order in which they leave.
fn order(discipline: &str, v6: bool, points: [u8; 4]) -> Vec<u8> {
    let mut bench = Bench::new(router(discipline));
    for port in 0..40_u16 {
        let class = points[usize::from(port % 4)] << 2;
        bench.datagram(0, 0, &Udp { class, ports: (port % 4, 9), ..across(v6) });
    }
    let point = |bytes: &Vec<u8>| match frame::read(bytes) {
        Ok(Frame::Ip(packet)) => packet.dscp,
        other => panic!("{other:?}"),
    };
    bench.run(1, 1 << 40).iter().map(|(_, bytes)| point(bytes)).collect()
}

#[test]
fn the_code_point_of_a_packet_chooses_its_tin() {
    const EF: u8 = 46;
    const CS1: u8 = 8;
    for v6 in [false, true] {
        // EF may have a quarter of the rate, before the rest, and CS1 a sixteenth: of the first twenty packets.
        let left = order("cake:rate=8Mbit", v6, [0, CS1, EF, 20]);
        let of = |point| left[..20].iter().filter(|&&it| it == point).count();
        assert!((4..=6).contains(&of(EF)) && (1..=2).contains(&of(CS1)), "{left:?}");
        assert!(of(0).abs_diff(of(20)) <= 1, "both are best effort: {left:?}");
        // Where all are one tin, all have the same.
        let left = order("cake:rate=8Mbit,diffserv=besteffort", v6, [0, CS1, EF, 20]);
        assert!(
            [0, CS1, EF, 20].iter().all(|&point| left[..20].iter().filter(|&&it| it == point).count() == 5)
        );
    }
}
