//! Puts a result together: figures, differences, totals, warnings, provenance.

use crate::collector::{InUseCounts, WindowSum, measured};
use crate::model::{Class, Open, Process, ServerScenario, Workload};
use crate::outcome::{
    ClassRow, ClassTotals, CoreTotals, DisciplineTotals, InUse, ServerOutcome, Warning, Windows,
};
use crate::record::Unserved;
use crate::run_length::Length;
use crate::summary::{self, Cell, ClassPart, Summary};
use crate::{comparison, figures, run_length, selfcheck};
use weir_core::item::Message;
use weir_core::registry;
use weir_core::spec::Spec;
use weir_core::units::Nanos;
use weir_document::quantity::Clock;
use weir_lab::provenance::{Frame, Provenance};
use weir_lab::result::Course;
use weir_lab::stats::DelayOverTime;
use weir_lab::stats::figure::ALL;
use weir_lab::stats::row::{self, DIFFERENCE, Rows};
use weir_lab::stats::windows::{self, OverTimeRow};
use weir_workload::Arrivals;
use weir_workload::curve::Measured;

/// The growth of a queue over the measured time, as a part of the requests that arrive, from which it counts as growing.
const GROWING: f64 = 0.01;
/// And this many for each core.
const GROWING_CORE: f64 = 20.0;
/// With fewer control periods a discipline has not steered.
const FEWEST_PERIODS: u64 = 5;

/// Why a scenario has no means, where that is so: more work arrives than can be done, and nothing is dropped.
#[must_use]
pub fn statement(server: &ServerScenario) -> Option<String> {
    let cores = server.site.servers;
    if let Some(load) = server.receiver_load().filter(|load| *load >= 1.0 && server.ring.is_none()) {
        return Some(format!(
            "receivers are offered {load:.4} of what they can handle, not below 1: requests come faster \
             than they are dispatched, wait without end and no mean exists; lower the load or the dispatch \
             cost, add receivers, or bound server.ring"
        ));
    }
    // What is cancelled is not done, and it is not known before how much that is.
    if server.all_leave() || server.cancels() {
        return None;
    }
    let grows = |load: &f64| *load * server.joining() >= 1.0 && server.site.queue.is_none();
    let load = server.lasting_load().filter(grows)?;
    Some(format!(
        "offered load {load} is not below 1: more work arrives than {cores} cores can do, queues grow without end and no \
         mean exists; lower workload.load below 1, or bound the queues"
    ))
}

/// The result of the replications that were finished; cells are in order of the disciplines.
#[must_use]
pub fn outcome(server: &ServerScenario, frame: &Frame, cells: &[Cell]) -> ServerOutcome {
    let rows: Vec<Rows> =
        cells.iter().enumerate().map(|(place, cell)| figures::rows(server, place, cell)).collect();
    let replications = cells.first().map_or(0, |cell| cell.runs.len());
    let mut warnings: Vec<Warning> = overload(server).into_iter().collect();
    warnings.extend(storm(server));
    warnings.extend(without_variance(server));
    warnings.extend(parts_of_periods(server));
    warnings.extend(lengths(server));
    warnings.extend(named(server, cells).filter_map(|(name, cell)| growth(server, name, cell)));
    warnings.extend(
        server
            .specs
            .iter()
            .zip(&server.disciplines)
            .filter_map(|(spec, name)| standstill(server, spec, name)),
    );
    let theory: Vec<_> = (0..cells.len())
        .flat_map(|place| comparison::rows(server, place, &cells[place], &rows[place]))
        .collect();
    let apart =
        (0..cells.len()).filter_map(|place| comparison::disagreement(server, place, &theory, &rows[place]));
    warnings.extend(apart);
    let interrupted = replications < server.stop.replications as usize;
    let engine = |place: usize| engine(cells.get(place)?);
    let estimates = row::figures(&server.disciplines, &rows);
    let reason = warnings.iter().find(|warning| warning.text.starts_with(run_length::SHORT));
    let reason = reason.map(|warning| warning.text.clone());
    ServerOutcome {
        course: Course {
            random: server.is_random(),
            ..Course::new(&server.disciplines, server.reference, interrupted, engine)
                .judged(&estimates, reason)
        },
        warnings,
        class_totals: named(server, cells)
            .flat_map(|(name, cell)| class_totals(server, name, cell))
            .collect(),
        discipline_totals: named(server, cells).map(|(name, cell)| discipline_totals(name, cell)).collect(),
        core_totals: named(server, cells).flat_map(|(name, cell)| core_totals(server, name, cell)).collect(),
        estimates,
        differences: row::differences(&server.disciplines, server.reference, &rows, |_| &[DIFFERENCE]),
        distributions: named(server, cells)
            .flat_map(|(name, cell)| figures::distributions(server, cell, name))
            .collect(),
        windows: named(server, cells).flat_map(|(name, cell)| windows(server, name, cell)).collect(),
        over_time: named(server, cells)
            .flat_map(|(name, cell)| figures_over_time(server, name, cell))
            .collect(),
        delay_over_time: named(server, cells)
            .flat_map(|(name, cell)| delay_over_time(server, name, cell))
            .collect(),
        in_use: named(server, cells)
            .filter(|(_, cell)| !cell.runs.is_empty())
            .map(|(name, cell)| in_use(server, name, &cell.in_use))
            .collect(),
        theory,
        checks: named(server, cells).flat_map(|(name, cell)| selfcheck::checks(server, name, cell)).collect(),
        ..empty(server, frame, replications)
    }
}

