//! Schedules by hand, weighted fair queueing against a search, and the theorem against a fluid system.

use std::collections::VecDeque;

use super::*;
use crate::conformance::{self, Promises};
use crate::discipline::{CountDrops, Open};
use crate::info::parse_rate;
use crate::item::Packet;
use crate::packet::evicting::{Evicting, Lists};
use crate::packet::limits::{Full, Limits};
use crate::packet::testing::{RATE, arrivals, flow_order, fluid, order, packet, random_arrivals, transmit};
use crate::units::Packets;

const PROMISES: Promises = Promises { work_conserving: true, flow_order: true, resumable: false };

fn wfq<I: Item<Cost = Bytes>>(rate: &str, weights: &[u64]) -> Wfq<I> {
    let weights = weights.iter().map(|&weight| Weight::new(weight)).collect();
    let flows = flows::Config { weights, ..flows::Config::default() };
    Wfq::new(Config { rate: parse_rate(rate).expect("a rate"), flows }).expect("valid")
}

conformance::suite!(conforms: [Packet], || wfq(RATE, &[]), [work_conserving, flow_order]);
conformance::suite!(conforms_when_slow: [Packet], || wfq("1bit", &[9, 3]), [work_conserving, flow_order]);
conformance::suite!(
    conforms_when_fast: [Packet],
    || wfq("18446744073709551615bit", &[65_535, 3, 1, 7]),
    [work_conserving, flow_order]
);

#[test]
fn specs_are_refused_with_value_and_bound() {
    let refused = |text: &str| {
        let spec = text.parse().expect("a spec");
        crate::registry::packet_discipline::<Packet>(&spec).err().map(|error| error.to_string())
    };
    let expected = "`wfq`: rate is `0bit`, must be a rate such as 10Mbit, at least 1bit";
    assert_eq!(refused("wfq:rate=0bit").as_deref(), Some(expected));
    let missing = "`wfq`: rate is missing, write it as in `wfq:rate=10Mbit,weights=4/2/1`";
    assert_eq!(refused("wfq").as_deref(), Some(missing));
    assert!(refused("wfq:10Mbit,limit=0pkt").is_some());
    assert!(refused("wfq:10Mbit,depth=100").is_some());
    assert_eq!(refused("wfq:10Mbit,4/2/1,by=class,depth=100pkt,limit=none"), None);
    let rate = Config { rate: Rate::new(0), flows: flows::Config::default() };
    let error = Wfq::<Packet>::new(rate).expect_err("refused").to_string();
    assert_eq!(error, "rate is 0bit, must be at least 1bit");
}

