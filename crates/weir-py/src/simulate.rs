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
use weir_lab::stats::estimate::CONFIDENCE;
use weir_lab::stats::student::two_sided;
use weir_sim::parallel::available_threads;
use weir_sim::{AnyOutcome, Control, Progress, RecordSink};

use crate::errors;
use crate::own::{self, Fault, Watch};
use crate::records::Sink;

/// How often a waiting run looks for signals and reports its progress.
const PERIOD: Duration = Duration::from_millis(100);
/// How long a run that is given up has to end: its thread must not meet an interpreter that is going down.
const GRACE: Duration = Duration::from_secs(5);

/// The JSON Schema of scenario files.
#[pyfunction]
pub(crate) fn schema() -> String {
    weir_sim::schema()
}

/// All disciplines in the order of the listings: a JSON list of objects.
#[pyfunction]
pub(crate) fn disciplines() -> String {
    weir_sim::listing::disciplines()
}

/// What textbooks call what is here under another name, or not at all: a JSON list of objects.
#[pyfunction]
pub(crate) fn textbook() -> String {
    weir_sim::listing::textbook()
}

/// A scenario, read and checked once, with the data files that it names.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Scenario {
    read: Arc<weir_sim::Scenario>,
}

#[pymethods]
impl Scenario {
    #[new]
    fn new(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        let read = py.detach(|| weir_sim::Scenario::from_toml(text, name, folder));
        let read = read.map_err(|error| errors::scenario(&error, name))?;
        Ok(Self { read: Arc::new(read) })
    }

    /// The scenario in normalised form, as TOML.
    #[getter]
    fn normalised(&self) -> &str {
        &self.read.frame().scenario
    }

    /// 16 hexadecimal digits that change with the normalised form, or with the bytes of a data file.
    #[getter]
    fn fingerprint(&self) -> &str {
        &self.read.frame().fingerprint
    }

    /// The disciplines as they are written, in their order: their names in results.
    #[getter]
    fn disciplines(&self) -> Vec<String> {
        self.read.disciplines().into_iter().map(str::to_owned).collect()
    }

    /// The same scenario with another seed; nothing is read again.
    fn with_seed(&self, seed: u64) -> PyResult<Self> {
        let read = weir_sim::Scenario::clone(&self.read).with_seed(seed);
        let read = read.map_err(|error| errors::scenario(&error, self.name()))?;
        Ok(Self { read: Arc::new(read) })
    }

    /// The same scenario with more of it: a run of `times` times its length, in `replications` replications, each as long as
    /// one of that run. Of once its length nothing is said, so that a scenario that ends by itself can have more replications.
    fn grown(&self, times: u64, replications: u32) -> PyResult<Self> {
        let longer =
            if times > 1 { self.read.longer(times) } else { Ok(weir_sim::Scenario::clone(&self.read)) };
        let read = longer.and_then(|longer| longer.replicated(Some(replications)));
        let (read, _) = read.map_err(|error| errors::scenario(&error, self.name()))?;
        Ok(Self { read: Arc::new(read) })
    }

    /// How many replications make its result.
    #[getter]
    fn replications(&self) -> u32 {
        self.read.replications()
    }

    /// The same scenario, to be run for as long as it takes until every figure is settled.
    fn settling(&self) -> PyResult<Self> {
        let read = weir_sim::Scenario::clone(&self.read).settling();
        let read = read.map_err(|error| errors::scenario(&error, self.name()))?;
        Ok(Self { read: Arc::new(read) })
    }
}

impl Scenario {
    pub(crate) fn read(&self) -> Arc<weir_sim::Scenario> {
        Arc::clone(&self.read)
    }

    fn name(&self) -> &str {
        &self.read.frame().file
    }
}

/// How many times as far an interval of confidence `level` reaches as one at 95 %, which rests on `groups` groups.
#[pyfunction]
pub(crate) fn reach(level: f64, groups: u64) -> PyResult<f64> {
    if !(level > 0.0 && level < 1.0) || groups < 2 {
        let message =
            format!("level is {level} and groups are {groups}, must be inside (0, 1) and at least 2");
        return Err(errors::config(message, "give a level such as 0.99, and two groups or more".to_owned()));
    }
    Ok(two_sided(level, groups - 1) / two_sided(CONFIDENCE, groups - 1))
}

