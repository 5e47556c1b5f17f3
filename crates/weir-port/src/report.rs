//! Puts a result together: figures, differences, closed forms, self-checks, provenance.

use crate::collector::Metric;
use crate::comparison::{self, Means, Simulated};
use crate::figures::{self, Frame, time_unit};
use crate::gathered::{CLOCK, Gathered};
use crate::model::{Input, PortScenario, Service};
use crate::outcome::{ClassRow, Figure, Outcome, Precision, WarmUpUsed};
use crate::settling::Sufficiency;
use crate::theory::{ClosedForm, theory};
use crate::warmup::WarmUpTicks;
use crate::{build, selfcheck, warmup};
use weir_lab::provenance::{EngineUsed, Frame as Source, Provenance};
use weir_lab::result::{Check, TheoryRow};
use weir_lab::stats::windows::{self, OverTimeRow};
use weir_theory::{self, Mode, NoForm, TheoryError};
use weir_workload::{Arrivals, MessageClasses};

/// How a run ended.
pub struct Ending {
    /// What was left out.
    pub warm_up: WarmUpTicks,
    /// It was broken off.
    pub interrupted: bool,
    /// The requested precision.
    pub precision: Option<Precision>,
}

/// The units and classes of a result.
fn frame(port: &PortScenario, counted: Option<&Gathered>) -> Frame {
    let row = |name: String, low, high, count: Option<(u64, u64)>| {
        let (count, length) = count.unwrap_or_default();
        let mean_length = (count > 0 && length > 0).then(|| length as f64 / count as f64);
        ClassRow { name, low, high, count, mean_length }
    };
    let names = port.classes.names(port.unit.symbol());
    let bounds = bounds(&port.classes);
    let all =
        counted.map(|gathered| gathered.lengths.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1)));
    let mut classes = vec![row("all".to_owned(), None, None, all)];
    for (at, name) in names.into_iter().enumerate() {
        let (low, high) = bounds[at];
        classes.push(row(name, low, high, counted.map(|gathered| gathered.lengths[at])));
    }
    let packet = match port.service {
        Service::Packets(time) => Some(time.mean().get() as f64),
        Service::Whole(_) => None,
    };
    let shared_instants = packet.is_some() && !matches!(port.input, Input::Closed(_));
    let (latency, after): (Option<f64>, Option<f64>) = match build::metrics(port)[0] {
        Metric::Latency => (packet, None),
        _ => (None, packet),
    };
    let transmission = after.unwrap_or_default() / CLOCK;
    let is_steady = port.curve().is_none() || warmup::given(port) == 0;
    Frame { time_unit: time_unit(port), classes, packet: latency, shared_instants, transmission, is_steady }
}

/// The smallest and the largest length of each class.
fn bounds(classes: &MessageClasses) -> Vec<(Option<u64>, Option<u64>)> {
    match classes {
        MessageClasses::Lengths(lengths) => {
            lengths.iter().map(|&length| (Some(u64::from(length)), Some(u64::from(length)))).collect()
        }
        MessageClasses::Deciles(deciles) => {
            let below = std::iter::once(0).chain(deciles.bounds().iter().copied());
            below.zip(deciles.bounds()).map(|(below, &last)| (Some(below + 1), Some(last))).collect()
        }
        MessageClasses::Named { names, .. } => vec![(None, None); names.len()],
    }
}

/// The closed form of a discipline in this scenario, or why there is none.
fn form(port: &PortScenario, spec: &str) -> Result<ClosedForm, TheoryError> {
    let Input::Open(open) = &port.input else { return Err(NoForm::Discipline(of_input(port)).into()) };
    if open.arrivals != Arrivals::Poisson || open.curve.is_some() {
        return Err(NoForm::Discipline(of_input(port)).into());
    }
    let mean = port.service.mean_per_unit() / CLOCK;
    let (mode, scv) = match port.service {
        Service::Packets(time) => (Mode::Packets, time.second_moment_ratio() - 1.0),
        Service::Whole(_) => (Mode::Whole, 0.0),
    };
    let spec = if mode == Mode::Whole && !port.preemption { without_preemption(spec)? } else { spec };
    let load = port.load.unwrap_or_default();
    theory(spec, mode, &open.lengths, load, crate::theory::Service { mean, scv })
}

/// The discipline whose closed form holds if this one never interrupts.
fn without_preemption(spec: &str) -> Result<&str, TheoryError> {
    match spec {
        "fifo" | "sjf" => Ok(spec),
        "sf" | "psjf" | "alpha:inf" => Ok("sjf"),
        _ => Err(NoForm::Discipline(format!("{spec} without preemption")).into()),
    }
}

