//! Schedules by hand, and the discipline against the rules of its source.

use core::cell::Cell;

use super::*;
use crate::conformance::{self, Promises, Random, Sample};
use crate::discipline::{CountDrops, Open};
use crate::item::{ClassId, FlowId, Message, Packet};
use crate::packet::codel::Law;
use crate::packet::codel::oracle::Naive;
use crate::units::{Nanos, Packets};

const PROMISES: Promises = Promises { work_conserving: true, flow_order: true, resumable: false };

/// Packets wait microseconds in the plans of the suite.
fn config<C: Cost>(quantum: u64, flows: usize, limit: u64) -> Config<C> {
    let (target, interval) = (Nanos::new(500), Nanos::new(5_000));
    let law = Law { target, interval, ecn: true, ..Law::new(C::of(2)) };
    Config { quantum: C::of(quantum), flows, limit: Packets::new(limit), law, ..Config::new(C::of(2)) }
}

fn fq_codel<I: Item>(config: Config<I::Cost>) -> FqCodel<I> {
    FqCodel::new(config).expect("valid")
}

conformance::suite!(conforms, || fq_codel(config(1514, 1024, 1000)), [work_conserving, flow_order]);
conformance::suite!(
    conforms_small_quantum,
    || fq_codel(config(1, 1024, 1000)),
    [work_conserving, flow_order]
);
conformance::suite!(conforms_colliding, || fq_codel(config(300, 3, 12)), [work_conserving, flow_order]);
conformance::suite!(
    conforms_memory: [Packet],
    || fq_codel(Config { memory_limit: Bytes::new(3000), ..config(300, 64, 100) }),
    [work_conserving, flow_order]
);

fn packet(id: u32, flow: u32, size: u64) -> Packet {
    Packet { id, flow: FlowId(flow), class: ClassId(0), size: Bytes::new(size) }
}

/// Enqueues packets of (flow, size), named from `from` in this order; the names of the dropped ones.
fn offer(queues: &mut FqCodel<Packet>, from: u32, packets: &[(u32, u64)]) -> Vec<u32> {
    let mut drops: Vec<(Packet, DropReason)> = Vec::new();
    for (id, &(flow, size)) in (from..).zip(packets) {
        assert_eq!(queues.enqueue(Instant::ZERO, packet(id, flow, size), &mut drops), Enqueued::Queued);
    }
    drops.into_iter().map(|(packet, _)| packet.id).collect()
}

/// The names of the next packets, as long as there are any.
fn serve(queues: &mut FqCodel<Packet>, at_most: usize) -> Vec<u32> {
    let drops = &mut CountDrops::default();
    let next = || queues.dequeue(Instant::ZERO, &Open, drops).map(|grant| grant.item.id);
    std::iter::from_fn(next).take(at_most).collect()
}

fn usual(limit: u64) -> FqCodel<Packet> {
    let config = Config { limit: Packets::new(limit), ..Config::new(Bytes::new(1514)) };
    let mut queues = fq_codel(config);
    let places: Vec<u32> = (0..4).map(|flow| queues.spread.bucket(&packet(0, flow, 1))).collect();
    assert!((1..4).all(|at| !places[..at].contains(&places[at])), "flows of these tests do not collide");
    queues
}

#[test]
fn new_queues_go_before_old_ones() {
    // Flow 0 has a quantum of 1514: two packets of 1000, then it is old. Flow 1, which comes then, is new
    // and goes first, also with the second packet of its quantum; its third waits behind flow 0.
    let mut queues = usual(100);
    offer(&mut queues, 0, &[(0, 1000), (0, 1000), (0, 1000), (0, 1000), (0, 1000)]);
    assert_eq!(serve(&mut queues, 3), [0, 1, 2]);
    offer(&mut queues, 5, &[(1, 1000), (1, 1000), (1, 1000)]);
    // Flow 0 had 1514 - 2000 + 1514 - 1000 = 28 left.
    assert_eq!(serve(&mut queues, 9), [5, 6, 3, 7, 4]);
}

