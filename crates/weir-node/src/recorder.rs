//! Takes all that is kept of a run: the collector's counts, of the first replication samples and a timeline, and responses one by
//! one where they are recorded.

use crate::collector::Collector;
use crate::job::Job;
use crate::model::NodeScenario;
use crate::outcome::{Samples, Timeline};
use crate::over_time::Windows;
use crate::record::{Path, Sink};
use crate::sampler::Sampler;
use crate::timeline::Gantt;
use weir_core::units::{Instant, Nanos};
use weir_lab::stats::windows::Figures;

/// Records one run.
pub struct Recorder<'o> {
    collector: Collector,
    beside: Option<Box<Beside<'o>>>,
}

/// What is kept besides counts, if anything.
struct Beside<'o> {
    windows: Option<Windows>,
    sampler: Option<Sampler>,
    timeline: Option<Gantt>,
    other: Option<&'o mut dyn Sink>,
}

/// What is shown of a run as it went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// What the sampler saw.
    pub samples: Vec<Samples>,
    /// Who ran when.
    pub timeline: Option<Timeline>,
}

impl<'o> Recorder<'o> {
    /// Nothing yet.
    #[must_use]
    pub fn new(node: &NodeScenario, job: Job) -> Self {
        Self::with(node, job, None)
    }

    /// The same; another sink gets every report too.
    #[must_use]
    pub fn with(node: &NodeScenario, job: Job, other: Option<&'o mut dyn Sink>) -> Self {
        let first = job.replication == 0;
        let sampler = Sampler::new(node).filter(|_| first);
        let timeline = Gantt::new(node).filter(|_| first);
        let windows = Windows::new(node);
        let is_any = sampler.is_some() || timeline.is_some() || windows.is_some() || other.is_some();
        let beside = is_any.then(|| Box::new(Beside { windows, sampler, timeline, other }));
        Self { collector: Collector::new(node), beside }
    }

    /// What was counted, what is shown under the name of a discipline, and the figures of windows over time.
    #[must_use]
    pub fn ended(self, node: &NodeScenario, discipline: &str) -> (Collector, Shown, Vec<Figures>) {
        let Some(beside) = self.beside else { return (self.collector, Shown::default(), Vec::new()) };
        let windows = beside.windows.map_or_else(Vec::new, |windows| windows.figures(node));
        let samples = beside.sampler.map(|sampler| sampler.samples(node, discipline));
        let timeline = beside.timeline.map(|timeline| timeline.timeline(discipline));
        (self.collector, Shown { samples: samples.unwrap_or_default(), timeline }, windows)
    }
}

impl Beside<'_> {
    /// The timeline, while it has not ended.
    #[inline]
    fn timeline(&mut self, at: Instant) -> Option<&mut Gantt> {
        self.timeline.as_mut().filter(|timeline| at < timeline.until())
    }
}

/// Tells the collector, the windows, the sampler and the other sink where there are any, and the timeline while `$at` is before its end.
macro_rules! tell {
    ($self:ident, $at:ident: $told:ident($($what:ident),+)) => {
        $self.collector.$told($($what),+);
        if let Some(beside) = &mut $self.beside {
            if let Some(windows) = &mut beside.windows {
                windows.$told($($what),+);
            }
            if let Some(sampler) = &mut beside.sampler {
                sampler.$told($($what),+);
            }
            if let Some(timeline) = beside.timeline($at) {
                timeline.$told($($what),+);
            }
            if let Some(other) = &mut beside.other {
                other.$told($($what),+);
            }
        }
    };
}

impl Sink for Recorder<'_> {
    #[inline]
    fn path(&mut self, node: usize, at: Instant, path: Path) {
        tell!(self, at: path(node, at, path));
    }

    #[inline]
    fn high_over_low(&mut self, node: usize, at: Instant) {
        tell!(self, at: high_over_low(node, at));
    }

    #[inline]
    fn woke(&mut self, process: usize, at: Instant) {
        tell!(self, at: woke(process, at));
    }

    #[inline]
    fn dispatched(&mut self, node: usize, process: usize, at: Instant, woke: Option<Instant>) {
        tell!(self, at: dispatched(node, process, at, woke));
    }

    #[inline]
    fn ran(&mut self, node: usize, process: usize, level: Option<i8>, from: Instant, until: Instant) {
        tell!(self, from: ran(node, process, level, from, until));
    }

    #[inline]
    fn nobody(&mut self, node: usize, overhead: bool, from: Instant, until: Instant) {
        tell!(self, from: nobody(node, overhead, from, until));
    }

    #[inline]
    fn waits(&mut self, process: usize, at: Instant, since: Instant) {
        tell!(self, at: waits(process, at, since));
    }

    fn responded(&mut self, process: usize, at: Instant, since: Instant) {
        tell!(self, at: responded(process, at, since));
    }

    fn unfinished(&mut self, process: usize, at: Instant, since: Instant) {
        tell!(self, at: unfinished(process, at, since));
    }

    #[inline]
    fn enqueued(&mut self, queue: usize, process: usize, at: Instant, length: usize) {
        tell!(self, at: enqueued(queue, process, at, length));
    }

    #[inline]
    fn dequeued(&mut self, queue: usize, process: usize, at: Instant, length: usize, age: Nanos) {
        tell!(self, at: dequeued(queue, process, at, length, age));
    }

    fn epoch(&mut self, at: Instant, always_ready: &dyn Fn(usize) -> bool) {
        tell!(self, at: epoch(at, always_ready));
    }

    #[inline]
    fn critical(&mut self, node: usize, at: Instant, begins: Instant) {
        tell!(self, at: critical(node, at, begins));
    }

    #[inline]
    fn moved(&mut self, process: usize, node: usize, at: Instant) {
        tell!(self, at: moved(process, node, at));
    }
}

weir_lab::encode! {
    Shown { samples, timeline }
}
