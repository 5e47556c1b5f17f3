//! Study: how often the 95 % intervals of a run cover the truth, and whether a run says so where they do not.
//!
//! `make study-coverage`, or `cargo run --release -p weir-sim --example coverage [-- RUNS [CASE ...]]`: of each case
//! ([`cases`]) independent runs (400), each with a seed of its own and everything else as a user gets it. Of each figure it
//! prints how many of the intervals hold the truth, how many of the figures are *not settled*, and how many of the settled
//! ones hold it. The truth is the closed form where there is one, else a run of the length that the case says, with a
//! seed that no other run has; its quantiles are interpolated within their buckets, which are too wide to be one. Prints
//! the table that stands in `docs/studies.md`.

mod cases;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use weir_sim::parallel::in_parallel;
use weir_sim::{Control, Scenario, run};

use cases::{CASES, Case, Fig};

const RUNS: u64 = 400;
/// The seed of the long run.
const LONG: u64 = 1 << 40;

/// What a run says of a figure.
#[derive(Clone, Copy)]
struct Said {
    value: f64,
    low: f64,
    high: f64,
    settled: bool,
}

fn simulate(case: &Case, stop: &str, seed: u64, threads: NonZeroUsize) -> Value {
    let text = format!("weir = 1\nseed = {seed}\n{}\n[stop]\n{stop}\n", case.scenario);
    // Sizes are read from the folder of the data, as scenarios of the examples do.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let scenario = Scenario::from_toml(&text, case.name, &folder);
    let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let cancel = AtomicBool::new(false);
    let mut control = Control { threads, cancel: &cancel, progress: &mut |_| {}, records: None };
    let outcome = run(&scenario, &mut control).expect("a run that can be");
    serde_json::to_value(outcome).expect("JSON")
}

/// Whether a row of a result is about a figure, its statistic aside.
fn is_about(row: &Value, figure: &Fig) -> bool {
    row["discipline"] == figure.discipline
        && row["metric"] == figure.metric
        && figure
            .about
            .iter()
            .all(|(key, value)| row[key].as_str().map_or(row[key].to_string(), str::to_owned) == *value)
        && row.get("flow").is_none_or(Value::is_null)
}

fn said(result: &Value, figure: &Fig) -> Option<Said> {
    let rows = result["estimates"].as_array()?;
    let row = rows.iter().find(|row| is_about(row, figure) && row["statistic"] == figure.statistic)?;
    let number = |key: &str| row[key].as_f64();
    let settled = row.get("settled").is_none_or(|settled| settled == true);
    Some(Said { value: number("value")?, low: number("low")?, high: number("high")?, settled })
}

/// The quantile `p` of the distribution of a figure, by interpolation inside its bucket.
fn interpolated(result: &Value, figure: &Fig) -> Option<f64> {
    let p = figure.statistic.strip_prefix('p')?.parse::<f64>().ok()? / 100.0;
    let all = result["distributions"].as_array()?.iter().find(|row| is_about(row, figure))?;
    let numbers =
        |key: &str| -> Option<Vec<f64>> { all[key].as_array()?.iter().map(Value::as_f64).collect() };
    let (low, high, count) = (numbers("low")?, numbers("high")?, numbers("count")?);
    let mut left = count.iter().sum::<f64>() * p;
    for ((low, high), count) in low.into_iter().zip(high).zip(count) {
        if left <= count {
            return Some(low + (high - low) * left / count);
        }
        left -= count;
    }
    None
}

/// The true value and where it comes from.
fn truth(long: &Value, figure: &Fig) -> Option<(f64, &'static str)> {
    let class = figure.about.iter().find(|(key, _)| matches!(*key, "class" | "name")).map(|(_, name)| *name);
    let theory = long["theory"].as_array()?;
    let row = theory.iter().find(|row| {
        row["discipline"] == figure.discipline
            && row["class"].as_str() == class
            && row["metric"] == figure.metric
    });
    let exact = row.and_then(|row| row["value"].as_f64()).filter(|_| figure.statistic == "mean");
    let simulated = || interpolated(long, figure).or_else(|| Some(said(long, figure)?.value));
    exact.map(|exact| (exact, "closed form")).or_else(|| Some((simulated()?, "long run")))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let runs = arguments.next().map_or(RUNS, |text| text.parse().expect("RUNS is a number"));
    let wanted: Vec<String> = arguments.collect();
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    println!(
        "| case | figure | truth | from | half-width | coverage | not settled | coverage of the settled |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let is_wanted = |case: &&Case| wanted.is_empty() || wanted.iter().any(|name| case.name.starts_with(name));
    for case in CASES.iter().filter(is_wanted) {
        let long = simulate(case, case.long, LONG, threads);
        let each = |seed| {
            let result = simulate(case, case.stop, seed, NonZeroUsize::MIN);
            case.figures.iter().map(|figure| said(&result, figure)).collect::<Vec<_>>()
        };
        let seen: Vec<Vec<Option<Said>>> = in_parallel((1..=runs).collect(), threads, each);
        for (place, figure) in case.figures.iter().enumerate() {
            let Some((truth, from)) = truth(&long, figure) else {
                println!("| {} | {} | none |", case.name, figure.name());
                continue;
            };
            print_row(
                case,
                figure,
                (truth, from),
                &seen.iter().filter_map(|run| run[place]).collect::<Vec<_>>(),
            );
        }
    }
}

fn print_row(case: &Case, figure: &Fig, (truth, from): (f64, &str), seen: &[Said]) {
    let covers = |said: &&Said| said.low <= truth && truth <= said.high;
    let share = |count: usize, of: usize| if of == 0 { f64::NAN } else { 100.0 * count as f64 / of as f64 };
    let settled: Vec<Said> = seen.iter().filter(|said| said.settled).copied().collect();
    let mut widths: Vec<f64> = seen.iter().map(|said| (said.high - said.low) / 2.0 / truth.abs()).collect();
    widths.sort_by(f64::total_cmp);
    let all = share(seen.iter().filter(covers).count(), seen.len());
    let marked = share(seen.len() - settled.len(), seen.len());
    let kept = match settled.len() {
        0 => "–".to_owned(),
        held => format!("{:.1} %", share(settled.iter().filter(covers).count(), held)),
    };
    println!(
        "| {} | {} | {truth:.4e} | {from} | {:.1} % | {all:.1} % | {marked:.0} % | {kept} |",
        case.name,
        figure.name(),
        widths.get(widths.len() / 2).map_or(f64::NAN, |width| 100.0 * width),
    );
}
