//! Puts a result together: figures, differences, self-checks, provenance.

use crate::chance;
use crate::figures::{self, interval_name};
use crate::model::{Congestion, Link, NetworkScenario, Traffic};
use crate::outcome::{FlowRow, IntervalRow, LinkRow, NetworkOutcome, Totals};
use crate::run::Cell;
use crate::summary::Summary;
use weir_core::canonical::canonical;
use weir_core::spec::Spec;
use weir_lab::provenance::{Frame, Provenance};
use weir_lab::result::{Check, Course};
use weir_lab::stats::windows::{self, OverTimeRow};
use weir_lab::stats::{DelayOverTime, row};

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// The result of the replications that were finished; cells are in order of the disciplines.
#[must_use]
pub fn outcome(
    network: &NetworkScenario,
    frame: &Frame,
    cells: &[Cell],
    engine: &'static str,
) -> NetworkOutcome {
    let finished = cells.first().map_or(0, |cell| cell.runs.len());
    let named = || network.disciplines.iter().map(String::as_str).zip(cells.iter().map(|cell| &cell.runs));
    let rows: Vec<_> = cells.iter().map(|cell| figures::rows(network, &cell.runs)).collect();
    let interrupted = finished < network.stop.replications as usize;
    let estimates = row::figures(&network.disciplines, &rows);
    let course = Course::new(&network.disciplines, network.reference, interrupted, |_| Some(engine));
    NetworkOutcome {
        provenance: Provenance::new("network", &network.title, network.seed, frame, finished),
        length_unit: "B",
        course: Course {
            random: chance::is_random(network),
            ..course.settling(&estimates, None, figures::words)
        },
        totals: named().map(|(name, summaries)| totals(name, summaries)).collect(),
        intervals: (0..network.measure.intervals.len()).map(|place| interval(network, place)).collect(),
        classes: network.classes.clone(),
        flows: flows(network),
        links: network.links.iter().map(|link| link_row(network, link)).collect(),
        estimates,
        differences: row::differences(&network.disciplines, network.reference, &rows, figures::compared),
        series: named().flat_map(|(name, summaries)| figures::series(network, name, summaries)).collect(),
        windows: named().flat_map(|(name, summaries)| windows_over_time(network, name, summaries)).collect(),
        delay_over_time: named().flat_map(|(name, summaries)| over_time(network, name, summaries)).collect(),
        distributions: named()
            .flat_map(|(name, summaries)| figures::distributions(network, name, summaries))
            .collect(),
        theory: Vec::new(),
        checks: named()
            .flat_map(|(name, summaries)| checks(network, name, summaries, &cells[0].runs))
            .collect(),
    }
}

fn totals(discipline: &str, summaries: &[Summary]) -> Totals {
    let sum = |of: fn(&Summary) -> u64| summaries.iter().map(of).sum();
    Totals {
        discipline: discipline.to_owned(),
        offered: sum(|summary| summary.total.offered),
        delivered: sum(|summary| summary.total.delivered),
        dropped: sum(|summary| summary.total.dropped),
        hops: sum(|summary| summary.links.iter().map(|tally| tally.hops).sum()),
    }
}

fn windows_over_time(network: &NetworkScenario, discipline: &str, summaries: &[Summary]) -> Vec<OverTimeRow> {
    let each: Vec<_> = summaries.iter().map(|summary| summary.windows.as_slice()).collect();
    windows::over_replications(discipline, network.measure.over_time.unwrap_or_default(), &each)
}

fn over_time(network: &NetworkScenario, discipline: &str, summaries: &[Summary]) -> Vec<DelayOverTime> {
    let classes = || network.classes.iter().map(String::as_str);
    summaries.first().map_or_else(Vec::new, |first| first.over_time.rows(discipline, classes()))
}

fn interval(network: &NetworkScenario, place: usize) -> IntervalRow {
    let (from, to) = network.measure.intervals[place];
    let name = interval_name(network, place);
    IntervalRow { name, from: from.get() as f64 / SECOND, to: to.get() as f64 / SECOND }
}

/// The flows, where figures are given flow by flow.
fn flows(network: &NetworkScenario) -> Vec<FlowRow> {
    let node = |place: usize| network.nodes[place].name.clone();
    let flows = network.flows.iter().map(|flow| FlowRow {
        name: flow.name.clone(),
        class: network.classes[usize::from(flow.class.0)].clone(),
        from: node(flow.source),
        to: node(flow.destination),
        path: flow.path.iter().map(|&link| network.links[link].name.clone()).collect(),
        traffic: match &flow.traffic {
            Traffic::Drawn(_) => "drawn",
            Traffic::Script(..) => "script",
            Traffic::Replay(_) => "replay",
            Traffic::Tcp(tcp) if tcp.congestion == Congestion::Reno => "reno",
            Traffic::Tcp(_) => "cubic",
        },
    });
    flows.collect()
}

fn link_row(network: &NetworkScenario, link: &Link) -> LinkRow {
    let compared = |(spec, name): (&Spec, &String)| {
        name.parse().and_then(|written| canonical(&written)).is_ok_and(|listed| listed == *spec)
    };
    LinkRow {
        name: link.name.clone(),
        from: network.nodes[link.from].name.clone(),
        to: network.nodes[link.to].name.clone(),
        rate: link.rate.get() as f64,
        compared: link.disciplines.iter().zip(&network.disciplines).all(compared),
    }
}

/// The self-checks of one discipline; `first` is the one whose departures all open-loop traffic shares.
fn checks(network: &NetworkScenario, name: &str, own: &[Summary], first: &[Summary]) -> Vec<Check> {
    let sum = |summaries: &[Summary], of: fn(&Summary) -> u64| -> f64 {
        summaries.iter().map(of).sum::<u64>() as f64
    };
    let offered = sum(own, |summary| summary.total.offered);
    let ended = sum(own, |summary| summary.total.delivered + summary.total.dropped);
    let note = "packets sent, against those that arrived or were dropped";
    let mut checks = vec![Check::new(Some(name), "conservation", offered, ended, 0.0, note)];
    if !network.flows.iter().any(|flow| matches!(flow.traffic, Traffic::Tcp(_))) {
        let others = sum(first, |summary| summary.total.offered);
        let note = format!("packets sent, against those under `{}`", network.disciplines[0]);
        checks.push(Check::new(Some(name), "same departures", others, offered, 0.0, note));
    }
    checks
}
