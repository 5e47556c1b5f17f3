//! The cells of a sweep: read where they are needed, played, and gathered from what is kept.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use weir_sim::parallel::in_parallel;
use weir_sim::table::{Figures, Table};
use weir_sim::{Cell, RunError, Scenario};
use weir_sweep::{Key, Kind, Play, Source};

use crate::own;

use super::texts::{PlainGroup, PlainShape, Texts};

/// The number of cells that are put into one table at a time.
const STRETCH: usize = 64;

/// The words by which a figure is chosen: columns and what stands there.
pub(super) type Words = Vec<(String, String)>;

/// Cells of a sweep, made one by one where they are needed.
#[pyclass(frozen, module = "weir._weir")]
#[derive(Clone)]
pub(crate) struct Cells {
    texts: Arc<Texts>,
    /// The file that errors name, and the folder of the data files.
    name: Arc<str>,
    folder: Arc<PathBuf>,
    /// Which they are; all where nothing is said.
    places: Option<Arc<[u32]>>,
    /// How many replications all of them have, if not as many as their texts say; or each of them.
    replications: Option<u32>,
    counts: Option<Arc<[u32]>>,
}

#[pymethods]
impl Cells {
    /// Of groups of axes and shapes of texts, all combinations or those that are kept.
    #[new]
    #[pyo3(signature = (name, groups, shapes, kept, replications))]
    fn new(
        name: &str,
        groups: Vec<PlainGroup>,
        shapes: Vec<PlainShape>,
        kept: Option<Vec<u32>>,
        replications: Option<u32>,
    ) -> PyResult<Self> {
        let texts = Arc::new(Texts::new(groups, shapes, kept)?);
        let folder = Arc::new(Path::new(name).parent().unwrap_or(Path::new("")).to_owned());
        Ok(Self { texts, name: name.into(), folder, places: None, replications, counts: None })
    }

    fn __len__(&self) -> usize {
        self.count()
    }

    /// Some of them, by their places; with the replications that `counts` gives each, where it is given.
    #[pyo3(signature = (places, counts=None))]
    fn some(&self, places: Vec<u32>, counts: Option<Vec<u32>>) -> PyResult<Self> {
        let is_here = |&place: &u32| (place as usize) < self.count();
        if !places.iter().all(is_here) || counts.as_ref().is_some_and(|counts| counts.len() != places.len()) {
            return Err(PyValueError::new_err("a place that is no cell, or not as many counts as places"));
        }
        let of = |place: u32| self.places.as_ref().map_or(place, |own| own[place as usize]);
        let counts = counts.or_else(|| {
            let own = self.counts.as_ref()?;
            Some(places.iter().map(|&place| own[place as usize]).collect())
        });
        let places = Some(places.into_iter().map(of).collect());
        Ok(Self { places, counts: counts.map(Into::into), ..self.clone() })
    }

    /// The text of one, and how many replications it has, if not as many as that says.
    fn text(&self, place: usize) -> PyResult<(String, Option<u32>)> {
        self.written(place).ok_or_else(|| PyValueError::new_err("a place that is no cell"))
    }
}

/// A cell that is played.
pub(super) struct Playing {
    cell: Cell,
    content: u64,
    watched: Option<Arc<Words>>,
}

impl Cells {
    fn written(&self, place: usize) -> Option<(String, Option<u32>)> {
        if place >= self.count() {
            return None;
        }
        let own = self.places.as_ref().map_or(place, |places| places[place] as usize);
        let replications = self.counts.as_ref().map_or(self.replications, |counts| Some(counts[place]));
        Some((self.texts.text(own)?, replications))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.places.as_ref().map_or(self.texts.count(), |places| places.len())
    }

    /// The cell at a place, or why it is none.
    pub(super) fn made(&self, place: usize) -> Result<Playing, String> {
        let (text, replications) = self.written(place).ok_or("there is no such cell")?;
        Playing::new(&text, &self.name, &self.folder, replications)
    }
}

