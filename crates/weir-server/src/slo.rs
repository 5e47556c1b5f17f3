//! The highest load at which a quantile of the slowdown stays within a bound.
//!
//! | | |
//! |-|-|
//! | Question | as in Demoulin et al., *When Idling is Ideal* (Perséphone), SOSP '21: the throughput under a bound on the slowdown of the slowest in a thousand |
//! | Method | a bracket of two loads, the lower of which meets the bound; halved until it is narrow |
//! | Work | one run of the scenario a probe, about `log2(1 / (precision x load))` and a few of them |
//! | Precision | the width of the bracket over its upper end; wider where the simulation cannot decide |
//!
//! All probes draw the same random numbers: the same classes and services, at times that are closer together as the load
//! is higher. So the quantile changes little where the load does.
//!
//! ## When a bound is met
//!
//! The quantile is of all requests that are offered. One that is dropped is never served: it counts as slower than any
//! bound. Let a part `d` of the requests be dropped. The `p`-quantile of all is then the quantile of those that are served
//! at the level `p / (1 - d)`, and there is none where `d > 1 - p`. It is within the bound if and only if no more than
//! `1 - p` of all requests are *beyond* it: slower, or dropped. Drops and slow requests have this budget together.
//!
//! So the share beyond the bound decides, not two figures with a budget each: in each replication a whole number of
//! requests, slow and dropped, over those that were offered. The spread of the shares of the replications about that of
//! all gives the 95 % interval ([`sectioned`](weir_lab::stats::replications::sectioned)), which holds the chance of drops, of
//! slowdowns, and of the two coming together. The share has no error of reading but the thousandth in which slowdowns are
//! kept. Where none of `n` requests is beyond the bound, the upper end is `3 / n`.
//!
//! **Met** is a bound if the upper end of the interval is within `1 - p`; **not met** if the lower end is above it.
//! Elsewhere the run cannot decide: the search then closes in on both ends of the loads that are undecided, and the bracket
//! says how far apart they are. With one replication there are no intervals and no search. Of several classes the one that
//! is worst off decides; one whose share is 0 has no requests and is left out.
//!
//! A search over a class that has no requests, or too few for the quantile, is refused: no load would decide it.

mod judged;
mod refused;

use serde::Serialize;

use crate::model::{Measure, ServerScenario, Workload};
use crate::run::{self, Play};
use weir_core::units::Nanos;
use weir_lab::control::{Control, Progress};
use weir_lab::error::RunError;
use weir_lab::stats::FAR_QUANTILES;
use weir_lab::stats::figure::ALL;

pub use judged::{Probe, Verdict};
pub use refused::{SloError, Unsearchable, unsearchable};

use judged::{judged, worse};
use refused::check;

/// The most probes.
const MOST_PROBES: u32 = 60;
/// The least load that is tried.
const LEAST_LOAD: f64 = 0.01;
/// A load at which no unbounded queue has a mean is not tried.
const MOST_LOAD: f64 = 0.999;

/// What is asked: a quantile of the slowdown.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// A class, or `all`; `None`: each class.
    pub class: Option<String>,
    /// `p50`, `p90`, `p99`, `p99.9` or `p99.99`.
    pub quantile: &'static str,
    /// The slowdown that it is not to exceed, above 1.
    pub bound: f64,
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SloSearch {
    /// The discipline.
    pub discipline: String,
    /// The class; `None`: each class.
    pub class: Option<String>,
    /// The quantile of the slowdown.
    pub quantile: &'static str,
    /// The bound.
    pub bound: f64,
    /// The width of the bracket that was asked for, over its upper end.
    pub precision: f64,
    /// The lowest load that is tried.
    pub from: f64,
    /// The highest.
    pub to: f64,
    /// The highest load that was tried and meets the bound; `None` where none does.
    pub met: Option<Probe>,
    /// The lowest load that was tried and does not; `None` where all that are tried meet it.
    pub not_met: Option<Probe>,
    /// The bracket is as narrow as asked for.
    pub reached: bool,
    /// Runs.
    pub probes: u32,
    /// What was tried, by load.
    pub tried: Vec<Probe>,
    /// The search was broken off, or has not begun.
    pub interrupted: bool,
}

