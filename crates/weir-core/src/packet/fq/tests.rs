//! Schedules by hand, and the turns against the pseudo-code of elastic round robin.

use std::collections::VecDeque;

use super::*;
use crate::conformance::{self, Promises, Sample};
use crate::discipline::{CountDrops, Open};
use crate::item::{ClassId, FlowId, Message, Packet};
use crate::packet::codel::{Codel, Law};
use crate::packet::drr::{self, Drr};
use crate::packet::evicting::{Evicting, Lists};
use crate::packet::fifo::Fifo;
use crate::packet::flows::MAX_FLOWS;
use crate::packet::tbf::Tbf;
use crate::registry;
use crate::units::{Nanos, Packets, Rate};

const PROMISES: Promises = Promises { work_conserving: true, flow_order: true, resumable: false };

fn fq<I: Item, D: Discipline<I>, F: Fn() -> D>(make: F) -> Fq<I, D, F> {
    Fq::new(make, Config::default()).expect("valid")
}

fn codel<I: Item>() -> Codel<I> {
    let law = Law { target: Nanos::new(200), interval: Nanos::new(2_000), ..Law::new(I::Cost::of(2)) };
    Codel::new(law, Packets::new(8)).expect("valid")
}

fn drr<I: Item>() -> Drr<I> {
    Drr::new(drr::Config::new(I::Cost::of(500))).expect("valid")
}

fn shaped<I: Item<Cost = Bytes>>() -> Tbf<I, Codel<I>> {
    Tbf::new(codel(), Rate::new(1_000_000_000), Bytes::new(1514)).expect("valid")
}

conformance::suite!(conforms, || fq(Fifo::new), [work_conserving, flow_order, resumable]);
conformance::suite!(conforms_around_codel, || fq(codel), [work_conserving, flow_order]);
conformance::suite!(conforms_around_drr, || fq(drr), [work_conserving, flow_order]);
conformance::suite!(conforms_around_itself, || fq(|| fq(Fifo::new)), [work_conserving, flow_order]);
conformance::suite!(conforms_around_shapers: [Packet], || fq(shaped), [flow_order]);
conformance::suite!(
    conforms_with_bounds,
    || Fq::new(Fifo::new, Config { flows: 5, limits: limits(2, 5), by: By::Class, ..Config::default() })
        .expect("valid"),
    [work_conserving, flow_order, resumable]
);

fn limits(depth: u64, limit: u64) -> Limits {
    Limits { depth: Packets::new(depth), limit: Packets::new(limit) }
}

fn packet(id: u32, flow: u32, size: u64) -> Packet {
    Packet { id, flow: FlowId(flow), class: ClassId(0), size: Bytes::new(size) }
}

/// Enqueues packets of (flow, size), named in this order; the names of the dropped ones.
fn offer(fq: &mut dyn Discipline<Packet>, packets: &[(u32, u64)]) -> Vec<(u32, DropReason)> {
    let mut drops: Vec<(Packet, DropReason)> = Vec::new();
    for (id, &(flow, size)) in (0..).zip(packets) {
        assert_eq!(fq.enqueue(Instant::ZERO, packet(id, flow, size), &mut drops), Enqueued::Queued);
    }
    drops.into_iter().map(|(packet, reason)| (packet.id, reason)).collect()
}

/// The names of the next packets, as long as there are any.
fn serve(fq: &mut dyn Discipline<Packet>, at_most: usize) -> Vec<u32> {
    let drops = &mut CountDrops::default();
    let next = || fq.dequeue(Instant::ZERO, &Open, drops).map(|grant| grant.item.id);
    std::iter::from_fn(next).take(at_most).collect()
}

#[test]
fn equal_packets_take_turns() {
    let mut fq = fq(Fifo::new);
    let packets = [(0, 782), (0, 782), (0, 782), (1, 782), (2, 782), (2, 782)];
    assert_eq!(offer(&mut fq, &packets), []);
    assert_eq!(serve(&mut fq, 9), [0, 3, 4, 1, 5, 2]);
}

