//! Superposition: the arrivals of several processes together, each with its share.
//!
//! Every process has streams of its own, so that a change of one leaves the numbers of the others. The first begins at time
//! 0, each of the others at a random instant within its mean gap, so that they are not in step.
//!
//! Source: Cox and Smith, *On the superposition of renewal processes*, Biometrika 41, 1954. Work: O(processes) an arrival.

use std::sync::Arc;

use super::{Arrivals, Times};
use crate::document::{ArrivalProcess, WorkloadChecks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_document::{Checked, Checker, Located};

/// The most processes.
pub const MOST_PROCESSES: usize = 64;

/// One of several processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its share of all arrivals; together they are 1.
    pub share: f64,
    /// The process.
    pub arrivals: Arrivals,
}

/// The instants of several processes, in order.
#[derive(Clone, Debug)]
pub(super) struct SuperposedTimes {
    /// When each comes next, with what makes its instants and what they are moved by.
    parts: Vec<(u64, Times, u64)>,
}

impl SuperposedTimes {
    /// Processes with the instant at which each begins.
    pub(super) fn new(parts: impl Iterator<Item = (Times, u64)>) -> Self {
        let begun = |(mut times, begin): (Times, u64)| (times.next_at().saturating_add(begin), times, begin);
        Self { parts: parts.map(begun).collect() }
    }

    pub(super) fn next(&mut self) -> u64 {
        // Of several at one instant the first that is written.
        let Some((at, times, begin)) = self.parts.iter_mut().min_by_key(|part| part.0) else {
            return u64::MAX;
        };
        std::mem::replace(at, times.next_at().saturating_add(*begin))
    }
}

/// One of several processes as it is written.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartTable {
    /// Its share of all arrivals, in any proportion to the others.
    pub share: Located<f64>,
    /// The process.
    pub arrivals: ArrivalProcess,
}

/// What a document says of several processes.
///
/// # Errors
/// There are too few or too many, a share is not above 0, or one of them is several.
pub fn checked(checker: &Checker<'_>, written: &Located<Vec<PartTable>>) -> Checked<Arrivals> {
    let count = written.value.len();
    if !(2..=MOST_PROCESSES).contains(&count) {
        let reason = format!("has {count} processes, must have 2 to {MOST_PROCESSES}");
        return checker.refuse(
            written,
            reason,
            "write, for example, `[{ share = 0.9, arrivals = \"poisson\" }, ...]`",
        );
    }
    let mut parts = Vec::new();
    for part in &written.value {
        let share = checker.within(&part.share, 1e-9, 1e9, "write a share such as 0.5")?;
        let arrivals = checker.arrivals(&part.arrivals)?;
        if matches!(arrivals, Arrivals::Superposition(_)) {
            return checker.refuse(
                &part.share,
                "is of several processes in one of several",
                "write them side by side",
            );
        }
        parts.push(Part { share, arrivals });
    }
    let all: f64 = parts.iter().map(|part| part.share).sum();
    parts.iter_mut().for_each(|part| part.share /= all);
    Ok(Arrivals::Superposition(Arc::new(parts)))
}
