//! The highest loads of a server within a bound on the slowdown: text in, JSON text out.

use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use weir_sim::engine::replications::available_threads;
use weir_sim::scenario::Scenario;
use weir_sim::server::slo::{Asked, SloSearch, highest_load};
use weir_sim::stats::FAR_QUANTILES;
use weir_sim::{Control, Progress};

use crate::errors;
use crate::simulate::{Shared, kind, read, wait};

/// What is asked of every discipline: a class, a quantile, a bound and the precision of the load.
type Question = (Option<String>, String, f64, f64);

/// Searches the highest load of each discipline; returns a JSON list with one search a discipline.
#[pyfunction]
#[pyo3(signature = (text, name, question, threads, progress))]
pub(crate) fn highest_loads(
    py: Python<'_>,
    text: &str,
    name: &str,
    question: Question,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let scenario = py.detach(|| read(text, name))?;
    if scenario.server().is_none() {
        return Err(errors::of_another_model(
            format!(
                "a highest load is searched of the model `server`, and this scenario is of a {}",
                kind(&scenario)
            ),
            "write `model = \"server\"`, as `weir schema` describes it",
            name,
        ));
    }
    let (asked, precision) = asked(question)?;
    let threads = threads.unwrap_or_else(available_threads);
    let shared = Arc::new(Shared::default());
    let (sender, receiver) = channel();
    let theirs = Arc::clone(&shared);
    thread::spawn(move || {
        // Nobody listens any more after a second Ctrl-C.
        let _ = sender.send(search(&scenario, &asked, precision, threads, &theirs));
    });
    wait(py, &Mutex::new(receiver), &shared, progress.as_ref())
}

/// What is asked, with the quantile under its own name.
fn asked((class, quantile, bound, precision): Question) -> PyResult<(Asked, f64)> {
    let known = FAR_QUANTILES.iter().map(|(name, _)| *name);
    let Some(quantile) = known.clone().find(|name| *name == quantile) else {
        let names: Vec<&str> = known.collect();
        let message = format!("the quantile is `{quantile}`, must be one of {}", names.join(", "));
        return Err(errors::config(message, "write one such as `p99.9`".to_owned()));
    };
    Ok((Asked { class, quantile, bound }, precision))
}

fn search(
    scenario: &Scenario,
    asked: &Asked,
    precision: f64,
    threads: NonZeroUsize,
    shared: &Shared,
) -> PyResult<String> {
    let Some(server) = scenario.server() else { return Ok("[]".to_owned()) };
    let mut found: Vec<SloSearch> = Vec::with_capacity(server.disciplines.len());
    for discipline in 0..server.disciplines.len() {
        let mut progress = |state: Progress| {
            shared.done.store(state.done, Ordering::Relaxed);
            shared.total.store(state.total, Ordering::Relaxed);
        };
        let mut control = Control { threads, cancel: &shared.cancel, progress: &mut progress, records: None };
        let searched = highest_load(server, discipline, asked, precision, &mut control)
            .map_err(|error| errors::run(&error, &scenario.frame.file))?;
        let interrupted = searched.interrupted;
        found.push(searched);
        if interrupted {
            break;
        }
    }
    serde_json::to_string(&found).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
