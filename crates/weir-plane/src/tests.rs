//! The router as a whole: schedules by hand, in virtual time.

use super::snapshot::Reason;
use super::testing::*;

mod allocation;
mod code_points;
mod conservation;
mod estate;
mod flood;
mod parts;
mod reference;

use weir_core::units::{Bytes, Instant, Nanos, Rate};

use super::{DeviceFacts, Notice, checksum};
use crate::config::{Checksums, Route, Router};

/// Sizes and instants of what left, at a microsecond a byte, in microseconds.
fn left(bench: &mut Bench, interface: usize) -> Vec<(u64, usize)> {
    let left = bench.run(interface, u64::MAX - 1);
    left.into_iter().map(|(at, frame)| (at / 1_000, frame.len() - 14)).collect()
}

#[test]
fn a_datagram_is_forwarded_with_its_headers_written() {
    let mut bench = Bench::new(router("fifo"));
    let mut datagram = Udp::across(0, 1, 100);
    bench.datagram(0, 0, &datagram);
    assert_eq!(bench.depart(0, 1, 9), Vec::<Vec<u8>>::new());
    assert_eq!(bench.wake(), Some(100_000));
    let frames = bench.depart(100_000, 1, 9);
    datagram.ttl = 63;
    assert_eq!(frames, [datagram.frame(next(1), own(1))]);
    bench.holds(100_000);
    let snapshot = bench.snapshot(100_000);
    let class = &snapshot.interfaces[1].classes[0];
    assert_eq!((class.forwarded.packets, class.forwarded.bytes, class.sojourn.sum_ns), (1, 100, 100_000));
    assert_eq!((bench.arena.free(), bench.wake(), bench.plane.waiting()), (FRAMES, None, 0));
}

#[test]
fn padding_of_ethernet_is_not_part_of_the_packet() {
    let mut bench = Bench::new(router("fifo"));
    let mut frame = Udp::across(0, 1, 30).frame(own(0), next(0));
    frame.extend([0xff; 16]);
    bench.arrive(0, 0, &frame);
    assert_eq!(left(&mut bench, 1), [(30, 30)]);
}

#[test]
fn the_line_takes_size_and_framing_at_its_rate_and_delays_what_has_left_it() {
    let mut told = router("fifo");
    told.interfaces[1].framing = Bytes::new(38);
    told.interfaces[1].propagation = Nanos::new(5_000_000);
    let mut bench = Bench::new(told);
    bench.datagram(0, 0, &Udp::across(0, 1, 100));
    bench.datagram(0, 0, &Udp::across(0, 1, 200));
    bench.datagram(1_000_000, 2, &Udp::across(2, 1, 300));
    // Ends at 138, 376; idle from there to 1000; then 1338.
    assert_eq!(left(&mut bench, 1), [(5_138, 100), (5_376, 200), (6_338, 300)]);
}

#[test]
fn two_flows_share_as_the_discipline_decides() {
    // Flow a sends four packets at once, b joins while the first is on the line.
    for (discipline, expected) in [
        ("fifo", [101, 102, 103, 104, 201, 202]),
        ("sfq:queues=64", [101, 102, 201, 103, 202, 104]),
        // a has 9 left after its first packet, 17 after its second; b has 110 and 220 in its turns.
        ("drr:quantum=110B", [101, 102, 201, 103, 104, 202]),
    ] {
        let mut bench = Bench::new(router(discipline));
        for size in 101..105 {
            bench.datagram(0, 0, &Udp::across(0, 1, size));
        }
        for size in 201..203 {
            bench.datagram(50_000, 2, &Udp::across(2, 1, size));
        }
        let sizes: Vec<usize> = left(&mut bench, 1).into_iter().map(|(_, size)| size).collect();
        assert_eq!(sizes, expected, "{discipline}");
        bench.holds(1 << 40);
    }
}

#[test]
fn who_comes_late_decides_for_the_instants_that_have_passed() {
    let mut bench = Bench::new(router("fifo"));
    (0..4).for_each(|_| bench.datagram(0, 0, &Udp::across(0, 1, 1000)));
    // Two and a half packets later: two have left, and the third goes on as if nobody had been late.
    assert_eq!(bench.depart(2_500_000, 1, 9).len(), 2);
    assert_eq!(bench.wake(), Some(3_000_000));
    assert_eq!(left(&mut bench, 1), [(3_000, 1000), (4_000, 1000)]);
}

