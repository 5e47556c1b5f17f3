//! What the engines of the network run: nodes, links, flows, and when to stop.
//!
//! Everything here has been checked: names are resolved to numbers, every flow has its path, every spec
//! builds. A packet of a flow goes through its links in turn:
//!
//! ```text
//! source --> node.processing --> link 0: discipline, ring, line, propagation --> node.processing --> link 1 ... --> sink
//! ```
//!
//! At a link the discipline decides which packet enters the ring of the interface; the ring is sent in order.
//! A packet occupies the line for `(size + overhead_bytes) / rate + overhead`, with its jitter.

use std::sync::Arc;

use weir_core::item::{Addresses, ClassId, Dscp};
use weir_core::spec::Spec;
use weir_core::units::{Bytes, Nanos, Rate};
use weir_workload::curve::CurveClock;
use weir_workload::{Arrivals, ContinuousLaw, Curve, Sizes};

/// A network with its traffic, checked.
#[derive(Clone, Debug)]
pub struct NetworkScenario {
    /// What the report is headed with.
    pub title: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// The disciplines compared, by their specs as written, in the order of the scenario.
    pub disciplines: Vec<String>,
    /// The one of them from which differences are taken.
    pub reference: usize,
    /// Hosts and routers.
    pub nodes: Vec<Node>,
    /// Links, one for each direction.
    pub links: Vec<Link>,
    /// Flows.
    pub flows: Vec<Flow>,
    /// The classes of the flows, by name; [`Flow::class`] is the place in it.
    pub classes: Vec<String>,
    /// When a replication ends.
    pub stop: Stop,
    /// What is measured.
    pub measure: Measure,
}

impl NetworkScenario {
    /// The curves that the rates of flows follow.
    pub fn curves(&self) -> impl Iterator<Item = &Curve> {
        self.flows.iter().filter_map(|flow| match &flow.traffic {
            Traffic::Drawn(drawn) => drawn.curve(),
            _ => None,
        })
    }
}

/// Whether a node sends and receives, or passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Sends and receives.
    Host,
    /// Passes on.
    Router,
}

/// A host or a router.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Whether it sends and receives, or passes on.
    pub kind: NodeKind,
    /// The time each packet takes in it, before its next link, and for a host also after the last. Packets
    /// of one input keep their order.
    pub processing: Delay,
}

/// A span of time with its jitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// The part that is always there.
    pub constant: Nanos,
    /// What is added to it.
    pub jitter: Jitter,
}

/// A random span of time, drawn for each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jitter {
    /// None.
    #[default]
    None,
    /// Uniform from zero to this.
    Uniform(Nanos),
    /// Exponential of this mean.
    Exponential(Nanos),
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name, `SRI-AMES` unless another is given.
    pub name: String,
    /// The node whose interface it is: a place in [`NetworkScenario::nodes`].
    pub from: usize,
    /// The node it leads to.
    pub to: usize,
    /// The rate of the line.
    pub rate: Rate,
    /// The time from the end of a transmission to the arrival.
    pub propagation: Nanos,
    /// Framing added to the size of every packet.
    pub overhead_bytes: Bytes,
    /// Time added to every transmission, one entry a discipline of the scenario.
    pub overhead: Vec<Nanos>,
    /// Added to that.
    pub jitter: Jitter,
    /// How many packets the interface takes from the queue ahead, the one in transmission included; at least 1.
    pub ring: u32,
    /// The largest packet.
    pub mtu: Option<Bytes>,
    /// Whose queue this is under each discipline of the scenario: the link's own, or that discipline.
    pub disciplines: Vec<Spec>,
}

/// Packets of one source to one destination.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its name.
    pub name: String,
    /// A place in [`NetworkScenario::nodes`].
    pub source: usize,
    /// A place in [`NetworkScenario::nodes`].
    pub destination: usize,
    /// What hashes are taken over.
    pub addresses: Addresses,
    /// Its class.
    pub class: ClassId,
    /// The code point of its packets, and of their acknowledgements.
    pub dscp: Dscp,
    /// The links it goes through, in turn.
    pub path: Vec<usize>,
    /// The links back, for acknowledgements; empty where none are sent.
    pub back: Vec<usize>,
    /// When it begins.
    pub start: Nanos,
    /// When it ends; the packets on their way still arrive. No packet departs at or after it.
    pub stop: Nanos,
    /// What it sends.
    pub traffic: Traffic,
    /// The departures wait for the next of these, as on a host whose timers tick.
    pub tick: Option<Tick>,
}

/// The ticks of a host's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// From one to the next.
    pub every: Nanos,
    /// The first of them.
    pub phase: Phase,
}

/// When the first tick is, less than the time between two from the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// At this time.
    At(Nanos),
    /// Drawn evenly, anew for each host and replication; the same for all flows of a host that tick as often.
    Random,
}

impl Tick {
    /// Ticks at the multiples of `every`.
    #[must_use]
    pub fn aligned(every: Nanos) -> Self {
        Self { every, phase: Phase::At(Nanos::new(0)) }
    }
}

impl Flow {
    /// Whether it sends for as long as a run of this duration lasts.
    #[must_use]
    pub fn lasts(&self, duration: Nanos) -> bool {
        let ends = match &self.traffic {
            Traffic::Drawn(drawn) => drawn.packets.is_some(),
            Traffic::Tcp(tcp) => tcp.packets.is_some(),
            Traffic::Script(..) => true,
            // A record that reaches to the end was cut there, or is repeated.
            Traffic::Replay(packets) => {
                packets.last().is_none_or(|(at, _)| self.start.get() + at.get() < duration.get() / 10 * 9)
            }
        };
        !ends && self.stop >= duration
    }
}