/// The result of a scenario that has no means: a statement.
#[must_use]
pub fn without_means(server: &ServerScenario, frame: &Frame, statement: String) -> ServerOutcome {
    let mut outcome = empty(server, frame, 0);
    outcome.course.unstable = Some(statement);
    outcome
}

/// The closed forms of a scenario: a result without a simulation.
#[must_use]
pub fn theory_only(server: &ServerScenario, frame: &Frame) -> ServerOutcome {
    match statement(server) {
        Some(statement) => without_means(server, frame, statement),
        None => ServerOutcome { theory: comparison::alone(server), ..empty(server, frame, 0) },
    }
}

/// What a result has before anything runs.
fn empty(server: &ServerScenario, frame: &Frame, replications: usize) -> ServerOutcome {
    ServerOutcome {
        provenance: Provenance::new("server", &server.title, server.seed, frame, replications),
        load: server.load.or(server.lasting_load()),
        course: Course::new(&server.disciplines, server.reference, false, |_| None),
        cores: server.site.servers,
        receivers: server.site.receivers,
        queue: server.site.queue,
        measured: seconds(u128::from(measured(server).span().get())),
        classes: server.classes.iter().map(class).collect(),
        warnings: Vec::new(),
        notes: curve(server)
            .into_iter()
            .chain(correlation(server))
            .chain(server.classes.iter().filter_map(without_mean_slowdown))
            .collect(),
        class_totals: Vec::new(),
        discipline_totals: Vec::new(),
        core_totals: Vec::new(),
        estimates: Vec::new(),
        differences: Vec::new(),
        distributions: Vec::new(),
        windows: Vec::new(),
        over_time: Vec::new(),
        delay_over_time: Vec::new(),
        in_use: Vec::new(),
        theory: Vec::new(),
        checks: Vec::new(),
    }
}

/// The cells, or what is of them, with the discipline.
fn named<'f, T>(server: &'f ServerScenario, cells: &'f [T]) -> impl Iterator<Item = (&'f str, &'f T)> {
    server.disciplines.iter().map(String::as_str).zip(cells)
}

fn seconds(nanoseconds: u128) -> f64 {
    nanoseconds as f64 / 1e9
}

fn class(class: &Class) -> ClassRow {
    ClassRow {
        name: class.name.clone(),
        share: class.share,
        service: class.service.mean() / 1e9,
        slo: class.slo,
    }
}

/// The engine that ran a discipline, if any replication was finished.
fn engine(cell: &Cell) -> Option<&'static str> {
    let is_accelerated = cell.runs.first()?.left.accelerated;
    Some(if is_accelerated { "accelerated" } else { "plain" })
}

/// Why the mean slowdown of a class is of the grid of time, and not of the class.
fn without_mean_slowdown(class: &Class) -> Option<String> {
    class.service.is_exponential().then(|| {
        format!(
            "the mean slowdown of `{}`, and of all requests with it, has no limit: exponential services come arbitrarily \
             near to 0, and the mean of one over them is infinite. What is shown rests on the grid of 1ns, to which \
             services are rounded, and grows with their mean in nanoseconds; compare quantiles of the slowdown, or responses",
            class.name
        )
    })
}

/// Where a rate follows a curve: the load over all of it, where it is highest, and in the measured time.
fn curve(server: &ServerScenario) -> Option<String> {
    let ((open, curve), load) = (server.curve()?, server.load?);
    curve.words_of_load(load, &measured_of_curve(server)).filter(|_| open.mean_gap > 0.0)
}

/// The measured time, for the words of a curve.
fn measured_of_curve(server: &ServerScenario) -> Measured {
    let window = measured(server);
    let [from, until] = [window.from, window.until].map(|end| Nanos::new(end.get()));
    Measured { from, until, clock: Clock::Seconds, is_about: false }
}

