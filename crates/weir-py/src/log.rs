//! Logs of services: what columns there are, and a file of requests with a summary; JSON text comes out.
//!
//! The reading has a thread of its own, as that of a capture.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use weir_document::{Refused, plain_io};
use weir_sim::workload::fit::{Sample, fit};
use weir_sim::workload::log::{self, Log, Reading, write_csv};

use crate::capture::Watched;
use crate::errors;
use crate::laws::shown;
use crate::simulate::{Shared, wait};

/// The most values that a law is fitted to.
const FITTED: usize = 20_000;
/// Laws that are tested, the replicates of a test, and their seed.
const TESTED: (usize, u32, u64) = (1, 99, 1);

/// The format and the columns of a log, as JSON.
#[pyfunction]
pub(crate) fn survey_log(py: Python<'_>, file: PathBuf) -> PyResult<String> {
    let name = file.display().to_string();
    let found = py.detach(|| log::survey(opened(&file, &name)?, &name, None));
    let found = found.map_err(|refused| errors::scenario(&refused, ""))?;
    serde_json::to_string(&found).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Reads a log by a reading, JSON, and writes its requests; returns what it holds as JSON.
#[pyfunction]
#[pyo3(signature = (file, reading, requests, fitted, progress))]
pub(crate) fn import_log(
    py: Python<'_>,
    file: PathBuf,
    reading: &str,
    requests: Option<PathBuf>,
    fitted: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let reading = serde_json::from_str(reading).map_err(|error| {
        errors::config(format!("the columns are not understood: {error}"), "name them by options".to_owned())
    })?;
    let job = Job { file, reading, requests, fitted };
    let shared = Arc::new(Shared::default());
    let (sender, receiver) = channel();
    let theirs = Arc::clone(&shared);
    thread::spawn(move || {
        // Nobody listens any more after a second Ctrl-C.
        let _ = sender.send(job.run(&theirs));
    });
    wait(py, &Mutex::new(receiver), &shared, progress.as_ref())
}

/// What one call is to do.
struct Job {
    file: PathBuf,
    reading: Reading,
    requests: Option<PathBuf>,
    fitted: bool,
}

impl Job {
    fn run(&self, shared: &Shared) -> PyResult<String> {
        let name = self.file.display().to_string();
        let read = self.import(&name, shared);
        if shared.cancel.load(Ordering::Relaxed) {
            return Err(PyKeyboardInterrupt::new_err("interrupted"));
        }
        let log = read.map_err(|refused| errors::scenario(&refused, ""))?;
        Ok(self.told(&log).to_string())
    }

    fn import(&self, name: &str, shared: &Shared) -> Result<Log, Refused> {
        let source = opened(&self.file, name)?;
        shared.total.store(source.metadata().map_or(0, |metadata| metadata.len()), Ordering::Relaxed);
        let log = log::read(Watched { source, shared }, name, &self.reading)?;
        if let Some(requests) = &self.requests {
            let written = File::create(requests).and_then(|file| write_csv(&log, BufWriter::new(file)));
            written.map_err(|error| {
                let reason = format!("cannot be written ({})", plain_io(&error));
                Refused::of_file(
                    &requests.display().to_string(),
                    reason,
                    "check the disk and the permissions",
                )
            })?;
        }
        Ok(log)
    }

    /// What a log holds.
    fn told(&self, log: &Log) -> Value {
        let fits = |values: Vec<f64>| {
            let sample = self.fitted.then(|| Sample::new(values).ok()).flatten()?;
            let (tested, replicates, seed) = TESTED;
            let all = fit(&sample, tested, replicates, seed);
            Some(shown(&sample, &all))
        };
        let classes: Vec<Value> = log
            .class_totals()
            .iter()
            .enumerate()
            .map(|(place, total)| {
                json!({
                    "name": log.classes[place],
                    "count": total.count,
                    "mean_ns": total.mean_ns,
                    "services": fits(log.services_of(place as u16, FITTED)),
                })
            })
            .collect();
        json!({
            "dispersion": log.dispersion(),
            "noted": log.noted,
            "classes": classes,
            "gaps": fits(log.gaps(FITTED)),
        })
    }
}

fn opened(file: &Path, name: &str) -> Result<File, Refused> {
    let refused = |reason: &str| {
        Refused::of_file(name, format!("cannot be read ({reason})"), "check the name and the permissions")
    };
    let opened = File::open(file).map_err(|error| refused(&plain_io(&error)))?;
    let is_folder = opened.metadata().is_ok_and(|metadata| metadata.is_dir());
    if is_folder { Err(refused("is a directory")) } else { Ok(opened) }
}
