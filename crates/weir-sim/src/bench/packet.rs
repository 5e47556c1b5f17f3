//! Benchmarks of the packet disciplines behind a gate of link credits: `packet/NAME/N` has N backlogged
//! flows, and a packet is one `dequeue` and one `enqueue` together.
//!
//! Sixteen packets of each flow wait, two where there are a million; each that leaves is followed by
//! another of its flow, a microsecond after the one before. Active queue management has a target that is
//! never reached: what is measured is the queue, not the dropping.
//!
//! Flows are filled in turn, so that under a discipline that serves in turn their entries and their packets
//! lie in memory in the order of service. In `packet/NAME/N/scattered` they do not: what is measured there
//! is mostly the memory.
//!
//! `packet/NAME/64x8` has eight flows in a table of 64 entries.

use std::hint::black_box;

use crate::bench::{Bench, Round, Unit};
use weir_core::discipline::{CountDrops, Discipline, Gate, Grant};
use weir_core::item::{ClassId, FlowId, Packet};
use weir_core::registry::{Visitor, packet_discipline, visit_packet};
use weir_core::spec::Spec;
use weir_core::units::{Bytes, Instant, Nanos};

/// Packets of a round.
const PACKETS: u32 = 20_000;

/// Numbers of flows.
const SEVEN: u32 = 7;
const THOUSAND: u32 = 1_000;
const MILLION: u32 = 1_000_000;

/// Name, spec and numbers of flows of each; `FLOWS` stands for the number of flows. Those that hash have as
/// many queues as there are flows, or the most they can have.
const BENCHES: [(&str, &str, &[u32]); 15] = [
    ("fifo", "fifo", &[SEVEN, THOUSAND, MILLION]),
    ("drr", "drr(quantum=2048B,flows=FLOWS)", &[SEVEN, THOUSAND, MILLION]),
    ("wfq", "wfq(rate=5Gbit,flows=FLOWS)", &[SEVEN, THOUSAND, MILLION]),
    ("scfq", "scfq(flows=FLOWS)", &[SEVEN, THOUSAND, MILLION]),
    ("wf2q_plus", "wf2q_plus(flows=FLOWS)", &[SEVEN, THOUSAND, MILLION]),
    ("sfq", "sfq(queues=FLOWS,depth=1000pkt)", &[SEVEN, THOUSAND, MILLION]),
    ("sfq_linux", "sfq_linux(flows=65408,divisor=65536,limit=8000000pkt)", &[SEVEN, THOUSAND, MILLION]),
    ("sfq_set", "sfq_set(queues=FLOWS,ways=1,limit=8000000pkt)", &[SEVEN, THOUSAND, MILLION]),
    ("fq", "fq(discipline=fifo,flows=FLOWS)", &[SEVEN, THOUSAND, MILLION]),
    (
        "fq_codel",
        "fq_codel(limit=8000000pkt,memory_limit=1048576MiB,flows=65536,target=1000s,interval=10000s)",
        &[SEVEN, THOUSAND, MILLION],
    ),
    ("cake", "cake(memlimit=1048576MiB,rtt=100000s,queues=65536)", &[SEVEN, THOUSAND, MILLION]),
    ("codel", "codel(target=1000s,interval=10000s,limit=8000000pkt)", &[SEVEN, THOUSAND, MILLION]),
    ("drr/class", "drr(quantum=2048B,by=class)", &[SEVEN]),
    ("tbf", "tbf(drr(quantum=2048B,by=class),rate=40Gbit,burst=15140B)", &[SEVEN]),
    ("htb", "htb(fifo,rate=40Gbit,classes=5Gbit/5Gbit/5Gbit/5Gbit/5Gbit/5Gbit/5Gbit,burst=15140B)", &[SEVEN]),
];
/// Tables of 64 entries, for eight flows.
const TABLES: [(&str, &str); 4] = [
    ("table_basic/64x8", "table_basic:distances=4/4/8/8/16/16/16/16"),
    ("table_weighted/64x8", "table_weighted:distances=4/4/8/8/16/16/16/16,weights=32cr"),
    (
        "table_weighted/high/64x8",
        "table_weighted(distances=4/4/8/8/16/16/16/16,weights=32cr,high=0@64cr/1@64cr,high_limit=4)",
    ),
    ("dtable/64x8", "dtable:distances=4/4/8/8/16/16/16/16,weights=32cr"),
];
const EIGHT: u32 = 8;
const BOXED: (&str, u32) = ("drr(quantum=2048B,by=class)", SEVEN);

