//! A checked scenario of the port: what its engines run, with every quantity on their clock.
//!
//! Times are nanoseconds (10^9 of them in `1u`), of which the engine's clock makes [`PortScenario::ticks`]; lengths count
//! [`PortScenario::unit`].
//! Whatever stands here has passed the checks: engines need none of their own.

use std::sync::Arc;
use weir_core::message::ps;
use weir_core::spec::Spec;
use weir_core::units::{Nanos, Rate};
use weir_document::NamedDiscipline;

pub use super::document::LatencyEnd;
use crate::ticks::Ticks;
pub use weir_document::quantity::{Clock, LengthUnit};
use weir_workload::{Arrivals, Curve, MessageClasses, Sizes, Trace};

/// A checked scenario of the port.
#[derive(Clone, Debug)]
pub struct PortScenario {
    /// What the report is headed with; may be empty.
    pub title: String,
    /// The seed of all random streams.
    pub seed: u64,
    /// What to compare: at least one, no two equal.
    pub disciplines: Vec<NamedDiscipline>,
    /// The position in `disciplines` from which paired differences are taken.
    pub reference: usize,
    /// What the clock counts.
    pub clock: Clock,
    /// What a length counts: packets if the service is by packets, bytes or tokens if it is by whole messages.
    pub unit: LengthUnit,
    /// Who arrives when, and how large.
    pub input: Input,
    /// The classes into which the report divides messages.
    pub classes: MessageClasses,
    /// How long the service takes.
    pub service: Service,
    /// What the clock of the engines counts.
    pub ticks: Ticks,
    /// Whether the service of a whole message can be interrupted.
    pub preemption: bool,
    /// The offered load; `None` in a closed loop, which offers what is served.
    pub load: Option<f64>,
    /// Why there is no mean to estimate: to be said in place of means. `None` where there is one, as with any trace.
    pub statement: Option<String>,
    /// When a run ends and what of it counts.
    pub stop: Stop,
    /// What is measured.
    pub measure: Measure,
}

/// Whether a discipline is processor sharing without a quantum, which has an exact form for whole messages.
#[must_use]
pub fn is_fluid(spec: &Spec) -> bool {
    spec.name == ps::INFO.name && spec.arguments.is_empty()
}

/// Who arrives when, and how large.
#[derive(Clone, Debug)]
pub enum Input {
    /// Messages from outside, without end unless the rate of a curve stays 0. The first arrives when the rate is first above
    /// 0: at one rate, at time 0.
    Open(Open),
    /// The messages of a file, once.
    Trace(Replay),
    /// Applications that wait for their messages.
    Closed(Closed),
}

impl Input {
    /// The longest mean of a time that is drawn, in nanoseconds.
    pub(crate) fn longest_mean(&self) -> f64 {
        match self {
            Self::Open(open) => open.arrivals.drawn_means(open.mean_gap).1,
            Self::Trace(_) => 0.0,
            Self::Closed(closed) => closed.longest_mean(),
        }
    }
}

/// Messages from outside.
#[derive(Clone, Debug)]
pub struct Open {
    /// The process of arrivals.
    pub arrivals: Arrivals,
    /// The mean time between arrivals, in nanoseconds: not rounded. With a curve at its mean rate.
    pub mean_gap: f64,
    /// How the rate follows the time, over its mean, in nanoseconds; `None` where it stays.
    pub curve: Option<Curve>,
    /// The distribution of lengths.
    pub lengths: Sizes,
    /// The number of applications, each as likely as another.
    pub flows: u32,
}

/// The messages of a file.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The messages; times from the first arrival, lengths in the unit of the scenario.
    pub trace: Arc<Trace>,
    /// What every time is multiplied by, to reach the load that was asked for.
    pub time_scale: f64,
}

/// Applications that wait for their messages.
#[derive(Clone, Debug)]
pub struct Closed {
    /// Groups of applications that are alike, at least one; all submit at time 0 in order.
    pub groups: Vec<Group>,
}

/// Applications that are alike.
#[derive(Clone, Debug)]
pub struct Group {
    /// What it is called.
    pub name: String,
    /// How many.
    pub applications: u32,
    /// The time between the delivery of a message and the submission of the next.
    pub think: Think,
    /// The distribution of lengths.
    pub lengths: Sizes,
}

