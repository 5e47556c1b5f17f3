//! Phase-type laws: the time to absorption of a Markov chain in continuous time.
//!
//! | | |
//! |-|-|
//! | Source | Neuts, *Matrix-Geometric Solutions in Stochastic Models*, chapter 2; Latouche and Ramaswami, chapter 2 |
//! | Moments | `E[X^k] = k! a M^k 1`, `M = (-T)⁻¹`; by elimination, O(phases³) |
//! | Distribution | uniformisation: `P(X > x) = Σ Poisson(n; qx) a P^n 1`; O(qx phases²) |
//! | Draws | by the chain: one number for the first phase, two for each phase that it visits |
//! | Bounds | at most 64 phases; absorption must be certain; `qx` up to 10^5, above it the tail is that of the slowest decay |

use super::error::{LawError, positive, refused, sum_of, within};
use crate::linear::solve;
use weir_lab::logarithm::ln;
use weir_lab::stream::Stream;

/// The most phases.
pub(super) const MAX_PHASES: usize = 64;
/// The largest `qx` of a uniformisation.
const MOST_STEPS: f64 = 1e5;

/// A chain of phases.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseType {
    initial: Vec<f64>,
    /// The mean stay in each phase.
    means: Vec<f64>,
    /// The probabilities to go from one phase to another; what a row leaves is absorption.
    next: Vec<Vec<f64>>,
    /// `M^k 1` for k from 1 to 3: the time to absorption from each phase, and its moments over `k!`.
    ahead: [Vec<f64>; 3],
}

impl PhaseType {
    /// By the probabilities of the first phase, the mean stay in each, and the probabilities to go on from each phase to
    /// each; what these leave of 1 is absorption.
    ///
    /// # Errors
    /// Sizes differ, a probability or a mean is none, a row sums to more than 1, or absorption is not certain.
    pub fn new(initial: &[f64], means: &[f64], next: &[Vec<f64>]) -> Result<Self, LawError> {
        let phases = initial.len();
        if phases == 0 || phases > MAX_PHASES {
            let bound = format!("from 1 to {MAX_PHASES}");
            return refused("number of phases", phases as f64, bound, "list as many in `initial`");
        }
        for length in [means.len(), next.len()].into_iter().chain(next.iter().map(Vec::len)) {
            if length != phases {
                let bound = format!("{phases}, as many as in `initial`");
                return refused("number of phases", length as f64, bound, "give every phase its entry");
            }
        }
        means.iter().try_for_each(|&mean| positive("mean", mean).map(drop))?;
        let sum = sum_of(initial.iter().copied())?;
        for row in next {
            row.iter().try_for_each(|&p| within("probability", p, 0.0, 1.0).map(drop))?;
            let onward: f64 = row.iter().sum();
            if onward > 1.0 + 1e-9 {
                return refused("sum of a row of `next`", onward, "at most 1", "lower one of its entries");
            }
        }
        let initial = initial.iter().map(|p| p / sum).collect();
        let made = Self { initial, means: means.to_vec(), next: next.to_vec(), ahead: Default::default() };
        made.with_moments()
    }

    /// By the probabilities of the first phase and the matrix of rates `T`: off its diagonal the rates from one phase to
    /// another, on it minus the rate of leaving.
    ///
    /// # Errors
    /// As [`PhaseType::new`]; or an entry of the diagonal is not negative.
    pub fn of_rates(initial: &[f64], rates: &[Vec<f64>]) -> Result<Self, LawError> {
        let (mut means, mut next) = (Vec::new(), Vec::new());
        for (phase, row) in rates.iter().enumerate() {
            let leaving = -row.get(phase).copied().unwrap_or(0.0);
            positive("rate of leaving", leaving)?;
            means.push(1.0 / leaving);
            let share = |(to, rate): (usize, &f64)| if to == phase { 0.0 } else { rate / leaving };
            next.push(row.iter().enumerate().map(share).collect());
        }
        Self::new(initial, &means, &next)
    }

    /// Coxian: phases one after the other, each gone on from with a probability.
    ///
    /// # Errors
    /// As [`PhaseType::new`]; there is one probability fewer than phases.
    pub fn coxian(means: &[f64], go_on: &[f64]) -> Result<Self, LawError> {
        let phases = means.len();
        if go_on.len() + 1 != phases {
            let bound = format!("{}, one fewer than means", phases.saturating_sub(1));
            return refused("number of `go_on`", go_on.len() as f64, bound, "give one for all but the last");
        }
        let mut next = vec![vec![0.0; phases]; phases];
        go_on.iter().enumerate().for_each(|(phase, &p)| next[phase][phase + 1] = p);
        let first: Vec<f64> = (0..phases).map(|phase| f64::from(u8::from(phase == 0))).collect();
        Self::new(&first, means, &next)
    }

