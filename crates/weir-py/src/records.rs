//! Records of a run, handed to Python block by block. Messages of the port: one column a key, as bytes in native order, and the
//! names of applications and classes as lists. Other models: the columns of a table.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use weir_lab::record::{Block, Departure, Names, Rows, Values};
use weir_sim::RecordSink;

/// A Python callable that takes blocks of records.
pub(crate) struct Sink {
    callable: Py<PyAny>,
    /// The names of applications and classes, made with the first block.
    names: Option<[Py<PyList>; 2]>,
    failure: Option<PyErr>,
}

impl Sink {
    pub(crate) fn new(callable: Py<PyAny>) -> Self {
        Self { callable, names: None, failure: None }
    }

    /// What the callable raised, if it did.
    pub(crate) fn failure(self) -> Option<PyErr> {
        self.failure
    }
}

impl RecordSink for Sink {
    fn take(&mut self, block: &Block<'_>) -> Result<(), String> {
        if block.departures.is_empty() {
            return Ok(());
        }
        Python::attach(|py| {
            let given = self.names(py, block.names).and_then(|[flows, classes]| {
                let columns = columns(py, block)?;
                columns.set_item("flows", flows)?;
                columns.set_item("classes", classes)?;
                self.callable.call1(py, (columns,))
            });
            given.map(drop).map_err(|error| {
                let told = error.to_string();
                self.failure = Some(error);
                told
            })
        })
    }

    fn rows(&mut self, rows: &Rows<'_>) -> Result<(), String> {
        Python::attach(|py| {
            let given = table(py, rows).and_then(|table| self.callable.call1(py, (table,)));
            given.map(drop).map_err(|error| {
                let told = error.to_string();
                self.failure = Some(error);
                told
            })
        })
    }
}

/// Rows of a table: `columns` are tuples of a name, bytes in native order, `uint64`, `float64` or `string`, and the names where the
/// bytes are places of them.
fn table<'py>(py: Python<'py>, rows: &Rows<'_>) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyList::empty(py);
    for column in rows.columns {
        match column.values {
            Values::Counts(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
                columns.append((column.name, PyBytes::new(py, &bytes), "uint64", py.None()))?;
            }
            Values::Numbers(values) => {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
                columns.append((column.name, PyBytes::new(py, &bytes), "float64", py.None()))?;
            }
            Values::Names(places, names) => {
                let bytes: Vec<u8> = places.iter().flat_map(|place| place.to_ne_bytes()).collect();
                columns.append((column.name, PyBytes::new(py, &bytes), "string", PyList::new(py, names)?))?;
            }
        }
    }
    let told = PyDict::new(py);
    told.set_item("discipline", rows.discipline)?;
    told.set_item("replication", rows.replication)?;
    told.set_item("columns", columns)?;
    Ok(told)
}

impl Sink {
    /// The names of applications and classes; those of one run are the same for every block.
    fn names(&mut self, py: Python<'_>, names: &Names) -> PyResult<[Py<PyList>; 2]> {
        if let Some(lists) = &self.names {
            return Ok(lists.each_ref().map(|list| list.clone_ref(py)));
        }
        let list = |names: &[String]| PyList::new(py, names).map(Bound::unbind);
        let lists = [list(&names.flows)?, list(&names.classes)?];
        self.names = Some(lists.each_ref().map(|list| list.clone_ref(py)));
        Ok(lists)
    }
}

fn columns<'py>(py: Python<'py>, told: &Block<'_>) -> PyResult<Bound<'py, PyDict>> {
    let (block, rows) = (PyDict::new(py), told.departures);
    block.set_item("discipline", told.discipline)?;
    block.set_item("replication", told.replication)?;
    block.set_item("clock", told.clock)?;
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
