//! Refusals of the engine as exceptions of the package.
//!
//! Every exception takes `(message, remedy)`; the remedy is what follows the last comma of a message in
//! the house style, where it has one of its own.

use pyo3::{PyErr, Python, import_exception};
use weir_capture::CaptureError as NotRead;
use weir_core::spec::SpecError;
use weir_document::{Refusal, Refused};
use weir_plan::EmitError;
use weir_recording::RecordingError;
use weir_sim::RunError;
use weir_tg::ScriptError;

import_exception!(weir.errors, CaptureError);
import_exception!(weir.errors, ConfigError);
import_exception!(weir.errors, DisciplineError);
import_exception!(weir.errors, GrantError);
import_exception!(weir.errors, PlanError);
import_exception!(weir.errors, ScenarioError);
import_exception!(weir.errors, TraceError);
import_exception!(weir.errors, UnsupportedError);

/// A spec string that names no discipline, or a wrong parameter.
pub(crate) fn spec(error: &SpecError) -> PyErr {
    match error {
        SpecError::UnknownName { name, orders: None, remedy } => {
            config(format!("no discipline is called `{name}`"), remedy.clone())
        }
        SpecError::UnknownName { name, orders: Some(orders), remedy } => {
            let message =
                format!("`{name}` orders {orders}, and a queue takes disciplines of messages and of packets");
            config(message, remedy.clone())
        }
        SpecError::UnknownParameter { discipline, parameter, remedy } => {
            config(format!("`{discipline}` has no parameter `{parameter}`"), remedy.clone())
        }
        SpecError::Value { discipline, .. } => {
            config(error.to_string(), format!("`weir explain {discipline}` lists its parameters"))
        }
        _ => config(error.to_string(), "write it as in `alpha:10` or `in_order(alpha:10)`".to_owned()),
    }
}

/// As [`spec`], of a dispatcher.
pub(crate) fn dispatcher(error: &SpecError) -> PyErr {
    match error {
        SpecError::UnknownName { name, orders: Some(orders), remedy } => {
            let message = format!("`{name}` orders {orders}, and is no dispatcher");
            config(message, remedy.clone())
        }
        SpecError::Site { .. } => config(error.to_string(), "give another number of servers".to_owned()),
        other => spec(other),
    }
}

/// A value outside its bounds.
pub(crate) fn config(message: String, remedy: String) -> PyErr {
    ConfigError::new_err((message, remedy))
}

/// A call that the state of the queue's open grant forbids.
pub(crate) fn grant(message: &str, remedy: &str) -> PyErr {
    GrantError::new_err((message.to_owned(), remedy.to_owned()))
}

/// A discipline that breaks its contract, or a method of it that raised something.
pub(crate) fn discipline(message: String, remedy: &str) -> PyErr {
    DisciplineError::new_err((message, remedy.to_owned()))
}

/// What a discipline cannot do.
pub(crate) fn unsupported(message: String, remedy: &str) -> PyErr {
    UnsupportedError::new_err((message, remedy.to_owned()))
}

/// Whether an error is one of [`discipline`].
pub(crate) fn is_discipline(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<DisciplineError>(py)
}

/// A refused scenario, or a refused data file that the scenario called `name` names.
pub(crate) fn scenario(refused: &Refused, name: &str) -> PyErr {
    let told = told(refused);
    if refused.file == name { ScenarioError::new_err(told) } else { TraceError::new_err(told) }
}

/// A refused request for a plan, or a refused options file of OpenSM.
pub(crate) fn plan(refused: &Refused) -> PyErr {
    PlanError::new_err(told(refused))
}

/// A request, of the file `name`, whose plan a target cannot carry.
pub(crate) fn emission(error: &EmitError, name: &str) -> PyErr {
    let message = format!("{} cannot carry the plan: {}", error.form, error.reason);
    PlanError::new_err((message, error.remedy.clone(), name.to_owned()))
}

/// What exceptions of documents take: the message, the remedy, the file, the line, the column, the key and the value.
type Told = (String, String, String, Option<usize>, Option<usize>, Option<String>, Option<String>);

fn told(refused: &Refused) -> Told {
    let Refusal { file, line, column, key, value, remedy, .. } = (**refused).clone();
    (refused.message(), remedy, file, line, column, key, value)
}

/// A refused TG script, or a refused file that it includes.
pub(crate) fn script(error: &ScriptError) -> PyErr {
    let place = (error.file.clone(), error.line, error.column);
    let none: Option<String> = None;
    TraceError::new_err((
        error.reason.clone(),
        error.remedy.clone(),
        place.0,
        place.1,
        place.2,
        none,
        error.found.clone(),
    ))
}

/// What is there for one model, asked of a scenario of another.
pub(crate) fn of_another_model(message: String, remedy: &str, name: &str) -> PyErr {
    ConfigError::new_err((message, remedy.to_owned(), name.to_owned()))
}

/// A run that gave no result.
pub(crate) fn run(error: &RunError, name: &str) -> PyErr {
    let remedy = error.remedy().to_owned();
    ConfigError::new_err((error.to_string(), remedy, name.to_owned()))
}

/// A refused recording of weir-exec.
pub(crate) fn recording(error: &RecordingError, name: &str) -> PyErr {
    let (_, remedy) = error.fault.told();
    TraceError::new_err((error.to_string(), remedy, name.to_owned()))
}

/// A refused packet capture.
pub(crate) fn capture(error: &NotRead, name: &str) -> PyErr {
    CaptureError::new_err((error.to_string(), error.fault.remedy(), name.to_owned()))
}
