//! Changes of the configuration under load: nothing is lost, nothing overtakes within a flow, counters go on.

use weir_core::random::Random;
use weir_core::units::{Nanos, Rate};

use super::*;
use crate::config::{Class, FlowKey, Mark, Rule};
use crate::testing::*;
use std::collections::BTreeMap;

fn reload(bench: &mut Bench, now: u64, router: Router) -> Result<(), Refused> {
    bench.plane.reload(Instant::new(now), router, &mut bench.arena)
}

fn sizes(bench: &mut Bench) -> Vec<usize> {
    bench.run(1, u64::MAX - 1).into_iter().map(|(_, frame)| frame.len() - 14).collect()
}

#[test]
fn what_waits_is_ordered_by_the_new_discipline() {
    let mut bench = Bench::new(router("fifo"));
    (100..104).for_each(|size| bench.datagram(0, 0, &Udp::across(0, 1, size)));
    (200..202).for_each(|size| bench.datagram(0, 2, &Udp::across(2, 1, size)));
    assert!(reload(&mut bench, 0, router("sfq:queues=64")).is_ok());
    // The first is on the line.
    assert_eq!(sizes(&mut bench), [100, 101, 200, 102, 201, 103]);
    bench.holds(0);
}

#[test]
fn where_the_new_one_would_drop_the_old_one_is_emptied_first() {
    let mut bench = Bench::new(router("sfq:queues=64"));
    (100..104).for_each(|size| bench.datagram(0, 0, &Udp::across(0, 1, size)));
    (200..202).for_each(|size| bench.datagram(0, 2, &Udp::across(2, 1, size)));
    assert!(reload(&mut bench, 0, router("fifo:limit=2pkt")).is_ok());
    bench.datagram(0, 0, &Udp::across(0, 1, 300));
    assert!(bench.plane.ports[1].egress.queue.has_predecessor());
    // Once more, while it is not empty, and for one that takes none of it either.
    assert!(reload(&mut bench, 0, router("fifo:limit=1pkt")).is_ok());
    bench.datagram(0, 0, &Udp::across(0, 1, 400));
    assert_eq!(sizes(&mut bench), [100, 101, 102, 103, 200, 201, 300, 400]);
    assert!(bench.snapshot(0).interfaces[1].classes[0].dropped.is_empty());
    bench.holds(0);
}

#[test]
fn a_refused_change_changes_nothing() {
    let mut bench = Bench::new(router("fifo"));
    bench.datagram(0, 0, &Udp::across(0, 1, 100));
    let before = bench.snapshot(0);
    let mut bad = router("sfq");
    bad.interfaces[2].discipline = "drr:quantum=0B".parse().expect("a spec");
    let error = reload(&mut bench, 0, bad).expect_err("refused").to_string();
    assert!(error.starts_with("r: interface.if2.discipline is drr:quantum=0B, "), "{error}");
    let mut other = router("sfq");
    other.interfaces.pop();
    let error = reload(&mut bench, 0, other).expect_err("refused").to_string();
    assert!(
        error.starts_with("r: has the interfaces `if0`, `if1`, must have `if0`, `if1`, `if2`: "),
        "{error}"
    );
    assert_eq!(bench.snapshot(0), before);
}

#[test]
fn a_rate_holds_from_the_next_transmission_on() {
    let mut bench = Bench::new(router("fifo"));
    (0..3).for_each(|_| bench.datagram(0, 0, &Udp::across(0, 1, 1000)));
    let mut faster = router("fifo");
    faster.interfaces[1].rate = Some(Rate::new(80_000_000));
    assert!(reload(&mut bench, 500_000, faster).is_ok());
    let times: Vec<u64> = bench.run(1, 1 << 40).into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [1_000_000, 1_100_000, 1_200_000]);
    // Without a rate, and with one again.
    (0..3).for_each(|_| bench.datagram(2_000_000, 0, &Udp::across(0, 1, 1000)));
    let mut none = router("fifo");
    none.interfaces[1].rate = None;
    assert!(reload(&mut bench, 2_000_000, none).is_ok());
    // The first of them is still on the line, and not overtaken.
    assert_eq!(bench.depart(2_000_000, 1, 9).len(), 0);
    assert_eq!(bench.depart(3_000_000, 1, 9).len(), 3);
    (0..2).for_each(|_| bench.datagram(3_000_000, 0, &Udp::across(0, 1, 1000)));
    assert!(reload(&mut bench, 3_000_000, router("fifo")).is_ok());
    assert_eq!(sizes(&mut bench), [1000, 1000]);
}

#[test]
fn counters_of_a_class_go_on_under_its_name() {
    let class = |name: &str, port: u16| Class {
        name: name.into(),
        rule: Rule { ports: vec![port..=port], ..Rule::default() },
        mark: Mark::default(),
    };
    let with = |classes: Vec<Class>| {
        let mut told = router("fifo");
        told.classes.splice(0..0, classes);
        told
    };
    let mut bench = Bench::new(with(vec![class("a", 1), class("b", 2)]));
    for ports in [(1, 9), (2, 9), (2, 9), (3, 9)] {
        bench.datagram(0, 0, &Udp { ports, ..Udp::across(0, 1, 100) });
    }
    assert!(reload(&mut bench, 0, with(vec![class("c", 3), class("b", 2)])).is_ok());
    let offered = |bench: &Bench| {
        let classes = bench.snapshot(0).interfaces[1].classes.clone();
        classes.into_iter().map(|class| (class.name, class.offered.packets)).collect::<Vec<_>>()
    };
    assert_eq!(offered(&bench), [("c".into(), 0), ("b".into(), 2), ("default".into(), 2)]);
    bench.holds(0);
    sizes(&mut bench);
    bench.holds(0);
}