#[test]
fn allowances_follow_the_largest_surplus() {
    // Round 1: everybody may have one unit. Flow 0 has 1000, 999 too much; flow 1 has 100, 99 too much.
    // Round 2: flow 0 may have 1, and has 1000. Flow 1 may have 1 + 999 - 99 = 901: nine packets have 900,
    // so the tenth is served too. Both have had 1099 at most too much in bytes: 2000 against 1100.
    let mut fq = fq(Fifo::new);
    let mut packets = vec![(0, 1000); 4];
    packets.extend([(1, 100); 30]);
    assert_eq!(offer(&mut fq, &packets), []);
    let served = serve(&mut fq, 14);
    assert_eq!(served[..3], [0, 4, 1]);
    assert_eq!(served[3..13], [5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    assert_eq!(served[13], 2);
}

#[test]
fn a_flow_that_empties_joins_behind_the_others() {
    let mut fq = fq(Fifo::new);
    offer(&mut fq, &[(0, 500), (1, 500), (1, 500)]);
    assert_eq!(serve(&mut fq, 1), [0]);
    let mut drops = CountDrops::default();
    let _ = fq.enqueue(Instant::ZERO, packet(10, 2, 500), &mut drops);
    let _ = fq.enqueue(Instant::ZERO, packet(11, 0, 500), &mut drops);
    assert_eq!(serve(&mut fq, 9), [1, 10, 11, 2]);
}

#[test]
fn a_newcomer_joins_behind_the_flow_in_service() {
    let mut fq = fq(Fifo::new);
    offer(&mut fq, &[(0, 500), (0, 500), (0, 500)]);
    assert_eq!(serve(&mut fq, 1), [0]);
    let _ = fq.enqueue(Instant::ZERO, packet(10, 1, 500), &mut CountDrops::default());
    assert_eq!(serve(&mut fq, 9), [1, 10, 2]);
}

#[test]
fn a_queue_has_its_depth_and_the_table_its_size() {
    let config = Config { flows: 2, limits: limits(2, 3), ..Config::default() };
    let mut fq = Fq::new(Fifo::new, config).expect("valid");
    let packets = [(0, 1), (0, 1), (0, 1), (1, 1), (1, 1), (2, 1), (u32::MAX, 1)];
    let (full, unknown) = (DropReason::QueueFull, DropReason::Unclassified);
    assert_eq!(offer(&mut fq, &packets), [(2, full), (4, full), (5, unknown), (6, unknown)]);
    assert_eq!(fq.backlog().items, 3);
}

#[test]
fn it_sleeps_until_the_first_of_its_shapers_wakes() {
    // Each flow has 8 Mbit/s, one byte in a microsecond, and a bucket of one packet. The second packets of
    // flow 0 and flow 1 leave 1000 and 400 microseconds after their first.
    let shaper = || Tbf::new(Fifo::new(), Rate::new(8_000_000), Bytes::new(1000)).expect("valid");
    let mut fq = fq(shaper);
    offer(&mut fq, &[(0, 1000), (0, 1000), (1, 700), (1, 700)]);
    let (mut left, mut now) = (Vec::new(), Instant::ZERO);
    while !fq.backlog().is_empty() {
        match fq.dequeue(now, &Open, &mut CountDrops::default()) {
            Some(grant) => left.push((grant.item.id, now.get())),
            None => now = fq.next_event().expect("packets are held"),
        }
    }
    assert_eq!(left, [(0, 0), (2, 0), (3, 400_000), (1, 1_000_000)]);
    assert_eq!(fq.next_event(), None);
}

#[test]
fn backlogged_flows_stay_within_three_largest_packets() {
    let largest = [1500, 64, 700, 300];
    let mut random = conformance::Random::new(5);
    let mut fq = fq(Fifo::new);
    let flow_of = |id: u32| (id % 4) as usize;
    let sizes: Vec<u64> = (0..80_000).map(|id| 1 + random.below(largest[flow_of(id)])).collect();
    let packets: Vec<(u32, u64)> = (0_u32..).zip(&sizes).map(|(id, &size)| (id % 4, size)).collect();
    offer(&mut fq, &packets);
    let mut sent = [0_u64; 4];
    // Flow 1 has 640 KB at most, about 20,000 packets.
    for id in serve(&mut fq, 15_000) {
        sent[flow_of(id)] += sizes[id as usize];
        let (least, most) = (sent.iter().min().unwrap_or(&0), sent.iter().max().unwrap_or(&0));
        assert!(most - least < 3 * 1500, "{sent:?}");
    }
}

/// The pseudo-code of elastic round robin, which looks at a queue when it decides anew; a flow that the gate
/// holds back goes to the end of the list without surplus.
struct Source<I> {
    queues: Vec<VecDeque<I>>,
    active: VecDeque<usize>,
    surplus: Vec<i128>,
    visits: usize,
    previous: i128,
    largest: i128,
    /// The flow being served, its allowance, what it has sent.
    current: Option<(usize, i128, i128)>,
}

impl<I> Source<I> {
    fn new() -> Self {
        let queues = (0..8).map(|_| VecDeque::new()).collect();
        let (active, surplus, current) = (VecDeque::new(), vec![0; 8], None);
        Self { queues, active, surplus, visits: 0, previous: 0, largest: 0, current }
    }
}

impl<I: Sample> Discipline<I> for Source<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        let i = item.flow().0 as usize;
        self.queues[i].push_back(item);
        if !self.active.contains(&i) && self.current.is_none_or(|(current, ..)| current != i) {
            self.active.push_back(i);
        }
        Enqueued::Queued
    }

    fn dequeue(&mut self, _: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let mut held = 0;
        loop {
            if self.current.is_none() {
                if self.visits == 0 {
                    (self.visits, self.previous, self.largest) = (self.active.len(), self.largest, 0);
                }
                let i = self.active.pop_front()?;
                self.current = Some((i, 1 + (self.previous - self.surplus[i]).max(0), 0));
            }
            let (i, allowance, sent) = self.current?;
            let head = self.queues[i].front().copied().filter(|head| gate.permits(head));
            let sent = sent + head.map_or(0, |head| i128::from(head.cost().count()));
            if head.is_some() {
                self.queues[i].pop_front();
            }
            if head.is_some() && sent < allowance && !self.queues[i].is_empty() {
                self.current = Some((i, allowance, sent));
                return head.map(|item| Grant { item, quantum: item.cost() });
            }
            let surplus = (sent - allowance).max(0);
            self.largest = self.largest.max(surplus);
            self.visits -= 1;
            self.current = None;
            self.surplus[i] = 0;
            if !self.queues[i].is_empty() {
                self.surplus[i] = surplus;
                self.active.push_back(i);
            }
            if self.active.is_empty() {
                (self.visits, self.previous, self.largest) = (0, 0, 0);
            }
            if head.is_some() {
                return head.map(|item| Grant { item, quantum: item.cost() });
            }
            held += 1;
            if held >= self.active.len() {
                return None;
            }
        }
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        conformance::backlog_of(self.queues.iter().flatten())
    }
}