#[test]
fn a_new_queue_that_empties_is_old_before_it_is_new_again() {
    // Flow 1 sends one packet at a time, each as the one before has left. It would be served for ever if it
    // became new each time. Flow 0 has used its quantum of 1514 and has become old when flow 1 comes.
    let mut queues = usual(100);
    offer(&mut queues, 0, &[(0, 757); 5]);
    assert_eq!(serve(&mut queues, 2), [0, 1]);
    offer(&mut queues, 10, &[(1, 100)]);
    assert_eq!(serve(&mut queues, 1), [10]);
    // A packet that comes before flow 1 is found empty is of the same turn. Then it is, and stands behind
    // flow 0, which has its second quantum.
    offer(&mut queues, 11, &[(1, 100)]);
    assert_eq!(serve(&mut queues, 2), [11, 2]);
    offer(&mut queues, 12, &[(1, 100)]);
    assert_eq!(serve(&mut queues, 9), [3, 12, 4]);
    // All have left: whoever comes is new.
    offer(&mut queues, 13, &[(0, 100), (1, 100)]);
    assert_eq!(serve(&mut queues, 2), [13, 14]);
}

#[test]
fn the_fattest_queue_loses_half_from_its_head() {
    let mut queues = usual(10);
    let mut packets = vec![(0, 500); 7];
    packets.extend([(1, 100), (1, 100), (1, 100)]);
    assert_eq!(offer(&mut queues, 0, &packets), []);
    // The eleventh packet is of flow 1, but flow 0 has 3500 bytes: it loses 3 of 7.
    assert_eq!(offer(&mut queues, 10, &[(1, 100)]), [0, 1, 2]);
    assert_eq!((queues.backlog().items, queues.backlog().cost), (8, Bytes::new(2400)));
    // With as many bytes the first queue of the table loses; of one packet it loses that.
    let mut queues = usual(1);
    let dropped = offer(&mut queues, 0, &[(0, 100), (1, 101)]);
    assert_eq!(dropped, [1]);
}

#[test]
fn a_batch_has_its_bound() {
    let config = Config { drop_batch: Packets::new(64), ..usual(1000).config };
    let mut queues = fq_codel(config);
    let dropped = offer(&mut queues, 0, &[(0, 100); 1001]);
    assert_eq!(dropped, (0..64).collect::<Vec<_>>());
    let mut queues = fq_codel(Config { drop_batch: Packets::new(2), ..config });
    assert_eq!(offer(&mut queues, 0, &[(0, 100); 1001]), [0, 1]);
}

#[test]
fn packets_without_cost_make_room_too() {
    let mut queues = usual(2);
    assert_eq!(offer(&mut queues, 0, &[(0, 0), (1, 0), (2, 0), (3, 0)]).len(), 2);
    assert_eq!(queues.backlog().items, 2);
}

#[test]
fn bytes_have_a_limit_too() {
    let mut queues = fq_codel(Config { memory_limit: Bytes::new(5000), ..usual(1000).config });
    assert_eq!(offer(&mut queues, 0, &[(0, 1000), (0, 1000), (1, 900), (1, 900), (2, 100)]), []);
    // 4900 wait. 4000 more exceed the limit: flow 2, then the fattest, loses until 5000 are kept.
    assert_eq!(offer(&mut queues, 5, &[(2, 4000)]), [4, 5]);
    assert_eq!(queues.backlog().cost, Bytes::new(3800));
    let mut drops = Vec::new();
    let _ = queues.enqueue(Instant::ZERO, packet(9, 3, 5001), &mut drops);
    assert_eq!(drops, [(packet(9, 3, 5001), DropReason::TooLarge)]);
}

#[test]
fn no_limit_is_ever_exceeded() {
    let mut random = Random::new(3);
    for (limit, memory) in [(1, 1 << 20), (7, 4_000), (100, 9_000), (30, 1 << 20)] {
        let config = Config { memory_limit: Bytes::new(memory), ..config(300, 16, limit) };
        let mut queues = fq_codel(config);
        let drops = &mut CountDrops::default();
        let (mut offered, mut served) = (0, 0);
        for id in 0..20_000 {
            let now = Instant::new(u64::from(id) * 100);
            if random.one_in(3) {
                served += u64::from(queues.dequeue(now, &Open, drops).is_some());
            } else {
                let packet = packet(id, random.below(40) as u32, 1 + random.below(1514));
                let _ = queues.enqueue(now, packet, drops);
                offered += 1;
            }
            let waiting = queues.backlog();
            assert!(waiting.items <= limit && waiting.cost.get() <= memory, "{waiting:?}");
            assert_eq!(offered, served + drops.0 + waiting.items);
        }
    }
}

