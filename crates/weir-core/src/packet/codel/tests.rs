//! Schedules by hand, and the discipline against the pseudo-code of its source.

use core::cell::Cell;

use super::oracle::Naive;
use super::*;
use crate::conformance::{self, Promises, Random, Sample};
use crate::discipline::{CountDrops, Open};
use crate::item::{ClassId, FlowId, Message, Packet};
use crate::units::Bytes;

const PROMISES: Promises = Promises { work_conserving: true, flow_order: true, resumable: false };

/// Packets wait microseconds in the plans of the suite.
fn law<C: Cost>(target: u64, interval: u64, mtu: u64) -> Law<C> {
    Law { target: Nanos::new(target), interval: Nanos::new(interval), ..Law::new(C::of(mtu)) }
}

fn codel<I: Item>(law: Law<I::Cost>, limit: u64) -> Codel<I> {
    Codel::new(law, Packets::new(limit)).expect("valid")
}

conformance::suite!(conforms, || codel(law(100, 1000, 2), 1000), [work_conserving, flow_order]);
conformance::suite!(conforms_when_eager, || codel(law(1, 1, 0), 1000), [work_conserving, flow_order]);
conformance::suite!(conforms_with_a_limit, || codel(law(100, 10, 0), 5), [work_conserving, flow_order]);

const MS: u64 = 1_000_000;

/// A packet that notes its mark.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Marked {
    id: u32,
    mark: bool,
}

impl Item for Marked {
    type Cost = Bytes;
    fn flow(&self) -> FlowId {
        FlowId(0)
    }
    fn cost(&self) -> Bytes {
        Bytes::new(1000)
    }
    fn mark(&mut self) -> bool {
        self.mark = true;
        true
    }
}

/// Offers a thousand packets at 0 ms and takes one each 10 ms: those dropped, and those marked.
fn stand(law: Law<Bytes>, until: u64) -> (Vec<u32>, Vec<u32>) {
    let mut codel = codel(law, 1000);
    let mut drops = Vec::new();
    for id in 0..1000 {
        assert_eq!(codel.enqueue(Instant::ZERO, Marked { id, mark: false }, &mut drops), Enqueued::Queued);
    }
    let mut marked = Vec::new();
    for at in 1..=until / 10 {
        let grant = codel.dequeue(Instant::new(at * 10 * MS), &Open, &mut drops).expect("a packet waits");
        marked.extend(Some(grant.item.id).filter(|_| grant.item.mark));
    }
    assert!(drops.iter().all(|(_, reason)| *reason == DropReason::Congestion));
    (drops.into_iter().map(|(packet, _)| packet.id).collect(), marked)
}

#[test]
fn drops_come_faster_by_the_root_of_their_number() {
    // Above 5 ms since 10 ms, packet 0. At 110 ms an interval has passed: packet 10 is dropped, 11 served.
    // The next is due at 210 ms (packet 21; 12 to 20 and 22 are served); then 100 / sqrt(2) later, at
    // 280.7 ms, found at 290 ms (packet 30); then 100 / sqrt(3) later, at 338.4 ms, found at 340 ms (36).
    assert_eq!(stand(Law::new(Bytes::new(1514)), 380), (vec![10, 21, 30, 36], vec![]));
}

#[test]
fn packets_that_can_carry_a_mark_are_marked_at_the_same_moments() {
    let law = Law { ecn: true, ..Law::new(Bytes::new(1514)) };
    assert_eq!(stand(law, 380), (vec![], vec![10, 20, 28, 33]));
    let law = Law { ce_threshold: Some(Nanos::new(360 * MS)), ..Law::new(Bytes::new(1514)) };
    assert_eq!(stand(law, 380), (vec![10, 21, 30, 36], vec![40, 41]));
}

#[test]
fn a_short_queue_is_left_alone() {
    let mut codel = codel(Law::new(Bytes::new(1514)), 10);
    let mut drops = Vec::new();
    for at in 0..100 {
        let _ = codel.enqueue(Instant::new(at * MS), Marked { id: at as u32, mark: false }, &mut drops);
        let _ = codel.enqueue(Instant::new(at * MS), Marked { id: at as u32, mark: false }, &mut drops);
        let second = Instant::new((at + 500) * MS);
        assert!(codel.dequeue(second, &Open, &mut drops).is_some());
        assert!(codel.dequeue(second, &Open, &mut drops).is_some());
    }
    assert_eq!(drops, [], "one packet, which is less than an mtu, was behind the head");
}

#[test]
fn a_full_queue_drops_the_newcomer() {
    let mut codel = codel(Law::new(Bytes::new(1514)), 3);
    let mut drops = Vec::new();
    for id in 0..5 {
        let _ = codel.enqueue(Instant::ZERO, Marked { id, mark: false }, &mut drops);
    }
    let full = |id| (Marked { id, mark: false }, DropReason::QueueFull);
    assert_eq!(drops, [full(3), full(4)]);
    assert_eq!(codel.backlog().items, 3);
}

