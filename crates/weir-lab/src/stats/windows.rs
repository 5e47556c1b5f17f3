//! Figures of successive windows of equal length, which cut a run from its beginning to its end, warm-up included.
//!
//! A replication leaves [`Figures`]: a value a window. Of one replication they are one course of events, without an interval; of
//! several, [`over_replications`] gives the mean of each window with its 95 % interval, by Student's t, as of any other mean over
//! replications. A window without a value in some replication has the mean of the others.
//!
//! | | |
//! |-|-|
//! | Work | O(windows x replications) a row |
//! | Memory | the values |

use serde::Serialize;
use weir_core::units::Nanos;

use super::replications;

/// The fewest items of which a window has a median, and a 99th percentile.
pub const FEWEST: [u64; 2] = [10, 100];

/// The most windows of a run, each with a histogram.
pub const MOST: u64 = 10_000;

/// Figures of successive windows under a discipline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverTimeRow {
    /// The discipline.
    pub discipline: String,
    /// What they are of, where that is not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What they are: `queue`, `utilisation`, `delay`, …
    pub metric: String,
    /// `mean`, `count`, `share`, `p50` or `p99`.
    pub statistic: String,
    /// The unit of the values.
    pub unit: String,
    /// The length of a window, in seconds; the n-th value is of the n-th window, which begins n - 1 lengths after the beginning.
    pub interval: f64,
    /// The values; `None` where a window has too few items for one.
    pub values: Vec<Option<f64>>,
    /// The lower ends of their 95 % intervals over replications; `None` where fewer than two have a value.
    pub low: Vec<Option<f64>>,
    /// The upper ends.
    pub high: Vec<Option<f64>>,
}

/// Figures of one replication, without the name of its discipline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    name: Option<String>,
    metric: String,
    statistic: String,
    unit: String,
    values: Vec<Option<f64>>,
}

impl Figures {
    /// Of all together.
    #[must_use]
    pub fn new(metric: &str, statistic: &str, unit: &str, values: Vec<Option<f64>>) -> Self {
        Self {
            name: None,
            metric: metric.to_owned(),
            statistic: statistic.to_owned(),
            unit: unit.to_owned(),
            values,
        }
    }

    /// The same of what has this name.
    #[must_use]
    pub fn of(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    fn row(&self, discipline: &str, length: Nanos) -> OverTimeRow {
        OverTimeRow {
            discipline: discipline.to_owned(),
            name: self.name.clone(),
            metric: self.metric.clone(),
            statistic: self.statistic.clone(),
            unit: self.unit.clone(),
            interval: length.get() as f64 / 1e9,
            values: self.values.clone(),
            low: Vec::new(),
            high: Vec::new(),
        }
    }
}

/// How many windows of this length there are up to an end; the last may be cut off by it.
#[must_use]
pub fn count(length: Nanos, end: Nanos) -> u64 {
    end.get().div_ceil(length.get().max(1))
}

/// The rows of several replications, which have the same figures in the same order: means with their intervals, of as many windows
/// as the shortest has.
#[must_use]
pub fn over_replications(discipline: &str, length: Nanos, each: &[&[Figures]]) -> Vec<OverTimeRow> {
    let Some(first) = each.first() else { return Vec::new() };
    let row = |(place, figures): (usize, &Figures)| {
        let counts = each.iter().filter_map(|one| one.get(place)).map(|figures| figures.values.len());
        let windows = 0..counts.min().unwrap_or(0);
        let measures = windows.map(|window| {
            let value = |one: &&[Figures]| one.get(place)?.values.get(window).copied().flatten();
            let values: Vec<f64> = each.iter().filter_map(value).collect();
            match values[..] {
                [] => (None, None, None),
                [one] => (Some(one), None, None),
                _ => {
                    let mean = replications::mean(&values);
                    let estimate = mean.as_estimate();
                    (mean.value(), estimate.map(|it| it.low()), estimate.map(|it| it.high()))
                }
            }
        });
        let mut row = OverTimeRow { values: Vec::new(), ..figures.row(discipline, length) };
        for (value, low, high) in measures {
            row.values.push(value);
            row.low.push(low);
            row.high.push(high);
        }
        row
    };
    first.iter().enumerate().map(row).collect()
}

crate::encode! {
    Figures { name, metric, statistic, unit, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(values: &[Option<f64>]) -> Vec<Figures> {
        vec![Figures::new("queue", "mean", "pkt", values.to_vec()).of("link")]
    }

    #[test]
    fn windows_have_means_and_intervals_over_replications() {
        let each = [[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]].map(|values| figures(&values.map(Some)));
        let each: Vec<&[Figures]> = each.iter().map(Vec::as_slice).collect();
        let rows = over_replications("fifo", Nanos::new(500), &each);
        assert_eq!((rows.len(), rows[0].name.as_deref(), rows[0].interval), (1, Some("link"), 5e-7));
        assert_eq!(rows[0].values, [Some(2.0), Some(2.0)]);
        // Three of a standard deviation of 1: 4.302653 / sqrt 3.
        let half = 4.302_652_73 / 3_f64.sqrt();
        let near = |found: Option<f64>, expected: f64| (found.expect("an end") - expected).abs() < 1e-6;
        assert!(near(rows[0].low[0], 2.0 - half) && near(rows[0].high[0], 2.0 + half), "{rows:?}");
        assert!(near(rows[0].low[1], 2.0) && near(rows[0].high[1], 2.0), "{rows:?}");
    }

    #[test]
    fn a_window_that_is_missing_somewhere_has_what_there_is() {
        let each = [figures(&[None, Some(1.0), None]), figures(&[Some(4.0), Some(3.0), None])];
        let each: Vec<&[Figures]> = each.iter().map(Vec::as_slice).collect();
        let row = over_replications("fifo", Nanos::new(1), &each).remove(0);
        assert_eq!(row.values, [Some(4.0), Some(2.0), None]);
        assert_eq!((row.low[0], row.low[1].is_some(), row.low[2]), (None, true, None));
        assert!(over_replications("fifo", Nanos::new(1), &[]).is_empty());
    }

    #[test]
    fn the_last_window_may_be_cut_off() {
        assert_eq!(count(Nanos::new(10), Nanos::new(30)), 3);
        assert_eq!(count(Nanos::new(10), Nanos::new(31)), 4);
        assert_eq!(count(Nanos::new(50), Nanos::new(31)), 1);
    }
}
