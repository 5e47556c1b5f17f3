//! Schedules by hand, and the shaper against the definition of its envelope.

use std::collections::VecDeque;

use super::*;
use crate::conformance::{self, Promises, Sample};
use crate::discipline::{CountDrops, Open};
use crate::item::{ClassId, FlowId, Packet};
use crate::packet::codel::{Codel, Law};
use crate::packet::drr::{Config, Drr};
use crate::packet::fifo::Fifo;
use crate::packet::fq::{self, Fq};
use crate::packet::priority::Priority;
use crate::units::{Cost, Nanos, Packets};

const PROMISES: Promises = Promises { work_conserving: false, flow_order: true, resumable: false };

fn tbf<I: Item<Cost = Bytes>, D: Discipline<I>>(child: D, rate: u64, burst: u64) -> Tbf<I, D> {
    Tbf::new(child, Rate::new(rate), Bytes::new(burst)).expect("valid")
}

fn packet(id: u32, size: u64) -> Packet {
    Packet { id, flow: FlowId(0), class: ClassId(0), size: Bytes::new(size) }
}

fn drr<I: Item<Cost = Bytes>>() -> Drr<I> {
    Drr::new(Config::new(Bytes::new(2048))).expect("valid")
}

conformance::suite!(conforms: [Packet], || tbf(drr(), 3_000_000_000, 3028), [flow_order]);
conformance::suite!(conforms_when_slow: [Packet], || tbf(Fifo::new(), 7_000_001, 1514), [flow_order]);
conformance::suite!(conforms_when_fast: [Packet], || tbf(drr(), 40_000_000_000, 1514), [flow_order]);
conformance::suite!(
    conforms_around_another: [Packet],
    || tbf(tbf(drr(), 2_000_000_000, 1600), 3_000_000_000, 9000),
    [flow_order]
);
conformance::suite!(conforms_when_it_drops: [Packet], || tbf(drr(), 3_000_000_000, 700), [flow_order]);

#[test]
fn configurations_are_refused_with_value_and_bound() {
    let refused = |rate, burst| {
        let error = Tbf::<Packet, _>::new(Fifo::new(), Rate::new(rate), Bytes::new(burst)).err();
        error.map(|error| (error, error.to_string()))
    };
    let rate = (ConfigError::Rate(Rate::new(0)), "rate is 0bit, must be at least 1bit".to_owned());
    assert_eq!(refused(0, 1), Some(rate));
    let burst = (ConfigError::Burst(Bytes::new(0)), "burst is 0B, must be at least 1B".to_owned());
    assert_eq!(refused(1, 0), Some(burst));
}

#[test]
fn specs_are_refused_with_value_and_bound() {
    let refused = |text: &str| {
        let spec = text.parse().expect("a spec");
        crate::registry::packet_discipline::<Packet>(&spec).err().map(|error| error.to_string())
    };
    let expected = "`tbf`: rate is `0Mbit`, must be a rate such as 10Mbit, at least 1bit";
    assert_eq!(refused("tbf(fifo,rate=0Mbit,burst=1514B)").as_deref(), Some(expected));
    assert!(refused("tbf(fifo,rate=1Mbit,burst=0B)").is_some());
    assert!(refused("tbf(fifo,rate=1Mbit)").is_some());
    assert!(refused("tbf(alpha,rate=1Mbit,burst=1514B)").is_some(), "no discipline of packets");
    assert_eq!(refused("tbf(tbf(fifo,rate=1Mbit,burst=1514B),rate=1Mbit,burst=1514B)"), None);
}

#[test]
fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
    // 8 Mbit/s is one byte in a microsecond. The bucket holds 1500 bytes: the first packet takes 1000,
    // the second lacks 500 and leaves at 500 us, the third lacks all of its 1000 then.
    let mut tbf = tbf(Fifo::new(), 8_000_000, 1500);
    let drops = &mut CountDrops::default();
    for id in 0..3 {
        assert_eq!(tbf.enqueue(Instant::ZERO, packet(id, 1000), drops), Enqueued::Queued);
    }
    let mut left = Vec::new();
    let mut now = Instant::ZERO;
    while !tbf.backlog().is_empty() {
        match tbf.dequeue(now, &Open, drops) {
            Some(grant) => left.push((grant.item.id, now.get())),
            None => now = tbf.next_event().expect("a packet is held"),
        }
    }
    assert_eq!(left, [(0, 0), (1, 500_000), (2, 1_500_000)]);
    assert_eq!(tbf.next_event(), None);
}

