//! Runs a scenario of the fabric: from the checked model to the result. A cell is a discipline at a load.

use crate::collector::Collector;
use crate::job::{self, Ended, Job};
use crate::model::FabricScenario;
use crate::outcome::FabricOutcome;
use crate::recorder::{self, Recorder};
use crate::summary::{self, Cell, Left};
use crate::{build, plain, report};
use weir_core::units::Nanos;
use weir_lab::control::{Control, Watch};
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::recorded::{self, Heading, Recorded, Table};
use weir_lab::replicated::Simulated;
use weir_lab::runner::{self, Model};

/// Runs a scenario. Progress counts simulated nanoseconds over all jobs.
///
/// # Errors
/// [`RunError`]: a discipline refuses its arguments or drops a packet, the run is larger than what is simulated, or a
/// verification fails.
pub fn run(
    fabric: &FabricScenario,
    frame: &Frame,
    control: &mut Control<'_>,
) -> Result<FabricOutcome, RunError> {
    recorded::simulate(fabric, frame, control)
}

impl Simulated for FabricScenario {
    type Outcome = FabricOutcome;
    type Model<'m> = &'m Self;

    fn model(&self) -> Result<&Self, RunError> {
        build::check(self)?;
        Ok(self)
    }

    fn outcome(&self, frame: &Frame, _: &&Self, cells: Vec<Cell>) -> FabricOutcome {
        report::outcome(self, frame, &cells)
    }
}

impl Model for FabricScenario {
    type Cell = Cell;

    fn replications(&self) -> u32 {
        self.stop.replications
    }

    fn duration(&self) -> Nanos {
        self.stop.duration
    }

    fn cells(&self) -> Vec<Cell> {
        summary::cells(self)
    }

    /// Load by load.
    fn order(&self) -> Vec<usize> {
        let (loads, disciplines) = (self.traffic.loads.len(), self.disciplines.len());
        (0..loads)
            .flat_map(|load| (0..disciplines).map(move |discipline| discipline * loads + load))
            .collect()
    }

    fn play(&self, job: runner::Job, watch: &Watch<'_>) -> Result<Option<Left>, RunError> {
        let job = Job::of(self, job);
        if self.over_time.is_some() {
            return followed(self, job, None, watch);
        }
        let mut collector = Collector::new(self);
        let ended = job::play(self, job, &mut collector, watch)?;
        Ok(left(ended, collector))
    }
}

/// Packets are recorded by the plain engine, which goes from event to event; the other leaves the same.
impl Recorded for FabricScenario {
    fn headings(&self) -> Vec<Heading<'_>> {
        recorder::headings(self)
    }

    fn discipline(&self, cell: usize) -> &str {
        let loads = self.traffic.loads.len().max(1);
        self.disciplines.get(cell / loads).map_or("", String::as_str)
    }

    fn play_recorded(
        &self,
        job: runner::Job,
        table: &mut Table<'_, '_>,
        watch: &Watch<'_>,
    ) -> Result<Option<Left>, RunError> {
        followed(self, Job::of(self, job), Some(table), watch)
    }
}

/// Plays a job by the plain engine, for results that need the order of time, or each packet.
fn followed<'t>(
    fabric: &FabricScenario,
    job: Job,
    table: Option<&mut Table<'t, '_>>,
    watch: &Watch<'_>,
) -> Result<Option<Left>, RunError> {
    let mut collector = Collector::new(fabric);
    let mut recorder = Recorder::new(fabric, job, &mut collector, table);
    let ended = plain::play(fabric, job, &mut recorder, watch)?;
    let windows = recorder.ended().map_or_else(Vec::new, |windows| windows.figures(fabric));
    Ok(left(ended, collector).map(|left| left.with_windows(windows)))
}

fn left(ended: Ended, collector: Collector) -> Option<Left> {
    match ended {
        Ended::Finished(tally) => Some(Left::new(collector, tally)),
        Ended::Interrupted => None,
    }
}
