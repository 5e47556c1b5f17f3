//! Schedules by hand, and deficit round robin against the pseudo-code of its paper.

use std::collections::VecDeque;

use super::*;
use crate::conformance::{self, Promises, Sample};
use crate::discipline::{CountDrops, DropReason, Open};
use crate::item::{ClassId, FlowId, Message, Packet};
use crate::packet::evicting::{Evicting, Lists};
use crate::packet::limits::{Full, Limits};
use crate::units::{Bytes, Packets};

const PROMISES: Promises = Promises { work_conserving: true, flow_order: true, resumable: false };

fn drr<I: Item>(quantum: u64) -> Drr<I> {
    Drr::new(Config::new(I::Cost::of(quantum))).expect("valid")
}

fn packet(id: u32, flow: u32, size: u64) -> Packet {
    Packet { id, flow: FlowId(flow), class: ClassId(flow as u16), size: Bytes::new(size) }
}

/// Enqueues packets of (flow, size), named in this order; none is refused.
fn offer(drr: &mut Drr<Packet>, from: u32, packets: &[(u32, u64)]) {
    let mut drops = CountDrops::default();
    for (id, &(flow, size)) in (from..).zip(packets) {
        assert_eq!(drr.enqueue(Instant::ZERO, packet(id, flow, size), &mut drops), Enqueued::Queued);
    }
    assert_eq!(drops, CountDrops(0));
}

/// The names of the next packets, as long as there are any.
fn serve(drr: &mut Drr<Packet>, gate: &dyn Gate<Packet>, at_most: usize) -> Vec<u32> {
    let drops = &mut CountDrops::default();
    let next = || drr.dequeue(Instant::ZERO, gate, drops).map(|grant| grant.item.id);
    std::iter::from_fn(next).take(at_most).collect()
}

/// Holds back one flow.
struct Without(u32);

impl Gate<Packet> for Without {
    fn permits(&self, head: &Packet) -> bool {
        head.flow.0 != self.0
    }
}

conformance::suite!(conforms, || drr(2048), [work_conserving, flow_order]);
conformance::suite!(conforms_with_a_small_quantum, || drr(1), [work_conserving, flow_order]);
conformance::suite!(
    conforms_by_class,
    || {
        let weights = vec![Weight::new(3), Weight::new(1), Weight::new(2)];
        let flows = flows::Config { by: By::Class, weights, flows: 8, ..flows::Config::default() };
        Drr::new(Config { flows, ..Config::new(Cost::of(500)) }).expect("valid")
    },
    [work_conserving, flow_order]
);

#[test]
fn configurations_are_refused_with_value_and_bound() {
    let refused = |quantum, flows| {
        let config = Config { flows, ..Config::new(Bytes::new(quantum)) };
        Drr::<Packet>::new(config).expect_err("refused").to_string()
    };
    let valid = flows::Config::default();
    assert_eq!(refused(0, valid.clone()), "quantum is 0B, must be at least 1B");
    let weights = flows::Config { weights: vec![Weight::new(1), Weight::new(0)], ..valid.clone() };
    assert_eq!(refused(1, weights), "the weight of flow 1 is 0, must be from 1 to 65535");
    let empty = flows::Config { flows: 0, ..valid.clone() };
    assert_eq!(refused(1, empty), "flows is 0, must be from 1 to 1048576");
    let large = flows::Config { flows: MAX_FLOWS + 1, ..valid.clone() };
    assert_eq!(refused(1, large), "flows is 1048577, must be from 1 to 1048576");
    let limits = Limits { depth: Packets::new(0), ..Limits::NONE };
    let closed = flows::Config { limits, ..valid };
    assert_eq!(refused(1, closed), "depth is 0pkt, must be at least 1pkt");
}

#[test]
fn specs_are_refused_with_value_and_bound() {
    let refused = |text: &str| {
        let spec = text.parse().expect("a spec");
        crate::registry::packet_discipline::<Packet>(&spec).err().map(|error| error.to_string())
    };
    let expected = "`drr`: quantum is `0B`, must be a size such as 2048B, at least 1B";
    assert_eq!(refused("drr:quantum=0B").as_deref(), Some(expected));
    assert!(refused("drr:2048").is_some());
    assert!(refused("drr:2048B,by=port").is_some());
    assert!(refused("drr:2048B,weights=1/0").is_some());
    assert!(refused("drr:2048B,flows=0").is_some());
    assert_eq!(refused("drr:1514B,by=class,weights=4/2/1,flows=3"), None);
}

