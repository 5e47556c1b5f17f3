//! The serial forms, entry by entry and straight from the rules, with a lockstep that holds the whole-table forms to
//! them: the same packets, the same effort, and no flow asked of the gate twice in a decision.

use std::cell::RefCell;
use std::collections::VecDeque;

use super::{Entry, Table, credits};
use crate::conformance::Random;
use crate::discipline::{Backlog, CountDrops, Discipline, Drops, Effort, Enqueued, Gate, Grant};
use crate::item::{Item, Packet};
use crate::packet::testing::packet;
use crate::units::{Bytes, Credits, Instant};

/// What a rule sees of a flow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::packet) enum Head {
    /// It has no packet.
    None,
    /// The gate does not permit its head.
    Stalled,
    /// It is active, with a head of this many credits.
    Active(u64),
}

/// The serial form of a discipline of tables.
pub(in crate::packet) trait Rule {
    /// The flow to serve, and how many entries have been examined.
    fn decide(&mut self, head: &dyn Fn(u16) -> Head) -> Option<(u16, u64)>;
}

/// Examines entry after entry behind `at`, around the ring and `at` itself last: the first that has a weight and an
/// active flow, and how many were examined.
pub(in crate::packet) fn search(
    table: &[Option<Entry>],
    at: usize,
    head: &dyn Fn(u16) -> Head,
) -> Option<(usize, u64)> {
    (1..=table.len()).find_map(|passed| {
        let next = (at + passed) % table.len();
        let active = |entry: Entry| entry.weight.get() > 0 && matches!(head(entry.flow), Head::Active(_));
        table[next].is_some_and(active).then_some((next, passed as u64))
    })
}

/// A rule with a queue for each flow.
pub(in crate::packet) struct Serial<R> {
    rule: R,
    queues: Vec<VecDeque<Packet>>,
    backlog: Backlog<Bytes>,
    effort: Effort,
    read_ahead: u64,
}

impl<R: Rule> Serial<R> {
    pub(in crate::packet) fn new(rule: R, read_ahead: u64) -> Self {
        let queues = vec![VecDeque::new(); super::MAX_ENTRIES];
        Self { rule, queues, backlog: Backlog::default(), effort: Effort::default(), read_ahead }
    }
}

impl<R: Rule> Discipline<Packet> for Serial<R> {
    fn enqueue(&mut self, _now: Instant, item: Packet, _drops: &mut dyn Drops<Packet>) -> Enqueued {
        self.backlog.add(item.size);
        self.queues[item.flow.0 as usize].push_back(item);
        Enqueued::Queued
    }

    fn dequeue(
        &mut self,
        _now: Instant,
        gate: &dyn Gate<Packet>,
        _drops: &mut dyn Drops<Packet>,
    ) -> Option<Grant<Packet>> {
        let head = |flow: u16| match self.queues[usize::from(flow)].front() {
            None => Head::None,
            Some(head) if gate.permits(head) => Head::Active(credits(head.size).get()),
            Some(_) => Head::Stalled,
        };
        let (flow, examined) = self.rule.decide(&head)?;
        self.effort.count(examined, self.read_ahead);
        let item = self.queues[usize::from(flow)].pop_front()?;
        self.backlog.remove(item.size);
        Some(Grant { item, quantum: item.cost() })
    }

    fn backlog(&self) -> Backlog<Bytes> {
        self.backlog
    }

    fn effort(&self) -> Option<Effort> {
        Some(self.effort)
    }
}

/// A table of any shape: one entry to many words of them, some free, flows near and far.
pub(in crate::packet) fn random_table(random: &mut Random, weights: core::ops::RangeInclusive<u64>) -> Table {
    const LENGTHS: [usize; 12] = [1, 2, 5, 8, 31, 63, 64, 65, 100, 128, 200, 1024];
    let length = LENGTHS[random.below(12) as usize];
    let (flows, far) = (1 + random.below(8), random.one_in(4));
    let (low, span) = (*weights.start(), weights.end() - weights.start() + 1);
    let mut entry = || {
        let flow = random.below(flows) as u16 * if far { 127 } else { 1 };
        let weight = Credits::new(low + random.below(span));
        (!random.one_in(5)).then_some(Entry { flow, weight })
    };
    let entries = (0..length).map(|_| entry()).collect();
    Table::new(entries).expect("a valid table")
}

/// Permits packets of some flows, up to a size, and keeps who was asked for.
struct Asked {
    closed: u64,
    largest: u64,
    asked: RefCell<Vec<u32>>,
}

impl Gate<Packet> for Asked {
    fn permits(&self, head: &Packet) -> bool {
        self.asked.borrow_mut().push(head.flow.0);
        self.closed >> (head.flow.0 % 64) & 1 == 0 && head.size.get() <= self.largest
    }
}

