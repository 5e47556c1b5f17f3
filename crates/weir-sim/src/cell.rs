//! A cell of a sweep: one scenario, whose replications are played one by one, kept, and gathered.
//!
//! What is kept of a replication is found again by its [`Key`]: what it depends on, and nothing else. So a cell is extended
//! by further replications, and whatever comes to the same replication, in another sweep too, is the same work.
//! A result of kept replications is that of [`crate::run`] of the same scenario.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use weir_lab::error::RunError;
use weir_lab::replicated::Kept;

use crate::{AnyOutcome, Scenario, ScenarioError};

/// The version of the numbers: what the same scenario and seed give. A value-breaking change raises it, so that nothing that
/// was kept before is taken for what would be played now. It is how many changes stand under *Value-breaking* in
/// CHANGELOG.md.
pub const NUMBERS: u32 = 25;

/// The version of the bytes in which a replication is kept: raised where they change and the numbers do not.
pub const STATE: u32 = 5;

/// What a replication depends on besides its number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Of the scenario, for one replication, and of its data files.
    pub content: String,
    /// The seed.
    pub seed: u64,
}

/// A cell.
#[derive(Debug)]
pub struct Cell {
    scenario: Scenario,
    key: Key,
    /// What is found once, by whoever plays first.
    prepared: Mutex<Option<Result<Vec<u8>, RunError>>>,
}

impl Cell {
    /// A cell of a scenario, with `replications` replications, or as many as it has; each as long as the scenario has it.
    ///
    /// # Errors
    /// Its runs are as long as it takes.
    pub fn new(scenario: Scenario, replications: Option<u32>) -> Result<Self, ScenarioError> {
        let (scenario, content) = scenario.replicated(replications)?;
        let key = Key { content, seed: scenario.seed() };
        Ok(Self { scenario, key, prepared: Mutex::new(None) })
    }

    /// What its replications depend on.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The scenario, as a run of as many replications would have it.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// How many replications make its result; none where there is nothing to play.
    #[must_use]
    pub fn replications(&self) -> u32 {
        if self.scenario.is_played() { self.scenario.replications() } else { 0 }
    }

    /// How finely a replication must be kept: one that is kept more finely does for it, one that is less does not.
    #[must_use]
    pub fn grain(&self) -> u16 {
        self.scenario.grain()
    }

    /// Plays a replication and leaves its state; nothing where it was broken off.
    ///
    /// # Errors
    /// It cannot be simulated.
    pub fn play(&self, replication: u32, cancel: &AtomicBool) -> Result<Option<Vec<u8>>, RunError> {
        let prepared = {
            let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
            prepared.get_or_insert_with(|| self.scenario.prepare(cancel)).clone()?
        };
        self.scenario.play(&prepared, replication, cancel)
    }

    /// The result of replications that were kept, in the order of their numbers.
    ///
    /// # Errors
    /// What is kept is not of this scenario.
    pub fn gather(&self, kept: &mut dyn Iterator<Item = Kept>) -> Result<AnyOutcome, RunError> {
        self.scenario.gather(kept)
    }
}
