//! Packet captures: a file in, two schedules and a summary out.
//!
//! The reading has a thread of its own, as a run has. At Ctrl-C the file seems to end with an error, and the
//! call raises `KeyboardInterrupt`; whoever called throws away what was written so far.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use serde::Serialize;
use weir_capture::csv::{self, Csv, Rest};
use weir_capture::{CaptureError, Fault, Row, Summary};

use crate::errors;
use crate::simulate::{Shared, wait};

/// What one call is to do.
struct Job {
    file: PathBuf,
    schedule: PathBuf,
    rest: PathBuf,
    addresses: bool,
    largest: usize,
}

/// A summary with what the file of the rest holds.
#[derive(Serialize)]
struct Imported {
    #[serde(flatten)]
    summary: Summary,
    rest: Rest,
}

/// Reads a capture and writes its schedule; returns what it holds as JSON.
#[pyfunction]
#[pyo3(signature = (file, schedule, rest, addresses, largest, progress))]
pub(crate) fn import_capture(
    py: Python<'_>,
    file: PathBuf,
    schedule: PathBuf,
    rest: PathBuf,
    addresses: bool,
    largest: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let job = Job { file, schedule, rest, addresses, largest };
    let shared = Arc::new(Shared::default());
    let (sender, receiver) = channel();
    let theirs = Arc::clone(&shared);
    thread::spawn(move || {
        // Nobody listens any more after a second Ctrl-C.
        let _ = sender.send(job.run(&theirs));
    });
    wait(py, &Mutex::new(receiver), &shared, progress.as_ref())
}

impl Job {
    fn run(&self, shared: &Shared) -> PyResult<String> {
        let imported = self.import(shared);
        if shared.cancel.load(Ordering::Relaxed) {
            return Err(PyKeyboardInterrupt::new_err("interrupted"));
        }
        let imported = imported.map_err(|error| errors::capture(&error, &self.file.display().to_string()))?;
        serde_json::to_string(&imported).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    fn import(&self, shared: &Shared) -> Result<Imported, CaptureError> {
        let unreadable = |error| at_start(Fault::Unreadable(plain(&error)));
        let unwritable = |error| at_start(Fault::Unwritable(plain(&error)));
        let source = File::open(&self.file).map_err(unreadable)?;
        let metadata = source.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(at_start(Fault::Unreadable("is a directory".to_owned())));
        }
        shared.total.store(metadata.len(), Ordering::Relaxed);
        let mut csv = File::create(&self.schedule)
            .and_then(|file| Csv::new(BufWriter::new(file), self.addresses))
            .map_err(unwritable)?;
        let watched = Watched { source, shared };
        let summary = weir_capture::read(watched, self.largest, &mut |row: &Row| csv.row(row))?;
        csv.finish().map_err(unwritable)?;
        let rest = self.rest(&summary).map_err(unwritable)?;
        Ok(Imported { summary, rest })
    }

    /// Writes the flows that are not among the largest, if there are any.
    fn rest(&self, summary: &Summary) -> io::Result<Rest> {
        if summary.largest.len() as u64 == summary.flows {
            return Ok(Rest::default());
        }
        let named: HashSet<u32> = summary.largest.iter().map(|flow| flow.flow).collect();
        let schedule = BufReader::new(File::open(&self.schedule)?);
        csv::rest(schedule, &named, BufWriter::new(File::create(&self.rest)?))
    }
}

/// A file that counts what is read of it, and fails once the reading is to stop.
pub(crate) struct Watched<'s> {
    pub(crate) source: File,
    pub(crate) shared: &'s Shared,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.shared.cancel.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        let read = self.source.read(buffer)?;
        self.shared.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

const fn at_start(fault: Fault) -> CaptureError {
    CaptureError { byte: 0, fault }
}

/// The reason of the system, without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string().to_lowercase();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