/// Drives both through random arrivals and gates, packets of up to `largest` bytes; how many were served.
pub(in crate::packet) fn lockstep<D: Discipline<Packet>, R: Rule>(
    random: &mut Random,
    flows: &[u16],
    largest: u64,
    whole: &mut D,
    serial: &mut Serial<R>,
    check: impl Fn(&D),
) -> u64 {
    let (now, drops, mut served) = (Instant::ZERO, &mut CountDrops(0), 0);
    let eager = 1 + random.below(4);
    for id in 0..600 {
        if random.below(5) < eager && !flows.is_empty() {
            let flow = flows[random.below(flows.len() as u64) as usize];
            let item = packet(id, flow.into(), random.below(largest + 1));
            let _ = (whole.enqueue(now, item, drops), serial.enqueue(now, item, drops));
        }
        let closed = if random.one_in(2) { 0 } else { random.bits() & random.bits() };
        let largest = if random.one_in(4) { random.below(largest + 1) } else { u64::MAX };
        let gate = Asked { closed, largest, asked: RefCell::default() };
        let granted = whole.dequeue(now, &gate, drops);
        let mut asked = gate.asked.take();
        let count = asked.len();
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked.len(), count, "a flow is asked of the gate twice");
        assert_eq!(granted, serial.dequeue(now, &gate, drops));
        assert_eq!(whole.effort(), serial.effort());
        assert_eq!(whole.backlog(), serial.backlog());
        check(whole);
        served += u64::from(granted.is_some());
    }
    assert_eq!(*drops, CountDrops(0));
    served
}

/// Serves always backlogged flows of constant sizes; returns each flow's share of the bytes of `packets` packets.
pub(in crate::packet) fn saturated(
    discipline: &mut dyn Discipline<Packet>,
    sizes: &[u64],
    packets: u64,
) -> Vec<f64> {
    use crate::discipline::Open;
    let (now, drops, mut sent) = (Instant::ZERO, &mut CountDrops(0), vec![0.0; sizes.len()]);
    for (flow, &size) in sizes.iter().enumerate() {
        for id in 0..2 {
            let _ = discipline.enqueue(now, packet(id, flow as u32, size), drops);
        }
    }
    for _ in 0..packets {
        let item = discipline.dequeue(now, &Open, drops).expect("something waits").item;
        sent[item.flow.0 as usize] += item.size.get() as f64;
        let _ = discipline.enqueue(now, item, drops);
    }
    let all: f64 = sent.iter().sum();
    sent.iter().map(|sent| sent / all).collect()
}

/// Holds shares to what the closed form says, within 0.1 % of it.
pub(in crate::packet) fn assert_shares(shares: &[f64], expected: &[f64]) {
    for (share, expected) in shares.iter().zip(expected) {
        assert!((share / expected - 1.0).abs() < 1e-3, "{shares:?}, expected {expected}");
    }
}

/// The largest share less the smallest.
pub(in crate::packet) fn spread(shares: &[f64]) -> f64 {
    let (low, high) =
        shares.iter().fold((1.0_f64, 0.0_f64), |(low, high), &share| (low.min(share), high.max(share)));
    high - low
}

/// The four flows of equal tables, each with 16 of 64 entries, and two choices of their packets' sizes.
pub(in crate::packet) const SIZES: [[u64; 4]; 2] = [[64, 256, 1024, 2048], [128, 512, 1024, 2176]];

/// What a spec names; its packets of (flow, size), named in this order, are offered at once.
pub(in crate::packet) fn offered(spec: &str, packets: &[(u32, u64)]) -> Box<dyn Discipline<Packet> + Send> {
    let mut discipline = crate::registry::packet_discipline(&spec.parse().expect(spec)).expect(spec);
    offer(&mut *discipline, 0, packets);
    discipline
}

/// Offers packets of (flow, size), named from `from` on.
pub(in crate::packet) fn offer(discipline: &mut dyn Discipline<Packet>, from: usize, packets: &[(u32, u64)]) {
    let drops = &mut CountDrops(0);
    for (id, &(flow, size)) in (from..).zip(packets) {
        let _ = discipline.enqueue(Instant::ZERO, packet(id, flow, size), drops);
    }
    assert_eq!(*drops, CountDrops(0));
}

/// Permits all flows but these.
pub(in crate::packet) struct Without(pub(in crate::packet) &'static [u32]);

impl Gate<Packet> for Without {
    fn permits(&self, head: &Packet) -> bool {
        !self.0.contains(&head.flow.0)
    }
}

/// The names of the next packets, at most `at_most` of them.
pub(in crate::packet) fn serve(
    discipline: &mut dyn Discipline<Packet>,
    gate: &dyn Gate<Packet>,
    at_most: usize,
) -> Vec<u32> {
    let drops = &mut CountDrops(0);
    let next = || discipline.dequeue(Instant::ZERO, gate, drops).map(|grant| grant.item.id);
    std::iter::from_fn(next).take(at_most).collect()
}

/// Why a spec is refused.
pub(in crate::packet) fn refused(spec: &str) -> String {
    let refused = crate::registry::packet_discipline::<Packet>(&spec.parse().expect(spec)).err();
    refused.map(|error| error.to_string()).unwrap_or_default()
}