impl SloSearch {
    /// A search that has not begun, and will not.
    #[must_use]
    pub fn not_begun(server: &ServerScenario, discipline: usize, asked: &Asked, precision: f64) -> Self {
        let search = Search { server: alone(server, discipline, asked), asked, precision, tried: Vec::new() };
        search.found(server.disciplines[discipline].clone(), true)
    }
}

/// The highest load of open-loop arrivals at which the quantile stays within the bound, for the discipline at this place.
///
/// # Errors
/// The scenario has no open-loop arrivals at one rate, or fewer than two replications; the quantile, class, bound or
/// precision is none; or as [`run::run`].
pub fn highest_load(
    server: &ServerScenario,
    discipline: usize,
    asked: &Asked,
    precision: f64,
    control: &mut Control<'_>,
) -> Result<SloSearch, SloError> {
    highest_load_with(server, discipline, asked, precision, control, &run::play)
}

/// As [`highest_load`], each job by `play`.
pub(super) fn highest_load_with(
    server: &ServerScenario,
    discipline: usize,
    asked: &Asked,
    precision: f64,
    control: &mut Control<'_>,
    play: Play<'_>,
) -> Result<SloSearch, SloError> {
    check(server, discipline, asked, precision)?;
    let mut search = Search { server: alone(server, discipline, asked), asked, precision, tried: Vec::new() };
    let mut interrupted = false;
    while let Some(load) = search.next() {
        match search.probe(load, control, play)? {
            Some(probe) => search.tried.push(probe),
            None => {
                interrupted = true;
                break;
            }
        }
    }
    Ok(search.found(server.disciplines[discipline].clone(), interrupted))
}

fn refused(place: &str, reason: String) -> RunError {
    RunError::Refused { place: place.to_owned(), reason }
}

/// The scenario with this discipline alone, and what decides over the bound.
fn alone(server: &ServerScenario, discipline: usize, asked: &Asked) -> ServerScenario {
    ServerScenario {
        disciplines: vec![server.disciplines[discipline].clone()],
        specs: vec![server.specs[discipline].clone()],
        reference: 0,
        measure: Measure {
            tails: true,
            order: false,
            window: None,
            bound: Some(asked.bound),
            ..server.measure
        },
        ..server.clone()
    }
}

/// The scenario at another load: the same requests, closer together or farther apart, and as many of them.
fn at_load(server: &ServerScenario, load: f64) -> ServerScenario {
    let mut other = server.clone();
    let factor = server.steady_load().map_or(1.0, |known| load / known);
    if let Workload::Open(open) = &mut other.workload {
        open.mean_gap /= factor;
    }
    other.load = Some(load);
    let stretched = |time: Nanos| Nanos::new((time.get() as f64 / factor).round().max(1.0) as u64);
    other.stop.duration = stretched(server.stop.duration);
    if server.stop.warm_up.get() > 0 {
        other.stop.warm_up = stretched(server.stop.warm_up);
    }
    other
}

struct Search<'s> {
    server: ServerScenario,
    asked: &'s Asked,
    precision: f64,
    tried: Vec<Probe>,
}

