//! A replication over time, window by window, where `measure.over_time` asks for it.
//!
//! | metric | statistic | of | of a window |
//! |---|---|---|---|
//! | `inside` | mean | all | messages from their arrival to the end of their service, over time |
//! | `throughput` | share | all | what the messages that leave in it take at the mean service, of its length |
//! | `departed` | count | all | messages that leave in it |
//! | `latency`, or `response` | mean | all, and each class | of these |
//! | | p50, p99 | all | of at least 10 and 100 of these |
//!
//! A message belongs to the window in which it leaves. Windows go from the beginning, warm-up included, to the last that is whole when
//! the last message leaves; a replication of a fixed number of messages has no fixed length, so there are as many as the shortest
//! replication has. Who is never served is not counted.
//!
//! | | |
//! |-|-|
//! | Work | O(1) a message |
//! | Memory | a histogram a window, 24 bytes a window and class |
//! | Units | ticks; figures in the unit of time of the scenario |

use crate::collector::Metric;
use crate::figures::time_unit;
use crate::gathered::CLOCK;
use crate::model::PortScenario;
use std::sync::Arc;
use weir_core::units::Nanos;
use weir_lab::record::Departure;
use weir_lab::stats::windows::{self, FEWEST, Figures};
use weir_lab::stats::{Areas, Histogram};

/// Windows are kept up to this many times the expected length of a replication.
const MARGIN: f64 = 1.5;

/// Which windows there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// In ticks.
    length: u64,
    /// Where the last ends, in ticks.
    end: u64,
    /// Ticks in one unit of reported time.
    clock: f64,
    /// Ticks that a unit of length takes in the mean.
    service: f64,
    metric: Metric,
    unit: &'static str,
    classes: Vec<String>,
}

impl Course {
    /// The windows of a scenario that asks for some.
    #[must_use]
    pub fn new(port: &PortScenario, metric: Metric) -> Option<Arc<Self>> {
        let over_time = port.measure.over_time?;
        let length = port.ticks.of_span(over_time.window).get().max(1);
        let expected = port.ticks.of_span(over_time.expected).get() as f64;
        let end = windows::count(Nanos::new(length), Nanos::new((expected * MARGIN) as u64)).max(1);
        Some(Arc::new(Self {
            length,
            end: end.saturating_mul(length),
            clock: port.ticks.of_nanoseconds(CLOCK),
            service: port.ticks.of_nanoseconds(port.service.mean_per_unit()),
            metric,
            unit: time_unit(port),
            classes: port.classes.names(port.unit.symbol()),
        }))
    }
}

/// The messages that leave in one window.
#[derive(Clone, Debug, Default)]
struct Came {
    lengths: u64,
    times: Histogram,
    /// By class, how many, and the sum of their times.
    classes: Vec<(u64, u128)>,
}

/// Collects windows of one replication of one discipline.
#[derive(Clone, Debug)]
pub struct Windows {
    course: Arc<Course>,
    inside: Areas,
    came: Vec<Came>,
    /// When the last left.
    last: u64,
}

/// How many rows of figures there are.
#[must_use]
pub fn rows(classes: usize) -> u64 {
    6 + classes as u64
}

impl Windows {
    /// Nothing yet.
    #[must_use]
    pub fn new(course: Arc<Course>) -> Self {
        let inside = Areas::new(course.length, course.end);
        let came = Came { classes: vec![(0, 0); course.classes.len()], ..Came::default() };
        let came = vec![came; (course.end / course.length) as usize];
        Self { course, inside, came, last: 0 }
    }

    /// A message has left.
    pub fn departed(&mut self, departure: &Departure) {
        let leaves = departure.completion.get();
        self.inside.add(departure.arrival.get(), leaves);
        self.last = self.last.max(leaves);
        let Some(came) = self.came.get_mut((leaves / self.course.length) as usize) else { return };
        let time = self.course.metric.of(departure);
        came.lengths += u64::from(departure.length);
        came.times.record(time);
        if let Some((count, sum)) = came.classes.get_mut(usize::from(departure.class)) {
            *count += 1;
            *sum += u128::from(time);
        }
    }

    /// The windows that are whole: of all, then of each class.
    #[must_use]
    pub fn figures(&self) -> Vec<Figures> {
        let course = &*self.course;
        let whole = self.came.len().min((self.last / course.length) as usize);
        let came = &self.came[..whole];
        let (name, unit) = (course.metric.name(), course.unit);
        let each = |of: &dyn Fn(&Came) -> Option<f64>| came.iter().map(of).collect();
        let time = |ticks: f64| ticks / course.clock;
        let quantile = |p: f64, least: u64| {
            each(&|came| came.times.quantile(p).filter(|_| came.times.count() >= least).map(time))
        };
        let mean = |count: u64, sum: u128| (count > 0).then(|| time(sum as f64 / count as f64));
        let of_all = |came: &Came| {
            let sum = came.classes.iter().fold((0, 0), |all, own| (all.0 + own.0, all.1 + own.1));
            mean(sum.0, sum.1)
        };
        let share = |came: &Came| Some(came.lengths as f64 * course.service / course.length as f64);
        let of_class = |(class, name_of_class): (usize, &String)| {
            let values = each(&|came| mean(came.classes[class].0, came.classes[class].1));
            Figures::new(name, "mean", unit, values).of(name_of_class)
        };
        let inside = self.inside.means().into_iter().take(whole).map(Some).collect();
        let all = [
            Figures::new("inside", "mean", "msg", inside),
            Figures::new("throughput", "share", "1", each(&share)),
            Figures::new("departed", "count", "msg", each(&|came| Some(came.times.count() as f64))),
            Figures::new(name, "mean", unit, each(&of_all)),
            Figures::new(name, "p50", unit, quantile(0.5, FEWEST[0])),
            Figures::new(name, "p99", unit, quantile(0.99, FEWEST[1])),
        ];
        all.into_iter().chain(course.classes.iter().enumerate().map(of_class)).collect()
    }
}

#[cfg(test)]
mod tests;
