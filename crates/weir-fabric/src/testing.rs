//! Scenarios for the tests of the fabric.

use crate::model::{
    Arrivals, Channel, FabricScenario, Link, Pareto, Routing, Size, Stop, Switch, Topology, Traffic,
};
use weir_core::units::{Bytes, Nanos, Rate};
use weir_workload::Curve;
use weir_workload::curve::{Interpolation, Points};

/// The quanta of the document as a spec.
pub(crate) const DRR: &str = "drr:quantum=2048B,weights=8/8/8/4/2/1/1";

/// Payloads of the document.
pub(crate) fn payloads() -> Size {
    Size::Pareto(Pareto {
        minimum: Bytes::new(56),
        maximum: Bytes::new(2040),
        truncated: true,
        shape: 1.190_291,
    })
}

/// The document's fabric: 64 end-points, seven channels of equal shares, load 0.8, 0.2 ms.
pub(crate) fn scenario() -> FabricScenario {
    let channel = |name: &str| Channel { name: name.to_owned(), share: 1.0, size: payloads() };
    FabricScenario {
        title: "test".to_owned(),
        seed: 1,
        disciplines: vec![DRR.to_owned()],
        specs: vec![DRR.parse().expect("a spec")],
        reference: 0,
        topology: Topology::Tree { arity: 4, levels: 3 },
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
        channels: ["D2", "D4", "D8", "D16", "D32", "D64", "D64'"].map(channel).to_vec(),
        traffic: Traffic {
            loads: vec![0.8],
            arrivals: Arrivals::Poisson,
            curve: None,
            header: Bytes::new(8),
            flow_rate: Rate::new(1_000_000),
            hot_spot: None,
        },
        stop: Stop { warm_up: Nanos::new(50_000), duration: Nanos::new(200_000), replications: 1 },
        tails: false,
        over_time: None,
        verify: true,
    }
}

/// A curve that repeats: times in nanoseconds with rates, constant between them, and its period.
pub(crate) fn curve(points: &[(u64, f64)], period: u64) -> Curve {
    let mut all = Points::default();
    for &(time, rate) in points {
        all.add(time, rate).expect("a point");
    }
    all.curve(Interpolation::Constant, Some(period)).expect("a curve").over_mean()
}
