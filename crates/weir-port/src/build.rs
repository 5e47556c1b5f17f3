//! From a checked scenario to the lanes of one replication: which engine runs which discipline.
//!
//! | service | discipline | engine |
//! |-|-|-|
//! | packets | the report's (`fifo`, `rr`, `rr_head`, `sf`, `alpha`), one length a class | accelerated |
//! | packets | any other | plain |
//! | whole messages | `ps` without a quantum | fluid |
//! | whole messages | `fifo` | whole, by Lindley's recursion |
//! | whole messages | `sf`, `psjf`, `sjf` | whole, without the calls of the contract |
//! | whole messages | any other | whole |
//!
//! With verification, records, windows over time, several flows or a closed loop the plain engine runs everything.

use crate::accelerated::{Alpha, FRACTION_BITS, Level, Lockstep, Options, Strategy};
use crate::application::Applications;
use crate::arrivals::{Closed, Open};
use crate::audit::SlopAudit;
use crate::collector::{Collector, Metric, Plan};
use crate::engine::Engine;
use crate::fluid::Fluid;
use crate::lane::{Lane, Single, Verified};
use crate::lindley::Lindley;
use crate::lockstep_lane::LockstepLane;
use crate::model::{Input, LatencyEnd, PortScenario, Service, is_fluid};
use crate::plain::Plain;
use crate::service::Drawn;
use crate::shortest::{Length, Shortest};
use crate::whole::{Whole, Work};
use weir_core::discipline::Discipline;
use weir_core::item::Message;
use weir_core::registry::{Visitor, message_discipline, visit_message};
use weir_core::spec::{Spec, SpecError};
use weir_core::units::{Nanos, Packets};
use weir_document::NamedDiscipline;
use weir_lab::error::RunError;
use weir_workload::MessageClasses;
use weir_workload::source::{ArrivalSource, RandomServices, SourceError};

type BoxedArrivals = Box<dyn ArrivalSource + Send>;

/// Why a lane cannot be built.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A discipline refuses its arguments.
    Discipline(SpecError),
    /// A source cannot be drawn.
    Source(SourceError),
    /// The lockstep engine refuses the workload.
    Lockstep(String),
    /// The service time of a unit is not positive.
    Work,
    /// The engine chosen does not fit the input of the scenario.
    Input,
}

impl core::fmt::Display for BuildError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Discipline(error) => error.fmt(f),
            Self::Source(error) => error.fmt(f),
            Self::Lockstep(reason) => f.write_str(reason),
            Self::Input => f.write_str("the engine does not fit the input, report this as a defect"),
            Self::Work => f.write_str("the service time of a unit of length must be above 0"),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<SpecError> for BuildError {
    fn from(error: SpecError) -> Self {
        Self::Discipline(error)
    }
}

impl From<BuildError> for RunError {
    fn from(error: BuildError) -> Self {
        Self::Build(error.to_string())
    }
}

