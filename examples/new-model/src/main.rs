//! Runs a scenario of the bus stop and prints its result as JSON: `new-model SCENARIO.toml`.

use std::process::ExitCode;

fn main() -> ExitCode {
    weir_lab::program::main(new_model::outcome)
}
