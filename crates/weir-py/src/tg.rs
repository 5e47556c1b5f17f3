//! TG scripts: text in, what a scenario needs to know of them out, as JSON.

use std::path::Path;

use pyo3::prelude::*;
use serde_json::{Value, json};
use weir_core::units::Nanos;
use weir_tg::script::{Action, Deed, Ends};
use weir_tg::traffic::{Burst, Start};
use weir_tg::{Script, ScriptError, Traffic, files};

use crate::errors;

/// Reads and checks a TG script.
#[pyfunction]
pub(crate) fn tg_parse(py: Python<'_>, text: &str, name: &str) -> PyResult<String> {
    py.detach(|| read(text, name)).map(|facts| facts.to_string()).map_err(|error| errors::script(&error))
}

/// About how many packets leave before `until`, in nanoseconds.
#[pyfunction]
pub(crate) fn tg_packets(py: Python<'_>, text: &str, name: &str, until: u64) -> PyResult<f64> {
    let traffic = py.detach(|| parse(text, name).and_then(|script| Traffic::of(&script)));
    traffic.map(|traffic| traffic.expected_packets(Nanos::new(until))).map_err(|error| errors::script(&error))
}

fn read(text: &str, name: &str) -> Result<Value, ScriptError> {
    let script = parse(text, name)?;
    Ok(facts(&script, &Traffic::of(&script)?))
}

fn parse(text: &str, name: &str) -> Result<Script, ScriptError> {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    weir_tg::parse(text, name, &mut files::included(folder))
}

fn facts(script: &Script, traffic: &Traffic) -> Value {
    let (local, remote, server) = match script.association.ends {
        Ends::To(remote) => (None, Some(remote), None),
        Ends::Between { local, remote } => (Some(local), Some(remote), None),
        Ends::Server(address) => (None, None, Some(address)),
    };
    let address = |each: Option<std::net::SocketAddrV4>| each.map(|it| it.ip().to_string());
    let end = traffic.end();
    json!({
        "on": script.on,
        "protocol": script.association.protocol.keyword(),
        "local": address(local),
        "remote": address(remote),
        "server": address(server),
        "qualities": script.association.qualities.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "responses": script.actions.iter().any(asks),
        "bursts": traffic.bursts.iter().map(burst).collect::<Vec<_>>(),
        "end": end.map(Nanos::seconds),
        "largest_size": traffic.largest_size().get(),
        "expected_packets": end.map(|end| traffic.expected_packets(end)),
        "sources": script.sources,
        "text": script.to_string(),
    })
}

/// Whether an action asks for responses.
fn asks(action: &Action) -> bool {
    matches!(&action.deed, Deed::Send(sending) if sending.response.is_some())
}

fn burst(burst: &Burst) -> Value {
    let (at, after) = match burst.from {
        Start::At(at) => (Some(at.seconds()), None),
        Start::After(after) => (None, Some(after.seconds())),
    };
    json!({
        "at": at,
        "after": after,
        "time": burst.time.map(Nanos::seconds),
        "until": burst.until.map(Nanos::seconds),
        "arrival": burst.arrival.to_string(),
        "mean_gap": burst.arrival.mean(),
        "length": burst.length.to_string(),
        "mean_length": burst.length.mean(),
        "packets": burst.packets,
        "data": burst.data.map(|data| data.get()),
        "seed": burst.seed,
    })
}
