//! Puts a result together: figures, differences, totals, self-checks, provenance.

use std::collections::BTreeMap;

use crate::figures;
use crate::model::{NodeScenario, Operation, Process};
use crate::outcome::{NodeOutcome, NodeTotals, ProcessRow, ProcessTotals, Warning};
use crate::summary::{Cell, QueuePart, Summary};
use crate::tally::{NodeTally, ProcessTally};
use weir_core::task::{Overcommitted, Used};
use weir_core::units::Nanos;
use weir_lab::provenance::{Frame, Provenance};
use weir_lab::result::{Check, Course};
use weir_lab::stats::row::{self, DIFFERENCE, Rows};
use weir_lab::stats::windows::{self, OverTimeRow};

/// A check of Little's law that lets more than this part of it pass says nothing, and is not judged.
const TELLING: f64 = 0.05;
/// The most processes that are named as never having run.
const NAMED: usize = 10;

/// The result of the replications that were finished; cells are in order of the disciplines.
#[must_use]
pub fn outcome(node: &NodeScenario, frame: &Frame, mut cells: Vec<Cell>) -> NodeOutcome {
    let samples = cells.iter_mut().flat_map(|cell| std::mem::take(&mut cell.samples)).collect();
    let timelines = cells.iter_mut().filter_map(|cell| cell.timeline.take()).collect();
    let cells = cells.as_slice();
    let rows: Vec<Rows> = cells.iter().map(|cell| figures::rows(node, cell)).collect();
    let replications = cells.first().map_or(0, |cell| cell.runs.len());
    let interrupted = replications < node.stop.replications as usize;
    let estimates = row::figures(&node.disciplines, &rows);
    let course = Course::new(&node.disciplines, node.reference, interrupted, |_| Some("plain"));
    // Waits are part of responses, by which the run is judged: where hardly anybody waits, their mean is of few.
    let judged: Vec<_> = estimates.iter().filter(|figure| figure.metric != "wait").cloned().collect();
    NodeOutcome {
        provenance: Provenance::new("node", &node.title, node.seed, frame, replications),
        course: Course { random: figures::is_random(node), ..course.judged(&judged, None) },
        epoch: seconds(node.epoch.get()),
        measured: seconds(node.stop.window().span().get()),
        nodes: node.nodes.clone(),
        processes: processes(node),
        queues: node.queues.iter().map(|queue| queue.name.clone()).collect(),
        warnings: named(node, cells).flat_map(|(name, cell)| warnings(node, name, cell)).collect(),
        process_totals: named(node, cells)
            .flat_map(|(name, cell)| process_totals(node, name, cell))
            .collect(),
        node_totals: named(node, cells).flat_map(|(name, cell)| node_totals(node, name, cell)).collect(),
        windows: named(node, cells).flat_map(|(name, cell)| over_time(node, name, cell)).collect(),
        estimates,
        differences: row::differences(&node.disciplines, node.reference, &rows, |_| &[DIFFERENCE]),
        distributions: named(node, cells)
            .flat_map(|(name, cell)| figures::distributions(node, cell, name))
            .collect(),
        samples,
        timelines,
        theory: Vec::new(),
        checks: named(node, cells).flat_map(|(name, cell)| checks(node, name, cell)).collect(),
    }
}

/// The windows of a discipline, where they are asked for.
fn over_time(node: &NodeScenario, discipline: &str, cell: &Cell) -> Vec<OverTimeRow> {
    let each: Vec<_> = cell.runs.iter().map(|run| run.windows.as_slice()).collect();
    windows::over_replications(discipline, node.measure.over_time.unwrap_or_default(), &each)
}

/// The cells, or what is of them, with the discipline.
fn named<'f, T>(node: &'f NodeScenario, cells: &'f [T]) -> impl Iterator<Item = (&'f str, &'f T)> {
    node.disciplines.iter().map(String::as_str).zip(cells)
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

fn processes(node: &NodeScenario) -> Vec<ProcessRow> {
    let row = |process: &Process| ProcessRow {
        name: process.name.clone(),
        node: node.nodes[process.node].clone(),
        priority: process.declared.priority,
        need: seconds(process.declared.need.get()),
        slice: process.declared.slice.map(|slice| seconds(slice.get())),
        deadline: process.deadline.map(|deadline| seconds(deadline.get())),
        system: process.system,
    };
    node.processes.iter().map(row).collect()
}

