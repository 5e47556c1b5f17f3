//! Shares by hand, and what is refused.

use super::oracle::{Plain, random};
use super::*;
use crate::conformance::{self, Random};
use crate::discipline::{CountDrops, Open};
use crate::item::{ClassId, FlowId, Packet};
use crate::packet::fifo::Fifo;
use crate::registry::packet_discipline;
use crate::units::{Bytes, Nanos, Rate};

const SIZE: u64 = 1_000;

fn built(spec: &str) -> Box<dyn Discipline<Packet> + Send> {
    packet_discipline(&spec.parse().expect(spec)).expect(spec)
}

fn packet(id: u32, class: u16) -> Packet {
    Packet { id, flow: FlowId(class.into()), class: ClassId(class), size: Bytes::new(SIZE) }
}

/// What each class sends, in bits per second, if all of these always have packets and the line is faster than
/// they are together: 100 Mbit/s.
fn shares(spec: &str, busy: &[u16]) -> Vec<(u16, u64)> {
    const SPAN: u64 = 10_000_000_000;
    let (mut discipline, drops) = (built(spec), &mut CountDrops::default());
    let mut sent = [0; 16];
    for (id, &class) in (0..).zip(busy.iter().flat_map(|class| [class, class])) {
        let _ = discipline.enqueue(Instant::ZERO, packet(id, class), drops);
    }
    let mut now = Instant::ZERO;
    while now.get() < SPAN {
        let Some(grant) = discipline.dequeue(now, &Open, drops) else {
            let next = discipline.next_event().expect("all have packets");
            assert!(next > now, "{spec}: {next:?} at {now:?}");
            now = next;
            continue;
        };
        discipline.finish(now, &grant.item, grant.quantum);
        let class = grant.item.class().0;
        sent[usize::from(class)] += 8 * SIZE;
        let _ = discipline.enqueue(now, packet(0, class), drops);
        now = now.after(Nanos::new(80 * SIZE));
    }
    busy.iter().map(|&class| (class, sent[usize::from(class)] * 1_000_000_000 / SPAN)).collect()
}

/// Checks the shares, in kilobits per second, within two in a hundred: a burst is sent as well.
fn shares_are(spec: &str, expected: &[(u16, u64)]) {
    let busy: Vec<u16> = expected.iter().map(|(class, _)| *class).collect();
    for ((class, bits), (_, kilobits)) in shares(spec, &busy).into_iter().zip(expected) {
        let difference = (bits / 1_000).abs_diff(*kilobits);
        assert!(
            difference * 50 <= *kilobits,
            "{spec}: class {class} sent {bits}bit/s, {kilobits}kbit/s expected"
        );
    }
}

#[test]
fn what_nobody_is_promised_is_shared_in_proportion_to_the_rates() {
    shares_are("htb(fifo,rate=10Mbit,classes=2Mbit/6Mbit)", &[(0, 2_500), (1, 7_500)]);
    shares_are("htb(fifo,rate=10Mbit,classes=1Mbit/1Mbit/2Mbit)", &[(0, 2_500), (1, 2_500), (2, 5_000)]);
}

#[test]
fn who_is_alone_borrows_up_to_its_ceiling() {
    shares_are("htb(fifo,rate=10Mbit,classes=2Mbit/6Mbit)", &[(0, 10_000)]);
    shares_are("htb(fifo,rate=10Mbit,classes=2Mbit-4Mbit/6Mbit)", &[(0, 4_000)]);
    shares_are("htb(fifo,rate=10Mbit,classes=2Mbit-2Mbit/6Mbit-7Mbit)", &[(0, 2_000), (1, 7_000)]);
}

#[test]
fn the_first_priority_borrows_first_and_nobody_loses_its_rate() {
    let spec = "htb(fifo,rate=10Mbit,classes=2Mbit/2Mbit/1Mbit,priorities=1/0/1)";
    shares_are(spec, &[(0, 2_000), (1, 7_000), (2, 1_000)]);
    shares_are(spec, &[(0, 6_667), (2, 3_333)]);
}

#[test]
fn a_family_keeps_what_its_own_leave() {
    // Classes 1 and 2 borrow from 0, class 3 from the link.
    let spec = "htb(fifo,rate=10Mbit,classes=6Mbit/2Mbit/4Mbit/4Mbit,parents=root/0/0/root)";
    shares_are(spec, &[(1, 2_000), (2, 4_000), (3, 4_000)]);
    shares_are(spec, &[(1, 6_000), (3, 4_000)]);
    shares_are(spec, &[(3, 10_000)]);
}

#[test]
fn packets_of_other_classes_go_to_the_last() {
    let mut discipline = built("htb(fifo,rate=10Mbit,classes=6Mbit/2Mbit/4Mbit,parents=root/0)");
    let drops = &mut CountDrops::default();
    for (id, class) in [(0, 0), (1, 9), (2, 2)] {
        let _ = discipline.enqueue(Instant::ZERO, packet(id, class), drops);
    }
    let mut next = || discipline.dequeue(Instant::ZERO, &Open, drops).map(|grant| grant.item.id);
    assert_eq!([next(), next(), next(), next()], [Some(0), Some(1), Some(2), None]);
}