impl Search<'_> {
    /// The highest load tried that meets the bound, below all that do not.
    fn met(&self) -> Option<&Probe> {
        let first_not = self.not_met().map_or(f64::INFINITY, |probe| probe.load);
        let met = self.tried.iter().filter(|probe| probe.verdict == Verdict::Met && probe.load < first_not);
        met.max_by(|a, b| a.load.total_cmp(&b.load))
    }

    /// The lowest load tried that does not meet the bound.
    fn not_met(&self) -> Option<&Probe> {
        let not = self.tried.iter().filter(|probe| probe.verdict == Verdict::NotMet);
        not.min_by(|a, b| a.load.total_cmp(&b.load))
    }

    /// Undecided loads inside the bracket, in order.
    fn undecided(&self, low: f64, high: f64) -> Vec<f64> {
        let inside = self.tried.iter().filter(|probe| probe.verdict == Verdict::Undecided);
        let mut loads: Vec<f64> =
            inside.map(|probe| probe.load).filter(|load| (low..=high).contains(load)).collect();
        loads.sort_by(f64::total_cmp);
        loads
    }

    /// The load to try next; none where the bracket is as narrow as it can be told.
    fn next(&self) -> Option<f64> {
        if self.tried.len() >= MOST_PROBES as usize {
            return None;
        }
        if self.tried.is_empty() {
            return Some(0.5);
        }
        let low = self.met().map_or(LEAST_LOAD, |probe| probe.load);
        let high = self.not_met().map_or(MOST_LOAD, |probe| probe.load);
        let undecided = self.undecided(low, high);
        // Between the met end and the first that is undecided, then between the last and the end that is not met.
        let first = *undecided.first().unwrap_or(&high);
        let last = *undecided.last().unwrap_or(&low);
        let is_wide = |from: f64, to: f64| (to - from) > self.precision * to;
        let middle = |from: f64, to: f64| {
            // From far below, by a factor; near by, in the middle.
            if to > 4.0 * from { (from * to).sqrt() } else { (from + to) / 2.0 }
        };
        let lower = is_wide(low, first).then(|| middle(low, first));
        lower.or_else(|| is_wide(last, high).then(|| middle(last, high)))
    }

    /// Runs the scenario at a load; nothing where it was broken off.
    fn probe(&self, load: f64, control: &mut Control<'_>, play: Play<'_>) -> Result<Option<Probe>, SloError> {
        let server = at_load(&self.server, load);
        let cells = {
            let progress = &mut |told: Progress| (control.progress)(told);
            let mut own =
                Control { threads: control.threads, cancel: control.cancel, progress, records: None };
            run::checked_cells(&server, &mut own, play)?
        };
        let Some(cell) = cells.first().filter(|cell| cell.runs.len() == server.stop.replications as usize)
        else {
            return Ok(None);
        };
        let named = FAR_QUANTILES.iter().find(|(name, _)| *name == self.asked.quantile);
        let p = named.map_or(1.0, |(_, p)| *p);
        let each: Vec<Probe> = self.subjects().map(|subject| judged(load, subject, cell, p)).collect();
        let too_few = each.iter().find(|probe| probe.high.is_none());
        if let Some(probe) = too_few.filter(|_| self.tried.is_empty()) {
            return Err(self.too_few(probe).into());
        }
        Ok(each.into_iter().reduce(worse))
    }

    /// The classes that are asked about, with their places in a cell: those that have requests.
    fn subjects(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_asked = |name: &str, share: f64| match &self.asked.class {
            Some(asked) => asked == name,
            None => name != ALL && share > 0.0,
        };
        let classes = self.server.classes.iter().map(|class| (class.name.as_str(), class.share));
        let all = std::iter::once((ALL, 1.0)).chain(classes).enumerate();
        all.filter(move |(_, (name, share))| is_asked(name, *share)).map(|(place, (name, _))| (place, name))
    }

    /// No load would decide it.
    fn too_few(&self, probe: &Probe) -> RunError {
        let reason = format!(
            "the requests of `{}` are too few for the {} of their slowdown: lengthen the run, add \
             replications, or ask for a lower quantile",
            probe.class, self.asked.quantile
        );
        refused("stop", reason)
    }

    fn found(mut self, discipline: String, interrupted: bool) -> SloSearch {
        let (met, not_met) = (self.met().cloned(), self.not_met().cloned());
        let low = met.as_ref().map_or(LEAST_LOAD, |probe| probe.load);
        let high = not_met.as_ref().map_or(MOST_LOAD, |probe| probe.load);
        let is_narrow = high - low <= self.precision * high;
        let reached = is_narrow && (met.is_some() || not_met.is_some());
        self.tried.sort_by(|a, b| a.load.total_cmp(&b.load));
        SloSearch {
            discipline,
            class: self.asked.class.clone(),
            quantile: self.asked.quantile,
            bound: self.asked.bound,
            precision: self.precision,
            from: LEAST_LOAD,
            to: MOST_LOAD,
            met,
            not_met,
            reached,
            probes: self.tried.len() as u32,
            tried: self.tried,
            interrupted,
        }
    }
}

#[cfg(test)]
mod tests;
