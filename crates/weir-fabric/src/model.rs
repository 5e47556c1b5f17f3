//! What the engines of the fabric run: topology, links, switches, channels, traffic, and when to stop.
//!
//! Everything here has been checked: every spec builds, buffers hold a packet of the largest size, shares are
//! positive. What the engines do with it is said in [the crate](crate).

use std::sync::Arc;

use weir_core::spec::Spec;
use weir_core::units::{Bytes, Nanos, Rate};
use weir_workload::Curve;
use weir_workload::sizes::Sizes;

/// A fabric with its traffic, checked.
#[derive(Clone, Debug)]
pub struct FabricScenario {
    /// What the report is headed with.
    pub title: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// The disciplines compared, by their specs as written, in the order of the scenario.
    pub disciplines: Vec<String>,
    /// The same, parsed: the scheduler of every switch output and of every interface.
    pub specs: Vec<Spec>,
    /// The one of them from which differences and improvements are taken.
    pub reference: usize,
    /// Who is joined to whom.
    pub topology: Topology,
    /// Which way up a packet takes.
    pub routing: Routing,
    /// Every link.
    pub link: Link,
    /// Every switch.
    pub switch: Switch,
    /// The buffer of an interface, for each virtual channel.
    pub interface_buffer: Bytes,
    /// The unit of flow control and of table weights.
    pub credit: Bytes,
    /// The largest packet on the wire.
    pub mtu: Bytes,
    /// Virtual channels; the place of one is its number, its flow and its class.
    pub channels: Vec<Channel>,
    /// Who sends when.
    pub traffic: Traffic,
    /// When a replication ends.
    pub stop: Stop,
    /// Whether quantiles are measured.
    pub tails: bool,
    /// The length of the windows of which there are figures over time; `None` where there are none.
    pub over_time: Option<Nanos>,
    /// Whether every event is checked: credits, buffers, cut-through timing, order.
    pub verify: bool,
}

/// Who is joined to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// `arity^levels` end-points under `levels` stages of switches of `2 * arity` ports, in perfect-shuffle wiring.
    Tree {
        /// Ports down, and as many up.
        arity: u32,
        /// Stages.
        levels: u32,
    },
    /// One switch with an end-point at each port.
    Single {
        /// Its ports.
        ports: u32,
    },
    /// Leaves with end-points, each joined once to every spine.
    LeafSpine {
        /// Switches with end-points.
        leaves: u32,
        /// Switches above them.
        spines: u32,
        /// End-points of each leaf.
        hosts: u32,
    },
}

/// Which way up a packet takes; the way down is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// The digits of the destination say.
    Deterministic,
    /// Drawn once for each flow.
    RandomPerFlow,
    /// The upward output that is idle and has the most room for the channel, chosen by each switch; packets may
    /// overtake.
    AdaptiveUp,
}

/// Every link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Of the line, before coding.
    pub rate: Rate,
    /// The coding: bits of data, in how many bits of the line.
    pub coding: (u32, u32),
    /// From one end to the other.
    pub propagation: Nanos,
    /// From the release of space to the credit at the sender.
    pub credit_return: Nanos,
    /// How much of a packet has come when its head is known.
    pub header: Bytes,
}

/// Every switch: combined input and output buffers, and a crossbar between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Speed of the crossbar over that of a link's data, as a fraction.
    pub speed_up: (u32, u32),
    /// What a header takes through an unloaded switch; half before the crossbar, half behind it.
    pub latency: Nanos,
    /// For each port and channel.
    pub input_buffer: Bytes,
    /// For each port and channel.
    pub output_buffer: Bytes,
}

/// One virtual channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// Its part of the offered load, relative to the other channels.
    pub share: f64,
    /// Its sizes.
    pub size: Size,
}

/// What the units of a channel's traffic are and how large.
#[derive(Clone, Debug)]
pub enum Size {
    /// Packets all of one payload.
    Constant(Bytes),
    /// Packets with Pareto payloads, rounded to whole bytes.
    Pareto(Pareto),
    /// Messages of these sizes, cut into packets of the largest size.
    Messages(Arc<Sizes>),
}

/// A bounded Pareto law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    /// The least.
    pub minimum: Bytes,
    /// The largest.
    pub maximum: Bytes,
    /// Conditioned on the bounds (`true`), or with the mass above the largest moved to it.
    pub truncated: bool,
    /// The shape; with the bounds it gives the mean.
    pub shape: f64,
}

/// Who sends when.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Offered wire bytes over what a link carries, of every interface; one run each.
    pub loads: Vec<f64>,
    /// When the packets or messages of a channel come.
    pub arrivals: Arrivals,
    /// The curve that the rates of all interfaces follow, over the mean.
    pub curve: Option<Curve>,
    /// Added to every payload.
    pub header: Bytes,
    /// Of one point-to-point flow. An interface has as many flows of a channel as make up its load, the last of them
    /// by chance; each has a destination of its own.
    pub flow_rate: Rate,
    /// Extra traffic to one end-point.
    pub hot_spot: Option<HotSpot>,
}

/// When the packets or messages of a channel come, at each interface.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// At exponential gaps.
    Poisson,
    /// By any other process of the workload, of which each arrival is of any flow.
    Process(weir_workload::Arrivals),
    /// Bursts of one flow's packets at exponential gaps; a burst is the floor of a Pareto law, with a cap.
    Bursts {
        /// The shape of the law.
        shape: f64,
        /// The most packets of a burst.
        cap: u32,
    },
}

/// Flows that go to one end-point instead of a drawn one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotSpot {
    /// The end-point.
    pub host: u32,
    /// The part of the flows.
    pub share: f64,
}

/// When a replication ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What is delivered or generated before this time is not counted.
    pub warm_up: Nanos,
    /// The end, warm-up included; what is under way is not waited for.
    pub duration: Nanos,
    /// Independent replications.
    pub replications: u32,
}