#[test]
fn release_is_the_first_nanosecond_with_enough_tokens() {
    // 3 bit/s: 8 bits take 2 666 666 666.67 ns; after 8 more bits exactly 16/3 s have passed.
    let mut tbf = tbf(Fifo::new(), 3, 1);
    let drops = &mut CountDrops::default();
    for id in 0..3 {
        assert_eq!(tbf.enqueue(Instant::ZERO, packet(id, 1), drops), Enqueued::Queued);
    }
    assert!(tbf.dequeue(Instant::ZERO, &Open, drops).is_some());
    assert_eq!(tbf.dequeue(Instant::ZERO, &Open, drops), None);
    let second = Instant::new(2_666_666_667);
    assert_eq!(tbf.next_event(), Some(second));
    assert_eq!(tbf.dequeue(Instant::new(2_666_666_666), &Open, drops), None);
    assert!(tbf.dequeue(second, &Open, drops).is_some());
    assert_eq!(tbf.dequeue(second, &Open, drops), None);
    // The bucket holds one byte, and what accrued within the last nanosecond is not lost.
    assert_eq!(tbf.next_event(), Some(Instant::new(5_333_333_334)));
}

#[test]
fn a_packet_larger_than_the_burst_is_dropped() {
    let mut tbf = tbf(Fifo::new(), 8_000_000, 1500);
    let mut drops = Vec::new();
    assert_eq!(tbf.enqueue(Instant::ZERO, packet(0, 1501), &mut drops), Enqueued::Queued);
    assert_eq!(drops, [(packet(0, 1501), DropReason::TooLarge)]);
    assert!(tbf.backlog().is_empty());
}

#[test]
fn the_held_packet_asks_the_gate_again() {
    let mut tbf = tbf(Fifo::new(), 8_000_000, 1500);
    let drops = &mut CountDrops::default();
    for id in 0..2 {
        assert_eq!(tbf.enqueue(Instant::ZERO, packet(id, 1000), drops), Enqueued::Queued);
    }
    assert!(tbf.dequeue(Instant::ZERO, &Open, drops).is_some());
    assert_eq!(tbf.dequeue(Instant::ZERO, &Open, drops), None);
    assert_eq!((tbf.backlog().items, tbf.backlog().cost), (1, Bytes::new(1000)));
    let due = tbf.next_event().expect("a packet is held");
    assert_eq!(tbf.dequeue(due, &Closed, drops), None);
    assert_eq!(tbf.next_event(), None, "only the gate holds it now");
    assert_eq!(tbf.dequeue(due, &Open, drops).map(|grant| grant.item.id), Some(1));
}

/// First in, first out under the envelope itself: whatever departure `j` one counts from, the bytes up to
/// and with packet `k` are at most the burst and what the rate gives since then.
struct Envelope<I> {
    queue: VecDeque<I>,
    left: Vec<(Instant, u64)>,
    release: Option<Instant>,
    rate: u64,
    burst: u64,
}

impl<I: Sample> Envelope<I> {
    fn new(rate: u64, burst: u64) -> Self {
        Self { queue: VecDeque::new(), left: Vec::new(), release: None, rate, burst }
    }

    fn conforms_at(&self, size: u64) -> u64 {
        let mut bytes = u128::from(size);
        let mut at = 0;
        for (departure, size) in self.left.iter().rev() {
            bytes += u128::from(*size);
            let excess = bytes.saturating_sub(u128::from(self.burst)) * 8_000_000_000;
            let wait = excess.div_ceil(u128::from(self.rate));
            at = at.max(departure.get() + u64::try_from(wait).expect("short plans"));
        }
        at
    }
}

