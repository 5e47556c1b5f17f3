//! Closed forms beside the simulation.

use crate::collector::Metric;
use crate::figures::Frame;
use crate::gathered::Gathered;
use crate::outcome::ClassRow;
use crate::settling::Sufficiency;
use crate::theory::ClosedForm;
use weir_lab::result::{Check, LEVEL, TheoryRow};
use weir_lab::stats::Measure;
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
    simulated: Option<(&Gathered, &Sufficiency)>,
) -> Vec<TheoryRow> {
    let mut rows = Vec::new();
    for (place, &metric) in metrics.iter().enumerate() {
        let values = form.as_ref().map(|form| exact(form, metric, frame));
        for (at, class) in frame.classes.iter().enumerate() {
            let value = values.as_ref().ok().and_then(|values| values[at]);
            let mean = simulated.map(|(gathered, enough)| enough.mean_of(gathered, place, at.checked_sub(1)));
            let (agrees, settled) = covers(mean, value);
            rows.push(TheoryRow {
                discipline: Some(name.to_owned()),
                class: class.name.clone(),
                metric: metric.name(),
                value,
                unit: frame.unit(metric),
                formula: form.as_ref().map_or_else(ToString::to_string, |form| form.formula().to_owned()),
                agrees,
                settled,
            });
        }
    }
    rows
}

/// Whether the 99.9 % interval of a mean covers a value, `None` where there is no interval or the mean is not settled; and
/// whether it is.
fn covers(mean: Option<Measure>, value: Option<f64>) -> (Option<bool>, bool) {
    let both = mean.zip(value).and_then(|(mean, value)| Some((*mean.as_estimate()?, value)));
    let Some((estimate, value)) = both else { return (None, true) };
    if !estimate.settled().is_settled() {
        return (None, false);
    }
    let (low, high) = estimate.interval(LEVEL);
    (Some((low..=high).contains(&value)), true)
}

/// The row of the queue length, which all work-conserving disciplines share.
#[must_use]
pub fn queue_row(form: &ClosedForm, simulated: Option<(&Gathered, &Sufficiency)>) -> Option<TheoryRow> {
    let value = form.queue_length()?;
    let length = simulated.map(|(gathered, enough)| enough.queue_length(gathered));
    let (agrees, settled) = covers(length, Some(value));
    Some(TheoryRow {
        discipline: None,
        class: "all".to_owned(),
        metric: "queue",
        value: Some(value),
        unit: "pkt",
        formula: "conservation of work: rho (W + E[L(L-1)] / 2m)".to_owned(),
        agrees,
        settled,
    })
}

/// The closed form of the overall mean as a self-check.
#[must_use]
pub fn check(
    (gathered, enough): (&Gathered, &Sufficiency),
    form: &ClosedForm,
    frame: &Frame,
) -> Option<Check> {
    let measure = enough.mean_of(gathered, 0, None);
    let (low, high) = measure.as_estimate()?.interval(LEVEL);
    let note = format!("mean {} in {}, {}", gathered.metrics[0].name(), frame.time_unit, form.formula());
    let exact = form.mean() + frame.transmission;
    let name = Some(gathered.name.as_str());
    let check = Check::new(name, "known formula", exact, measure.value()?, (high - low) / 2.0, note);
    Some(check.resting_on(measure.settled()))
}
