//! Benchmarks of the engines and disciplines, by name.

use pyo3::exceptions::PyValueError;
use pyo3::{PyResult, Python, pyfunction};
use weir_sim::bench;
use weir_sim::bench::rounds::Repetitions;

/// The names of the benchmarks that begin with `prefix`.
#[pyfunction]
pub(crate) fn bench_names(prefix: &str) -> Vec<String> {
    bench::benches(prefix).iter().map(|bench| bench.name().to_owned()).collect()
}

/// Runs one benchmark: a JSON object.
#[pyfunction]
pub(crate) fn bench_run(py: Python<'_>, name: &str) -> PyResult<String> {
    let figure = py.detach(|| {
        let benches = bench::benches(name);
        benches.iter().find(|bench| bench.name() == name).map(|bench| bench.run(Repetitions::USUAL))
    });
    let figure = figure.ok_or_else(|| PyValueError::new_err(format!("no benchmark is called `{name}`")))?;
    serde_json::to_string(&figure).map_err(|error| PyValueError::new_err(error.to_string()))
}
