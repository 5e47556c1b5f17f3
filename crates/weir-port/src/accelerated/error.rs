//! What the accelerated engine refuses.

use super::lockstep::Options;
use super::strategy::Strategy;
use crate::timeline::{Segment, TimelineError};
use core::fmt;

/// The largest number of classes.
pub const MOST_CLASSES: usize = 64;
/// What the accelerated engine cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockstepError {
    /// No class, or more than [`MOST_CLASSES`].
    Classes(usize),
    /// No strategy was given.
    NoStrategy,
    /// A batch of no ticks.
    EmptyBatch,
    /// A class of length 0.
    ZeroLength {
        /// The class.
        class: usize,
    },
    /// A table of alphas does not have one entry per class.
    Alphas {
        /// The entries it has.
        given: usize,
        /// The classes there are.
        classes: usize,
    },
    /// A message is not of the class it names.
    Class {
        /// Its place among all arrivals, from 0.
        order: u64,
        /// Its class.
        class: u16,
        /// Its length.
        length: u32,
    },
    /// The workload cannot be scheduled.
    Timeline(TimelineError),
}

impl fmt::Display for LockstepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Classes(n) => {
                write!(f, "{n} length classes, must be 1 to {MOST_CLASSES}; use the plain engine for more")
            }
            Self::NoStrategy => f.write_str("no strategy to run, must be at least 1"),
            Self::EmptyBatch => f.write_str("a batch has 0 ticks, must have at least 1"),
            Self::ZeroLength { class } => write!(f, "class {class} has length 0 packets, must be at least 1"),
            Self::Alphas { given, classes } => {
                write!(f, "{given} alphas for {classes} classes, must be one each")
            }
            Self::Class { order, class, length } => {
                let message = order + 1;
                write!(
                    f,
                    "message {message} has {length} packets, which is not the length of its class {class}"
                )
            }
            Self::Timeline(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LockstepError {}

impl From<TimelineError> for LockstepError {
    fn from(error: TimelineError) -> Self {
        Self::Timeline(error)
    }
}

pub(super) fn check(
    strategies: &[Strategy],
    lengths: &[u32],
    options: &Options,
) -> Result<(), LockstepError> {
    let classes = lengths.len();
    if classes == 0 || classes > MOST_CLASSES {
        return Err(LockstepError::Classes(classes));
    }
    if strategies.is_empty() {
        return Err(LockstepError::NoStrategy);
    }
    if options.batch == 0 {
        return Err(LockstepError::EmptyBatch);
    }
    if let Some(class) = lengths.iter().position(|&length| length == 0) {
        return Err(LockstepError::ZeroLength { class });
    }
    for strategy in strategies {
        if let Strategy::AlphaPerClass(alphas) = strategy
            && alphas.len() != classes
        {
            return Err(LockstepError::Alphas { given: alphas.len(), classes });
        }
    }
    Ok(())
}

pub(super) fn check_classes(segment: &Segment<'_>, lengths: &[u32]) -> Result<(), LockstepError> {
    let wrong = |(&class, &length): (&u16, &u32)| lengths.get(usize::from(class)) != Some(&length);
    match segment.class.iter().zip(segment.length).position(wrong) {
        None => Ok(()),
        Some(i) => Err(LockstepError::Class {
            order: segment.first_order + i as u64,
            class: segment.class[i],
            length: segment.length[i],
        }),
    }
}
