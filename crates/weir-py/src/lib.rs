//! Python bindings of weir: the compiled module `_weir`, re-exported by the package `weir`.
//!
//! Nothing is decided here: text goes in, JSON text comes out, and errors become the exceptions that
//! `weir.errors` draws. The Global Interpreter Lock is released while the engine runs.

mod bench;
mod capture;
mod dispatcher;
mod enact;
mod errors;
mod kendall;
mod laws;
mod log;
mod overhead;
mod own;
mod plan;
mod queue;
mod recording;
mod records;
mod simulate;
mod sweep;
mod tg;

/// The compiled part of the package `weir`.
#[pyo3::pymodule]
mod _weir {
    #[pymodule_export]
    use crate::bench::{bench_names, bench_run};
    #[pymodule_export]
    use crate::capture::import_capture;
    #[pymodule_export]
    use crate::dispatcher::Dispatcher;
    #[pymodule_export]
    use crate::enact::enact;
    #[pymodule_export]
    use crate::kendall::kendall;
    #[pymodule_export]
    use crate::laws::{fit_laws, laws};
    #[pymodule_export]
    use crate::log::{import_log, survey_log};
    #[pymodule_export]
    use crate::overhead::estimate_overhead;
    #[pymodule_export]
    use crate::own::verify::verify;
    #[pymodule_export]
    use crate::own::{Item, add_discipline, remove_discipline};
    #[pymodule_export]
    use crate::plan::{opensm_import, opensm_lint, opensm_tables, plan, plan_emit};
    #[pymodule_export]
    use crate::queue::Queue;
    #[pymodule_export]
    use crate::recording::{read_recording, recorded_events};
    #[pymodule_export]
    use crate::simulate::{Scenario, disciplines, reach, run, schema, textbook, theory};
    #[pymodule_export]
    use crate::sweep::{Cells, Sweep, best_of, frontier_of, play_replications};
    #[pymodule_export]
    use crate::tg::{tg_packets, tg_parse};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
