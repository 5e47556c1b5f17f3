//! Closed forms to compare the simulation with.

use crate::collector::Metric;
use crate::figures::Frame;
use crate::gathered::Gathered;
use crate::outcome::ClassRow;
use crate::settling::Sufficiency;
use crate::theory::ClosedForm;
use weir_lab::judgement::Judgement;
use weir_lab::result::{Check, LEVEL, TheoryRow};
use weir_theory::TheoryError;

/// The exact means of a metric, `all` first and then class by class; `None` where the form gives none. Those of
/// packets end at the acceptance of the last one, whose transmission the response includes.
#[must_use]
pub fn exact(form: &ClosedForm, metric: Metric, frame: &Frame) -> Vec<Option<f64>> {
    let bounds = |row: &ClassRow| Some((row.low?.checked_sub(1)?, row.high?));
    let of_class = |row: &ClassRow| bounds(row).and_then(|(above, up_to)| form.class(above, up_to));
    let mut means = vec![match metric {
        Metric::Latency => Some(form.mean()),
        Metric::Response => Some(form.mean() + frame.transmission),
        Metric::Slowdown => Some(form.mean_slowdown()),
        Metric::Wait => form.mean_service().map(|service| form.mean() - service),
    }];
    means.extend(frame.classes[1..].iter().map(|row| match metric {
        Metric::Latency => Some(of_class(row)?.mean),
        Metric::Response => Some(of_class(row)?.mean + frame.transmission),
        Metric::Slowdown => Some(of_class(row)?.slowdown),
        Metric::Wait => None,
    }));
    means
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
    form: &Result<ClosedForm, TheoryError>,
    metrics: &[Metric],
    frame: &Frame,
    simulated: Option<Simulated<'_>>,
) -> Vec<TheoryRow> {
    let mut rows = Vec::new();
    for (place, &metric) in metrics.iter().enumerate() {
        let values = form.as_ref().map(|form| exact(form, metric, frame));
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
                formula: form.as_ref().map_or_else(ToString::to_string, |form| form.formula().to_owned()),
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
pub fn check(simulated: Simulated<'_>, form: &ClosedForm, frame: &Frame) -> Option<Check> {
    let Simulated { gathered, enough } = simulated;
    let measure = enough.mean_of(gathered, 0, None);
    let tolerance = measure.as_estimate().map_or(0.0, |estimate| {
        let (low, high) = estimate.interval(LEVEL);
        (high - low) / 2.0
    });
    let note = format!("mean {} in {}, {}", gathered.metrics[0].name(), frame.time_unit, form.formula());
    let exact = form.mean() + frame.transmission;
    let name = Some(gathered.name.as_str());
    let check = Check::new(name, "known formula", exact, measure.value()?, tolerance, note).by_interval();
    Some(check.judged(Judgement::of(exact, &measure)))
}
