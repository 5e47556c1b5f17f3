//! Scenarios of the node run for real: one discipline at a time, a recording as a file, counts as JSON.
//!
//! The run has a thread of its own, as a simulation has. At Ctrl-C it is broken off, and the call raises
//! `KeyboardInterrupt`.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::{Value, json};
use weir_enact::{EnactError, Live, enact as run_for_real};
use weir_exec::{Path, WorkerCounts};

use crate::errors;
use crate::simulate::{Scenario, Shared, wait};

/// The most reports of the executor that are kept.
const MOST_REPORTS: usize = 20;

/// Runs the programs of a scenario of the node as tasks of this process; returns what was counted as JSON.
#[pyfunction]
#[pyo3(signature = (scenario, discipline, nanoseconds, record, pinned, real_time, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn enact(
    py: Python<'_>,
    scenario: &Scenario,
    discipline: usize,
    nanoseconds: u64,
    record: PathBuf,
    pinned: bool,
    real_time: Option<u8>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let read = scenario.read();
    if read.node().is_none() {
        let message =
            format!("programs of a node are run for real, and this scenario is of a {}", read.name());
        return Err(errors::of_another_model(message, "give a scenario of the node", &read.frame().file));
    }
    let live = Live { discipline, span: Duration::from_nanos(nanoseconds), record, pinned, real_time };
    let shared = Arc::new(Shared::default());
    shared.total.store(nanoseconds, Ordering::Relaxed);
    let (sender, receiver) = channel();
    let theirs = Arc::clone(&shared);
    thread::spawn(move || {
        // Nobody listens any more after a second Ctrl-C.
        let _ = sender.send(run(&read, &live, &theirs));
    });
    wait(py, &Mutex::new(receiver), &shared, progress.as_ref())
}

fn run(read: &weir_sim::Scenario, live: &Live, shared: &Shared) -> PyResult<String> {
    let Some(node) = read.node() else { unreachable!("it was looked at before") };
    let reports = Arc::new(Mutex::new((Vec::new(), 0_u64)));
    let told = Arc::clone(&reports);
    let began = std::time::Instant::now();
    let is_over = || {
        shared.done.store(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
        shared.cancel.load(Ordering::Relaxed)
    };
    let heard = move |report: weir_exec::Report| {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        told.1 += 1;
        if told.0.len() < MOST_REPORTS {
            told.0.push(report.to_string());
        }
    };
    let enacted = run_for_real(node, live, heard, &is_over);
    if shared.cancel.load(Ordering::Relaxed) {
        return Err(PyKeyboardInterrupt::new_err("interrupted"));
    }
    let enacted = enacted.map_err(|error| refused(&error, read))?;
    let reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
    let workers: Vec<_> = enacted.counts.iter().map(worker).collect();
    let late: Vec<_> = enacted
        .late
        .iter()
        .map(|late| json!([node.processes[late.process].name, late.due, late.at]))
        .collect();
    Ok(json!({ "workers": workers, "reports": reports.0, "reported": reports.1, "late": late }).to_string())
}

fn refused(error: &EnactError, read: &weir_sim::Scenario) -> PyErr {
    let remedy = match error {
        EnactError::Build(_) => "give fewer nodes, or let workers share processors with `--share`",
        EnactError::Refused { .. } => "change what the process asks for, or leave the discipline out",
        _ => "leave out `[balance]`",
    };
    errors::of_another_model(error.to_string(), remedy, &read.frame().file)
}

fn worker(counts: &WorkerCounts) -> Value {
    let paths: serde_json::Map<_, _> = Path::NAMES
        .iter()
        .zip(counts.paths)
        .map(|(name, count)| ((*name).to_owned(), count.into()))
        .collect();
    let tasks = counts.tasks.iter().map(|task| {
        json!({
            "name": task.name,
            "run": task.run.as_secs_f64(),
            "polls": task.polls,
            "longest_poll": task.longest_poll.as_secs_f64(),
        })
    });
    json!({
        "elapsed": counts.elapsed.as_secs_f64(),
        "idle": counts.idle.as_secs_f64(),
        "paths": paths,
        "wakes": counts.wakes,
        "polls": counts.polls,
        "longest_poll": counts.longest_poll.as_secs_f64(),
        "longest_poll_of": counts.longest_poll_of,
        "tasks": tasks.collect::<Vec<_>>(),
    })
}
