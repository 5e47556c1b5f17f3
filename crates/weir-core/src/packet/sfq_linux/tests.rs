//! Schedules by hand, and the queues against a naive list of lists.

use proptest::prelude::*;

use super::*;
use crate::conformance::{self, Promises, Sample};
use crate::discipline::Open;
use crate::item::{ClassId, FlowId, Packet};
use crate::packet::longest::oracle;
use crate::units::Bytes;

const PROMISES: Promises = Promises { work_conserving: true, flow_order: true, resumable: false };

fn sfq<I: Item>(config: Config<I::Cost>) -> SfqLinux<I> {
    SfqLinux::new(config).expect("valid")
}

fn small<C: Cost>() -> Config<C> {
    Config { limit: 9, depth: 4, flows: 5, divisor: 8, ..Config::default() }
}

fn timed<C: Cost>(span: u64) -> Config<C> {
    Config { perturb: Some(Nanos::new(span)), ..small() }
}

conformance::suite!(conforms, || sfq(Config::default()), [work_conserving, flow_order]);
conformance::suite!(conforms_when_small, || sfq(small()), [work_conserving, flow_order]);
conformance::suite!(
    conforms_dropping_heads,
    || sfq(Config { headdrop: true, quantum: Cost::of(256), ..small() }),
    [work_conserving, flow_order]
);
conformance::suite!(conforms_timed, || sfq(timed(1_000)), [work_conserving, flow_order]);

fn packet(id: u32, flow: u32, size: u64) -> Packet {
    Packet { id, flow: FlowId(flow), class: ClassId(flow as u16), size: Bytes::new(size) }
}

/// Offers packets of (flow, size) at `now`, named from `from` on; the names of the dropped ones.
fn offer(sfq: &mut SfqLinux<Packet>, now: u64, from: u32, packets: &[(u32, u64)]) -> Vec<u32> {
    let mut drops = Vec::new();
    for (id, &(flow, size)) in (from..).zip(packets) {
        let _ = sfq.enqueue(Instant::new(now), packet(id, flow, size), &mut drops);
    }
    assert!(drops.iter().all(|(_, reason)| *reason == DropReason::QueueFull));
    drops.into_iter().map(|(packet, _)| packet.id).collect()
}

/// The names of the next packets, as long as there are any.
fn serve(sfq: &mut SfqLinux<Packet>, at_most: usize) -> Vec<u32> {
    let next = || sfq.dequeue(Instant::ZERO, &Open, &mut Vec::new()).map(|grant| grant.item.id);
    std::iter::from_fn(next).take(at_most).collect()
}

/// Finds `count` flows that do not meet in a table of 1024 with seed 0; found, not assumed.
fn apart(count: usize) -> Vec<u32> {
    let mut taken = Vec::new();
    let entry = |flow| Hash::Keyed.bucket(Key::Flow.label(&packet(0, flow, 1)), 0, 1024);
    let mut fresh = |flow: &u32| {
        let entry = entry(*flow);
        let fresh = !taken.contains(&entry);
        taken.push(entry);
        fresh
    };
    (0..1000).filter(|flow| fresh(flow)).take(count).collect()
}

#[test]
fn turns_are_of_bytes() {
    let [a, b] = apart(2)[..] else { unreachable!() };
    let mut sfq = sfq(Config { quantum: Bytes::new(1000), ..Config::default() });
    // Both begin with 1000. a sends 600 and 600 and has -200; b sends 1500 and has -500. a gets 1000: 800;
    // b gets 1000: 500. a sends 600 (200 left) and 600 (-400); b sends 1500.
    let sent = [(a, 600), (a, 600), (a, 600), (a, 600), (b, 1500), (b, 1500)];
    assert_eq!(offer(&mut sfq, 0, 0, &sent), []);
    assert_eq!(serve(&mut sfq, 9), [0, 1, 4, 2, 3, 5]);
}

#[test]
fn at_the_limit_the_longest_queue_loses_its_last_or_its_first() {
    let [a, b, c] = apart(3)[..] else { unreachable!() };
    for (headdrop, lost) in [(false, 2), (true, 0)] {
        let mut sfq = sfq(Config { limit: 5, headdrop, ..Config::default() });
        // a has three packets, b two: with one of c there are six, and a is the longest.
        assert_eq!(offer(&mut sfq, 0, 0, &[(a, 9), (a, 9), (a, 9), (b, 9), (b, 9), (c, 9)]), [lost]);
        assert_eq!(sfq.backlog().items, 5);
    }
}

