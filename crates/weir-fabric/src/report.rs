//! Puts a result together: figures, differences, saturation, self-checks, provenance.

use crate::figures::{self, SECOND_CONFIDENCE};
use crate::model::FabricScenario;
use crate::outcome::{ChannelRow, FabricOutcome, FabricSize, Saturation, Subject, Totals};
use crate::summary::{Cell, Part, Summary};
use crate::time::ticks;
use crate::topology::Wiring;
use crate::{job, offered};
use weir_core::discipline::Effort;
use weir_lab::judgement::Judgement;
use weir_lab::provenance::{Frame, Provenance};
use weir_lab::result::{Check, Course};
use weir_lab::stats::Measure;
use weir_lab::stats::row::{self, Rows};
use weir_lab::stats::windows::{self, OverTimeRow};

/// Less than this part of what is offered arrives where a channel saturates.
const ACCEPTED: f64 = 0.99;
/// A check of the offered load that lets more than this part of it pass says nothing, and is left out.
const TELLING: f64 = 0.05;

/// The result of the replications that were finished; cells are in order of the disciplines, each with all loads.
#[must_use]
pub fn outcome(fabric: &FabricScenario, frame: &Frame, cells: &[Cell]) -> FabricOutcome {
    let rows: Vec<_> =
        named(fabric, cells).map(|((_, load), cell)| figures::rows(fabric, load, cell)).collect();
    let replications = cells.first().map_or(0, |cell| cell.runs.len());
    let interrupted = replications < fabric.stop.replications as usize;
    let engine = |place| Some(job::engine(fabric, place));
    let estimates = row::figures(&fabric.disciplines, &rows);
    let course = Course::new(&fabric.disciplines, fabric.reference, interrupted, engine);
    FabricOutcome {
        provenance: Provenance::new("fabric", &fabric.title, fabric.seed, frame, replications),
        length_unit: "B",
        course: course.settling(&estimates, None, figures::words),
        size: size(fabric),
        channels: channels(fabric),
        loads: fabric.traffic.loads.clone(),
        totals: named(fabric, cells).map(|(name, cell)| totals(name, cell)).collect(),
        estimates,
        differences: row::differences(&fabric.disciplines, fabric.reference, &rows, figures::compared),
        saturation: saturation(fabric, &rows),
        windows: named(fabric, cells)
            .flat_map(|((discipline, _), cell)| over_time(fabric, discipline, cell))
            .collect(),
        distributions: named(fabric, cells)
            .flat_map(|(name, cell)| figures::distributions(fabric, cell, name))
            .collect(),
        theory: Vec::new(),
        checks: checks(fabric, cells, &rows),
    }
}

fn over_time(fabric: &FabricScenario, discipline: &str, cell: &Cell) -> Vec<OverTimeRow> {
    let each: Vec<_> = cell.runs.iter().map(|run| run.windows.as_slice()).collect();
    windows::over_replications(discipline, fabric.over_time.unwrap_or_default(), &each)
}

/// The cells, or what is of them, with discipline and load.
fn named<'f, T>(fabric: &'f FabricScenario, cells: &'f [T]) -> impl Iterator<Item = ((&'f str, f64), &'f T)> {
    let loads = &fabric.traffic.loads;
    let names =
        fabric.disciplines.iter().flat_map(move |name| loads.iter().map(move |&load| (&**name, load)));
    names.zip(cells)
}

fn size(fabric: &FabricScenario) -> FabricSize {
    // A topology that cannot be wired was refused before anything ran.
    let none = FabricSize { hosts: 0, switches: 0, links: 0 };
    Wiring::new(fabric.topology).map_or(none, |wiring| FabricSize {
        hosts: wiring.hosts(),
        switches: wiring.switches(),
        links: wiring.links(),
    })
}

/// The channels, their shares as parts of one.
fn channels(fabric: &FabricScenario) -> Vec<ChannelRow> {
    let all: f64 = fabric.channels.iter().map(|channel| channel.share).sum();
    let rows = fabric
        .channels
        .iter()
        .map(|channel| ChannelRow { name: channel.name.clone(), share: channel.share / all });
    rows.collect()
}

fn totals((discipline, load): (&str, f64), cell: &Cell) -> Totals {
    let sum = |of: fn(&Summary) -> u64| cell.runs.iter().map(of).sum();
    let efforts = cell.runs.iter().map(|run| run.tally.effort);
    let effort = efforts.fold(Effort::default(), |sum, one| sum.plus(one));
    Totals {
        discipline: discipline.to_owned(),
        load,
        generated: sum(|run| run.tally.generated),
        delivered: sum(|run| run.tally.delivered),
        traversals: sum(|run| run.tally.traversals),
        decisions: effort.decisions,
        examined: effort.examined,
        most_examined: effort.most_examined,
        steps: effort.steps,
        most_steps: effort.most_steps,
    }
}

/// Whether less than 99 % of what is offered arrives, and that is no chance: the 90 % interval of the replications is
/// below. One replication has no interval, and shows no saturation.
fn saturates(accepted: &Measure) -> bool {
    accepted.as_estimate().is_some_and(|accepted| accepted.interval(SECOND_CONFIDENCE).1 < ACCEPTED)
}