/// The closed forms of a scenario: a result without simulation, as JSON.
#[pyfunction]
pub(crate) fn theory(py: Python<'_>, scenario: &Scenario) -> PyResult<String> {
    let read = scenario.read();
    match py.detach(|| weir_sim::theory_only(&read)) {
        Some(outcome) => json(&outcome),
        None => Err(errors::of_another_model(
            format!(
                "closed forms are of the models `port` and `server`, and this scenario is of a {}",
                read.name()
            ),
            "simulate it: `weir run`, or `weir.run`",
            scenario.name(),
        )),
    }
}

pub(crate) fn json(outcome: &AnyOutcome) -> PyResult<String> {
    serde_json::to_string(outcome).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// What a run and the thread that waits for it share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) cancel: AtomicBool,
    pub(crate) done: AtomicU64,
    pub(crate) total: AtomicU64,
    /// Of the disciplines of Python that take part.
    pub(crate) faults: Vec<Arc<Fault>>,
}

impl Shared {
    /// What a run of these disciplines shares.
    pub(crate) fn of(disciplines: &[&str]) -> Arc<Self> {
        Arc::new(Self { faults: own::faults_of(disciplines), ..Self::default() })
    }

    /// How many threads there are: one where Python serves, which serves one at a time.
    pub(crate) fn threads(&self, asked: Option<NonZeroUsize>) -> NonZeroUsize {
        if self.faults.is_empty() { asked.unwrap_or_else(available_threads) } else { NonZeroUsize::MIN }
    }
}

/// Simulates a scenario; returns the result as JSON.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
    records: Option<Py<PyAny>>,
) -> PyResult<String> {
    let read = scenario.read();
    let shared = Shared::of(&read.disciplines());
    let threads = shared.threads(threads);
    let (sender, receiver) = channel();
    let theirs = Arc::clone(&shared);
    thread::spawn(move || {
        // Nobody listens any more after a second Ctrl-C.
        let _ = sender.send(simulate(&read, threads, &theirs, records));
    });
    wait(py, &Mutex::new(receiver), &shared, progress.as_ref())
}

fn simulate(
    scenario: &weir_sim::Scenario,
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
    let (outcome, fault) = own::alone(&shared.faults, || weir_sim::run(scenario, &mut control));
    match (fault.or_else(|| sink.and_then(Sink::failure)), outcome) {
        (Some(failure), _) => Err(failure),
        (None, Ok(outcome)) => json(&outcome),
        (None, Err(error)) => Err(errors::run(&error, &scenario.frame().file)),
    }
}

/// Waits for the run, looking for signals and telling of its progress. A run ends at the first fault of a discipline of Python.
pub(crate) fn wait(
    py: Python<'_>,
    receiver: &Mutex<Receiver<PyResult<String>>>,
    shared: &Shared,
    progress: Option<&Py<PyAny>>,
) -> PyResult<String> {
    let mut watch = Watch::new(&shared.faults);
    wait_for(py, receiver, &shared.cancel, &mut |py| {
        if watch.look(py, shared.cancel.load(Ordering::Relaxed))? {
            shared.cancel.store(true, Ordering::Relaxed);
        }
        tell(py, shared, progress)
    })
}

/// Waits for what a thread sends, looking for signals and telling of its progress by `tell`: the first Ctrl-C sets `cancel`.
pub(crate) fn wait_for<T: Send>(
    py: Python<'_>,
    receiver: &Mutex<Receiver<PyResult<T>>>,
    cancel: &AtomicBool,
    tell: &mut dyn FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<T> {
    loop {
        match py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PERIOD)) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the engine panicked, which is a defect of weir"));
            }
        }
        let told = py.check_signals().and_then(|()| tell(py));
        if let Err(error) = told {
            let first = !cancel.swap(true, Ordering::Relaxed);
            if !first {
                return Err(error);
            }
            if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                let ended = || receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(GRACE);
                let _ = py.detach(ended);
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
