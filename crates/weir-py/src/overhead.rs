//! What a message takes and a scheduling costs, from counters: numbers in, JSON text out.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use weir_sim::stats::overhead::{self, Known, Setting};

use crate::errors;

/// Run time, messages and schedulings, then the standard errors of each.
type Counted = (f64, f64, f64, f64, f64, f64);

/// Estimates both from two or more settings, or the overhead from one where the time of a message is known.
#[pyfunction]
#[pyo3(signature = (settings, message_time=None))]
pub(crate) fn estimate_overhead(settings: Vec<Counted>, message_time: Option<f64>) -> PyResult<String> {
    let known = |value, standard_error| Known { value, standard_error };
    let setting = |(run_time, messages, schedulings, first, second, third): Counted| Setting {
        run_time: known(run_time, first),
        messages: known(messages, second),
        schedulings: known(schedulings, third),
    };
    let settings: Vec<Setting> = settings.into_iter().map(setting).collect();
    let found = overhead::estimate_overhead(&settings, message_time)
        .map_err(|error| errors::config(error.to_string(), error.remedy().to_owned()))?;
    serde_json::to_string(&found).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
