//! The self-checks of a discipline: books that must agree, and identities that hold whatever the order of service.

use crate::collector::measured;
use crate::model::{Process, ServerScenario};
use crate::summary::{Cell, Summary};
use weir_lab::judgement::Judgement;
use weir_lab::result::{Check, LEVEL};
use weir_lab::stats::replications;

/// A check that lets more than this part of it pass says nothing, and is not judged.
const TELLING: f64 = 0.05;
/// The same of a check that rests on an interval.
const TELLING_INTERVAL: f64 = 0.1;

/// The self-checks of a discipline.
#[must_use]
pub fn checks(server: &ServerScenario, discipline: &str, cell: &Cell) -> Vec<Check> {
    if cell.runs.is_empty() {
        return Vec::new();
    }
    let mut checks = vec![conservation(discipline, cell), reported(discipline, cell)];
    checks.extend(busy(discipline, cell));
    checks.extend(work(discipline, cell));
    checks.extend(little(server, discipline, cell));
    checks.extend(utilisation(server, discipline, cell));
    if server.measure.verify {
        let transitions: u64 = cell.runs.iter().map(|run| run.left.checked).sum();
        let note = format!("violations in {transitions} transitions, the first of which ends a run");
        checks.push(Check::new(Some(discipline), "verification", 0.0, 0.0, 0.0, note));
    }
    checks
}

fn sum(cell: &Cell, of: impl Fn(&Summary) -> u128) -> f64 {
    cell.runs.iter().map(of).sum::<u128>() as f64
}

/// Requests that arrived were done or left unserved.
fn conservation(discipline: &str, cell: &Cell) -> Check {
    let offered = sum(cell, |run| run.left.offered.into());
    let left = sum(cell, |run| (run.left.done + run.left.dropped).into());
    let note = "requests that arrived, against those done and those dropped, from beginning to end";
    Check::new(Some(discipline), "conservation", offered, left, 0.0, note)
}

/// Checks that the engine has reported every request that it counted.
fn reported(discipline: &str, cell: &Cell) -> Check {
    let counted = sum(cell, |run| (run.left.done + run.left.dropped).into());
    let reported = sum(cell, |run| (run.told.done + run.told.dropped).into());
    let note = "requests that the engine counted as done or dropped, against those reported one by one";
    Check::new(Some(discipline), "requests reported", counted, reported, 0.0, note)
}

/// Whether a request may have been served in part and dropped then.
fn is_served_in_part(cell: &Cell) -> bool {
    cell.runs.iter().any(|run| run.told.dropped > 0 && run.left.preemptions > 0)
}

/// Cores were busy with services and overheads, and nothing else.
fn busy(discipline: &str, cell: &Cell) -> Option<Check> {
    let busy = sum(cell, |run| run.told.busy) / 1e9;
    let used = sum(cell, |run| run.told.service + run.told.overhead) / 1e9;
    let note = "seconds that cores were busy, against services and overheads, from beginning to end";
    let check = || Check::new(Some(discipline), "busy time", busy, used, 0.0, note);
    (!is_served_in_part(cell)).then(check)
}

/// The work that is done in the measured time is that of the requests that arrive in it, but for those that are present
/// at its ends.
fn work(discipline: &str, cell: &Cell) -> Option<Check> {
    let served = |run: &Summary| {
        let all = run.all_cores();
        u128::from(all.busy - all.overhead)
    };
    let (served, counted) = (sum(cell, served) / 1e9, sum(cell, |run| run.told.counted) / 1e9);
    let reaching = sum(cell, |run| run.told.reaching) / 1e9;
    let note = "seconds of service in the measured time, against those of the requests that arrived in it, but for the \
                requests that were present at one of its ends";
    let tolerance = reaching + served * f64::EPSILON * 4.0;
    let check = || Check::new(Some(discipline), "work", served, counted, tolerance, note);
    (served > 0.0 && !is_served_in_part(cell)).then(|| check().telling(TELLING, served))
}

