//! Replications as units of work: each played by itself, what it left kept as bytes, a result made of what is kept.
//!
//! A run plays all its replications and gathers what they leave; here the two are apart, so that days or machines may lie
//! between them. Both go through the same code: a result of kept states is that of a run of as many replications, to the
//! last byte. A replication depends on the scenario, the seed and its own number alone, and never on how many there are:
//! more of them extend what is there.
//!
//! [`Simulated`] is a scenario whose jobs are those of [`crate::runner`]; [`Replicated`] is any that can be played so, the
//! former among them. Work and memory: those of a replication, or of gathering one after another.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::control::{Control, Watch};
use crate::encode::{self, Encode};
use crate::error::RunError;
use crate::gathered::{Cell, Gathered};
use crate::provenance::Frame;
use crate::runner::{self, Job, Model};

/// The cells of a model.
type Cells<M> = Vec<<M as Model>::Cell>;

/// A scenario whose jobs the runner plays.
pub trait Simulated {
    /// Its result.
    type Outcome;
    /// What plays a job.
    type Model<'m>: Model<Cell: Cell<Left: Encode>>
    where
        Self: 'm;

    /// Ready to be played.
    ///
    /// # Errors
    /// It cannot be simulated.
    fn model(&self) -> Result<Self::Model<'_>, RunError>;

    /// The result where nothing is to be played.
    fn statement(&self, _frame: &Frame) -> Option<Self::Outcome> {
        None
    }

    /// The result, of the cells over the replications that are finished.
    fn outcome(&self, frame: &Frame, model: &Self::Model<'_>, cells: Cells<Self::Model<'_>>)
    -> Self::Outcome;
}

/// Runs a scenario: all its replications.
///
/// # Errors
/// It cannot be simulated, or as [`runner::run`].
pub fn run<S: Simulated>(
    scenario: &S,
    frame: &Frame,
    control: &mut Control<'_>,
) -> Result<S::Outcome, RunError> {
    let model = scenario.model()?;
    if let Some(statement) = scenario.statement(frame) {
        return Ok(statement);
    }
    let cells = runner::run(&model, control)?;
    Ok(scenario.outcome(frame, &model, cells))
}

/// What was kept of a replication: its number, and the state that it left.
pub type Kept = (u32, Vec<u8>);

/// A scenario that is played replication by replication.
pub trait Replicated {
    /// Its result.
    type Outcome;

    /// Whether there is anything to play.
    fn is_played(&self) -> bool;

    /// How finely a replication must be kept: one that is kept more finely does for it, one that is less does not.
    fn grain(&self) -> u16 {
        1
    }

    /// What is found once, before any replication is played.
    ///
    /// # Errors
    /// It cannot be simulated.
    fn prepare(&self, cancel: &AtomicBool) -> Result<Vec<u8>, RunError>;

    /// Plays a replication, all that is compared in it, and leaves its state; nothing where it was broken off.
    ///
    /// # Errors
    /// It cannot be simulated.
    fn play(
        &self,
        prepared: &[u8],
        replication: u32,
        cancel: &AtomicBool,
    ) -> Result<Option<Vec<u8>>, RunError>;

    /// The result of replications that were kept, in the order of their numbers.
    ///
    /// # Errors
    /// What is kept is not of this scenario.
    fn gather(&self, frame: &Frame, kept: &mut dyn Iterator<Item = Kept>) -> Result<Self::Outcome, RunError>;
}

impl<S: Simulated> Replicated for S {
    type Outcome = S::Outcome;

    fn is_played(&self) -> bool {
        self.statement(&Frame::default()).is_none()
    }

    fn prepare(&self, _cancel: &AtomicBool) -> Result<Vec<u8>, RunError> {
        self.model().map(|_| Vec::new())
    }

    fn play(&self, _: &[u8], replication: u32, cancel: &AtomicBool) -> Result<Option<Vec<u8>>, RunError> {
        let model = self.model()?;
        let (failed, done) = (AtomicBool::new(false), AtomicU64::new(0));
        let watch = Watch { cancel, failed: &failed, done: &done, duration: model.duration().get() };
        let mut state = Vec::new();
        for cell in 0..model.cells().len() {
            match model.play(Job { replication, cell }, &watch)? {
                Some(left) => left.encode(&mut state),
                None => return Ok(None),
            }
        }
        Ok(Some(state))
    }

    fn gather(&self, frame: &Frame, kept: &mut dyn Iterator<Item = Kept>) -> Result<Self::Outcome, RunError> {
        let model = self.model()?;
        if let Some(statement) = self.statement(frame) {
            return Ok(statement);
        }
        let (cells, replications) = (model.cells(), model.replications());
        let count = cells.len();
        let mut gathered = Gathered::new(replications, cells);
        for (replication, state) in kept {
            let stranger = || RunError::Stranger { replication };
            let left: Vec<_> = lefts::<S::Model<'_>>(&state, count).ok_or_else(stranger)?;
            if replication >= replications {
                return Err(stranger());
            }
            left.into_iter().enumerate().for_each(|(place, left)| gathered.add(replication, place, left));
        }
        Ok(self.outcome(frame, &model, gathered.into_cells()))
    }
}

/// What each of a number of cells left.
fn lefts<M: Model<Cell: Cell<Left: Encode>>>(
    mut state: &[u8],
    cells: usize,
) -> Option<Vec<<M::Cell as Cell>::Left>> {
    let left: Option<Vec<_>> = (0..cells).map(|_| Encode::decode(&mut state)).collect();
    left.filter(|_| state.is_empty())
}

/// The control of what is done on one thread, with no reports of progress.
pub fn alone<'a>(cancel: &'a AtomicBool, silent: &'a mut dyn FnMut(crate::control::Progress)) -> Control<'a> {
    Control { threads: NonZeroUsize::MIN, cancel, progress: silent, records: None }
}

/// What was prepared, or the error of a state that is none.
///
/// # Errors
/// The bytes are not such a value.
pub fn prepared<T: Encode>(bytes: &[u8]) -> Result<T, RunError> {
    encode::whole(bytes).ok_or(RunError::Stranger { replication: 0 })
}
