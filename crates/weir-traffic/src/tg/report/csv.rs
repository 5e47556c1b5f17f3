//! A report as CSV: one row an interval, and one for each pair in all. What there is no figure for is `n/a`.

use core::fmt::Write as _;

use super::{PairReport, Report, Window};

/// The names of the columns, with their units.
pub const COLUMNS: [&str; 22] = [
    "pair",
    "source",
    "sink",
    "window",
    "from_s",
    "until_s",
    "sent_packets",
    "received_packets",
    "lost_packets",
    "reordered_packets",
    "duplicate_packets",
    "offer_bit_s",
    "throughput_bit_s",
    "offer_pct",
    "throughput_pct",
    "delay_mean_s",
    "delay_variance_s2",
    "delay_min_s",
    "delay_p50_s",
    "delay_p90_s",
    "delay_p99_s",
    "delay_max_s",
];

/// The report as CSV, with a header.
#[must_use]
pub fn csv(report: &Report) -> String {
    let mut text = COLUMNS.join(",");
    text.push('\n');
    for (index, pair) in report.pairs.iter().enumerate() {
        for window in &pair.intervals {
            row(&mut text, index + 1, pair, "interval", window);
        }
        row(&mut text, index + 1, pair, "all", &pair.all);
    }
    text
}

fn row(text: &mut String, number: usize, pair: &PairReport, kind: &str, window: &Window) {
    let Window { from_s, until_s, sent, received, lost, reordered, duplicates, .. } = window;
    let (source, sink) = (quoted(&pair.source), quoted(&pair.sink));
    let _ = write!(text, "{number},{source},{sink},{kind},{from_s},{until_s}");
    let _ = write!(text, ",{sent},{received},{lost},{reordered},{duplicates}");
    let _ = write!(text, ",{},{}", window.offer_bit_s, window.throughput_bit_s);
    let delay = window.delay.as_ref();
    let figures = [
        window.offer_pct,
        window.throughput_pct,
        delay.map(|delay| delay.mean_s),
        delay.and_then(|delay| delay.variance_s2),
        delay.map(|delay| delay.min_s),
        delay.map(|delay| delay.p50_s),
        delay.map(|delay| delay.p90_s),
        delay.map(|delay| delay.p99_s),
        delay.map(|delay| delay.max_s),
    ];
    for figure in figures {
        let _ = match figure {
            Some(figure) => write!(text, ",{figure}"),
            None => write!(text, ",n/a"),
        };
    }
    text.push('\n');
}

/// A name as a field: in quotes where it has to be.
fn quoted(name: &str) -> String {
    if name.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
