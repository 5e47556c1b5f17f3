//! Small networks for benchmarks and tests.

use std::sync::Arc;

use crate::model::{
    Delay, Drawn, Flow, Jitter, Link, Measure, NetworkScenario, Node, NodeKind, Stop, Traffic,
};
use weir_core::item::{Addresses, ClassId, Dscp};
use weir_core::units::{Bytes, Nanos, Rate};
use weir_tg::Distribution;
use weir_workload::curve::{CurveClock, Interpolation, Points};

/// A network to which links and flows are added.
pub struct Plan(pub NetworkScenario);

/// A number of seconds in nanoseconds.
pub fn seconds(seconds: f64) -> Nanos {
    Nanos::new((seconds * 1e9) as u64)
}

/// An exponential time of this mean.
pub fn exponential(mean: f64) -> Distribution {
    Distribution::Exponential { mean, bounds: None }
}

impl Plan {
    /// A plan of `routers` routers, and of these disciplines compared over `duration` seconds.
    pub fn new(routers: usize, disciplines: &[&str], duration: f64) -> Self {
        let node =
            |place| Node { name: format!("N{place}"), kind: NodeKind::Router, processing: Delay::default() };
        let duration = seconds(duration);
        Self(NetworkScenario {
            title: "test".to_owned(),
            seed: 1,
            disciplines: disciplines.iter().map(|&spec| spec.to_owned()).collect(),
            reference: 0,
            nodes: (0..routers).map(node).collect(),
            links: Vec::new(),
            flows: Vec::new(),
            classes: vec!["default".to_owned()],
            stop: Stop { duration, warm_up: Nanos::new(0), replications: 1 },
            measure: Measure {
                intervals: vec![(Nanos::new(0), duration)],
                series: None,
                over_time: None,
                tails: false,
                flows: true,
            },
        })
    }

    /// A link of `rate` bits per second under the compared disciplines, or one of its own.
    pub fn link(&mut self, (from, to): (usize, usize), rate: u64, own: Option<&str>) -> &mut Link {
        let spec = |text: &str| text.parse().expect("a spec");
        let disciplines = self.0.disciplines.iter().map(|compared| spec(own.unwrap_or(compared)));
        let link = Link {
            name: format!("N{from}-N{to}"),
            from,
            to,
            rate: Rate::new(rate),
            propagation: Nanos::new(0),
            overhead_bytes: Bytes::new(0),
            overhead: vec![Nanos::new(0); self.0.disciplines.len()],
            jitter: Jitter::None,
            ring: 1,
            mtu: None,
            disciplines: disciplines.collect(),
        };
        self.0.links.push(link);
        self.0.links.last_mut().expect("just added")
    }

    /// A flow along `path`.
    pub fn flow(&mut self, path: &[usize], traffic: Traffic) -> &mut Flow {
        let place = self.0.flows.len();
        let links = &self.0.links;
        let flow = Flow {
            name: format!("F{place}"),
            source: links[path[0]].from,
            destination: links[path[path.len() - 1]].to,
            addresses: Addresses { source: place as u32, destination: place as u32 },
            class: ClassId(0),
            dscp: Dscp::default(),
            path: path.to_vec(),
            back: Vec::new(),
            start: Nanos::new(0),
            stop: self.0.stop.duration,
            traffic,
            tick: None,
        };
        self.0.flows.push(flow);
        self.0.flows.last_mut().expect("just added")
    }

    /// Gaps in seconds and sizes in bytes, drawn.
    pub fn drawn(gap: Distribution, size: Distribution) -> Traffic {
        Traffic::Drawn(Drawn { gap: gap.into(), size: size.into(), packets: None, clock: None })
    }

    /// The same at a rate that follows a curve: points in milliseconds, with rates in any proportion, and a period. Other traffic
    /// than drawn packets stays.
    pub fn following(
        mut traffic: Traffic,
        points: &[(u64, f64)],
        interpolation: Interpolation,
        period: Option<u64>,
    ) -> Traffic {
        let mut all = Points::default();
        points.iter().for_each(|&(at, rate)| all.add(at * 1_000_000, rate).expect("a point"));
        let period = period.map(|period| period * 1_000_000);
        let curve = all.curve(interpolation, period).expect("a curve");
        if let Traffic::Drawn(drawn) = &mut traffic {
            drawn.clock = Some(Arc::new(CurveClock::new(curve.over_mean(), 1.0)));
        }
        traffic
    }

    /// Poisson packets of one size.
    pub fn poisson(gap: f64, size: f64) -> Traffic {
        Self::drawn(exponential(gap), Distribution::Constant(size))
    }
}
