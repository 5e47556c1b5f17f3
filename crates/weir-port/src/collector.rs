//! Collects what one discipline did in one replication: sums by batch, histograms, maxima, samples.
//!
//! A figure has a metric and a class; figures of one replication share their batches, so that any two can
//! be compared batch by batch. Everything is whole numbers: nanoseconds of the engine's clock, and slowdowns
//! in units of 2^-20.

use crate::by_class::ByClass;
use crate::observer::Observer;
use crate::over_time::{Course, Windows};
use std::sync::Arc;
use weir_lab::encode::Encode;
use weir_lab::record::Departure;
use weir_lab::stats::batch::Total;
use weir_lab::stats::{Batches, Histogram, total};

/// Bits after the binary point of a recorded slowdown.
pub const SLOWDOWN_BITS: u32 = 20;

/// Fewer departures than this are counted one by one, which is as fast.
const FEW: usize = 16;

/// More flows than this have means, but no quantiles.
const MOST_FLOW_HISTOGRAMS: usize = 64;

/// What is measured of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// From arrival to the acceptance of the last packet.
    Latency,
    /// From arrival to the end of service.
    Response,
    /// Response without the time that the service alone takes.
    Wait,
    /// Response over the time that the service alone takes.
    Slowdown,
}

impl Metric {
    /// The name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Response => "response",
            Self::Wait => "wait",
            Self::Slowdown => "slowdown",
        }
    }

    /// Its value for one departure.
    #[inline]
    pub(crate) fn of(self, departure: &Departure) -> u64 {
        let response = (departure.completion - departure.arrival).get();
        match self {
            Self::Latency => (departure.last - departure.arrival).get(),
            Self::Response => response,
            Self::Wait => response.saturating_sub(departure.alone.get()),
            Self::Slowdown => slowdown(response, departure.alone.get()),
        }
    }
}

/// A slowdown as it is recorded. Divided in 64 bits where they are enough, which takes a third of the time.
#[inline]
pub(crate) fn slowdown(response: u64, alone: u64) -> u64 {
    let alone = alone.max(1);
    if response >> (u64::BITS - SLOWDOWN_BITS) == 0 {
        return (response << SLOWDOWN_BITS) / alone;
    }
    u64::try_from((u128::from(response) << SLOWDOWN_BITS) / u128::from(alone)).unwrap_or(u64::MAX)
}

/// What is collected.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The metrics, in the order of the series.
    pub metrics: Vec<Metric>,
    /// How many classes there are.
    pub classes: usize,
    /// How many flows are distinguished; 0 where they are not.
    pub flows: usize,
    /// Departures before this tick are the warm-up and not counted.
    pub warm_up: u64,
    /// Ticks of a window of the batches, at least; a power of two.
    pub batch: u64,
    /// Sections of the replication with histograms of their own: from this many to twice as many.
    pub sections: usize,
    /// Whether there are histograms.
    pub tails: bool,
    /// Whether a replication is one sample, of which no part stands for another.
    pub is_one_sample: bool,
    /// The windows over time, where there are any.
    pub windows: Option<Arc<Course>>,
}

impl Plan {
    /// Means alone of everything, from the first tick on.
    #[must_use]
    pub fn means(metrics: Vec<Metric>, classes: usize) -> Self {
        Self {
            metrics,
            classes,
            flows: 0,
            warm_up: 0,
            batch: 1,
            sections: 1,
            tails: false,
            is_one_sample: false,
            windows: None,
        }
    }

    /// The series of a metric and class.
    #[must_use]
    pub fn series(&self, metric: usize, class: usize) -> usize {
        metric * self.classes + class
    }

    /// The series of the first metric of a flow.
    #[must_use]
    pub fn flow_series(&self, flow: usize) -> usize {
        self.metrics.len() * self.classes + flow
    }

    /// The series of what is served of a flow, in units of length.
    #[must_use]
    pub fn served_series(&self, flow: usize) -> usize {
        self.flow_series(self.flows + flow)
    }

    /// The number of histograms of a section: those of metrics and classes, then those of the flows.
    #[must_use]
    pub fn histograms(&self) -> usize {
        self.metrics.len() * self.classes + self.flow_histograms()
    }

    /// Flows with a histogram: all of them, if they are not too many.
    #[must_use]
    pub fn flow_histograms(&self) -> usize {
        if self.flows <= MOST_FLOW_HISTOGRAMS { self.flows } else { 0 }
    }

    /// The number of series.
    #[must_use]
    pub fn series_count(&self) -> usize {
        self.metrics.len() * self.classes + 2 * self.flows
    }
}