/// What a flow sends.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// Packets at drawn times, whatever becomes of them.
    Drawn(Drawn),
    /// Packets at the times of a TG script, whatever becomes of them.
    Script(Arc<weir_tg::Traffic>, weir_tg::RandomMode),
    /// Packets at recorded times, whatever becomes of them: the time since the flow's start, and the size.
    Replay(Arc<Vec<(Nanos, Bytes)>>),
    /// A transfer that adapts to the network.
    Tcp(Tcp),
}

/// How times between departures are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Gaps {
    /// As the TG language has them, in seconds.
    Tg(weir_tg::Distribution),
    /// By a law of the textbooks, in nanoseconds, which has a mean.
    Law(ContinuousLaw),
    /// As a process has them that is met at any instant; and its mean gap, in seconds.
    Process(Arrivals, f64),
}

impl Gaps {
    /// The mean, in seconds.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Tg(distribution) => distribution.mean(),
            Self::Law(law) => law.mean().unwrap_or(f64::INFINITY) / 1e9,
            Self::Process(_, mean) => *mean,
        }
    }

    /// Whether anything is drawn.
    #[must_use]
    pub fn is_random(&self) -> bool {
        match self {
            Self::Tg(distribution) => !matches!(distribution, weir_tg::Distribution::Constant(_)),
            Self::Law(_) | Self::Process(..) => true,
        }
    }
}

impl From<weir_tg::Distribution> for Gaps {
    fn from(distribution: weir_tg::Distribution) -> Self {
        Self::Tg(distribution)
    }
}

/// How sizes of packets are drawn, in bytes on the wire.
#[derive(Clone, Debug, PartialEq)]
pub enum PacketSizes {
    /// As the TG language has them, rounded to whole bytes and at least 1.
    Tg(weir_tg::Distribution),
    /// From a table: a mixture, or a law of the textbooks.
    Table(Arc<Sizes>),
}

impl PacketSizes {
    /// The mean, in bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Tg(distribution) => distribution.mean(),
            Self::Table(sizes) => sizes.mean(),
        }
    }

    /// The largest, in bytes; `None` where there is no bound.
    #[must_use]
    pub fn largest(&self) -> Option<f64> {
        match self {
            Self::Tg(distribution) => distribution.largest(),
            Self::Table(sizes) => sizes.support().1.map(|largest| largest as f64),
        }
    }

    /// Whether anything is drawn.
    #[must_use]
    pub fn is_random(&self) -> bool {
        !matches!(self, Self::Tg(weir_tg::Distribution::Constant(_)))
    }
}

impl From<weir_tg::Distribution> for PacketSizes {
    fn from(distribution: weir_tg::Distribution) -> Self {
        Self::Tg(distribution)
    }
}

/// Gaps and sizes from distributions, each from a stream of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Times between departures, the first from the start.
    pub gap: Gaps,
    /// Sizes on the wire.
    pub size: PacketSizes,
    /// How many packets at most.
    pub packets: Option<u64>,
    /// The clock by which gaps pass, at the start of the flow, in nanoseconds at the mean rate; `None` where the rate stays. Of a
    /// process only its curve counts.
    pub clock: Option<Arc<CurveClock>>,
}

impl Drawn {
    /// The curve that its rate follows, over the mean.
    #[must_use]
    pub fn curve(&self) -> Option<&Curve> {
        self.clock.as_ref().map(|clock| clock.curve())
    }

    /// How many packets depart within a span from the start, in the mean.
    #[must_use]
    pub fn expected(&self, span: Nanos) -> f64 {
        let nanoseconds = span.get() as f64;
        let passed = self.curve().map_or(nanoseconds, |curve| curve.before(nanoseconds));
        let most = self.packets.map_or(f64::INFINITY, |packets| packets as f64);
        (passed / 1e9 / self.gap.mean()).min(most)
    }
}

/// How a window grows and shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// RFC 5681 with the recovery of RFC 6675.
    Reno,
    /// RFC 9438.
    Cubic,
}

/// A transfer that adapts to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// How its window grows and shrinks.
    pub congestion: Congestion,
    /// The size of a full packet on the wire.
    pub packet: Bytes,
    /// How much is sent, in packets; `None` for as long as the flow lasts.
    pub packets: Option<u64>,
    /// Whether its packets can carry congestion marks.
    pub ecn: bool,
    /// The largest window, in packets.
    pub window: u32,
}

/// When a replication ends: once the sources have ended and what they sent has arrived or was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// No source sends at or after this time.
    pub duration: Nanos,
    /// Packets sent before this time are not counted.
    pub warm_up: Nanos,
    /// Independent replications.
    pub replications: u32,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Intervals of sending time, from the first time up to the second. The first is the whole run.
    pub intervals: Vec<(Nanos, Nanos)>,
    /// The step of the time series; `None` where there are none.
    pub series: Option<Nanos>,
    /// The length of the windows of which there are figures over time; `None` where there are none.
    pub over_time: Option<Nanos>,
    /// Whether quantiles are measured.
    pub tails: bool,
    /// Whether figures are given flow by flow; else over all flows and by class.
    pub flows: bool,
}
