//! Markovian arrival processes: the rate depends on a phase that nobody sees.
//!
//! A process is two matrices of rates over its phases: `D0` of changes of phase without an arrival, `D1` of those with one;
//! the diagonal of `D0` makes each row of both sum to 0. MMPP, the Poisson process modulated by a chain, is `D1` diagonal.
//! With `π (D0 + D1) = 0` the rate is `λ = π D1 1`, and an arrival finds the phases `φ = π D1 / λ` behind it:
//!
//! | figure | |
//! |-|-|
//! | gaps | `E[X] = 1/λ`, `E[X²] = 2 φ D0⁻² 1`, `E[X₀X₁] = φ D0⁻² D1 (-D0)⁻¹ 1` |
//! | counts | variance over mean tends to `1 - 2λ + 2/λ π D1 (1π - D0 - D1)⁻¹ D1 1` |
//!
//! | | |
//! |-|-|
//! | Source | Neuts, *A versatile Markovian point process*, Journal of Applied Probability 16, 1979; Lucantoni, Meier-Hellstern and Neuts, *A single-server queue with server vacations and a class of non-renewal arrival processes*, Advances in Applied Probability 22, 1990 |
//! | Units | rates in any unit of time, the same for all: the load or the rate of the scenario sets it |
//! | Work | O(phases³) once; O(log phases) a change of phase, of which there are at most [`MOST_CHANGES`] an arrival in the mean |
//!
//! The first message arrives at time 0, and the process begins in a phase that an arrival leaves behind. Stays are rounded to
//! whole ticks of the clock. Stays and changes have streams of their own.

mod written;

pub use written::{MapTable, MmppTable, WrittenRates, of_map, of_mmpp};

use super::Start;
use crate::linear::solve;
use std::sync::Arc;
use weir_lab::stream::Stream;

/// The most phases.
pub const MOST_PHASES: usize = 64;
/// The most changes of phase for each arrival, in the mean.
pub const MOST_CHANGES: f64 = 10_000.0;
/// By how much of its diagonal a row of rates may miss the sum 0.
const ROUNDING: f64 = 1e-9;

/// Rates, row by row.
pub type Rates = Vec<Vec<f64>>;

/// A Markovian arrival process, at a mean rate of 1.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkovArrivals {
    hidden: Rates,
    arriving: Rates,
    /// The share of time in each phase.
    shares: Vec<f64>,
}

/// What is wrong with the rates of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkovError {
    /// Where.
    pub part: MarkovPart,
    /// What is wrong, with the bound.
    pub reason: String,
    /// What to do.
    pub remedy: &'static str,
}

/// A part of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkovPart {
    /// An entry of `D0`, by row and column.
    Hidden(usize, usize),
    /// An entry of `D1`.
    Arriving(usize, usize),
    /// A row of both.
    Row(usize),
    /// All of it.
    All,
}

