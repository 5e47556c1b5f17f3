//! A run that shows what is known so far: after each replication, the result of those that were played.
//!
//! Replications are those of a cell of a sweep: kept, and gathered again with each one more. The last result is that of
//! [`weir_sim::run`]. A scenario of one replication, or whose runs are as long as it takes, is run whole, in one step.
//!
//! Work: that of the run, and O(replications) gatherings.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use weir_sim::{Cell, Control, Scenario};

use crate::engine::{Fault, Progress, text};

/// A run that goes on.
pub(crate) struct Growth {
    scenario: Scenario,
    /// The replications so far, where they are played one by one.
    played: Option<(Cell, Vec<Vec<u8>>)>,
    done: u32,
}

impl Growth {
    pub(crate) fn new(scenario: Scenario) -> Self {
        let cell = Cell::new(scenario.clone(), None).ok().filter(|cell| cell.replications() > 1);
        Self { scenario, played: cell.map(|cell| (cell, Vec::new())), done: 0 }
    }

    /// How many steps there are.
    pub(crate) fn steps(&self) -> u32 {
        self.played.as_ref().map_or(1, |(cell, _)| cell.replications())
    }

    /// How many were made.
    pub(crate) fn done(&self) -> u32 {
        self.done
    }

    /// Makes the next step, of which there is none after the last; the result so far.
    pub(crate) fn step(&mut self, progress: Progress<'_>) -> Result<String, Fault> {
        if self.done == self.steps() {
            return Err(Fault::Failed {
                message: "the run is at its end".to_owned(),
                remedy: "begin another".to_owned(),
            });
        }
        let cancel = AtomicBool::new(false);
        let outcome = match &mut self.played {
            None => {
                let mut told = |state: weir_sim::Progress| progress(state.done, state.total);
                let (threads, records) = (NonZeroUsize::MIN, None);
                let mut control = Control { threads, cancel: &cancel, progress: &mut told, records };
                weir_sim::run(&self.scenario, &mut control)?
            }
            Some((cell, kept)) => {
                kept.extend(cell.play(self.done, &cancel)?);
                progress(u64::from(self.done) + 1, u64::from(cell.replications()));
                let mut numbered = (0..).zip(kept.iter().cloned());
                if self.done + 1 == cell.replications() {
                    cell.gather(&mut numbered)?
                } else {
                    let (part, _) = cell.scenario().clone().replicated(Some(self.done + 1))?;
                    part.gather(&mut numbered)?
                }
            }
        };
        self.done += 1;
        text(&outcome)
    }
}
