//! Closed forms beside the simulation.

use crate::collector::Metric;
use crate::figures::Frame;
use crate::gathered::Gathered;
use crate::outcome::ClassRow;
use crate::theory::ClosedForm;
use weir_lab::result::{Check, LEVEL, TheoryRow};
use weir_lab::stats::{Linearised, Measure, Unavailable};
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

/// The rows of one discipline, beside what was simulated of it, if anything was.
#[must_use]
pub fn rows(
    name: &str,
    form: &Result<ClosedForm, TheoryError>,
    metrics: &[Metric],
    frame: &Frame,
    simulated: Option<&Gathered>,
) -> Vec<TheoryRow> {
    let mut rows = Vec::new();
    for (place, &metric) in metrics.iter().enumerate() {
        let values = form.as_ref().map(|form| exact(form, metric, frame));
        for (at, class) in frame.classes.iter().enumerate() {
            let value = values.as_ref().ok().and_then(|values| values[at]);
            let mean = simulated.map(|gathered| gathered.mean(place, at.checked_sub(1)));
            rows.push(TheoryRow {
                discipline: Some(name.to_owned()),
                class: class.name.clone(),
                metric: metric.name(),
                value,
                unit: frame.unit(metric),
                formula: form.as_ref().map_or_else(ToString::to_string, |form| form.formula().to_owned()),
                settled: true,
                agrees: value.zip(mean).and_then(|(value, mean)| covers(mean, value)),
            });
        }
    }
    rows
}

/// Whether the 99.9 % interval of a mean covers `value`; `None` where there is no interval.
fn covers(mean: Result<Linearised, Unavailable>, value: f64) -> Option<bool> {
    let measure = Measure::from(mean);
    let (low, high) = measure.as_estimate()?.interval(LEVEL);
    Some((low..=high).contains(&value))
}

/// The row of the queue length, which all work-conserving disciplines share.
#[must_use]
pub fn queue_row(form: &ClosedForm, simulated: Option<&Gathered>) -> Option<TheoryRow> {
    let value = form.queue_length()?;
    Some(TheoryRow {
        discipline: None,
        class: "all".to_owned(),
        metric: "queue",
        value: Some(value),
        unit: "pkt",
        formula: "conservation of work: rho (W + E[L(L-1)] / 2m)".to_owned(),
        settled: true,
        agrees: simulated.and_then(|gathered| covers(gathered.queue_length(), value)),
    })
}

/// The closed form of the overall mean as a self-check.
#[must_use]
pub fn check(gathered: &Gathered, form: &ClosedForm, frame: &Frame) -> Option<Check> {
    let measure = Measure::from(gathered.mean(0, None));
    let (low, high) = measure.as_estimate()?.interval(LEVEL);
    let note = format!("mean {} in {}, {}", gathered.metrics[0].name(), frame.time_unit, form.formula());
    let exact = form.mean() + frame.transmission;
    let name = Some(gathered.name.as_str());
    Some(Check::new(name, "known formula", exact, measure.value()?, (high - low) / 2.0, note))
}
