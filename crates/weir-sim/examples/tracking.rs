//! Study: what an alpha that tracks the load buys over a fixed one (alpha report, section 13).
//!
//! `make study-tracking`, or `cargo run --release -p weir-sim --example tracking [-- PACKETS]`: fixed alphas,
//! both extremes, and `alpha_tracking` with several limits and weights on the same arrivals and services,
//! at four loads. Next to each tracking alpha stands what a fixed alpha of the same mean would give, by
//! linear interpolation between the two fixed alphas next to it. Prints the tables of `docs/studies.md`.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use weir_sim::{Control, Outcome, Scenario, run};

const PACKETS: u64 = 100_000_000;
const LOADS: [f64; 4] = [0.5, 0.8, 0.95, 0.98];
/// From first in, first out to shortest first: the mean falls from each to the next.
const FIXED: [&str; 11] = [
    "fifo",
    "alpha:1",
    "alpha:2",
    "alpha:3",
    "alpha:6",
    "alpha:10",
    "alpha:20",
    "alpha:30",
    "alpha:60",
    "alpha:100",
    "sf",
];
/// Limits, and the weights tried with them.
const TRACKING: [(u32, u32, &[f64]); 2] =
    [(1, 100, &[0.03, 0.1, 0.2, 0.3, 1.0, 3.0]), (10, 100, &[0.1, 0.3, 1.0])];
/// What is compared: a class of messages and a statistic of its latency.
const COLUMNS: [(&str, &str); 6] =
    [("all", "mean"), ("1pkt", "mean"), ("20pkt", "mean"), ("all", "p99"), ("all", "p99.9"), ("all", "max")];

fn disciplines() -> Vec<String> {
    let tracking = TRACKING.iter().flat_map(|&(low, high, weights)| {
        weights.iter().map(move |weight| format!("alpha_tracking(low={low},high={high},weight={weight})"))
    });
    FIXED.iter().map(|spec| (*spec).to_owned()).chain(tracking).collect()
}

fn simulate(load: f64, packets: u64) -> Outcome {
    let text = format!(
        "weir = 1\nmodel = \"port\"\ndisciplines = {:?}\nreference = \"sf\"\n\
         [workload]\nload = {load}\n[stop]\npackets = {packets}\nreplications = 8\n",
        disciplines()
    );
    let scenario = Scenario::from_toml(&text, "tracking", Path::new("")).expect("a valid scenario");
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let cancel = AtomicBool::new(false);
    let mut control = Control { threads, cancel: &cancel, progress: &mut |_| {}, records: None };
    let outcome = run(&scenario, &mut control).expect("a stable scenario");
    outcome.port().expect("a scenario of the port")
}

/// A value, and half of its interval where it has one.
type Value = (f64, Option<f64>);

/// The latencies of one discipline, column by column.
fn latencies(outcome: &Outcome, discipline: &str) -> [Value; COLUMNS.len()] {
    COLUMNS.map(|(class, statistic)| {
        let figure = outcome.estimates.iter().find(|figure| {
            figure.discipline.as_deref() == Some(discipline)
                && figure.subject.class == class
                && (figure.metric, figure.statistic) == ("latency", statistic)
        });
        let figure = figure.expect("every discipline has every statistic");
        let half = figure.low.zip(figure.high).map(|(low, high)| (high - low) / 2.0);
        (figure.value.expect("every class has messages"), half)
    })
}

/// By how many percent the mean is above that of shortest-first, by the paired ratio.
fn above_shortest(outcome: &Outcome, discipline: &str) -> Value {
    let row =
        outcome.differences.iter().find(|row| row.discipline == discipline && row.subject.class == "all");
    let Some((ratio, row)) = row.and_then(|row| Some((row.beside.ratio?, row))) else { return (0.0, None) };
    let half = row.beside.ratio_low.zip(row.beside.ratio_high).map(|(low, high)| (high - low) * 50.0);
    ((ratio - 1.0) * 100.0, half)
}

/// What a fixed alpha with this mean would give.
fn fixed_of_mean(fixed: &[[Value; COLUMNS.len()]], mean: f64) -> Option<[Value; COLUMNS.len()]> {
    let pair = fixed.windows(2).find(|pair| pair[0][0].0 >= mean && mean >= pair[1][0].0)?;
    let share = (pair[0][0].0 - mean) / (pair[0][0].0 - pair[1][0].0);
    let between = |place: usize| pair[0][place].0 + share * (pair[1][place].0 - pair[0][place].0);
    Some(std::array::from_fn(|place| (between(place), None)))
}

fn print_row(name: &str, above: Value, values: &[Value]) {
    let cells: Vec<String> = [above].iter().chain(values).map(|&value| cell(value)).collect();
    println!("| {name} | {} |", cells.join(" | "));
}

fn cell((value, half): Value) -> String {
    let digits = if value.abs() >= 100.0 { 0 } else { 2 };
    half.map_or(format!("{value:.digits$}"), |half| format!("{value:.digits$} ± {half:.digits$}"))
}

fn main() {
    let packets = std::env::args().nth(1).map_or(PACKETS, |text| text.parse().expect("PACKETS is a number"));
    for load in LOADS {
        let outcome = simulate(load, packets);
        println!("\n### {:.0} % load\n", load * 100.0);
        println!("| discipline | above `sf`, % | mean | lat1 | lat20 | p99 | p99.9 | maximum |");
        println!("|---|---|---|---|---|---|---|---|");
        let all: Vec<_> = outcome.disciplines.iter().map(|name| latencies(&outcome, name)).collect();
        let shortest = all[FIXED.len() - 1][0].0;
        for (place, (name, values)) in outcome.disciplines.iter().zip(&all).enumerate() {
            print_row(&format!("`{name}`"), above_shortest(&outcome, name), values);
            let equal = fixed_of_mean(&all[..FIXED.len()], values[0].0).filter(|_| place >= FIXED.len());
            if let Some(equal) = equal {
                print_row(
                    "a fixed alpha of that mean",
                    ((equal[0].0 / shortest - 1.0) * 100.0, None),
                    &equal,
                );
            }
        }
    }
}