/// Little's law: the mean number of requests present, against their rate times their mean response. The two differ by
/// the requests that are present at the ends of the measured time, each by its response at most.
fn little(server: &ServerScenario, discipline: &str, cell: &Cell) -> Option<Check> {
    let span = measured(server).span().get() as f64 * cell.runs.len() as f64;
    let spent = |run: &Summary| run.classes[0].times[1].sum;
    let present = sum(cell, |run| (spent(run) + run.told.before).saturating_sub(run.told.after)) / span;
    let spent = sum(cell, spent) / span;
    let reaching = |run: &Summary| {
        let [first, last] = run.told.present;
        u128::from(first + last) * u128::from(run.told.longest)
    };
    let tolerance = sum(cell, reaching) / span;
    let note = "mean number of requests present in the measured time, against their rate times their mean response, but for \
                those that were present at one of its ends";
    let tolerance = tolerance + present * f64::EPSILON * 4.0;
    let check = || Check::new(Some(discipline), "Little's law", present, spent, tolerance, note);
    (present > 0.0).then(|| check().telling(TELLING, present))
}

/// The part of the cores' time that is service is the offered load, less what was dropped.
fn utilisation(server: &ServerScenario, discipline: &str, cell: &Cell) -> Option<Check> {
    // With spare answers and lost parts it is not known how much is served.
    let is_partial = server
        .fan_out
        .is_some_and(|fan_out| fan_out.has_spares() || cell.runs.iter().any(|run| run.told.dropped > 0));
    let load = server.steady_load().filter(|_| !is_partial)?;
    let span = measured(server).span().get() as f64;
    let cores = server.capacity();
    let mean = server.mean_service();
    let lost = |run: &Summary| {
        let each = server.classes.iter().zip(&run.classes[1..]).filter(|(_, part)| part.offered() > 0);
        let work = each.map(|(class, part)| {
            let refused = (part.dropped - part.abandoned - part.lost.iter().sum::<u64>()) as f64;
            class.share * class.service.mean() / mean * refused / part.offered() as f64
        });
        // What those needed that left is known, and may not be the mean: short ones are often served first.
        let known = run.told.abandoned as f64 - run.told.retried as f64;
        work.sum::<f64>() + known / span / cores / load
    };
    let served = |run: &Summary| {
        let all = run.all_cores();
        (all.busy - all.overhead) as f64 / span / cores
    };
    let apart: Vec<f64> = cell.runs.iter().map(|run| served(run) - load * (1.0 - lost(run))).collect();
    let count = cell.runs.len() as f64;
    let expected = load * (1.0 - cell.runs.iter().map(lost).sum::<f64>() / count);
    let measure = replications::mean(&apart);
    let found = expected + measure.value()?;
    let reaching = sum(cell, |run| run.told.reaching) / span / cores / count;
    let ends = at_ends(server) * server.mean_work() / span / cores;
    let note = "offered load less what was dropped, against the part of the cores' time that was service, within its \
                99.9 % interval and the requests that come or are present at the ends of the measured time";
    let check = |span| {
        let tolerance = span + reaching + ends;
        Check::new(Some(discipline), "utilisation", expected, found, tolerance, note).by_interval()
    };
    let Some(estimate) = measure.as_estimate() else {
        return Some(check(0.0).judged(Judgement::none("no interval")));
    };
    let (low, high) = estimate.interval(LEVEL);
    Some(check((high - low) / 2.0).telling(TELLING_INTERVAL, expected))
}

/// How many requests more or fewer than the rate says may come in the measured time, depending on where its ends lie.
fn at_ends(server: &ServerScenario) -> f64 {
    match server.steady().map(|open| (&open.process, open.mean_gap)) {
        Some((Process::Trains { every, .. }, mean_gap)) => every.get() as f64 / mean_gap + 2.0,
        _ => 2.0,
    }
}