#[test]
fn of_queues_as_long_the_one_that_changed_last_loses() {
    let [a, b, c] = apart(3)[..] else { unreachable!() };
    let mut sfq = sfq(Config { limit: 4, ..Config::default() });
    // a and b have two each, b since later: its last, packet 3, goes. Then a alone is longest.
    assert_eq!(offer(&mut sfq, 0, 0, &[(a, 9), (b, 9), (a, 9), (b, 9), (c, 9)]), [3]);
    // All have one packet but a, which loses its second; then the turn's next, a, loses what it has.
    assert_eq!(
        offer(&mut sfq, 0, 5, &apart(5)[3..].iter().map(|&flow| (flow, 9)).collect::<Vec<_>>()),
        [2, 0]
    );
    assert_eq!(serve(&mut sfq, 9), [1, 4, 5, 6]);
}

#[test]
fn a_queue_at_its_depth_drops_the_newcomer_or_its_head() {
    let a = apart(1)[0];
    let mut tail = sfq(Config { depth: 2, ..Config::default() });
    assert_eq!(offer(&mut tail, 0, 0, &[(a, 9), (a, 9), (a, 9)]), [2]);
    assert_eq!(serve(&mut tail, 9), [0, 1]);
    let mut head = sfq(Config { depth: 2, headdrop: true, ..Config::default() });
    assert_eq!(offer(&mut head, 0, 0, &[(a, 9), (a, 10), (a, 11)]), [0]);
    assert_eq!(head.backlog().cost, Bytes::new(21));
    assert_eq!(serve(&mut head, 9), [1, 2]);
}

#[test]
fn when_all_queues_are_taken_other_flows_are_dropped() {
    let [a, b, c] = apart(3)[..] else { unreachable!() };
    let mut sfq = sfq(Config { flows: 2, ..Config::default() });
    assert_eq!(offer(&mut sfq, 0, 0, &[(a, 9), (b, 9), (c, 9), (a, 9)]), [2]);
    // b has left, so that its queue is there for c.
    assert_eq!(serve(&mut sfq, 3), [0, 3, 1]);
    assert_eq!(offer(&mut sfq, 0, 4, &[(c, 9)]), []);
}

#[test]
fn perturbation_parts_flows_that_met_and_keeps_their_order() {
    // Two flows that meet in a table of two with seed 0, but not with seed 1.
    let entry = |flow, seed| Hash::Keyed.bucket(Key::Flow.label(&packet(0, flow, 1)), seed, 2);
    let other = (1..100).find(|&b| entry(0, 0) == entry(b, 0) && entry(0, 1) != entry(b, 1)).expect("one");
    let mut sfq =
        sfq(Config { divisor: 2, quantum: Bytes::new(256), perturb: Some(Nanos::new(100)), ..small() });
    let _ = offer(&mut sfq, 99, 0, &[(0, 256), (0, 256), (0, 256), (other, 256)]);
    // One queue until then; from 100 on flow 0 and the other take turns.
    let mut drops = Vec::new();
    let first = sfq.dequeue(Instant::new(100), &Open, &mut drops).map(|grant| grant.item.id);
    assert_eq!((first, drops.len()), (Some(0), 0));
    assert_eq!(serve(&mut sfq, 9), [3, 1, 2]);
}

#[test]
fn large_packets_are_no_busy_loop() {
    let [a, b] = apart(2)[..] else { unreachable!() };
    let mut sfq = sfq(Config { quantum: Bytes::new(256), ..Config::default() });
    let _ = offer(&mut sfq, 0, 0, &[(a, u64::MAX), (a, 1), (b, u64::MAX), (b, 2)]);
    assert_eq!(serve(&mut sfq, 9), [0, 2, 1, 3]);
}

