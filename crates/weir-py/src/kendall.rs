//! Queues in Kendall's notation: text and quantities in, figures out as JSON, in seconds.

use pyo3::prelude::*;
use serde_json::{Value, json};
use weir_document::quantity::{Clock, RequestRate, Time};
use weir_sim::theory::{
    Arrivals, Figure, FigureError, Given, Kendall, NotationError, Parameter, TheoryError, Unit, figures,
};

use crate::errors;

/// What is known of a queue.
#[pyfunction]
#[pyo3(signature = (notation, arrival, service, patience, scv_arrival, scv_service, batch, scv_batch))]
#[expect(clippy::too_many_arguments, reason = "the caller names each of them")]
pub(crate) fn kendall(
    notation: &str,
    arrival: Option<&str>,
    service: Option<&str>,
    patience: Option<&str>,
    scv_arrival: Option<f64>,
    scv_service: Option<f64>,
    batch: Option<f64>,
    scv_batch: Option<f64>,
) -> PyResult<String> {
    let queue: Kendall = notation.parse().map_err(|error| not_read(notation, &error))?;
    let given = Given {
        arrival: arrival.map(rate).transpose()?,
        service: service.map(|text| mean("service", text)).transpose()?,
        patience: patience.map(|text| mean("patience", text)).transpose()?,
        scv_arrival,
        scv_service,
        batch,
        scv_batch,
    };
    let found = figures(&queue, &given).map_err(|error| refused(&queue, &given, &error))?;
    let document = json!({
        "queue": queue.to_string(),
        "parameters": parameters(&given),
        "figures": found.iter().map(row).collect::<Vec<_>>(),
    });
    Ok(document.to_string())
}

fn row(figure: &Figure) -> Value {
    let unit = match figure.unit {
        Unit::Time => "s",
        Unit::Share => "share",
        Unit::Customers => "customers",
    };
    json!({
        "metric": figure.metric,
        "value": figure.value,
        "unit": unit,
        "status": figure.status.name(),
        "source": figure.source,
    })
}

fn parameters(given: &Given) -> Value {
    let all = [
        (Parameter::Arrival, given.arrival, "1/s"),
        (Parameter::Service, given.service, "s"),
        (Parameter::Patience, given.patience, "s"),
        (Parameter::ScvArrival, given.scv_arrival, "1"),
        (Parameter::ScvService, given.scv_service, "1"),
        (Parameter::Batch, given.batch, "customers"),
        (Parameter::ScvBatch, given.scv_batch, "1"),
    ];
    let row = |(parameter, value, unit): (Parameter, Option<f64>, &str)| {
        Some(json!({ "name": parameter.name(), "value": value?, "unit": unit }))
    };
    all.into_iter().filter_map(row).collect()
}

/// A rate such as `2.4/s`.
fn rate(text: &str) -> PyResult<f64> {
    let read = RequestRate::parse(text).map(|rate| rate.0).filter(|rate| *rate > 0.0 && rate.is_finite());
    read.ok_or_else(|| {
        let message = format!("arrival is `{text}`, must be a rate above 0 with its unit");
        errors::config(message, "write it as in 2.4/s, 2.5k/s or 1M/s".to_owned())
    })
}

/// The mean of what is given as a rate, `2/s`, or as a time, `500ms`.
fn mean(name: &str, text: &str) -> PyResult<f64> {
    let by_rate = || RequestRate::parse(text).map(|rate| 1.0 / rate.0);
    let time = Time::parse(text).filter(|time| time.clock == Clock::Seconds);
    let by_time = || time.map(|time| time.span.get() as f64 / 1e9);
    let read = by_rate().or_else(by_time).filter(|mean| *mean > 0.0 && mean.is_finite());
    read.ok_or_else(|| {
        let message = format!("{name} is `{text}`, must be a time or a rate above 0 with its unit");
        errors::config(message, "write it as in 500ms, 1s or 2/s".to_owned())
    })
}

fn not_read(notation: &str, error: &NotationError) -> PyErr {
    let found = if error.found.is_empty() { String::new() } else { format!("`{}` ", error.found) };
    let message = format!("`{notation}`, at character {}: {found}{}", error.at, error.problem);
    errors::config(message, error.remedy.to_owned())
}

fn refused(queue: &Kendall, given: &Given, error: &FigureError) -> PyErr {
    let (message, remedy) = match error {
        FigureError::Missing(parameter) => {
            let example = example(*parameter);
            let name = parameter.name();
            (
                format!("{queue} needs `{name}`, the {}", parameter.meaning()),
                format!("give it, as in `--{name} {example}`"),
            )
        }
        FigureError::Unused(parameter) => {
            let name = parameter.name();
            (
                format!("{queue} has no use for `{name}`, the {}", parameter.meaning()),
                format!("leave out `--{name}`, or write another queue"),
            )
        }
        FigureError::Unknown(Some(next)) => (
            format!("no closed form is known of {queue}"),
            format!("the nearest that is known is {next}; or simulate the queue, `weir new`"),
        ),
        FigureError::InLibrary(function) => (
            format!("{queue} needs more than rates and means"),
            format!("call {function} of the crate weir-theory"),
        ),
        FigureError::Theory(TheoryError::Unstable(load)) => unstable(queue, given, *load),
        other => (format!("{queue}: {other}"), "see `weir theory --help`".to_owned()),
    };
    errors::config(message, remedy)
}

/// Which load there is, and below which rate of arrivals there is a steady state.
fn unstable(queue: &Kendall, given: &Given, load: f64) -> (String, String) {
    let batch = match queue.arrivals {
        Arrivals::Batches(Some(customers)) => f64::from(customers),
        _ => given.batch.unwrap_or(1.0),
    };
    let servers = f64::from(queue.servers.unwrap_or(1));
    let bound = servers / (given.service.unwrap_or(1.0) * batch);
    // Rounding of the load is no news.
    let load = (load * 1e12).round() / 1e12;
    (
        format!("{queue} is unstable: load is {load}, must be below 1; the queue grows without bound"),
        format!("lower `arrival` below {bound}/s, or give it more servers, a bound of places or patience"),
    )
}

const fn example(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::Arrival => "2.4/s",
        Parameter::Service | Parameter::Patience => "1s",
        Parameter::ScvArrival | Parameter::ScvService => "1.5",
        Parameter::Batch => "4",
        Parameter::ScvBatch => "0",
    }
}
