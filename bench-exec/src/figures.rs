//! What was measured: figures by name, gathered over rounds, printed as medians between the least and the largest.

use std::collections::BTreeMap;

/// Figures of one round, in the order in which they are shown.
pub type Figures = Vec<(&'static str, f64)>;

/// The value below which so many of a thousand samples lie; nothing of none.
pub fn quantile(samples: &mut [u64], permille: usize) -> f64 {
    if samples.is_empty() {
        return f64::NAN;
    }
    samples.sort_unstable();
    samples[(samples.len() * permille / 1000).min(samples.len() - 1)] as f64
}

fn median(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The figures of all rounds.
#[derive(Default)]
pub struct Table {
    runners: Vec<String>,
    columns: Vec<&'static str>,
    values: BTreeMap<(usize, usize), Vec<f64>>,
}

fn place<T: PartialEq<U>, U>(list: &mut Vec<T>, one: U, own: impl FnOnce(U) -> T) -> usize {
    list.iter().position(|other| *other == one).unwrap_or_else(|| {
        list.push(own(one));
        list.len() - 1
    })
}

impl Table {
    pub fn add(&mut self, runner: &str, figures: Figures) {
        let row = place(&mut self.runners, runner, str::to_owned);
        for (column, value) in figures {
            let column = place(&mut self.columns, column, |column| column);
            self.values.entry((row, column)).or_default().push(value);
        }
    }

    /// The median of a figure over the rounds.
    pub fn median(&self, runner: &str, column: &str) -> f64 {
        let row = self.runners.iter().position(|one| one == runner);
        let column = self.columns.iter().position(|one| *one == column);
        let values = row.zip(column).and_then(|place| self.values.get(&place));
        values.map_or(f64::NAN, |values| median(values))
    }

    pub fn print(&self) {
        println!("| | {} |", self.columns.join(" | "));
        println!("|---|{}", "---|".repeat(self.columns.len()));
        for (row, runner) in self.runners.iter().enumerate() {
            let cells = (0..self.columns.len()).map(|column| match self.values.get(&(row, column)) {
                Some(values) => spread(values),
                None => String::new(),
            });
            println!("| {runner} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
    }
}

fn spread(values: &[f64]) -> String {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match median(values) {
        value if value.is_nan() => "—".to_owned(),
        value if low == high => short(value),
        value => format!("{} ({} to {})", short(value), short(low), short(high)),
    }
}

/// Three digits, and no fewer than are before the point.
pub fn short(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}