#[test]
fn what_came_while_nobody_looked_costs_the_line_no_time() {
    let mut bench = Bench::new(router("fifo"));
    let packet = Udp::across(0, 1, 1000);
    bench.datagram(0, 0, &packet);
    // The loop should have looked at 1 ms, when the line fell idle, and looks at 5 ms.
    let at = |nanos| weir_core::units::Instant::new(nanos);
    bench.plane.woken(at(5_000_000), at(1_000_000));
    (0..5).for_each(|_| bench.datagram(5_000_000, 0, &packet));
    // Four of the five that it finds would have ended by then, one after the other from 1 ms on.
    assert_eq!(bench.depart(5_000_000, 1, 99).len(), 5);
    assert_eq!(left(&mut bench, 1), [(6_000, 1000)]);
    // No earlier than the line was free, and not at all once as much time has passed as it was late.
    bench.datagram(8_000_000, 0, &packet);
    assert_eq!(bench.depart(8_000_000, 1, 99).len(), 1);
    bench.datagram(9_000_000, 0, &packet);
    assert_eq!(left(&mut bench, 1), [(10_000, 1000)]);
    let lateness = &bench.snapshot(10_000_000).interfaces[1].lateness;
    assert_eq!((lateness.count(), lateness.longest_ns), (8, 4_000_000));
}

#[test]
fn a_long_stop_is_not_made_up_for() {
    let mut bench = Bench::new(router("fifo"));
    (0..100).for_each(|_| bench.datagram(0, 0, &Udp::across(0, 1, 1000)));
    // A second later 50 ms are made up for, besides the packet that was on the line.
    assert_eq!(bench.depart(1_000_000_000, 1, 999).len(), 51);
}

#[test]
fn without_a_rate_as_many_leave_as_there_is_room_for() {
    let mut told = router("sfq");
    told.interfaces[1].rate = None;
    let mut bench = Bench::new(told);
    (0..10).for_each(|_| bench.datagram(0, 0, &Udp::across(0, 1, 100)));
    assert!(bench.plane.wants_room(1) && bench.wake().is_none());
    assert_eq!(bench.depart(0, 1, 4).len(), 4);
    assert!(bench.plane.wants_room(1));
    assert_eq!(bench.depart(0, 1, 40).len(), 6);
    assert!(!bench.plane.wants_room(1));
    bench.holds(0);
}

#[test]
fn what_finds_no_room_waits_and_the_line_with_it() {
    let mut bench = Bench::new(router("fifo"));
    (0..4).for_each(|_| bench.datagram(0, 0, &Udp::across(0, 1, 1000)));
    assert_eq!(bench.depart(1_000_000, 1, 0).len(), 0);
    assert!(bench.plane.wants_room(1) && bench.wake().is_none());
    // The second had been granted when the first ended; nothing more was.
    assert_eq!(bench.depart(10_000_000, 1, 9).len(), 2);
    assert!(!bench.plane.wants_room(1));
    assert_eq!(left(&mut bench, 1).len(), 2);
}

#[test]
fn rates_are_exact_over_many_packets() {
    let mut told = router("fifo");
    told.interfaces[1].rate = Some(Rate::new(999_983));
    let mut bench = Bench::new(told);
    (0..200).for_each(|_| bench.datagram(0, 0, &Udp::across(0, 1, 64)));
    let last = bench.run(1, u64::MAX - 1).last().map(|(at, _)| *at);
    assert_eq!(last, Some((200_u64 * 64 * 8 * 1_000_000_000).div_ceil(999_983)));
}

#[test]
fn reasons_to_let_a_packet_go() {
    let cases: [(Reason, Udp); 6] = [
        (Reason::NoRoute, Udp::new("10.0.0.1", "11.0.0.1", 0)),
        (Reason::Martian, Udp::new("127.0.0.1", "10.0.1.1", 0)),
        (Reason::Martian, Udp::new("10.0.0.1", "224.0.0.1", 0)),
        (Reason::Martian, Udp::new("10.0.0.1", "10.0.1.255", 0)),
        (Reason::TooLarge, Udp::across(0, 1, 1501)),
        (Reason::Expired, Udp { ttl: 1, ..Udp::across(0, 1, 100) }),
    ];
    let mut bench = Bench::new(router("fifo"));
    for (count, (reason, datagram)) in cases.iter().enumerate() {
        let before = bench.snapshot(0).interfaces[0].refused.get(reason).map_or(0, |count| count.packets);
        bench.datagram(0, 0, datagram);
        let after = bench.snapshot(0).interfaces[0].refused.get(reason).map_or(0, |count| count.packets);
        assert_eq!(after, before + 1, "case {count}: {reason:?}");
    }
    let frame = Udp::across(0, 1, 100).frame(own(1), next(0));
    bench.arrive(0, 0, &frame);
    assert_eq!(bench.snapshot(0).interfaces[0].refused[&Reason::NotForUs].packets, 1);
    bench.holds(0);
}

