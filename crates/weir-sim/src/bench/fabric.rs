//! Benchmarks of the fabric: whole jobs, one discipline in one replication, with the latency of every channel.
//!
//! The fabric is that of Martínez, Alfaro and Sánchez 2007, at load 0.8: a 4-ary tree of 3 levels (64 end-points) or 5
//! (1,024), seven channels of equal shares. A link traversal is a packet over a link.

use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::bench::{Bench, Round, Unit};
use weir_core::units::{Bytes, Nanos, Rate};
use weir_fabric::job::{self, Ended, Job, Tally};
use weir_fabric::model::{
    Arrivals, Channel, FabricScenario, Link, Pareto, Routing, Size, Stop, Switch, Topology, Traffic,
};
use weir_fabric::plain;
use weir_fabric::record::{Delivery, Generation, Injection, Sink};
use weir_lab::control::Watch;

/// The disciplines, with the shares of the document.
const DISCIPLINES: [(&str, &str); 7] = [
    ("dtable", "dtable:distances=2/4/8/16/32/64/64,weights=32cr/64cr/128cr/128cr/128cr/128cr/128cr"),
    (
        "table_weighted",
        "table_weighted:distances=2/4/8/16/32/64/64,weights=32cr/64cr/128cr/128cr/128cr/128cr/128cr",
    ),
    ("table_basic", "table_basic:distances=2/4/8/16/32/64/64"),
    ("drr", "drr:quantum=2048B,weights=8/8/8/4/2/1/1"),
    ("scfq", "scfq:weights=8/8/8/4/2/1/1"),
    ("wfq", "wfq:rate=2Gbit,weights=8/8/8/4/2/1/1"),
    ("fifo", "fifo"),
];
const CHANNELS: usize = 7;

pub(super) fn benches() -> Vec<Bench> {
    let bench = |name: String, spec, levels, micros, accelerated| {
        let unit = Unit::Rate("link traversals/s");
        Bench::new(name, unit, move || rounds(scenario(spec, levels, micros), accelerated))
    };
    let mut all: Vec<Bench> = DISCIPLINES
        .iter()
        .map(|&(name, spec)| bench(format!("fabric/64/{name}"), spec, 3, 500, true))
        .collect();
    all.push(bench("fabric/64/plain".to_owned(), DISCIPLINES[0].1, 3, 100, false));
    all.push(bench("fabric/1024/dtable".to_owned(), DISCIPLINES[0].1, 5, 300, true));
    all
}

fn scenario(spec: &str, levels: u32, micros: u64) -> FabricScenario {
    let size = Size::Pareto(Pareto {
        minimum: Bytes::new(56),
        maximum: Bytes::new(2040),
        truncated: true,
        shape: 1.190_291,
    });
    let channel = |number: usize| Channel { name: number.to_string(), share: 1.0, size: size.clone() };
    FabricScenario {
        title: String::new(),
        seed: 1,
        disciplines: vec![spec.to_owned()],
        specs: spec.parse().into_iter().collect(),
        reference: 0,
        topology: Topology::Tree { arity: 4, levels },
        routing: Routing::Deterministic,
        link: Link {
            rate: Rate::new(2_500_000_000),
            coding: (8, 10),
            propagation: Nanos::new(20),
            credit_return: Nanos::new(50),
            header: Bytes::new(8),
        },
        switch: Switch {
            speed_up: (3, 2),
            latency: Nanos::new(145),
            input_buffer: Bytes::new(16384),
            output_buffer: Bytes::new(16384),
        },
        interface_buffer: Bytes::new(32768),
        credit: Bytes::new(64),
        mtu: Bytes::new(2048),
        channels: (0..CHANNELS).map(channel).collect(),
        traffic: Traffic {
            loads: vec![0.8],
            arrivals: Arrivals::Poisson,
            curve: None,
            header: Bytes::new(8),
            flow_rate: Rate::new(1_000_000),
            hot_spot: None,
        },
        stop: Stop { warm_up: Nanos::new(0), duration: Nanos::new(1000 * micros), replications: 1 },
        tails: false,
        over_time: None,
        verify: false,
    }
}

/// The mean and the largest latency of each channel, and what it has sent.
#[derive(Default)]
struct Latency {
    packets: [u64; CHANNELS],
    sum: [u64; CHANNELS],
    largest: [u64; CHANNELS],
    bytes: [u64; CHANNELS],
}

impl Sink for Latency {
    fn generated(&mut self, _generation: &Generation) {}
    fn injected(&mut self, _injection: &Injection) {}
    fn delivered(&mut self, delivery: &Delivery) {
        let (channel, latency) = (usize::from(delivery.channel), delivery.delivered - delivery.injected);
        self.packets[channel] += 1;
        self.sum[channel] += latency;
        self.largest[channel] = self.largest[channel].max(latency);
        self.bytes[channel] += u64::from(delivery.size);
    }
}

/// Plays a replication, a new one every time; how many packets went over links.
fn rounds(fabric: FabricScenario, accelerated: bool) -> Round {
    let (off, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut replication = 0;
    Box::new(move || {
        let watch = Watch { cancel: &off, failed: &off, done: &done, duration: u64::MAX };
        replication += 1;
        let (job, mut latency) = (Job { replication, discipline: 0, load: 0 }, Latency::default());
        let ended = match accelerated {
            true => job::play(&fabric, job, &mut latency, &watch),
            false => plain::play(&fabric, job, &mut latency, &watch),
        };
        std::hint::black_box(latency);
        match ended {
            Ok(Ended::Finished(Tally { traversals, .. })) => traversals,
            _ => unreachable!("the fabrics of the benchmarks are valid, and nobody breaks them off"),
        }
    })
}
