//! A column of values to be fitted: what is accepted are numbers above 0.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_sim::workload::fit::{Sample, read_column};

fuzz_target!(|bytes: &[u8]| {
    for name in ["ms", "1", ""] {
        if let Ok(values) = read_column(bytes, "fuzz.csv", name) {
            assert!(values.iter().all(|value| *value > 0.0 && value.is_finite()));
            if let Ok(sample) = Sample::new(values) {
                assert!(sample.values().is_sorted() && sample.mean() > 0.0);
            }
        }
    }
});