impl From<SourceError> for BuildError {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

/// How the lanes of a run are to be.
#[derive(Clone, Debug)]
pub struct Layout {
    /// What every discipline collects.
    pub plan: Plan,
    /// Whether departures are kept as records.
    pub records: bool,
}

/// A lane and the disciplines of the scenario that it carries.
pub struct Placed {
    /// Positions in the scenario's list.
    pub disciplines: Vec<usize>,
    /// The engine's name in results.
    pub engine: &'static str,
    /// The lane.
    pub lane: Box<dyn Lane>,
}

/// What is measured of each message.
#[must_use]
pub fn metrics(scenario: &PortScenario) -> Vec<Metric> {
    let end = match scenario.measure.latency {
        LatencyEnd::Acceptance => Metric::Latency,
        LatencyEnd::Completion => Metric::Response,
    };
    match (scenario.service, &scenario.classes) {
        (Service::Packets(_), MessageClasses::Lengths(_)) => vec![end],
        (Service::Packets(_), _) => vec![end, Metric::Slowdown],
        (Service::Whole(_), _) => vec![Metric::Response, Metric::Wait, Metric::Slowdown],
    }
}

/// How many flows are distinguished: all of them or, where there are more than 1,024, none, as the keys that set
/// their number say.
#[must_use]
pub fn flows(scenario: &PortScenario) -> usize {
    const MOST: usize = 1024;
    let flows = match &scenario.input {
        Input::Open(open) => open.flows as usize,
        Input::Closed(closed) => closed.applications() as usize,
        Input::Trace(replay) => replay.trace.flow_names().len(),
    };
    if (2..=MOST).contains(&flows) { flows } else { 0 }
}

/// The lanes of one replication.
///
/// # Errors
/// A discipline or a source is refused; a checked scenario gives no such cause.
pub fn lanes(scenario: &PortScenario, layout: &Layout, replication: u32) -> Result<Vec<Placed>, BuildError> {
    let strategies: Vec<Option<Strategy>> =
        scenario.disciplines.iter().map(|named| strategy(scenario, layout, named)).collect();
    let mut placed = Vec::new();
    let together: Vec<usize> = (0..strategies.len()).filter(|&at| strategies[at].is_some()).collect();
    if !together.is_empty() {
        let strategies: Vec<Strategy> = strategies.iter().flatten().cloned().collect();
        let lane = lockstep(scenario, layout, replication, &strategies)?;
        placed.push(Placed { disciplines: together, engine: "accelerated", lane });
    }
    for at in (0..scenario.disciplines.len()).filter(|&at| strategies[at].is_none()) {
        placed.push(match by_itself(scenario, layout, replication, at)? {
            Some(lane) => Placed { disciplines: vec![at], engine: "whole", lane },
            None => contract(scenario, layout, replication, at)?,
        });
    }
    Ok(placed)
}

/// The lane of a discipline of whole messages that arrive by themselves, where it has an engine of its own.
fn by_itself(
    scenario: &PortScenario,
    layout: &Layout,
    replication: u32,
    at: usize,
) -> Result<Option<Box<dyn Lane>>, BuildError> {
    let Spec { name, arguments } = &scenario.disciplines[at].spec;
    let is_open = !matches!(scenario.input, Input::Closed(_));
    let is_whole = matches!(scenario.service, Service::Whole(_)) && !scenario.measure.verify;
    if !is_whole || !is_open || !arguments.is_empty() {
        return Ok(None);
    }
    let shortest = match name.as_str() {
        "fifo" => None,
        "sf" => Some((Length::Remaining, scenario.preemption)),
        "psjf" => Some((Length::Original, scenario.preemption)),
        "sjf" => Some((Length::Original, false)),
        _ => return Ok(None),
    };
    let (source, work) = (open_arrivals(scenario, replication)?, work(scenario)?);
    let collector = Collector::new(layout.plan.clone(), layout.records);
    Ok(Some(match shortest {
        None => Box::new(Single::new(Lindley::new(source, work), collector)),
        Some((by, preempts)) => Box::new(Single::new(Shortest::new(source, work, by, preempts), collector)),
    }))
}

/// The discipline as a strategy of the accelerated engine, if that can run it here.
fn strategy(scenario: &PortScenario, layout: &Layout, named: &NamedDiscipline) -> Option<Strategy> {
    let Input::Open(open) = &scenario.input else { return None };
    let by_length = matches!(&scenario.classes, MessageClasses::Lengths(lengths)
        if lengths.len() <= crate::accelerated::MOST_CLASSES);
    let latency = metrics(scenario) == [Metric::Latency];
    let is_kept = layout.records || layout.plan.windows.is_some();
    if !by_length || !latency || open.flows > 1 || is_kept || scenario.measure.verify {
        return None;
    }
    let arguments = &named.spec.arguments;
    match (named.spec.name.as_str(), arguments.as_slice()) {
        ("fifo", []) => Some(Strategy::Fifo),
        ("rr", []) => Some(Strategy::RoundRobin),
        ("rr_head", []) => Some(Strategy::RoundRobinHead),
        ("sf", []) => Some(Strategy::ShortestFirst),
        ("alpha", [alpha]) if alpha.key.as_deref().is_none_or(|key| key == "alpha") => {
            match alpha.value.name.as_str() {
                "inf" => Some(Strategy::ShortestFirst),
                value => exact(value).map(Strategy::Alpha),
            }
        }
        _ => None,
    }
}

/// An alpha that is a multiple of 2^-16. The accelerated engine multiplies after rounding alpha, the
/// discipline rounds after multiplying: for others the two could break ties differently.
fn exact(value: &str) -> Option<Alpha> {
    let value: f64 = value.parse().ok()?;
    let alpha = Alpha::nearest(value)?;
    (alpha.bits() as f64 == value * f64::from(1_u32 << FRACTION_BITS)).then_some(alpha)
}

fn lockstep(
    scenario: &PortScenario,
    layout: &Layout,
    replication: u32,
    strategies: &[Strategy],
) -> Result<Box<dyn Lane>, BuildError> {
    let MessageClasses::Lengths(lengths) = &scenario.classes else { return Err(BuildError::Input) };
    let options = Options {
        batch: layout.plan.batch,
        monitor_period: scenario.measure.queue_period,
        level: Level::detect(),
    };
    let engine = Lockstep::new(strategies, lengths, options);
    let engine = engine.map_err(|error| BuildError::Lockstep(error.to_string()))?;
    let sources = (open_arrivals(scenario, replication)?, services(scenario, replication)?);
    let collectors = strategies.iter().map(|_| Collector::new(layout.plan.clone(), false)).collect();
    let tails = scenario.measure.tails;
    Ok(Box::new(LockstepLane::new(engine, sources, lengths.clone(), collectors, tails)))
}

/// The lane of the discipline at `at`, driven through the contract whatever the accelerated engine could do.
///
/// # Errors
/// As for [`lanes`].
pub fn contract(
    scenario: &PortScenario,
    layout: &Layout,
    replication: u32,
    at: usize,
) -> Result<Placed, BuildError> {
    let named = &scenario.disciplines[at];
    let collector = Collector::new(layout.plan.clone(), layout.records);
    let place = Place { scenario, replication, collector, spec: &named.spec };
    let (engine, lane) = match scenario.service {
        Service::Packets(_) => ("plain", place.packets()?),
        Service::Whole(_) if is_fluid(&named.spec) => ("fluid", place.fluid()?),
        Service::Whole(_) => ("whole", place.whole()?),
    };
    Ok(Placed { disciplines: vec![at], engine, lane })
}

/// Where one discipline is put.
struct Place<'a> {
    scenario: &'a PortScenario,
    replication: u32,
    collector: Collector,
    spec: &'a Spec,
}