fn refused<T>(part: MarkovPart, reason: impl Into<String>, remedy: &'static str) -> Result<T, MarkovError> {
    Err(MarkovError { part, reason: reason.into(), remedy })
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// A matrix times a column.
fn times(rates: &Rates, column: &[f64]) -> Vec<f64> {
    rates.iter().map(|row| dot(row, column)).collect()
}

impl MarkovArrivals {
    /// The process with these rates without and with an arrival, in any unit of time.
    ///
    /// # Errors
    /// The matrices are not square or not of one size, a rate is out of bounds, a row does not sum to 0, the phases do not
    /// all reach each other, nobody arrives, or phases change too often for an arrival.
    pub fn new(hidden: &Rates, arriving: &Rates) -> Result<Self, MarkovError> {
        check_shape(hidden, arriving)?;
        check_rates(hidden, arriving)?;
        if !(all_reached(hidden, arriving, false) && all_reached(hidden, arriving, true)) {
            let reason = "has phases that do not reach each other";
            return refused(
                MarkovPart::All,
                reason,
                "give each phase a rate into the others, or leave it out",
            );
        }
        let shares = shares(hidden, arriving);
        let Some(shares) = shares.filter(|shares| shares.iter().all(|share| *share > 0.0)) else {
            let reason = "has rates that lie too far apart for numbers";
            return refused(MarkovPart::All, reason, "bring them closer together");
        };
        let rate = dot(&shares, &times(arriving, &vec![1.0; shares.len()]));
        let changes: f64 = (0..shares.len()).map(|i| -shares[i] * hidden[i][i]).sum();
        if changes > MOST_CHANGES * rate {
            let reason =
                format!("changes its phase more than {MOST_CHANGES} times for each arrival, in the mean");
            return refused(
                MarkovPart::All,
                reason,
                "raise the rates of arrivals, or lower those of changes",
            );
        }
        let scaled = |rates: &Rates| rates.iter().map(|row| row.iter().map(|r| r / rate).collect()).collect();
        Ok(Self { hidden: scaled(hidden), arriving: scaled(arriving), shares })
    }

    /// MMPP: arrivals at the rate `rates[i]` while a chain with these rates of change is in state `i`.
    ///
    /// # Errors
    /// As [`MarkovArrivals::new`]; an entry of `D1` is a rate, by its place on the diagonal.
    pub fn modulated(changes: &Rates, rates: &[f64]) -> Result<Self, MarkovError> {
        let order = rates.len();
        if changes.len() != order || changes.iter().any(|row| row.len() != order) {
            let reason = format!("must have {order} rows of {order} changes, one for each of its rates");
            return refused(MarkovPart::All, reason, "complete it, or leave rates out");
        }
        let arriving: Rates =
            (0..order).map(|i| (0..order).map(|j| if i == j { rates[i] } else { 0.0 }).collect()).collect();
        let less = |(row, own): (&Vec<f64>, &Vec<f64>)| row.iter().zip(own).map(|(a, b)| a - b).collect();
        Self::new(&changes.iter().zip(&arriving).map(less).collect(), &arriving)
    }

    /// `D0` and `D1`, at a mean rate of 1.
    #[must_use]
    pub fn rates(&self) -> (&Rates, &Rates) {
        (&self.hidden, &self.arriving)
    }

    /// The phases that arrivals leave behind.
    fn after_arrival(&self) -> Vec<f64> {
        let into = |j: usize| self.arriving.iter().zip(&self.shares).map(|(row, share)| share * row[j]).sum();
        (0..self.shares.len()).map(into).collect()
    }

    /// `x` of `-D0 x = column`.
    fn ahead(&self, column: &[f64]) -> Option<Vec<f64>> {
        let row = |(row, right): (&Vec<f64>, &f64)| row.iter().map(|rate| -rate).chain([*right]).collect();
        solve(self.hidden.iter().zip(column).map(row).collect())
    }

    /// The squared coefficient of variation of gaps, and the correlation of neighbours; `None` where the rates lie too far
    /// apart for numbers.
    #[must_use]
    pub fn gaps(&self) -> Option<(f64, f64)> {
        let after = self.after_arrival();
        let first = self.ahead(&vec![1.0; after.len()])?;
        let variance = 2.0 * dot(&after, &self.ahead(&first)?) - 1.0;
        let next = self.ahead(&self.ahead(&times(&self.arriving, &first))?)?;
        Some((variance, (dot(&after, &next) - 1.0) / variance))
    }

    /// The variance of the number of arrivals over its mean, in the long run: 1 of a Poisson process. `None` as of
    /// [`Self::gaps`].
    #[must_use]
    pub fn dispersion(&self) -> Option<f64> {
        let order = self.shares.len();
        let arrivals = times(&self.arriving, &vec![1.0; order]);
        let entry = |i: usize, j: usize| self.shares[j] - self.hidden[i][j] - self.arriving[i][j];
        let row = |i: usize| (0..order).map(|j| entry(i, j)).chain([arrivals[i]]).collect();
        Some(2.0 * dot(&self.after_arrival(), &solve((0..order).map(row).collect())?) - 1.0)
    }

    /// The shortest and the longest mean stay in a phase, at this mean gap.
    pub(super) fn stays(&self, mean_gap: f64) -> (f64, f64) {
        let stays = (0..self.shares.len()).map(|i| -mean_gap / self.hidden[i][i]);
        stays.fold((f64::INFINITY, 0.0), |(low, high), stay| (low.min(stay), high.max(stay)))
    }
}

fn check_shape(hidden: &Rates, arriving: &Rates) -> Result<(), MarkovError> {
    let order = hidden.len();
    if order == 0 || order > MOST_PHASES {
        let reason = format!("has {order} phases, must have 1 to {MOST_PHASES}");
        return refused(MarkovPart::All, reason, "give each phase a row and a column");
    }
    if arriving.len() != order || hidden.iter().chain(arriving).any(|row| row.len() != order) {
        let reason = format!("must be two matrices of {order} rows of {order} rates");
        return refused(MarkovPart::All, reason, "give each phase a row and a column in both");
    }
    Ok(())
}

fn check_rates(hidden: &Rates, arriving: &Rates) -> Result<(), MarkovError> {
    let order = hidden.len();
    let is_rate = |rate: f64| rate >= 0.0 && rate.is_finite();
    for i in 0..order {
        for j in 0..order {
            if !is_rate(arriving[i][j]) {
                return refused(MarkovPart::Arriving(i, j), "must be a rate from 0 up", "correct it");
            }
            if i != j && !is_rate(hidden[i][j]) {
                let reason = "must be a rate from 0 up: it is off the diagonal";
                return refused(MarkovPart::Hidden(i, j), reason, "correct it");
            }
        }
        let sum: f64 = hidden[i].iter().chain(&arriving[i]).sum();
        if !(hidden[i][i] < 0.0 && hidden[i][i].is_finite() && sum.abs() <= ROUNDING * -hidden[i][i]) {
            let reason =
                format!("is row {} of rates whose sum is {sum}, must be 0, with a diagonal below 0", i + 1);
            return refused(
                MarkovPart::Row(i),
                reason,
                "let the diagonal be the negative sum of all other rates",
            );
        }
    }
    match arriving.iter().flatten().any(|rate| *rate > 0.0) {
        true => Ok(()),
        false => refused(MarkovPart::All, "has no arrivals", "give a phase a rate of arrivals above 0"),
    }
}

/// Whether every phase is reached from the first, or reaches it.
fn all_reached(hidden: &Rates, arriving: &Rates, backwards: bool) -> bool {
    let order = hidden.len();
    let (mut reached, mut next) = (vec![false; order], vec![0]);
    reached[0] = true;
    while let Some(from) = next.pop() {
        for to in (0..order).filter(|to| *to != from) {
            let (i, j) = if backwards { (to, from) } else { (from, to) };
            if !reached[to] && (hidden[i][j] > 0.0 || arriving[i][j] > 0.0) {
                reached[to] = true;
                next.push(to);
            }
        }
    }
    reached.iter().all(|reached| *reached)
}

/// The share of time in each phase.
fn shares(hidden: &Rates, arriving: &Rates) -> Option<Vec<f64>> {
    let order = hidden.len();
    let largest = hidden.iter().flatten().fold(0.0, |most, rate| f64::max(most, rate.abs()));
    let balance = |j: usize| {
        let into = (0..order).map(|i| (hidden[i][j] + arriving[i][j]) / largest);
        into.chain([0.0]).collect::<Vec<f64>>()
    };
    // One balance follows from the others; the sum of the shares takes its place.
    let sum = vec![1.0; order + 1];
    solve((1..order).map(balance).chain([sum]).collect())
}

/// The instants of Markovian arrivals.
#[derive(Clone, Debug)]
pub(super) struct MarkovTimes {
    /// Where each phase leads.
    phases: Vec<Phase>,
    phase: usize,
    next_at: u64,
    gaps: Box<Stream>,
    changes: Box<Stream>,
}

#[derive(Clone, Debug)]
struct Phase {
    mean_stay: f64,
    /// The probability of this change or one before it, the phase that follows, and whether there is an arrival.
    changes: Vec<(f64, usize, bool)>,
}

impl MarkovTimes {
    pub(super) fn new(
        process: &Arc<MarkovArrivals>,
        mean_gap: f64,
        start: Start,
        gaps: Stream,
        mut changes: Stream,
    ) -> Self {
        let phase = |i: usize| {
            let leaves = -process.hidden[i][i];
            let quiet =
                process.hidden[i].iter().enumerate().filter(|(j, _)| *j != i).map(|(j, r)| (*r, j, false));
            let loud = process.arriving[i].iter().enumerate().map(|(j, rate)| (*rate, j, true));
            let mut sum = 0.0;
            let changes = quiet.chain(loud).filter(|(rate, ..)| *rate > 0.0);
            let changes = changes.map(|(rate, next, arrives)| {
                sum += rate / leaves;
                (sum, next, arrives)
            });
            Phase { mean_stay: mean_gap / leaves, changes: changes.collect() }
        };
        let (u, mut sum) = (changes.next_uniform(), 0.0);
        let after = match start {
            Start::Arrival => process.after_arrival(),
            Start::AnyInstant => process.shares.clone(),
        };
        let first = after.iter().position(|share| {
            sum += share;
            u < sum
        });
        // Rounding may leave the sum below 1.
        let last = after.iter().rposition(|share| *share > 0.0).unwrap_or(0);
        let mut times = Self {
            phases: (0..after.len()).map(phase).collect(),
            phase: first.unwrap_or(last),
            next_at: 0,
            gaps: Box::new(gaps),
            changes: Box::new(changes),
        };
        if start == Start::AnyInstant {
            // There is no arrival at time 0.
            times.next();
        }
        times
    }

    pub(super) fn next(&mut self) -> u64 {
        let this = self.next_at;
        loop {
            let Phase { mean_stay, changes } = &self.phases[self.phase];
            self.next_at = self.next_at.saturating_add(self.gaps.next_exponential(*mean_stay));
            let u = self.changes.next_uniform();
            let place = changes.partition_point(|change| change.0 <= u).min(changes.len() - 1);
            let (_, next, arrives) = changes[place];
            self.phase = next;
            if arrives || self.next_at == u64::MAX {
                return this;
            }
        }
    }
}

#[cfg(test)]
mod tests;
