//! The sampler of section 4.1 of the report: cumulative counters, shown as rates over successive intervals.
//!
//! | | |
//! |-|-|
//! | Source | BBN Report 5285, section 4.1 |
//! | Time | whole nanoseconds; intervals count from the beginning of the replication, warm-up included; a rest at its end that is shorter than one is left out |
//! | Work | O(1) for each report, of a span O(intervals that it touches) |
//! | Memory | 8 bytes for each interval of 3 series a process, 2 a queue and 9 a node, at most [`MOST_VALUES`] |

use crate::model::NodeScenario;
use crate::outcome::Samples;
use crate::record::{Path, Sink};
use weir_core::units::{Instant, Nanos};
use weir_lab::error::RunError;

/// The most values that are held.
pub const MOST_VALUES: u64 = 2_000_000;
/// Series of a process: run time, schedulings, wake-ups.
const OF_PROCESS: usize = 3;
/// Series of a queue: messages taken out, length.
const OF_QUEUE: usize = 2;
/// Series of a node: idle, uncharged, the paths, high over low.
const OF_NODE: usize = 3 + Path::COUNT;

/// Samples one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampler {
    interval: u64,
    /// Intervals of a series.
    intervals: usize,
    /// The first series of queues, and of nodes.
    first_queue: usize,
    first_node: usize,
    /// Series by series. A length is stored plus 1; 0 where it did not change in the interval.
    values: Vec<u64>,
}

/// How many series there are.
fn series(node: &NodeScenario) -> usize {
    node.processes.len() * OF_PROCESS + node.queues.len() * OF_QUEUE + node.nodes.len() * OF_NODE
}

/// Whether a scenario's sampling is held.
///
/// # Errors
/// It is more than [`MOST_VALUES`].
pub fn check(node: &NodeScenario) -> Result<(), RunError> {
    let Some(interval) = node.measure.sample else { return Ok(()) };
    let intervals = node.stop.duration.get() / interval.get().max(1);
    let values = intervals.saturating_mul(series(node) as u64);
    if values <= MOST_VALUES {
        return Ok(());
    }
    let least = Nanos::new((node.stop.duration.get() / (MOST_VALUES / series(node) as u64).max(1)).max(1));
    Err(RunError::TooLarge {
        place: "measure.sample".to_owned(),
        reason: format!(
            "is {interval}, which makes {values} values, must make at most {MOST_VALUES}: sample every {least}"
        ),
    })
}

impl Sampler {
    /// Nothing yet; none where a scenario does not ask for it.
    #[must_use]
    pub fn new(node: &NodeScenario) -> Option<Self> {
        let interval = node.measure.sample?.get().max(1);
        let intervals = usize::try_from(node.stop.duration.get() / interval).ok()?;
        let first_queue = node.processes.len() * OF_PROCESS;
        let first_node = first_queue + node.queues.len() * OF_QUEUE;
        let values = vec![0; series(node) * intervals];
        Some(Self { interval, intervals, first_queue, first_node, values })
    }

    /// The value of a series in the interval of an instant.
    #[inline]
    fn at(&mut self, series: usize, at: Instant) -> Option<&mut u64> {
        let interval = (at.get() / self.interval) as usize;
        (interval < self.intervals).then(|| &mut self.values[series * self.intervals + interval])
    }

    #[inline]
    fn count(&mut self, series: usize, at: Instant) {
        if let Some(value) = self.at(series, at) {
            *value += 1;
        }
    }

    /// Adds a span, part by part.
    fn span(&mut self, series: usize, from: Instant, until: Instant) {
        let mut from = from.get();
        while from < until.get() {
            let end = ((from / self.interval + 1) * self.interval).min(until.get());
            let Some(value) = self.at(series, Instant::new(from)) else { return };
            *value += end - from;
            from = end;
        }
    }