/// What one discipline did in one replication.
#[derive(Clone, Debug)]
pub struct Collector {
    plan: Plan,
    /// Counts and sums of every series.
    pub batches: Batches,
    /// The queue monitor: packets, then messages, waiting at the instants of sampling.
    pub queue: Batches,
    /// Ticks of a section.
    section: u64,
    /// Per section, the histograms of every metric and class.
    pub sections: Vec<Vec<Histogram>>,
    /// Units of length served, by flow.
    pub served: Vec<u64>,
    /// Messages counted and their lengths together, by class.
    pub lengths: Vec<(u64, u64)>,
    /// Departures kept for `--records`, until they are taken.
    pub records: Option<Vec<Departure>>,
    /// The windows over time, where there are any.
    pub windows: Option<Box<Windows>>,
    sorted: ByClass,
}

impl Collector {
    /// Nothing collected yet; departures are kept if `records`.
    #[must_use]
    pub fn new(plan: Plan, records: bool) -> Self {
        Self {
            batches: Batches::new(plan.series_count(), plan.warm_up).in_windows_of(plan.batch),
            queue: Batches::new(2, plan.warm_up).in_windows_of(plan.batch),
            section: plan.batch.max(1),
            sections: Vec::new(),
            served: vec![0; plan.flows],
            lengths: vec![(0, 0); plan.classes],
            records: records.then(Vec::new),
            windows: plan.windows.clone().map(|course| Box::new(Windows::new(course))),
            sorted: ByClass::default(),
            plan,
        }
    }

    /// What was collected so far, but for histograms, which take most of the memory, records and windows.
    #[must_use]
    pub fn without_histograms(&self) -> Self {
        Self {
            plan: self.plan.clone(),
            batches: self.batches.clone(),
            queue: self.queue.clone(),
            section: self.section,
            sections: Vec::new(),
            served: self.served.clone(),
            lengths: self.lengths.clone(),
            records: None,
            windows: None,
            sorted: ByClass::default(),
        }
    }

    /// What was collected, histograms included; it keeps the rest.
    #[must_use]
    pub fn hand_over(&mut self) -> Self {
        let mut sections = std::mem::take(&mut self.sections);
        sections.iter_mut().flatten().for_each(Histogram::put_in_order);
        Self { sections, ..self.without_histograms() }
    }

    /// Makes one batch and one section of all of them, of a replication that is one sample.
    pub(crate) fn merge_all(&mut self) {
        for batches in [&mut self.batches, &mut self.queue] {
            while batches.len() > 1 {
                batches.merge_neighbours();
            }
        }
        while self.sections.len() > 1 {
            self.sections = merge_pairs(std::mem::take(&mut self.sections));
        }
    }

    /// Appends what was collected, but for records: what it was collected by is in the scenario.
    pub(crate) fn encode(&self, into: &mut Vec<u8>) {
        self.batches.encode(into);
        self.queue.encode(into);
        self.sections.encode(into);
        self.served.encode(into);
        self.lengths.encode(into);
    }

    /// What was collected by this plan, or by one that differs in having more sections; nothing where it was not.
    pub(crate) fn decode(plan: &Plan, from: &mut &[u8]) -> Option<Self> {
        let mut collector = Self::new(Plan { windows: None, ..plan.clone() }, false);
        collector.batches = Encode::decode(from)?;
        collector.queue = Encode::decode(from)?;
        collector.sections = Encode::decode(from)?;
        collector.served = Encode::decode(from)?;
        collector.lengths = Encode::decode(from)?;
        let is_of =
            |batches: &Batches, series| batches.series() == series && batches.origin() == plan.warm_up;
        let fits = is_of(&collector.batches, plan.series_count())
            && is_of(&collector.queue, 2)
            && collector.sections.iter().all(|section| section.len() == plan.histograms())
            && (collector.served.len(), collector.lengths.len()) == (plan.flows, plan.classes);
        while fits && collector.sections.len() > 2 * plan.sections.max(1) {
            collector.sections = merge_pairs(std::mem::take(&mut collector.sections));
        }
        fits.then_some(collector)
    }

    /// What is collected.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The tick at which the section of `tick` ends.
    #[must_use]
    pub fn section_end(&self, tick: u64) -> u64 {
        let since = tick.saturating_sub(self.plan.warm_up);
        let ends = (since / self.section + 1).saturating_mul(self.section);
        self.plan.warm_up.saturating_add(ends)
    }

    #[inline]
    fn section_of(&mut self, tick: u64) -> &mut [Histogram] {
        let since = tick - self.plan.warm_up;
        if (since / self.section) as usize >= self.sections.len() {
            self.open_section(since);
        }
        &mut self.sections[(since / self.section) as usize]
    }

