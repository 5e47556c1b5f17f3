//! Records of a run, handed to Python block by block: one column a key, as bytes in native order.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use weir_lab::record::Departure;
use weir_sim::RecordSink;

/// A Python callable that takes blocks of records.
pub(crate) struct Sink {
    callable: Py<PyAny>,
    failure: Option<PyErr>,
}

impl Sink {
    pub(crate) fn new(callable: Py<PyAny>) -> Self {
        Self { callable, failure: None }
    }

    /// What the callable raised, if it did.
    pub(crate) fn failure(self) -> Option<PyErr> {
        self.failure
    }
}

impl RecordSink for Sink {
    fn take(&mut self, discipline: &str, departures: &[Departure]) -> Result<(), String> {
        if departures.is_empty() {
            return Ok(());
        }
        Python::attach(|py| {
            let given = block(py, discipline, departures).and_then(|block| self.callable.call1(py, (block,)));
            given.map(drop).map_err(|error| {
                let told = error.to_string();
                self.failure = Some(error);
                told
            })
        })
    }
}

fn block<'py>(py: Python<'py>, discipline: &str, rows: &[Departure]) -> PyResult<Bound<'py, PyDict>> {
    let block = PyDict::new(py);
    block.set_item("discipline", discipline)?;
    block.set_item("id", column(py, rows, |row| row.index.to_ne_bytes()))?;
    block.set_item("flow", column(py, rows, |row| row.flow.to_ne_bytes()))?;
    block.set_item("class", column(py, rows, |row| row.class.to_ne_bytes()))?;
    block.set_item("length", column(py, rows, |row| row.length.to_ne_bytes()))?;
    block.set_item("arrival", column(py, rows, |row| row.arrival.get().to_ne_bytes()))?;
    block.set_item("first_service", column(py, rows, |row| row.first.get().to_ne_bytes()))?;
    block.set_item("last_service", column(py, rows, |row| row.last.get().to_ne_bytes()))?;
    Ok(block)
}

fn column<'py, const N: usize>(
    py: Python<'py>,
    rows: &[Departure],
    value: impl Fn(&Departure) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = rows.iter().flat_map(value).collect();
    PyBytes::new(py, &bytes)
}