impl Place<'_> {
    fn packets(self) -> Result<Box<dyn Lane>, BuildError> {
        let services = drawn(self.scenario, self.replication)?;
        let period = self.scenario.measure.queue_period;
        if let Input::Closed(_) = &self.scenario.input {
            let discipline = message_discipline::<Message<Packets>>(self.spec)?;
            let engine = Plain::new(discipline, self.closed()?, services, period);
            return Ok(self.collect(engine));
        }
        let arrivals = Open::new(open_arrivals(self.scenario, self.replication)?);
        if self.scenario.measure.verify {
            let discipline = message_discipline::<Message<Packets>>(self.spec)?;
            return Ok(self.collect(Plain::new(discipline, arrivals, services, period)));
        }
        let spec = self.spec;
        Ok(visit_message(spec, IntoPlain { place: self, arrivals, services, period })?)
    }

    fn whole(self) -> Result<Box<dyn Lane>, BuildError> {
        let (work, spec) = (work(self.scenario)?, self.scenario.ticks.of_spec(self.spec));
        let preemption = self.scenario.preemption;
        if let Input::Closed(_) = &self.scenario.input {
            let discipline = message_discipline::<Message<Nanos>>(&spec)?;
            let engine = Whole::new(discipline, self.closed()?, work, preemption);
            return Ok(self.collect(engine));
        }
        let arrivals = Open::new(open_arrivals(self.scenario, self.replication)?);
        Ok(visit_message(&spec, IntoWhole { place: self, arrivals, work, preemption })?)
    }

    fn fluid(self) -> Result<Box<dyn Lane>, BuildError> {
        let work = work(self.scenario)?;
        if let Input::Closed(_) = &self.scenario.input {
            let engine = Fluid::new(self.closed()?, work);
            return Ok(self.collect(engine));
        }
        let arrivals = Open::new(open_arrivals(self.scenario, self.replication)?);
        Ok(self.collect(Fluid::new(arrivals, work)))
    }

    fn closed(&self) -> Result<Closed<Applications>, BuildError> {
        let Input::Closed(closed) = &self.scenario.input else { return Err(BuildError::Input) };
        let key = (self.scenario.seed, self.replication);
        let applications = Applications::new(closed, &self.scenario.classes, self.scenario.ticks, key);
        Ok(Closed::new(applications, closed.applications()))
    }

    fn collect<E: Engine + 'static>(self, engine: E) -> Box<dyn Lane> {
        match slop_alpha(self.spec).filter(|_| self.scenario.measure.verify) {
            Some(alpha) => Box::new(Verified::new(engine, self.collector, SlopAudit::new(alpha))),
            None => Box::new(Single::new(engine, self.collector)),
        }
    }
}

