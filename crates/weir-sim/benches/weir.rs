//! `cargo bench -p weir-sim [-- PREFIX]` prints every benchmark of the library as `weir bench` does.

use weir_sim::bench::benches;
use weir_sim::bench::rounds::Repetitions;

fn main() {
    let prefix = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for bench in benches(&prefix) {
        let figure = bench.run(Repetitions::USUAL);
        let scale = if figure.value < 1e6 { (1.0, "") } else { (1e6, "M ") };
        let [value, low, high] = [figure.value, figure.low, figure.high].map(|value| value / scale.0);
        println!("{:<28} {value:>9.2} {}{} ({low:.2} to {high:.2})", figure.bench, scale.1, figure.unit);
    }
}
