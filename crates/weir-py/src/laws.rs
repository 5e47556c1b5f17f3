//! Laws of the textbooks: what is known of each, and fits of them to a column of a file; JSON text comes out.

use std::fs::File;
use std::path::PathBuf;

use pyo3::prelude::*;
use serde_json::{Value, json};
use weir_document::{Refused, plain_io};
use weir_sim::workload::ContinuousLaw;
use weir_sim::workload::fit::{Fitted, Sample, TESTED, fit, read_column};
use weir_sim::workload::laws::Form;
use weir_sim::workload::laws::facts::{LAWS, LawFacts};

use crate::errors;

/// Points of a survival function that is drawn.
const DRAWN: usize = 400;

/// All laws in the order of the listings: a JSON list of objects.
#[pyfunction]
pub(crate) fn laws() -> String {
    Value::from_iter(LAWS.iter().map(described)).to_string()
}

fn described(law: &LawFacts) -> Value {
    let example = (law.example)().ok();
    let example = example.as_ref();
    let parameter = |each: &weir_sim::workload::laws::facts::ParameterFacts| json!({ "name": each.name, "bounds": each.bounds, "meaning": each.meaning });
    json!({
        "name": law.name,
        "title": law.title,
        "what": law.what,
        "parameters": law.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "mean": law.mean,
        "scv": law.scv,
        "skewness": law.skewness,
        "source": law.source,
        "example": {
            "written": law.written,
            "mean": example.and_then(ContinuousLaw::mean),
            "cv": example.and_then(ContinuousLaw::cv),
            "skewness": example.and_then(ContinuousLaw::skewness),
            "median": example.map(|law| law.quantile(0.5)),
            "p99": example.map(|law| law.quantile(0.99)),
        },
    })
}

/// Fits the laws to a column of a CSV file; the best `tested` are tested, with as many replicates.
#[pyfunction]
#[pyo3(signature = (file, column, tested, replicates, seed))]
pub(crate) fn fit_laws(
    py: Python<'_>,
    file: PathBuf,
    column: String,
    tested: usize,
    replicates: u32,
    seed: u64,
) -> PyResult<String> {
    let name = file.display().to_string();
    let read = || {
        let source = File::open(&file).map_err(|error| {
            let reason = format!("cannot be read ({})", plain_io(&error));
            Refused::of_file(&name, reason, "check the name and the permissions")
        })?;
        let values = read_column(source, &name, &column)?;
        let sample = Sample::new(values).map_err(|error| {
            let text = error.to_string();
            let (reason, remedy) = text.rsplit_once("; ").unwrap_or((text.as_str(), "correct it"));
            Refused::of_file(&name, reason, remedy).key(&column)
        })?;
        let all = fit(&sample, tested, replicates, seed);
        Ok((sample, all))
    };
    let (sample, all): (Sample, Vec<Fitted>) =
        py.detach(read).map_err(|refused: Refused| errors::scenario(&refused, ""))?;
    Ok(shown(&sample, &all).to_string())
}

/// Fits of a sample, the best first.
pub(crate) fn shown(sample: &Sample, all: &[Fitted]) -> Value {
    let values = sample.values();
    let n = values.len();
    let points: Vec<(f64, f64)> =
        places(n).into_iter().map(|at| (values[at], (n - at) as f64 / n as f64)).collect();
    let fits: Vec<Value> = all.iter().map(|fitted| one(fitted, &points)).collect();
    json!({ "count": n, "tested": n.min(TESTED), "mean": sample.mean(), "cv": sample.cv(), "survival": points, "fits": fits })
}

/// The places of the values that are drawn, the least and the greatest among them: evenly, and ever closer towards the
/// greatest, so that the tail has its points.
fn places(n: usize) -> Vec<usize> {
    let drawn = DRAWN.min(n);
    let even = (0..drawn).map(|point| point * (n - 1) / (drawn - 1).max(1));
    let from_the_end = |point: usize| (n as f64).powf(point as f64 / DRAWN as f64) as usize;
    let mut places: Vec<usize> = even.chain((0..DRAWN).map(|point| n - from_the_end(point).min(n))).collect();
    places.sort_unstable();
    places.dedup();
    places
}

fn one(fitted: &Fitted, points: &[(f64, f64)]) -> Value {
    let survival: Vec<f64> = points.iter().map(|(x, _)| fitted.law.survival(*x)).collect();
    json!({
        "name": fitted.law.name(),
        "parameters": parameters(&fitted.law),
        "estimated": fitted.parameters,
        "log_likelihood": fitted.log_likelihood,
        "aic": fitted.aic,
        "bic": fitted.bic,
        "distance": fitted.distance,
        "p_value": fitted.p_value,
        "mean": fitted.law.mean(),
        "cv": fitted.law.cv(),
        "survival": survival,
    })
}

/// The parameters of a fitted law, by the names that documents give them.
fn parameters(law: &ContinuousLaw) -> Value {
    match law.form() {
        Form::Exponential { mean } => json!({ "mean": mean }),
        Form::Erlang { stages, mean } => json!({ "stages": stages, "mean": mean }),
        Form::Gamma { shape, scale } => json!({ "shape": shape, "scale": scale }),
        Form::Lognormal { mu, sigma, .. } => json!({ "mu": mu, "sigma": sigma }),
        Form::Weibull { shape, scale } => json!({ "shape": shape, "scale": scale }),
        Form::Pareto { alpha, minimum } => json!({ "alpha": alpha, "minimum": minimum }),
        Form::Hyperexponential(branches) => {
            json!({ "branches": branches.iter().map(|(p, mean)| (mean, p)).collect::<Vec<_>>() })
        }
        _ => json!({}),
    }
}
