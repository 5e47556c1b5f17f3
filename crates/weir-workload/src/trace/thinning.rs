//! Thinning: each row of a trace is kept with the same probability, whatever became of the others.
//!
//! Which rows are kept is drawn once, and is the same for every seed, replication and discipline: a thinned trace is a trace.
//! The rows that a smaller probability keeps are among those that a larger one keeps, so that a sweep over it compares like
//! with like.
//!
//! | | |
//! |-|-|
//! | Source | Daley and Vere-Jones, *An Introduction to the Theory of Point Processes*, volume II, 2008, section 11.3: independent thinning; that of a Poisson process is one |
//! | Work | one random number a row |
//! | Units | a probability, to the nearest of 2⁵³ parts |
//! | Memory | one stream while a file is read |

use weir_document::{Checked, Checker, Located, Refused};
use weir_lab::stream::{Purpose, Stream, StreamKey};

/// The least probability.
const LEAST: f64 = 1e-6;
/// The binary digits of a probability.
const DIGITS: u32 = 53;

/// With which probability rows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Thinning(u64);

impl Thinning {
    /// Every row is kept.
    pub const NONE: Self = Self(1 << DIGITS);

    /// Each is kept with this probability, from 0 to 1.
    #[must_use]
    pub fn to(probability: f64) -> Self {
        Self((probability.clamp(0.0, 1.0) * Self::NONE.0 as f64) as u64)
    }

    /// As a scenario has it, where it says anything.
    ///
    /// # Errors
    /// It is no probability from 0.000001 to 1.
    pub fn checked(check: &Checker<'_>, written: Option<&Located<f64>>) -> Checked<Self> {
        let Some(written) = written else { return Ok(Self::NONE) };
        check.within(written, LEAST, 1.0, "write one such as 0.1, or remove it").map(Self::to)
    }

    /// Decides row by row, from the first on.
    pub(crate) fn decisions(self) -> Decisions {
        let key = StreamKey { seed: 0, replication: 0, purpose: Purpose::Thinning, index: 0 };
        Decisions { thinning: self, stream: (self != Self::NONE).then(|| Stream::new(key)) }
    }
}

/// Which of the rows are kept.
pub(crate) struct Decisions {
    thinning: Thinning,
    stream: Option<Stream>,
}

impl Decisions {
    /// Whether the next row is kept.
    pub(crate) fn next(&mut self) -> bool {
        self.stream.as_mut().is_none_or(|stream| stream.next_u64() >> (64 - DIGITS) < self.thinning.0)
    }

    /// The refusal where no row is kept, of which there was at least one; `None` where all would be.
    pub(crate) fn refuse_empty(&self, name: &str, rows: usize) -> Option<Refused> {
        (self.thinning != Thinning::NONE && rows > 0).then(|| {
            let reason = format!("has {rows} rows, none of which is kept");
            Refused::of_file(name, reason, "raise `thin`, or remove it")
        })
    }
}