#[test]
fn agrees_with_the_source() {
    conformance::agree::<Packet, _, _>(|| fq(Fifo::new), Source::new, PROMISES);
    conformance::agree::<Message, _, _>(|| fq(Fifo::new), Source::new, PROMISES);
}

impl<I> Lists<I> for Source<I> {
    fn lengths(&self) -> Vec<usize> {
        self.queues.iter().map(VecDeque::len).collect()
    }

    /// A queue loses what it would give next.
    fn evict(&mut self, flow: usize) -> Option<I> {
        self.queues[flow].pop_front()
    }
}

fn evicting<I: Item, D: Discipline<I>, F: Fn() -> D>(make: F, limit: u64) -> Fq<I, D, F> {
    let limits = Limits { limit: Packets::new(limit), ..Limits::NONE };
    Fq::new(make, Config { limits, full: Full::Longest, ..Config::default() }).expect("valid")
}

conformance::suite!(conforms_evicting, || evicting(Fifo::new, 5), [work_conserving, flow_order]);
conformance::suite!(conforms_evicting_around_codel, || evicting(codel, 5), [work_conserving, flow_order]);
conformance::suite!(conforms_evicting_around_drr, || evicting(drr, 5), [work_conserving, flow_order]);
conformance::suite!(conforms_evicting_around_shapers: [Packet], || evicting(shaped, 5), [flow_order]);