/// The input in words, for the reason why there is no closed form.
fn of_input(port: &PortScenario) -> String {
    match port.input {
        Input::Open(_) if port.curve().is_some() => "arrivals whose rate follows a curve",
        Input::Open(_) => "arrivals that are not Poisson",
        Input::Trace(_) => "a trace",
        Input::Closed(_) => "a closed loop",
    }
    .to_owned()
}

fn blank(port: &PortScenario, from: &Source) -> Outcome {
    Outcome {
        provenance: Provenance {
            time_unit: time_unit(port),
            ..Provenance::new("port", &port.title, port.seed, from, port.stop.replications as usize)
        },
        length_unit: port.unit.symbol(),
        load: port.load,
        ticks: 0,
        messages: 0,
        unfinished: 0,
        duration: 0.0,
        interrupted: false,
        unstable: port.statement.clone(),
        warm_up: WarmUpUsed { rule: "none".to_owned(), ticks: 0 },
        notes: port.notes(warmup::given(port)),
        precision: None,
        engines: Vec::new(),
        disciplines: port.disciplines.iter().map(|named| named.name.clone()).collect(),
        reference: port.disciplines[port.reference].name.clone(),
        settling: None,
        lengthened: None,
        windows: Vec::new(),
        classes: frame(port, None).classes,
        estimates: Vec::new(),
        differences: Vec::new(),
        theory: Vec::new(),
        checks: Vec::new(),
        distributions: Vec::new(),
    }
}

/// The result of a scenario that has no means: a statement.
#[must_use]
pub fn statement(port: &PortScenario, from: &Source) -> Outcome {
    blank(port, from)
}

/// The result of a scenario by closed forms alone.
#[must_use]
pub fn theory_only(port: &PortScenario, from: &Source) -> Outcome {
    let mut outcome = blank(port, from);
    if port.statement.is_none() {
        outcome.theory = theory_rows(port, &frame(port, None), None).0;
    }
    outcome
}

/// The rows of all disciplines, and the checks of the overall means.
fn theory_rows(
    port: &PortScenario,
    frame: &Frame,
    gathered: Option<(&[Gathered], &Sufficiency)>,
) -> (Vec<TheoryRow>, Vec<Check>) {
    let (mut rows, mut checks, mut queue) = (Vec::new(), Vec::new(), None);
    let metrics = build::metrics(port);
    for (at, named) in port.disciplines.iter().enumerate() {
        let simulated = gathered.map(|(all, enough)| Simulated { gathered: &all[at], enough });
        let form = form(port, &named.canonical);
        let means = form.as_ref().map(|form| Means::new(form, frame)).map_err(Clone::clone);
        rows.extend(comparison::rows(&named.name, &means, &metrics, frame, simulated));
        if let (Ok(form), Ok(means)) = (form, means) {
            checks.extend(simulated.and_then(|simulated| comparison::check(simulated, &means, frame)));
            queue = queue.or_else(|| comparison::queue_row(&form, simulated));
        }
    }
    rows.extend(queue);
    (rows, checks)
}

/// The result of a run.
#[must_use]
pub fn outcome(port: &PortScenario, from: &Source, gathered: &[Gathered], ending: Ending) -> Outcome {
    let first = &gathered[0];
    let frame = frame(port, Some(first));
    let enough = Sufficiency::new(port, first, ending.warm_up.ticks);
    let (theory, formula_checks) = theory_rows(port, &frame, Some((gathered, &enough)));
    let mut outcome = blank(port, from);
    outcome.ticks = first.total(|state| state.ticks);
    outcome.messages = first.total(|state| state.arrived);
    outcome.unfinished = first.total(|state| state.unfinished);
    outcome.duration = first.total_time(|state| state.now) as f64 / first.clock;
    outcome.interrupted = ending.interrupted;
    outcome.warm_up = WarmUpUsed { rule: ending.warm_up.rule, ticks: ending.warm_up.ticks };
    outcome.precision = ending.precision;
    outcome.windows = gathered.iter().flat_map(|own| over_time(port, own)).collect();
    outcome.theory = theory;
    fill(&mut outcome, (gathered, &enough), &gathered[port.reference], &frame);
    outcome.checks.extend(formula_checks);
    if frame.packet.is_some() {
        outcome.estimates.extend(queues(port, (gathered, &enough)));
    }
    outcome.settling = enough.told(port, &outcome.estimates);
    outcome.classes = frame.classes;
    outcome
}