impl<I: Sample<Cost = Bytes>> Discipline<I> for Envelope<I> {
    fn enqueue(&mut self, _now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        if item.cost().get() > self.burst {
            drops.dropped(item, DropReason::TooLarge);
        } else {
            self.queue.push_back(item);
        }
        Enqueued::Queued
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.release = None;
        let item = *self.queue.front()?;
        if !gate.permits(&item) {
            return None;
        }
        let at = Instant::new(self.conforms_at(item.cost().get()));
        if at > now {
            self.release = Some(at);
            return None;
        }
        self.left.push((now, item.cost().get()));
        self.queue.pop_front();
        Some(Grant { item, quantum: item.cost() })
    }

    fn next_event(&self) -> Option<Instant> {
        self.release
    }

    fn backlog(&self) -> Backlog<Bytes> {
        conformance::backlog_of(self.queue.iter())
    }
}

#[test]
fn agrees_with_the_envelope() {
    for (rate, burst) in [(3_000_000_000, 3028), (7_000_001, 1514), (999_999_937, 64), (8_000_000_000, 1)] {
        let shaper = || tbf(Fifo::new(), rate, burst);
        conformance::agree::<Packet, _, _>(shaper, || Envelope::new(rate, burst), PROMISES);
    }
}

/// CoDel for packets that wait microseconds.
fn codel<I: Item>() -> Codel<I> {
    let law = Law { target: Nanos::new(500), interval: Nanos::new(5_000), ..Law::new(I::Cost::of(2)) };
    Codel::new(law, Packets::new(1000)).expect("valid")
}

fn fq<I: Item>() -> impl Discipline<I> {
    Fq::new(codel, fq::Config::default()).expect("valid")
}

fn shaped_bands<I: Item<Cost = Bytes>>() -> impl Discipline<I> {
    Priority::new(3, |_| tbf(codel(), 1_000_000_000, 1514)).expect("valid")
}

conformance::suite!(conforms_around_codel: [Packet], || tbf(codel(), 2_000_000_000, 3028), [flow_order]);
conformance::suite!(conforms_around_fq_of_codel: [Packet], || tbf(fq(), 2_000_000_000, 3028), [flow_order]);
conformance::suite!(conforms_around_shapers: [Packet], || tbf(shaped_bands(), 2_000_000_000, 3028), [flow_order]);

#[test]
fn a_child_sees_the_time_and_the_held_packet_waits_outside() {
    // 800 kbit/s are 1000 bytes in 10 ms, which is also the burst; CoDel is asked for the next packet as soon
    // as there is none held. Of a thousand packets at 0 ms, 0 leaves at once, and 1 is held until 10 ms.
    // Packet 2 is asked for at 10 ms and is the first above the target; at 110 ms an interval has passed:
    // packet 12 is dropped, 13 held until 120 ms. The second drop is due at 210 ms: packet 23.
    let law = Law::new(Bytes::new(1514));
    let mut tbf = tbf(Codel::new(law, Packets::new(1000)).expect("valid"), 800_000, 1000);
    let mut drops = Vec::new();
    for id in 0..1000 {
        let _ = tbf.enqueue(Instant::ZERO, packet(id, 1000), &mut drops);
    }
    let (mut left, mut now) = (Vec::new(), Instant::ZERO);
    while left.len() < 23 {
        match tbf.dequeue(now, &Open, &mut drops) {
            Some(grant) => left.push((grant.item.id, now.get() / 1_000_000)),
            None => now = tbf.next_event().expect("a packet is held"),
        }
    }
    assert_eq!(left[..3], [(0, 0), (1, 10), (2, 20)]);
    assert_eq!(left[10..14], [(10, 100), (11, 110), (13, 120), (14, 130)]);
    assert_eq!(left[20..], [(21, 200), (22, 210), (24, 220)]);
    let dropped: Vec<u32> = drops.into_iter().map(|(packet, _)| packet.id).collect();
    assert_eq!(dropped, [12, 23]);
}
