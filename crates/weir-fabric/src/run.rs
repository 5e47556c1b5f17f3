//! Runs a scenario of the fabric: from the checked model to the result. A cell is a discipline at a load.

use crate::collector::Collector;
use crate::job::{self, Ended, Job};
use crate::model::FabricScenario;
use crate::outcome::FabricOutcome;
use crate::summary::{self, Cell, Left};
use crate::{build, report};
use weir_core::units::Nanos;
use weir_lab::control::{Control, Watch};
use weir_lab::error::RunError;
use weir_lab::provenance::Frame;
use weir_lab::replicated::{self, Simulated};
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
    replicated::run(fabric, frame, control)
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
        let mut collector = Collector::new(self);
        match job::play(self, Job::of(self, job), &mut collector, watch)? {
            Ended::Finished(tally) => Ok(Some(Left::new(collector, tally))),
            Ended::Interrupted => Ok(None),
        }
    }
}
