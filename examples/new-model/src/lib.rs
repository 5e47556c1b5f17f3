//! A bus stop: passengers come one by one, a bus comes now and then, and a discipline says who boards.
//!
//! | | |
//! |-|-|
//! | Source | this project, as an example of a new model |
//! | Work | O(passengers) calls of the discipline |
//! | Time | whole nanoseconds; figures in seconds |
//!
//! Times between passengers are exponential; each travels from 1 to all of the stops, equally likely, which is the cost
//! that disciplines see. The same passengers come under every discipline. At each bus as many board as it has seats; who
//! comes at that instant is in time. A run ends with its last bus.

#![deny(missing_docs)]

mod document;
mod figures;

use std::num::NonZeroUsize;

use weir_core::discipline::{CountDrops, Discipline, Open};
use weir_core::item::{ClassId, FlowId, Message};
use weir_core::registry;
use weir_core::units::{Instant, Nanos, Packets};
use weir_document::NamedDiscipline;
use weir_lab::control::Watch;
use weir_lab::error::RunError;
use weir_lab::provenance::Provenance;
use weir_lab::result::Outcome;
use weir_lab::runner::{Job, Model, run_through};
use weir_lab::scenario::Scenario;
use weir_lab::stream::Purpose;

use figures::{Cell, Count, Left, boards, conservation, distributions, rows};

/// What the engine runs.
#[derive(Debug)]
pub struct BusStop {
    title: String,
    seed: u64,
    disciplines: Vec<NamedDiscipline>,
    reference: usize,
    every: Nanos,
    seats: u64,
    stops: u64,
    between: Nanos,
    duration: Nanos,
    replications: u32,
}

impl Model for BusStop {
    type Cell = Cell;

    fn replications(&self) -> u32 {
        self.replications
    }

    fn duration(&self) -> Nanos {
        self.duration
    }

    fn cells(&self) -> Vec<Cell> {
        self.disciplines.iter().map(|_| Cell::default()).collect()
    }

    fn play(&self, job: Job, watch: &Watch<'_>) -> Result<Option<Left>, RunError> {
        let [mut gaps, mut trips] =
            [Purpose::Arrivals, Purpose::Lengths].map(|purpose| job.stream(self.seed, purpose));
        let mut gap = || gaps.next_exponential(self.between.get() as f64);
        let mut discipline = registry::message_discipline::<Message>(&self.disciplines[job.cell].spec)?;
        let (mut drops, mut told) = (CountDrops::default(), 0);
        let (mut left, mut came) = (Left::default(), Vec::new());
        let (mut next, every) = (gap(), self.every.get());
        for bus in (every..=self.duration.get()).step_by(every as usize) {
            while next <= bus {
                let trip = 1 + trips.next_below(self.stops);
                let passenger = Message {
                    id: came.len() as u32,
                    flow: FlowId(trip as u32),
                    class: ClassId::default(),
                    remaining: Packets::new(trip),
                };
                let _ = discipline.enqueue(Instant::new(next), passenger, &mut drops);
                came.push(next);
                next += gap();
            }
            left.counts[Count::Buses as usize] += 1;
            for _ in 0..self.seats {
                let Some(grant) = discipline.dequeue(Instant::new(bus), &Open, &mut drops) else { break };
                discipline.finish(Instant::new(bus), &grant.item, grant.item.remaining);
                let is_short = grant.item.remaining.get() * 2 <= self.stops;
                boards(&mut left, bus - came[grant.item.id as usize], every, is_short);
            }
            watch.passed(&mut told, bus);
            if watch.cancelled() {
                return Ok(None);
            }
        }
        left.counts[Count::Came as usize] = came.len() as u64;
        left.counts[Count::Waiting as usize] = discipline.backlog().items;
        left.counts[Count::Dropped as usize] = drops.0;
        Ok(Some(left))
    }
}

/// Runs a scenario; the result is the same for any number of threads.
///
/// # Errors
/// A discipline cannot be built.
pub fn outcome(scenario: &Scenario<BusStop>, threads: NonZeroUsize) -> Result<Outcome, RunError> {
    let stop = &scenario.model;
    let cells = run_through(stop, threads)?;
    let finished = cells.first().map_or(0, |cell| cell.replications());
    let provenance = Provenance::new("bus-stop", &stop.title, stop.seed, &scenario.frame, finished);
    let named = || stop.disciplines.iter().map(|discipline| &*discipline.name).zip(&cells);
    let mut outcome = Outcome::new(provenance, stop, &cells.iter().map(rows).collect::<Vec<_>>(), ());
    outcome.course.unstable = stop.unstable();
    outcome.distributions = named().flat_map(|(name, cell)| distributions(name, cell)).collect();
    outcome.checks = named().map(|(name, cell)| conservation(name, cell)).collect();
    Ok(outcome)
}