    /// Makes room for the section of a tick, merging neighbours where there would be too many.
    #[cold]
    fn open_section(&mut self, since: u64) {
        while since / self.section >= 2 * self.plan.sections.max(1) as u64 {
            self.section *= 2;
            self.sections = merge_pairs(std::mem::take(&mut self.sections));
        }
        let figures = self.plan.histograms();
        let needed = (since / self.section) as usize + 1;
        self.sections.resize_with(needed, || vec![Histogram::new(); figures]);
    }

    /// Adds histograms of the first metric, class by class, to the section of `tick`.
    pub fn add_histograms(&mut self, tick: u64, classes: &[Histogram]) {
        let section = self.section_of(tick);
        section.iter_mut().zip(classes).for_each(|(own, more)| own.merge(more));
    }

    /// Counts departures of one batch and section.
    fn count_together(&mut self, departures: &[Departure]) {
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.sort(departures, &self.plan.metrics, &mut self.lengths);
        for class in 0..self.plan.classes {
            self.count_class(class, departures[0].tick, &sorted);
        }
        self.sorted = sorted;
    }

    /// Counts those of a class, of one batch and section.
    fn count_class(&mut self, class: usize, tick: u64, sorted: &ByClass) {
        for place in 0..self.plan.metrics.len() {
            let values = sorted.values(self.plan.metrics[place], class);
            if values.is_empty() {
                return;
            }
            let all = Total { count: values.len() as u64, sum: total(values) };
            self.batches.add(self.plan.series(place, class), tick, all);
        }
        if self.plan.tails {
            self.count_tails(class, tick, sorted);
        }
    }

    /// The metrics of whole messages are counted in turns: so an addition need not wait for the one before, of the same metric.
    fn count_tails(&mut self, class: usize, tick: u64, sorted: &ByClass) {
        let places = [0, 1, 2].map(|place| self.plan.series(place, class));
        let several = <[Metric; 3]>::try_from(&self.plan.metrics[..]);
        if let Ok(metrics) = several
            && let Ok(histograms) = self.section_of(tick).get_disjoint_mut(places)
        {
            let values = metrics.map(|metric| sorted.values(metric, class));
            return Histogram::record_together(histograms, values);
        }
        for place in 0..self.plan.metrics.len() {
            let (series, values) =
                (self.plan.series(place, class), sorted.values(self.plan.metrics[place], class));
            self.section_of(tick)[series].record_all(values);
        }
    }

    #[inline(always)]
    fn count(&mut self, departure: &Departure) {
        let class = usize::from(departure.class).min(self.plan.classes - 1);
        match self.plan.metrics[..] {
            // The usual case, treated separately because it comes with every message.
            [Metric::Latency] => self.count_value(class, departure.tick, Metric::Latency.of(departure)),
            _ => self.count_metrics(class, departure),
        }
        self.lengths[class].0 += 1;
        self.lengths[class].1 += u64::from(departure.length);
        if !self.served.is_empty() {
            self.count_flow(departure);
        }
    }

    fn count_metrics(&mut self, class: usize, departure: &Departure) {
        for metric in 0..self.plan.metrics.len() {
            let value = self.plan.metrics[metric].of(departure);
            self.count_value(self.plan.series(metric, class), departure.tick, value);
        }
    }

    #[inline(always)]
    fn count_value(&mut self, series: usize, tick: u64, value: u64) {
        self.batches.record(series, tick, value);
        if self.plan.tails {
            self.section_of(tick)[series].record(value);
        }
    }

    fn count_flow(&mut self, departure: &Departure) {
        let flow = departure.flow as usize;
        if let Some(served) = self.served.get_mut(flow) {
            *served += u64::from(departure.length);
            let (series, value) = (self.plan.flow_series(flow), self.plan.metrics[0].of(departure));
            self.batches.record(series, departure.tick, value);
            self.batches.record(self.plan.served_series(flow), departure.tick, u64::from(departure.length));
            if self.plan.tails && flow < self.plan.flow_histograms() {
                self.section_of(departure.tick)[series].record(value);
            }
        }
    }
}

/// Each two neighbouring sections as one.
#[must_use]
pub fn merge_pairs(sections: Vec<Vec<Histogram>>) -> Vec<Vec<Histogram>> {
    let mut merged: Vec<Vec<Histogram>> = Vec::with_capacity(sections.len().div_ceil(2));
    for (place, section) in sections.into_iter().enumerate() {
        match merged.last_mut() {
            Some(last) if place % 2 == 1 => {
                last.iter_mut().zip(&section).for_each(|(own, more)| own.merge(more));
            }
            _ => merged.push(section),
        }
    }
    merged
}