    /// The values of a series: spans in milliseconds a second, events per second.
    fn rates(&self, series: usize, is_span: bool) -> Vec<f64> {
        let own = &self.values[series * self.intervals..][..self.intervals];
        let scale = if is_span { 1e3 } else { 1e9 } / self.interval as f64;
        own.iter().map(|&value| value as f64 * scale).collect()
    }

    /// The lengths of a queue at the ends of the intervals.
    fn lengths(&self, series: usize) -> Vec<f64> {
        let own = &self.values[series * self.intervals..][..self.intervals];
        let mut length = 0;
        let each = own.iter().map(|&changed| {
            length = changed.checked_sub(1).unwrap_or(length);
            length as f64
        });
        each.collect()
    }

    /// As a result has them, under the name of a discipline.
    #[must_use]
    pub fn samples(&self, node: &NodeScenario, discipline: &str) -> Vec<Samples> {
        let interval = self.interval as f64 / 1e9;
        let row = |kind, name: &str, metric, unit, values| Samples {
            discipline: discipline.to_owned(),
            kind,
            name: name.to_owned(),
            metric,
            unit,
            interval,
            values,
        };
        let mut rows = Vec::with_capacity(series(node));
        for (place, process) in node.processes.iter().enumerate() {
            let first = place * OF_PROCESS;
            rows.push(row("process", &process.name, "run_time", "ms/s", self.rates(first, true)));
            rows.push(row("process", &process.name, "schedulings", "1/s", self.rates(first + 1, false)));
            rows.push(row("process", &process.name, "wakeups", "1/s", self.rates(first + 2, false)));
        }
        for (place, queue) in node.queues.iter().enumerate() {
            let first = self.first_queue + place * OF_QUEUE;
            rows.push(row("queue", &queue.name, "messages", "1/s", self.rates(first, false)));
            rows.push(row("queue", &queue.name, "length", "1", self.lengths(first + 1)));
        }
        for (place, name) in node.nodes.iter().enumerate() {
            let first = self.first_node + place * OF_NODE;
            rows.push(row("node", name, "idle", "ms/s", self.rates(first, true)));
            rows.push(row("node", name, "uncharged", "ms/s", self.rates(first + 1, true)));
            for (path, metric) in Path::NAMES.into_iter().enumerate() {
                rows.push(row("node", name, metric, "1/s", self.rates(first + 2 + path, false)));
            }
            rows.push(row("node", name, "high_over_low", "1/s", self.rates(first + 2 + Path::COUNT, false)));
        }
        rows
    }
}

impl Sink for Sampler {
    fn path(&mut self, node: usize, at: Instant, path: Path) {
        self.count(self.first_node + node * OF_NODE + 2 + path as usize, at);
    }

    fn high_over_low(&mut self, node: usize, at: Instant) {
        self.count(self.first_node + node * OF_NODE + 2 + Path::COUNT, at);
    }

    fn woke(&mut self, process: usize, at: Instant) {
        self.count(process * OF_PROCESS + 2, at);
    }

    fn dispatched(&mut self, _node: usize, process: usize, at: Instant, _woke: Option<Instant>) {
        self.count(process * OF_PROCESS + 1, at);
    }

    fn ran(&mut self, _node: usize, process: usize, _level: Option<i8>, from: Instant, until: Instant) {
        self.span(process * OF_PROCESS, from, until);
    }

    fn nobody(&mut self, node: usize, overhead: bool, from: Instant, until: Instant) {
        self.span(self.first_node + node * OF_NODE + usize::from(overhead), from, until);
    }

    fn enqueued(&mut self, queue: usize, _process: usize, at: Instant, length: usize) {
        if let Some(value) = self.at(self.first_queue + queue * OF_QUEUE + 1, at) {
            *value = length as u64 + 1;
        }
    }

    fn dequeued(&mut self, queue: usize, process: usize, at: Instant, length: usize, _age: Nanos) {
        self.count(self.first_queue + queue * OF_QUEUE, at);
        self.enqueued(queue, process, at, length);
    }
}
