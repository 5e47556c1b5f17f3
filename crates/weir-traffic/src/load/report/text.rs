//! A report for people: three small tables, which fit where a terminal is narrow.

use core::fmt::Write as _;

use weir_core::units::Nanos;
use weir_gauge::spans::Sojourn;
use weir_gauge::text::{bytes, per_second, span, table};

use super::{Figures, Report};

/// The report as text.
#[must_use]
pub fn text(report: &Report) -> String {
    let Report { target, arrivals, flows, seed, .. } = report;
    let mut text = String::new();
    let size = bytes(u64::from(report.size_bytes));
    let _ = writeln!(text, "to {target}, {arrivals}, {flows} flows, {size}, seed {seed}");
    if report.stopped {
        text.push_str("ended early, when asked to\n");
    }
    let _ = write!(text, "\n{}", requests(report));
    let _ = write!(text, "\nround trips from when requests were due\n{}", trips(report, |class| &class.rtt));
    if report.totals.classes.iter().any(|class| class.rtt_from_kernel.count() > 0) {
        let head = "round trips from the kernel's time stamp of the request";
        let _ = write!(text, "\n{head}\n{}", trips(report, |class| &class.rtt_from_kernel));
    }
    let _ = write!(text, "\nlateness of the generator\n{}", lateness(report));
    beside(&mut text, report);
    text
}

fn requests(report: &Report) -> String {
    let row = |window: String, rate: String, class: &Figures| {
        let counts = [class.sent, class.received, class.lost, class.reordered, class.duplicates];
        let name = class.name.clone();
        [vec![window, rate, name], counts.map(|count| count.to_string()).to_vec()].concat()
    };
    let mut rows = Vec::new();
    for window in &report.windows {
        let rate = per_second(window.rate_per_s);
        rows.extend(window.classes.iter().map(|class| row(window.window.to_string(), rate.clone(), class)));
    }
    rows.extend(report.totals.classes.iter().map(|class| row("all".to_owned(), String::new(), class)));
    table(&["window", "rate", "class", "sent", "answered", "lost", "order", "twice"], 0, &rows)
}

/// Round trips of one kind.
fn trips(report: &Report, of: fn(&Figures) -> &Sojourn) -> String {
    let mut rows = Vec::new();
    for window in &report.windows {
        let row = |class: &Figures| {
            [vec![window.window.to_string(), class.name.clone()], quantiles(of(class))].concat()
        };
        rows.extend(window.classes.iter().map(row));
    }
    let all = |class: &Figures| [vec!["all".to_owned(), class.name.clone()], quantiles(of(class))].concat();
    rows.extend(report.totals.classes.iter().map(all));
    table(&["window", "class", "mean", "p50", "p99", "p99.9", "longest"], 0, &rows)
}

fn lateness(report: &Report) -> String {
    let row = |name: String, late: &Sojourn| [vec![name], quantiles(late)].concat();
    let mut rows: Vec<_> =
        report.windows.iter().map(|window| row(window.window.to_string(), &window.lateness)).collect();
    rows.push(row("all".to_owned(), &report.totals.lateness));
    table(&["window", "mean", "p50", "p99", "p99.9", "longest"], 0, &rows)
}

/// Mean, tails and the longest, or that there are none.
fn quantiles(spans: &Sojourn) -> Vec<String> {
    let Some(mean) = spans.mean() else { return vec!["n/a".to_owned(); 5] };
    let tails = [0.5, 0.99, 0.999].map(|share| spans.quantile(share).unwrap_or_default());
    [&[mean][..], &tails, &[Nanos::new(spans.longest_ns)]].concat().into_iter().map(span).collect()
}

/// What stands below the tables.
fn beside(text: &mut String, report: &Report) {
    let totals = &report.totals;
    for (name, count) in [("late answers", totals.late_answers), ("foreign", totals.foreign)] {
        if count > 0 {
            let _ = writeln!(text, "{name:<13}{count}pkt");
        }
    }
    for (name, count) in &totals.errors {
        let _ = writeln!(text, "{:<13}{name}: {count} times", "error");
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "{:<13}{warning}", "warning");
    }
}
