//! What the registry says of its disciplines, as JSON.

use pyo3::pyfunction;
use serde_json::{Value, json};
use weir_core::info::{Info, Kind, Parameter};
use weir_core::registry;
use weir_sim::theory::{Mode, Service, theory};
use weir_sim::workload::Sizes;

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
        "closed_forms": {
            "packet by packet": closed_form(info, Mode::Packets),
            "whole messages": closed_form(info, Mode::Whole),
        },
    })
}

/// The formula of the example's exact mean, or why there is none. It depends on the discipline alone, so any
/// stable workload does to ask for it. A dispatcher may be called as a message discipline that has one.
fn closed_form(info: &Info, mode: Mode) -> Value {
    if matches!(info.kind, Kind::Dispatcher | Kind::Pool) {
        return json!({ "formula": null, "reason": "no closed form for a pool of servers" });
    }
    match theory(info.example, mode, &Sizes::alpha_report(), 0.5, Service::constant(1.0)) {
        Ok(form) => json!({ "formula": form.formula(), "reason": null }),
        Err(reason) => json!({ "formula": null, "reason": reason.to_string() }),
    }
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "values": parameter.values,
        "default": parameter.default,
        "meaning": parameter.meaning,
    })
}
