//! Benchmarks of the packet disciplines behind a gate of link credits: `core/NAME/N` has N backlogged
//! classes, and a packet is one `dequeue` and one `enqueue` together.

use std::hint::black_box;

use weir_core::discipline::{CountDrops, Discipline, Gate};
use weir_core::item::{ClassId, FlowId, Packet};
use weir_core::registry::{Visitor, packet_discipline, visit_packet};
use weir_core::units::{Bytes, Instant, Nanos};

use crate::bench::{Bench, Round, Unit};

/// Packets of a round.
const PACKETS: u32 = 20_000;
const CLASSES: [(&str, &str, u32); 4] = [
    ("fifo", "fifo", 7),
    ("drr", "drr(quantum=2048B,by=class)", 7),
    ("drr", "drr(quantum=2048B)", 1000),
    ("tbf", "tbf(drr(quantum=2048B,by=class),rate=40Gbit,burst=15140B)", 7),
];
const BOXED: (&str, u32) = ("drr(quantum=2048B,by=class)", 7);

pub(super) fn benches() -> Vec<Bench> {
    let unit = Unit::Time("ns/packet");
    let single = CLASSES.into_iter().map(|(name, spec, classes)| {
        let round = move || {
            let spec = spec.parse().expect("the specs of the benchmarks are valid");
            visit_packet(&spec, Backlogged(classes)).expect("the specs of the benchmarks are valid")
        };
        Bench::new(format!("core/{name}/{classes}"), unit, round)
    });
    let boxed = Bench::new("core/drr/boxed/7", unit, || {
        let spec = BOXED.0.parse().expect("the specs of the benchmarks are valid");
        let discipline = packet_discipline(&spec).expect("the specs of the benchmarks are valid");
        Backlogged(BOXED.1).visit(discipline)
    });
    single.chain([boxed]).collect()
}

/// Link credits, by class.
struct Credits([u64; 8]);

impl Gate<Packet> for Credits {
    fn permits(&self, head: &Packet) -> bool {
        head.size.get() <= self.0[usize::from(head.class.0 % 8)]
    }
}

fn packet(id: u32, class: u32) -> Packet {
    let size = 64 + u64::from(id.wrapping_mul(0x9E37_79B9) >> 22);
    Packet { id, flow: FlowId(class), class: ClassId(class as u16), size: Bytes::new(size) }
}

/// Each packet that leaves is followed by another of its class; so many classes.
struct Backlogged(u32);

impl Visitor<Packet> for Backlogged {
    type Output = Round;

    fn visit<D: Discipline<Packet> + Send + 'static>(self, mut discipline: D) -> Round {
        let gate = black_box(Credits([4_096; 8]));
        let mut now = Instant::ZERO;
        for id in 0..16 * self.0 {
            let _ = discipline.enqueue(now, packet(id, id % self.0), &mut CountDrops(0));
        }
        Box::new(move || {
            let drops = &mut CountDrops(0);
            let mut id = 0;
            while id < PACKETS {
                now += Nanos::new(1_000);
                if let Some(grant) = discipline.dequeue(now, &gate, drops) {
                    id += 1;
                    discipline.finish(now, &grant.item, grant.quantum);
                    let _ = discipline.enqueue(now, packet(id, grant.item.flow.0), drops);
                }
            }
            u64::from(PACKETS)
        })
    }
}
