//! Which closed form belongs to which discipline, and its numbers in the units of a scenario.

use super::port::{Latencies, Port};
use weir_theory::{Mg1, Mode, NoForm, Policy, SizeLaw, TheoryError};
use weir_workload::{SizeClasses, Sizes};

/// The first two moments of the service of one unit of size: of a packet, or of a byte of a whole message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// The mean, in the unit of time in which results are wanted.
    pub mean: f64,
    /// The squared coefficient of variation: variance over squared mean.
    pub scv: f64,
}

impl Service {
    /// Always the same time.
    #[must_use]
    pub const fn constant(mean: f64) -> Self {
        Self { mean, scv: 0.0 }
    }

    /// Exponential.
    #[must_use]
    pub const fn exponential(mean: f64) -> Self {
        Self { mean, scv: 1.0 }
    }

    /// A constant plus an exponential time: the report's is `0.5 + Exp(0.5)`.
    #[must_use]
    pub fn shifted_exponential(constant: f64, exponential: f64) -> Self {
        let mean = constant + exponential;
        Self { mean, scv: (exponential / mean) * (exponential / mean) }
    }
}

/// The exact means of one discipline on one workload.
#[derive(Clone, Debug)]
pub struct ClosedForm {
    formula: &'static str,
    unit: f64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Packets { latencies: Latencies, queue_length: f64, rate: f64 },
    Whole { queue: Mg1, policy: Policy },
}

/// The exact means of one class of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassTheory {
    /// The probability of the class.
    pub share: f64,
    /// The mean latency (packets) or response time (whole messages).
    pub mean: f64,
    /// The mean slowdown: response over service time; for packets, see [`ClosedForm::mean_slowdown`].
    pub slowdown: f64,
}

/// The closed form of a discipline, named by its spec string (`fifo`, `alpha:inf`), at this load.
///
/// ```
/// use weir_port::theory::{Service, theory};
/// use weir_theory::Mode;
/// use weir_workload::Sizes;
/// let sizes = Sizes::alpha_report();
/// let service = Service::shifted_exponential(0.5, 0.5);
/// let form = theory("rr", Mode::Packets, &sizes, 0.5, service)?;
/// assert_eq!(format!("{:.6}", form.mean()), "8.106061");
/// assert!(theory("alpha:6", Mode::Packets, &sizes, 0.5, service).is_err());
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
///
/// # Errors
/// [`TheoryError::NoForm`] with the reason where there is none, [`TheoryError::Unstable`] at a load of 1 or
/// more, and other variants for numbers out of range.
pub fn theory(
    discipline: &str,
    mode: Mode,
    sizes: &Sizes,
    load: f64,
    service: Service,
) -> Result<ClosedForm, TheoryError> {
    if !(service.mean > 0.0 && service.mean.is_finite()) {
        return Err(TheoryError::MeanService(service.mean));
    }
    // An unstable load is the first thing to say, whatever the discipline.
    weir_theory::check_load(load)?;
    let order = Order::of(discipline)?;
    match mode {
        Mode::Packets => packets(order, discipline, sizes, load, service),
        Mode::Whole => whole(order, discipline, sizes, load, service),
    }
}

/// The orders of service that have a closed form in some mode.
#[derive(Clone, Copy)]
enum Order {
    Fifo,
    ShortestRemaining,
    RoundRobin,
    RoundRobinHead,
    Ps,
    Sjf,
    Psjf,
    Las,
}

impl Order {
    fn of(spec: &str) -> Result<Self, NoForm> {
        let (name, parameters) = spec.split_once(':').unwrap_or((spec, ""));
        if name == "alpha" {
            return Self::of_alpha(spec, parameters);
        }
        let order = match name {
            "fifo" | "fcfs" => Self::Fifo,
            "sf" | "srpt" => Self::ShortestRemaining,
            "rr" => Self::RoundRobin,
            "rr_head" => Self::RoundRobinHead,
            "ps" => Self::Ps,
            "sjf" => Self::Sjf,
            "psjf" => Self::Psjf,
            "las" => Self::Las,
            _ => return Err(NoForm::Discipline(spec.into())),
        };
        if parameters.is_empty() { Ok(order) } else { Err(NoForm::Parameters(spec.into())) }
    }

    fn of_alpha(spec: &str, parameters: &str) -> Result<Self, NoForm> {
        let (value, rest) = parameters.split_once(',').unwrap_or((parameters, ""));
        let order = match value.parse::<f64>() {
            Ok(0.0) => Self::Fifo,
            Ok(f64::INFINITY) => Self::ShortestRemaining,
            _ => return Err(NoForm::Alpha(spec.into())),
        };
        match rest {
            "" | "update=decrement" => Ok(order),
            _ => Err(NoForm::Parameters(spec.into())),
        }
    }
}

fn packets(
    order: Order,
    name: &str,
    sizes: &Sizes,
    load: f64,
    service: Service,
) -> Result<ClosedForm, TheoryError> {
    let port = Port::new(sizes, load, service.scv)?;
    let (formula, latencies) = match order {
        Order::Fifo => ("Pollaczek-Khinchine, on packets", port.fifo()),
        Order::ShortestRemaining => ("Schrage-Miller, on packets", port.shortest_first()),
        Order::RoundRobin => ("linear system of the round robin", port.round_robin()?),
        Order::RoundRobinHead => {
            ("linear system of the round robin, newcomers first", port.round_robin_head()?)
        }
        _ => return Err(NoForm::Mode(name.into(), Mode::Packets).into()),
    };
    let kind = Kind::Packets { latencies, queue_length: port.queue_length(), rate: port.arrival_rate() };
    Ok(ClosedForm { formula, unit: service.mean, kind })
}

