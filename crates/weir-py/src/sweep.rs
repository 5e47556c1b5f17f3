//! Sweeps: cells in, what is kept of their replications as tables out.
//!
//! A cell is the text of a scenario and how many replications it has; it is made and read where it is needed and forgotten
//! again, so that memory does not grow with the number of cells.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use weir_lab::stats::selection::{self, Standing};
use weir_sim::cell::{NUMBERS, STATE};
use weir_sim::parallel::{available_threads, in_parallel};
use weir_sweep::{Key, Kind, Play, Progress, Version};

use crate::errors;
use crate::own::{self, Watch};
use crate::simulate::{json, wait_for};

mod cells;
mod columns;
mod elsewhere;
mod texts;

pub(crate) use cells::Cells;
use cells::{Made, Watched, Without, Words, figures, gathered, numbers};
use columns::{PlainColumn, plain};
pub(crate) use elsewhere::play_replications;
use elsewhere::{PlainKey, wanting};

/// The number of cells that are gathered at a time.
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
    #[pyo3(signature = (cells, threads, alone, watched, progress))]
    fn play(
        &self,
        py: Python<'_>,
        cells: &Cells,
        threads: Option<NonZeroUsize>,
        alone: bool,
        watched: Option<Words>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyDict>> {
        let threads = threads.unwrap_or_else(available_threads);
        let cells = Watched { cells: cells.clone(), words: watched.map(Arc::new) };
        let kept = Arc::clone(&self.kept);
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
        // A fault of a class of Python is its cell's; a method that does not return is interrupted.
        let faults = own::faults_of_all();
        let mut watch = Watch::new(&faults);
        let mut tell = |py: Python<'_>| {
            watch.look(py, cancel.load(Ordering::Relaxed))?;
            match &progress {
                Some(progress) => progress.call1(py, (told(py, state())?,)).map(drop),
                None => Ok(()),
            }
        };
        told(py, wait_for(py, &Mutex::new(receiver), &cancel, &mut tell)?)
    }

    /// The versions of numbers and states that are kept.
    #[staticmethod]
    fn version() -> String {
        format!("{NUMBERS}.{STATE}")
    }

    /// The figures of all cells as columns: of each the name, its kind, its values as bytes, which rows have one as bits, and
    /// its words; how many rows there are, of how many replications, and whether a cell names files of data.
    #[pyo3(signature = (cells, threads))]
    #[allow(clippy::type_complexity, reason = "a tuple for Python")]
    fn table(
        &self,
        py: Python<'_>,
        cells: &Cells,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<(Vec<PlainColumn>, usize, u64, bool)> {
        let made = py.detach(|| {
            self.kept.refresh()?;
            let made = Made::of(&self.kept, cells, threads.unwrap_or_else(available_threads));
            // What was damaged was played again.
            self.kept.sync()?;
            made
        });
        let Made { table, replications, has_files } = made.map_err(|error| refused(&error))?;
        let rows = table.rows();
        let columns = table.into_columns().into_iter();
        let columns = columns.map(|column| plain(py, column.name, &column.values)).collect();
        Ok((columns, rows, replications, has_files))
    }

    /// The result of the cell at a place, as JSON.
    fn result(&self, py: Python<'_>, cells: &Cells, place: usize) -> PyResult<String> {
        let outcome = py.detach(|| {
            let playing = cells.made(place).map_err(Without::Reason)?;
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
    #[pyo3(signature = (cells, words, threads))]
    fn widths(
        &self,
        py: Python<'_>,
        cells: &Cells,
        words: Words,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Vec<Option<f64>>> {
        py.detach(|| {
            let mut widths = Vec::new();
            let of = |place| match figures(&self.kept, cells, place) {
                Ok(found) => Ok(found.figures.widest(&words)),
                Err(Without::Reason(_)) => Ok(None),
                Err(Without::Failed(error)) => Err(error),
            };
            each(cells, threads, of, |_, width| widths.push(width))?;
            Ok(widths)
        })
    }

    /// The number of each replication of every cell, of the figure that is chosen.
    #[pyo3(signature = (cells, words, threads))]
    fn numbers(
        &self,
        py: Python<'_>,
        cells: &Cells,
        words: Words,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Vec<Vec<Option<f64>>>> {
        py.detach(|| {
            let mut all = Vec::new();
            let of = |place| numbers(&self.kept, cells, place, &words);
            each(cells, threads, of, |_, found| all.push(found))?;
            Ok(all)
        })
    }

    /// How many replications each cell has: none where it is refused, or nothing is to be played.
    #[staticmethod]
    fn replications(py: Python<'_>, cells: &Cells) -> Vec<u32> {
        py.detach(|| {
            (0..cells.count()).map(|place| cells.made(place).map_or(0, |cell| cell.replications())).collect()
        })
    }

    /// Of the cell at a place the key of its replications, how many it has, and which are not kept; nothing where it is refused.
    #[allow(clippy::type_complexity, reason = "a tuple for Python")]
    fn wanting(&self, py: Python<'_>, cells: &Cells, place: usize) -> Option<(PlainKey, u32, Vec<u32>)> {
        py.detach(|| wanting(self, cells, place))
    }

    /// Keeps replications that were played elsewhere, each with its number and a state, or the reason why there is none.
    fn keep(&self, py: Python<'_>, key: PlainKey, played: Vec<(u32, bool, Vec<u8>)>) -> PyResult<()> {
        let (_, content, seed, grain) = key;
        let kept = py.detach(|| {
            played.into_iter().try_for_each(|(replication, is_state, bytes)| {
                let kind = if is_state { Kind::State } else { Kind::Failure };
                self.kept.keep(Key { content, seed, replication }, grain, kind, &bytes)
            })
        });
        kept.map_err(|error| refused(&error))
    }

    /// Waits until all that was kept is on the disk.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.kept.sync()).map_err(|error| refused(&error))
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