#[test]
fn debts_of_many_quanta_are_no_busy_loop() {
    let config = Config { memory_limit: Bytes::new(MAX_BYTES), quantum: Bytes::new(1), ..usual(100).config };
    let mut queues = fq_codel(config);
    offer(&mut queues, 0, &[(0, MAX_BYTES / 4), (0, 1), (1, MAX_BYTES / 4), (1, 1)]);
    assert_eq!(serve(&mut queues, 9), [0, 2, 1, 3]);
}

/// The rules of the source, over lists that are searched.
struct Source<'a, I: Item + Copy> {
    config: Config<I::Cost>,
    spread: Spread,
    queues: Vec<Naive<I>>,
    credits: Vec<i128>,
    new: Vec<usize>,
    old: Vec<usize>,
    /// Drops by the control, and because there was no room.
    dropped: &'a Cell<[u64; 2]>,
}

impl<'a, I: Sample> Source<'a, I> {
    fn new(config: Config<I::Cost>, dropped: &'a Cell<[u64; 2]>) -> Self {
        let spread = Spread::new(config.hash, config.key, config.seed, config.flows as u32);
        let queues = (0..config.flows).map(|_| Naive::new()).collect();
        let credits = vec![0; config.flows];
        Self { config, spread, queues, credits, new: Vec::new(), old: Vec::new(), dropped }
    }

    fn count(&self, control: u64, room: u64) {
        let [a, b] = self.dropped.get();
        self.dropped.set([a + control, b + room]);
    }

    fn make_room(&mut self, drops: &mut dyn Drops<I>) {
        let most = self.queues.iter().map(Naive::bytes).max().unwrap_or(0);
        let fattest =
            self.queues.iter_mut().find(|queue| queue.bytes() == most).expect("the largest of some");
        let lost = (fattest.queue.len() / 2).clamp(1, self.config.drop_batch.get() as usize);
        fattest.queue.drain(..lost).for_each(|(item, _)| drops.dropped(item, DropReason::QueueFull));
        self.count(0, lost as u64);
    }
}

impl<I: Sample> Discipline<I> for Source<'_, I> {
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let at = self.spread.bucket(&item) as usize;
        self.queues[at].queue.push((item, now.get()));
        if !self.new.contains(&at) && !self.old.contains(&at) {
            self.new.push(at);
            self.credits[at] = i128::from(self.config.quantum.count());
        }
        if self.backlog().items > self.config.limit.get() {
            self.make_room(drops);
        }
        Enqueued::Queued
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let mut held = Vec::new();
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let at = *list.first()?;
            if self.credits[at] <= 0 {
                self.credits[at] += i128::from(self.config.quantum.count());
                list.remove(0);
                self.old.push(at);
                continue;
            }
            self.queues[at].elsewhere = self.backlog().cost.count() - self.queues[at].bytes();
            let before = self.queues[at].drops;
            let item = self.queues[at].dequeue(&self.config.law, now, gate, drops);
            self.count(self.queues[at].drops - before, 0);
            if let Some(item) = item {
                self.credits[at] -= i128::from(item.cost().count());
                return Some(Grant { item, quantum: item.cost() });
            }
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.remove(0);
            let is_empty = self.queues[at].queue.is_empty();
            if is_new || !is_empty {
                self.old.push(at);
            }
            if !is_empty && !held.contains(&at) {
                held.push(at);
            }
            if held.len() >= self.new.len() + self.old.len() {
                return None;
            }
        }
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        conformance::backlog_of(self.queues.iter().flat_map(|queue| &queue.queue).map(|(item, _)| item))
    }
}