/// Any change of a configuration.
fn changed(random: &mut Random) -> Router {
    const DISCIPLINES: [&str; 7] = [
        "fifo",
        "fifo:limit=3pkt",
        "sfq:queues=16",
        "sfq(queues=4,depth=2pkt)",
        "drr:quantum=300B",
        "tbf(drr:quantum=300B,rate=7Mbit,burst=2kB)",
        "wfq:rate=8Mbit",
    ];
    let mut told = router(DISCIPLINES[random.below(7) as usize]);
    let link = &mut told.interfaces[1];
    link.rate = [None, Some(Rate::new(8_000_000)), Some(Rate::new(11_000_000))][random.below(3) as usize];
    link.propagation = Nanos::new(random.below(3) * 200_000);
    told.hash_key = Some(random.below(3));
    told.flow_key = if random.one_in(2) { FlowKey::FiveTuple } else { FlowKey::Addresses };
    if random.one_in(2) {
        let rule = Rule { ports: vec![1..=1], ..Rule::default() };
        told.classes.insert(0, Class { name: "one".into(), rule, mark: Mark::default() });
    }
    told
}

#[test]
fn nothing_is_lost_or_overtaken_by_any_change() {
    let mut random = Random::new(21);
    for _ in 0..20 {
        let mut bench = Bench::new(changed(&mut random));
        let (mut now, mut sent) = (0, 0);
        let (mut left, mut last) = (0, BTreeMap::new());
        let mut dropped_by_queue = 0;
        for _ in 0..600 {
            now += random.below(300_000);
            match random.below(12) {
                0 => {
                    let before = bench.snapshot(now);
                    assert!(reload(&mut bench, now, changed(&mut random)).is_ok());
                    // Nothing was dropped by the change itself, whatever the lines have done meanwhile.
                    let lost = |snapshot: &crate::snapshot::Snapshot| -> u64 {
                        let classes = snapshot.interfaces.iter().flat_map(|interface| &interface.classes);
                        classes.flat_map(|class| class.dropped.values()).map(|count| count.packets).sum()
                    };
                    assert_eq!(lost(&bench.snapshot(now)), lost(&before));
                    dropped_by_queue = lost(&before);
                }
                1..5 => {
                    for frame in bench.depart(now, 1, random.below(5) as u32) {
                        let (flow, name) = (
                            (frame[35], frame[28]),
                            u32::from_be_bytes([frame[42], frame[43], frame[44], frame[45]]),
                        );
                        left += 1;
                        assert!(last.insert(flow, name).is_none_or(|before| before < name), "{flow:?}");
                    }
                }
                _ => {
                    let at = [0, 2][random.below(2) as usize];
                    let mut datagram = Udp::across(at, 1, 60 + random.below(500) as usize);
                    datagram.ports = (random.below(3) as u16, 9);
                    datagram.payload[..4].copy_from_slice(&u32::to_be_bytes(sent));
                    sent += 1;
                    if bench.arena.free() > 0 {
                        bench.datagram(now, at, &datagram);
                    }
                }
            }
        }
        bench.holds(now);
        let mut rest = 0;
        while bench.plane.waiting() > 0 && now < 1 << 50 {
            now += 1_000_000;
            rest += bench.depart(now, 1, u32::MAX).len();
        }
        assert!(left + rest > 100 && dropped_by_queue < 600, "{left} {rest} {dropped_by_queue}");
        bench.holds(1 << 50);
        assert_eq!(bench.arena.free(), FRAMES);
    }
}

#[test]
fn a_bound_follows_the_rate() {
    let mut told = router("fifo");
    told.defaults = crate::config::Defaults::Live;
    told.memory = weir_core::units::Bytes::new(64 << 20);
    let mut bench = Bench::new(told.clone());
    let holds = |bench: &Bench| bench.snapshot(0).interfaces[1].holds.clone();
    assert_eq!(holds(&bench), "fifo holds 66 packets: 99ms at 8Mbit");
    told.interfaces[1].rate = Some(Rate::new(2_000_000));
    bench.plane.reload(Instant::ZERO, told, &mut bench.arena).expect("valid");
    assert_eq!(holds(&bench), "fifo holds 16 packets: 96ms at 2Mbit");
    (0..30).for_each(|_| bench.datagram(0, 0, &Udp::across(0, 1, 100)));
    let class = bench.snapshot(0).interfaces[1].classes[0].clone();
    // Sixteen wait, and one is on the line.
    assert_eq!(class.dropped[&crate::snapshot::Reason::QueueFull].packets, 13);
    bench.holds(0);
}
