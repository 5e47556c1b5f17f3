//! Closed forms to compare the simulation with.

use crate::collector::Metric;
use crate::figures::Frame;
use crate::gathered::Gathered;
use crate::outcome::ClassRow;
use crate::settling::Sufficiency;
use crate::theory::{ClassTheory, ClosedForm};
use weir_lab::judgement::Judgement;
use weir_lab::result::{Check, LEVEL, TheoryRow};
use weir_theory::TheoryError;

/// The exact means of a discipline, of all metrics: each is integrated once.
#[derive(Clone, Debug)]
pub struct Means {
    mean: f64,
    slowdown: f64,
    service: Option<f64>,
    formula: &'static str,
    /// One a class of sizes; `None` where there is none.
    classes: Vec<Option<ClassTheory>>,
}

impl Means {
    /// Those of a form, for the classes of a frame.
    #[must_use]
    pub fn new(form: &ClosedForm, frame: &Frame) -> Self {
        let bounds = |row: &ClassRow| Some((row.low?.checked_sub(1)?, row.high?));
        let of_class = |row: &ClassRow| bounds(row).and_then(|(above, up_to)| form.class(above, up_to));
        Self {
            mean: form.mean(),
            slowdown: form.mean_slowdown(),
            service: form.mean_service(),
            formula: form.formula(),
            classes: frame.classes[1..].iter().map(of_class).collect(),
        }
    }

    /// Those of a metric, `all` first and then class by class; `None` where the form gives none. Those of packets end at the
    /// acceptance of the last one, whose transmission the response includes.
    fn of(&self, metric: Metric, frame: &Frame) -> Vec<Option<f64>> {
        let all = match metric {
            Metric::Latency => Some(self.mean),
            Metric::Response => Some(self.mean + frame.transmission),
            Metric::Slowdown => Some(self.slowdown),
            Metric::Wait => self.service.map(|service| self.mean - service),
        };
        let of_class = |class: ClassTheory| match metric {
            Metric::Latency => Some(class.mean),
            Metric::Response => Some(class.mean + frame.transmission),
            Metric::Slowdown => Some(class.slowdown),
            Metric::Wait => None,
        };
        core::iter::once(all).chain(self.classes.iter().map(|class| class.and_then(of_class))).collect()
    }
}

/// What was simulated of a discipline, and what of it is settled.
#[derive(Clone, Copy)]
pub struct Simulated<'a> {
    /// It.
    pub gathered: &'a Gathered,
    /// Whether the run is long enough for its figures.
    pub enough: &'a Sufficiency,
}

/// The rows of one discipline, with what was simulated of it, if anything was.
#[must_use]
pub fn rows(
    name: &str,
    means: &Result<Means, TheoryError>,
    metrics: &[Metric],
    frame: &Frame,
    simulated: Option<Simulated<'_>>,
) -> Vec<TheoryRow> {
    let mut rows = Vec::new();
    for (place, &metric) in metrics.iter().enumerate() {
        let values = means.as_ref().map(|means| means.of(metric, frame));
        for (at, class) in frame.classes.iter().enumerate() {
            let value = values.as_ref().ok().and_then(|values| values[at]);
            let judged = value.zip(simulated).map(|(value, Simulated { gathered, enough })| {
                Judgement::of(value, &enough.mean_of(gathered, place, at.checked_sub(1)))
            });
            let judgement = judged.unwrap_or_default();
            rows.push(TheoryRow {
                discipline: Some(name.to_owned()),
                class: class.name.clone(),
                metric: metric.name(),
                value,
                unit: frame.unit(metric),
                formula: means.as_ref().map_or_else(ToString::to_string, |means| means.formula.to_owned()),
                settled: judgement.unjudged.is_none(),
                agrees: judgement.holds,
                unjudged: judgement.unjudged,
            });
        }
    }
    rows
}

/// The row of the queue length, which all work-conserving disciplines share.
#[must_use]
pub fn queue_row(form: &ClosedForm, simulated: Option<Simulated<'_>>) -> Option<TheoryRow> {
    let value = form.queue_length()?;
    let judge = |found: Simulated<'_>| Judgement::of(value, &found.enough.queue_length(found.gathered));
    let judgement = simulated.map(judge).unwrap_or_default();
    Some(TheoryRow {
        discipline: None,
        class: "all".to_owned(),
        metric: "queue",
        value: Some(value),
        unit: "pkt",
        formula: "conservation of work: rho (W + E[L(L-1)] / 2m)".to_owned(),
        settled: judgement.unjudged.is_none(),
        agrees: judgement.holds,
        unjudged: judgement.unjudged,
    })
}

/// The closed form of the overall mean as a self-check; none where there is no mean to hold against it.
#[must_use]
pub fn check(simulated: Simulated<'_>, means: &Means, frame: &Frame) -> Option<Check> {
    let Simulated { gathered, enough } = simulated;
    let measure = enough.mean_of(gathered, 0, None);
    let tolerance = measure.as_estimate().map_or(0.0, |estimate| {
        let (low, high) = estimate.interval(LEVEL);
        (high - low) / 2.0
    });
    let note = format!("mean {} in {}, {}", gathered.metrics[0].name(), frame.time_unit, means.formula);
    let exact = means.mean + frame.transmission;
    let name = Some(gathered.name.as_str());
    let check = Check::new(name, "known formula", exact, measure.value()?, tolerance, note).by_interval();
    Some(check.judged(Judgement::of(exact, &measure)))
}
