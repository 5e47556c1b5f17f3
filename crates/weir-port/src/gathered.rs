//! What all replications of one discipline gave, put together in the order of the replications.

use crate::audit::Audited;
use crate::collector::{Collector, Metric, Plan, SLOWDOWN_BITS};
use crate::engine::State;
use std::borrow::Cow;
use std::sync::OnceLock;
use weir_core::units::Nanos;
use weir_document::NamedDiscipline;
use weir_lab::stats::windows::Figures;
use weir_lab::stats::{Histogram, Linearised, Measure, Pool, Ranked, Tail, Unavailable, replications, tail};

/// Nanoseconds in one unit of reported time: of a second, and of `u`.
pub const CLOCK: f64 = 1e9;

/// The fewest sections of all replications whose quantiles give the intervals of the whole's.
pub const SECTIONS: usize = 20;

/// What one discipline left in one replication.
#[derive(Debug)]
pub struct Left {
    /// Its place in the scenario's list.
    pub place: usize,
    /// The engine that ran it.
    pub engine: &'static str,
    /// What was collected.
    pub collector: Collector,
    /// The counters of the engine.
    pub state: State,
    /// What verification found.
    pub audited: Option<Audited>,
    /// Figures of windows over time.
    pub windows: Vec<Figures>,
}

/// One discipline over all replications.
#[derive(Debug)]
pub struct Gathered {
    /// Its name.
    pub name: String,
    /// The engine that ran it.
    pub engine: &'static str,
    /// The metrics, in the order of the series.
    pub metrics: Vec<Metric>,
    /// How many classes there are.
    pub classes: usize,
    /// Ticks of the engine's clock in one unit of reported time.
    pub clock: f64,
    /// The counters of each replication.
    pub states: Vec<State>,
    /// What verification found.
    pub audited: Option<Audited>,
    /// Figures of windows over time, of each replication, where there are any.
    pub windows: Vec<Vec<Figures>>,
    /// Units of length served, by flow.
    pub served: Vec<u64>,
    /// Messages counted and their lengths together, by class.
    pub lengths: Vec<(u64, u64)>,
    tails: bool,
    is_one_sample: bool,
    replications: u32,
    pool: Pool,
    queue: Pool,
    sections: Vec<Vec<Histogram>>,
    /// The means of metrics, of all and by class, as they are asked for; each is, several times.
    means: Vec<OnceLock<Result<Mean, Unavailable>>>,
}

/// A mean, with the interval that its batches give it.
#[derive(Clone, Debug)]
struct Mean {
    linearised: Linearised,
    measure: Measure,
}

impl Gathered {
    /// Nothing yet.
    #[must_use]
    pub fn new(named: &NamedDiscipline, plan: &Plan, clock: f64, replications: u32) -> Self {
        let (classes, flows) = (plan.classes, plan.flows);
        Self {
            name: named.name.clone(),
            engine: "",
            metrics: plan.metrics.clone(),
            classes,
            clock,
            tails: plan.tails,
            is_one_sample: plan.is_one_sample,
            replications,
            states: Vec::new(),
            audited: None,
            windows: Vec::new(),
            served: vec![0; flows],
            lengths: vec![(0, 0); classes],
            pool: Pool::new(),
            queue: Pool::new(),
            sections: Vec::new(),
            means: vec![OnceLock::new(); plan.metrics.len() * (classes + 1)],
        }
    }

    /// Adds the next replication.
    pub fn add(&mut self, replication: u32, left: Left) {
        let Left { place: _, engine, mut collector, state, audited, windows } = left;
        if self.is_one_sample {
            collector.merge_all();
        }
        self.windows.push(windows);
        self.engine = engine;
        self.states.push(state);
        self.served.iter_mut().zip(&collector.served).for_each(|(own, more)| *own += more);
        for (own, more) in self.lengths.iter_mut().zip(&collector.lengths) {
            own.0 += more.0;
            own.1 += more.1;
        }
        if let Some(more) = audited {
            let sum = self.audited.get_or_insert_default();
            sum.compared += more.compared;
            sum.violated += more.violated;
        }
        self.means.iter_mut().for_each(|mean| *mean = OnceLock::new());
        self.pool.push(collector.batches);
        self.queue.push(collector.queue);
        self.add_sections(replication, collector.sections);
    }

    /// Few replications bring sections of their own; many share [`SECTIONS`] of them, in their order, so
    /// that memory does not grow with their number.
    fn add_sections(&mut self, replication: u32, sections: Vec<Vec<Histogram>>) {
        let replications = self.replications as usize;
        if replications <= SECTIONS {
            self.sections.extend(sections);
            return;
        }
        let group = replication as usize * SECTIONS / replications;
        for section in sections {
            match self.sections.get_mut(group) {
                Some(held) => held.iter_mut().zip(&section).for_each(|(own, more)| own.merge(more)),
                None => self.sections.push(section),
            }
        }
    }

    /// Whether quantiles and distributions were measured.
    #[must_use]
    pub fn has_tails(&self) -> bool {
        self.tails
    }

    /// The series of a metric: of one class, or of all.
    fn series(&self, metric: usize, class: Option<usize>) -> Vec<usize> {
        let first = metric * self.classes;
        class.map_or_else(|| (first..first + self.classes).collect(), |class| vec![first + class])
    }

