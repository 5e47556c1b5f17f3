//! Schedules by hand, the queues against naive lists, and the two ends: one way, and as many ways as flows.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::conformance::{self, Promises, Sample};
use crate::discipline::Open;
use crate::item::{ClassId, FlowId, Packet};
use crate::packet::longest::oracle;
use crate::units::Bytes;

const PROMISES: Promises = Promises { work_conserving: true, flow_order: true, resumable: false };

fn sfq<I: Item>(config: Config<I::Cost>) -> SfqSet<I> {
    SfqSet::new(config).expect("valid")
}

fn small<C: Cost>(queues: u32, ways: u32) -> Config<C> {
    Config { queues, ways, limit: 30, ..Config::default() }
}

conformance::suite!(conforms, || sfq(Config::default()), [work_conserving, flow_order]);
conformance::suite!(conforms_when_small, || sfq(small(5, 2)), [work_conserving, flow_order]);
conformance::suite!(conforms_with_one_way, || sfq(small(3, 1)), [work_conserving, flow_order]);

fn packet(id: u32, flow: u32) -> Packet {
    Packet { id, flow: FlowId(flow), class: ClassId(flow as u16), size: Bytes::new(1514) }
}

/// Offers packets of these flows, named from `from` on; the names of the dropped ones.
fn offer(sfq: &mut SfqSet<Packet>, from: u32, flows: &[u32]) -> Vec<u32> {
    let mut drops = Vec::new();
    for (id, &flow) in (from..).zip(flows) {
        let _ = sfq.enqueue(Instant::ZERO, packet(id, flow), &mut drops);
    }
    assert!(drops.iter().all(|(_, reason)| *reason == DropReason::QueueFull));
    drops.into_iter().map(|(packet, _)| packet.id).collect()
}

/// The names of the next packets, as long as there are any.
fn serve(sfq: &mut SfqSet<Packet>, at_most: usize) -> Vec<u32> {
    let next = || sfq.dequeue(Instant::ZERO, &Open, &mut Vec::new()).map(|grant| grant.item.id);
    std::iter::from_fn(next).take(at_most).collect()
}

fn home(flow: u32, queues: u32) -> u32 {
    Hash::Keyed.bucket(Key::Flow.label(&packet(0, flow)), 0, queues)
}

/// The first flows whose home is queue `at` of two.
fn at_home(at: u32, count: usize) -> Vec<u32> {
    (0..1000).filter(|&flow| home(flow, 2) == at).take(count).collect()
}

#[test]
fn a_flow_finds_an_idle_queue_of_its_set() {
    // All three have the same home among two queues. With one way they share it: in order of arrival.
    let [a, b, c] = at_home(0, 3)[..] else { unreachable!() };
    let mut plain = sfq(small(2, 1));
    let _ = offer(&mut plain, 0, &[a, a, a, b, b, c]);
    assert_eq!(serve(&mut plain, 9), [0, 1, 2, 3, 4, 5]);
    // With two ways b takes the other queue, and c shares with a.
    let mut set = sfq(small(2, 2));
    let _ = offer(&mut set, 0, &[a, a, a, b, b, c]);
    assert_eq!(serve(&mut set, 9), [0, 3, 1, 4, 2, 5]);
}

#[test]
fn a_guest_stays_while_it_may_have_packets_there() {
    let [a, b, c] = at_home(0, 3)[..] else { unreachable!() };
    let mut sfq = sfq(small(2, 2));
    // a has queue 0, b queue 1, c is a guest in queue 0. b is served and its queue is idle; in the source the
    // next packet of c would take it and be served before packet 3.
    let _ = offer(&mut sfq, 0, &[a, b, a, c]);
    assert_eq!(serve(&mut sfq, 2), [0, 1]);
    let _ = offer(&mut sfq, 4, &[c]);
    assert_eq!(sfq.queues.length(1), 0);
    assert_eq!(serve(&mut sfq, 9), [2, 3, 4]);
    // No guest is left, so that c takes an idle queue now, though a has packets again.
    let _ = offer(&mut sfq, 5, &[a, a, c]);
    assert_eq!(serve(&mut sfq, 9), [5, 7, 6]);
}

#[test]
fn a_flow_comes_back_to_its_own_queue() {
    let [a, b] = at_home(0, 2)[..] else { unreachable!() };
    let mut sfq = sfq(small(2, 2));
    let _ = offer(&mut sfq, 0, &[a, b]);
    assert_eq!(serve(&mut sfq, 9), [0, 1]);
    // Its home is idle, yet b has queue 1.
    let _ = offer(&mut sfq, 2, &[b]);
    assert_eq!((sfq.queues.length(0), sfq.queues.length(1)), (0, 1));
}

#[test]
fn beyond_the_limit_the_longest_queue_loses_its_head() {
    let mut sfq = sfq(Config { limit: 4, ..small(16, 16) });
    assert_eq!(offer(&mut sfq, 0, &[0, 1, 0, 0, 2, 3]), [0, 2]);
    assert_eq!(sfq.backlog().items, 4);
}

#[test]
fn what_is_left_by_division_is_in_the_last_set() {
    let sets = |queues, ways| {
        let sfq = sfq::<Packet>(small(queues, ways));
        let mut sets: Vec<_> = (0..queues).map(|home| sfq.set_of(home)).collect();
        sets.dedup();
        sets
    };
    assert_eq!(sets(9, 8), [(0, 9)]);
    assert_eq!(sets(9, 4), [(0, 4), (4, 5)]);
    assert_eq!(sets(8, 4), [(0, 4), (4, 4)]);
    assert_eq!(sets(3, 1), [(0, 1), (1, 1), (2, 1)]);
}

