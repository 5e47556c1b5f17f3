//! Size distributions: how many packets, bytes or tokens a message has.
//!
//! Every law here is one of whole numbers, at least 1, and is kept as *runs*: stretches of sizes that are
//! equally likely. A run of one size is an atom. So a constant, a list, the report's mixture, a tabulated
//! CDF and a piecewise-linear CDF are one type, and the law that is sampled is exactly the law whose
//! moments are stated. The one law that is no table is the memoryless one.
//!
//! | | |
//! |-|-|
//! | Source of the mixture | Cherkasova and Rokicki, *Alpha Message Scheduling*, section 7 |
//! | Units | a size counts whatever the caller counts: packets, bytes, tokens |
//! | `linear` CDF files | a size between two points is rounded up to a whole number: mean half a unit larger |
//! | `exponential` | on whole numbers: the geometric law of the same mean |
//! | Work | moments, quantiles: O(runs); sampling: O(1), see [`SizeSampler`] |
//! | Bounds | sizes up to 2^53, at most 1,000,000 runs |

mod cdf;
mod classes;
mod law;
mod runs;
mod sampler;

use core::fmt;

use runs::{check_run, disjoint, packets_of, table_quantile};

pub use cdf::{CdfError, CdfFault};
pub use classes::SizeClasses;
pub use runs::Run;
pub use sampler::SizeSampler;

/// The largest size: above it a floating-point number no longer holds every whole number.
pub const MAX_SIZE: u64 = 1 << 53;
/// The largest number of runs (points of a CDF file) of one law.
pub const MAX_RUNS: usize = 1_000_000;
/// How far a list of probabilities may be from a sum of 1; within it the list is scaled.
const SUM_TOLERANCE: f64 = 1e-6;

/// Why a size distribution cannot be built.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SizesError {
    /// No size has a positive probability.
    Empty,
    /// A size is 0.
    ZeroSize,
    /// A size is above [`MAX_SIZE`].
    TooLarge(u64),
    /// A run ends below its beginning.
    Reversed(u64, u64),
    /// A probability is negative or not a number.
    Probability(f64),
    /// The probabilities do not sum to 1.
    Sum(f64),
    /// More than [`MAX_RUNS`] runs.
    TooMany(usize),
    /// A mean is below 1, above [`MAX_SIZE`] or not a number.
    Mean(f64),
}

impl fmt::Display for SizesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "no size has a positive probability; give at least one"),
            Self::ZeroSize => {
                write!(f, "size is 0, must be at least 1; a message of no length cannot be served")
            }
            Self::TooLarge(size) => {
                write!(f, "size is {size}, must be at most {MAX_SIZE}; use a larger unit")
            }
            Self::Reversed(first, last) => {
                write!(f, "sizes run from {first} to {last}, must not decrease; swap the two")
            }
            Self::Probability(p) => write!(f, "probability is {p}, must be from 0 to 1"),
            Self::Sum(sum) => write!(f, "probabilities sum to {sum}, must sum to 1; scale them"),
            Self::TooMany(runs) => write!(f, "{runs} sizes are listed, must be at most {MAX_RUNS}"),
            Self::Mean(mean) => write!(f, "mean size is {mean}, must be from 1 to {MAX_SIZE}"),
        }
    }
}

impl std::error::Error for SizesError {}

/// The form of a law: a table of runs, or the memoryless law of whole numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Disjoint runs in increasing order, each of positive share, which sum to 1.
    Table(Vec<Run>),
    /// `P(X > n) = (1 - 1/mean)^n`.
    Geometric {
        /// The mean.
        mean: f64,
    },
}

/// A distribution of whole sizes, at least 1.
///
/// ```
/// use weir_workload::Sizes;
/// let sizes = Sizes::alpha_report();
/// assert!((sizes.mean() - 4.7).abs() < 1e-12);
/// assert_eq!(sizes.quantile(0.95), 20);
/// assert_eq!(Sizes::constant(3000)?.in_packets(1460)?.mean(), 3.0);
/// # Ok::<(), weir_workload::SizesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    law: Law,
}

impl Sizes {
    /// The mixture of the alpha report: 90 % uniform from 1 to 5 packets, 10 % of 20 packets.
    #[must_use]
    pub fn alpha_report() -> Self {
        let short = Run { first: 1, last: 5, share: 0.9 };
        Self { law: Law::Table(vec![short, Run::atom(20, 0.1)]) }
    }