/// How far arrivals that depend on a phase are from Poisson ones.
fn correlation(server: &ServerScenario) -> Option<String> {
    let Workload::Open(Open { process: Process::Arrivals(Arrivals::Markov(process)), .. }) = &server.workload
    else {
        return None;
    };
    let ((scv, correlation), dispersion) = (process.gaps()?, process.dispersion()?);
    Some(format!(
        "gaps between arrivals have a coefficient of variation of {:.4} and a correlation of {correlation:.4} with the next; \
         in the long run the number of arrivals varies {dispersion:.4} times as much as that of a Poisson process",
        scv.max(0.0).sqrt()
    ))
}

/// More than one period of a curve is measured, and the last one in part.
fn parts_of_periods(server: &ServerScenario) -> Option<Warning> {
    let text = server.curve()?.1.words_of_part(&measured_of_curve(server))?;
    (!server.measures_whole_periods()).then_some(Warning { discipline: None, text })
}

/// The run is short for its load.
fn lengths(server: &ServerScenario) -> impl Iterator<Item = Warning> {
    let each = server.disciplines.iter().enumerate();
    each.filter_map(|(place, discipline)| Length::of(server, place)?.warning(discipline))
}

/// Where every attempt fails, there are more of them than can be done.
fn storm(server: &ServerScenario) -> Option<Warning> {
    let retry = server.retry.filter(|retry| retry.budget.is_none() && server.breaker.is_none())?;
    // With a burst, the load before it and after.
    let in_a_burst = server.load.filter(|_| server.burst_ends().is_some());
    let load = server.lasting_load().or(in_a_burst)?;
    let most = load * f64::from(retry.attempts);
    let text = format!(
        "retries have no budget: where attempts fail, up to {} come for each request, a load of {most:.3}, which is not \
         below 1, so that a burst may keep the queues full for good; give workload.retry a `budget`, such as 0.1",
        retry.attempts
    );
    (most >= 1.0).then_some(Warning { discipline: None, text })
}

/// Services of infinite variance: no run is long enough for an interval of the mean.
fn without_variance(server: &ServerScenario) -> Option<Warning> {
    let text = "the variance of the services is infinite: means settle slowly or not at all, and their intervals are too \
                narrow; trust quantiles, or bound the law with `bounded_pareto`";
    server.second_moment().is_infinite().then(|| Warning { discipline: None, text: text.to_owned() })
}

/// More is offered than can be done, and queues are bounded.
fn overload(server: &ServerScenario) -> Option<Warning> {
    if server.all_leave() || server.cancels() {
        return None;
    }
    let fills = |load: &f64| *load * server.joining() >= 1.0;
    let (load, queue) = (server.lasting_load().filter(fills)?, server.site.queue?);
    let text = format!(
        "offered load {load} is not below 1: more work arrives than {} cores can do, so queues of {queue} requests for each \
         core fill up and the rest is dropped; delays are those of full queues",
        server.site.servers
    );
    Some(Warning { discipline: None, text })
}

/// Many more requests were present at the end of the measured time than at its beginning.
fn growth(server: &ServerScenario, discipline: &str, cell: &Cell) -> Option<Warning> {
    server.steady()?;
    let sum = |of: fn(&Summary) -> u64| cell.runs.iter().map(of).sum::<u64>();
    let [first, last] =
        [0, 1].map(|end: usize| cell.runs.iter().map(|run| run.told.present[end]).sum::<u64>());
    let offered = sum(|run| run.classes[0].offered());
    let floor = GROWING_CORE * f64::from(server.site.servers) * cell.runs.len() as f64;
    let grown = last.saturating_sub(first);
    let is_growing = grown as f64 > floor.max(GROWING * offered as f64);
    let text = format!(
        "{first} requests were present where the measured time begins and {last} where it ends, of {offered} that arrived \
         in it: queues may grow without end, and then means depend on the length of the run"
    );
    is_growing.then(|| Warning { discipline: Some(discipline.to_owned()), text })
}

/// A discipline is to steer by what it measures, and the run is over before it has.
fn standstill(server: &ServerScenario, spec: &Spec, discipline: &str) -> Option<Warning> {
    let period = registry::pool::<Message<Nanos>>(spec, &server.site).ok()?.period()?;
    let duration = server.stop.duration;
    let text = format!(
        "it decides how many cores to use every {period}, and a replication lasts {duration}: what is shown is how it begins; \
         give it a shorter `period`, or lengthen the run with stop.duration"
    );
    let is_short = duration.get() / FEWEST_PERIODS < period.get();
    is_short.then(|| Warning { discipline: Some(discipline.to_owned()), text })
}

