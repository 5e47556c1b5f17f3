//! Whatever comes in, by whatever means and at whatever times: every packet is counted once, and no frame is lost.

use weir_core::random::Random;
use weir_core::units::{Instant, Nanos, Rate};

use crate::Received;
use crate::arena::{Arena, Buffer};
use crate::config::{Class, MacAddress, Rule};
use crate::testing::*;
use crate::{DeviceFacts, Plane};

/// A frame of any kind: good, of another kind, cut, or with bytes that are anything.
pub(super) fn frame(random: &mut Random) -> Vec<u8> {
    let at = random.below(3) as usize;
    let (from, to) = match random.below(5) {
        0 => (format!("fd00:{at}::1"), format!("fd00:{}::{}", random.below(4), random.below(4))),
        _ => (format!("10.0.{at}.1"), format!("10.0.{}.{}", random.below(4), random.below(4))),
    };
    let ttl = if random.one_in(20) { 1 } else { 64 };
    let most = if random.one_in(20) { 1_600 } else { 300 };
    let payload = random.below(most) as usize;
    let class = random.below(4) as u8;
    let ports = (random.bits() as u16 & 7, random.bits() as u16 & 3);
    let whole = !random.one_in(4);
    let udp = Udp { ttl, class, ports, whole, ..Udp::new(&from, &to, payload) };
    let mut frame = udp.frame(own(at), next(at));
    if random.one_in(3) {
        for _ in 0..random.below(6) {
            let place = random.below(frame.len().min(80) as u64) as usize;
            frame[place] = random.bits() as u8;
        }
    }
    if random.one_in(10) {
        let kind = [0x0806_u16, 0x8100, 0x86dd, 0x0800][random.below(4) as usize];
        frame[12..14].copy_from_slice(&kind.to_be_bytes());
    }
    if random.one_in(10) {
        frame.truncate(random.below(frame.len() as u64) as usize);
    }
    frame
}

/// What may happen to a router at any time.
fn step(bench: &mut Bench, random: &mut Random, now: u64) {
    let at = random.below(3) as usize;
    let facts = DeviceFacts { up: !random.one_in(3), mtu: 68 << random.below(6), ..device(at) };
    match random.below(40) {
        0 => bench.plane.device(at, facts),
        1 => bench.plane.drain(at),
        2 => bench.plane.resume(at),
        3 => {
            let mac = MacAddress([2, 0, 0, 0, 9, random.below(9) as u8]);
            let address = format!("10.0.{at}.{}", random.below(5));
            let question = arp(true, (&address, mac), &format!("10.0.{at}.254"));
            if let Some(buffer) = bench.buffer(&question) {
                let received = Received { buffer, partial: None };
                bench.plane.arrive(Instant::new(now), at, received, &mut bench.arena);
            }
        }
        4..8 => {
            let mut into = Vec::new();
            bench.plane.depart(Instant::new(now), at, 4, &mut bench.arena, &mut into);
            into.into_iter().for_each(|buffer| bench.plane.failed(at, buffer, &mut bench.arena));
        }
        8..20 => drop(bench.depart(now, at, random.below(6) as u32)),
        _ => {
            let bytes = frame(random);
            if let Some(buffer) = bench.buffer(&bytes) {
                let partial = [None, Some(true), Some(false)][random.below(3) as usize];
                let received = Received { buffer, partial };
                bench.plane.arrive(Instant::new(now), at, received, &mut bench.arena);
            }
        }
    }
}

pub(super) fn told(discipline: &str, random: &mut Random) -> crate::config::Router {
    let mut told = router(discipline);
    told.interfaces[0].rate = None;
    told.interfaces[1].propagation = Nanos::new(random.below(2) * 3_000_000);
    told.interfaces[2].rate = Some(Rate::new(1 + random.below(80_000_000)));
    let rule = Rule { ports: vec![0..=1], ..Rule::default() };
    told.classes.insert(0, Class { name: "low".into(), rule, mark: crate::config::Mark::default() });
    told
}

