//! A flood of ever new flows, twice as much as the line takes, next to one flow that asks for half of its share.
//!
//! Flows are hashed into buckets, all of which the flood fills, so the share of a flow is the line's over these. In
//! one measurement the flow that stays has its bucket for itself; in the other the flood fills that too, where nothing
//! tells its packets from the others', and its part is that which it has of what comes for the bucket.

use weir_core::units::{Bytes, Instant};

use crate::Received;
use crate::arena::{Arena, Buffer};
use crate::classify::Classifier;
use crate::config::check::FLOWS;
use crate::config::{Defaults, Router};
use crate::frame::{self, ETHERNET, Frame};
use crate::testing::{Udp, devices, next, own, router};
use crate::{DeviceFacts, Plane};

/// The disciplines that tell flows apart, by the spec that a router has in its file.
const FAIR: [&str; 10] = [
    "drr:quantum=1514B",
    "fq",
    "wfq:rate=8Mbit",
    "scfq",
    "wf2q_plus",
    "sfq:queues=1024,depth=16pkt",
    "sfq_linux",
    "sfq_set",
    "fq_codel",
    "htb(drr:quantum=1514B,rate=8Mbit,classes=8Mbit)",
];
/// Into how many flows they are hashed, where few of the flood have to fill them.
const FEW_BUCKETS: u32 = 64;
const FRAMES: u32 = 16_384;
/// Bytes of IP of each packet, each of which takes a microsecond on the line.
const SIZE: usize = 46;
const SLOT: u64 = SIZE as u64 * 1_000;
/// The ports of the flow that stays.
const STEADY: (u16, u16) = (1_000, 2_000);

/// What became of the flow that stays.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    sent: u64,
    left: u64,
    /// Packets of the flood in its bucket.
    others: u64,
    /// Slots of the line that have passed.
    slots: u64,
    buckets: u32,
}

impl Outcome {
    /// What left of what it sent.
    fn of_demand(self) -> f64 {
        self.left as f64 / self.sent as f64
    }

    /// What left, of its part of what the bucket may have.
    fn of_part(self) -> f64 {
        let (share, came) = (self.slots as f64 / f64::from(self.buckets), (self.sent + self.others) as f64);
        self.left as f64 / (self.sent as f64 * (share / came).min(1.0))
    }
}

/// The router, its line and its clock.
struct Bed {
    plane: Plane,
    arena: Arena,
    labels: Classifier,
    out: Vec<Buffer>,
    frame: Vec<u8>,
}

impl Bed {
    fn new(discipline: &str, buckets: u32) -> Self {
        let told = Router {
            defaults: Defaults::Live,
            memory: Bytes::new(64 << 20),
            flow_buckets: buckets,
            ..router(discipline)
        };
        let labels = Classifier::new(&told, 1);
        let facts: Vec<DeviceFacts> = devices();
        let mut frame = Udp::across(0, 1, SIZE).frame(own(0), next(0));
        // A datagram without a checksum, so that its ports can be written over.
        frame[40..42].fill(0);
        Self {
            plane: Plane::new(told, &facts, FRAMES, 1).expect("a router"),
            arena: Arena::new(FRAMES).expect("memory"),
            labels,
            out: Vec::new(),
            frame,
        }
    }

    /// Makes the next frame one of the flow with these ports; the number of the flow.
    fn write(&mut self, (from, to): (u16, u16)) -> u32 {
        self.frame[34..36].copy_from_slice(&from.to_be_bytes());
        self.frame[36..38].copy_from_slice(&to.to_be_bytes());
        match frame::read(&self.frame) {
            Ok(Frame::Ip(packet)) => self.labels.label(&packet, crate::vlan::Origin::default()).flow.0,
            other => panic!("a packet: {other:?}"),
        }
    }

    fn arrive(&mut self, now: u64) {
        let mut buffer = self.arena.take(256).expect("a free frame");
        assert!(buffer.resize(self.frame.len() as u32));
        self.arena.bytes_mut(&mut buffer).copy_from_slice(&self.frame);
        let received = Received { buffer, partial: None };
        self.plane.arrive(Instant::new(now), 0, received, &mut self.arena);
    }