#[test]
fn agrees_with_the_source() {
    let dropped = Cell::new([0; 2]);
    for (quantum, flows, limit) in [(1514, 64, 1000), (300, 4, 1000), (100, 64, 20), (3000, 2, 9)] {
        let config = Config { drop_batch: Packets::new(3), ..config(quantum, flows, limit) };
        let source = || Source::new(config, &dropped);
        conformance::agree::<Packet, _, _>(|| fq_codel(config), source, PROMISES);
    }
    for (quantum, flows, limit) in [(40, 64, 1000), (3, 4, 12)] {
        let mut config = config(quantum, flows, limit);
        (config.law.target, config.law.interval) = (Nanos::new(20), Nanos::new(100));
        let source = || Source::new(config, &dropped);
        conformance::agree::<Message<Packets>, _, _>(|| fq_codel(config), source, PROMISES);
    }
    assert!(dropped.get().iter().all(|&drops| drops > 1000), "{dropped:?}");
}

#[test]
fn configurations_are_refused_with_value_and_bound() {
    let valid = Config::new(Bytes::new(1514));
    let refused = |config| FqCodel::<Packet>::new(config).expect_err("refused").to_string();
    let limit = Config { limit: Packets::new(0), ..valid };
    assert_eq!(refused(limit), "limit is 0pkt, must be from 1pkt to 16777216pkt");
    let memory_limit = Config { memory_limit: Bytes::new(0), ..valid };
    assert_eq!(refused(memory_limit), "memory_limit is 0B, must be from 1B to 1099511627776B");
    assert_eq!(refused(Config { flows: 0, ..valid }), "flows is 0, must be from 1 to 65536");
    let quantum = Config { quantum: Bytes::new(u64::MAX), ..valid };
    assert_eq!(refused(quantum), format!("quantum is {}B, must be from 1B to 1099511627776B", u64::MAX));
    let drop_batch = Config { drop_batch: Packets::new(0), ..valid };
    assert_eq!(refused(drop_batch), "drop_batch is 0pkt, must be at least 1pkt");
    let law = Law { interval: Nanos::new(0), ..valid.law };
    assert_eq!(refused(Config { law, ..valid }), "interval is 0ns, must be at least 1ns");
}

#[test]
fn specs_are_refused_with_value_and_bound() {
    let refused = |text: &str| {
        let spec = text.parse().expect("a spec");
        crate::registry::packet_discipline::<Packet>(&spec).err().map(|error| error.to_string())
    };
    let flows = "`fq_codel`: flows is `0`, must be a whole number from 1 to 65536";
    assert_eq!(refused("fq_codel:flows=0").as_deref(), Some(flows));
    let quantum = "`fq_codel`: quantum is `0B`, must be a size such as 1514B, from 1B to 1048576MiB";
    assert_eq!(refused("fq_codel:quantum=0B").as_deref(), Some(quantum));
    for text in
        ["limit=10240", "memory_limit=0MiB", "ecn=1", "target=5", "drop_batch=0pkt", "seed=-1", "hash=md5"]
    {
        assert!(refused(&format!("fq_codel:{text}")).is_some(), "{text}");
    }
    let all = "fq_codel:limit=10240pkt,memory_limit=32MiB,flows=1024,target=5ms,interval=100ms,quantum=1514B,\
               ecn=yes,ce_threshold=none,drop_batch=64pkt,mtu=1514B,hash=keyed,key=flow,seed=7";
    assert_eq!(refused(all), None);
    assert_eq!(refused("fq_codel"), None);
}

#[test]
fn a_late_packet_alone_in_its_queue_is_dropped_while_others_wait() {
    // Flow 0 has one packet at a time, flow 1 a crowd. After an interval of waits above the target the
    // control of flow 0 begins, since all queues together hold more than an MTU.
    let lone = |crowd: u64| {
        let mut queues = usual(10_000);
        let mut drops = Vec::new();
        let mut lost = 0;
        for turn in 0..60_u64 {
            let at = turn * 10_000_000;
            let _ = queues.enqueue(Instant::new(at), packet(2 * turn as u32, 0, 1000), &mut drops);
            for _ in 0..crowd {
                let _ = queues.enqueue(Instant::new(at), packet(2 * turn as u32 + 1, 1, 1000), &mut drops);
            }
            let _ = queues.dequeue(Instant::new(at + 8_000_000), &Open, &mut drops);
            lost += drops.drain(..).filter(|(packet, _)| packet.flow.0 == 0).count();
        }
        lost
    };
    assert!(lone(0) == 0 && lone(3) > 0, "{} and {}", lone(0), lone(3));
}
