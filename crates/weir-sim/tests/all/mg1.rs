//! Whole messages under the five disciplines that have closed forms, on the Homa workloads: every mean within
//! its 99 % interval of the exact one (`data/reference/mg1-homa.csv`).
//!
//! A byte takes a microsecond, so that service times are not rounded. The sizes of W2 and W3 have squared
//! coefficients of variation of 283 and 527, and their means under FCFS rest on the few largest messages:
//! intervals are wide (half of one is a third to a half of the mean of W2 under FCFS). A replication must be
//! long against the longest busy period: in replications of 62,500 messages the largest of W3 mostly do not
//! end, and what does not end is not counted, which puts PS, PSJF and SRPT at load 0.8 from 14 to 25 % too low.
//! So there is one long replication.
//!
//! Of these 100 checks one is expected to fail for a seed taken at random, and failures come together, since
//! all disciplines see the same messages. Over the seeds 1 to 8, 10 of 800 failed: 8 of W5 with seed 3, where
//! fewer messages than usual arrived, and 2 of W4 with seed 6. The seed here is the default, 1.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use weir_sim::stats::student;
use weir_sim::workload::Sizes;
use weir_sim::{Control, Outcome, Scenario, run};

const SECONDS_PER_BYTE: f64 = 1e-6;

/// A row of the reference: the discipline, mean response over mean size, mean slowdown.
struct Row {
    workload: String,
    load: String,
    discipline: &'static str,
    response: f64,
    slowdown: f64,
}

fn data() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data")).to_owned()
}

fn reference() -> Vec<Row> {
    let text =
        std::fs::read_to_string(data().join("reference/mg1-homa.csv")).expect("the reference is there");
    let rows = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("workload"));
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |place: usize| fields[place].parse().expect("a number");
        let discipline = match fields[2] {
            "fcfs" => "fifo",
            "srpt" => "sf",
            "ps" => "ps",
            "sjf" => "sjf",
            "psjf" => "psjf",
            other => panic!("no discipline for {other}"),
        };
        let (workload, load) = (fields[0].to_owned(), fields[1].to_owned());
        Row { workload, load, discipline, response: number(3), slowdown: number(4) }
    };
    rows.map(row).collect()
}

fn mean_size(workload: &str) -> f64 {
    let file = data().join(format!("sizes/homa-{workload}.csv"));
    let text = std::fs::read_to_string(&file).expect("the workload is there");
    Sizes::parse_cdf(&text, workload).expect("a CDF").mean()
}

fn simulate(workload: &str, load: &str) -> Outcome {
    let messages = if ["w2", "w3"].contains(&workload) { 4_000_000 } else { 1_000_000 };
    let text = format!(
        "weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo\", \"ps\", \"sjf\", \"psjf\", \"sf\"]\n\
         [workload]\nload = {load}\nlengths = {{ cdf = \"sizes/homa-{workload}.csv\" }}\n\
         [service]\nrate = \"8Mbit\"\n[stop]\nmessages = {messages}\n[measure]\ntails = false\n"
    );
    let scenario = Scenario::from_toml(&text, "mg1.toml", &data()).expect("a valid scenario");
    let mut control = Control {
        threads: NonZeroUsize::MIN,
        cancel: &AtomicBool::new(false),
        progress: &mut |_| (),
        records: None,
    };
    run(&scenario, &mut control).expect("a result").port().expect("a port")
}

/// The mean of a metric over all messages, and half of its 99 % interval.
fn estimate(outcome: &Outcome, discipline: &str, metric: &str) -> (f64, f64) {
    let figure = outcome.estimates.iter().find(|figure| {
        figure.discipline.as_deref() == Some(discipline)
            && (figure.subject.class.as_str(), figure.metric, figure.statistic) == ("all", metric, "mean")
    });
    let figure = figure.expect("the figure is in every result");
    let method = figure.method.as_deref().expect("it has an interval");
    let groups: u64 = method.split(' ').next().and_then(|n| n.parse().ok()).expect("it says its groups");
    let error = figure.standard_error.expect("it has an interval");
    (figure.value.expect("a value"), student::two_sided(0.99, groups - 1) * error)
}

/// Every check that fails, in words, and how many were made.
fn failures() -> (Vec<String>, usize) {
    let (rows, mut failed) = (reference(), Vec::new());
    for rows in rows.chunk_by(|a, b| (&a.workload, &a.load) == (&b.workload, &b.load)) {
        let (workload, load) = (&rows[0].workload, &rows[0].load);
        let outcome = simulate(workload, load);
        let mean = mean_size(workload) * SECONDS_PER_BYTE;
        for row in rows {
            for (metric, exact) in [("response", row.response * mean), ("slowdown", row.slowdown)] {
                let (found, half) = estimate(&outcome, row.discipline, metric);
                if (found - exact).abs() > half {
                    failed.push(format!(
                        "{workload} at {load}, {}: {metric} {found} ± {half} against {exact}",
                        row.discipline
                    ));
                }
            }
        }
    }
    (failed, 2 * rows.len())
}

#[test]
fn means_are_within_their_intervals_of_the_exact_ones() {
    let (failed, made) = failures();
    assert_eq!(made, 100);
    assert!(failed.is_empty(), "{failed:#?}");
}
