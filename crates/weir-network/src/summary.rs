//! What is kept of a job: sums over its flows, links and histograms.
//!
//! Flows are measured together: all, those of a class, and each; where figures are not given flow by flow, there are no flows
//! among the subjects, and what a job leaves does not grow with them.

use crate::collector::{Counts, HopCounts, SeriesBins, tails_by_flow};
use crate::job::Collected;
use crate::model::NetworkScenario;
use crate::outcome::{Flows, Scope};
use crate::wire::{Interval, LinkTally};
use weir_lab::stats::figure::ALL;
use weir_lab::stats::windows::Figures;
use weir_lab::stats::{Histogram, OverTime, fairness};

/// How evenly the flows that sent in an interval were served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evenness {
    /// Jain's index of their throughputs.
    pub jain: f64,
    /// The least of these over their mean.
    pub least: f64,
}

/// What is kept of a job.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Of all packets at all times.
    pub total: Counts,
    /// Interval by interval, subject by subject.
    pub counts: Vec<Vec<Counts>>,
    /// Interval by interval.
    pub evenness: Vec<Option<Evenness>>,
    /// Link by link.
    pub links: Vec<LinkTally>,
    /// Flow by flow, the links of its path; empty where they are not measured.
    pub hops: Vec<Vec<HopCounts>>,
    /// Of the first subjects; empty where no quantiles are measured.
    pub histograms: Vec<Histogram>,
    /// Time series of the flows.
    pub series: Option<SeriesBins>,
    /// Delays over time, of the first replication.
    pub over_time: OverTime,
    /// Figures of windows, where they are asked for.
    pub windows: Vec<Figures>,
}

/// All that are measured together: all flows, the classes, and each flow where that is wanted.
#[must_use]
pub fn subjects(network: &NetworkScenario) -> Vec<Flows> {
    let named = |scope, name: &str| Flows { scope, name: name.to_owned() };
    let classes = network.classes.iter().map(|name| named(Scope::Class, name));
    let flows = network.flows.iter().filter(|_| network.measure.flows);
    let flows = flows.map(|flow| named(Scope::Flow, &flow.name));
    [named(Scope::All, ALL)].into_iter().chain(classes).chain(flows).collect()
}

impl Summary {
    /// Sums up a job.
    #[must_use]
    pub fn new(network: &NetworkScenario, collected: Collected) -> Self {
        let Collected { collector, links } = collected;
        let intervals = network.measure.intervals.iter().map(|&interval| Interval::from(interval));
        let (mut counts, mut evenness) = (Vec::new(), Vec::new());
        for interval in intervals {
            let flows = (0..network.flows.len()).map(|flow| collector.interval(flow, interval));
            let flows: Vec<Counts> = flows.collect();
            evenness.push(even(&flows));
            counts.push(by_subject(network, flows));
        }
        let path = |flow: usize| network.flows[flow].path.len();
        let flows = if collector.hops.is_empty() { 0 } else { network.flows.len() };
        let hops = (0..flows).map(|flow| collector.hops_of(flow, path(flow)).to_vec()).collect();
        let windows = collector.windows.as_ref().map_or_else(Vec::new, |windows| windows.figures(network));
        Self {
            total: collector.total(),
            counts,
            evenness,
            links,
            hops,
            histograms: histograms(network, collector.histograms),
            series: collector.series,
            over_time: collector.over_time,
            windows,
        }
    }
}

/// The subjects before the flows.
fn before_flows(network: &NetworkScenario) -> usize {
    1 + network.classes.len()
}

fn by_subject(network: &NetworkScenario, flows: Vec<Counts>) -> Vec<Counts> {
    let mut sums = vec![Counts::default(); before_flows(network)];
    for (flow, counts) in network.flows.iter().zip(&flows) {
        sums[0].add(counts);
        sums[1 + usize::from(flow.class.0)].add(counts);
    }
    if network.measure.flows {
        sums.extend(flows);
    }
    sums
}

fn even(flows: &[Counts]) -> Option<Evenness> {
    let sent = flows.iter().filter(|counts| counts.offered > 0);
    let shares: Vec<f64> = sent.map(|counts| counts.delivered_bytes as f64).collect();
    let jain = fairness::jain(&shares).ok()?;
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
    Some(Evenness { jain, least: least / mean })
}

/// The histograms of all flows, of the classes, and of the flows where they have their own.
fn histograms(network: &NetworkScenario, collected: Vec<Histogram>) -> Vec<Histogram> {
    if collected.is_empty() {
        return collected;
    }
    let mut all = vec![Histogram::new(); before_flows(network)];
    if !tails_by_flow(network) {
        for (class, histogram) in collected.iter().enumerate() {
            all[0].merge(histogram);
            all[1 + class].merge(histogram);
        }
        return all;
    }
    for (flow, histogram) in network.flows.iter().zip(&collected) {
        all[0].merge(histogram);
        all[1 + usize::from(flow.class.0)].merge(histogram);
    }
    all.extend(collected);
    all
}

weir_lab::encode! {
    Evenness { jain, least }
    Summary { total, counts, evenness, links, hops, histograms, series, over_time, windows }
}
