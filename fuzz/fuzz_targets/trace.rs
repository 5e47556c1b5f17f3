//! Traces: what is accepted is in order and has lengths.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_sim::workload::{TimeUnit, Trace, TraceFormat};

fuzz_target!(|bytes: &[u8]| {
    for unit in [TimeUnit::S, TimeUnit::Timestamp] {
        if let Ok(trace) = Trace::read(bytes, "fuzz.csv", &TraceFormat::new(unit)) {
            assert!(trace.times().is_sorted());
            assert!(trace.lengths().iter().all(|length| *length > 0));
        }
    }
});