#[test]
fn deficits_carry_over() {
    // The quantum is 500. Round 1: flow 0 sends 200 (300 left, 750 does not fit), flow 1 sends 500.
    // Round 2: flow 0 has 800 and sends 750 (50 left); flow 1 has 500 and sends 100 and 400.
    let mut drr = drr(500);
    offer(&mut drr, 0, &[(0, 200), (0, 750), (0, 20), (1, 500), (1, 100), (1, 400)]);
    assert_eq!(serve(&mut drr, &Open, 9), [0, 3, 1, 2, 4, 5]);
}

#[test]
fn a_flow_that_empties_forfeits_its_deficit_at_the_next_decision() {
    let mut drr = drr(500);
    offer(&mut drr, 0, &[(0, 100), (1, 500)]);
    assert_eq!(serve(&mut drr, &Open, 1), [0]);
    // A packet that arrives before the next decision is served in the same visit, from the 400 left.
    offer(&mut drr, 2, &[(0, 300)]);
    assert_eq!(serve(&mut drr, &Open, 3), [2, 1]);
    // The decision over an empty queue has taken the last 100.
    offer(&mut drr, 3, &[(0, 501), (1, 500)]);
    assert_eq!(serve(&mut drr, &Open, 2), [4, 3]);
}

#[test]
fn a_flow_behind_a_closed_gate_forfeits_its_deficit() {
    let mut drr = drr(500);
    offer(&mut drr, 0, &[(0, 100), (0, 300), (0, 500), (1, 500), (1, 500)]);
    assert_eq!(serve(&mut drr, &Open, 1), [0]);
    // 400 are left for packet 1, but the flow is held back: flow 1 is served, twice.
    assert_eq!(serve(&mut drr, &Without(0), 1), [3]);
    // Flow 0 starts anew with 500: packet 1, and packet 2 only in the next round.
    assert_eq!(serve(&mut drr, &Open, 3), [1, 4, 2]);
}

#[test]
fn a_closed_gate_is_no_busy_loop() {
    let mut drr = drr(1);
    offer(&mut drr, 0, &[(0, u64::MAX), (0, 5)]);
    assert_eq!(serve(&mut drr, &Without(0), 1), []);
    assert_eq!(serve(&mut drr, &Open, 1), [0], "18 quintillion rounds are skipped");
}

#[test]
fn flows_beyond_the_table_are_dropped() {
    let flows = flows::Config { flows: 2, ..flows::Config::default() };
    let mut drr = Drr::new(Config { flows, ..Config::new(Bytes::new(500)) }).expect("valid");
    let mut drops = Vec::new();
    assert_eq!(drr.enqueue(Instant::ZERO, packet(0, 2, 64), &mut drops), Enqueued::Queued);
    assert_eq!(drops, [(packet(0, 2, 64), DropReason::Unclassified)]);
    assert!(drr.backlog().is_empty());
}

#[test]
fn weights_are_shares() {
    // Over k rounds a backlogged flow sends k quanta less its deficit, which is below the largest packet.
    let weights = [4, 2, 1].map(Weight::new).to_vec();
    let flows = flows::Config { weights, ..flows::Config::default() };
    let mut drr = Drr::new(Config { flows, ..Config::new(Bytes::new(1514)) }).expect("valid");
    let mut random = conformance::Random::new(1);
    let packets: Vec<_> = (0..30_000).map(|_| (random.below(3) as u32, 64 + random.below(1451))).collect();
    offer(&mut drr, 0, &packets);
    let mut sent = [0; 3];
    for id in serve(&mut drr, &Open, 10_000) {
        let (flow, size) = packets[id as usize];
        sent[flow as usize] += size;
    }
    let rounds = sent[2] / 1514;
    for (sent, weight) in sent.into_iter().zip([4, 2, 1]) {
        let quanta = rounds * weight * 1514;
        assert!(sent.abs_diff(quanta) <= (weight + 1) * 1514, "{sent} against {quanta}");
    }
}

fn leaving<I: Item>(quantum: u64) -> Drr<I> {
    Drr::new(Config { stall: Stall::Leave, ..Config::new(I::Cost::of(quantum)) }).expect("valid")
}