#[test]
fn specs_are_refused_with_value_and_bound() {
    let refused = |text: &str| {
        let spec = text.parse().expect("a spec");
        crate::registry::packet_discipline::<Packet>(&spec).err().map(|error| error.to_string())
    };
    for (spec, expected) in [
        ("sfq_linux:divisor=1000", "divisor is 1000, must be a power of two from 1 to 65536"),
        ("sfq_linux:divisor=131072", "divisor is 131072, must be a power of two from 1 to 65536"),
        ("sfq_linux:divisor=0", "divisor is 0, must be a power of two from 1 to 65536"),
        ("sfq_linux:quantum=255B", "quantum is 255B, must be from 256B to 2147483647B"),
        ("sfq_linux:quantum=1514", "quantum is `1514`, must be a size such as 1514B"),
        ("sfq_linux:depth=128pkt", "depth is `128pkt`, must be packets from 1pkt to 127pkt"),
        ("sfq_linux:flows=65409", "flows is `65409`, must be a whole number from 1 to 65408"),
        ("sfq_linux:limit=0pkt", "limit is `0pkt`, must be packets from 1pkt to"),
        (
            "sfq_linux:limit=101pkt,flows=10,depth=10pkt",
            "limit is 101pkt, must be from 1pkt to flows x depth, which is 100pkt",
        ),
        ("sfq_linux:headdrop=maybe", "headdrop is `maybe`, must be one of `no`, `yes`"),
        ("sfq_linux:perturb=10", "perturb is `10`, must be `never`, or a span such as 10s"),
    ] {
        let message = refused(spec).expect(spec);
        assert!(message.starts_with(&format!("`sfq_linux`: {expected}")), "{message}");
    }
    let all =
        "sfq_linux:perturb=10s,quantum=3kB,limit=1000pkt,depth=100pkt,flows=64,divisor=256,headdrop=yes";
    assert_eq!(refused(all), None);
    assert_eq!(refused("sfq_linux:perturb=0"), None);
    assert_eq!(refused("sfq_linux:perturb=0s"), None);
    let error = SfqLinux::<Packet>::new(timed(0)).expect_err("no span");
    assert_eq!(error.to_string(), "is 0ns, must be at least 1ns");
}

/// The rule, over lists that are searched.
struct Oracle<I: Item> {
    config: Config<I::Cost>,
    spans: u64,
    queues: oracle::Queues<I>,
}

impl<I: Sample> Oracle<I> {
    fn new(config: Config<I::Cost>) -> Self {
        let queues = oracle::Queues::new(config.quantum.count());
        Self { config, spans: 0, queues }
    }

    fn place(&mut self, item: I, headdrop: bool) -> Option<I> {
        let Config { depth, flows, divisor, key, seed, .. } = self.config;
        let seed = seed.wrapping_add(self.spans);
        let entry = Hash::Keyed.bucket(key.label(&item), seed, divisor).into();
        let (length, queues) = (self.queues.packets(entry).count(), self.queues.keys().count());
        match length {
            0 if queues == flows as usize => Some(item),
            length if length < depth as usize => {
                self.queues.append(entry, item);
                None
            }
            _ if headdrop => self.queues.exchange(entry, item),
            _ => Some(item),
        }
    }

    fn perturb(&mut self, now: Instant, drops: &mut dyn Drops<I>) {
        let spans = self.config.perturb.map_or(0, |span| now.get() / span.get());
        if spans > self.spans {
            self.spans = spans;
            for item in self.queues.gather() {
                if let Some(item) = self.place(item, false) {
                    drops.dropped(item, DropReason::QueueFull);
                }
            }
        }
    }
}

impl<I: Sample> Discipline<I> for Oracle<I> {
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        self.perturb(now, drops);
        let headdrop = self.config.headdrop;
        let placed = self.place(item, headdrop);
        let over = self.queues.backlog().items > self.config.limit.into();
        let evicted = if over { self.queues.take_from_longest(headdrop) } else { None };
        for item in [placed, evicted].into_iter().flatten() {
            drops.dropped(item, DropReason::QueueFull);
        }
        let longest = self.queues.keys().map(|key| self.queues.packets(key).count()).max();
        assert!(longest.is_none_or(|longest| longest <= self.config.depth as usize));
        Enqueued::Queued
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        self.perturb(now, drops);
        let item = self.queues.next(gate)?;
        Some(Grant { item, quantum: item.cost() })
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        let backlog = self.queues.backlog();
        assert!(backlog.items <= self.config.limit.into());
        backlog
    }
}

fn configs() -> impl Strategy<Value = Config<Bytes>> {
    let perturb = prop::option::of(prop_oneof![1_u64..5_000, 100_000_u64..1_000_000].prop_map(Nanos::new));
    let quantum = prop_oneof![256_u64..2_000, Just(65_536)].prop_map(Bytes::new);
    let sizes = (1_u32..60, 1_u32..12, 1_u32..10, 0_u32..5);
    (perturb, quantum, sizes, any::<bool>(), any::<u64>()).prop_map(
        |(perturb, quantum, (limit, depth, flows, bits), headdrop, seed)| {
            let (limit, divisor) = (limit.min(flows * depth), 1 << bits);
            Config { perturb, quantum, limit, depth, flows, divisor, headdrop, seed, key: Key::Flow }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn agrees_with_lists(config in configs()) {
        conformance::agree::<Packet, _, _>(|| sfq(config.clone()), || Oracle::new(config.clone()), PROMISES);
    }
}
