//! A program around one model: a scenario named on the command line, its result as JSON on the output.
//!
//! | exit code | |
//! |-|-|
//! | 0 | done |
//! | 2 | no scenario named, or one that is refused or cannot be simulated; the error output says why |

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;
use std::thread::available_parallelism;

use serde::Serialize;

use crate::error::RunError;
use crate::scenario::{Read, Scenario};

/// Runs the scenario that the first argument of the program names, on all cores.
pub fn main<M: Read, R: Serialize>(
    run: impl FnOnce(&Scenario<M>, NonZeroUsize) -> Result<R, RunError>,
) -> ExitCode {
    let told = std::env::args_os().nth(1).map_or_else(
        || Err("no scenario is given: write its file after the command".to_owned()),
        |file| told(Path::new(&file), run),
    );
    match told {
        Ok(json) => println!("{json}"),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// The result of a scenario as JSON, or why there is none.
fn told<M: Read, R: Serialize>(
    file: &Path,
    run: impl FnOnce(&Scenario<M>, NonZeroUsize) -> Result<R, RunError>,
) -> Result<String, String> {
    let scenario = Scenario::from_file(file).map_err(|refused| refused.to_string())?;
    let threads = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let result = run(&scenario, threads).map_err(|error| format!("{error}: {}", error.remedy()))?;
    serde_json::to_string(&result).map_err(|error| error.to_string())
}