/// The most that a discipline promises too much of in any replication, for only who moves makes a difference; who waits
/// for ever and who never ran, each as in the first replication where there is any.
fn warnings(node: &NodeScenario, discipline: &str, cell: &Cell) -> Vec<Warning> {
    let mut most = BTreeMap::new();
    for &(place, told) in cell.runs.iter().flat_map(|run| &run.overcommitted) {
        let known: &mut Overcommitted = most.entry(place).or_insert(told);
        if told.committed > known.committed {
            *known = told;
        }
    }
    let promised = most.into_iter().map(|(place, told): (usize, Overcommitted)| {
        let text = format!(
            "all needs together are {} in an epoch of {}: more is promised than there is, and not all of it will be kept",
            told.committed, told.epoch
        );
        (place, text)
    });
    let stranded = cell.runs.iter().find(|run| !run.stranded.is_empty());
    let stranded = stranded.map_or_else(Vec::new, |run| run.stranded.clone());
    let starved = cell.runs.iter().find(|run| !run.starved.is_empty());
    let starved = starved.map_or_else(Vec::new, |run| starvation(node, &run.starved));
    let warning = |(place, text): (usize, String)| Warning {
        discipline: discipline.to_owned(),
        node: node.nodes[place].clone(),
        text,
    };
    promised.chain(stranded).chain(starved).map(warning).collect()
}

/// Who never ran, in words.
fn starvation(node: &NodeScenario, starved: &[(usize, usize)]) -> Vec<(usize, String)> {
    let never_ran = |&(place, process): &(usize, usize)| {
        let name = &node.processes[process].name;
        (place, format!("`{name}` was ready for all of the measured time and never ran"))
    };
    let mut told: Vec<_> = starved.iter().take(NAMED).map(never_ran).collect();
    if let Some((place, _)) = starved.get(NAMED) {
        let more = starved.len() - NAMED;
        told.push((*place, format!("{more} more were ready for all of the measured time and never ran")));
    }
    told
}

/// What was counted of a process in all runs.
fn tally(cell: &Cell, subject: usize) -> ProcessTally {
    let runs = cell.runs.iter().map(|run| run.processes[subject].tally);
    runs.fold(ProcessTally::default(), |mut sum, run| {
        sum.add(&run);
        sum
    })
}

/// The time of a kind of a process in all runs, where the discipline tells.
fn kind(cell: &Cell, subject: usize, of: fn(Used) -> Nanos) -> Option<f64> {
    let runs = cell.runs.iter().map(|run| run.processes[subject].used.map(|used| of(used).get()));
    runs.sum::<Option<u64>>().map(seconds)
}

/// Whether a process is one that is to respond: it has a deadline, or its program waits.
fn responds(process: &Process) -> bool {
    let waits = |operation: &Operation| {
        use Operation::{Dequeue, Replay, Sleep, SleepUntil, Wait, WaitAny};
        matches!(operation, Dequeue(_) | Replay(_) | Sleep(_) | SleepUntil { .. } | Wait(_) | WaitAny)
    };
    process.deadline.is_some() || process.program.operations.iter().any(waits)
}

fn process_totals(node: &NodeScenario, discipline: &str, cell: &Cell) -> Vec<ProcessTotals> {
    let row = |(place, process): (usize, &Process)| {
        let (subject, tally) = (place + 1, tally(cell, place + 1));
        ProcessTotals {
            discipline: discipline.to_owned(),
            process: process.name.clone(),
            run_time: seconds(tally.run_time.get()),
            need_time: kind(cell, subject, |used| used.need),
            uncommitted_time: kind(cell, subject, |used| used.uncommitted),
            windfall_time: kind(cell, subject, |used| used.windfall),
            schedulings: tally.schedulings,
            wakeups: tally.wakeups,
            waits: tally.waits,
            epochs_ready: tally.ready,
            needs_missed: tally.missed,
            worst_shortfall: seconds(tally.shortfall.get()),
            late: process.deadline.map(|_| tally.late),
            unfinished: (tally.unfinished.get() > 0 && responds(process))
                .then(|| seconds(tally.unfinished.get())),
            enqueued: tally.enqueued,
            dequeued: tally.dequeued,
            moves: tally.moves,
        }
    };
    node.processes.iter().enumerate().map(row).collect()
}

/// What was counted of a node in all runs.
fn node_tally(cell: &Cell, subject: usize) -> NodeTally {
    cell.runs.iter().fold(NodeTally::default(), |mut sum, run| {
        sum.add(&run.nodes[subject]);
        sum
    })
}

fn node_totals(node: &NodeScenario, discipline: &str, cell: &Cell) -> Vec<NodeTotals> {
    let row = |(place, name): (usize, &String)| {
        let tally = node_tally(cell, place + 1);
        NodeTotals {
            discipline: discipline.to_owned(),
            node: name.clone(),
            run_time: seconds(tally.run_time.get()),
            idle_time: seconds(tally.idle.get()),
            uncharged_time: seconds(tally.uncharged.get()),
            paths: tally.paths,
            high_over_low: tally.high_over_low,
        }
    };
    node.nodes.iter().enumerate().map(row).collect()
}