/// The example of Bennett and Zhang, *WF2Q: worst-case fair weighted fair queueing*, INFOCOM '96: one flow
/// has half of the link and eleven packets, each of ten others a twentieth and one packet.
#[test]
fn a_flow_may_be_far_ahead_of_the_fluid_system() {
    let weights = [10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    let packets: Vec<_> = [0; 11].into_iter().chain(1..=10).map(|flow| (0, flow, 100)).collect();
    // The first ten packets of flow 0 finish at 10, 20, ..., 100, the eleventh at 110, the others at 100.
    let expected: Vec<_> = [0; 10].into_iter().chain(1..=10).chain([0]).collect();
    assert_eq!(flow_order(&mut wfq(RATE, &weights), &arrivals(&packets)), expected);
}

#[test]
fn virtual_time_runs_faster_when_a_flow_has_left() {
    // Both flows have packets: virtual time is 100 at 200 ns, when the fluid system finishes packet 0. Flow
    // 1, with the finishes 300 and 360, is alone from then on, so that virtual time is 200 at 300 ns: packet
    // 3 finishes at 370. Had flow 0 stayed, it would be 150 and 320, before packet 2.
    let packets = arrivals(&[(0, 0, 100), (0, 1, 300), (0, 1, 60), (300, 2, 170)]);
    assert_eq!(order(&mut wfq(RATE, &[]), &packets), [0, 1, 2, 3]);
    // With 150 bytes it finishes at 350, before packet 2.
    let packets = arrivals(&[(0, 0, 100), (0, 1, 300), (0, 1, 60), (300, 2, 150)]);
    assert_eq!(order(&mut wfq(RATE, &[]), &packets), [0, 1, 3, 2]);
}

/// The fluid system, searched flow by flow at every arrival.
struct Searched {
    queues: [VecDeque<(u64, Packet)>; 8],
    finish: [u64; 8],
    /// When the fluid system has served all of it that ever came, what was dropped later included.
    leaves: [u64; 8],
    weights: [u64; 8],
    now: u64,
    at: u64,
    rest: u128,
}

impl Searched {
    fn new(weights: [u64; 8]) -> Self {
        let queues = [(); 8].map(|()| VecDeque::new());
        Self { queues, finish: [0; 8], leaves: [0; 8], weights, now: 0, at: 0, rest: 0 }
    }

    /// At 8 Gbit/s a nanosecond serves a byte: 2^20 units for one share.
    fn advance(&mut self, now: u64) {
        self.rest += u128::from(now - self.at) << 20;
        self.at = now;
        loop {
            let present: Vec<_> = (0..8).filter(|&flow| self.leaves[flow] > self.now).collect();
            let Some(first) = present.iter().map(|&flow| self.leaves[flow]).min() else {
                self.rest = 0;
                return;
            };
            let all: u64 = present.iter().map(|&flow| self.weights[flow]).sum();
            let needed = u128::from(first - self.now) * u128::from(all);
            if needed > self.rest {
                self.now += (self.rest / u128::from(all)) as u64;
                self.rest %= u128::from(all);
                return;
            }
            self.rest -= needed;
            self.now = first;
        }
    }
}

impl Discipline<Packet> for Searched {
    fn enqueue(&mut self, now: Instant, item: Packet, _drops: &mut dyn Drops<Packet>) -> Enqueued {
        self.advance(now.get());
        let flow = item.flow().0 as usize;
        let service = (item.size.get() << 20) / self.weights[flow];
        self.finish[flow] = self.finish[flow].max(self.now) + service;
        self.leaves[flow] = self.leaves[flow].max(self.finish[flow]);
        self.queues[flow].push_back((self.finish[flow], item));
        Enqueued::Queued
    }

    fn dequeue(
        &mut self,
        _: Instant,
        gate: &dyn Gate<Packet>,
        _: &mut dyn Drops<Packet>,
    ) -> Option<Grant<Packet>> {
        let head = |flow: &usize| Some((self.queues[*flow].front()?, *flow));
        let permitted = (0..8).filter_map(|flow| head(&flow)).filter(|((_, item), _)| gate.permits(item));
        let (_, flow) = permitted.map(|((finish, _), flow)| (*finish, flow)).min()?;
        let (_, item) = self.queues[flow].pop_front()?;
        Some(Grant { item, quantum: item.cost() })
    }

    fn backlog(&self) -> Backlog<Bytes> {
        conformance::backlog_of(self.queues.iter().flatten().map(|(_, item)| item))
    }
}

#[test]
fn agrees_with_a_search() {
    for weights in [[1; 8], [1, 2, 4, 8, 16, 1, 2, 32_768]] {
        let make = || wfq(RATE, &weights);
        conformance::agree::<Packet, _, _>(make, || Searched::new(weights), PROMISES);
    }
}

impl Lists<Packet> for Searched {
    fn lengths(&self) -> Vec<usize> {
        self.queues.iter().map(VecDeque::len).collect()
    }

    fn evict(&mut self, flow: usize) -> Option<Packet> {
        let (_, item) = self.queues[flow].pop_back()?;
        self.finish[flow] = self.queues[flow].back()?.0;
        Some(item)
    }
}

fn evicting(weights: &[u64], limit: u64) -> Wfq<Packet> {
    let weights = weights.iter().map(|&weight| Weight::new(weight)).collect();
    let limits = Limits { limit: Packets::new(limit), ..Limits::NONE };
    let flows = flows::Config { weights, limits, full: Full::Longest, ..flows::Config::default() };
    Wfq::new(Config { rate: parse_rate(RATE).expect("a rate"), flows }).expect("valid")
}

conformance::suite!(conforms_evicting: [Packet], || evicting(&[], 5), [work_conserving, flow_order]);

#[test]
fn agrees_with_a_search_where_the_longest_queue_gives_way() {
    for (weights, limit) in [([1; 8], 5), ([1, 2, 4, 8, 16, 1, 2, 32_768], 12)] {
        let make = || evicting(&weights, limit as u64);
        let naive = || Evicting::new(Searched::new(weights), limit);
        conformance::agree::<Packet, _, _>(make, naive, PROMISES);
    }
}

/// Parekh and Gallager 1993, Theorem 1: a packet leaves no later than in the fluid system, and the time of
/// one largest packet more.
#[test]
fn no_packet_leaves_later_than_in_the_fluid_system_by_more_than_a_packet() {
    let mut largest_lag = 0.0_f64;
    for (seed, load) in (0..40).flat_map(|seed| [(seed, 60), (seed, 95), (seed, 200)]) {
        for weights in [[1; 6], [1, 2, 4, 8, 16, 1], [6, 3, 1, 1, 2, 700]] {
            let packets = random_arrivals(seed, 6, load, 600);
            let fluid = fluid(&packets, &weights);
            for sent in transmit(&mut wfq(RATE, &weights), &packets) {
                let lag = sent.end as f64 - fluid[sent.id];
                // A finish is rounded by less than 2^-19 bytes for each share.
                assert!(lag <= 1514.0 + 0.01, "{sent:?} leaves {lag} ns after {}", fluid[sent.id]);
                largest_lag = largest_lag.max(lag);
            }
        }
    }
    assert!(largest_lag > 1_000.0, "the bound is not put to the test: {largest_lag}");
}

#[test]
fn the_fluid_system_loses_nothing() {
    // All at once: the fluid system is empty exactly when all has been served, to the nanosecond, whatever
    // the order in which flows leave it.
    for seed in 0..50 {
        let mut wfq = wfq::<Packet>(RATE, &[1, 2, 4, 8, 16, 1]);
        let packets = random_arrivals(seed, 6, 100, 100);
        let all: u64 = packets.iter().map(|packet| packet.size).sum();
        for (id, sample) in packets.iter().enumerate() {
            let _ = wfq.enqueue(Instant::ZERO, packet(id, sample.flow, sample.size), &mut CountDrops(0));
        }
        wfq.fluid.advance(Instant::new(all - 1), &mut wfq.flows);
        assert!(wfq.fluid.weights > 0);
        wfq.fluid.advance(Instant::new(all), &mut wfq.flows);
        assert_eq!((wfq.fluid.weights, wfq.fluid.leaving.peek()), (0, None));
    }
}

#[test]
fn tags_are_set_back_without_a_trace() {
    let (mut wfq, mut drops) = (wfq::<Packet>(RATE, &[1, 1, 2]), CountDrops(0));
    let mut counts = [0_u32; 3];
    for id in 0..6 {
        let _ = wfq.enqueue(Instant::ZERO, packet(id, id as u32 % 3, u64::MAX), &mut drops);
    }
    for id in 1..8_000 {
        let now = Instant::new(id as u64 * u64::from(u32::MAX));
        let grant = wfq.dequeue(now, &Open, &mut drops).expect("one waits");
        counts[grant.item.flow.0 as usize] += 1;
        let _ = wfq.enqueue(now, packet(id, grant.item.flow.0, u64::MAX), &mut drops);
        assert!(wfq.fluid.now <= Tag(1 << 62), "{:?}", wfq.fluid.now);
    }
    assert!(counts[0].abs_diff(2_000) <= 2 && counts[1].abs_diff(2_000) <= 2, "{counts:?}");
}