#[test]
fn the_gap_is_the_exact_quotient_rounded_down() {
    let mut random = Random::new(1);
    for _ in 0..10_000 {
        let interval = random.bits() >> (random.below(40) + 24);
        let count = 1 + (random.bits() >> (32 + random.below(32))) as u32;
        let law = Law { interval: Nanos::new(interval), ..Law::new(Bytes::ZERO) };
        let gap = u128::from(law.next(Instant::ZERO, count).get());
        let square = u128::from(interval).pow(2);
        assert!(gap * gap * u128::from(count) <= square, "{interval} / sqrt({count}) = {gap}");
        assert!((gap + 1) * (gap + 1) * u128::from(count) > square, "{interval} / sqrt({count}) = {gap}");
    }
    let law = Law { interval: Nanos::new(u64::MAX), ..Law::new(Bytes::ZERO) };
    assert_eq!(law.next(Instant::new(5), 1).get(), u64::MAX);
    assert_eq!(law.next(Instant::new(5), 4).get(), u64::MAX / 2 + 5);
}

/// The pseudo-code behind the contract.
struct Source<'a, I: Item + Copy> {
    law: Law<I::Cost>,
    limit: usize,
    naive: Naive<I>,
    dropped: &'a Cell<u64>,
}

impl<I: Sample> Discipline<I> for Source<'_, I> {
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if self.naive.queue.len() == self.limit {
            drops.dropped(item, DropReason::QueueFull);
        } else {
            self.naive.queue.push((item, now.get()));
        }
        Enqueued::Queued
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let before = self.naive.drops;
        let item = self.naive.dequeue(&self.law, now, gate, drops);
        self.dropped.set(self.dropped.get() + self.naive.drops - before);
        item.map(|item| Grant { item, quantum: item.cost() })
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        conformance::backlog_of(self.naive.queue.iter().map(|(item, _)| item))
    }
}

fn agrees<I: Sample>(law: Law<I::Cost>, limit: u64) -> u64 {
    let dropped = Cell::new(0);
    let source = || Source { law, limit: limit as usize, naive: Naive::new(), dropped: &dropped };
    conformance::agree::<I, _, _>(|| codel(law, limit), source, PROMISES);
    dropped.get()
}

#[test]
fn agrees_with_the_source() {
    for (target, interval, mtu) in
        [(3_000, 20_000, 0), (500, 5_000, 1514), (1, 100, 0), (20_000, 1_000, 3_000)]
    {
        let dropped = agrees::<Packet>(law(target, interval, mtu), 1000);
        assert!(dropped > 100, "{target} ns, {interval} ns: {dropped} drops");
    }
    for (target, interval) in [(50, 200), (10, 1_000), (300, 64)] {
        assert!(agrees::<Message<Packets>>(law(target, interval, 1), 20) > 100);
    }
}

#[test]
fn configurations_are_refused_with_value_and_bound() {
    let refused = |law, limit| {
        let error = Codel::<Packet>::new(law, Packets::new(limit)).expect_err("refused");
        error.to_string()
    };
    assert_eq!(refused(law(1, 1, 0), 0), "limit is 0pkt, must be from 1pkt to 16777216pkt");
    assert_eq!(refused(law(0, 1, 0), 1), "target is 0ns, must be at least 1ns");
    assert_eq!(refused(law(1, 0, 0), 1), "interval is 0ns, must be at least 1ns");
}

#[test]
fn specs_are_refused_with_value_and_bound() {
    let refused = |text: &str| {
        let spec = text.parse().expect("a spec");
        crate::registry::packet_discipline::<Packet>(&spec).err().map(|error| error.to_string())
    };
    let expected = "`codel`: target is `5`, must be a span such as 5ms, at least 1ns";
    assert_eq!(refused("codel:5").as_deref(), Some(expected));
    let expected = "`codel`: limit is `0pkt`, must be packets from 1pkt to 16777216pkt";
    assert_eq!(refused("codel:limit=0pkt").as_deref(), Some(expected));
    for text in
        ["codel:target=0ms", "codel:interval=0s", "codel:ecn=maybe", "codel:ce_threshold=1", "codel:mtu=9"]
    {
        assert!(refused(text).is_some(), "{text}");
    }
    assert_eq!(refused("codel:5ms,100ms,limit=1000pkt,ecn=yes,ce_threshold=1ms,mtu=1514B"), None);
}

#[test]
fn time_that_runs_backwards_or_ends_does_no_harm() {
    let mut codel = codel::<Packet>(law(1, u64::MAX, 0), 100);
    let packet = Packet { id: 0, flow: FlowId(0), class: ClassId(0), size: Bytes::new(9) };
    let drops = &mut CountDrops::default();
    for now in [u64::MAX, 0, u64::MAX, 5, u64::MAX] {
        let _ = codel.enqueue(Instant::new(now), packet, drops);
        let _ = codel.enqueue(Instant::new(now), packet, drops);
        let _ = codel.dequeue(Instant::new(now), &Open, drops);
    }
    assert_eq!(codel.backlog().items + drops.0, 5);
}