#[test]
fn after_a_pause_a_class_sends_its_burst_at_once() {
    // 8 Mbit/s is a byte in a microsecond; both may go into debt with their last packet.
    let mut discipline = built("htb(fifo,rate=8Mbit,classes=8Mbit,burst=2500B)");
    let drops = &mut CountDrops::default();
    for id in 0..5 {
        let _ = discipline.enqueue(Instant::ZERO, packet(id, 0), drops);
    }
    let (mut now, mut left) = (Instant::ZERO, Vec::new());
    while !discipline.backlog().is_empty() {
        match discipline.dequeue(now, &Open, drops) {
            Some(grant) => left.push((grant.item.id, now.get())),
            None => now = discipline.next_event().expect("it has packets"),
        }
    }
    assert_eq!(left, [(0, 0), (1, 0), (2, 0), (3, 500_000), (4, 1_500_000)]);
}

#[test]
fn configurations_are_refused_with_value_and_bound() {
    let refused = |arguments: &str| {
        let spec = format!("htb(fifo,{arguments})").parse().expect("a spec");
        packet_discipline::<Packet>(&spec).err().map(|error| error.to_string()).unwrap_or_default()
    };
    for (arguments, said) in [
        ("rate=1Mbit", "classes is missing"),
        ("rate=1Mbit,classes=1", "must be rates, each with a ceiling or without"),
        ("rate=1Mbit,classes=0Mbit", "the rate of class 0 is 0bit, must be at least 1bit"),
        (
            "rate=9Mbit,classes=2Mbit-1Mbit",
            "the ceiling of class 0 is 1Mbit, must be at least its rate, 2Mbit",
        ),
        ("rate=9Mbit,classes=1Mbit,parents=0", "class 0 borrows from 0, must be `root` or a class before it"),
        ("rate=9Mbit,classes=1Mbit,priorities=8", "the priority of class 0 is 8, must be from 0 to 7"),
        (
            "rate=9Mbit,classes=6Mbit/4Mbit",
            "10Mbit are promised to those who borrow from the link, must be at most 9Mbit",
        ),
        (
            "rate=9Mbit,classes=1Mbit/2Mbit,parents=root/0",
            "2Mbit are promised to those who borrow from class 0",
        ),
        (
            "rate=9Mbit,classes=1Mbit/1Mbit/1Mbit/1Mbit/1Mbit/1Mbit/1Mbit/1Mbit,parents=root/0/1/2/3/4/5/6",
            "class 7 has more than 8 classes above it",
        ),
    ] {
        assert!(refused(arguments).contains(said), "{arguments}: {}", refused(arguments));
    }
    let class = ClassConfig { rate: Rate::new(1), ceiling: Rate::new(1), parent: None, priority: 0 };
    let (rate, size) = (Rate::new(1 << 30), Bytes::new(1_500));
    let many = Config { rate, classes: vec![class; 65_537], burst: size, quantum: size };
    assert!(
        many.check()
            .is_err_and(|error| { error.to_string() == "there are 65537 classes, must be from 1 to 65536" })
    );
}

/// Who may send and on whose account, found by looking at everybody: what the lists must come to.
#[test]
fn the_rank_of_who_sends_is_that_of_a_search() {
    for case in 0..300 {
        let mut dice = Random::new(case);
        let config = random(&mut dice);
        let mut plain = Plain::new(&config);
        let mut htb = Htb::<Packet, _, _>::new(&config, |_| Fifo::new()).expect("valid");
        let (drops, mut now) = (&mut CountDrops::default(), Instant::ZERO);
        for id in 0..400 {
            let class = dice.below(config.classes.len() as u64 + 1) as u16;
            for _ in 0..dice.below(3) {
                plain.waiting[htb.class(&packet(id, class))] += 1;
                let _ = htb.enqueue(now, packet(id, class), drops);
            }
            let ranks = plain.ranks(now);
            let before = htb.leaves.iter().map(|leaf| leaf.items).collect::<Vec<_>>();
            let grant = htb.dequeue(now, &Open, drops);
            let who = htb.leaves.iter().zip(&before).position(|(leaf, items)| leaf.items < *items);
            assert_eq!(grant.is_some(), who.is_some());
            let least = ranks.iter().flatten().min().copied();
            assert_eq!(who.and_then(|leaf| ranks[leaf]), least, "case {case}, packet {id}: {config:?}");
            if let (Some(leaf), Some(grant)) = (who, grant) {
                plain.sends(now, leaf, grant.quantum);
            } else {
                assert_eq!(htb.next_event().is_some(), !htb.backlog().is_empty(), "case {case}");
            }
            now = now.after(Nanos::new(dice.below(3) * dice.below(2_000_000)));
        }
    }
}

fn htb<I: Item<Cost = Bytes>>(config: &str) -> Htb<I, Fifo<I>, impl Fn(usize) -> Fifo<I> + Clone> {
    let spec = format!("htb(fifo,{config})").parse().expect("a spec");
    let config = Config::from_spec(&Arguments::new(&spec, &INFO).expect("its own")).expect("valid");
    Htb::new(&config, |_| Fifo::new()).expect("valid")
}

conformance::suite!(conforms: [Packet], || htb("rate=3Gbit,classes=1Gbit/1Gbit-2Gbit"), [flow_order]);
conformance::suite!(
    conforms_as_a_family: [Packet],
    || htb("rate=3Gbit,classes=2Gbit/1Gbit/1Gbit/1Gbit,parents=root/0/0/root,priorities=0/1"),
    [flow_order]
);
conformance::suite!(conforms_when_slow: [Packet], || htb("rate=7Mbit,classes=1Mbit/2Mbit"), [flow_order]);
