//! Study: what an alpha that tracks the load buys over a fixed one (alpha report, section 13).
//!
//! `make study-tracking`, or `cargo run --release -p weir-sim --example tracking [-- PACKETS]`: fixed alphas,
//! both extremes, and `alpha_tracking` with several weights on the same arrivals and services, at four loads.
//! Prints the tables that stand in `docs/studies.md`.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use weir_sim::{Control, Outcome, Scenario, run};

const PACKETS: u64 = 100_000_000;
const LOADS: [f64; 4] = [0.5, 0.8, 0.95, 0.98];
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
const WEIGHTS: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];

fn disciplines() -> Vec<String> {
    let tracking = WEIGHTS.map(|weight| format!("alpha_tracking(low=1,high=100,weight={weight})"));
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
    run(&scenario, &mut control).expect("a stable scenario")
}

/// `value` with half of its interval.
fn figure(outcome: &Outcome, discipline: &str, class: &str, statistic: &str) -> String {
    let found = outcome.estimates.iter().find(|figure| {
        figure.discipline.as_deref() == Some(discipline)
            && figure.class == class
            && (figure.metric, figure.statistic) == ("latency", statistic)
    });
    let Some(value) = found.and_then(|figure| figure.value) else { return "n/a".to_owned() };
    let half = found.and_then(|figure| Some((figure.high? - figure.low?) / 2.0));
    half.map_or(format!("{value:.0}"), |half| format!("{value:.2} ± {half:.2}"))
}

/// The mean over that of shortest-first, with half of the interval of the paired ratio, in percent.
fn above_shortest(outcome: &Outcome, discipline: &str) -> String {
    let found = outcome.differences.iter().find(|row| row.discipline == discipline && row.class == "all");
    let ratio = found.and_then(|row| Some((row.ratio?, (row.ratio_high? - row.ratio_low?) / 2.0)));
    ratio
        .map_or("0".to_owned(), |(ratio, half)| format!("{:.2} ± {:.2}", (ratio - 1.0) * 100.0, half * 100.0))
}

fn main() {
    let packets = std::env::args().nth(1).map_or(PACKETS, |text| text.parse().expect("PACKETS is a number"));
    for load in LOADS {
        let outcome = simulate(load, packets);
        println!("\n### {:.0} % load\n", load * 100.0);
        println!("| discipline | mean | above sf, % | lat1 | lat20 | p99 | p99.9 | maximum |");
        println!("|---|---|---|---|---|---|---|---|");
        for discipline in &outcome.disciplines {
            let of = |class, statistic| figure(&outcome, discipline, class, statistic);
            println!(
                "| `{discipline}` | {} | {} | {} | {} | {} | {} | {} |",
                of("all", "mean"),
                above_shortest(&outcome, discipline),
                of("1pkt", "mean"),
                of("20pkt", "mean"),
                of("all", "p99"),
                of("all", "p99.9"),
                of("all", "max")
            );
        }
    }
}
