//! `weird`: the disciplines on real packets.

use std::process::ExitCode;

fn main() -> ExitCode {
    weir_live::cli::main()
}
