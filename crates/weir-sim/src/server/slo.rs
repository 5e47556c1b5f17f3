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
//! **Met** is a bound if the upper end of the quantile's 95 % interval, with its error of reading, is within it; **not
//! met** if the lower end is above it. Where the interval holds the bound the run cannot decide: the search then closes in
//! on both ends of the loads that are undecided, and the bracket says how far apart they are. With one replication there
//! are no intervals and no search.
//!
//! A search over a class that has no requests, or too few for the quantile, is refused: no load would decide it.

use serde::Serialize;

use weir_core::units::Nanos;

use crate::port::run::{Control, Progress, RunError};
use crate::server::figures;
use crate::server::model::{Measure, ServerScenario, Workload};
use crate::server::run::{self, Play};
use crate::stats::FAR_QUANTILES;
use crate::stats::row::Rows;

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

/// Whether a bound is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is within the bound.
    Met,
    /// The whole interval is above it.
    NotMet,
    /// Neither.
    Undecided,
}

/// What a run at one load has shown: of the class that is worst off.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// The load.
    pub load: f64,
    /// The class.
    pub class: String,
    /// The quantile of its slowdown.
    pub value: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The share of its requests that were dropped.
    pub dropped: f64,
    /// Whether the bound is met.
    pub verdict: Verdict,
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
    /// The search was broken off.
    pub interrupted: bool,
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
) -> Result<SloSearch, RunError> {
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
) -> Result<SloSearch, RunError> {
    check(server, discipline, asked, precision)?;
    let mut search = Search { server: alone(server, discipline), asked, precision, tried: Vec::new() };
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

/// Refuses what cannot be searched.
fn check(server: &ServerScenario, discipline: usize, asked: &Asked, precision: f64) -> Result<(), RunError> {
    if discipline >= server.specs.len() {
        let known = server.specs.len();
        return Err(refused(
            "discipline",
            format!("it is the one at place {discipline}, must be below {known}"),
        ));
    }
    if server.steady_load().is_none_or(|load| load <= 0.0) {
        let reason =
            "it has no one load to change: a search needs open-loop arrivals at one rate, without levels";
        return Err(refused("workload", reason.to_owned()));
    }
    if server.stop.replications < 2 {
        let reason = "there is 1, must be at least 2: an interval decides whether a bound is met";
        return Err(refused("stop.replications", reason.to_owned()));
    }
    if !FAR_QUANTILES.iter().any(|(name, _)| *name == asked.quantile) {
        let names: Vec<&str> = FAR_QUANTILES.iter().map(|(name, _)| *name).collect();
        return Err(refused(
            "quantile",
            format!("it is {}, must be one of {}", asked.quantile, names.join(", ")),
        ));
    }
    if !(asked.bound > 1.0 && asked.bound.is_finite()) {
        let reason =
            format!("it is {}, must be above 1: a request that never waits has slowdown 1", asked.bound);
        return Err(refused("bound", reason));
    }
    if !(1e-4..=0.5).contains(&precision) {
        return Err(refused("precision", format!("it is {precision}, must be from 0.0001 to 0.5")));
    }
    match &asked.class {
        Some(name) if name != "all" && server.classes.iter().all(|class| class.name != *name) => {
            let names: Vec<&str> = server.classes.iter().map(|class| class.name.as_str()).collect();
            Err(refused("class", format!("it is {name}, must be all or one of {}", names.join(", "))))
        }
        _ => Ok(()),
    }
}

/// The scenario with this discipline alone.
fn alone(server: &ServerScenario, discipline: usize) -> ServerScenario {
    ServerScenario {
        disciplines: vec![server.disciplines[discipline].clone()],
        specs: vec![server.specs[discipline].clone()],
        reference: 0,
        measure: Measure { tails: true, order: false, window: None, ..server.measure },
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
    fn probe(&self, load: f64, control: &mut Control<'_>, play: Play<'_>) -> Result<Option<Probe>, RunError> {
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
        let rows = figures::rows(&server, cell);
        let names = match &self.asked.class {
            Some(name) => vec![name.as_str()],
            None => server.classes.iter().map(|class| class.name.as_str()).collect(),
        };
        let each: Vec<Probe> = names.into_iter().map(|name| self.judged(load, name, &rows)).collect();
        let too_few = each.iter().find(|probe| probe.high.is_none() && probe.verdict == Verdict::Undecided);
        if let Some(probe) = too_few.filter(|_| self.tried.is_empty()) {
            return Err(self.too_few(probe));
        }
        Ok(each.into_iter().reduce(worse))
    }

    /// No load would decide it.
    fn too_few(&self, probe: &Probe) -> RunError {
        let reason = format!(
            "the requests of `{}` are too few to tell the {} of their slowdown: lengthen the run, add replications, or ask \
             for a lower quantile",
            probe.class, self.asked.quantile
        );
        refused("stop", reason)
    }

    /// One class at one load.
    fn judged(&self, load: f64, class: &str, rows: &Rows<'_>) -> Probe {
        let lost = rows.measure("class", class, "dropped", "mean");
        let dropped = lost.and_then(|measure| measure.value()).unwrap_or(0.0);
        let told = rows.interval("class", class, "slowdown", self.asked.quantile);
        let (value, low, high) = told.map_or((None, None, None), |(value, ends)| {
            (Some(value), ends.map(|ends| ends.0), ends.map(|ends| ends.1))
        });
        let bound = self.asked.bound;
        let verdict = match (low, high) {
            (_, Some(high)) if high <= bound => Verdict::Met,
            (Some(low), _) if low > bound => Verdict::NotMet,
            _ => Verdict::Undecided,
        };
        // Who is dropped is never served: the quantile of the others says nothing where more are lost than it leaves out.
        let left_out = FAR_QUANTILES.iter().find(|(name, _)| *name == self.asked.quantile);
        let is_lost = left_out.is_some_and(|(_, p)| dropped > 1.0 - p);
        let verdict = if is_lost { Verdict::NotMet } else { verdict };
        Probe { load, class: class.to_owned(), value, low, high, dropped, verdict }
    }

    fn found(mut self, discipline: String, interrupted: bool) -> SloSearch {
        let (met, not_met) = (self.met().cloned(), self.not_met().cloned());
        let low = met.as_ref().map_or(0.0, |probe| probe.load);
        let high = not_met.as_ref().map_or(MOST_LOAD, |probe| probe.load);
        let reached = high - low <= self.precision * high;
        self.tried.sort_by(|a, b| a.load.total_cmp(&b.load));
        SloSearch {
            discipline,
            class: self.asked.class.clone(),
            quantile: self.asked.quantile,
            bound: self.asked.bound,
            precision: self.precision,
            met,
            not_met,
            reached,
            probes: self.tried.len() as u32,
            tried: self.tried,
            interrupted,
        }
    }
}

/// The probe of the class that is worse off.
fn worse(one: Probe, other: Probe) -> Probe {
    let rank = |probe: &Probe| match probe.verdict {
        Verdict::Met => 0,
        Verdict::Undecided => 1,
        Verdict::NotMet => 2,
    };
    let value = |probe: &Probe| probe.high.or(probe.value).unwrap_or(0.0);
    let is_other = (rank(&other), value(&other)) > (rank(&one), value(&one));
    if is_other { other } else { one }
}