/// The windows of a discipline, where they are asked for.
fn over_time(port: &PortScenario, own: &Gathered) -> Vec<OverTimeRow> {
    let Some(over_time) = port.measure.over_time else { return Vec::new() };
    let each: Vec<_> = own.windows.iter().map(Vec::as_slice).collect();
    windows::over_replications(&own.name, over_time.window, &each)
}

/// The queue: one where all disciplines share the instants of acceptance, else one of each, since in a
/// closed loop what arrives depends on the discipline.
fn queues(port: &PortScenario, (gathered, enough): (&[Gathered], &Sufficiency)) -> Vec<Figure> {
    let length = |own, name| figures::queue_length(own, enough, name);
    match port.input {
        Input::Closed(_) => gathered.iter().map(|own| length(own, Some(own.name.as_str()))).collect(),
        Input::Open(_) | Input::Trace(_) => vec![length(&gathered[0], None)],
    }
}

/// The rows that come discipline by discipline.
fn fill(
    outcome: &mut Outcome,
    (gathered, enough): (&[Gathered], &Sufficiency),
    reference: &Gathered,
    frame: &Frame,
) {
    for discipline in gathered {
        let name = discipline.name.clone();
        outcome.engines.push(EngineUsed { discipline: name, engine: discipline.engine });
        outcome.estimates.extend(figures::of_discipline(discipline, frame, enough));
        outcome.checks.extend(selfcheck::of_discipline(discipline, &gathered[0], frame));
        if discipline.has_tails() {
            outcome.distributions.extend(figures::distributions(discipline, frame));
        }
        if discipline.name != reference.name {
            outcome.differences.extend(figures::differences(discipline, reference, frame, enough));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    type Scenario = weir_lab::scenario::Scenario<crate::model::PortScenario>;

    fn theory_of(rest: &str) -> Outcome {
        let text =
            format!("weir = 1\nmodel = \"port\"\ndisciplines = [\"sf\", \"psjf\"]\n[workload]\n{rest}");
        let scenario = Scenario::from_toml(&text, "test.toml", Path::new(""));
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        theory_only(&scenario.model, &scenario.frame)
    }

    #[test]
    fn theory_alone_gives_every_class_a_value_or_a_reason() {
        let outcome = theory_of("load = 0.5\n");
        let of =
            |name: &str| outcome.theory.iter().filter(|row| row.discipline.as_deref() == Some(name)).count();
        assert_eq!((of("sf"), of("psjf")), (7, 7));
        for row in &outcome.theory {
            assert!(row.agrees.is_none() && !row.formula.is_empty(), "{row:?}");
            assert_eq!(row.value.is_some(), row.discipline.as_deref() != Some("psjf"), "{row:?}");
        }
        assert!(outcome.estimates.is_empty() && outcome.checks.is_empty());
    }

    #[test]
    fn a_response_of_packets_includes_the_last_transmission() {
        let of = |end: &str| {
            let outcome = theory_of(&format!("load = 0.5\n[measure]\nlatency = \"{end}\"\n"));
            outcome.theory.iter().find(|row| row.class == "all").and_then(|row| row.value).expect("a form")
        };
        assert!((of("completion") - of("acceptance") - 1.0).abs() < 1e-12);
    }

    #[test]
    fn classes_of_deciles_join() {
        let rest = "load = 0.5\nlengths = { uniform = [\"1B\", \"1000B\"] }\n[service]\nrate = \"1Gbit\"\n";
        let rows = theory_of(rest).classes;
        assert_eq!((rows.len(), rows[0].name.as_str(), rows[0].low), (11, "all", None));
        assert_eq!((rows[1].low, rows[10].high), (Some(1), Some(1000)));
        assert!(rows[1..].is_sorted_by(|a, b| a.high.map(|high| high + 1) == b.low));
    }

    #[test]
    fn without_preemption_only_forms_of_what_is_served_whole_hold() {
        let rest = "load = 0.5\nlengths = { uniform = [\"1B\", \"1000B\"] }\n[service]\nrate = \"1Gbit\"\n";
        let formulas = |rest: &str| -> Vec<String> {
            let all = theory_of(rest).theory.into_iter().filter(|row| row.class == "all");
            all.filter(|row| row.metric == "response").map(|row| row.formula).collect()
        };
        let [shortest, preemptive]: [String; 2] =
            formulas(&format!("{rest}preemption = false\n")).try_into().expect("two disciplines");
        assert_eq!(shortest, preemptive);
        assert_ne!(formulas(rest)[0], shortest);
    }
}
