//! What the registry says of its disciplines, as JSON.

use serde_json::{Value, json};
use weir_core::info::{Info, Kind, Parameter};
use weir_core::registry::{self, DISPATCHER, MESSAGE, PACKET, POOL, TASK, WRAPPER};
use weir_core::textbook::{NAMES, Name};
use weir_port::theory::{Service, theory};
use weir_server::closed_form;
use weir_theory::Mode;
use weir_workload::Sizes;

/// All disciplines in the order of the listings: a JSON list of objects.
#[must_use]
pub fn disciplines() -> String {
    Value::from_iter(registry::all().map(describe)).to_string()
}

fn describe(info: &Info) -> Value {
    json!({
        "name": info.name,
        "kind": info.kind.name(),
        "models": models(info),
        "title": info.title,
        "rule": info.rule,
        "source": info.source,
        "work": info.work,
        "parameters": info.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "example": info.example,
        "closed_forms": closed_forms(info),
    })
}

/// The models that take it in their `disciplines`.
fn models(info: &Info) -> Vec<&'static str> {
    let takes: [(&[&Info], &[&'static str]); 6] = [
        (MESSAGE, &["port"]),
        (WRAPPER, &["port"]),
        (PACKET, &["network", "fabric"]),
        (TASK, &["node"]),
        (DISPATCHER, &["server"]),
        (POOL, &["server"]),
    ];
    // A message discipline and a dispatcher may share a name.
    let is_it = |other: &&Info| (other.name, other.kind) == (info.name, info.kind);
    let lists = takes.iter().filter(|(list, _)| list.iter().any(is_it));
    let models: Vec<_> = lists.flat_map(|(_, models)| models.iter().copied()).collect();
    match info.kind {
        // What a program added stands in none of these lists.
        Kind::Message if models.is_empty() => vec!["port"],
        Kind::Packet if models.is_empty() => vec!["network", "fabric"],
        _ => models,
    }
}

/// What textbooks call what is here under another name, or not at all: a JSON list of objects.
#[must_use]
pub fn textbook() -> String {
    let told = |known: &Name| {
        json!({
            "name": known.name,
            "means": known.means,
            "here": known.here,
            "written": known.written,
            "note": known.note,
        })
    };
    Value::from_iter(NAMES.iter().map(told)).to_string()
}

/// The closed forms of a discipline, by what it serves.
fn closed_forms(info: &Info) -> Value {
    // A dispatcher may be called as a message discipline that has other forms.
    if matches!(info.kind, Kind::Dispatcher | Kind::Pool) {
        return json!({ "a pool of cores": told(closed_form::statement(info.name)) });
    }
    json!({
        "packet by packet": of_messages(info, Mode::Packets),
        "whole messages": of_messages(info, Mode::Whole),
    })
}

/// The formula of the example's exact mean, or why there is none. It depends on the discipline alone, so any
/// stable workload does to ask for it.
fn of_messages(info: &Info, mode: Mode) -> Value {
    let form = theory(info.example, mode, &Sizes::alpha_report(), 0.5, Service::constant(1.0));
    told(form.map(|form| form.formula().to_owned()).map_err(|reason| reason.to_string()))
}

fn told(form: Result<String, String>) -> Value {
    json!({ "formula": form.as_ref().ok(), "reason": form.as_ref().err() })
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "values": parameter.values(),
        "default": parameter.default,
        "meaning": parameter.meaning,
    })
}
