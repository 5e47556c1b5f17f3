//! A run that shows what is known so far: after the first replication, and whenever their number has doubled, the result of
//! those that were played.
//!
//! Replications are those of a cell of a sweep: kept, and gathered again. The last result is that of [`weir_sim::run`]; those before
//! have no distributions, which nobody looks at on the way and which are nine tenths of the text. A scenario of one
//! replication, or whose runs are as long as it takes, is run whole, in one step.
//!
//! Work: that of the run, and O(log replications) gatherings: one takes longer than a short replication.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use weir_sim::{AnyOutcome, Cell, Control, Scenario};

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

    /// Makes the next step, of which there is none after the last; the result so far, where it is shown.
    pub(crate) fn step(&mut self, progress: Progress<'_>) -> Result<Option<String>, Fault> {
        if self.done == self.steps() {
            return Err(Fault::Failed {
                message: "the run is at its end".to_owned(),
                remedy: "begin another".to_owned(),
            });
        }
        let cancel = AtomicBool::new(false);
        let done = self.done + 1;
        let outcome = match &mut self.played {
            None => {
                let mut told = |state: weir_sim::Progress| progress(state.done, state.total);
                let (threads, records) = (NonZeroUsize::MIN, None);
                let mut control = Control { threads, cancel: &cancel, progress: &mut told, records };
                Some(weir_sim::run(&self.scenario, &mut control)?)
            }
            Some((cell, kept)) => {
                kept.extend(cell.play(self.done, &cancel)?);
                progress(u64::from(done), u64::from(cell.replications()));
                is_shown(done, cell.replications()).then(|| gathered(cell, kept, done)).transpose()?
            }
        };
        self.done = done;
        outcome.as_ref().map(text).transpose()
    }
}

/// Whether there is a result after `done` replications of `all`: after 1, 2, 4 and so on, while as many again follow, and at
/// the end.
fn is_shown(done: u32, all: u32) -> bool {
    done == all || (done.is_power_of_two() && done <= all - done)
}

/// The result of the first `done` replications of a cell, without distributions where more follow.
fn gathered(cell: &Cell, kept: &[Vec<u8>], done: u32) -> Result<AnyOutcome, Fault> {
    let mut numbered = (0..).zip(kept.iter().cloned());
    if done == cell.replications() {
        return Ok(cell.gather(&mut numbered)?);
    }
    let (part, _) = cell.scenario().clone().replicated(Some(done))?;
    Ok(part.gather(&mut numbered)?.without_distributions())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use weir_document::DataFiles;

    #[test]
    fn results_are_shown_after_each_doubling_and_at_the_end() {
        let shown = |all| (1..=all).filter(|&done| is_shown(done, all)).collect::<Vec<_>>();
        assert_eq!(shown(1), [1]);
        assert_eq!(shown(3), [1, 3]);
        assert_eq!(shown(10), [1, 2, 4, 10]);
        assert_eq!(shown(16), [1, 2, 4, 8, 16]);
    }

    #[test]
    fn distributions_come_with_the_last_result_alone() {
        let text = include_str!("../page/examples/1-orders.toml");
        let scenario = Scenario::from_toml(text, "orders.toml", DataFiles::in_memory(BTreeMap::new()));
        let mut growth = Growth::new(scenario.expect("an example"));
        let mut lengths = Vec::new();
        for _ in 0..growth.steps() {
            let told = growth.step(&mut |_, _| {}).ok().expect("an example runs");
            let Some(text) = told else { continue };
            let result: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            let length = |key: &str| result[key].as_array().expect("a list").len();
            assert!(length("estimates") > 0);
            lengths.push(length("distributions"));
        }
        assert!(lengths.len() > 1 && lengths.iter().rev().skip(1).all(|&length| length == 0), "{lengths:?}");
        assert!(lengths.last().is_some_and(|&length| length > 0));
    }
}
