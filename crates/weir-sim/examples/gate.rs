//! One round of a benchmark of `weir bench`, and nothing else: what `make bench-gate` counts the instructions of.
//! Prints how many units of work it was.
//!
//!     cargo run --profile editing -p weir-sim --example gate -- port/fifo

use std::process::ExitCode;

use weir_sim::bench::benches;

fn main() -> ExitCode {
    let Some(name) = std::env::args().nth(1) else {
        eprintln!("error: gate needs the name of a benchmark, such as port/fifo");
        return ExitCode::from(2);
    };
    let Some(bench) = benches(&name).into_iter().find(|bench| bench.name() == name) else {
        eprintln!("error: there is no benchmark {name}; `weir bench` lists them");
        return ExitCode::from(2);
    };
    println!("{}", bench.once());
    ExitCode::SUCCESS
}
