//! Schedules by hand, and the queues against a naive list of lists.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::conformance::{self, Promises, Sample};
use crate::discipline::Open;
use crate::item::{ClassId, FlowId, Message, Packet};
use crate::units::{Bytes, Packets};

const PROMISES: Promises = Promises { work_conserving: true, flow_order: true, resumable: false };

fn sfq<I: Item>(config: Config) -> Sfq<I> {
    Sfq::new(config).expect("valid")
}

/// Flow n in queue n, for the first `queues` flows.
fn mapped(queues: u32, depth: u32) -> Config {
    Config { queues, depth, map: (0..queues).collect(), ..Config::default() }
}

fn timed(queues: u32, span: u64) -> Config {
    Config { queues, perturb: Perturb::Every(Nanos::new(span)), ..Config::default() }
}

conformance::suite!(conforms, || sfq(Config::default()), [work_conserving, flow_order]);
conformance::suite!(
    conforms_idle,
    || sfq(Config { queues: 4, depth: 3, hash: Hash::Xor, perturb: Perturb::Idle, ..Config::default() }),
    [work_conserving, flow_order]
);
conformance::suite!(conforms_timed, || sfq(timed(3, 1_000)), [work_conserving]);
conformance::suite!(conforms_mapped, || sfq(mapped(5, 7)), [work_conserving, flow_order]);

fn packet(id: u32, flow: u32) -> Packet {
    Packet { id, flow: FlowId(flow), class: ClassId(flow as u16), size: Bytes::new(782) }
}

/// Offers packets of these flows at `now`, named from `from` on; the names of the dropped ones.
fn offer(sfq: &mut Sfq<Packet>, now: u64, from: u32, flows: &[u32]) -> Vec<u32> {
    let mut drops = Vec::new();
    for (id, &flow) in (from..).zip(flows) {
        assert_eq!(sfq.enqueue(Instant::new(now), packet(id, flow), &mut drops), Enqueued::Queued);
    }
    drops.into_iter().map(|(packet, _)| packet.id).collect()
}

/// The names of the next packets, as long as there are any.
fn serve(sfq: &mut Sfq<Packet>, gate: &dyn Gate<Packet>, at_most: usize) -> Vec<u32> {
    let next = || sfq.dequeue(Instant::ZERO, gate, &mut Vec::new()).map(|grant| grant.item.id);
    std::iter::from_fn(next).take(at_most).collect()
}

/// Holds back one flow.
struct Without(u32);

impl Gate<Packet> for Without {
    fn permits(&self, head: &Packet) -> bool {
        head.flow.0 != self.0
    }
}

#[test]
fn queues_take_turns_of_one_packet() {
    let mut sfq = sfq(mapped(3, 100));
    // Flow 0 has three packets, flow 1 one, flow 2 two: a round of 0 1 2, one of 0 2, one of 0.
    assert_eq!(offer(&mut sfq, 0, 0, &[0, 0, 0, 1, 2, 2]), []);
    assert_eq!(serve(&mut sfq, &Open, 9), [0, 3, 4, 1, 5, 2]);
}

#[test]
fn a_newcomer_joins_at_the_end_of_the_round() {
    let mut sfq = sfq(mapped(3, 100));
    let _ = offer(&mut sfq, 0, 0, &[0, 0, 0, 1, 1]);
    assert_eq!(serve(&mut sfq, &Open, 1), [0]);
    // The round is 1 0; flow 2 comes behind. Flow 1 is served, and stands behind flow 2.
    let _ = offer(&mut sfq, 0, 5, &[2]);
    assert_eq!(serve(&mut sfq, &Open, 9), [3, 1, 5, 4, 2]);
}

#[test]
fn who_finds_its_own_queue_full_is_dropped() {
    let mut sfq = sfq(mapped(2, 2));
    assert_eq!(offer(&mut sfq, 0, 0, &[0, 0, 0, 1, 0, 1]), [2, 4]);
    assert_eq!(serve(&mut sfq, &Open, 1), [0]);
    assert_eq!(offer(&mut sfq, 0, 6, &[0, 0]), [7]);
    assert_eq!((sfq.backlog().items, sfq.backlog().cost), (4, Bytes::new(4 * 782)));
}

#[test]
fn mapped_flows_share_the_turns_of_their_queue() {
    // Flows 0 and 2 collide: together they get what flow 1 gets alone.
    let mut sfq = sfq(Config { map: vec![0, 1, 0], ..Config::default() });
    let _ = offer(&mut sfq, 0, 0, &[0, 2, 0, 1, 1, 1]);
    assert_eq!(serve(&mut sfq, &Open, 9), [0, 3, 1, 4, 2, 5]);
}

