//! What gives way when the longest queue does, over lists that are searched, and the rules that hold for every
//! discipline with it, for the tests of this folder.

use super::testing::packet;
use crate::conformance::{Random, Sample};
use crate::discipline::{Backlog, Discipline, DropReason, Drops, Enqueued, Gate, Grant, Open};
use crate::item::{Item, Packet};
use crate::registry::packet_discipline;
use crate::units::Instant;

/// A naive discipline whose queues can be seen, one for each flow.
pub(super) trait Lists<I> {
    /// How many packets wait in each.
    fn lengths(&self) -> Vec<usize>;
    /// Takes a packet out of a queue of at least two: the last, or that which the discipline loses.
    fn evict(&mut self, flow: usize) -> Option<I>;
}

/// A naive discipline in which at most `limit` packets wait, and the longest queue gives way to shorter ones.
pub(super) struct Evicting<O> {
    naive: O,
    limit: usize,
    /// The length of each queue, and when it got it.
    seen: Vec<(usize, u64)>,
    changes: u64,
}

impl<O> Evicting<O> {
    pub(super) fn new(naive: O, limit: usize) -> Self {
        Self { naive, limit, seen: Vec::new(), changes: 0 }
    }

    fn see<I>(&mut self)
    where
        O: Lists<I>,
    {
        let lengths = self.naive.lengths();
        self.seen.resize(lengths.len(), (0, 0));
        for (seen, length) in self.seen.iter_mut().zip(lengths) {
            if seen.0 != length {
                self.changes += 1;
                *seen = (length, self.changes);
            }
        }
    }
}

impl<I: Sample, O: Discipline<I> + Lists<I>> Discipline<I> for Evicting<O> {
    fn enqueue(&mut self, now: Instant, item: I, drops: &mut dyn Drops<I>) -> Enqueued {
        self.see();
        if self.seen.iter().map(|(length, _)| length).sum::<usize>() >= self.limit {
            let own = self.seen[item.flow().0 as usize].0;
            let longest = (0..self.seen.len()).max_by_key(|&flow| self.seen[flow]);
            let longest = longest.filter(|&flow| self.seen[flow].0 > own + 1);
            let Some(dropped) = longest.and_then(|flow| self.naive.evict(flow)) else {
                drops.dropped(item, DropReason::QueueFull);
                return Enqueued::Queued;
            };
            drops.dropped(dropped, DropReason::QueueFull);
            self.see();
        }
        let enqueued = self.naive.enqueue(now, item, drops);
        self.see();
        enqueued
    }

    fn dequeue(&mut self, now: Instant, gate: &dyn Gate<I>, drops: &mut dyn Drops<I>) -> Option<Grant<I>> {
        let granted = self.naive.dequeue(now, gate, drops);
        self.see();
        granted
    }

    fn backlog(&self) -> Backlog<I::Cost> {
        self.naive.backlog()
    }
}

/// The disciplines that can be given `full=longest`, and whether they drop at the head.
const ALL: [(&str, bool); 5] = [
    ("drr(quantum=500B", false),
    ("wfq(rate=8Gbit", false),
    ("scfq(flows=9", false),
    ("wf2q_plus(flows=9", false),
    ("fq(flows=9", true),
];

fn discipline(name: &str, more: &str) -> Box<dyn Discipline<Packet> + Send> {
    packet_discipline::<Packet>(&format!("{name},{more})").parse().expect("a spec")).expect("valid")
}

/// Offers packets of these flows; the names of those that were dropped, in order.
fn offer(discipline: &mut dyn Discipline<Packet>, from: usize, flows: &[u32]) -> Vec<u32> {
    let mut drops: Vec<(Packet, DropReason)> = Vec::new();
    for (id, &flow) in (from..).zip(flows) {
        let _ = discipline.enqueue(Instant::ZERO, packet(id, flow, 100), &mut drops);
    }
    assert!(drops.iter().all(|(_, reason)| *reason == DropReason::QueueFull));
    drops.into_iter().map(|(packet, _)| packet.id).collect()
}

#[test]
fn the_longest_queue_gives_way_to_shorter_ones() {
    for (name, head) in ALL {
        let mut queue = discipline(name, "limit=6pkt,full=longest");
        // Flow 0 has four packets, flow 1 two: flow 2 takes two of flow 0's places, and the next newcomer of any would
        // be as many as the longest.
        let dropped = offer(&mut *queue, 0, &[0, 0, 0, 0, 1, 1, 2, 2, 2, 0, 1]);
        assert_eq!(dropped, if head { [0, 1, 8, 9, 10] } else { [3, 2, 8, 9, 10] }, "{name}");
        // Of several as long the one that had another length last: flow 2.
        assert_eq!(offer(&mut *queue, 11, &[3]), if head { [6] } else { [7] }, "{name}");
        assert_eq!(queue.backlog().items, 6);
    }
}

