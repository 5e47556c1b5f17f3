//! A link that sends a byte in a nanosecond, and the fluid system with the same arrivals, for the tests of this folder.

use std::collections::VecDeque;

use crate::conformance::Random;
use crate::discipline::{CountDrops, Discipline, Open};
use crate::item::{ClassId, FlowId, Packet};
use crate::units::{Bytes, Instant};

/// The rate of the link.
pub(super) const RATE: &str = "8Gbit";

/// A packet comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) at: u64,
    pub(super) flow: u32,
    pub(super) size: u64,
}

/// A packet is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Its place among the arrivals.
    pub(super) id: usize,
    pub(super) flow: usize,
    pub(super) size: u64,
    pub(super) end: u64,
    /// The flows that had packets when it was chosen, one bit each.
    pub(super) backlogged: u64,
}

pub(super) fn packet(id: usize, flow: u32, size: u64) -> Packet {
    Packet { id: id as u32, flow: FlowId(flow), class: ClassId(flow as u16), size: Bytes::new(size) }
}

/// Packets in the order of their arrival, (at, flow, size).
pub(super) fn arrivals(of: &[(u64, u32, u64)]) -> Vec<Arrival> {
    of.iter().map(|&(at, flow, size)| Arrival { at, flow, size }).collect()
}

/// Bursts and pauses of `flows` flows, at `load` hundredths of the rate of the link.
pub(super) fn random_arrivals(seed: u64, flows: u64, load: u64, count: usize) -> Vec<Arrival> {
    let mut random = Random::new(seed);
    let (mut at, mut flow) = (0, 0);
    let mut next = || {
        if !random.one_in(3) {
            flow = random.below(flows) as u32;
        }
        at += match random.below(40) {
            0 => 20_000,
            1..20 => 0,
            _ => random.below(2 * 790 * 200 / load) / 2,
        };
        Arrival { at, flow, size: 64 + random.below(1451) }
    };
    (0..count).map(|_| next()).collect()
}

/// Sends all of them, in the order that the discipline decides. At one instant packets arrive first.
pub(super) fn transmit(discipline: &mut dyn Discipline<Packet>, arrivals: &[Arrival]) -> Vec<Sent> {
    let mut drops = CountDrops(0);
    let (mut now, mut arrived, mut sent) = (0, 0, Vec::new());
    let mut waiting = [0_u32; 64];
    while sent.len() < arrivals.len() {
        while let Some(arrival) = arrivals.get(arrived).filter(|arrival| arrival.at <= now) {
            let item = packet(arrived, arrival.flow, arrival.size);
            let _ = discipline.enqueue(Instant::new(arrival.at), item, &mut drops);
            waiting[arrival.flow as usize] += 1;
            arrived += 1;
        }
        let Some(grant) = discipline.dequeue(Instant::new(now), &Open, &mut drops) else {
            now = arrivals[arrived].at;
            continue;
        };
        let backlogged = (0..64).map(|flow| u64::from(waiting[flow] > 0) << flow).sum();
        let Packet { id, flow, size, .. } = grant.item;
        now += size.get();
        waiting[flow.0 as usize] -= 1;
        let (id, flow, size) = (id as usize, flow.0 as usize, size.get());
        sent.push(Sent { id, flow, size, end: now, backlogged });
    }
    assert_eq!(drops, CountDrops(0));
    sent
}

/// The places of the packets among the arrivals, in the order in which they are sent.
pub(super) fn order(discipline: &mut dyn Discipline<Packet>, arrivals: &[Arrival]) -> Vec<usize> {
    transmit(discipline, arrivals).iter().map(|sent| sent.id).collect()
}

/// The flows of the packets, in the order in which they are sent.
pub(super) fn flow_order(discipline: &mut dyn Discipline<Packet>, arrivals: &[Arrival]) -> Vec<usize> {
    transmit(discipline, arrivals).iter().map(|sent| sent.flow).collect()
}

/// When the fluid system finishes each packet: all flows that have something left are served at once, in
/// proportion to their weights. Event by event, in floating point, straight from the definition.
pub(super) fn fluid(arrivals: &[Arrival], weights: &[u64]) -> Vec<f64> {
    let mut finished = vec![f64::NAN; arrivals.len()];
    let mut queues = vec![VecDeque::<(usize, f64)>::new(); weights.len()];
    let (mut now, mut arrived) = (0.0, 0);
    loop {
        let active = |flow: &usize| !queues[*flow].is_empty();
        let flows: Vec<usize> = (0..weights.len()).filter(active).collect();
        let all: u64 = flows.iter().map(|&flow| weights[flow]).sum();
        let share = |flow: usize| weights[flow] as f64 / all as f64;
        let completes = flows.iter().map(|&flow| now + queues[flow][0].1 / share(flow));
        let completion = completes.fold(f64::INFINITY, f64::min);
        let arrival = arrivals.get(arrived).map_or(f64::INFINITY, |arrival| arrival.at as f64);
        let next = completion.min(arrival);
        if next == f64::INFINITY {
            return finished;
        }
        for &flow in &flows {
            queues[flow][0].1 -= (next - now) * share(flow);
            if queues[flow][0].1 < 1e-6 {
                finished[queues[flow][0].0] = next;
                queues[flow].pop_front();
            }
        }
        now = next;
        if arrival <= now {
            let Arrival { flow, size, .. } = arrivals[arrived];
            queues[flow as usize].push_back((arrived, size as f64));
            arrived += 1;
        }
    }
}