impl Closed {
    /// How many applications there are.
    #[must_use]
    pub fn applications(&self) -> u32 {
        self.groups.iter().map(|group| group.applications).sum()
    }

    /// The mean length of a message, where all applications submit as often.
    #[must_use]
    pub fn mean_length(&self) -> f64 {
        let sum = |group: &Group| f64::from(group.applications) * group.lengths.mean();
        match self.groups.as_slice() {
            [alone] => alone.lengths.mean(),
            groups => groups.iter().map(sum).sum::<f64>() / f64::from(self.applications()),
        }
    }

    /// The longest mean of a time that is drawn, in nanoseconds.
    pub(crate) fn longest_mean(&self) -> f64 {
        let mean = |group: &Group| match group.think {
            Think::Constant(_) => 0.0,
            Think::Exponential(mean) => mean.get() as f64,
        };
        self.groups.iter().map(mean).fold(0.0, f64::max)
    }
}

/// The time between the delivery of a message and the submission of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    /// Always the same; may be zero.
    Constant(Nanos),
    /// Exponential, of this mean.
    Exponential(Nanos),
}

/// How long the service takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// By packets, each of which takes one draw.
    Packets(PacketTime),
    /// By whole messages.
    Whole(WholeTime),
}

/// The distribution of the service time of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketTime {
    /// Always the same.
    Constant(Nanos),
    /// Exponential, of this mean.
    Exponential(Nanos),
    /// A constant plus an exponential of this mean.
    ShiftedExponential {
        /// The constant.
        shift: Nanos,
        /// The mean of the exponential.
        mean: Nanos,
    },
}

/// The service time of a whole message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WholeTime {
    /// Its bytes at this rate.
    Rate(Rate),
    /// This time for each token.
    PerToken(Nanos),
}

impl PacketTime {
    /// The service of the alpha report: 0.5u plus an exponential of mean 0.5u.
    pub const REPORT: Self =
        Self::ShiftedExponential { shift: Nanos::new(500_000_000), mean: Nanos::new(500_000_000) };

    /// The mean service time of a packet.
    #[must_use]
    pub fn mean(self) -> Nanos {
        match self {
            Self::Constant(mean) | Self::Exponential(mean) => mean,
            Self::ShiftedExponential { shift, mean } => shift + mean,
        }
    }

    /// `E[S^2] / E[S]^2` of the service time of a packet.
    #[must_use]
    pub fn second_moment_ratio(self) -> f64 {
        match self {
            Self::Constant(_) => 1.0,
            Self::Exponential(_) => 2.0,
            Self::ShiftedExponential { mean, .. } => {
                let part = mean.get() as f64 / self.mean().get() as f64;
                1.0 + part * part
            }
        }
    }
}

impl Service {
    /// The mean service time of one unit of length (packet, byte, token), in nanoseconds: not rounded.
    #[must_use]
    pub fn mean_per_unit(self) -> f64 {
        match self {
            Self::Packets(time) => time.mean().get() as f64,
            Self::Whole(WholeTime::Rate(rate)) => 8e9 / rate.get() as f64,
            Self::Whole(WholeTime::PerToken(time)) => time.get() as f64,
        }
    }
}

/// When a run ends and what of it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// How much is run at most, in all replications together.
    pub limit: Limit,
    /// End earlier, once the 95 % interval of every mean is within this share of the mean.
    pub precision: Option<f64>,
    /// The number of independent replications, at least 1.
    pub replications: u32,
    /// What is left out at the start.
    pub warm_up: WarmUp,
}

/// How much is run at most, in all replications together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// This many packets served.
    Packets(u64),
    /// This many messages arrived.
    Messages(u64),
}

/// What is left out at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// Nothing.
    None,
    /// As much as the MSER-5 rule finds.
    Detected,
    /// Messages that arrive before this time.
    Until(Nanos),
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Where the latency of a message ends.
    pub latency: LatencyEnd,
    /// The period at which the queue length is sampled, where messages are served by packets.
    pub queue_period: Nanos,
    /// Measure quantiles and distributions.
    pub tails: bool,
    /// Check the bound of alpha scheduling, packet by packet.
    pub verify: bool,
    /// Windows of which there are figures over time; `None` where there are none.
    pub over_time: Option<OverTime>,
}

/// Windows over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverTime {
    /// The length of a window.
    pub window: Nanos,
    /// How long a replication takes, about.
    pub expected: Nanos,
}
