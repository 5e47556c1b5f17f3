//! A report for people: a table, or where the terminal is narrow a few lines for each interval.

use core::fmt::Write as _;

use weir_core::units::{Nanos, Rate};
use weir_gauge::text::{self, packets, span};

use super::{Delay, PairReport, Report, Window};

/// The report as text, for a terminal of `columns` columns.
#[must_use]
pub fn text(report: &Report, columns: usize) -> String {
    let mut text = String::new();
    for (index, pair) in report.pairs.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        let _ = writeln!(text, "{} -> {}", pair.source, pair.sink);
        if let Some(rate) = report.rate_bit_s {
            let _ = writeln!(text, "IP bytes in percent of {}", Rate::new(rate));
        }
        let mut figures = String::new();
        table(&mut figures, pair, report.rate_bit_s.is_some());
        if figures.lines().any(|line| line.len() > columns) {
            figures.clear();
            lines(&mut figures, pair);
        }
        text.push_str(&figures);
        beside(&mut text, pair);
    }
    text
}

fn table(text: &mut String, pair: &PairReport, percent: bool) {
    let unit = if percent { "%" } else { "kbit/s" };
    let head = ["from", "until", "offer", "through", "delay", "p99", "max", "lost", "order", "twice"];
    let units = ["s", "s", unit, unit, "ms", "ms", "ms", "pkt", "pkt", "pkt"].map(str::to_owned).to_vec();
    let mut rows = vec![units];
    rows.extend(pair.intervals.iter().map(row));
    let mut all = row(&pair.all);
    (all[0], all[1]) = ("in".to_owned(), "all".to_owned());
    rows.push(all);
    text.push_str(&text::table(&head, 0, &rows));
}

fn row(window: &Window) -> Vec<String> {
    let delay = |figure: fn(&Delay) -> f64| milliseconds(window.delay.as_ref().map(figure));
    vec![
        format!("{:.1}", window.from_s),
        format!("{:.1}", window.until_s),
        rate(window.offer_pct, window.offer_bit_s),
        rate(window.throughput_pct, window.throughput_bit_s),
        delay(|delay| delay.mean_s),
        delay(|delay| delay.p99_s),
        delay(|delay| delay.max_s),
        window.lost.to_string(),
        window.reordered.to_string(),
        window.duplicates.to_string(),
    ]
}

/// In percent, or in kbit/s.
fn rate(percent: Option<f64>, bits: f64) -> String {
    percent.map_or_else(|| format!("{:.1}", bits / 1e3), |percent| format!("{percent:.2}"))
}

fn milliseconds(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "n/a".to_owned(), |seconds| format!("{:.3}", seconds * 1e3))
}

fn lines(text: &mut String, pair: &PairReport) {
    for window in &pair.intervals {
        let _ = writeln!(text, "{:.1} s to {:.1} s", window.from_s, window.until_s);
        figures(text, window);
    }
    let _ = writeln!(text, "in all, {:.1} s to {:.1} s", pair.all.from_s, pair.all.until_s);
    figures(text, &pair.all);
}

fn figures(text: &mut String, window: &Window) {
    let unit = if window.offer_pct.is_some() { "%" } else { "kbit/s" };
    let _ = writeln!(text, "  offer      {} {unit}", rate(window.offer_pct, window.offer_bit_s));
    let _ = writeln!(text, "  throughput {} {unit}", rate(window.throughput_pct, window.throughput_bit_s));
    if let Some(delay) = &window.delay {
        let [mean, p99, max] =
            [delay.mean_s, delay.p99_s, delay.max_s].map(|figure| milliseconds(Some(figure)));
        let _ = writeln!(text, "  delay      {mean} ms\n  p99, max   {p99} ms, {max} ms");
    }
    for (name, count) in
        [("lost", window.lost), ("reordered", window.reordered), ("twice", window.duplicates)]
    {
        if count > 0 {
            let _ = writeln!(text, "  {name:<10} {}", packets(count));
        }
    }
}

/// What stands below the table.
fn beside(text: &mut String, pair: &PairReport) {
    if let Some(delay) = &pair.all.delay {
        let variance = delay.variance_s2.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.3e} s^2"));
        let [min, p50, p90] =
            [delay.min_s, delay.p50_s, delay.p90_s].map(|figure| milliseconds(Some(figure)));
        let _ = writeln!(text, "delay     min {min} ms, p50 {p50} ms, p90 {p90} ms\nvariance  {variance}");
    }
    let Window { sent, received, .. } = pair.all;
    let _ = writeln!(text, "packets   {sent} sent, {received} received");
    if pair.counts.send_errors > 0 {
        let _ = writeln!(text, "errors    {} of sending", pair.counts.send_errors);
    }
    if let Some(late) = &pair.lateness {
        let [p50, p99, max] = [late.p50_ns, late.p99_ns, late.max_ns].map(|nanos| span(Nanos::new(nanos)));
        let _ = writeln!(text, "lateness  p50 {p50}, p99 {p99}, max {max}");
    }
    for warning in &pair.warnings {
        let _ = writeln!(text, "warning   {warning}");
    }
}
