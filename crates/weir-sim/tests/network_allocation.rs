//! Packets are moved by value: ten times as many allocate no more, but for what grows with the longest queue.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64};

use weir_core::item::{Addresses, ClassId, Dscp};
use weir_core::units::{Bytes, Nanos, Rate};
use weir_lab::control::Watch;
use weir_sim::network::build::{self, Job};
use weir_sim::network::job::{self, Ended};
use weir_sim::network::model::{
    Delay, Drawn, Flow, Jitter, Link, Measure, NetworkScenario, Node, NodeKind, Stop, Traffic,
};
use weir_tg::Distribution;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, with a count of the calls of each thread.
struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator; counting does not allocate, since
// the thread-local is initialised by a constant and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`, and all memory comes from the system.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `realloc`, and all memory comes from the system.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Two links in line and twelve Poisson flows, for `seconds` seconds.
fn network(discipline: &str, seconds: u64) -> NetworkScenario {
    let duration = Nanos::new(seconds * 1_000_000_000);
    let node =
        |name: &str| Node { name: name.to_owned(), kind: NodeKind::Router, processing: Delay::default() };
    let link = |from: usize| Link {
        name: format!("link {from}"),
        from,
        to: from + 1,
        rate: Rate::new(10_000_000),
        propagation: Nanos::new(1_000_000),
        overhead_bytes: Bytes::new(0),
        overhead: vec![Nanos::new(0)],
        jitter: Jitter::Uniform(Nanos::new(1_000)),
        ring: 2,
        mtu: None,
        disciplines: vec![discipline.parse().expect("a spec")],
    };
    let flow = |place: usize| Flow {
        name: format!("flow {place}"),
        source: 0,
        destination: 2,
        addresses: Addresses { source: place as u32, destination: 1 },
        class: ClassId(0),
        dscp: Dscp::default(),
        path: vec![0, 1],
        back: Vec::new(),
        start: Nanos::new(0),
        stop: duration,
        traffic: Traffic::Drawn(Drawn {
            gap: Distribution::Exponential { mean: 0.01, bounds: None }.into(),
            size: Distribution::Uniform { min: 64.0, max: 1_500.0 }.into(),
            packets: None,
            clock: None,
        }),
        tick: None,
    };
    NetworkScenario {
        title: String::new(),
        seed: 1,
        disciplines: vec![discipline.to_owned()],
        reference: 0,
        nodes: ["a", "b", "c"].map(node).to_vec(),
        links: (0..2).map(link).collect(),
        flows: (0..12).map(flow).collect(),
        classes: vec!["default".to_owned()],
        stop: Stop { duration, warm_up: Nanos::new(0), replications: 1 },
        measure: Measure {
            intervals: vec![(Nanos::new(0), duration)],
            series: None,
            over_time: None,
            tails: false,
            flows: true,
        },
    }
}

/// Packets sent, and allocations made.
fn played(discipline: &str, seconds: u64, accelerated: bool) -> (u64, u64) {
    let network = network(discipline, seconds);
    let (off, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let watch = Watch { cancel: &off, failed: &off, done: &done, duration: network.stop.duration.get() };
    let order = build::order(&network).filter(|_| accelerated);
    let before = ALLOCATIONS.get();
    let job = Job { replication: 0, discipline: 0 };
    let Ok(Ended::Finished(collected)) = job::play(&network, job, order.as_deref(), &watch) else {
        panic!("nobody breaks it off");
    };
    (collected.collector.offered, ALLOCATIONS.get() - before)
}

#[test]
fn more_packets_allocate_no_more() {
    for discipline in ["fifo:limit=20pkt", "fifo:limit=20kB", "drr", "sfq:queues=9,depth=10pkt"] {
        for accelerated in [false, true] {
            let (few, begun) = played(discipline, 100, accelerated);
            let (many, in_all) = played(discipline, 1_000, accelerated);
            assert!(many > 9 * few && few > 100_000);
            assert!(in_all <= begun + 16, "{discipline}: {begun} allocations for {few}, {in_all} for {many}");
        }
    }
}