impl Observer for Collector {
    #[inline]
    fn departed(&mut self, departure: &Departure) {
        if let Some(records) = &mut self.records {
            records.push(*departure);
        }
        if let Some(windows) = &mut self.windows {
            windows.departed(departure);
        }
        if departure.tick >= self.plan.warm_up {
            self.count(departure);
        }
    }

    fn departed_all(&mut self, departures: &[Departure]) {
        let is_kept = self.records.is_some() || self.windows.is_some();
        if departures.len() < FEW || is_kept || !self.served.is_empty() {
            return departures.iter().for_each(|departure| self.departed(departure));
        }
        let warm_up = departures.partition_point(|departure| departure.tick < self.plan.warm_up);
        let mut rest = &departures[warm_up..];
        while let Some(Departure { tick, .. }) = rest.first() {
            let end = self.batches.end_of(*tick).min(self.section_end(*tick));
            let (now, later) = rest.split_at(rest.partition_point(|departure| departure.tick < end));
            self.count_together(now);
            rest = later;
        }
    }

    fn sampled(&mut self, sample: &crate::observer::Sample) {
        self.queue.record(0, sample.tick, sample.packets);
        self.queue.record(1, sample.tick, sample.messages);
    }
}

#[cfg(test)]
mod tests {
    use weir_core::units::{Instant, Nanos};

    use super::*;

    fn departure(tick: u64, class: u16) -> Departure {
        let at = Instant::new;
        let base = Departure { index: tick, class, length: 2, alone: Nanos::new(4), ..Departure::default() };
        Departure { arrival: at(10), last: at(15), completion: at(16), tick, ..base }
    }

    #[test]
    fn metrics_by_hand() {
        let seen = departure(0, 0);
        assert_eq!(Metric::Latency.of(&seen), 5);
        assert_eq!(Metric::Response.of(&seen), 6);
        assert_eq!(Metric::Wait.of(&seen), 2);
        assert_eq!(Metric::Slowdown.of(&seen), 3 << (SLOWDOWN_BITS - 1));
    }

    #[test]
    fn warm_up_and_sections() {
        let metrics = vec![Metric::Latency];
        let plan = Plan {
            metrics,
            classes: 2,
            flows: 1,
            warm_up: 2,
            batch: 1,
            sections: 1,
            tails: true,
            is_one_sample: false,
            windows: None,
        };
        let mut collector = Collector::new(plan, true);
        (0..8).for_each(|tick| collector.departed(&departure(tick, (tick % 2) as u16)));
        assert_eq!(collector.batches.totals(&[0, 1]).map(|total| total.count).sum::<u64>(), 6);
        assert_eq!(collector.sections.len(), 2);
        assert_eq!(collector.sections[1][1].count(), 1);
        assert_eq!(collector.records.map(|records| records.len()), Some(8));
        assert_eq!(collector.served, [12]);
    }

    #[test]
    fn together_is_as_one_by_one() {
        let metrics = [Metric::Latency, Metric::Response, Metric::Wait, Metric::Slowdown];
        let plans = [(0, 1, true), (70, 8, true), (300, 64, false), (70, 256, true)];
        // All four, the three of whole messages, and the one of packets.
        let chosen = [&metrics[..], &metrics[1..], &metrics[..1]];
        for (metrics, (warm_up, batch, tails)) in
            chosen.into_iter().flat_map(|each| plans.map(|plan| (each, plan)))
        {
            let metrics = metrics.to_vec();
            let plan = Plan { warm_up, batch, sections: 2, tails, ..Plan::means(metrics, 3) };
            let departures: Vec<Departure> = (0..700)
                .map(|tick| {
                    let seen = departure(tick, (tick * tick % 5) as u16);
                    Departure { completion: Instant::new(16 + tick * tick), ..seen }
                })
                .collect();
            let (mut single, mut together) =
                (Collector::new(plan.clone(), false), Collector::new(plan, false));
            departures.iter().for_each(|departure| single.departed(departure));
            departures.chunks(100).for_each(|chunk| together.departed_all(chunk));
            let [single, together] = [single, together].map(|collector| {
                let mut bytes = Vec::new();
                collector.encode(&mut bytes);
                bytes
            });
            assert_eq!(single, together);
        }
    }

    #[test]
    fn slowdowns_are_divided_alike_in_both_widths() {
        for response in [0, 1, 6, (1 << 44) - 1, 1 << 44, u64::MAX] {
            for alone in [1_u64, 3, 1 << 30, u64::MAX] {
                let wide = (u128::from(response) << SLOWDOWN_BITS) / u128::from(alone);
                assert_eq!(slowdown(response, alone), u64::try_from(wide).unwrap_or(u64::MAX));
            }
        }
    }
}
