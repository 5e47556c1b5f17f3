//! Schedules by hand, shares, thresholds and bounds.

use super::*;
use crate::conformance::{self, Random, Sample};
use crate::discipline::{CountDrops, Open};
use crate::item::{Addresses, ClassId, Dscp, FlowId, Packet};

mod rules;
mod shares;

/// A packet with all that the discipline asks of one; it is what its number says, marked or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) id: u32,
    pub(super) flow: u32,
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) size: u64,
    pub(super) dscp: u8,
    pub(super) capable: bool,
    pub(super) marked: bool,
}

impl Probe {
    /// Of a flow of its own hosts.
    pub(super) fn of(id: u32, flow: u32, size: u64) -> Self {
        let (source, destination) = (flow, flow);
        Self { id, flow, source, destination, size, dscp: 0, capable: false, marked: false }
    }
}

impl PartialEq for Probe {
    fn eq(&self, other: &Self) -> bool {
        (self.id, self.flow, self.size) == (other.id, other.flow, other.size)
    }
}

impl Item for Probe {
    type Cost = Bytes;
    fn flow(&self) -> FlowId {
        FlowId(self.flow)
    }
    fn cost(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn addresses(&self) -> Addresses {
        Addresses { source: self.source, destination: self.destination }
    }
    fn dscp(&self) -> Dscp {
        Dscp::new(self.dscp)
    }
    fn mark(&mut self) -> bool {
        self.marked |= self.capable;
        self.capable
    }
}

/// The classes of the plans of the suite are code points of all tins; gates close by class.
impl Sample for Probe {
    const LARGEST: u64 = 1514;
    fn sample(id: u32, flow: FlowId, class: ClassId, cost: u64) -> Self {
        let dscp = [0, 8, 46, 34, 26, 18, 16, 48][usize::from(class.0 % 8)];
        let (source, destination) = (flow.0 % 3, flow.0 / 4);
        Self { source, destination, dscp, capable: id.is_multiple_of(2), ..Self::of(id, flow.0, cost) }
    }
    fn id(&self) -> u32 {
        self.id
    }
    fn served(self, used: Bytes) -> Self {
        Self { size: self.size.saturating_sub(used.get()), ..self }
    }
}

fn cake<I: Item<Cost = Bytes>>(config: Config) -> Cake<I> {
    Cake::new(config).expect("valid")
}

/// Packets wait microseconds in the plans of the suite.
fn quick(diffserv: Diffserv, fairness: Fairness) -> Config {
    Config { diffserv, fairness, rtt: Nanos::new(10_000), ..Config::default() }
}

/// A few packets fit, and there is one set of queues.
fn narrow(diffserv: Diffserv, fairness: Fairness) -> Config {
    Config { memlimit: Some(Bytes::new(9_000)), queues: 8, ..quick(diffserv, fairness) }
}

fn paced(config: Config, mbit: u64) -> Config {
    Config { rate: Some(Rate::new(mbit * 1_000_000)), ..config }
}

#[test]
fn conforms_whatever_is_told_apart() {
    let promises = conformance::Promises { work_conserving: true, flow_order: true, resumable: false };
    for (diffserv, fairness) in Diffserv::ALL.into_iter().cycle().zip(Fairness::ALL) {
        conformance::check::<Probe, _>(|| cake(quick(diffserv, fairness)), promises);
        conformance::check::<Probe, _>(|| cake(narrow(diffserv, fairness)), promises);
    }
}

#[test]
fn conforms_where_it_shapes() {
    let promises = conformance::Promises { work_conserving: false, flow_order: true, resumable: false };
    for (diffserv, fairness) in Diffserv::ALL.into_iter().zip([Fairness::Triple, Fairness::Hosts].repeat(3)) {
        for mbit in [1_000, 5_000, 100_000] {
            conformance::check::<Probe, _>(|| cake(paced(quick(diffserv, fairness), mbit)), promises);
            conformance::check::<Probe, _>(|| cake(paced(narrow(diffserv, fairness), mbit)), promises);
        }
    }
}

conformance::suite!(
    conforms_on_packets: [Packet],
    || cake(quick(Diffserv::Three, Fairness::Triple)),
    [work_conserving, flow_order]
);

/// Enqueues packets at one moment; the numbers of those that are dropped.
fn offer(cake: &mut Cake<Probe>, at: u64, packets: &[Probe]) -> Vec<u32> {
    let mut drops = Vec::new();
    for packet in packets {
        assert_eq!(cake.enqueue(Instant::new(at), *packet, &mut drops), Enqueued::Queued);
    }
    drops.into_iter().map(|(packet, _)| packet.id).collect()
}

/// The numbers of the next packets, as long as there are any at this moment.
fn serve(cake: &mut Cake<Probe>, at: u64, at_most: usize) -> Vec<u32> {
    let drops = &mut CountDrops::default();
    let next = || cake.dequeue(Instant::new(at), &Open, drops).map(|grant| grant.item.id);
    std::iter::from_fn(next).take(at_most).collect()
}

fn packets(from: u32, flow: u32, sizes: &[u64]) -> Vec<Probe> {
    (from..).zip(sizes).map(|(id, &size)| Probe::of(id, flow, size)).collect()
}

#[test]
fn sparse_queues_go_first() {
    // Without a rate a turn is 1514 bytes. Flow 0 has used its first with two packets when flow 1 comes, which has
    // its first turn of two packets; then they take turns.
    let mut cake = cake(Config::default());
    offer(&mut cake, 0, &packets(0, 0, &[1000; 6]));
    assert_eq!(serve(&mut cake, 0, 3), [0, 1, 2]);
    offer(&mut cake, 0, &packets(10, 1, &[1000; 4]));
    // Flow 0 has 1514 - 2000 + 1514 - 1000 = 28 left, which is a packet, when flow 1 is old with 1028, which are two.
    assert_eq!(serve(&mut cake, 0, 9), [10, 11, 3, 12, 13, 4, 5]);
}

#[test]
fn a_turn_follows_the_rate() {
    // At 10 Mbit/s a turn is 305 bytes, a 4096th of a second: flow 0 is bulk after its first packet.
    let mut cake = cake(Config { diffserv: Diffserv::BestEffort, ..paced(Config::default(), 10) });
    offer(&mut cake, 0, &packets(0, 0, &[1000; 4]));
    offer(&mut cake, 0, &packets(10, 1, &[100; 12]));
    let mut order = Vec::new();
    for us in 0..20_000 {
        order.extend(serve(&mut cake, us * 1_000, 1));
    }
    // Flow 0 lacks 695 and needs three turns. Flow 1 has four packets in its first turn, which leaves -95, and three in
    // each of the next two, after 210 and 215.
    assert_eq!(order, [0, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 1, 20, 21, 2, 3]);
}

#[test]
fn the_rate_is_exact_in_a_busy_time_and_nothing_is_saved_up() {
    // At 3 Gbit/s 100 bytes take 266 2/3 ns; with 38 of overhead 368.
    let wire = Wire { overhead: Bytes::new(38), ..Config::default().wire };
    let mut cake = cake(Config { wire, ..paced(Config::default(), 3_000) });
    offer(&mut cake, 1_000, &packets(0, 0, &[100; 9]));
    let drops = &mut CountDrops::default();
    let mut now = Instant::new(1_000);
    for packet in 0..9 {
        assert_eq!(now.get(), 1_000 + 368 * packet);
        assert!(cake.dequeue(now, &Open, drops).is_some());
        assert_eq!(cake.dequeue(now, &Open, drops), None);
        now = cake.next_event().unwrap_or(Instant::NEVER);
    }
    assert_eq!(now, Instant::NEVER, "nothing is left to wait for");
    // What comes within the time of the last packet waits for it; what comes after an idle time does not.
    offer(&mut cake, 4_100, &packets(20, 0, &[100; 2]));
    assert_eq!(cake.dequeue(Instant::new(4_100), &Open, drops), None);
    assert_eq!(cake.next_event(), Some(Instant::new(1_000 + 9 * 368)));
    assert_eq!(serve(&mut cake, 4_312, 9), [20]);
    assert_eq!(serve(&mut cake, 9_000, 9), [21]);
    offer(&mut cake, 9_000, &packets(30, 0, &[100; 3]));
    assert_eq!(serve(&mut cake, 9_000, 9), [30]);
    assert_eq!(serve(&mut cake, 9_367, 9), []);
    // A late wake-up is made good.
    assert_eq!(serve(&mut cake, 9_368 + 2 * 368, 9), [31, 32]);
}

#[test]
fn no_busy_time_sees_more_than_the_rate_and_one_packet() {
    let mut random = Random::new(5);
    for _ in 0..20 {
        let rate = Rate::new(1 + random.below(4_000_000_000));
        let config = Config { rate: Some(rate), diffserv: Diffserv::Eight, ..Config::default() };
        let (mut cake, drops) = (cake(config), &mut CountDrops::default());
        let (mut now, mut began, mut sent) = (Instant::ZERO, Instant::ZERO, 0_u128);
        for id in 0..3_000 {
            let flow = random.below(9) as u32;
            let probe =
                Probe { dscp: random.below(64) as u8, ..Probe::of(id, flow, 64 + random.below(1451)) };
            if cake.backlog().is_empty() {
                let free = cake.pace.as_ref().expect("it shapes").due();
                (began, sent) = if free <= now { (now, 0) } else { (began, sent) };
            }
            let _ = cake.enqueue(now, probe, drops);
            let ready = random.below(3);
            for _ in 0..ready {
                let Some(grant) = cake.dequeue(now, &Open, drops) else { break };
                // All that has been sent before this packet has had its time.
                assert!(sent * 8_000_000_000 <= u128::from(rate.get()) * u128::from((now - began).get()));
                sent += u128::from(grant.item.size);
            }
            let gap = Nanos::new(random.below(2 * 8_000_000_000_000 / rate.get()));
            now = match cake.next_event() {
                Some(event) if random.one_in(2) => event.max(now),
                _ => now.after(gap),
            };
        }
        assert!(sent > 0);
    }
}

#[test]
fn the_queue_that_takes_the_most_room_loses_its_head() {
    let mut cake = cake(Config { memlimit: Some(Bytes::new(5_000)), ..Config::default() });
    assert_eq!(offer(&mut cake, 0, &packets(0, 0, &[1000; 3])), []);
    assert_eq!(offer(&mut cake, 0, &packets(10, 1, &[900, 900])), []);
    // 4800 wait. 300 more do not fit: flow 0, with 3000, loses its head; with 700 more it has 2700 and flow 2 has 1000.
    assert_eq!(offer(&mut cake, 0, &packets(20, 2, &[300])), [0]);
    assert_eq!(offer(&mut cake, 0, &packets(30, 2, &[700])), []);
    assert_eq!(offer(&mut cake, 0, &packets(31, 2, &[300])), [1]);
    assert_eq!(offer(&mut cake, 0, &packets(32, 2, &[900, 1])), [20]);
    // A packet takes 64 bytes at least, and one that never fits is refused.
    let mut drops = Vec::new();
    let _ = cake.enqueue(Instant::ZERO, Probe::of(40, 3, 5_001), &mut drops);
    assert_eq!(drops, [(Probe::of(40, 3, 5_001), DropReason::TooLarge)]);
    let lost = offer(&mut cake, 0, &packets(100, 4, &[0; 100]));
    assert!(cake.backlog().items <= 5_000 / 64 && !lost.is_empty());
    assert!(cake.store.used() <= 5_000);
}

#[test]
fn what_never_yields_is_dropped_at_random_and_its_queue_forgets() {
    // A flow that does not slow down fills the room for ten seconds, at twice the rate.
    let mut cake = cake(Config { memlimit: Some(Bytes::new(30_000)), ..paced(Config::default(), 8) });
    let (mut full, mut early) = (0, 0);
    let flood = |cake: &mut Cake<Probe>, ms: u64, drops: &mut Vec<(Probe, DropReason)>| {
        let now = Instant::new(ms * 1_000_000);
        let capable = Probe { capable: true, ..Probe::of(0, 0, 1000) };
        for _ in 0..2 {
            let _ = cake.enqueue(now, capable, drops);
        }
        cake.dequeue(now, &Open, drops).map(|grant| grant.item)
    };
    for ms in 0..10_000 {
        let mut drops = Vec::new();
        flood(&mut cake, ms, &mut drops);
        full += drops.iter().filter(|(_, reason)| *reason == DropReason::QueueFull).count();
        early += drops.iter().filter(|(_, reason)| *reason == DropReason::Congestion).count();
    }
    // All packets can carry a mark: what was dropped early was dropped by chance.
    assert!(full > 100 && early > 2_000, "{full} {early}");
}

#[test]
fn packets_that_can_carry_a_mark_are_marked() {
    for capable in [false, true] {
        let mut cake = cake(paced(Config::default(), 8));
        let flow: Vec<_> = (0..600).map(|id| Probe { capable, ..Probe::of(id, 0, 1000) }).collect();
        offer(&mut cake, 0, &flow);
        let mut drops: Vec<(Probe, DropReason)> = Vec::new();
        let grants = (0..500).filter_map(|ms| cake.dequeue(Instant::new(ms * 1_000_000), &Open, &mut drops));
        let marked = grants.filter(|grant| grant.item.marked).count();
        assert_eq!((marked > 3, drops.len() > 3), (capable, !capable), "{marked} {}", drops.len());
    }
}

#[test]
fn each_tin_is_held_to_its_own_law() {
    let cake = cake::<Probe>(paced(Config::default(), 1));
    // At 1 Mbit/s a packet of 1514 bytes takes 12.112 ms, and half as much again 18.168 ms; in the tin of a sixteenth
    // of the rate 16 times as much.
    let law = |tin: usize| cake.config.law(&cake.config.diffserv.shares(cake.config.rate)[tin]);
    let us = |count: u64| Nanos::new(count * 1_000);
    assert_eq!((law(0).target, law(0).interval, law(0).mtu_time), (us(18_168), us(113_168), us(12_112)));
    assert_eq!((law(1).target, law(1).interval), (us(290_688), us(581_376)));
    assert_eq!((law(2).target, law(2).interval), (us(72_672), us(167_672)));
    let fast = paced(Config::default(), 1_000);
    let share = fast.diffserv.shares(fast.rate)[0];
    assert_eq!((fast.law(&share).target, fast.law(&share).interval), (us(5_000), us(100_000)));
    assert_eq!((fast.quantum(&share), paced(fast, 1).quantum(&share)), (1514, 1514));
    let slow = paced(fast, 1);
    assert_eq!(slow.quantum(&slow.diffserv.shares(slow.rate)[0]), 300);
    // 4 MiB at least, four round trips, and 10240 packets at most.
    assert_eq!(slow.room(), 4 << 20);
    assert_eq!(paced(fast, 200).room(), 10_000_000);
    assert_eq!((fast.room(), Config::default().room()), (10_240 * 1514, 10_240 * 1514));
}

#[test]
fn debts_of_many_turns_are_no_busy_loop() {
    let memlimit = Some(Bytes::new(MAX_BYTES));
    for rate in [None, Some(Rate::new(1))] {
        let mut cake = cake(Config { memlimit, rate, diffserv: Diffserv::Eight, ..Config::default() });
        let large = MAX_BYTES / 8;
        for (flow, dscp) in [(0, 0), (1, 0), (2, 46), (3, 8)] {
            for id in [10 * flow, 10 * flow + 1] {
                offer(&mut cake, 0, &[Probe { dscp, ..Probe::of(id, flow, large) }]);
            }
        }
        let now = if rate.is_some() { u64::MAX } else { 0 };
        assert_eq!(serve(&mut cake, now, 9).len(), 8.min(if rate.is_some() { 1 } else { 8 }));
    }
}

#[test]
fn configurations_are_refused_with_value_and_bound() {
    let valid = Config::default();
    let refused = |config| Cake::<Packet>::new(config).expect_err("refused").to_string();
    assert_eq!(refused(paced(valid, 0)), "is 0bit, must be at least 1bit");
    assert_eq!(refused(Config { rtt: Nanos::ZERO, ..valid }), "is 0ns, must be at least 1ns");
    let wire = Wire { overhead: Bytes::new(257), ..valid.wire };
    assert_eq!(refused(Config { wire, ..valid }), "is 257B, must be at most 256B");
    let wire = Wire { mpu: Bytes::new(1_000), ..valid.wire };
    assert_eq!(refused(Config { wire, ..valid }), "is 1000B, must be at most 256B");
    let memlimit = Some(Bytes::ZERO);
    assert_eq!(refused(Config { memlimit, ..valid }), "is 0B, must be from 1B to 1099511627776B");
    assert_eq!(refused(Config { mtu: Bytes::new(63), ..valid }), "is 63B, must be from 64B to 1048576B");
    for queues in [0, 7, 12, MAX_QUEUES + 8] {
        let reason = format!("is {queues}, must be a multiple of 8 from 8 to 65536");
        assert_eq!(refused(Config { queues, ..valid }), reason);
    }
}

#[test]
fn specs_are_read_as_tc_has_them() {
    let built = |text: &str| {
        let spec = text.parse().expect("a spec");
        crate::registry::packet_discipline::<Packet>(&spec).map(drop).map_err(|error| error.to_string())
    };
    let all = "cake:rate=20Mbit,diffserv=diffserv4,fairness=dual_srchost,rtt=30ms,overhead=38B,mpu=84B,\
               framing=ptm,memlimit=4MiB,mtu=1514B,queues=1024,seed=7";
    for text in ["cake", "cake:rate=unlimited,memlimit=auto,framing=none", all] {
        assert_eq!(built(text), Ok(()));
    }
    let refused = |text: &str| built(text).expect_err(text);
    assert_eq!(
        refused("cake:rate=0bit"),
        "`cake`: rate is `0bit`, must be a rate such as 10Mbit, at least 1bit"
    );
    assert_eq!(refused("cake:queues=12"), "`cake`: queues is 12, must be a multiple of 8 from 8 to 65536");
    for text in ["rate=20", "diffserv=5", "fairness=all", "overhead=257B", "framing=cells", "ack_filter=yes"]
    {
        assert!(built(&format!("cake:{text}")).is_err(), "{text}");
    }
}