    /// How many packets of the flow that stays have left up to `now`.
    fn depart(&mut self, now: u64) -> u64 {
        self.plane.depart(Instant::new(now), 1, u32::MAX, &mut self.arena, &mut self.out);
        let ports = [STEADY.0.to_be_bytes(), STEADY.1.to_be_bytes()].concat();
        let mut steady = 0;
        for buffer in self.out.drain(..) {
            steady += u64::from(self.arena.bytes(&buffer)[ETHERNET + 20..][..4] == ports);
            self.arena.give(buffer);
        }
        steady
    }
}

/// A flood of `flows` new flows, one packet each.
fn flood(discipline: &str, flows: u64, buckets: u32, alone: bool) -> Outcome {
    let mut bed = Bed::new(discipline, buckets);
    let mine = bed.write(STEADY);
    let mut outcome = Outcome { buckets, ..Outcome::default() };
    // Two packets of the flood in a slot; of the flow that stays one in two rounds of all buckets, at no fixed place.
    let (mut at, mut due, round) = (0, SLOT, 2 * u64::from(buckets) * SLOT);
    for flow in 0..flows {
        let label = bed.write(((3_000 + flow % 60_000) as u16, (3_000 + flow / 60_000) as u16));
        if label != mine || !alone {
            outcome.others += u64::from(label == mine);
            bed.arrive(at);
        }
        at += SLOT / 2;
        if due <= at {
            bed.write(STEADY);
            bed.arrive(at);
            outcome.sent += 1;
            due += round - SLOT / 3;
        }
        outcome.left += bed.depart(at);
    }
    outcome.slots = at / SLOT;
    // What waits yet leaves after the flood. The line makes up for no more than 50 ms at once.
    outcome.left += (1..500).map(|later| bed.depart(at + later * 10_000_000)).sum::<u64>();
    assert_eq!(bed.plane.waiting(), 0);
    outcome
}

#[test]
fn a_flood_of_new_flows_leaves_a_flow_its_share() {
    for discipline in FAIR {
        let alone = flood(discipline, 40_000, FEW_BUCKETS, true);
        assert!(alone.sent > 150 && alone.of_demand() >= 0.95, "{discipline}: {alone:?}");
        let shared = flood(discipline, 40_000, FEW_BUCKETS, false);
        assert!(shared.of_part() >= 0.7, "{discipline}: {shared:?}: {}", shared.of_part());
    }
}

#[test]
fn who_refuses_newcomers_or_has_one_queue_does_not() {
    for discipline in [
        "drr:quantum=1514B,full=newcomer",
        "fq:full=newcomer",
        "scfq:full=newcomer",
        "fifo",
        "codel",
        "tbf(fifo,rate=8Mbit,burst=3kB)",
    ] {
        let alone = flood(discipline, 40_000, FEW_BUCKETS, true);
        assert!(alone.of_demand() < 0.8, "{discipline}: {alone:?}");
    }
}

/// `make flood` prints what ten million flows leave with the defaults; `WEIR_FLOWS` is another number of them.
#[test]
#[ignore = "minutes: `make flood`"]
fn ten_million_flows() {
    let flows = std::env::var("WEIR_FLOWS").map_or(10_000_000, |flows| flows.parse().expect("a number"));
    println!(
        "| discipline | of what it asks, alone in its bucket | of its part, among the flood |\n|---|---|---|"
    );
    // With its own defaults `sfq_linux` has 128 queues and room for 127 packets, fewer than there are buckets.
    let wide = "sfq_linux:flows=1024,limit=1985pkt";
    let unfair = ["sfq_linux", "fifo", "codel", "tbf(fifo,rate=8Mbit,burst=3kB)"];
    let fair = FAIR.map(|discipline| if discipline == "sfq_linux" { wide } else { discipline });
    let mut failed = Vec::new();
    for discipline in fair.into_iter().chain(unfair) {
        let [alone, shared] = [true, false].map(|alone| flood(discipline, flows, FLOWS, alone));
        let (of_demand, of_part) = (100.0 * alone.of_demand(), 100.0 * shared.of_part());
        let sent = alone.sent;
        println!("| `{discipline}` | {of_demand:.1} % of {sent} packets | {of_part:.1} % |");
        if of_demand < 95.0 && !unfair.contains(&discipline) {
            failed.push(discipline);
        }
    }
    assert!(failed.is_empty(), "less than 95 % of what it asks: {failed:?}");
}
