//! The cells of a sweep: read where they are needed, played, and gathered from what is kept.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use weir_sim::table::Figures;
use weir_sim::{Cell, RunError, Scenario};
use weir_sweep::{Key, Kind, Play, Source};

/// The words by which a figure is chosen: columns and what stands there.
pub(super) type Words = Vec<(String, String)>;
/// A cell: its text, and how many replications it has, if not as many as the text says.
pub(super) type Written = (String, Option<u32>);

/// The cells of a sweep.
pub(super) struct Cells {
    cells: Vec<Written>,
    /// The file that errors name, and the folder of the data files.
    name: String,
    folder: PathBuf,
    /// The figures whose intervals are watched.
    watched: Option<Words>,
}

/// A cell that is played.
pub(super) struct Playing {
    cell: Cell,
    content: u64,
    watched: Option<Words>,
}

impl Cells {
    pub(super) fn new(cells: Vec<Written>, name: String, watched: Option<Words>) -> Self {
        let folder = Path::new(&name).parent().unwrap_or(Path::new("")).to_owned();
        Self { cells, name, folder, watched }
    }

    /// The cell at a place, or why it is none.
    pub(super) fn made(&self, place: usize) -> Result<Playing, String> {
        let (text, replications) = &self.cells[place];
        let scenario = Scenario::from_toml(text, &self.name, &self.folder);
        let cell = scenario.and_then(|scenario| Cell::new(scenario, *replications));
        let cell = cell.map_err(|refused| format!("{}; {}", refused.message(), refused.remedy))?;
        let content = u64::from_str_radix(&cell.key().content, 16).map_err(|error| error.to_string())?;
        Ok(Playing { cell, content, watched: self.watched.clone() })
    }
}

impl Source for Cells {
    type Cell = Playing;

    fn count(&self) -> usize {
        self.cells.len()
    }

    fn cell(&self, place: usize) -> Option<Playing> {
        self.made(place).ok()
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
        self.cell.play(replication, cancel).map_err(|error| in_words(&error))
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

/// The figures of a cell, and how many replications they are of.
pub(super) fn figures(
    sweep: &weir_sweep::Sweep,
    cells: &Cells,
    place: usize,
) -> Result<(Figures, u32), Without> {
    let playing = cells.made(place).map_err(Without::Reason)?;
    let replications = playing.replications();
    let outcome = gathered(sweep, &playing, 0..replications)?;
    if replications == 0 {
        let told = serde_json::to_value(&outcome).ok();
        let why = told.and_then(|told| told.get("unstable")?.as_str().map(str::to_owned));
        return Err(Without::Reason(why.unwrap_or_else(|| "there is nothing to play".to_owned())));
    }
    let figures = Figures::new(&outcome).map_err(|error| Without::Reason(error.to_string()))?;
    Ok((figures, replications))
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