    /// Every message has the same size.
    ///
    /// # Errors
    /// If the size is 0 or above [`MAX_SIZE`].
    pub fn constant(size: u64) -> Result<Self, SizesError> {
        Self::mixture(&[Run::atom(size, 1.0)])
    }

    /// All sizes from `first` to `last`, equally likely.
    ///
    /// # Errors
    /// If the bounds are reversed, 0 or above [`MAX_SIZE`].
    pub fn uniform(first: u64, last: u64) -> Result<Self, SizesError> {
        Self::mixture(&[Run { first, last, share: 1.0 }])
    }

    /// The memoryless law of whole sizes with this mean: exponential, on whole numbers.
    ///
    /// # Errors
    /// If the mean is below 1, above [`MAX_SIZE`] or not a number.
    pub fn exponential(mean: f64) -> Result<Self, SizesError> {
        if !(1.0..=MAX_SIZE as f64).contains(&mean) {
            return Err(SizesError::Mean(mean));
        }
        Ok(Self { law: Law::Geometric { mean } })
    }

    /// Single sizes with their probabilities, in any order.
    ///
    /// # Errors
    /// As [`Sizes::mixture`].
    pub fn list(sizes: &[(u64, f64)]) -> Result<Self, SizesError> {
        let atoms: Vec<Run> = sizes.iter().map(|&(size, share)| Run::atom(size, share)).collect();
        Self::mixture(&atoms)
    }

    /// The sizes that were observed, each as likely as it was frequent.
    ///
    /// # Errors
    /// If there is none, or one is 0 or above [`MAX_SIZE`].
    pub fn observed(sizes: &[u64]) -> Result<Self, SizesError> {
        let mut sorted = sizes.to_vec();
        sorted.sort_unstable();
        let total = sorted.len() as f64;
        let same = sorted.chunk_by(|a, b| a == b);
        let atoms: Vec<Run> = same.map(|group| Run::atom(group[0], group.len() as f64 / total)).collect();
        Self::mixture(&atoms)
    }

