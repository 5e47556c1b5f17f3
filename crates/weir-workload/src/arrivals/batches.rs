//! Arrivals in batches: at each instant of a process not one message comes, but a random number of them.
//!
//! | size | parameter | mean | variance |
//! |-|-|-|-|
//! | constant | `k` | `k` | 0 |
//! | geometric, from 1 up | mean `m` | `m` | `m (m - 1)` |
//! | table | sizes with their shares | | |
//!
//! | | |
//! |-|-|
//! | Source | Gaver, *Imbedded Markov chain analysis of a waiting-line process in continuous time*, Annals of Mathematical Statistics 30, 1959: batches of a Poisson process, M^X/G/1 |
//! | Units | messages |
//! | Work | O(1) an arrival |
//!
//! Sizes are independent of each other and of the times, and have a stream of their own. The mean gap is that of messages:
//! batches are as many times farther apart as a batch has messages in the mean.

use std::sync::Arc;

use super::{Arrivals, Times};
use crate::document::{ArrivalProcess, WorkloadChecks};
use crate::source::LengthTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_document::{Checked, Checker, Located};
use weir_lab::logarithm::ln;
use weir_lab::stream::Stream;

/// The most messages of a batch, and the largest mean.
pub const LARGEST_BATCH: u64 = 1_000_000;

/// How many messages come at once.
#[derive(Clone, Debug)]
pub enum BatchSize {
    /// Always as many.
    Constant(u32),
    /// From 1 up, each further one with the same probability; of this mean.
    Geometric(f64),
    /// One of these sizes, with these shares.
    Table(LengthTable, Vec<(u32, f64)>),
}

impl PartialEq for BatchSize {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Constant(one), Self::Constant(other)) => one == other,
            (Self::Geometric(one), Self::Geometric(other)) => one.to_bits() == other.to_bits(),
            (Self::Table(_, one), Self::Table(_, other)) => one == other,
            _ => false,
        }
    }
}

impl BatchSize {
    /// The mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(size) => f64::from(*size),
            Self::Geometric(mean) => *mean,
            Self::Table(table, _) => table.mean(),
        }
    }

    /// The squared coefficient of variation.
    #[must_use]
    pub fn scv(&self) -> f64 {
        match self {
            Self::Constant(_) => 0.0,
            Self::Geometric(mean) => (mean - 1.0) / mean,
            Self::Table(table, shares) => {
                let all: f64 = shares.iter().map(|(_, share)| share).sum();
                let apart = |size: u32| (f64::from(size) / table.mean() - 1.0).powi(2);
                shares.iter().map(|(size, share)| share / all * apart(*size)).sum()
            }
        }
    }

    fn draw(&self, stream: &mut Stream) -> u32 {
        match self {
            Self::Constant(size) => *size,
            Self::Geometric(mean) if *mean > 1.0 => {
                // The number of failures before a success of probability 1 / mean, by inversion.
                let failures = ln(stream.next_uniform()) / libm::log1p(-1.0 / mean);
                (failures as u32).saturating_add(1)
            }
            Self::Geometric(_) => 1,
            Self::Table(table, _) => table.lengths()[usize::from(table.class(stream.next_u64()))],
        }
    }
}

/// A process of batches, and how many messages they have.
#[derive(Clone, Debug, PartialEq)]
pub struct Batches {
    /// When batches come.
    pub of: Arrivals,
    /// How many messages come at once.
    pub size: BatchSize,
}

impl Batches {
    /// The mean time between batches where messages come at this mean gap.
    #[must_use]
    pub fn gap(&self, mean_gap: f64) -> f64 {
        mean_gap * self.size.mean()
    }

    /// The variance of the number of messages over its mean, in the long run, as [`Arrivals::dispersion`].
    pub(super) fn dispersion(&self) -> Option<f64> {
        Some(self.size.mean() * (self.of.dispersion()? + self.size.scv()))
    }
}

/// The instants of messages in batches.
#[derive(Clone, Debug)]
pub(super) struct BatchTimes {
    times: Times,
    size: BatchSize,
    draws: Box<Stream>,
    /// When the last batch came, and how many of its messages are left.
    at: u64,
    left: u32,
}

impl BatchTimes {
    pub(super) fn new(times: Times, size: BatchSize, draws: Stream) -> Self {
        Self { times, size, draws: Box::new(draws), at: 0, left: 0 }
    }

    pub(super) fn next(&mut self) -> u64 {
        if self.left == 0 {
            (self.at, self.left) = (self.times.next_at(), self.size.draw(&mut self.draws));
        }
        self.left -= 1;
        self.at
    }
}

/// Messages that come several at once.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchTable {
    /// How many come at once: `{ constant = 3 }`, `{ geometric = 4.0 }` of this mean, from 1 up, or
    /// `{ table = [[1, 0.5], [8, 0.5]] }`, sizes with their shares.
    pub size: BatchSizes,
    /// When batches come. Default: `poisson`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<Box<ArrivalProcess>>,
}

/// How many messages come at once.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchSizes {
    /// Always as many.
    Constant(Located<u64>),
    /// Geometric from 1 up, of this mean.
    Geometric(Located<f64>),
    /// Sizes with their shares, in any proportion.
    Table(Located<Vec<(Located<u64>, Located<f64>)>>),
}

/// What a document says of batches.
///
/// # Errors
/// A size or a share is out of bounds, or batches are to come in batches.
pub fn checked(checker: &Checker<'_>, written: &Located<BatchTable>) -> Checked<Arrivals> {
    let of = written.value.of.as_ref();
    let of = of.map_or(Ok(Arrivals::Poisson), |of| checker.arrivals(of))?;
    if matches!(of, Arrivals::Batches(_)) {
        return checker.refuse(written, "has batches of batches", "let `of` be another process");
    }
    let size = match &written.value.size {
        BatchSizes::Constant(size) => BatchSize::Constant(checker.whole(size, 1, LARGEST_BATCH)? as u32),
        BatchSizes::Geometric(mean) => {
            let remedy = "write a mean number such as 4.0";
            BatchSize::Geometric(checker.within(mean, 1.0, LARGEST_BATCH as f64, remedy)?)
        }
        BatchSizes::Table(table) => {
            let mut shares = Vec::new();
            for (size, share) in &table.value {
                shares.push((checker.whole(size, 1, LARGEST_BATCH)? as u32, share.value));
                if !(share.value >= 0.0 && share.value.is_finite()) {
                    return checker.refuse(share, "must be a share from 0 up", "write a share such as 0.5");
                }
            }
            let made = LengthTable::new(&shares).map(|table| BatchSize::Table(table, shares));
            made.or_else(|error| {
                checker.refuse(table, error.to_string(), "write, for example, `[[1, 0.5], [8, 0.5]]`")
            })?
        }
    };
    Ok(Arrivals::Batches(Arc::new(Batches { of, size })))
}
