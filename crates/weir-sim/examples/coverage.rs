//! Study: how often the 95 % intervals of a run cover the exact value.
//!
//! `make study-coverage`, or `cargo run --release -p weir-sim --example coverage [-- RUNS [PACKETS]]`:
//! independent runs (2,000) of the report's workload at 80 % load, each with a seed of its own and the
//! default warm-up, and the share of them whose interval covers the truth. The truth is the closed form
//! where there is one, and else a run 1,000 times as long with a seed that no other run has. Prints the
//! table that stands in `docs/studies.md`.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use weir_sim::parallel::in_parallel;
use weir_sim::{Control, Outcome, Scenario, run};

const RUNS: u64 = 2_000;
const PACKETS: u64 = 4_000_000;
const LOAD: f64 = 0.8;
const DISCIPLINES: [&str; 3] = ["fifo", "alpha:10", "sf"];
/// The long run: its seed, how much longer it is, and in how many replications.
const LONG: u64 = 1 << 40;
const LONGER: u64 = 1_000;
const LONG_REPLICATIONS: u64 = 8;

/// An interval, and the value in its middle.
#[derive(Clone, Copy)]
struct Interval {
    value: f64,
    low: f64,
    high: f64,
}

/// The quantile `p` of the latency of all messages, by interpolation inside its bucket.
fn interpolated(outcome: &Outcome, discipline: &str, p: f64) -> Option<f64> {
    let is_all = |row: &&weir_sim::port::outcome::Distribution| {
        row.discipline == discipline && row.subject.class == "all"
    };
    let all = &outcome.distributions.iter().find(is_all)?.bins;
    let mut left = all.count.iter().sum::<u64>() as f64 * p;
    for ((low, high), &count) in all.low.iter().zip(&all.high).zip(&all.count) {
        if left <= count as f64 {
            return Some(low + (high - low) * left / count as f64);
        }
        left -= count as f64;
    }
    None
}

/// What is looked at: a statistic of a discipline and class, or the difference of its mean from FIFO's.
#[derive(Clone, Copy)]
enum Kind {
    Statistic(&'static str),
    Difference,
}

struct Row {
    discipline: &'static str,
    class: &'static str,
    kind: Kind,
}

impl Row {
    fn name(&self) -> String {
        match self.kind {
            Kind::Statistic(statistic) => format!("{}, {}, {statistic}", self.discipline, self.class),
            Kind::Difference => format!("{} − fifo, {}, mean", self.discipline, self.class),
        }
    }

    fn interval(&self, outcome: &Outcome) -> Option<Interval> {
        let interval = |value, low, high| Some(Interval { value: value?, low: low?, high: high? });
        match self.kind {
            Kind::Statistic(statistic) => {
                let figure = outcome.estimates.iter().find(|figure| {
                    figure.discipline.as_deref() == Some(self.discipline)
                        && figure.subject.class == self.class
                        && (figure.metric, figure.statistic) == ("latency", statistic)
                })?;
                interval(figure.value, figure.low, figure.high)
            }
            Kind::Difference => {
                let apart = outcome
                    .differences
                    .iter()
                    .find(|apart| apart.discipline == self.discipline && apart.subject.class == self.class)?;
                interval(apart.value, apart.low, apart.high)
            }
        }
    }

    /// The true value and where it comes from. A bucket is too wide to be one.
    fn truth(&self, long: &Outcome) -> Option<(f64, &'static str)> {
        let simulated = match self.kind {
            Kind::Statistic("p99") => interpolated(long, self.discipline, 0.99),
            _ => self.interval(long).map(|interval| interval.value),
        };
        let exact = self.exact(long).map(|exact| (exact, "closed form"));
        exact.or_else(|| Some((simulated?, "long run")))
    }

    /// The exact value, where there is a closed form.
    fn exact(&self, outcome: &Outcome) -> Option<f64> {
        let mean = |discipline: &str| {
            let row = outcome.theory.iter().find(|row| {
                row.discipline.as_deref() == Some(discipline)
                    && row.class == self.class
                    && row.metric == "latency"
            })?;
            row.value
        };
        match self.kind {
            Kind::Statistic("mean") => mean(self.discipline),
            Kind::Statistic(_) => None,
            Kind::Difference => Some(mean(self.discipline)? - mean("fifo")?),
        }
    }
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for discipline in DISCIPLINES {
        for (class, statistic) in [("all", "mean"), ("1pkt", "mean"), ("20pkt", "mean"), ("all", "p99")] {
            rows.push(Row { discipline, class, kind: Kind::Statistic(statistic) });
        }
    }
    for discipline in &DISCIPLINES[1..] {
        rows.extend(["all", "20pkt"].map(|class| Row { discipline, class, kind: Kind::Difference }));
    }
    rows
}

fn simulate(seed: u64, packets: u64, replications: u64, threads: NonZeroUsize) -> Outcome {
    let text = format!(
        "weir = 1\nmodel = \"port\"\nseed = {seed}\ndisciplines = {DISCIPLINES:?}\n\
         [workload]\nload = {LOAD}\n[stop]\npackets = {packets}\nreplications = {replications}\n"
    );
    let scenario = Scenario::from_toml(&text, "coverage", Path::new("")).expect("a valid scenario");
    let cancel = AtomicBool::new(false);
    let mut control = Control { threads, cancel: &cancel, progress: &mut |_| {}, records: None };
    let outcome = run(&scenario, &mut control).expect("a stable scenario");
    outcome.port().expect("a scenario of the port")
}

fn argument(place: usize, default: u64) -> u64 {
    std::env::args().nth(place).map_or(default, |text| text.parse().expect("RUNS and PACKETS are numbers"))
}

fn main() {
    let (runs, packets) = (argument(1, RUNS), argument(2, PACKETS));
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let rows = rows();
    let long = simulate(LONG, packets * LONGER, LONG_REPLICATIONS, threads);
    let intervals = |seed| {
        let outcome = simulate(seed, packets, 1, NonZeroUsize::MIN);
        rows.iter().map(|row| row.interval(&outcome)).collect::<Vec<_>>()
    };
    let seen: Vec<Vec<Option<Interval>>> = in_parallel((1..=runs).collect(), threads, intervals);
    println!("| figure | truth | from | half-width | coverage | too low | too high |");
    println!("|---|---|---|---|---|---|---|");
    for (place, row) in rows.iter().enumerate() {
        let Some((truth, from)) = row.truth(&long) else { continue };
        print_row(row, truth, from, seen.iter().filter_map(|run| run[place]).collect());
    }
}

fn print_row(row: &Row, truth: f64, from: &str, seen: Vec<Interval>) {
    let share = |of: &dyn Fn(&Interval) -> bool| {
        seen.iter().filter(|interval| of(interval)).count() as f64 / seen.len() as f64 * 100.0
    };
    let widths: f64 = seen.iter().map(|interval| (interval.high - interval.low) / 2.0).sum();
    let width = widths / seen.len() as f64 / truth.abs() * 100.0;
    let (below, above) = (share(&|interval| interval.high < truth), share(&|interval| interval.low > truth));
    let covered = 100.0 - below - above;
    println!(
        "| {} | {truth:.4} | {from} | {width:.1} % | **{covered:.1} %** | {below:.1} % | {above:.1} % |",
        row.name()
    );
}