/// The self-checks of a discipline.
fn checks(node: &NodeScenario, discipline: &str, cell: &Cell) -> Vec<Check> {
    if cell.runs.is_empty() {
        return Vec::new();
    }
    let mut checks = conservation(node, discipline, cell);
    checks.extend(kinds(node, discipline, cell));
    for (place, queue) in node.queues.iter().enumerate() {
        let parts: Vec<&QueuePart> = cell.runs.iter().map(|run| &run.queues[place + 1]).collect();
        checks.push(data(discipline, &queue.name, &parts));
        checks.extend(little(node, discipline, &queue.name, &parts));
    }
    if node.measure.verify {
        let transitions: u64 = cell.runs.iter().map(|run| run.tally.checked).sum();
        let note = format!("violations in {transitions} transitions, the first of which ends a run");
        checks.push(Check::new(Some(discipline), "verification", 0.0, 0.0, 0.0, note));
    }
    checks
}

/// On every node: run time, idle and uncharged time are what has passed.
fn conservation(node: &NodeScenario, discipline: &str, cell: &Cell) -> Vec<Check> {
    let elapsed = node.stop.window().span().get() * cell.runs.len() as u64;
    let check = |(place, name): (usize, &String)| {
        let tally = node_tally(cell, place + 1);
        let kept = seconds((tally.run_time + tally.idle + tally.uncharged).get());
        let note = format!("seconds that passed on `{name}`, against run, idle and uncharged time there");
        Check::new(Some(discipline), "conservation", seconds(elapsed), kept, 0.0, note)
    };
    node.nodes.iter().enumerate().map(check).collect()
}

/// Where the discipline tells kinds of time apart: they make up the run time. What it cost to leave a process is
/// reported to the discipline where that process runs again, which may be beyond an end of the measured time.
fn kinds(node: &NodeScenario, discipline: &str, cell: &Cell) -> Option<Check> {
    let of = |run: &Summary| {
        let each = run.processes[1..].iter().map(|part| part.used);
        each.map(|used| used.map(|used| (used.need + used.uncommitted + used.windfall).get()))
            .sum::<Option<u64>>()
    };
    let told = cell.runs.iter().map(of).sum::<Option<u64>>()?;
    let costs = &node.costs;
    let once = costs.timer + costs.swap + costs.post.max(costs.remote);
    let places = (node.processes.len() + node.nodes.len()) as u64;
    let ends = 2 * places * cell.runs.len() as u64;
    let note = "seconds that processes ran, against those of need, uncommitted and windfall time; what it cost to leave a \
                process before an end of the measured time may be charged after it";
    let run = seconds(node_tally(cell, 0).run_time.get());
    let tolerance = seconds(once.get().saturating_mul(ends));
    Some(Check::new(Some(discipline), "kinds of time", run, seconds(told), tolerance, note))
}

/// What was in a queue and came is what left and is still in it.
fn data(discipline: &str, queue: &str, parts: &[&QueuePart]) -> Check {
    let sum = |of: fn(&QueuePart) -> u64| parts.iter().map(|part| of(part)).sum::<u64>() as f64;
    let come = sum(|part| part.tally.first + part.tally.enqueued);
    let gone = sum(|part| part.tally.dequeued + part.tally.last);
    let note = format!("data in `{queue}` and put there, against those taken out and still there");
    Check::new(Some(discipline), "data", come, gone, 0.0, note)
}

/// Little's law: the mean length of a queue, against the time that data lay there over the time measured. The two
/// differ by what is there at the end: not longer than since the last that was taken out was put in.
fn little(node: &NodeScenario, discipline: &str, queue: &str, parts: &[&QueuePart]) -> Option<Check> {
    let window = node.stop.window();
    let over = |sum: u128| sum as f64 / window.span().get() as f64 / parts.len() as f64;
    let rest = |part: &&QueuePart| {
        let longest = window.until.since(part.tally.oldest.max(window.from)).get();
        u128::from(part.tally.last) * u128::from(longest)
    };
    let area = over(parts.iter().map(|part| part.tally.area).sum());
    let aged = over(parts.iter().map(|part| part.tally.aged).sum());
    let tolerance = over(parts.iter().map(rest).sum());
    let note = format!(
        "mean length of `{queue}`, against throughput times mean age in the measured time, but for what is there at its end"
    );
    // Sums of whole numbers, rounded once.
    let rounding = area * f64::EPSILON * 4.0;
    let check = || Check::new(Some(discipline), "Little's law", area, aged, tolerance + rounding, note);
    // Of a queue in which nothing ever lay there is nothing to say.
    (area > 0.0).then(|| check().telling(TELLING, area))
}
