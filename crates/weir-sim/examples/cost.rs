//! What benchmarks of `weir bench` take: the time of a unit of work, and the cycles of the processor in a nanosecond.
//!
//!     cargo run --release -p weir-sim --example cost -- port/
//!
//! prints a line for each benchmark whose name begins so: name, the least time of seven repetitions, and the mean clock rate
//! before and after, since it changes. `make bench-counts` puts them next to what Valgrind counts.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use weir_sim::bench::rounds::Repetitions;
use weir_sim::bench::{Bench, benches};

fn main() -> ExitCode {
    let prefix = std::env::args().nth(1).unwrap_or_default();
    let chosen = benches(&prefix);
    if chosen.is_empty() {
        eprintln!("error: there is no benchmark {prefix}...; `weir bench` lists them");
        return ExitCode::from(2);
    }
    for bench in chosen {
        let before = cycles_per_nanosecond();
        let time = nanoseconds(&bench);
        println!("{} {time} {}", bench.name(), f64::midpoint(before, cycles_per_nanosecond()));
    }
    ExitCode::SUCCESS
}

/// The least time of a unit of work in seven repetitions.
fn nanoseconds(bench: &Bench) -> f64 {
    let figure = bench.run(Repetitions::USUAL);
    if figure.unit.starts_with("ns/") { figure.low } else { 1e9 / figure.high }
}

/// Measured by a chain in which each multiplication waits for the one before: three cycles each, and one to set the lowest bit, on
/// the processors of x86-64 and of 64-bit ARM made since 2015.
fn cycles_per_nanosecond() -> f64 {
    const STEPS: u64 = 5_000_000;
    const CYCLES: f64 = 4.0;
    let rates = (0..5).map(|_| {
        let start = Instant::now();
        let end = (0..STEPS).fold(black_box(3_u64), |x, _| x.wrapping_mul(x | 1));
        black_box(end);
        CYCLES * STEPS as f64 / start.elapsed().as_nanos() as f64
    });
    rates.fold(0.0, f64::max)
}
