//! Cells that are played elsewhere, by workers of a cluster: what is missing of a cell, and playing that.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use weir_sim::cell::{NUMBERS, STATE};
use weir_sweep::{Key, Play};

use super::Sweep;
use super::cells::{Cells, Playing};

/// What the replications of a cell are found by: version, content, seed, grain.
pub(super) type PlainKey = (String, u64, u64, u16);
/// A replication that was played: its number, whether that is a state or the reason why there is none, and the bytes.
pub(super) type Played = (u32, bool, Py<PyBytes>);

fn plain_key(playing: &Playing) -> PlainKey {
    let Key { content, seed, .. } = playing.key(0);
    (format!("{NUMBERS}.{STATE}"), content, seed, playing.grain())
}

/// Of the cell at a place the key, how many replications it has, and which of them are not kept; nothing where it is refused.
pub(super) fn wanting(sweep: &Sweep, cells: &Cells, place: usize) -> Option<(PlainKey, u32, Vec<u32>)> {
    let playing = cells.made(place).ok()?;
    let count = playing.replications();
    let is_missing = |&at: &u32| !sweep.kept.holds(&playing.key(at), playing.grain());
    Some((plain_key(&playing), count, (0..count).filter(is_missing).collect()))
}

/// Plays some replications of a cell; its key as it is here, and what each left.
#[pyfunction]
#[pyo3(signature = (text, name, folder, count, wanted, /))]
pub(crate) fn play_replications(
    py: Python<'_>,
    text: &str,
    name: &str,
    folder: PathBuf,
    count: Option<u32>,
    wanted: Vec<u32>,
) -> PyResult<(PlainKey, Vec<Played>)> {
    let played = py.detach(|| {
        let playing = Playing::new(text, name, &folder, count)?;
        let never = AtomicBool::new(false);
        let each = wanted.into_iter().map(|at| match playing.play(at, &never) {
            Ok(state) => (at, true, state.unwrap_or_default()),
            Err(reason) => (at, false, reason.into_bytes()),
        });
        Ok::<_, String>((plain_key(&playing), each.collect::<Vec<_>>()))
    });
    let (key, all) = played.map_err(|refused| crate::errors::config(refused, REMEDY.to_owned()))?;
    let bytes =
        |(at, is_state, bytes): (u32, bool, Vec<u8>)| (at, is_state, PyBytes::new(py, &bytes).unbind());
    Ok((key, all.into_iter().map(bytes).collect()))
}

/// The cell was made by whoever asked for it: what differs is here.
const REMEDY: &str = "let the worker have the same version of weir, and the files of data at the same place";
