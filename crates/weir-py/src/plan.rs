//! Plans of arbitration tables and of nodes, and options of OpenSM: text in, JSON or text out.

use pyo3::prelude::*;
use serde_json::{Value, json};
use weir_core::units::Bytes;
use weir_plan::nodes::scenario;
use weir_plan::opensm::{self, Effective, Options, Port};
use weir_plan::{Coding, Form, Link, NodeForm, Prefix, Request, emit, place};

use crate::errors;

/// Reads a request and plans it, for `target` instead of that of the request.
#[pyfunction]
#[pyo3(signature = (text, name, target=None))]
pub(crate) fn plan(py: Python<'_>, text: &str, name: &str, target: Option<&str>) -> PyResult<String> {
    let (kind, form, mut planned) = match asked(text, name)? {
        Request::Table(mut asked) => {
            asked.target.form = target.map(form_named).transpose()?.or(asked.target.form);
            let planned = py.detach(|| json!(weir_plan::plan(&asked)));
            ("table", asked.target.form.map(Form::name), planned)
        }
        Request::Nodes(asked) => {
            let form = target.map(node_form_named).transpose()?;
            ("nodes", form.map(NodeForm::name), py.detach(|| json!(place(&asked))))
        }
    };
    planned["kind"] = json!(kind);
    planned["form"] = json!(form);
    Ok(planned.to_string())
}

fn asked(text: &str, name: &str) -> PyResult<Request> {
    Request::from_toml(text, name).map_err(|error| errors::plan(&error))
}

/// The form of this name, of a plan for a table.
fn form_named(name: &str) -> PyResult<Form> {
    Form::named(name).ok_or_else(|| unknown(name, "a table", &Form::ALL.map(Form::name)))
}

/// The form of this name, of a plan of nodes.
fn node_form_named(name: &str) -> PyResult<NodeForm> {
    NodeForm::named(name).ok_or_else(|| unknown(name, "nodes", &NodeForm::ALL.map(NodeForm::name)))
}

fn unknown(name: &str, kind: &str, known: &[&str]) -> PyErr {
    let reason = format!("target is `{name}`, must be one of {} in a plan for {kind}", known.join(", "));
    errors::config(reason, "use one of them".to_owned())
}

/// Plans a request and writes the plan in a form; a table is planned for `target`, if that is another.
#[pyfunction]
#[pyo3(signature = (text, name, form, target=None))]
pub(crate) fn plan_emit(
    py: Python<'_>,
    text: &str,
    name: &str,
    form: &str,
    target: Option<&str>,
) -> PyResult<String> {
    let emitted = match asked(text, name)? {
        Request::Table(mut asked) => {
            let form = form_named(form)?;
            asked.target.form = Some(target.map(form_named).transpose()?.unwrap_or(form));
            py.detach(|| emit(&weir_plan::plan(&asked), form, &asked.target))
        }
        Request::Nodes(asked) => {
            let form = node_form_named(form)?;
            py.detach(|| scenario::emit(&asked, &place(&asked), form))
        }
    };
    let emitted = emitted.map_err(|error| errors::emission(&error, name))?;
    Ok(json!(emitted).to_string())
}

/// What is wrong with an options file on a port.
#[pyfunction]
pub(crate) fn opensm_lint(
    text: &str,
    name: &str,
    mtu: u64,
    high_capacity: u32,
    low_capacity: u32,
    lanes: u32,
) -> PyResult<String> {
    let options = read(text, name)?;
    let port = Port { mtu: Bytes::new(mtu), high_capacity, low_capacity, lanes };
    Ok(json!(opensm::lint(&options, &port)).to_string())
}

/// The tables that an options file gives to each kind of port.
#[pyfunction]
pub(crate) fn opensm_tables(text: &str, name: &str) -> PyResult<String> {
    let options = read(text, name)?;
    let tables: serde_json::Map<String, Value> =
        Prefix::ALL.into_iter().map(|prefix| (prefix.name().to_owned(), tables(&options, prefix))).collect();
    Ok(Value::Object(tables).to_string())
}

fn tables(options: &Options, prefix: Prefix) -> Value {
    let effective = Effective::of(options, prefix);
    json!({
        "own": options.settings.iter().any(|setting| setting.prefix == prefix),
        "max_vls": effective.max_lanes,
        "lanes": options.most_lanes(),
        "high_limit": effective.high_limit,
        "high": effective.high,
        "low": effective.low,
        "sl2vl": effective.service_levels,
    })
}

/// A request or a scenario, as TOML, made from an options file.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the caller names each of them")]
pub(crate) fn opensm_import(
    text: &str,
    name: &str,
    prefix: &str,
    scenario: bool,
    mtu: u64,
    high_capacity: u32,
    low_capacity: u32,
    lanes: u32,
    rate_bits: u64,
    coding: &str,
) -> PyResult<String> {
    let options = read(text, name)?;
    let refused = |what: &str| errors::config(what.to_owned(), "use one of those listed".to_owned());
    let prefix = Prefix::ALL.into_iter().find(|each| each.name() == prefix);
    let prefix = prefix.ok_or_else(|| refused("prefix must be qos, qos_ca, qos_rtr, qos_sw0 or qos_swe"))?;
    let coding = Coding::ALL.into_iter().find(|each| each.name() == coding);
    let coding = coding.ok_or_else(|| refused("coding must be none, 8b/10b, 64b/66b or 128b/130b"))?;
    let port = Port { mtu: Bytes::new(mtu), high_capacity, low_capacity, lanes };
    let link = Link { rate: weir_core::units::Rate::new(rate_bits), coding };
    let refused = |(reason, remedy): (String, String)| errors::config(format!("{name}: {reason}"), remedy);
    if scenario {
        return opensm::scenario(&options, name, prefix, &port, link).map_err(refused);
    }
    opensm::requirements(&options, name, prefix, &port, link).map_err(refused)
}

fn read(text: &str, name: &str) -> PyResult<Options> {
    opensm::parse(text, name).map_err(|error| errors::plan(&error))
}