pub(super) fn benches() -> Vec<Bench> {
    let unit = Unit::Time("ns/packet");
    let single = BENCHES.into_iter().flat_map(move |(name, spec, numbers)| {
        let both =
            |&flows: &u32| [in_turn as Filling, scattered].map(|filling| Backlogged { flows, filling });
        let orders = numbers.iter().flat_map(both).filter(|backlogged| backlogged.is_told());
        orders.map(move |backlogged| {
            let round = move || {
                let spec = parse(spec, backlogged.flows);
                visit_packet(&spec, backlogged).unwrap_or_else(|error| panic!("{spec}: {error}"))
            };
            Bench::new(format!("packet/{name}/{}", backlogged.name()), unit, round)
        })
    });
    let boxed = Bench::new("packet/drr/boxed/7", unit, || {
        let spec = parse(BOXED.0, BOXED.1);
        Backlogged { flows: BOXED.1, filling: in_turn }
            .visit(|| packet_discipline(&spec).expect("the specs of the benchmarks are valid"))
    });
    let tables = TABLES.into_iter().map(move |(name, spec)| {
        Bench::new(format!("packet/{name}"), unit, move || {
            let backlogged = Backlogged { flows: EIGHT, filling: in_turn };
            visit_packet(&parse(spec, EIGHT), backlogged).unwrap_or_else(|error| panic!("{spec}: {error}"))
        })
    });
    single.chain([boxed]).chain(tables).collect()
}

fn parse(spec: &str, flows: u32) -> Spec {
    let text = spec.replace("FLOWS", &flows.to_string());
    text.parse().expect("the specs of the benchmarks are valid")
}

/// Link credits, by class.
struct Credits([u64; 8]);

impl Gate<Packet> for Credits {
    fn permits(&self, head: &Packet) -> bool {
        head.size.get() <= self.0[usize::from(head.class.0 % 8)]
    }
}

fn packet(id: u32, flow: u32) -> Packet {
    let size = 64 + u64::from(id.wrapping_mul(0x9E37_79B9) >> 22);
    Packet { id, flow: FlowId(flow), class: ClassId(flow as u16), size: Bytes::new(size) }
}

/// The flow of each packet, by its number, of those that fill the queues of a number of flows.
type Filling = fn(u32, u32) -> u32;

/// One flow after the other.
fn in_turn(id: u32, flows: u32) -> u32 {
    id % flows
}

/// The flow of packet `id` of those that fill the queues: each flow once in every `flows` packets, in
/// another order each time.
fn scattered(id: u32, flows: u32) -> u32 {
    /// Primes, so that multiples of them reach every flow.
    const STEPS: [u64; 2] = [611_953, 430_499];
    let step = STEPS[(id / flows) as usize % 2];
    (u64::from(id % flows) * step % u64::from(flows)) as u32
}

/// Each packet that leaves is followed by another of its flow.
#[derive(Clone, Copy)]
struct Backlogged {
    flows: u32,
    filling: Filling,
}

impl Backlogged {
    fn is_scattered(&self) -> bool {
        (self.filling)(1, MILLION) != 1
    }

    /// The caches hold everything of a few flows, whatever its order.
    fn is_told(&self) -> bool {
        self.flows == MILLION || !self.is_scattered()
    }

    fn name(&self) -> String {
        format!("{}{}", self.flows, if self.is_scattered() { "/scattered" } else { "" })
    }
}

impl Visitor<Packet> for Backlogged {
    type Output = Round;

    fn visit<D: Discipline<Packet> + Send + 'static>(self, make: impl Fn() -> D) -> Round {
        let mut discipline = make();
        let gate = black_box(Credits([4_096; 8]));
        let mut now = Instant::ZERO;
        let Self { flows, filling } = self;
        let each = if flows < MILLION { 16 } else { 2 };
        for id in 0..each * flows {
            let _ = discipline.enqueue(now, packet(id, filling(id, flows)), &mut CountDrops(0));
        }
        Box::new(move || {
            let drops = &mut CountDrops(0);
            let mut id = 0;
            while id < PACKETS {
                now += Nanos::new(1_000);
                let granted = discipline.dequeue(now, &gate, drops);
                // It is looked at where it is, as the router does: behind a pointer it would be copied otherwise.
                if let Some(Grant { item, quantum }) = &granted {
                    id += 1;
                    discipline.finish(now, item, *quantum);
                    let _ = discipline.enqueue(now, packet(id, item.flow.0), drops);
                }
            }
            u64::from(PACKETS)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_is_filled_alike() {
        for flows in [SEVEN, THOUSAND, MILLION] {
            for from in [0, flows] {
                let mut seen = vec![false; flows as usize];
                (from..from + flows).for_each(|id| seen[scattered(id, flows) as usize] = true);
                assert!(seen.into_iter().all(|seen| seen), "{flows}");
            }
        }
    }
}
