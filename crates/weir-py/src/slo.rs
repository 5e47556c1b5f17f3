//! The highest loads of a server within a bound on the slowdown: text in, JSON text out.

use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use weir_document::Source;
use weir_sim::server::slo::{Asked, SloError, SloSearch, highest_load};
use weir_sim::{Control, Progress, Scenario};

use crate::errors;
use crate::own;
use crate::simulate::{self, Shared, wait};

/// What is asked of every discipline: a class, a quantile, a bound and the precision of the load.
type Question = (Option<String>, String, f64, f64);

/// Searches the highest load of each discipline; returns a JSON list with one search a discipline.
#[pyfunction]
pub(crate) fn highest_loads(
    py: Python<'_>,
    scenario: &simulate::Scenario,
    question: Question,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (text, scenario) = (scenario.text().to_owned(), scenario.read());
    if scenario.server().is_none() {
        return Err(errors::of_another_model(
            format!(
                "a highest load is searched of the model `server`, and this scenario is of a {}",
                scenario.name()
            ),
            "write `model = \"server\"`, as `weir schema` describes it",
            &scenario.frame().file,
        ));
    }
    let (class, quantile, bound, precision) = question;
    let asked = Asked::new(class, &quantile, bound).map_err(|error| refused(&error, &scenario, &text))?;
    let shared = Shared::of(&scenario.disciplines());
    let threads = shared.threads(threads);
    let (sender, receiver) = channel();
    let theirs = Arc::clone(&shared);
    thread::spawn(move || {
        // Nobody listens any more after a second Ctrl-C.
        let (found, fault) =
            own::alone(&theirs.faults, || search(&scenario, &asked, precision, threads, &theirs));
        let found = found.map_err(|error| refused(&error, &scenario, &text)).and_then(|found| json(&found));
        let _ = sender.send(fault.map_or(found, Err));
    });
    wait(py, &Mutex::new(receiver), &shared, progress.as_ref())
}

/// Why nothing was searched: of the scenario at its key, of the question without a place.
fn refused(error: &SloError, scenario: &Scenario, text: &str) -> PyErr {
    let name = &scenario.frame().file;
    match error {
        SloError::Asked { option, value, remedy, .. } => {
            errors::option(error.to_string(), remedy.clone(), option, value.clone())
        }
        SloError::Scenario(wrong) => {
            let refused = Source { name, text }.refuse_key(&wrong.key, wrong.reason, wrong.remedy);
            errors::scenario(&refused, name)
        }
        SloError::Run(error) => errors::run(error, name),
    }
}

fn json(found: &[SloSearch]) -> PyResult<String> {
    serde_json::to_string(found).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// One search a discipline; those after one that was broken off have not begun.
fn search(
    scenario: &Scenario,
    asked: &Asked,
    precision: f64,
    threads: NonZeroUsize,
    shared: &Shared,
) -> Result<Vec<SloSearch>, SloError> {
    let Some(server) = scenario.server() else { return Ok(Vec::new()) };
    let mut found: Vec<SloSearch> = Vec::with_capacity(server.disciplines.len());
    for discipline in 0..server.disciplines.len() {
        let mut progress = |state: Progress| {
            shared.done.store(state.done, Ordering::Relaxed);
            shared.total.store(state.total, Ordering::Relaxed);
        };
        let mut control = Control { threads, cancel: &shared.cancel, progress: &mut progress, records: None };
        found.push(match found.last() {
            Some(last) if last.interrupted => SloSearch::not_begun(server, discipline, asked, precision),
            _ => highest_load(server, discipline, asked, precision, &mut control)?,
        });
    }
    Ok(found)
}
