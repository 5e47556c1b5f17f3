//! Python bindings of weir: the compiled module `_weir`, re-exported by the package `weir`.

use pyo3::prelude::*;

/// The compiled part of the package `weir`.
#[pymodule]
mod _weir {
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