/// How many packets came in by the first interface and were refused for a reason.
fn refused(bench: &Bench, reason: Reason) -> u64 {
    bench.snapshot(0).interfaces[0].refused.get(&reason).map_or(0, |count| count.packets)
}

#[test]
fn checksums_that_were_left_out_are_completed_or_refused_with_a_word() {
    let whole = Udp::across(0, 1, 100);
    let mut partial = whole.frame(own(0), next(0));
    // The sum of the pseudo-header: addresses, protocol, length.
    let pseudo = checksum::fold(checksum::sum(&partial[26..34]) + 17 + 80);
    checksum::write(&mut partial, 40, pseudo);
    let mut bench = Bench::new(router("fifo"));
    bench.arrive(0, 0, &partial);
    assert_eq!(bench.depart(100_000, 1, 9), [Udp { ttl: 63, ..whole.clone() }.frame(next(1), own(1))]);
    assert_eq!(bench.plane.notice(), None);

    let mut bench = Bench::new(Router { checksums: Checksums::Refuse, ..router("fifo") });
    bench.arrive(0, 0, &partial);
    bench.arrive(0, 0, &partial);
    bench.datagram(0, 0, &whole);
    assert_eq!((refused(&bench, Reason::PartialChecksum), bench.plane.waiting()), (2, 1));
    let notice = Notice::PartialChecksums { interface: 0 };
    assert_eq!((bench.plane.notice(), bench.plane.notice()), (Some(notice), None));
    bench.holds(0);
}

#[test]
fn what_would_go_back_to_where_it_came_from_is_a_loop() {
    let mut told = router("fifo");
    let to = "11.0.0.0/8".parse().expect("a prefix");
    told.routes.push(Route { to, via: Some("10.0.0.1".parse().expect("an address")), interface: 0 });
    let mut bench = Bench::new(told);
    let datagram = Udp::new("10.0.0.9", "11.0.0.1", 72);
    bench.datagram(0, 0, &datagram);
    assert_eq!(refused(&bench, Reason::Loop), 1);
    // From another on that wire it is forwarded there.
    bench.arrive(0, 0, &datagram.frame(own(0), own(9)));
    assert_eq!(left(&mut bench, 0), [(100, 100)]);
}

#[test]
fn an_interface_that_is_drained_empties() {
    let mut bench = Bench::new(router("fifo"));
    (0..3).for_each(|_| bench.datagram(0, 0, &Udp::across(0, 1, 100)));
    bench.plane.drain(1);
    bench.datagram(0, 0, &Udp::across(0, 1, 100));
    assert_eq!((refused(&bench, Reason::Draining), left(&mut bench, 1).len()), (1, 3));
    bench.plane.resume(1);
    bench.datagram(1_000_000, 0, &Udp::across(0, 1, 100));
    assert_eq!(left(&mut bench, 1), [(1_100, 100)]);
}

#[test]
fn what_waits_at_an_interface_that_goes_down_is_dropped() {
    for rate in [None, Some(Rate::new(8_000_000))] {
        let mut told = router("fifo");
        told.interfaces[1].rate = rate;
        let mut bench = Bench::new(told);
        (0..3).for_each(|_| bench.datagram(0, 0, &Udp::across(0, 1, 100)));
        bench.plane.device(1, DeviceFacts { up: false, ..devices()[1] });
        bench.datagram(0, 0, &Udp::across(0, 1, 100));
        assert_eq!((refused(&bench, Reason::InterfaceDown), left(&mut bench, 1).len()), (1, 0));
        let snapshot = bench.snapshot(0);
        assert_eq!(snapshot.interfaces[1].classes[0].dropped[&Reason::InterfaceDown].packets, 3);
        assert_eq!(bench.arena.free(), FRAMES);
        bench.holds(0);
    }
}

#[test]
fn what_a_device_does_not_take_is_counted_as_dropped() {
    let mut bench = Bench::new(router("fifo"));
    bench.datagram(0, 0, &Udp::across(0, 1, 100));
    bench.datagram(0, 0, &Udp::new("10.0.0.1", "11.0.0.1", 8));
    for at in 0..2 {
        let mut into = Vec::new();
        bench.plane.depart(Instant::new(100_000), at, 9, &mut bench.arena, &mut into);
        assert_eq!(into.len(), 1);
        into.into_iter().for_each(|buffer| bench.plane.failed(at, buffer, &mut bench.arena));
    }
    let class = bench.snapshot(0).interfaces[1].classes[0].clone();
    assert_eq!((class.forwarded.packets, class.dropped[&Reason::InterfaceDown].packets), (0, 1));
    assert_eq!(bench.arena.free(), FRAMES);
    bench.holds(0);
}