/// The alpha whose bound of section 9 holds: of plain alpha scheduling, 0 for FIFO.
fn slop_alpha(spec: &Spec) -> Option<u64> {
    match (spec.name.as_str(), spec.arguments.as_slice()) {
        ("fifo", []) => Some(0),
        ("alpha", [alpha]) => Alpha::nearest(alpha.value.name.parse().ok()?).map(Alpha::bits),
        _ => None,
    }
}

struct IntoPlain<'a> {
    place: Place<'a>,
    arrivals: Open<BoxedArrivals>,
    services: Drawn<RandomServices>,
    period: Nanos,
}

impl Visitor<Message<Packets>> for IntoPlain<'_> {
    type Output = Box<dyn Lane>;
    fn visit<D: Discipline<Message<Packets>> + Send + 'static>(self, make: impl Fn() -> D) -> Box<dyn Lane> {
        let engine = Plain::new(make(), self.arrivals, self.services, self.period);
        Box::new(Single::new(engine, self.place.collector))
    }
}

struct IntoWhole<'a> {
    place: Place<'a>,
    arrivals: Open<BoxedArrivals>,
    work: Work,
    preemption: bool,
}

impl Visitor<Message<Nanos>> for IntoWhole<'_> {
    type Output = Box<dyn Lane>;
    fn visit<D: Discipline<Message<Nanos>> + Send + 'static>(self, make: impl Fn() -> D) -> Box<dyn Lane> {
        let engine = Whole::new(make(), self.arrivals, self.work, self.preemption);
        Box::new(Single::new(engine, self.place.collector))
    }
}

fn work(scenario: &PortScenario) -> Result<Work, BuildError> {
    Work::new(scenario.service.mean_per_unit(), scenario.ticks).ok_or(BuildError::Work)
}

fn open_arrivals(scenario: &PortScenario, replication: u32) -> Result<BoxedArrivals, BuildError> {
    scenario.arrivals(replication)?.ok_or(BuildError::Input)
}

fn services(scenario: &PortScenario, replication: u32) -> Result<RandomServices, BuildError> {
    scenario.services(replication)?.ok_or(BuildError::Input)
}

fn drawn(scenario: &PortScenario, replication: u32) -> Result<Drawn<RandomServices>, BuildError> {
    let mean = scenario.service.mean_per_unit().round() as u64;
    Ok(Drawn::new(services(scenario, replication)?, Nanos::new(mean)))
}