    /// The mean of a metric, in reported units.
    pub fn mean(&self, metric: usize, class: Option<usize>) -> Result<&Linearised, Unavailable> {
        self.known(metric, class).map(|mean| &mean.linearised)
    }

    /// The same with its interval.
    pub fn mean_measured(&self, metric: usize, class: Option<usize>) -> Measure {
        self.known(metric, class).map_or_else(Measure::from, |mean| mean.measure)
    }

    fn known(&self, metric: usize, class: Option<usize>) -> Result<&Mean, Unavailable> {
        let place = metric * (self.classes + 1) + class.map_or(0, |class| class + 1);
        let made = self.means[place].get_or_init(|| {
            let mean = self.pool.mean(&self.series(metric, class))?;
            let linearised = mean.times(self.scale(self.metrics[metric]));
            Ok(Mean { measure: linearised.estimate(), linearised })
        });
        made.as_ref().map_err(|&reason| reason)
    }

    /// The mean of the first metric for one flow, in reported units.
    pub fn flow_mean(&self, flow: usize) -> Result<Linearised, Unavailable> {
        let mean = self.pool.mean(&[self.metrics.len() * self.classes + flow])?;
        Ok(mean.times(self.scale(self.metrics[0])))
    }

    /// The share of a flow in all that is served.
    pub fn flow_share(&self, flow: usize) -> Result<Linearised, Unavailable> {
        let flows = self.served.len();
        let first = self.metrics.len() * self.classes + flows;
        self.pool.share(&[first + flow], &(first..first + flows).collect::<Vec<_>>())
    }

    /// The mean number of packets waiting, by the queue monitor.
    pub fn queue_length(&self) -> Result<Linearised, Unavailable> {
        self.queue.mean(&[0])
    }

    /// The histograms of a metric, section by section.
    #[must_use]
    pub fn histograms<'a>(&'a self, metric: usize, class: Option<usize>) -> Vec<Cow<'a, Histogram>> {
        let first = metric * self.classes;
        let of_section = |section: &'a Vec<Histogram>| match class {
            Some(class) => Cow::Borrowed(&section[first + class]),
            None => Cow::Owned(Histogram::of_all(section[first..first + self.classes].iter())),
        };
        self.sections.iter().map(of_section).collect()
    }

    /// The histogram of a metric, all sections together.
    #[must_use]
    pub fn histogram(&self, metric: usize, class: Option<usize>) -> Histogram {
        let series = self.series(metric, class);
        Histogram::of_all(self.sections.iter().flat_map(|section| series.iter().map(|&at| &section[at])))
    }

    /// The shortest of a metric that was seen, in reported units; 0 where there are no histograms.
    #[must_use]
    pub fn least(&self, metric: usize, class: Option<usize>) -> f64 {
        let series = self.series(metric, class);
        let each = self.sections.iter().flat_map(|section| series.iter().map(|&at| &section[at]));
        let least = each.filter_map(Histogram::minimum).min();
        least.map_or(0.0, |least| least as f64 * self.scale(self.metrics[metric]))
    }

    /// The histograms of the first metric of a flow, section by section; none where there are too many flows.
    #[must_use]
    pub fn flow_histograms(&self, flow: usize) -> Vec<Cow<'_, Histogram>> {
        let at = self.metrics.len() * self.classes + flow;
        self.sections.iter().filter_map(|section| section.get(at)).map(Cow::Borrowed).collect()
    }

    /// Quantiles of a metric, in reported units, from its histograms section by section.
    pub fn quantiles<const KEPT: usize>(
        &self,
        metric: usize,
        histograms: &[Cow<'_, Histogram>],
        levels: [f64; KEPT],
    ) -> [Measure; KEPT] {
        let all = Histogram::of_all(histograms.iter().map(Cow::as_ref));
        let chain = [histograms.iter().map(|section| Tail::new(section)).collect()];
        let ranked = Ranked::new(&all);
        levels.map(|p| tail::quantile(&ranked, &chain, p).times(self.scale(self.metrics[metric])))
    }

    /// The largest value of a metric, in reported units.
    pub fn maximum(&self, metric: usize, histograms: &[Cow<'_, Histogram>]) -> Measure {
        replications::maximum(histograms).times(self.scale(self.metrics[metric]))
    }

    /// From a recorded value of a metric to its reported unit.
    #[must_use]
    pub fn scale(&self, metric: Metric) -> f64 {
        match metric {
            Metric::Slowdown => 1.0 / (1_u64 << SLOWDOWN_BITS) as f64,
            Metric::Latency | Metric::Response | Metric::Wait => 1.0 / self.clock,
        }
    }

    /// Messages that were counted.
    #[must_use]
    pub fn counted(&self) -> u64 {
        self.lengths.iter().map(|(count, _)| count).sum()
    }

    /// A counter over all replications.
    pub fn total(&self, of: impl Fn(&State) -> u64) -> u64 {
        self.states.iter().map(of).sum()
    }

    /// The sum of a time over the replications, which together may pass the end of one clock.
    #[must_use]
    pub fn total_time(&self, of: impl Fn(&State) -> Nanos) -> u128 {
        self.states.iter().map(|state| u128::from(of(state).get())).sum()
    }
}
