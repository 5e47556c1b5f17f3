//! Requests that do not join where they find many waiting.
//!
//! | | |
//! |-|-|
//! | Source | Haight, *Queueing with balking*, Biometrika 44, 1957 |
//! | Random numbers | a hash of seed, replication and the number of the request, the same under every discipline; none where all balk |

use super::hash::Hash;
use crate::model::{Balk, ServerScenario};

/// What tells these numbers from those of others.
const PURPOSE: u64 = 0xba1c;

/// Who balks, by class.
#[derive(Clone, Debug)]
pub(crate) struct Balking {
    rules: Vec<Option<Balk>>,
    hash: Hash,
}

impl Balking {
    /// `None` where nobody balks.
    pub(crate) fn new(scenario: &ServerScenario, replication: u32) -> Option<Self> {
        let rules: Vec<_> = scenario.classes.iter().map(|class| class.balk).collect();
        let hash = Hash::new(scenario.seed, replication).apart(PURPOSE);
        scenario.has_balking().then_some(Self { rules, hash })
    }

    /// Whether the request of a class that finds `waiting` others does not join; `number` is its own among all that came.
    pub(crate) fn balks(&self, class: u16, waiting: u64, number: u64) -> bool {
        let Some(rule) = self.rules[usize::from(class)] else { return false };
        waiting >= rule.at && (rule.probability >= 1.0 || self.hash.even(number, 0) < rule.probability)
    }
}