#[test]
fn a_mark_of_congestion_is_written() {
    let mut bench = Bench::new(router("codel(target=100us,interval=1ms,ecn=yes)"));
    for _ in 0..100 {
        bench.datagram(0, 0, &Udp { class: 2, ..Udp::across(0, 1, 1000) });
    }
    let frames = bench.run(1, 1 << 40);
    let marked = frames.iter().filter(|(_, frame)| frame[15] & 3 == 3).count() as u64;
    let class = bench.snapshot(0).interfaces[1].classes[0].clone();
    assert!(marked > 0 && class.marked.packets == marked, "{marked} {class:?}");
    // What was marked reads as an IP header with its checksum.
    assert!(frames.iter().all(|(_, frame)| super::frame::read(frame).is_ok()));
}

/// The most frames that wait of a flood to `silent` silent addresses, next to a steady flow of which none is lost.
fn flooded(told: crate::config::Router, silent: u32) -> u32 {
    let mut bench = Bench::new(told);
    let mut least = FRAMES;
    for round in 0..8_000_u32 {
        let now = u64::from(round) * 125_000;
        let to = format!("10.0.1.{}", 2 + round % silent);
        bench.datagram(now, 0, &Udp::new("10.0.0.1", &to, 20));
        if round % 8 == 0 {
            bench.datagram(now, 2, &Udp::across(2, 1, 200));
        }
        (0..3).for_each(|at| drop(bench.depart(now, at, 64)));
        least = least.min(bench.arena.free());
    }
    let now = 2_000_000_000;
    drop(bench.run(1, now));
    let (steady, other) = {
        let classes = &bench.snapshot(now).interfaces[1].classes;
        (classes[0].clone(), classes[1].clone())
    };
    assert_eq!((steady.forwarded.packets, steady.dropped.len()), (1_000, 0));
    assert!(other.dropped[&Reason::NeighbourQueueFull].packets > 0);
    assert_eq!(bench.snapshot(now).interfaces.iter().map(|it| it.refused.len()).sum::<usize>(), 0);
    bench.holds(now);
    FRAMES - least
}

#[test]
fn silent_addresses_take_no_frames_from_others() {
    for rate in [None, Some(Rate::new(100_000_000))] {
        for silent in [1, 250] {
            let mut told = router("fifo");
            told.interfaces[1].rate = rate;
            let from = vec!["10.0.2.0/24".parse().expect("a prefix")];
            let rule = crate::config::Rule { from, ..crate::config::Rule::default() };
            told.classes.insert(
                0,
                crate::config::Class { name: "steady".into(), rule, mark: crate::config::Mark::default() },
            );
            // The share of an interface, and what is on the line and on its way out.
            assert!(flooded(told, silent) <= FRAMES / 24 + 8);
        }
    }
}

/// After how many packets of a flow of twenty one of another flow leaves, which came last.
fn overtaken(discipline: &str, key: crate::config::FlowKey, other: &Udp) -> usize {
    let mut told = router(discipline);
    told.defaults = crate::config::Defaults::Live;
    told.flow_key = key;
    told.flow_buckets = 1 << 16;
    let mut bench = Bench::new(told);
    (0..20).for_each(|_| bench.datagram(0, 0, &Udp::across(0, 1, 100)));
    bench.datagram(0, 0, other);
    left(&mut bench, 1).iter().position(|&(_, size)| size == 101).expect("it leaves")
}

#[test]
fn flows_are_told_apart_as_the_router_says_whatever_the_discipline() {
    use crate::config::FlowKey::{Addresses, Class, Destination, FiveTuple, Source};
    let port = Udp { ports: (7, 7), ..Udp::across(0, 1, 101) };
    let from = Udp { from: "10.0.0.2".parse().expect("an address"), ..Udp::across(0, 1, 101) };
    for discipline in
        ["sfq:queues=65536", "sfq_linux", "sfq_set", "fq_codel", "cake", "drr:quantum=100B", "fq"]
    {
        for (key, apart) in [
            (FiveTuple, [true, true]),
            (Addresses, [false, true]),
            (Source, [false, true]),
            (Destination, [false, false]),
            (Class, [false, false]),
        ] {
            let is_apart = [&port, &from].map(|other| overtaken(discipline, key, other) < 20);
            assert_eq!(is_apart, apart, "{discipline} {key:?}");
        }
    }
}
