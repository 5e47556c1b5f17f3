//! Scenario files of every model: a refusal has a place, and the normalised form reads as the same scenario.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use weir_sim::Scenario;

fuzz_target!(|text: &str| {
    // A folder that does not exist: no data file is opened.
    let folder = Path::new("/nonexistent");
    match Scenario::from_toml(text, "fuzz.toml", folder) {
        Ok(scenario) => {
            let again = Scenario::from_toml(&scenario.frame().scenario, "fuzz.toml", folder);
            assert_eq!(again.map(|again| again.frame().clone()), Ok(scenario.frame().clone()));
        }
        Err(error) => assert!(error.file != "fuzz.toml" || error.line.is_some(), "{error}"),
    }
});