    pub(super) fn scaled(&self, factor: f64) -> Self {
        let by = |power: i32, of: &[f64]| of.iter().map(|v| v * factor.powi(power)).collect();
        Self {
            means: by(1, &self.means),
            ahead: core::array::from_fn(|k| by(k as i32 + 1, &self.ahead[k])),
            ..self.clone()
        }
    }

    /// With the moments ahead of each phase; refuses a chain that may stay for ever.
    fn with_moments(mut self) -> Result<Self, LawError> {
        let mut last = vec![1.0; self.means.len()];
        for k in 0..3 {
            let right: Vec<f64> = last.iter().zip(&self.means).map(|(v, mean)| v * mean).collect();
            last = self.solved(right)?;
            self.ahead[k] = last.clone();
        }
        Ok(self)
    }

    /// `x` of `(I - next) x = right`.
    fn solved(&self, right: Vec<f64>) -> Result<Vec<f64>, LawError> {
        let n = right.len();
        let row = |i: usize| {
            let entry = |j: usize| f64::from(u8::from(i == j)) - self.next[i][j];
            (0..n).map(entry).chain([right[i]]).collect()
        };
        solve((0..n).map(row).collect()).map_or_else(
            || refused("probability of absorption", 0.0, "above 0 from every phase", "lower a row of `next`"),
            Ok,
        )
    }

    /// `E[X]`, `E[X²]`, `E[X³]`.
    pub(super) fn raw_moments(&self) -> [f64; 3] {
        let of = |k: usize| self.initial.iter().zip(&self.ahead[k]).map(|(p, v)| p * v).sum::<f64>();
        [of(0), 2.0 * of(1), 6.0 * of(2)]
    }

    /// `P(X > x)`.
    pub(super) fn survival(&self, x: f64) -> f64 {
        let fastest = self.means.iter().copied().fold(f64::INFINITY, f64::min);
        let steps = x / fastest;
        if x <= 0.0 || steps > MOST_STEPS {
            return if x <= 0.0 { 1.0 } else { self.far(x, fastest) };
        }
        let (mut at, mut weight, mut sum, mut weighed) = (self.initial.clone(), -steps, 0.0, 0.0);
        for n in 1.. {
            let share = libm::exp(weight);
            sum += share * at.iter().sum::<f64>();
            weighed += share;
            if f64::from(n) > steps && (1.0 - weighed < 1e-15 || share < 1e-18) {
                break;
            }
            at = self.stepped(&at, fastest);
            weight += libm::log(steps / f64::from(n));
        }
        sum.clamp(0.0, 1.0)
    }

    /// Beyond what is summed: the decay of the last part that is, continued.
    fn far(&self, x: f64, fastest: f64) -> f64 {
        let (near, end) = (0.9 * MOST_STEPS * fastest, MOST_STEPS * fastest);
        let (first, last) = (self.survival(near), self.survival(end));
        if last <= 0.0 { 0.0 } else { last * libm::pow(last / first, (x - end) / (end - near)) }
    }

    /// One step of the chain at the rate of the fastest phase.
    fn stepped(&self, at: &[f64], fastest: f64) -> Vec<f64> {
        let mut after = vec![0.0; at.len()];
        for (from, share) in at.iter().enumerate() {
            let leaves = share * fastest / self.means[from];
            after[from] += share - leaves;
            after.iter_mut().zip(&self.next[from]).for_each(|(after, p)| *after += leaves * p);
        }
        after
    }

    /// A draw, by the chain.
    pub(super) fn draw(&self, stream: &mut Stream) -> f64 {
        let mut phase = chosen(&self.initial, stream.next_uniform());
        let mut time = 0.0;
        while let Some(at) = phase {
            time -= self.means[at] * ln(stream.next_uniform());
            phase = chosen(&self.next[at], stream.next_uniform());
        }
        time
    }
}

/// Which entry a number in (0, 1) names; `None` beyond their sum.
fn chosen(probabilities: &[f64], u: f64) -> Option<usize> {
    let mut sum = 0.0;
    probabilities.iter().position(|p| {
        sum += p;
        u < sum
    })
}