#[test]
fn agrees_with_the_source_where_the_longest_queue_gives_way() {
    for limit in [3, 5, 16] {
        let naive = || Evicting::new(Source::new(), limit);
        conformance::agree::<Packet, _, _>(|| evicting(Fifo::new, limit as u64), naive, PROMISES);
        let naive = || Evicting::new(Source::new(), limit);
        conformance::agree::<Message, _, _>(|| evicting(Fifo::new, limit as u64), naive, PROMISES);
    }
}

/// One packet from each queue that has one, in turn.
struct Turns {
    queues: Vec<VecDeque<Packet>>,
    turns: VecDeque<usize>,
}

impl Turns {
    fn enqueue(&mut self, packet: Packet) {
        let flow = packet.flow.0 as usize;
        if self.queues[flow].is_empty() {
            self.turns.push_back(flow);
        }
        self.queues[flow].push_back(packet);
    }

    fn dequeue(&mut self) -> Option<u32> {
        let flow = self.turns.pop_front()?;
        let packet = self.queues[flow].pop_front()?;
        if !self.queues[flow].is_empty() {
            self.turns.push_back(flow);
        }
        Some(packet.id)
    }
}

#[test]
fn equal_packets_make_it_packet_round_robin_and_sfq_without_collisions() {
    for size in [1, 64, 782, 1514, 9000] {
        let mut random = conformance::Random::new(size);
        let mut fq = fq(Fifo::<Packet>::new);
        let sfq = "sfq:queues=6,depth=16777216pkt,map=0/1/2/3/4/5".parse().expect("a spec");
        let mut sfq = registry::packet_discipline::<Packet>(&sfq).expect("valid");
        let mut turns = Turns { queues: vec![VecDeque::new(); 6], turns: VecDeque::new() };
        let drops = &mut CountDrops::default();
        for id in 0..20_000 {
            // Nearly as often served as offered, so that flows come and go.
            if random.below(100) < 52 {
                let next = turns.dequeue();
                assert_eq!(fq.dequeue(Instant::ZERO, &Open, drops).map(|grant| grant.item.id), next);
                assert_eq!(sfq.dequeue(Instant::ZERO, &Open, drops).map(|grant| grant.item.id), next);
            } else {
                let packet = packet(id, random.below(6) as u32, size);
                let _ = (fq.enqueue(Instant::ZERO, packet, drops), sfq.enqueue(Instant::ZERO, packet, drops));
                turns.enqueue(packet);
            }
        }
    }
}

#[test]
fn configurations_are_refused_with_value_and_bound() {
    let refused = |limits, flows| {
        let config = Config { flows, limits, ..Config::default() };
        Fq::<Packet, _, _>::new(Fifo::<Packet>::new, config).err().map(|error| error.to_string())
    };
    assert_eq!(refused(limits(0, 1), 1).as_deref(), Some("depth is 0pkt, must be at least 1pkt"));
    assert_eq!(refused(limits(1, 0), 1).as_deref(), Some("limit is 0pkt, must be at least 1pkt"));
    assert_eq!(refused(limits(1, 1), 0).as_deref(), Some("flows is 0, must be from 1 to 1048576"));
    assert!(refused(Limits::NONE, MAX_FLOWS + 1).is_some());
    assert_eq!(refused(Limits::NONE, MAX_FLOWS), None);
}

#[test]
fn specs_are_refused_with_value_and_bound() {
    let refused = |text: &str| {
        let spec = text.parse().expect("a spec");
        registry::packet_discipline::<Packet>(&spec).err().map(|error| error.to_string())
    };
    for text in [
        "fq",
        "fq:depth=100pkt",
        "fq:depth=none",
        "fq(codel:target=5ms)",
        "fq(fq(drr:500B),flows=9)",
        "fq(sfq,by=class)",
    ] {
        assert_eq!(refused(text), None, "{text}");
    }
    let depth = "`fq`: depth is `0pkt`, must be packets such as 100pkt, at least 1pkt, or `none`";
    assert_eq!(refused("fq:depth=0pkt").as_deref(), Some(depth));
    let target = "`codel`: target is `5`, must be a span such as 5ms, at least 1ns";
    assert_eq!(refused("fq(codel:target=5)").as_deref(), Some(target), "the error of the child");
    assert!(refused("fq:codle").is_some_and(|error| error.contains("did you mean `codel`?")));
    assert!(refused("fq:flows=0").is_some());
}
