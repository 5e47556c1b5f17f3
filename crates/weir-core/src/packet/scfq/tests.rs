//! Schedules by hand, self-clocked fair queueing against its paper's definition, and its fairness.

use std::collections::VecDeque;

use super::*;
use crate::conformance::{self, Promises};
use crate::discipline::CountDrops;
use crate::item::Packet;
use crate::packet::evicting::{Evicting, Lists};
use crate::packet::limits::{Full, Limits};
use crate::packet::testing::{Sent, arrivals, order, packet, random_arrivals, transmit};
use crate::units::{Bytes, Packets};

const PROMISES: Promises = Promises { work_conserving: true, flow_order: true, resumable: false };

fn scfq<I: Item>(weights: &[u64]) -> Scfq<I> {
    let weights = weights.iter().map(|&weight| Weight::new(weight)).collect();
    Scfq::new(Config { weights, ..Config::default() }).expect("valid")
}

conformance::suite!(conforms, || scfq(&[]), [work_conserving, flow_order]);
conformance::suite!(conforms_with_weights, || scfq(&[65_535, 3, 1, 7]), [work_conserving, flow_order]);

#[test]
fn a_newcomer_starts_at_the_tag_in_service() {
    // Packets 0 and 1 of flow 0 have the tags 100 and 200. While packet 0 is sent virtual time is 100: the
    // newcomers of flows 1 and 2 have 100 + 50 and 100 + 120.
    let packets = arrivals(&[(0, 0, 100), (0, 0, 100), (10, 2, 120), (20, 1, 50)]);
    assert_eq!(order(&mut scfq(&[]), &packets), [0, 3, 1, 2]);
}

#[test]
fn weights_divide_sizes() {
    // Tags: flow 0, weight 2: 50, 100, 150, 200; flow 1: 90, 180.
    let packets = arrivals(&[(0, 0, 100), (0, 0, 100), (0, 0, 100), (0, 0, 100), (0, 1, 90), (0, 1, 90)]);
    assert_eq!(order(&mut scfq(&[2, 1]), &packets), [0, 4, 1, 2, 5, 3]);
}

/// Permits all flows but one.
struct Without(u32);

impl Gate<Packet> for Without {
    fn permits(&self, head: &Packet) -> bool {
        head.flow.0 != self.0
    }
}

#[test]
fn a_flow_held_back_does_not_catch_up() {
    let (mut scfq, mut drops) = (scfq(&[]), CountDrops(0));
    for id in 0..12 {
        let _ = scfq.enqueue(Instant::ZERO, packet(id, id as u32 % 2, 100), &mut drops);
    }
    let mut serve = |gate: &dyn Gate<Packet>, times: usize| -> Vec<u32> {
        let next = |_| scfq.dequeue(Instant::ZERO, gate, &mut drops).map(|grant| grant.item.flow.0);
        (0..times).filter_map(next).collect()
    };
    // Flow 0 has the tags 100, 200, ... and is held back while flow 1 is served up to the tag 400; then both
    // take turns again.
    assert_eq!(serve(&Without(0), 4), [1, 1, 1, 1]);
    assert_eq!(serve(&crate::discipline::Open, 5), [0, 1, 0, 1, 0]);
}

/// The paper's definition: a tag for each packet at its arrival, and the least of all is served.
#[derive(Default)]
struct Paper {
    queues: [VecDeque<(u64, Packet)>; 8],
    last: [u64; 8],
    now: u64,
    weights: [u64; 8],
}

impl Discipline<Packet> for Paper {
    fn enqueue(&mut self, _now: Instant, item: Packet, _drops: &mut dyn Drops<Packet>) -> Enqueued {
        let flow = item.flow().0 as usize;
        let service = (item.size.get() << 20) / self.weights[flow];
        self.last[flow] = self.last[flow].max(self.now) + service;
        self.queues[flow].push_back((self.last[flow], item));
        Enqueued::Queued
    }

    fn dequeue(
        &mut self,
        _: Instant,
        _: &dyn Gate<Packet>,
        _: &mut dyn Drops<Packet>,
    ) -> Option<Grant<Packet>> {
        let heads = self.queues.iter().enumerate().filter_map(|(flow, queue)| Some((queue.front()?.0, flow)));
        let (tag, flow) = heads.min()?;
        self.now = tag;
        let (_, item) = self.queues[flow].pop_front()?;
        Some(Grant { item, quantum: item.cost() })
    }

    fn backlog(&self) -> Backlog<Bytes> {
        conformance::backlog_of(self.queues.iter().flatten().map(|(_, item)| item))
    }
}

