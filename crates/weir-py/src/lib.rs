//! Python bindings of weir: the compiled module `_weir`, re-exported by the package `weir`.

use pyo3::prelude::*;

/// The compiled part of the package `weir`.
#[pymodule]
mod _weir {}