fn whole(
    order: Order,
    name: &str,
    sizes: &Sizes,
    load: f64,
    service: Service,
) -> Result<ClosedForm, TheoryError> {
    let (formula, policy) = match order {
        Order::Fifo => ("Pollaczek-Khinchine", Policy::Fcfs),
        Order::ShortestRemaining => ("Schrage-Miller", Policy::Srpt),
        Order::Ps => ("M/G/1 processor sharing", Policy::Ps),
        Order::Sjf => ("Cobham-Phipps", Policy::Sjf),
        Order::Psjf => ("preemptive-resume priorities", Policy::Psjf),
        Order::Las => ("foreground-background", Policy::Las),
        _ => return Err(NoForm::Mode(name.into(), Mode::Whole).into()),
    };
    if service.scv != 0.0 {
        return Err(NoForm::RandomService.into());
    }
    let queue = Mg1::new(&SizeLaw::from(sizes), load)?;
    Ok(ClosedForm { formula, unit: service.mean, kind: Kind::Whole { queue, policy } })
}

impl ClosedForm {
    /// The name of the formula.
    #[must_use]
    pub fn formula(&self) -> &'static str {
        self.formula
    }

    /// Messages per unit of time.
    #[must_use]
    pub fn arrival_rate(&self) -> f64 {
        match &self.kind {
            Kind::Packets { rate, .. } => rate / self.unit,
            Kind::Whole { queue, .. } => queue.arrival_rate() / self.unit,
        }
    }

    /// The mean over all messages: latency to the acceptance of the last packet (packets), or response time
    /// (whole messages).
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.unit
            * match &self.kind {
                Kind::Packets { latencies, .. } => latencies.mean(),
                Kind::Whole { queue, policy } => queue.mean_response(*policy),
            }
    }

    /// The mean time that the service of a message takes; `None` for packets.
    #[must_use]
    pub fn mean_service(&self) -> Option<f64> {
        match &self.kind {
            Kind::Packets { .. } => None,
            Kind::Whole { queue, .. } => Some(queue.mean_service() * self.unit),
        }
    }

    /// The mean for messages of one size; `None` for a length in packets that does not occur.
    #[must_use]
    pub fn at(&self, size: u64) -> Option<f64> {
        let mean = match &self.kind {
            Kind::Packets { latencies, .. } => latencies.of(size)?,
            Kind::Whole { queue, policy } => queue.response(*policy, size as f64),
        };
        Some(mean * self.unit)
    }

    /// The mean over messages of response over service time. For packets, of the effective packet period
    /// `(latency + 1) / length` in mean packet services (section 12 of the alpha report).
    #[must_use]
    pub fn mean_slowdown(&self) -> f64 {
        match &self.kind {
            Kind::Packets { latencies, .. } => {
                latencies.rows().iter().map(|row| row.share * row.packet_period()).sum()
            }
            // Sizes are whole numbers, at least 1: the mean is finite.
            Kind::Whole { queue, policy } => {
                queue.class_means(*policy, 0.0, f64::INFINITY).map_or(1.0, |all| all.slowdown)
            }
        }
    }

    /// The mean slowdown of the largest messages; `None` where sizes have no bound.
    #[must_use]
    pub fn largest_slowdown(&self) -> Option<f64> {
        match &self.kind {
            Kind::Packets { latencies, .. } => latencies.rows().last().map(|row| row.packet_period()),
            Kind::Whole { queue, policy } => queue.largest_slowdown(*policy),
        }
    }

    /// The mean number of packets not yet accepted; `None` for whole messages.
    #[must_use]
    pub fn queue_length(&self) -> Option<f64> {
        match &self.kind {
            Kind::Packets { queue_length, .. } => Some(*queue_length),
            Kind::Whole { .. } => None,
        }
    }

    /// The mean unfinished work in time, the same for every work-conserving order; `None` for packets.
    #[must_use]
    pub fn mean_work(&self) -> Option<f64> {
        match &self.kind {
            Kind::Packets { .. } => None,
            Kind::Whole { queue, .. } => Some(queue.mean_work() * self.unit),
        }
    }

    /// The means of each class of sizes; `None` for a class without messages.
    #[must_use]
    pub fn classes(&self, classes: &SizeClasses) -> Vec<Option<ClassTheory>> {
        let above = core::iter::once(0).chain(classes.bounds().iter().copied());
        above.zip(classes.bounds()).map(|(above, &up_to)| self.class(above, up_to)).collect()
    }

    /// The means of the sizes above `above` and up to `up_to`; `None` for a class without messages.
    #[must_use]
    pub fn class(&self, above: u64, up_to: u64) -> Option<ClassTheory> {
        match &self.kind {
            Kind::Packets { latencies, .. } => {
                let rows = || latencies.rows().iter().filter(|row| above < row.length && row.length <= up_to);
                let share: f64 = rows().map(|row| row.share).sum();
                let mean = rows().map(|row| row.share * row.latency).sum::<f64>() / share * self.unit;
                let slowdown = rows().map(|row| row.share * row.packet_period()).sum::<f64>() / share;
                (share > 0.0).then_some(ClassTheory { share, mean, slowdown })
            }
            Kind::Whole { queue, policy } => {
                // A density stands for whole sizes, each half a unit to both sides.
                let means = queue.class_means(*policy, above as f64 + 0.5, up_to as f64 + 0.5)?;
                let (share, slowdown) = (means.share, means.slowdown);
                Some(ClassTheory { share, mean: means.response * self.unit, slowdown })
            }
        }
    }
}

#[cfg(test)]
mod tests;