impl Playing {
    /// Of the text of a scenario, with a given number of replications, or as many as it says; or why it is refused.
    pub(super) fn new(
        text: &str,
        name: &str,
        folder: &Path,
        replications: Option<u32>,
    ) -> Result<Self, String> {
        let scenario = Scenario::from_toml(text, name, folder);
        let cell = scenario.and_then(|scenario| Cell::new(scenario, replications));
        let cell = cell.map_err(|refused| format!("{}; {}", refused.message(), refused.remedy))?;
        let content = u64::from_str_radix(&cell.key().content, 16).map_err(|error| error.to_string())?;
        Ok(Self { cell, content, watched: None })
    }
}

/// Cells that are played, and the figures whose intervals are watched meanwhile.
pub(super) struct Watched {
    pub(super) cells: Cells,
    pub(super) words: Option<Arc<Words>>,
}

impl Source for Watched {
    type Cell = Playing;

    fn count(&self) -> usize {
        self.cells.count()
    }

    fn cell(&self, place: usize) -> Option<Playing> {
        let playing = self.cells.made(place).ok()?;
        Some(Playing { watched: self.words.clone(), ..playing })
    }
}

fn in_words(error: &RunError) -> String {
    format!("{error}; {}", error.remedy())
}

impl Play for Playing {
    fn key(&self, replication: u32) -> Key {
        Key { content: self.content, seed: self.cell.key().seed, replication }
    }

    fn grain(&self) -> u16 {
        self.cell.grain()
    }

    fn replications(&self) -> u32 {
        self.cell.replications()
    }

    fn play(&self, replication: u32, cancel: &AtomicBool) -> Result<Option<Vec<u8>>, String> {
        let faults = own::faults_of(&self.cell.scenario().disciplines());
        let (played, fault) = own::alone(&faults, || self.cell.play(replication, cancel));
        match fault {
            // What a class of Python has raised or broken: of what waited then, the rest was served without it.
            Some(fault) => Err(own::in_words(&fault)),
            None => played.map_err(|error| in_words(&error)),
        }
    }

    fn width(&self, read: &mut dyn FnMut(u32) -> Option<Vec<u8>>) -> Option<f64> {
        let words = self.watched.as_ref()?;
        let mut kept = (0..self.replications()).filter_map(|at| Some((at, read(at)?)));
        Figures::new(&self.cell.gather(&mut kept).ok()?).ok()?.widest(words)
    }
}

/// Why a cell has no figures.
pub(super) enum Without {
    Reason(String),
    Failed(weir_sweep::Error),
}

impl From<weir_sweep::Error> for Without {
    fn from(error: weir_sweep::Error) -> Self {
        Self::Failed(error)
    }
}

/// What is kept of a replication; it is played again where it is damaged or missing.
pub(super) fn kept(
    sweep: &weir_sweep::Sweep,
    playing: &Playing,
    replication: u32,
) -> Result<Vec<u8>, Without> {
    let (key, grain) = (playing.key(replication), playing.grain());
    match sweep.read(&key, grain)? {
        Some((Kind::State, state)) => Ok(state),
        Some((Kind::Failure, reason)) => Err(Without::Reason(String::from_utf8_lossy(&reason).into_owned())),
        None => {
            let never = AtomicBool::new(false);
            let state = playing.play(replication, &never).map_err(Without::Reason)?.unwrap_or_default();
            sweep.keep(key, grain, Kind::State, &state)?;
            Ok(state)
        }
    }
}

/// The result of some replications of a cell.
pub(super) fn gathered(
    sweep: &weir_sweep::Sweep,
    playing: &Playing,
    replications: std::ops::Range<u32>,
) -> Result<weir_sim::AnyOutcome, Without> {
    let mut failure = None;
    let mut each = replications.map_while(|at| match kept(sweep, playing, at) {
        Ok(state) => Some((at, state)),
        Err(without) => {
            failure = Some(without);
            None
        }
    });
    let outcome = playing.cell.gather(&mut each);
    match failure {
        Some(failure) => Err(failure),
        None => outcome.map_err(|error| Without::Reason(in_words(&error))),
    }
}