conformance::suite!(conforms_leaving, || leaving(500), [work_conserving, flow_order]);

#[test]
fn a_stalled_flow_leaves_and_joins_at_the_end() {
    for (stall, expected) in [(Stall::Leave, [5, 1, 6, 4]), (Stall::Turn, [1, 6, 5, 4])] {
        let mut drr = Drr::new(Config { stall, ..Config::new(Bytes::new(500)) }).expect("valid");
        offer(&mut drr, 0, &[(0, 100), (0, 400), (1, 500), (2, 500), (2, 500)]);
        assert_eq!(serve(&mut drr, &Open, 1), [0]);
        // Flow 0 is held back in its turn, with 400 left, and flows 1 and 2 are served.
        assert_eq!(serve(&mut drr, &Without(0), 2), [2, 3]);
        // Flow 3 comes before the gate opens: a flow that left joins behind it, one that lost its turn is before it.
        // Flow 2 has nothing left, and goes behind all. The 400 are forfeited, but 500 cover both packets.
        offer(&mut drr, 5, &[(3, 500), (0, 100)]);
        assert_eq!(serve(&mut drr, &Open, 9), expected);
    }
}

#[test]
fn stalled_flows_join_in_the_order_in_which_they_left() {
    let mut drr = leaving(500);
    offer(&mut drr, 0, &[(2, 500), (1, 500), (0, 500), (0, 500), (3, 500), (3, 500)]);
    assert_eq!(serve(&mut drr, &Only(&[3]), 1), [4]);
    assert_eq!(serve(&mut drr, &Only(&[]), 1), []);
    // Flow 3 has left last. Whoever is still held back stays out.
    assert_eq!(serve(&mut drr, &Only(&[0, 2, 3]), 9), [0, 2, 5, 3]);
    assert_eq!(serve(&mut drr, &Open, 9), [1]);
}

