//! A router that takes the place of another goes on where that was: what waits, whom it knows, what was counted.

use weir_core::random::Random;
use weir_core::units::Instant;

use super::conservation::{DISCIPLINES, frame, told};
use crate::Received;
use crate::config::MacAddress;
use crate::estate::{Estate, bytes, hexadecimal};
use crate::snapshot::{Count, Snapshot};
use crate::testing::*;

/// All that a router leaves.
fn estate(bench: &Bench, now: u64) -> Estate {
    let interfaces = (0..3).map(|at| bench.plane.bequeath(Instant::new(now), at, &bench.arena)).collect();
    Estate { counted: bench.snapshot(now), interfaces }
}

/// A router that has taken what another left; written and read in between.
fn heir(of: &Bench, router: crate::config::Router, now: u64) -> (Bench, Snapshot) {
    let text = serde_json::to_string(&estate(of, now)).expect("written");
    let estate: Estate = serde_json::from_str(&text).expect("read");
    let mut bench = Bench::new(router);
    for (at, left) in estate.interfaces.iter().enumerate() {
        assert_eq!(bench.plane.inherit(Instant::new(now), at, left, &mut bench.arena), 0);
    }
    (bench, estate.counted)
}

#[test]
fn what_waits_leaves_in_its_order_and_is_counted_once() {
    let mut random = Random::new(17);
    for discipline in DISCIPLINES {
        let router = told(discipline, &mut random);
        let mut old = Bench::new(router.clone());
        let mut now = 0;
        for _ in 0..400 {
            now += random.below(300_000);
            let at = random.below(3) as usize;
            if random.one_in(3) {
                drop(old.depart(now, at, random.below(4) as u32));
            } else if let Some(buffer) = old.buffer(&frame(&mut random)) {
                let received = Received { buffer, partial: None };
                old.plane.arrive(Instant::new(now), at, received, &mut old.arena);
            }
        }
        let (mut new, past) = heir(&old, router, now);
        assert_eq!(new.plane.waiting(), old.plane.waiting(), "{discipline}");
        let mut both = new.snapshot(now);
        both.add_past(&past);
        conserved(&both);
        for _ in 0..40 {
            now += 1_000_000_000;
            (0..3).for_each(|at| drop(new.depart(now, at, u32::MAX)));
        }
        let mut both = new.snapshot(now);
        both.add_past(&past);
        conserved(&both);
        assert_eq!((new.plane.waiting(), new.arena.free()), (0, FRAMES));
    }
}

/// `received + fragments = fragmented + forwarded + to_router + dropped + waiting`, of all interfaces together.
fn conserved(snapshot: &Snapshot) {
    let (mut came, mut gone) = (Count::default(), Count::default());
    for interface in &snapshot.interfaces {
        came += interface.received;
        came += interface.fragments;
        gone += interface.fragmented;
        gone += interface.forwarded;
        gone += interface.to_router;
        interface.refused.values().for_each(|count| gone += *count);
        for class in &interface.classes {
            gone += class.waiting;
            class.dropped.values().for_each(|count| gone += *count);
        }
    }
    assert_eq!(came, gone, "{snapshot:#?}");
}

#[test]
fn packets_of_a_flow_keep_their_order_and_neighbours_are_known() {
    let mut router = router("drr:quantum=1500B");
    router.interfaces[1].neighbours.clear();
    let mut old = Bench::new(router.clone());
    let learned = MacAddress([2, 0, 0, 0, 7, 7]);
    old.arrive(0, 1, &arp(true, ("10.0.1.1", learned), "10.0.1.254"));
    drop(old.depart(0, 1, u32::MAX));
    for number in 0..30_u8 {
        let payload = vec![number; 100];
        let ports = (u16::from(number) % 3, 9);
        old.datagram(1_000, 0, &Udp { ports, payload, ..Udp::across(0, 1, 128) });
    }
    drop(old.depart(1_000, 1, 1));
    let (mut new, _) = heir(&old, router, 50_000);
    let left = new.run(1, 1_000_000_000);
    assert_eq!(left.len(), old.plane.waiting() as usize);
    assert!(left.iter().all(|(_, frame)| frame[..6] == learned.0));
    for flow in 0..3 {
        let of_flow = left.iter().map(|(_, frame)| frame[60]).filter(|number| number % 3 == flow);
        assert!(of_flow.is_sorted(), "of flow {flow}");
    }
}

#[test]
fn what_is_no_packet_or_finds_no_memory_is_counted_as_lost() {
    let mut old = Bench::new(router("fifo"));
    old.datagram(0, 0, &Udp::across(0, 1, 100));
    old.datagram(0, 0, &Udp::across(0, 1, 100));
    let mut left = old.plane.bequeath(Instant::ZERO, 1, &old.arena);
    left.waiting[0].frame.truncate(20);
    let mut new = Bench::new(router("fifo"));
    assert_eq!(new.plane.inherit(Instant::ZERO, 1, &left, &mut new.arena), 1);
    while new.arena.take(0).is_some() {}
    assert_eq!(new.plane.inherit(Instant::ZERO, 1, &left, &mut new.arena), 2);
    let dropped = &new.snapshot(0).interfaces[1].classes[0].dropped;
    assert_eq!(dropped[&crate::snapshot::Reason::NoMemory].packets, 1);
}

#[test]
fn digits_are_read_back() {
    for one in [&b""[..], b"\x00\xff\x10 weir"] {
        assert_eq!(bytes(&hexadecimal(one)).as_deref(), Some(one));
    }
    assert!(bytes("0").is_none() && bytes("0g").is_none() && bytes("\u{e9}").is_none());
}