#[test]
fn where_all_have_one_packet_the_newcomer_is_refused() {
    for (name, _) in ALL {
        let mut queue = discipline(name, "limit=3pkt,full=longest");
        assert_eq!(offer(&mut *queue, 0, &[0, 1, 2, 3, 4, 0]), [3, 4, 5], "{name}");
    }
}

#[test]
fn a_depth_refuses_the_newcomer_nevertheless() {
    for (name, _) in ALL {
        let mut queue = discipline(name, "depth=2pkt,limit=9pkt,full=longest");
        assert_eq!(offer(&mut *queue, 0, &[0, 0, 0, 1]), [2], "{name}");
    }
}

/// Whatever comes, the bound holds, what is dropped is said once, and a flow loses nothing while another has two packets
/// more than it.
#[test]
fn a_flow_loses_nothing_while_another_has_two_packets_more() {
    for (name, _) in ALL {
        let mut queue = discipline(name, "limit=12pkt,full=longest");
        let (mut random, mut waiting) = (Random::new(9), vec![0_u32; 5]);
        let (mut evicted, mut refused) = (0, 0);
        for id in 0..20_000 {
            if random.one_in(3) {
                let grant = queue.dequeue(Instant::new(id), &Open, &mut Vec::new());
                grant.iter().for_each(|grant| waiting[grant.item.flow().0 as usize] -= 1);
                grant.iter().for_each(|grant| queue.finish(Instant::new(id), &grant.item, grant.quantum));
                continue;
            }
            let flow = random.below(5).min(random.below(5)) as u32;
            let mut drops: Vec<(Packet, DropReason)> = Vec::new();
            let newcomer = packet(id as usize, flow, 64 + random.below(1451));
            let _ = queue.enqueue(Instant::new(id), newcomer, &mut drops);
            let longest = waiting.iter().copied().max().unwrap_or(0);
            let own = waiting[flow as usize];
            waiting[flow as usize] += 1;
            for (dropped, _) in &drops {
                waiting[dropped.flow().0 as usize] -= 1;
                if dropped.id == newcomer.id {
                    assert!(own + 1 >= longest, "{name}: {own} of {longest}");
                    refused += 1;
                } else {
                    assert!(own + 1 < longest, "{name}: {own} of {longest}");
                    evicted += 1;
                }
            }
            assert!(drops.len() <= 1 && waiting.iter().sum::<u32>() <= 12, "{name}");
            assert_eq!(queue.backlog().items, u64::from(waiting.iter().sum::<u32>()), "{name}");
        }
        assert!(evicted > 1_000 && refused > 1_000, "{name}: {evicted}, {refused}");
    }
}

/// A flow that sends less than its share loses nothing to flows that send more than theirs, however many packets these
/// have; where the newcomer is refused it loses what they do.
#[test]
fn a_light_flow_loses_nothing_to_saturating_ones() {
    for (name, _) in ALL {
        for (full, fair) in [("longest", true), ("newcomer", false)] {
            let mut queue = discipline(name, &format!("limit=20pkt,full={full}"));
            let (mut sent, mut lost) = (0, 0);
            let mut drops: Vec<(Packet, DropReason)> = Vec::new();
            // Of nine flows eight send two packets in each of their slots; the ninth one packet in two rounds.
            for (id, slot) in (0_usize..).zip(0..5_000_u64) {
                let now = Instant::new(slot * 100);
                for flow in [slot % 8, (slot + 3) % 8] {
                    let _ = queue.enqueue(now, packet(2 * id, flow as u32, 100), &mut drops);
                }
                if slot % 18 == 5 {
                    sent += 1;
                    let _ = queue.enqueue(now, packet(2 * id + 1, 8, 100), &mut drops);
                }
                lost += drops.drain(..).filter(|(packet, _)| packet.flow().0 == 8).count();
                let grant = queue.dequeue(now, &Open, &mut drops);
                grant.iter().for_each(|grant| queue.finish(now, &grant.item, grant.quantum));
            }
            assert_eq!(lost == 0, fair, "{name}, {full}: {lost} of {sent}");
            assert!(fair || lost > sent / 4, "{name}, {full}: {lost} of {sent}");
        }
    }
}