/// Permits these flows.
struct Only(&'static [u32]);

impl Gate<Packet> for Only {
    fn permits(&self, head: &Packet) -> bool {
        self.0.contains(&head.flow.0)
    }
}

#[test]
fn effort_counts_the_flows_visited() {
    let mut drr = drr(500);
    offer(&mut drr, 0, &[(0, 400), (0, 400), (1, 1400), (2, 400)]);
    // 0; 0 is short, 1 is short, 2; 2 is empty, 0; 0 is empty, 1 is short; 1.
    assert_eq!(serve(&mut drr, &Open, 9), [0, 3, 1, 2]);
    let effort = drr.effort().expect("counted");
    assert_eq!((effort.decisions, effort.most_examined, effort.steps), (4, 3, effort.examined));
    assert_eq!(effort.examined, 1 + 3 + 2 + 3);
}

/// Shreedhar and Varghese, the theorem on the fairness measure: over any span in which two flows are
/// backlogged, what they are sent, each over its weight, differs by at most `2 Max + Quantum`, where `Max`
/// is the largest packet and `Quantum` that of weight 1.
#[test]
fn service_over_weight_differs_by_two_packets_and_a_quantum() {
    let weights = [3, 2, 1];
    let mut proper = 0;
    for (seed, quantum) in (0..40).flat_map(|seed| [(seed, 1514), (seed, 4000)]) {
        let flows = flows::Config { weights: weights.map(Weight::new).to_vec(), ..flows::Config::default() };
        let mut drr = Drr::new(Config { flows, ..Config::new(Bytes::new(quantum)) }).expect("valid");
        let mut random = conformance::Random::new(seed);
        // Flows 0 to 2 have packets all the time, flows 3 to 5 come and go.
        let sizes: Vec<_> = (0..6_000).map(|_| 64 + random.below(1451)).collect();
        let flow = |id: usize| if id < 3_000 { id as u32 % 3 } else { 3 + id as u32 % 3 };
        let offered = |id: usize| (flow(id), sizes[id]);
        offer(&mut drr, 0, &(0..3_000).map(offered).collect::<Vec<_>>());
        let (mut sent, mut span) = ([0.0; 6], [[0.0_f64; 2]; 3]);
        for id in 3_000..5_000 {
            if random.one_in(3) {
                offer(&mut drr, id as u32, &[offered(id)]);
            }
            for id in serve(&mut drr, &Open, 1) {
                let (flow, size) = offered(id as usize);
                sent[flow as usize] += size as f64 / weights.get(flow as usize).copied().unwrap_or(1) as f64;
            }
            for (span, (i, j)) in span.iter_mut().zip([(0, 1), (0, 2), (1, 2)]) {
                let difference = sent[i] - sent[j];
                *span = [span[0].min(difference), span[1].max(difference)];
            }
        }
        for [low, high] in span {
            let bound = (2 * 1514 + quantum) as f64;
            assert!(high - low <= bound, "{} against {bound}", high - low);
            proper += u32::from(high - low > 0.5 * bound);
        }
    }
    assert!(proper > 20, "the bound is not put to the test: {proper}");
}

/// The paper's pseudo-code, with `current` for the flow that its dequeuing module is serving, and with
/// the gate: a flow held back in its turn loses its deficit and goes to the end of the list.
struct Paper<I> {
    queues: Vec<VecDeque<I>>,
    deficits: Vec<u64>,
    active: VecDeque<usize>,
    current: Option<usize>,
    quantum: u64,
}

impl<I> Paper<I> {
    fn new(quantum: u64) -> Self {
        let queues = (0..8).map(|_| VecDeque::new()).collect();
        Self { queues, deficits: vec![0; 8], active: VecDeque::new(), current: None, quantum }
    }
}

impl<I: Sample> Discipline<I> for Paper<I> {
    fn enqueue(&mut self, _now: Instant, item: I, _drops: &mut dyn Drops<I>) -> Enqueued {
        let i = item.flow().0 as usize;
        if !self.active.contains(&i) && self.current != Some(i) {
            self.active.push_back(i);
            self.deficits[i] = 0;
        }
        self.queues[i].push_back(item);
        Enqueued::Queued
    }

    fn dequeue(&mut self, _: Instant, gate: &dyn Gate<I>, _: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let mut held = 0;
        loop {
            if self.current.is_none() {
                let i = self.active.pop_front()?;
                self.deficits[i] += self.quantum;
                self.current = Some(i);
            }
            let i = self.current?;
            let Some(head) = self.queues[i].front() else {
                self.deficits[i] = 0;
                self.current = None;
                continue;
            };
            let fits = head.cost().count() <= self.deficits[i];
            if gate.permits(head) && fits {
                let item = self.queues[i].pop_front()?;
                self.deficits[i] -= item.cost().count();
                return Some(Grant { item, quantum: item.cost() });
            }
            if gate.permits(head) {
                held = 0;
            } else {
                held += 1;
                self.deficits[i] = 0;
            }
            self.active.push_back(i);
            self.current = None;
            if held == self.active.len() {
                return None;
            }
        }
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        conformance::backlog_of(self.queues.iter().flatten())
    }
}

#[test]
fn agrees_with_the_paper() {
    for quantum in [1, 64, 700, 2048] {
        conformance::agree::<Packet, _, _>(|| drr(quantum), || Paper::new(quantum), PROMISES);
    }
    for quantum in [1, 7, 40] {
        conformance::agree::<Message<Packets>, _, _>(|| drr(quantum), || Paper::new(quantum), PROMISES);
    }
}

impl<I> Lists<I> for Paper<I> {
    fn lengths(&self) -> Vec<usize> {
        self.queues.iter().map(VecDeque::len).collect()
    }

    fn evict(&mut self, flow: usize) -> Option<I> {
        self.queues[flow].pop_back()
    }
}

fn evicting<I: Item>(quantum: u64, limit: u64) -> Drr<I> {
    let limits = Limits { limit: Packets::new(limit), ..Limits::NONE };
    let flows = flows::Config { limits, full: Full::Longest, ..flows::Config::default() };
    Drr::new(Config { flows, ..Config::new(I::Cost::of(quantum)) }).expect("valid")
}

conformance::suite!(conforms_evicting, || evicting(500, 5), [work_conserving, flow_order]);

#[test]
fn agrees_with_the_paper_where_the_longest_queue_gives_way() {
    for (quantum, limit) in [(64, 3), (700, 5), (2048, 16)] {
        let naive = || Evicting::new(Paper::new(quantum), limit as usize);
        conformance::agree::<Packet, _, _>(|| evicting(quantum, limit), naive, PROMISES);
        let naive = || Evicting::new(Paper::new(quantum), limit as usize);
        conformance::agree::<Message<Packets>, _, _>(|| evicting(quantum, limit), naive, PROMISES);
    }
}
