//! Nanoseconds for one enqueue and one dequeue together, over a standing backlog of packets.
//!
//! Prints `name value unit`, the best of several runs.

use std::hint::black_box;
use std::time::Instant as Clock;

use weir_core::discipline::{CountDrops, Discipline, Gate};
use weir_core::item::{ClassId, FlowId, Packet};
use weir_core::packet::drr::{By, Config, Drr};
use weir_core::packet::fifo::Fifo;
use weir_core::packet::tbf::Tbf;
use weir_core::units::{Bytes, Instant, Nanos, Rate};

const PACKETS: u32 = 4_000_000;
const RUNS: u32 = 7;

/// Link credits, by class.
struct Credits([u64; 8]);

impl Gate<Packet> for Credits {
    fn permits(&self, head: &Packet) -> bool {
        head.size.get() <= self.0[usize::from(head.class.0 % 8)]
    }
}

fn packet(id: u32, classes: u32) -> Packet {
    let class = id % classes;
    let size = 64 + u64::from(id.wrapping_mul(0x9E37_79B9) >> 22);
    Packet { id, flow: FlowId(class), class: ClassId(class as u16), size: Bytes::new(size) }
}

/// One run: each packet that leaves is followed by another of its class.
fn run<D: Discipline<Packet>>(mut discipline: D, classes: u32) -> f64 {
    let gate = black_box(Credits([4_096; 8]));
    let drops = &mut CountDrops::default();
    let mut now = Instant::ZERO;
    for id in 0..16 * classes {
        let _ = discipline.enqueue(now, packet(id, classes), drops);
    }
    let start = Clock::now();
    let mut id = 0;
    while id < PACKETS {
        now += Nanos::new(1_000);
        if let Some(grant) = discipline.dequeue(now, &gate, drops) {
            id += 1;
            let next = Packet { id, ..packet(id, 1) };
            let next = Packet { flow: grant.item.flow, class: grant.item.class, ..next };
            discipline.finish(now, &grant.item, grant.quantum);
            let _ = discipline.enqueue(now, next, drops);
        }
    }
    start.elapsed().as_nanos() as f64 / f64::from(PACKETS)
}

fn report<D: Discipline<Packet>>(name: &str, classes: u32, make: impl Fn() -> D) {
    let best = (0..RUNS).map(|_| run(make(), classes)).fold(f64::INFINITY, f64::min);
    println!("core/{name}/{classes} {best:.2} ns");
}

fn main() {
    let drr =
        |quantum| Drr::new(Config { by: By::Class, ..Config::new(Bytes::new(quantum)) }).expect("valid");
    report("fifo", 7, Fifo::new);
    report("drr", 7, || drr(2048));
    report("drr", 1000, || {
        Drr::new(Config { by: By::Flow, ..Config::new(Bytes::new(2048)) }).expect("valid")
    });
    let tbf = || Tbf::new(drr(2048), Rate::new(40_000_000_000), Bytes::new(15_140)).expect("valid");
    report("tbf_drr", 7, tbf);
    report("drr_boxed", 7, || Box::new(drr(2048)) as Box<dyn Discipline<Packet>>);
}