#[test]
fn a_queue_held_back_goes_to_the_end_of_the_round() {
    let mut sfq = sfq(mapped(3, 100));
    let _ = offer(&mut sfq, 0, 0, &[0, 1, 2, 0, 1, 2]);
    // 0 is passed over, then 1 is served; the round is 2 0 1.
    assert_eq!(serve(&mut sfq, &Without(0), 1), [1]);
    assert_eq!(serve(&mut sfq, &Open, 2), [2, 0]);
    // 1 2 0 are left, one packet each.
    assert_eq!(serve(&mut sfq, &Open, 9), [4, 5, 3]);
    // A gate that holds back all that waits leaves the round as it was.
    let _ = offer(&mut sfq, 0, 6, &[0, 0]);
    assert_eq!(serve(&mut sfq, &Without(0), 1), []);
    assert_eq!(serve(&mut sfq, &Open, 2), [6, 7]);
}

#[test]
fn idle_perturbation_takes_the_next_seed_once_per_emptying() {
    let config = Config { perturb: Perturb::Idle, seed: 40, hash: Hash::Xor, ..Config::default() };
    let mut sfq = sfq(config);
    let _ = offer(&mut sfq, 0, 0, &[0, 1]);
    assert_eq!((serve(&mut sfq, &Open, 1), sfq.spread.seed()), (vec![0], 40));
    // The last packet is taken: the queues are empty from here on.
    assert_eq!((serve(&mut sfq, &Open, 1), sfq.spread.seed()), (vec![1], 41));
    // Asking again over the empty queues is not another emptying.
    assert_eq!((serve(&mut sfq, &Open, 1), sfq.spread.seed()), (vec![], 41));
    let _ = offer(&mut sfq, 0, 2, &[0]);
    assert_eq!((serve(&mut sfq, &Open, 1), sfq.spread.seed()), (vec![2], 42));
}

#[test]
fn timed_perturbation_can_reorder() {
    // By `source ^ destination ^ seed` flow 0 is in queue 0 with seed 0, in queue 1 with seed 1, where flow 1
    // was before.
    let mut sfq = sfq(Config { hash: Hash::Xor, ..timed(2, 10_000_000) });
    let _ = offer(&mut sfq, 9_999_999, 0, &[0, 0, 0]);
    assert_eq!((offer(&mut sfq, 10_000_000, 3, &[0]), sfq.spread.seed()), (vec![], 1));
    // Packets 1 and 2 wait where they were; packet 3 has a turn of its own and overtakes packet 2.
    assert_eq!(serve(&mut sfq, &Open, 9), [0, 3, 1, 2]);
    // Five spans later, five seeds later.
    let _ = offer(&mut sfq, 69_000_000, 4, &[0]);
    assert_eq!(sfq.spread.seed(), 6);
}

#[test]
fn turns_are_the_same_in_a_store_that_is_fetched_ahead() {
    // Flow n in queue n, 41 packets each: round after round of all flows, in the order of their first packets.
    let (flows, each) = (1_000_u32, 41);
    let mut sfq = sfq(mapped(flows, 100));
    let ids: Vec<u32> = (0..each * flows).collect();
    let of: Vec<u32> = ids.iter().map(|id| id / each).collect();
    assert_eq!(offer(&mut sfq, 0, 0, &of), []);
    assert!(sfq.slots.size() >= FAR);
    let expected: Vec<u32> =
        (0..each).flat_map(|turn| (0..flows).map(move |flow| flow * each + turn)).collect();
    assert_eq!(serve(&mut sfq, &Open, usize::MAX), expected);
    assert_eq!(sfq.dequeue(Instant::ZERO, &Open, &mut Vec::new()), None);
}

#[test]
fn configurations_are_refused_with_value_and_bound() {
    let refused = |config| Sfq::<Packet>::new(config).expect_err("refused").to_string();
    let valid = Config::default;
    assert_eq!(refused(Config { queues: 0, ..valid() }), "is 0, must be from 1 to 1048576");
    assert_eq!(refused(Config { depth: 0, ..valid() }), "is 0pkt, must be from 1pkt to 16777216pkt");
    assert_eq!(refused(timed(9, 0)), "is 0ns, must be at least 1ns");
    let map = Config { queues: 3, map: vec![2, 3], ..valid() };
    assert_eq!(refused(map), "puts flow 1 into queue 3, must be from 0 to 2, the last of 3");
}

