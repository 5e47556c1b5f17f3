//! Why an executor is not built.

use std::fmt;
use std::io;

use weir_core::spec::SpecError;

/// Why an executor is not built.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The discipline is none.
    Discipline(SpecError),
    /// The number of workers cannot be had.
    Workers {
        /// How many were asked for.
        asked: usize,
        /// How many processors this program may use.
        processors: usize,
    },
    /// A worker could not be bound to a processor, given its priority, or started.
    System {
        /// What failed.
        what: String,
        /// Why.
        error: io::Error,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discipline(error) => write!(f, "discipline: {error}"),
            Self::Workers { asked: 0, .. } => f.write_str("workers is 0, must be at least 1"),
            Self::Workers { asked, processors } => write!(
                f,
                "workers is {asked}, must be at most {processors}, the processors that this program may use; `pinned(false)` lets workers share them"
            ),
            Self::System { what, error } => write!(f, "{what}: {error}"),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<SpecError> for BuildError {
    fn from(error: SpecError) -> Self {
        Self::Discipline(error)
    }
}
