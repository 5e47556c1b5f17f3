//! Scenarios, runs and closed forms: text in, JSON text out.
//!
//! A run has a thread of its own. The thread that called waits without the interpreter lock and wakes some
//! times a second to look for signals and to tell how far the run is. The first Ctrl-C asks the engine to
//! stop, and its result says so; the second leaves at once.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use weir_sim::parallel::available_threads;
use weir_sim::port::report;
use weir_sim::server::report as server_report;
use weir_sim::{AnyOutcome, Control, Progress, RecordSink, Scenario};

use crate::errors;
use crate::records::Sink;

/// How often a waiting run looks for signals and tells of its progress.
const PERIOD: Duration = Duration::from_millis(100);

/// The JSON Schema of scenario files.
#[pyfunction]
pub(crate) fn schema() -> String {
    weir_sim::schema()
}

/// Reads and checks a scenario; returns it in normalised form, as TOML.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, text: &str, name: &str) -> PyResult<String> {
    py.detach(|| read(text, name)).map(|scenario| scenario.frame().scenario.clone())
}

/// The closed forms of a scenario: a result without simulation, as JSON.
#[pyfunction]
pub(crate) fn theory(py: Python<'_>, text: &str, name: &str) -> PyResult<String> {
    let scenario = py.detach(|| read(text, name))?;
    let outcome = py.detach(|| match &scenario {
        Scenario::Port(port) => {
            Some(AnyOutcome::Port(Box::new(report::theory_only(&port.model, &port.frame))))
        }
        Scenario::Server(server) => {
            Some(AnyOutcome::Server(Box::new(server_report::theory_only(&server.model, &server.frame))))
        }
        _ => None,
    });
    match outcome {
        Some(outcome) => json(&outcome),
        None => Err(errors::of_another_model(
            format!(
                "closed forms are of the models `port` and `server`, and this scenario is of a {}",
                scenario.name()
            ),
            "simulate it: `weir run`, or `weir.run`",
            name,
        )),
    }
}

pub(crate) fn read(text: &str, name: &str) -> PyResult<Scenario> {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    Scenario::from_toml(text, name, folder).map_err(|error| errors::scenario(&error, name))
}

fn json(outcome: &AnyOutcome) -> PyResult<String> {
    serde_json::to_string(outcome).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// What a run and the thread that waits for it share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) cancel: AtomicBool,
    pub(crate) done: AtomicU64,
    pub(crate) total: AtomicU64,
}

/// Simulates a scenario; returns the result as JSON.
#[pyfunction]
#[pyo3(signature = (text, name, threads, progress, records))]
pub(crate) fn run(
    py: Python<'_>,
    text: &str,
    name: &str,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
    records: Option<Py<PyAny>>,
) -> PyResult<String> {
    let scenario = py.detach(|| read(text, name))?;
    if records.is_some() && scenario.port().is_none() {
        let remedy = match scenario {
            Scenario::Fabric(_) => {
                "leave out the records; the distributions of the result say more of a fabric"
            }
            Scenario::Node(_) => "leave out the records; `timeline` of [measure] says who ran when",
            Scenario::Server(_) => {
                "leave out the records; the distributions of the result say more of a server"
            }
            _ => "leave out the records; flows and intervals of [measure] say more of a network",
        };
        let message =
            format!("records are kept of the model `port`, and this scenario is of a {}", scenario.name());
        return Err(errors::of_another_model(message, remedy, name));
    }
    let threads = threads.unwrap_or_else(available_threads);
    let shared = Arc::new(Shared::default());
    let (sender, receiver) = channel();
    let theirs = Arc::clone(&shared);
    thread::spawn(move || {
        // Nobody listens any more after a second Ctrl-C.
        let _ = sender.send(simulate(&scenario, threads, &theirs, records));
    });
    wait(py, &Mutex::new(receiver), &shared, progress.as_ref())
}

fn simulate(
    scenario: &Scenario,
    threads: NonZeroUsize,
    shared: &Shared,
    records: Option<Py<PyAny>>,
) -> PyResult<String> {
    let mut sink = records.map(Sink::new);
    let mut progress = |state: Progress| {
        shared.done.store(state.done, Ordering::Relaxed);
        shared.total.store(state.total, Ordering::Relaxed);
    };
    let mut control = Control {
        threads,
        cancel: &shared.cancel,
        progress: &mut progress,
        records: sink.as_mut().map(|sink| sink as &mut dyn RecordSink),
    };
    let outcome = weir_sim::run(scenario, &mut control);
    match (sink.and_then(Sink::failure), outcome) {
        (Some(failure), _) => Err(failure),
        (None, Ok(outcome)) => json(&outcome),
        (None, Err(error)) => Err(errors::run(&error, &scenario.frame().file)),
    }
}

/// Waits for the run, looking for signals and telling of its progress.
pub(crate) fn wait(
    py: Python<'_>,
    receiver: &Mutex<Receiver<PyResult<String>>>,
    shared: &Shared,
    progress: Option<&Py<PyAny>>,
) -> PyResult<String> {
    loop {
        match py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PERIOD)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the engine panicked, which is a defect of weir"));
            }
        }
        let told = py.check_signals().and_then(|()| tell(py, shared, progress));
        if let Err(error) = told {
            let first = !shared.cancel.swap(true, Ordering::Relaxed);
            if !(first && error.is_instance_of::<PyKeyboardInterrupt>(py)) {
                return Err(error);
            }
        }
    }
}

fn tell(py: Python<'_>, shared: &Shared, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let state = PyDict::new(py);
    state.set_item("done", shared.done.load(Ordering::Relaxed))?;
    state.set_item("total", shared.total.load(Ordering::Relaxed))?;
    progress.call1(py, (state,)).map(drop)
}
