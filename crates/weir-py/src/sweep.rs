//! Sweeps: cells as texts in, what is kept of their replications as tables out.
//!
//! A cell is the text of a scenario and how many replications it has; it is read where it is needed and forgotten again, so
//! that memory does not grow with the number of cells.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use weir_lab::stats::selection::{self, Standing};
use weir_sim::cell::{NUMBERS, STATE};
use weir_sim::parallel::{available_threads, in_parallel};
use weir_sim::table::Table;
use weir_sweep::{Play, Progress, Source, Version};

use crate::errors;
use crate::simulate::{json, wait_for};

mod cells;
mod columns;

use cells::{Cells, Without, Words, Written, figures, gathered, numbers};
use columns::{PlainColumn, plain};

/// So many cells are gathered at a time.
const AT_A_TIME: usize = 256;

/// The folder of a sweep.
#[pyclass(frozen, module = "weir._weir")]
pub(crate) struct Sweep {
    kept: Arc<weir_sweep::Sweep>,
}

/// Does something with every cell, on threads; in the order of the cells.
fn each<T: Send>(
    cells: &Cells,
    threads: Option<NonZeroUsize>,
    of: impl Fn(usize) -> Result<T, weir_sweep::Error> + Sync,
    mut take: impl FnMut(usize, T),
) -> PyResult<()> {
    let threads = threads.unwrap_or_else(available_threads);
    for first in (0..cells.count()).step_by(AT_A_TIME) {
        let places: Vec<usize> = (first..cells.count().min(first + AT_A_TIME)).collect();
        for (place, found) in places.iter().zip(in_parallel(places.clone(), threads, &of)) {
            take(*place, found.map_err(|error| refused(&error))?);
        }
    }
    Ok(())
}

fn refused(error: &weir_sweep::Error) -> PyErr {
    errors::config(error.to_string(), error.remedy().to_owned())
}