/// The figures of a cell, of how many replications they are, and whether it names files of data.
pub(super) struct Found {
    pub(super) figures: Figures,
    replications: u32,
    has_files: bool,
}

/// The figures of a cell.
pub(super) fn figures(sweep: &weir_sweep::Sweep, cells: &Cells, place: usize) -> Result<Found, Without> {
    let playing = cells.made(place).map_err(Without::Reason)?;
    let (replications, has_files) = (playing.replications(), playing.cell.scenario().has_files());
    let outcome = gathered(sweep, &playing, 0..replications)?;
    if replications == 0 {
        let told = serde_json::to_value(&outcome).ok();
        let why = told.and_then(|told| told.get("unstable")?.as_str().map(str::to_owned));
        return Err(Without::Reason(why.unwrap_or_else(|| "there is nothing to play".to_owned())));
    }
    let figures = Figures::new(&outcome).map_err(|error| Without::Reason(error.to_string()))?;
    Ok(Found { figures, replications, has_files })
}

/// The figures of all cells in the making.
#[derive(Default)]
pub(super) struct Made {
    pub(super) table: Table,
    /// Of how many replications they are.
    pub(super) replications: u64,
    /// Whether a cell names files of data, or is refused, as it is where such a file is missing.
    pub(super) has_files: bool,
}

impl Made {
    /// Of cells, on threads: stretches of cells make tables of their own, which are put together in their order.
    pub(super) fn of(
        sweep: &weir_sweep::Sweep,
        cells: &Cells,
        threads: NonZeroUsize,
    ) -> Result<Self, weir_sweep::Error> {
        let mut made = Self::default();
        let step = STRETCH * threads.get() * 4;
        for first in (0..cells.count()).step_by(step) {
            let last = cells.count().min(first + step);
            let stretches: Vec<_> =
                (first..last).step_by(STRETCH).map(|at| at..last.min(at + STRETCH)).collect();
            for stretch in in_parallel(stretches, threads, |places| Self::stretch(sweep, cells, places)) {
                let Self { table, replications, has_files } = stretch?;
                made.table.append(table);
                made.replications += replications;
                made.has_files |= has_files;
            }
        }
        Ok(made)
    }

    fn stretch(
        sweep: &weir_sweep::Sweep,
        cells: &Cells,
        places: std::ops::Range<usize>,
    ) -> Result<Self, weir_sweep::Error> {
        let mut made = Self::default();
        for place in places {
            match figures(sweep, cells, place) {
                Ok(Found { figures, replications, has_files }) => {
                    made.table.push(place, replications, figures);
                    made.replications += u64::from(replications);
                    made.has_files |= has_files;
                }
                Err(Without::Reason(reason)) => {
                    made.table.push_reason(place, &reason);
                    made.has_files = true;
                }
                Err(Without::Failed(error)) => return Err(error),
            }
        }
        Ok(made)
    }
}

/// The number of each replication of a cell, of the figure that is chosen.
pub(super) fn numbers(
    sweep: &weir_sweep::Sweep,
    cells: &Cells,
    place: usize,
    words: &Words,
) -> Result<Vec<Option<f64>>, weir_sweep::Error> {
    let Ok(playing) = cells.made(place) else { return Ok(Vec::new()) };
    let mut numbers = Vec::new();
    for at in 0..playing.replications() {
        match gathered(sweep, &playing, at..at + 1) {
            Ok(outcome) => numbers.push(Figures::new(&outcome).ok().and_then(|figures| figures.value(words))),
            Err(Without::Reason(_)) => return Ok(Vec::new()),
            Err(Without::Failed(error)) => return Err(error),
        }
    }
    Ok(numbers)
}