fn class_totals(server: &ServerScenario, discipline: &str, cell: &Cell) -> Vec<ClassTotals> {
    let names = std::iter::once(ALL).chain(server.classes.iter().map(|class| class.name.as_str()));
    let row = |(subject, name): (usize, &str)| {
        let sum = |of: fn(&ClassPart) -> u64| cell.runs.iter().map(|run| of(&run.classes[subject])).sum();
        let lost = |why: Unserved| {
            let each = cell.runs.iter().map(|run| run.classes[subject].lost[why as usize]);
            server.may_lose(why).then(|| each.sum())
        };
        ClassTotals {
            discipline: discipline.to_owned(),
            class: name.to_owned(),
            offered: sum(ClassPart::offered),
            done: sum(|part| part.done),
            dropped: sum(|part| part.dropped),
            abandoned: server.has_patience().then(|| sum(|part| part.abandoned)),
            balked: lost(Unserved::Balked),
            missed: lost(Unserved::Missed),
            refused: lost(Unserved::Refused),
            retried: server.retry.map(|_| sum(|part| part.retried)),
            late: server.has_timeout().then(|| sum(|part| part.late)),
            sent: server.fan_out.map(|_| sum(|part| part.parts.sent)),
            copies: server.hedges().then(|| sum(|part| part.parts.copies)),
            cancelled: server.cancels().then(|| sum(|part| part.parts.cancelled)),
            reordered: server.measure.order.then(|| sum(|part| part.reordered)),
            cold: server.tells_cold().then(|| sum(|part| part.cold)),
        }
    };
    names.enumerate().map(row).collect()
}

fn discipline_totals(discipline: &str, cell: &Cell) -> DisciplineTotals {
    let sum = |of: fn(&Summary) -> u64| cell.runs.iter().map(of).sum();
    DisciplineTotals {
        discipline: discipline.to_owned(),
        offered: sum(|run| run.left.offered),
        done: sum(|run| run.left.done),
        dropped: sum(|run| run.left.dropped),
        decisions: sum(|run| run.left.decisions),
        preemptions: sum(|run| run.left.preemptions),
        moved: sum(|run| run.left.moved),
        peak_in_use: cell.runs.iter().map(|run| run.peak).max().unwrap_or(0),
    }
}

fn core_totals(server: &ServerScenario, discipline: &str, cell: &Cell) -> Vec<CoreTotals> {
    let row = |core: u32| {
        let of = |run: &Summary| run.cores[core as usize];
        CoreTotals {
            discipline: discipline.to_owned(),
            core,
            busy: seconds(cell.runs.iter().map(|run| u128::from(of(run).busy)).sum()),
            overhead: seconds(cell.runs.iter().map(|run| u128::from(of(run).overhead)).sum()),
        }
    };
    (0..server.site.servers).filter(|_| !cell.runs.is_empty()).map(row).collect()
}

fn windows(server: &ServerScenario, discipline: &str, cell: &Cell) -> Vec<Windows> {
    let (Some(length), Some(windows)) = (server.measure.window, &cell.windows) else { return Vec::new() };
    let names = server.classes.iter().enumerate().map(|(place, class)| (Some(place), class.name.as_str()));
    let row = |(class, name): (Option<usize>, &str)| {
        let each: Vec<WindowSum> = summary::means(&windows.sums, server.classes.len(), class).collect();
        Windows {
            discipline: discipline.to_owned(),
            class: name.to_owned(),
            metric: "delay",
            unit: "s",
            interval: seconds(u128::from(length.get())),
            values: each.iter().map(|window| window.mean().map(|mean| mean / 1e9)).collect(),
            counts: each.iter().map(|window| window.count).collect(),
        }
    };
    std::iter::once((None, ALL)).chain(names).map(row).collect()
}

fn figures_over_time(server: &ServerScenario, discipline: &str, cell: &Cell) -> Vec<OverTimeRow> {
    let length = server.measure.window.unwrap_or_default();
    let each: Vec<_> = cell.runs.iter().map(|run| run.over_time.as_slice()).collect();
    windows::over_replications(discipline, length, &each)
}

fn delay_over_time(server: &ServerScenario, discipline: &str, cell: &Cell) -> Vec<DelayOverTime> {
    cell.over_time.rows(discipline, server.classes.iter().map(|class| class.name.as_str()))
}

fn in_use(server: &ServerScenario, discipline: &str, counts: &InUseCounts) -> InUse {
    let begin = (0, server.site.servers);
    let begins = counts.changes.first().is_none_or(|change| change.0 > 0).then_some(begin);
    let changes: Vec<(u64, u32)> = begins.into_iter().chain(counts.changes.iter().copied()).collect();
    InUse {
        discipline: discipline.to_owned(),
        truncated: counts.truncated,
        at: changes.iter().map(|change| seconds(u128::from(change.0))).collect(),
        count: changes.iter().map(|change| change.1).collect(),
    }
}
