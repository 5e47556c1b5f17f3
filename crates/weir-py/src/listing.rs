//! What the registry says of its disciplines, as JSON.

use pyo3::pyfunction;
use serde_json::{Value, json};
use weir_core::info::{Info, Parameter};
use weir_core::registry;

/// All disciplines in the order of the listings: a JSON list of objects.
#[pyfunction]
pub(crate) fn disciplines() -> String {
    Value::from_iter(registry::all().map(describe)).to_string()
}

fn describe(info: &Info) -> Value {
    json!({
        "name": info.name,
        "kind": info.kind.name(),
        "title": info.title,
        "rule": info.rule,
        "source": info.source,
        "work": info.work,
        "parameters": info.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "example": info.example,
    })
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "values": parameter.values,
        "default": parameter.default,
        "meaning": parameter.meaning,
    })
}
