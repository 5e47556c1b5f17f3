//! Runs a scenario of the network: from the checked model to the result. A cell is a discipline.

use crate::build::{self, Job};
use crate::job::{self, Ended};
use crate::model::NetworkScenario;
use crate::outcome::NetworkOutcome;
use crate::summary::Summary;
use crate::{packets, plain, report};
use weir_core::units::Nanos;
use weir_lab::control::{Control, Watch};
use weir_lab::error::RunError;
use weir_lab::gathered;
use weir_lab::provenance::Frame;
use weir_lab::recorded::{self, Heading, Recorded, Table};
use weir_lab::replicated::Simulated;
use weir_lab::runner::{self, Model};

/// Runs a scenario. Progress counts simulated nanoseconds over all jobs.
///
/// # Errors
/// [`RunError`]: a discipline refuses its arguments, or the run is larger than what is simulated.
pub fn run(
    network: &NetworkScenario,
    frame: &Frame,
    control: &mut Control<'_>,
) -> Result<NetworkOutcome, RunError> {
    recorded::simulate(network, frame, control)
}

impl Simulated for NetworkScenario {
    type Outcome = NetworkOutcome;
    type Model<'m> = Playing<'m>;

    fn model(&self) -> Result<Playing<'_>, RunError> {
        build::check(self)?;
        Ok(Playing { network: self, order: build::order(self) })
    }

    fn outcome(&self, frame: &Frame, playing: &Playing<'_>, cells: Vec<Cell>) -> NetworkOutcome {
        let engine = if playing.order.is_some() { "accelerated" } else { "plain" };
        report::outcome(self, frame, &cells, engine)
    }
}

/// A network with the order of its links, where the accelerated engine goes through them.
#[derive(Debug)]
pub struct Playing<'n> {
    network: &'n NetworkScenario,
    order: Option<Vec<usize>>,
}

/// A discipline over the replications that are finished.
#[derive(Debug, Default)]
pub struct Cell {
    /// Replication by replication.
    pub runs: Vec<Summary>,
}

impl gathered::Cell for Cell {
    type Left = Box<Summary>;
    type Summary = Summary;

    fn merge(&mut self, left: Box<Summary>, _is_first: bool) -> Summary {
        *left
    }

    fn push(&mut self, summary: Summary) {
        self.runs.push(summary);
    }
}

impl Model for Playing<'_> {
    type Cell = Cell;

    fn replications(&self) -> u32 {
        self.network.stop.replications
    }

    fn duration(&self) -> Nanos {
        self.network.stop.duration
    }

    fn cells(&self) -> Vec<Cell> {
        self.network.disciplines.iter().map(|_| Cell::default()).collect()
    }

    fn play(&self, job: runner::Job, watch: &Watch<'_>) -> Result<Option<Box<Summary>>, RunError> {
        let ended = job::play(self.network, of(job), self.order.as_deref(), watch)?;
        Ok(self.summed(ended))
    }
}

/// Packets are recorded by the plain engine, which goes from event to event; the other leaves the same.
impl Recorded for Playing<'_> {
    fn headings(&self) -> Vec<Heading<'_>> {
        packets::headings(self.network)
    }

    fn discipline(&self, cell: usize) -> &str {
        self.network.disciplines.get(cell).map_or("", String::as_str)
    }

    fn play_recorded(
        &self,
        job: runner::Job,
        table: &mut Table<'_, '_>,
        watch: &Watch<'_>,
    ) -> Result<Option<Box<Summary>>, RunError> {
        Ok(self.summed(plain::play_recorded(self.network, of(job), table, watch)?))
    }
}

impl Playing<'_> {
    fn summed(&self, ended: Ended) -> Option<Box<Summary>> {
        match ended {
            Ended::Finished(collected) => Some(Box::new(Summary::new(self.network, *collected))),
            Ended::Interrupted => None,
        }
    }
}

/// The job of a cell.
fn of(job: runner::Job) -> Job {
    Job { replication: job.replication, discipline: job.cell }
}