#[test]
fn specs_are_refused_with_value_and_bound() {
    let refused = |text: &str| {
        let spec = text.parse().expect("a spec");
        crate::registry::packet_discipline::<Packet>(&spec).err().map(|error| error.to_string())
    };
    for (spec, expected) in [
        ("sfq_set:queues=0", "queues is `0`, must be a whole number from 1 to 1048576"),
        ("sfq_set:queues=4", "ways is 8, must be from 1 to the number of queues, which is 4"),
        ("sfq_set:ways=0", "ways is `0`, must be a whole number from 1"),
        ("sfq_set:quantum=0B", "quantum is 0B, must be from 256B to 2147483647B"),
        ("sfq_set:limit=16777217pkt", "limit is `16777217pkt`, must be packets from 1pkt to 16777216pkt"),
        ("sfq_set:key=ports", "key is `ports`, must be one of `addresses`, `flow`"),
    ] {
        let message = refused(spec).expect(spec);
        assert!(message.starts_with(&format!("`sfq_set`: {expected}")), "{message}");
    }
    assert_eq!(refused("sfq_set:queues=9,ways=9,quantum=3kB,limit=100pkt,seed=4,key=addresses"), None);
    let error =
        SfqSet::<Packet>::new(Config { limit: 0, ..Config::default() }).expect_err("nothing may wait");
    assert_eq!(error.to_string(), "is 0pkt, must be from 1pkt to 16777216pkt");
}

/// Where a flow's packets go, in an oracle.
trait Classify<I> {
    fn queue(&mut self, queues: &oracle::Queues<I>, item: &I) -> u64;
}

/// The turns and evictions over lists that are searched.
struct Oracle<I, C> {
    limit: u64,
    queues: oracle::Queues<I>,
    classify: C,
}

impl<I: Sample, C: Classify<I>> Discipline<I> for Oracle<I, C> {
    fn enqueue(&mut self, _: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let queue = self.classify.queue(&self.queues, &item);
        self.queues.append(queue, item);
        if self.queues.backlog().items > self.limit
            && let Some(item) = self.queues.take_from_longest(true)
        {
            drops.dropped(item, DropReason::QueueFull);
        }
        Enqueued::Queued
    }

    fn dequeue(&mut self, _: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let item = self.queues.next(gate)?;
        Some(Grant { item, quantum: item.cost() })
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.queues.backlog()
    }
}

/// A queue for each flow.
struct Strict;

impl<I: Sample> Classify<I> for Strict {
    fn queue(&mut self, _: &oracle::Queues<I>, item: &I) -> u64 {
        item.flow().0.into()
    }
}

/// The home, whoever else is there.
struct Plain<C: Cost>(Config<C>);

impl<I: Sample> Classify<I> for Plain<I::Cost> {
    fn queue(&mut self, _: &oracle::Queues<I>, item: &I) -> u64 {
        Hash::Keyed.bucket(self.0.key.label(item), self.0.seed, self.0.queues).into()
    }
}

/// Sets, by who owns which queue.
struct Sets<C: Cost>(Config<C>, HashMap<u64, Label>);

impl<I: Sample> Classify<I> for Sets<I::Cost> {
    fn queue(&mut self, queues: &oracle::Queues<I>, item: &I) -> u64 {
        let Config { queues: count, ways, seed, key, .. } = self.0;
        let (label, count, ways) = (key.label(item), u64::from(count), u64::from(ways));
        let home = u64::from(Hash::Keyed.bucket(label, seed, self.0.queues));
        let set_of = |queue: u64| (queue / ways).min(count / ways - 1);
        let set: Vec<u64> =
            (home..count).chain(0..home).filter(|&queue| set_of(queue) == set_of(home)).collect();
        if let Some(&own) = set.iter().find(|queue| self.1.get(queue) == Some(&label)) {
            return own;
        }
        let owner = self.1.get(&home).copied();
        if queues.packets(home).any(|packet| Some(key.label(packet)) != owner) {
            return home;
        }
        match set.iter().find(|&&queue| queues.packets(queue).next().is_none()) {
            Some(&idle) => {
                self.1.insert(idle, label);
                idle
            }
            None => home,
        }
    }
}

fn oracle<I: Sample, C>(config: &Config<I::Cost>, classify: C) -> Oracle<I, C> {
    Oracle { limit: config.limit.into(), queues: oracle::Queues::new(config.quantum.count()), classify }
}

fn configs() -> impl Strategy<Value = Config<Bytes>> {
    let quantum = prop_oneof![256_u64..2_000, Just(65_536)].prop_map(Bytes::new);
    let key = prop_oneof![Just(Key::Addresses), Just(Key::Flow)];
    (1_u32..20, any::<u32>(), quantum, 1_u32..60, any::<u64>(), key).prop_map(
        |(queues, ways, quantum, limit, seed, key)| {
            let ways = 1 + ways % queues;
            Config { queues, ways, quantum, limit, seed, key }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn agrees_with_lists(config in configs()) {
        let lists = || oracle(&config, Sets(config.clone(), HashMap::new()));
        conformance::agree::<Packet, _, _>(|| sfq(config.clone()), lists, PROMISES);
    }

    #[test]
    fn one_way_is_plain_hashing(config in configs()) {
        let config = Config { ways: 1, ..config };
        let plain = || oracle(&config, Plain(config.clone()));
        conformance::agree::<Packet, _, _>(|| sfq(config.clone()), plain, PROMISES);
    }

    #[test]
    fn with_as_many_ways_as_flows_it_is_strict(config in configs(), queues in 8_u32..40) {
        // The plans have eight flows.
        let config = Config { queues, ways: 8, ..config };
        conformance::agree::<Packet, _, _>(|| sfq(config.clone()), || oracle(&config, Strict), PROMISES);
    }
}
