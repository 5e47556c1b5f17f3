//! Schedules by hand, WF2Q+ against its definition, and the bounds of its paper.

use std::collections::VecDeque;

use super::*;
use crate::conformance::{self, Promises};
use crate::discipline::{CountDrops, Open};
use crate::item::Packet;
use crate::packet::evicting::{Evicting, Lists};
use crate::packet::limits::{Full, Limits};
use crate::packet::testing::{Arrival, arrivals, flow_order, order, packet, random_arrivals, transmit};
use crate::units::{Bytes, Packets};

const PROMISES: Promises = Promises { work_conserving: true, flow_order: true, resumable: false };

fn wf2q_plus<I: Item>(weights: &[u64]) -> Wf2qPlus<I> {
    let weights = weights.iter().map(|&weight| Weight::new(weight)).collect();
    Wf2qPlus::new(Config { weights, ..Config::default() }).expect("valid")
}

conformance::suite!(conforms, || wf2q_plus(&[]), [work_conserving, flow_order]);
conformance::suite!(conforms_with_weights, || wf2q_plus(&[65_535, 3, 1, 7]), [work_conserving, flow_order]);

/// The example of Bennett and Zhang, *WF2Q: worst-case fair weighted fair queueing*, INFOCOM '96: one flow
/// has half of the link and eleven packets, each of ten others a twentieth and one packet.
#[test]
fn service_is_interleaved() {
    let weights = [10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    let packets: Vec<_> = [0; 11].into_iter().chain(1..=10).map(|flow| (0, flow, 100)).collect();
    // Each packet adds 100 / 20 to virtual time. Flow 0 starts its packets at 0, 10, 20, ..., so that it is
    // eligible before every other packet only; in between it is the turn of the others, which finish at 100.
    let expected: Vec<_> = (1..=10).flat_map(|other| [0, other]).chain([0]).collect();
    assert_eq!(flow_order(&mut wf2q_plus(&weights), &arrivals(&packets)), expected);
}

#[test]
fn virtual_time_jumps_to_the_smallest_start() {
    // Flow 0, alone, sends 100 and 100: virtual time is 200. Flow 1 comes during the second packet: it
    // starts at 200 and finishes at 290; flow 0 goes on at 200 and finishes at 300. The sum of weights is 2
    // from now on: after the 90 bytes virtual time is 245, and packet 2 (200 to 300) is before packet 5 of
    // flow 1, which starts at 290 and is not eligible although it finishes at 295.
    let packets = arrivals(&[(0, 0, 100), (0, 0, 100), (0, 0, 100), (0, 0, 100), (150, 1, 90), (150, 1, 5)]);
    assert_eq!(order(&mut wf2q_plus(&[]), &packets), [0, 1, 4, 2, 5, 3]);
}

/// The definition, searched: start and finish of every flow's first packet.
#[derive(Default)]
struct Searched {
    queues: [VecDeque<Packet>; 8],
    start: [u64; 8],
    finish: [u64; 8],
    seen: [bool; 8],
    weights: [u64; 8],
    serving: Option<usize>,
    /// Virtual time, and what has been served of its next unit.
    now: u64,
    rest: u64,
}

impl Searched {
    fn begin(&mut self, flow: usize, start: u64) {
        if let Some(head) = self.queues[flow].front() {
            self.start[flow] = start;
            self.finish[flow] = start + (head.size.get() << 20) / self.weights[flow];
        }
    }
}

impl Discipline<Packet> for Searched {
    fn enqueue(&mut self, _now: Instant, item: Packet, _drops: &mut dyn Drops<Packet>) -> Enqueued {
        let flow = item.flow().0 as usize;
        self.seen[flow] = true;
        self.queues[flow].push_back(item);
        if self.queues[flow].len() == 1 {
            let earliest = if self.serving == Some(flow) { 0 } else { self.now };
            self.begin(flow, self.finish[flow].max(earliest));
        }
        Enqueued::Queued
    }

    fn dequeue(
        &mut self,
        _: Instant,
        _: &dyn Gate<Packet>,
        _: &mut dyn Drops<Packet>,
    ) -> Option<Grant<Packet>> {
        self.serving = None;
        let active: Vec<_> = (0..8).filter(|&flow| !self.queues[flow].is_empty()).collect();
        self.now = self.now.max(active.iter().map(|&flow| self.start[flow]).min()?);
        let eligible = active.into_iter().filter(|&flow| self.start[flow] <= self.now);
        let flow = eligible.min_by_key(|&flow| (self.finish[flow], flow))?;
        let item = self.queues[flow].pop_front()?;
        let all: u64 = (0..8).filter(|&flow| self.seen[flow]).map(|flow| self.weights[flow]).sum();
        let work = (item.size.get() << 20) + self.rest;
        (self.now, self.rest) = (self.now + work / all, work % all);
        self.begin(flow, self.finish[flow]);
        self.serving = Some(flow);
        Some(Grant { item, quantum: item.cost() })
    }

    fn backlog(&self) -> Backlog<Bytes> {
        conformance::backlog_of(self.queues.iter().flatten())
    }
}

#[test]
fn agrees_with_a_search() {
    for weights in [[1; 8], [1, 2, 4, 8, 16, 1, 2, 32_768]] {
        for plan in conformance::plans::<Packet>(3).filter(|plan| plan.gates.is_empty()) {
            let mut searched = Searched { weights, ..Searched::default() };
            conformance::drive(&plan, PROMISES, &mut wf2q_plus::<Packet>(&weights), &mut searched);
        }
    }
}

impl Lists<Packet> for Searched {
    fn lengths(&self) -> Vec<usize> {
        self.queues.iter().map(VecDeque::len).collect()
    }

    fn evict(&mut self, flow: usize) -> Option<Packet> {
        self.queues[flow].pop_back()
    }
}

fn evicting<I: Item>(weights: &[u64], limit: u64) -> Wf2qPlus<I> {
    let weights = weights.iter().map(|&weight| Weight::new(weight)).collect();
    let limits = Limits { limit: Packets::new(limit), ..Limits::NONE };
    Wf2qPlus::new(Config { weights, limits, full: Full::Longest, ..Config::default() }).expect("valid")
}

conformance::suite!(conforms_evicting, || evicting(&[], 5), [work_conserving, flow_order]);

#[test]
fn agrees_with_a_search_where_the_longest_queue_gives_way() {
    for (weights, limit) in [([1; 8], 5), ([1, 2, 4, 8, 16, 1, 2, 32_768], 12)] {
        for plan in conformance::plans::<Packet>(3).filter(|plan| plan.gates.is_empty()) {
            let mut searched = Evicting::new(Searched { weights, ..Searched::default() }, limit);
            let mut discipline = evicting::<Packet>(&weights, limit as u64);
            conformance::drive(&plan, PROMISES, &mut discipline, &mut searched);
        }
    }
}

/// Flows that come and go, after a packet of each.
fn busy(seed: u64, flows: u32, load: u64) -> Vec<Arrival> {
    let first = (0..flows).map(|flow| Arrival { at: 0, flow, size: 1514 });
    first.chain(random_arrivals(seed, flows.into(), load, 1_500)).collect()
}

/// Bennett and Zhang, the theorem on WF2Q+: its worst-case fair index. A packet that finds `Q` bytes of its
/// flow, itself included, leaves within the time `Q / ri + Li / ri - Li / r + L / r`, whatever the other
/// flows do and have done. Arrivals count from the end of the transmission that they meet.
#[test]
fn a_packet_waits_for_its_own_flow_and_one_packet_more() {
    let weights = [6, 3, 1, 1, 2, 7];
    let mut tightest = f64::INFINITY;
    for (seed, load) in (0..30).flat_map(|seed| [(seed, 70), (seed, 100), (seed, 300)]) {
        let packets = busy(seed, 6, load);
        let sent = transmit(&mut wf2q_plus(&weights), &packets);
        let starts: Vec<_> = sent.iter().map(|packet| packet.end - packet.size).collect();
        for (place, last) in sent.iter().enumerate() {
            let arrived = starts.partition_point(|&start| start < packets[last.id].at);
            let own = sent[arrived..=place].iter().filter(|packet| packet.flow == last.flow);
            let backlog: u64 = own.map(|packet| packet.size).sum();
            let share = weights[last.flow] as f64 / weights.iter().sum::<u64>() as f64;
            let bound = (backlog as f64 + 1514.0) / share;
            let left = bound - (last.end - starts[arrived]) as f64;
            assert!(left >= -0.01, "{last:?} leaves {left} ns after the bound");
            tightest = tightest.min(left * share);
        }
    }
    assert!(tightest < 400.0, "the bound is not put to the test: {tightest} bytes of service");
}

/// Bennett and Zhang, INFOCOM '96, for WF2Q: service is ahead of the fluid system's by at most
/// `(1 - ri/r) Li`, less than a packet. With all flows backlogged WF2Q+ decides as WF2Q does, and the fluid
/// system serves each its share of the whole.
#[test]
fn service_is_never_ahead_by_a_packet() {
    let weights = [6, 3, 1, 1, 2, 7];
    for seed in 0..40 {
        let packets = random_arrivals(seed, 6, 100, 1_500);
        let packets: Vec<_> = packets.into_iter().map(|packet| Arrival { at: 0, ..packet }).collect();
        let (mut all, mut own) = (0, [0; 6]);
        for sent in transmit(&mut wf2q_plus(&weights), &packets) {
            if sent.backlogged != 0b11_1111 {
                break;
            }
            (all, own[sent.flow]) = (all + sent.size, own[sent.flow] + sent.size);
            for flow in 0..6 {
                let share = weights[flow] as f64 / weights.iter().sum::<u64>() as f64;
                let ahead = own[flow] as f64 - share * all as f64;
                assert!(ahead <= (1.0 - share) * 1514.0 + 0.01, "flow {flow} is {ahead} ahead");
            }
        }
    }
}

#[test]
fn tags_are_set_back_without_a_trace() {
    let (mut discipline, mut drops) = (wf2q_plus::<Packet>(&[1, 1, 2]), CountDrops(0));
    let mut counts = [0_u32; 3];
    for id in 0..6 {
        let _ = discipline.enqueue(Instant::ZERO, packet(id, id as u32 % 3, u64::MAX), &mut drops);
    }
    for id in 0..8_000 {
        let grant = discipline.dequeue(Instant::ZERO, &Open, &mut drops).expect("one waits");
        counts[grant.item.flow.0 as usize] += 1;
        let _ = discipline.enqueue(Instant::ZERO, packet(id, grant.item.flow.0, u64::MAX), &mut drops);
        assert!(discipline.clock.now <= Tag(1 << 62), "{:?}", discipline.clock);
    }
    assert!(counts[0].abs_diff(2_000) <= 1 && counts[1].abs_diff(2_000) <= 1, "{counts:?}");
}
