//! Takes all that is kept of a run: the collector's counts, and of the first replication samples and a timeline.

use crate::collector::Collector;
use crate::job::Job;
use crate::model::NodeScenario;
use crate::outcome::{Samples, Timeline};
use crate::record::{Path, Sink};
use crate::sampler::Sampler;
use crate::timeline::Gantt;
use weir_core::units::{Instant, Nanos};

/// Records one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorder {
    collector: Collector,
    sampler: Option<Sampler>,
    timeline: Option<Gantt>,
}

/// What is shown of a run as it went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// What the sampler saw.
    pub samples: Vec<Samples>,
    /// Who ran when.
    pub timeline: Option<Timeline>,
}

impl Recorder {
    /// Nothing yet.
    #[must_use]
    pub fn new(node: &NodeScenario, job: Job) -> Self {
        let first = job.replication == 0;
        Self {
            collector: Collector::new(node),
            sampler: Sampler::new(node).filter(|_| first),
            timeline: Gantt::new(node).filter(|_| first),
        }
    }

    /// What was counted, and what is shown under the name of a discipline.
    #[must_use]
    pub fn ended(self, node: &NodeScenario, discipline: &str) -> (Collector, Shown) {
        let samples = self.sampler.map(|sampler| sampler.samples(node, discipline));
        let timeline = self.timeline.map(|timeline| timeline.timeline(discipline));
        (self.collector, Shown { samples: samples.unwrap_or_default(), timeline })
    }

    /// The timeline, while it has not ended.
    #[inline]
    fn timeline(&mut self, at: Instant) -> Option<&mut Gantt> {
        self.timeline.as_mut().filter(|timeline| at < timeline.until())
    }
}

/// Tells the collector, the sampler where there is one, and the timeline while `$at` is before its end.
macro_rules! tell {
    ($self:ident, $at:ident: $told:ident($($what:ident),+)) => {
        $self.collector.$told($($what),+);
        if let Some(sampler) = &mut $self.sampler {
            sampler.$told($($what),+);
        }
        if let Some(timeline) = $self.timeline($at) {
            timeline.$told($($what),+);
        }
    };
}

impl Sink for Recorder {
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