#[pymethods]
impl Sweep {
    /// Opens a folder and reads what is kept there; nothing is written yet.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let version = Version { numbers: NUMBERS, states: STATE };
        let opened = py.detach(|| weir_sweep::Sweep::open(&folder, version));
        Ok(Self { kept: Arc::new(opened.map_err(|error| refused(&error))?) })
    }

    fn __len__(&self) -> usize {
        self.kept.len()
    }

    /// Logs that are left alone, each with the reason; and how many bytes of logs are damaged.
    fn passed_over(&self) -> (Vec<(String, String)>, u64) {
        let (asides, skipped) = self.kept.passed_over();
        (asides.into_iter().map(|aside| (aside.path.display().to_string(), aside.reason)).collect(), skipped)
    }

    /// Plays what is missing of the cells; how far it came. Ctrl-C ends it, and what is finished is kept.
    #[pyo3(signature = (cells, name, threads, alone, watched, progress))]
    #[allow(clippy::too_many_arguments, reason = "each is one of Python's")]
    fn play(
        &self,
        py: Python<'_>,
        cells: Vec<Written>,
        name: String,
        threads: Option<NonZeroUsize>,
        alone: bool,
        watched: Option<Words>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyDict>> {
        let threads = threads.unwrap_or_else(available_threads);
        let (cells, kept) = (Cells::new(cells, name, watched), Arc::clone(&self.kept));
        let (cancel, shared) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Progress::default())));
        let (sender, receiver) = channel();
        let theirs = (Arc::clone(&cancel), Arc::clone(&shared));
        thread::spawn(move || {
            let mut tell = |now| *theirs.1.lock().unwrap_or_else(PoisonError::into_inner) = now;
            let played = kept
                .claims(alone)
                .and_then(|claims| kept.play(&cells, &claims, threads, &theirs.0, &mut tell));
            // Nobody listens any more after a second Ctrl-C.
            let _ = sender.send(played.map_err(|error| refused(&error)));
        });
        let state = || *shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tell = |py: Python<'_>| match &progress {
            Some(progress) => progress.call1(py, (told(py, state())?,)).map(drop),
            None => Ok(()),
        };
        told(py, wait_for(py, &Mutex::new(receiver), &cancel, &mut tell)?)
    }

    /// The figures of all cells as columns: of each the name, its kind, its values as bytes, which rows have one as bits, and
    /// its words; and how many rows there are.
    #[pyo3(signature = (cells, name, threads))]
    fn table(
        &self,
        py: Python<'_>,
        cells: Vec<Written>,
        name: String,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<(Vec<PlainColumn>, usize)> {
        let table = py.detach(|| {
            self.kept.refresh().map_err(|error| refused(&error))?;
            let cells = Cells::new(cells, name, None);
            let mut table = Table::default();
            let of = |place| match figures(&self.kept, &cells, place) {
                Ok(figures) => Ok(Ok(figures)),
                Err(Without::Reason(reason)) => Ok(Err(reason)),
                Err(Without::Failed(error)) => Err(error),
            };
            each(&cells, threads, of, |place, found| match found {
                Ok((figures, replications)) => table.push(place, replications, figures),
                Err(reason) => table.push_reason(place, &reason),
            })?;
            Ok::<_, PyErr>(table)
        })?;
        let rows = table.rows();
        let columns = table.into_columns().into_iter();
        Ok((columns.map(|column| plain(py, column.name, &column.values)).collect(), rows))
    }

    /// The result of one cell, as JSON.
    fn result(&self, py: Python<'_>, cell: Written, name: String) -> PyResult<String> {
        let cells = Cells::new(vec![cell], name, None);
        let outcome = py.detach(|| {
            let playing = cells.made(0).map_err(Without::Reason)?;
            let replications = playing.replications();
            gathered(&self.kept, &playing, 0..replications)
        });
        match outcome {
            Ok(outcome) => json(&outcome),
            Err(Without::Reason(reason)) => Err(errors::config(reason, "choose another cell".to_owned())),
            Err(Without::Failed(error)) => Err(refused(&error)),
        }
    }

    /// How wide the widest interval of the chosen figures is in each cell, as a share of its value.
    #[pyo3(signature = (cells, name, words, threads))]
    fn widths(
        &self,
        py: Python<'_>,
        cells: Vec<Written>,
        name: String,
        words: Words,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Vec<Option<f64>>> {
        py.detach(|| {
            let (cells, mut widths) = (Cells::new(cells, name, None), Vec::new());
            let of = |place| match figures(&self.kept, &cells, place) {
                Ok((figures, _)) => Ok(figures.widest(&words)),
                Err(Without::Reason(_)) => Ok(None),
                Err(Without::Failed(error)) => Err(error),
            };
            each(&cells, threads, of, |_, width| widths.push(width))?;
            Ok(widths)
        })
    }

    /// The number of each replication of every cell, of the figure that is chosen.
    #[pyo3(signature = (cells, name, words, threads))]
    fn numbers(
        &self,
        py: Python<'_>,
        cells: Vec<Written>,
        name: String,
        words: Words,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Vec<Vec<Option<f64>>>> {
        py.detach(|| {
            let (cells, mut all) = (Cells::new(cells, name, None), Vec::new());
            let of = |place| numbers(&self.kept, &cells, place, &words);
            each(&cells, threads, of, |_, found| all.push(found))?;
            Ok(all)
        })
    }

    /// How many replications each cell has: none where it is refused, or nothing is to be played.
    #[staticmethod]
    fn replications(py: Python<'_>, cells: Vec<Written>, name: String) -> Vec<u32> {
        py.detach(|| {
            let cells = Cells::new(cells, name, None);
            (0..cells.count()).map(|place| cells.made(place).map_or(0, |cell| cell.replications())).collect()
        })
    }

    /// Keeps all that another folder keeps and this one does not; how many replications that are.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<u64> {
        py.detach(|| self.kept.merge(&other.kept)).map_err(|error| refused(&error))
    }
}

fn told(py: Python<'_>, progress: Progress) -> PyResult<Py<PyDict>> {
    let Progress { cells, kept, played, failed, elsewhere, widest } = progress;
    let state = PyDict::new(py);
    for (name, count) in
        [("cells", cells), ("kept", kept), ("played", played), ("failed", failed), ("elsewhere", elsewhere)]
    {
        state.set_item(name, count)?;
    }
    state.set_item("widest", widest)?;
    Ok(state.unbind())
}

/// Of systems by their numbers, of which less is better: the place of the least mean, which of them may be the best, and by
/// how much each is behind, with half the width of that interval.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
pub(crate) fn best_of(
    systems: Vec<Vec<Option<f64>>>,
    confidence: f64,
) -> Option<(usize, Vec<bool>, Vec<Option<(f64, Option<f64>, usize)>>)> {
    let found = selection::best(&systems, confidence)?;
    let behind = found.behind.into_iter().map(|behind| {
        let behind = behind?;
        Some((behind.value, behind.half_width, behind.pairs))
    });
    Some((found.least, found.possible, behind.collect()))
}

/// Where each system stands to the frontier of two figures, of both of which less is better.
#[pyfunction]
pub(crate) fn frontier_of(
    one: Vec<Vec<Option<f64>>>,
    other: Vec<Vec<Option<f64>>>,
    confidence: f64,
) -> Vec<&'static str> {
    let standings = selection::frontier([&one, &other], confidence).into_iter();
    let word = |standing| match standing {
        Standing::Frontier => "frontier",
        Standing::Possible => "possible",
        Standing::Dominated => "dominated",
        Standing::Unknown => "unknown",
    };
    standings.map(word).collect()
}