/// For each discipline and channel, and for all channels together, the least of the loads at which it saturates.
fn saturation(fabric: &FabricScenario, rows: &[Rows<Subject>]) -> Vec<Saturation> {
    let mut all = Vec::new();
    for (discipline, cells) in fabric.disciplines.iter().zip(rows.chunks(fabric.traffic.loads.len())) {
        for (place, channel) in figures::channels(fabric).enumerate() {
            let each = cells.iter().filter_map(|rows| figures::accepted(rows).nth(place));
            let saturated = each.filter(|row| saturates(&row.measure)).map(|row| row.title.subject.load);
            all.push(Saturation {
                discipline: discipline.clone(),
                channel: channel.to_owned(),
                load: saturated.min_by(f64::total_cmp),
            });
        }
    }
    all
}

/// The self-checks: of the traffic at each load, and of each discipline there.
fn checks(fabric: &FabricScenario, cells: &[Cell], rows: &[Rows<Subject>]) -> Vec<Check> {
    let loads = &fabric.traffic.loads;
    let of_traffic = loads.iter().zip(rows).filter_map(|(&load, rows)| {
        let replications = cells.first()?.runs.len();
        let found = figures::offered(rows)?.value()?;
        let expected = load * offered::measured_rate(fabric);
        let of = if fabric.traffic.curve.is_some() { OF_CURVE } else { "" };
        Some(offered((expected, of), found, offered::tolerance(fabric, load, replications)))
    });
    let mut checks: Vec<Check> = of_traffic.collect();
    for (place, ((discipline, load), cell)) in named(fabric, cells).enumerate() {
        let sum = |cell: &Cell, of: fn(&Summary) -> u64| cell.runs.iter().map(of).sum::<u64>() as f64;
        let generated = sum(cell, |run| run.told[0]);
        let kept = sum(cell, |run| run.told[2] + run.tally.generated.saturating_sub(run.tally.delivered));
        let note =
            format!("packets generated at load {load}, against those delivered and those still inside");
        checks.push(Check::new(Some(discipline), "conservation", generated, kept, 0.0, note));
        let first = &cells[place % loads.len()];
        if place >= loads.len() {
            let note =
                format!("packets generated at load {load}, against those under `{}`", fabric.disciplines[0]);
            let others = sum(first, |run| run.told[0]);
            checks.push(Check::new(Some(discipline), "same packets", others, generated, 0.0, note));
        }
        checks.extend(little(fabric, (discipline, load), cell, &rows[place]));
        if fabric.verify {
            let events = sum(cell, |run| run.tally.checked);
            let note =
                format!("violations in {events:.0} events at load {load}, the first of which ends a run");
            checks.push(Check::new(Some(discipline), "verification", 0.0, 0.0, 0.0, note));
        }
    }
    checks
}

/// What is said of a load that follows a curve.
const OF_CURVE: &str = " in the measured part of traffic.curve";

/// The load that was offered, against the scenario's; judged where it is known what chance leaves, and that is little.
fn offered((load, of): (f64, &str), found: f64, tolerance: Option<f64>) -> Check {
    let note = format!("wire bytes over what links carry, against the scenario's{of}");
    let check = |tolerance, note: String| Check::new(None, "offered load", load, found, tolerance, note);
    let Some(tolerance) = tolerance else {
        let reason = "how much such sources vary is not known";
        return check(0.0, note).judged(Judgement::none(reason));
    };
    let within = format!(
        "{note}, within {:.2} %, which such sources leave 1 time in 1000 at most",
        100.0 * tolerance / load
    );
    check(tolerance, within).by_interval().telling(TELLING, load)
}

/// Little's law in the channels of which 99 % arrives: packets inside in the mean, from entries and deliveries, against
/// throughput times mean latency. The two differ by the packets that are inside at an end of the measured time, each
/// by less than the longest latency; in a saturated channel some may have been there for longer.
fn little(
    fabric: &FabricScenario,
    (discipline, load): (&str, f64),
    cell: &Cell,
    rows: &Rows<Subject>,
) -> Option<Check> {
    let accepted: Vec<Option<f64>> = figures::accepted(rows).map(|row| row.measure.value()).collect();
    let stable = |&channel: &usize| accepted[channel].is_some_and(|accepted| accepted >= ACCEPTED);
    let channels: Vec<usize> = (1..accepted.len()).filter(stable).collect();
    let parts = || cell.runs.iter().flat_map(|run| channels.iter().map(|&channel| &run.parts[channel]));
    parts().next()?;
    let span = ticks(fabric.stop.duration).saturating_sub(ticks(fabric.stop.warm_up)) as f64;
    let over = |sum: f64| sum / span / cell.runs.len() as f64;
    let area: i128 = parts().map(|part| part.inside.area).sum();
    let latency: u128 = parts().map(|part| part.latencies[0].sum).sum();
    let at_ends = |part: &Part| (part.inside.first + part.inside.last) as f64;
    let ends: f64 = parts().map(|part| at_ends(part) * part.latencies[0].longest as f64).sum();
    let note = format!(
        "packets from interfaces to delivery at load {load} in channels that do not saturate, against throughput \
         times mean latency, but for those inside when the measured time begins or ends"
    );
    let (area, latency) = (over(area as f64), over(latency as f64));
    Some(Check::new(Some(discipline), "Little's law", area, latency, over(ends), note))
}
