//! CDF files: what is accepted is a distribution of lengths.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_sim::workload::Sizes;

fuzz_target!(|text: &str| {
    if let Ok(sizes) = Sizes::parse_cdf(text, "fuzz.csv") {
        assert!(sizes.mean() >= 1.0 && sizes.sampler().sample(u64::MAX) >= 1);
    }
});