#[test]
fn agrees_with_the_paper() {
    for weights in [[1; 8], [1, 2, 4, 8, 16, 1, 2, 32_768]] {
        for plan in conformance::plans::<Packet>(3).filter(|plan| plan.gates.is_empty()) {
            let mut paper = Paper { weights, ..Paper::default() };
            conformance::drive(&plan, PROMISES, &mut scfq::<Packet>(&weights), &mut paper);
        }
    }
}

impl Lists<Packet> for Paper {
    fn lengths(&self) -> Vec<usize> {
        self.queues.iter().map(VecDeque::len).collect()
    }

    /// The next packet of the flow follows on the one that is last now.
    fn evict(&mut self, flow: usize) -> Option<Packet> {
        let (_, item) = self.queues[flow].pop_back()?;
        self.last[flow] = self.queues[flow].back()?.0;
        Some(item)
    }
}

fn evicting<I: Item>(weights: &[u64], limit: u64) -> Scfq<I> {
    let weights = weights.iter().map(|&weight| Weight::new(weight)).collect();
    let limits = Limits { limit: Packets::new(limit), ..Limits::NONE };
    Scfq::new(Config { weights, limits, full: Full::Longest, ..Config::default() }).expect("valid")
}

conformance::suite!(conforms_evicting, || evicting(&[], 5), [work_conserving, flow_order]);

#[test]
fn agrees_with_the_paper_where_the_longest_queue_gives_way() {
    for (weights, limit) in [([1; 8], 5), ([1, 2, 4, 8, 16, 1, 2, 32_768], 12)] {
        for plan in conformance::plans::<Packet>(3).filter(|plan| plan.gates.is_empty()) {
            let mut paper = Evicting::new(Paper { weights, ..Paper::default() }, limit);
            let mut scfq = evicting::<Packet>(&weights, limit as u64);
            conformance::drive(&plan, PROMISES, &mut scfq, &mut paper);
        }
    }
}

/// By how much the service over weight of two flows that are always backlogged differs at most.
fn unfairness(sent: &[Sent], weights: &[u64], i: usize, j: usize) -> f64 {
    let (mut difference, mut low, mut high) = (0.0_f64, 0.0_f64, 0.0_f64);
    for packet in sent.iter().take_while(|packet| packet.backlogged >> i & packet.backlogged >> j & 1 == 1) {
        let service = packet.size as f64 / weights[packet.flow] as f64;
        difference += if packet.flow == i { service } else { 0.0 };
        difference -= if packet.flow == j { service } else { 0.0 };
        (low, high) = (low.min(difference), high.max(difference));
    }
    high - low
}

/// Golestani, INFOCOM '94, on the fairness of the scheme: while flows i and j are backlogged, service over
/// weight differs by at most `Li/wi + Lj/wj`.
#[test]
fn service_over_weight_differs_by_a_packet_each() {
    let weights = [5, 3, 1, 1, 2, 7];
    let mut proper = 0;
    for seed in 0..40 {
        // Flows 0 to 2 have enough from the start, the others come and go.
        let mut packets = random_arrivals(seed, 3, 60, 600);
        packets.iter_mut().for_each(|packet| packet.flow += 3);
        let always = random_arrivals(seed + 1_000, 3, 60, 2_400);
        packets.splice(
            0..0,
            always.into_iter().map(|packet| crate::packet::testing::Arrival { at: 0, ..packet }),
        );
        let sent = transmit(&mut scfq(&weights), &packets);
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let bound = 1514.0 / weights[i] as f64 + 1514.0 / weights[j] as f64;
            let measured = unfairness(&sent, &weights, i, j);
            // Tags are rounded by 2^-19 bytes a packet.
            assert!(measured <= bound + 0.01, "flows {i} and {j}: {measured} against {bound}");
            proper += u32::from(measured > 0.6 * bound);
        }
    }
    assert!(proper > 20, "the bound is not put to the test: {proper}");
}

#[test]
fn tags_are_set_back_without_a_trace() {
    // A packet of 2^32 - 1 bytes takes 2^52 of virtual time, so a thousand of them reach the ceiling, 2^62.
    let (mut scfq, mut drops) = (scfq::<Packet>(&[1, 1, 2]), CountDrops(0));
    let mut counts = [0_u32; 3];
    for id in 0..6 {
        let _ = scfq.enqueue(Instant::ZERO, packet(id, id as u32 % 3, u64::MAX), &mut drops);
    }
    for id in 0..8_000 {
        let grant = scfq.dequeue(Instant::ZERO, &crate::discipline::Open, &mut drops).expect("one waits");
        counts[grant.item.flow.0 as usize] += 1;
        let _ = scfq.enqueue(Instant::ZERO, packet(id, grant.item.flow.0, u64::MAX), &mut drops);
        assert!(scfq.now <= Tag(1 << 62), "{:?}", scfq.now);
    }
    assert!(counts[0].abs_diff(2_000) <= 1 && counts[1].abs_diff(2_000) <= 1, "{counts:?}");
}