#[test]
fn specs_are_refused_with_value_and_bound() {
    let refused = |text: &str| {
        let spec = text.parse().expect("a spec");
        crate::registry::packet_discipline::<Packet>(&spec).err().map(|error| error.to_string())
    };
    for (spec, expected) in [
        ("sfq:queues=0", "queues is `0`, must be a whole number from 1 to 1048576"),
        ("sfq:queues=1048577", "queues is `1048577`, must be a whole number from 1 to 1048576"),
        ("sfq:depth=100", "depth is `100`, must be packets from 1pkt to 16777216pkt"),
        ("sfq:depth=0pkt", "depth is `0pkt`, must be packets from 1pkt to 16777216pkt"),
        ("sfq:hash=md5", "hash is `md5`, must be one of `keyed`, `xor`"),
        ("sfq:key=port", "key is `port`, must be one of `addresses`, `flow`"),
        ("sfq:seed=-1", "seed is `-1`, must be a whole number from 0"),
        ("sfq:perturb=10", "perturb is `10`, must be `never`, `idle`, or a span of at least 1ns"),
        ("sfq:perturb=0s", "perturb is `0s`, must be `never`"),
        ("sfq:map=0/x", "map is `0/x`, must be queues such as 0/1/2/0, or `none`"),
        ("sfq:map=0/9", "map puts flow 1 into queue 9, must be from 0 to 8, the last of 9"),
    ] {
        let message = refused(spec).expect(spec);
        assert!(message.starts_with(&format!("`sfq`: {expected}")), "{message}");
    }
    assert_eq!(refused("sfq:queues=3,depth=1pkt,hash=rotate,key=flow,perturb=10s,map=2/0"), None);
}

/// The rule, over lists that are searched and hashes that are computed each time.
struct Oracle<I> {
    config: Config,
    queues: Vec<VecDeque<I>>,
    round: VecDeque<usize>,
    emptied: u64,
}

impl<I: Sample> Oracle<I> {
    fn new(config: Config) -> Self {
        let queues = (0..config.queues).map(|_| VecDeque::new()).collect();
        Self { config, queues, round: VecDeque::new(), emptied: 0 }
    }

    fn seed(&self, now: Instant) -> u64 {
        self.config.seed.wrapping_add(match self.config.perturb {
            Perturb::Never => 0,
            Perturb::Idle => self.emptied,
            Perturb::Every(span) => now.get() / span.get(),
        })
    }

    fn queue_of(&self, now: Instant, item: &I) -> usize {
        let Config { hash, key, queues, ref map, .. } = self.config;
        let flow = item.flow().0 as usize;
        let hashed = hash.bucket(key.label(item), self.seed(now), queues);
        *map.get(flow).unwrap_or(&hashed) as usize
    }
}

impl<I: Sample> Discipline<I> for Oracle<I> {
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        let at = self.queue_of(now, &item);
        if self.queues[at].len() == self.config.depth as usize {
            drops.dropped(item, DropReason::QueueFull);
            return Enqueued::Queued;
        }
        self.queues[at].push_back(item);
        if !self.round.contains(&at) {
            self.round.push_back(at);
        }
        Enqueued::Queued
    }

    fn dequeue(&mut self, _: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let permitted = |&at: &usize| self.queues[at].front().is_some_and(|head| gate.permits(head));
        let place = self.round.iter().position(permitted)?;
        self.round.rotate_left(place);
        let at = self.round.pop_front()?;
        let item = self.queues[at].pop_front()?;
        if !self.queues[at].is_empty() {
            self.round.push_back(at);
        }
        self.emptied += u64::from(self.round.is_empty());
        Some(Grant { item, quantum: item.cost() })
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        conformance::backlog_of(self.queues.iter().flatten())
    }
}

fn configs() -> impl Strategy<Value = Config> {
    let hash = prop::sample::select(vec![
        Hash::Keyed,
        Hash::Xor,
        Hash::XorRotated,
        Hash::Rotate,
        Hash::RotateSource,
        Hash::RotateSeeded,
    ]);
    let perturb = prop_oneof![
        Just(Perturb::Never),
        Just(Perturb::Idle),
        (1_u64..5_000).prop_map(|span| Perturb::Every(Nanos::new(span))),
    ];
    let key = prop_oneof![Just(Key::Addresses), Just(Key::Flow)];
    let map = prop::collection::vec(any::<u32>(), 0..6);
    (1_u32..12, 1_u32..12, hash, key, any::<u64>(), perturb, map).prop_map(
        |(queues, depth, hash, key, seed, perturb, map)| {
            let map = map.into_iter().map(|queue| queue % queues).collect();
            Config { queues, depth, hash, key, seed, perturb, map }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn agrees_with_lists(config in configs()) {
        let flow_order = !matches!(config.perturb, Perturb::Every(_));
        let promises = Promises { flow_order, ..PROMISES };
        let (make, oracle) = (|| sfq(config.clone()), || Oracle::new(config.clone()));
        conformance::agree::<Packet, _, _>(make, oracle, promises);
        conformance::agree::<Message<Packets>, _, _>(|| sfq(config.clone()), || Oracle::new(config.clone()), promises);
    }
}