    /// A mixture of runs, which may overlap and come in any order.
    ///
    /// # Errors
    /// If a size is 0 or too large, a run is reversed, a probability is no probability, or the sum is not 1.
    pub fn mixture(runs: &[Run]) -> Result<Self, SizesError> {
        if runs.len() > MAX_RUNS {
            return Err(SizesError::TooMany(runs.len()));
        }
        runs.iter().try_for_each(check_run)?;
        let sum: f64 = runs.iter().map(|run| run.share).sum();
        if sum == 0.0 {
            return Err(SizesError::Empty);
        }
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            return Err(SizesError::Sum(sum));
        }
        Ok(Self { law: Law::Table(disjoint(runs, sum)) })
    }

    /// The distribution of `ceil(size / packet)`: how many packets of that size a message fills.
    ///
    /// # Errors
    /// If `packet` is 0.
    pub fn in_packets(&self, packet: u64) -> Result<Self, SizesError> {
        if packet == 0 {
            return Err(SizesError::ZeroSize);
        }
        match &self.law {
            Law::Table(runs) => {
                let pieces: Vec<Run> = runs.iter().flat_map(|&run| packets_of(run, packet)).collect();
                Ok(Self { law: Law::Table(disjoint(&pieces, pieces.iter().map(|run| run.share).sum())) })
            }
            Law::Geometric { mean } => Self::exponential(1.0 / (1.0 - survival(*mean, packet as f64))),
        }
    }

    /// `E[X]`.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.moment(1)
    }

    /// `E[X^2]`.
    #[must_use]
    pub fn second_moment(&self) -> f64 {
        self.moment(2)
    }

    /// The squared coefficient of variation, `Var(X) / E[X]^2`.
    #[must_use]
    pub fn scv(&self) -> f64 {
        self.second_moment() / (self.mean() * self.mean()) - 1.0
    }

    /// `E[X^k]` for `k` from 0 to 4.
    ///
    /// # Panics
    /// If `k` is above 4.
    #[must_use]
    pub fn moment(&self, k: u32) -> f64 {
        assert!(k <= 4, "moments are kept up to the fourth");
        match &self.law {
            Law::Table(runs) => runs.iter().map(|run| run.moment(k)).sum(),
            Law::Geometric { mean } => geometric_moment(*mean, k),
        }
    }

    /// `E[X^k; X <= size]` for `k` from 0 to 3.
    ///
    /// # Panics
    /// If `k` is above 3.
    #[must_use]
    pub fn partial_moment(&self, k: u32, size: u64) -> f64 {
        assert!(k <= 3, "partial moments are kept up to the third");
        match &self.law {
            Law::Table(runs) => runs.iter().map_while(|run| run.up_to(size)).map(|run| run.moment(k)).sum(),
            Law::Geometric { mean } => {
                // Above `size` the law begins anew: E[X^k] - P(X > size) E[(size + X)^k].
                let (n, m) = (size as f64, |k| geometric_moment(*mean, k));
                let above = match k {
                    0 => 1.0,
                    1 => n + m(1),
                    2 => n * (n + 2.0 * m(1)) + m(2),
                    _ => n * (n * (n + 3.0 * m(1)) + 3.0 * m(2)) + m(3),
                };
                (m(k) - survival(*mean, n) * above).max(0.0)
            }
        }
    }

    /// `P(X <= size)`.
    #[must_use]
    pub fn cdf(&self, size: u64) -> f64 {
        self.partial_moment(0, size).min(1.0)
    }

    /// The smallest size with `P(X <= size) >= p`; `p` is taken into 0..=1.
    #[must_use]
    pub fn quantile(&self, p: f64) -> u64 {
        let p = if p > 0.0 { p.min(1.0) } else { 0.0 };
        match &self.law {
            Law::Table(runs) => table_quantile(runs, p),
            Law::Geometric { mean } => {
                let survival = (1.0 - p).max(f64::MIN_POSITIVE);
                let size = (libm::log(survival) / libm::log1p(-1.0 / mean)).ceil();
                (size as u64).clamp(1, MAX_SIZE)
            }
        }
    }

    /// The smallest and the largest size; no largest where the law has no bound.
    #[must_use]
    pub fn support(&self) -> (u64, Option<u64>) {
        match &self.law {
            Law::Table(runs) => (runs[0].first, runs.last().map(|run| run.last)),
            Law::Geometric { .. } => (1, None),
        }
    }

    /// Each size with its probability; `None` where there are more than `limit` of them.
    #[must_use]
    pub fn atoms(&self, limit: u64) -> Option<Vec<(u64, f64)>> {
        let Law::Table(runs) = &self.law else { return None };
        let count = runs.iter().try_fold(0u64, |sum, run| sum.checked_add(run.last - run.first + 1))?;
        if count > limit {
            return None;
        }
        let atoms = |run: &Run| {
            let each = run.share / run.count();
            (run.first..=run.last).map(move |size| (size, each))
        };
        Some(runs.iter().flat_map(atoms).collect())
    }

    /// Size classes of about equal frequency, one per decile; see [`SizeClasses`].
    #[must_use]
    pub fn deciles(&self) -> SizeClasses {
        SizeClasses::by_quantile(self, 10)
    }

    /// Draws sizes of this law.
    #[must_use]
    pub fn sampler(&self) -> SizeSampler {
        SizeSampler::new(self)
    }

    /// The form of the law.
    #[must_use]
    pub fn law(&self) -> &Law {
        &self.law
    }
}

/// `P(X > n)` of the memoryless law.
#[must_use]
pub fn survival(mean: f64, n: f64) -> f64 {
    if mean <= 1.0 {
        return if n < 1.0 { 1.0 } else { 0.0 };
    }
    libm::exp(libm::log1p(-1.0 / mean) * n)
}

fn geometric_moment(mean: f64, k: u32) -> f64 {
    match k {
        0 => 1.0,
        1 => mean,
        2 => mean * (2.0 * mean - 1.0),
        3 => mean * (6.0 * mean * (mean - 1.0) + 1.0),
        // Of the rising factorial moments, k! mean^k.
        _ => {
            let of = |k| geometric_moment(mean, k);
            24.0 * mean.powi(4) - 6.0 * of(3) - 11.0 * of(2) - 6.0 * mean
        }
    }
}

#[cfg(test)]
mod tests;