pub(super) const DISCIPLINES: [&str; 7] = [
    "fifo:limit=20pkt",
    "sfq(queues=16,depth=4pkt)",
    "drr(quantum=500B,by=class,limit=50pkt)",
    "tbf(sfq,rate=5Mbit,burst=1000B)",
    "fq_codel",
    "cake(rate=5Mbit,memlimit=20kB)",
    "priority(fifo,bands=2)",
];

#[test]
fn every_packet_is_counted_once() {
    let mut random = Random::new(11);
    for discipline in DISCIPLINES {
        let mut bench = Bench::new(told(discipline, &mut random));
        let mut now = 0;
        for round in 0..4_000 {
            now += random.below(500_000);
            step(&mut bench, &mut random, now);
            if round % 20 == 0 {
                bench.holds(now);
            }
        }
        // All that waits leaves or is given up, and every frame comes back.
        for at in 0..3 {
            bench.plane.device(at, device(at));
        }
        for _ in 0..40 {
            now += 1_000_000_000;
            (0..3).for_each(|at| drop(bench.depart(now, at, u32::MAX)));
        }
        bench.holds(now);
        assert_eq!((bench.plane.waiting(), bench.arena.free()), (0, FRAMES), "{discipline}");
        assert_eq!(bench.wake().filter(|&wake| wake <= now), None, "{discipline}");
    }
}

#[test]
fn any_bytes_do_no_harm() {
    let mut random = Random::new(12);
    let mut bench = Bench::new(router("sfq"));
    for round in 0..30_000 {
        let length = random.below(120) as usize;
        let mut bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        if length > 14 && !random.one_in(4) {
            let kind = [0x0806_u16, 0x86dd, 0x0800][random.below(3) as usize];
            bytes[..6].copy_from_slice(&own(0).0);
            bytes[12..14].copy_from_slice(&kind.to_be_bytes());
            bytes[14] = if kind == 0x0800 { 0x45 } else { 0x60 };
        }
        bench.arrive(round * 1_000, 0, &bytes);
        drop(bench.depart(round * 1_000, round as usize % 3, 9));
    }
    bench.holds(1 << 40);
}

#[test]
fn a_flood_of_new_flows_stays_within_its_memory() {
    let mut told = router("sfq:queues=1024");
    told.interfaces[1].rate = Some(Rate::new(1_000_000_000));
    let mut plane = Plane::new(told, &devices(), FRAMES, 1).expect("a router");
    let mut arena = Arena::new(FRAMES).expect("memory");
    let mut frame = Udp::across(0, 1, 64).frame(own(0), next(0));
    let mut into: Vec<Buffer> = Vec::with_capacity(FRAMES as usize);
    let mut used = 0;
    for flow in 0..1_000_000_u32 {
        // Another source address and port each time; the header's checksum is of their sum.
        frame[26..30].copy_from_slice(&(0x0a00_0000 + flow * 7 % 65_000).to_be_bytes());
        frame[34..36].copy_from_slice(&(flow as u16).to_be_bytes());
        frame[24..26].fill(0);
        let sum = !crate::checksum::fold(crate::checksum::sum(&frame[14..34]));
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        let now = Instant::new(u64::from(flow) * 600);
        if let Some(mut buffer) = arena.take(256) {
            buffer.resize(frame.len() as u32);
            arena.bytes_mut(&mut buffer).copy_from_slice(&frame);
            plane.arrive(now, 0, Received { buffer, partial: Some(false) }, &mut arena);
        }
        plane.depart(now, 1, 64, &mut arena, &mut into);
        into.drain(..).for_each(|buffer| arena.give(buffer));
        if flow == 100_000 {
            used = super::allocation::allocated();
        }
    }
    // After the first of them nothing was allocated any more.
    assert_eq!(super::allocation::allocated(), used);
    assert!(plane.snapshot(Instant::ZERO, &arena).interfaces[1].forwarded.packets > 900_000);
}
