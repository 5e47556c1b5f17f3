//! Recordings of weir-exec: a file in, what it holds out: facts as JSON, bursts as numbers.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use weir_core::units::{Nanos, Weight};
use weir_recording::{Bursts, Did, Event, Facts, RecordingError, Terms};

use crate::errors;

/// Stands for a level where an event is a wake-up; and where a poll has none.
const READY: i64 = 128;
const NO_LEVEL: i64 = -128;

/// Reads a recording; returns its facts as JSON, and the bursts of its tasks one after the other, of each burst five
/// 64-bit numbers in the order of the machine's bytes.
#[pyfunction]
pub(crate) fn read_recording<'py>(
    py: Python<'py>,
    file: PathBuf,
    most: usize,
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let name = file.display().to_string();
    let read = py.detach(|| read(&file, most)).map_err(|error| errors::recording(&error, &name))?;
    Ok((read.0.to_string(), PyBytes::new(py, &read.1)))
}

/// What each event of a recording was, up to a given number; of each event four 64-bit numbers in the order of the
/// machine's bytes.
#[pyfunction]
pub(crate) fn recorded_events<'py>(
    py: Python<'py>,
    file: PathBuf,
    most: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let name = file.display().to_string();
    let read = py.detach(|| events(&file, most)).map_err(|error| errors::recording(&error, &name))?;
    Ok(PyBytes::new(py, &read))
}

fn events(file: &Path, most: usize) -> Result<Vec<u8>, RecordingError> {
    let (mut bytes, mut kept) = (Vec::new(), 0);
    weir_recording::read(open(file)?, &mut |_, event, _| {
        if kept < most {
            kept += 1;
            let numbers = match event {
                Event::Ready { task, at } => [i64::from(task), at as i64, at as i64, READY],
                Event::Poll { task, level, from, until, .. } => {
                    [i64::from(task), from as i64, until as i64, level.map_or(NO_LEVEL, i64::from)]
                }
            };
            numbers.iter().for_each(|number| bytes.extend(number.to_ne_bytes()));
        }
    })?;
    Ok(bytes)
}

fn open(file: &Path) -> Result<BufReader<File>, RecordingError> {
    let unreadable = |error: std::io::Error| RecordingError { byte: 0, fault: error.into() };
    File::open(file).map(BufReader::new).map_err(unreadable)
}

fn read(file: &Path, most: usize) -> Result<(Value, Vec<u8>), RecordingError> {
    let source = open(file)?;
    let mut bursts = Bursts::up_to(most);
    let facts = weir_recording::read(source, &mut |worker, event, _| bursts.hear(worker, event))?;
    bursts.finish(facts.tasks.len());
    let medians = bursts.costs.medians();
    let tasks: Vec<_> = facts.tasks.iter().zip(&bursts.tasks).map(|(terms, did)| task(terms, did)).collect();
    let told = told(&facts, &bursts, medians, tasks);
    Ok((told, numbers(&bursts)))
}

fn told(facts: &Facts, bursts: &Bursts, [swap, restart]: [Option<u64>; 2], tasks: Vec<Value>) -> Value {
    json!({
        "discipline": facts.head.discipline,
        "epoch": facts.head.epoch,
        "workers": facts.head.workers,
        "events": facts.events,
        "lost": facts.lost,
        "gaps": facts.gaps,
        "until": facts.until,
        "is_whole": facts.is_whole,
        "is_cut": bursts.is_cut,
        "damage": facts.damage.as_ref().map(ToString::to_string),
        "swap": swap,
        "restart": restart,
        "tasks": tasks,
    })
}

fn task(terms: &Terms, did: &Did) -> Value {
    let declared = &terms.declared;
    json!({
        "worker": terms.worker,
        "name": terms.name,
        "admitted": terms.admitted,
        "priority": declared.priority,
        "need": declared.need.get(),
        "slice": declared.slice.map(Nanos::get),
        "period": declared.period.map(Nanos::get),
        "weight": declared.weight.map(Weight::get),
        "bursts": did.bursts.len(),
        "yields": did.yields,
        "longest_poll": did.longest_poll,
        "ended": did.ended,
    })
}

fn numbers(bursts: &Bursts) -> Vec<u8> {
    let all = bursts.tasks.iter().flat_map(|did| &did.bursts);
    let mut bytes = Vec::new();
    for burst in all {
        let [other, same] = burst.given.map(u64::from);
        for number in [burst.wake, burst.run, burst.done, other, same] {
            bytes.extend(number.to_ne_bytes());
        }
    }
    bytes
}
