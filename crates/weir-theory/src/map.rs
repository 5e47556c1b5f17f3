//! MAP/M/1: arrivals whose rate depends on a hidden phase, one exponential server, by a matrix-geometric solution.
//!
//! A Markovian arrival process is two matrices of rates over its phases: `D0` of changes of phase without an arrival, `D1` of those
//! with one. MMPP, the Poisson process modulated by a chain, is `D1` diagonal. The queue has `π(n) = π(0) R^n`.
//!
//! | | |
//! |-|-|
//! | `R` | the least solution of `D1 + R (D0 - μI) + R² μ = 0` | Neuts, *Matrix-Geometric Solutions in Stochastic Models*, 1981, chapter 3 |
//! | how | `R = D1 (μI - D0 - D1 G)⁻¹`, `G` by logarithmic reduction | Latouche and Ramaswami, *Journal of Applied Probability* 30, 1993 |
//! | `π(0)` | `π(0) (D0 + μR) = 0`, `π(0) (I - R)⁻¹ 1 = 1` | Neuts, section 1.2 |
//! | number waiting | `π(0) R² (I - R)⁻² 1` | the sum of `(n - 1) π(n)` |
//! | arrivals | find `n` with probability `π(n) D1 1 / λ` | Lucantoni, Meier-Hellstern and Neuts 1990 |
//! | Units | rates per unit of time, times in it | |
//! | Work | O(phases³) for each of at most 64 reductions, at most 64 phases | |
//! | Accuracy | a reduction adds less than 1e-15 to `G` at the end; relative error of means below 1e-14 over `(1 - load)²` | |

use super::matrix::{Matrix, null_vector};
use super::{NoForm, TheoryError, check_load};

/// The most phases of a process.
pub const MOST_PHASES: usize = 64;
/// The most reductions; each squares what is left.
const MOST_REDUCTIONS: u32 = 64;
/// Reductions end where they add less.
const STEP: f64 = 1e-15;
/// By how much of its diagonal a row of rates may miss the sum 0.
const ROUNDING: f64 = 1e-9;

/// A Markovian arrival process, in some unit of time.
///
/// ```
/// use weir_theory::{Map, MapM1};
/// // Bursts: 1.8 arrivals in a unit of time or 0.2, each for 10 on average. One server, services of 1.
/// let bursts = Map::modulated(&[vec![-0.1, 0.1], vec![0.1, -0.1]], &[1.6, 0.2])?;
/// assert!((bursts.rate() - 0.9).abs() < 1e-14);
/// let queue = MapM1::new(&bursts, 1.0)?;
/// // Far longer than the 9 services of M/M/1 at this load.
/// assert!(queue.mean_wait() > 15.0);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    hidden: Matrix,
    arriving: Matrix,
    rate: f64,
}

impl Map {
    /// The process with these rates without and with an arrival; the diagonal of `hidden` makes each row of both sum to 0.
    ///
    /// # Errors
    /// [`TheoryError::Parameter`] for matrices that are not square or not of one size, for rates out of bounds, rows that do not sum to
    /// 0, or more than [`MOST_PHASES`] phases; [`NoForm::Matrix`] where the phases fall into parts that do not reach each other.
    pub fn new(hidden: &[Vec<f64>], arriving: &[Vec<f64>]) -> Result<Self, TheoryError> {
        let order = hidden.len();
        if order == 0 || order > MOST_PHASES {
            return Err(refused("number of phases", order as f64, "from 1 to 64"));
        }
        let rows = || hidden.iter().chain(arriving);
        if let Some(row) = rows().find(|row| row.len() != order) {
            return Err(refused("length of a row of rates", row.len() as f64, "the number of phases"));
        }
        if arriving.len() != order {
            return Err(refused("number of rows of rates", arriving.len() as f64, "the number of phases"));
        }
        let hidden = Matrix::from_fn(order, |i, j| hidden[i][j]);
        let arriving = Matrix::from_fn(order, |i, j| arriving[i][j]);
        check_rates(&hidden, &arriving)?;
        let ones = vec![1.0; order];
        let phases = null_vector(&hidden.plus(&arriving), &ones).ok_or(NoForm::Matrix)?;
        let rate: f64 = dot(&phases, &arriving.row_sums());
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(refused("rate of arrivals", rate, "positive and finite"));
        }
        Ok(Self { hidden, arriving, rate })
    }

    /// MMPP: arrivals at the rate `rates[i]` while a chain with these rates of change, `changes`, is in state `i`.
    ///
    /// # Errors
    /// As [`Map::new`], for each row of `changes` must sum to 0.
    pub fn modulated(changes: &[Vec<f64>], rates: &[f64]) -> Result<Self, TheoryError> {
        if rates.len() != changes.len() {
            return Err(refused("number of rates", rates.len() as f64, "the number of phases"));
        }
        let diagonal = |i: usize, j: usize| if i == j { rates[i] } else { 0.0 };
        let row = |i: usize, row: &Vec<f64>| {
            row.iter().enumerate().map(|(j, change)| change - diagonal(i, j)).collect()
        };
        let hidden: Vec<Vec<f64>> = changes.iter().enumerate().map(|(i, each)| row(i, each)).collect();
        let order = 0..rates.len();
        let arriving: Vec<Vec<f64>> =
            order.clone().map(|i| order.clone().map(|j| diagonal(i, j)).collect()).collect();
        Self::new(&hidden, &arriving)
    }

    /// The mean number of arrivals in a unit of time.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

fn refused(name: &'static str, value: f64, bound: &'static str) -> TheoryError {
    TheoryError::Parameter { name, value, bound }
}

fn check_rates(hidden: &Matrix, arriving: &Matrix) -> Result<(), TheoryError> {
    let order = hidden.order;
    for (i, j) in (0..order * order).map(|at| (at / order, at % order)) {
        let (quiet, arrival) = (hidden.at(i, j), arriving.at(i, j));
        if !(arrival >= 0.0 && arrival.is_finite()) {
            return Err(refused("rate with an arrival", arrival, "at least 0 and finite"));
        }
        if i != j && !(quiet >= 0.0 && quiet.is_finite()) {
            return Err(refused("rate without an arrival", quiet, "at least 0 and finite off the diagonal"));
        }
        if i == j && !(quiet < 0.0 && quiet.is_finite()) {
            return Err(refused("rate on the diagonal", quiet, "below 0 and finite"));
        }
    }
    let sums = hidden.plus(arriving).row_sums();
    match sums.iter().enumerate().find(|(i, sum)| sum.abs() > ROUNDING * hidden.at(*i, *i).abs()) {
        Some((_, sum)) => Err(refused("sum of a row of rates", *sum, "0 over both matrices")),
        None => Ok(()),
    }
}

/// The queue MAP/M/1, first come first served.
#[derive(Clone, Debug)]
pub struct MapM1 {
    arrivals: Map,
    load: f64,
    /// `π(0)`, by phase.
    empty: Vec<f64>,
    ratio: Matrix,
    /// `(I - R)⁻¹`.
    sums: Matrix,
}

impl MapM1 {
    /// Solves the queue with `service` services in a unit of time.
    ///
    /// # Errors
    /// [`TheoryError::Unstable`] at a load of 1 or more, [`TheoryError::Parameter`] for a rate out of bounds, [`NoForm::Matrix`] where the
    /// rates lie so far apart that a matrix cannot be inverted.
    pub fn new(arrivals: &Map, service: f64) -> Result<Self, TheoryError> {
        if !(service > 0.0 && service.is_finite()) {
            return Err(refused("rate of service", service, "positive and finite"));
        }
        let load = arrivals.rate / service;
        check_load(load)?;
        let order = arrivals.hidden.order;
        let one = Matrix::diagonal(order, 1.0);
        let (up, down) = (&arrivals.arriving, Matrix::diagonal(order, service));
        // What leaves a state with somebody in it.
        let out = down.minus(&arrivals.hidden);
        let fall = first_passage(up, &out, &down).ok_or(NoForm::Matrix)?;
        let ratio = up.times(&out.minus(&up.times(&fall)).inverse().ok_or(NoForm::Matrix)?);
        let sums = one.minus(&ratio).inverse().ok_or(NoForm::Matrix)?;
        let border = arrivals.hidden.plus(&down.times(&ratio));
        let empty = null_vector(&border, &sums.row_sums()).ok_or(NoForm::Matrix)?;
        Ok(Self { arrivals: arrivals.clone(), load, empty, ratio, sums })
    }

    /// The share of time that the server is busy.
    #[must_use]
    pub fn load(&self) -> f64 {
        self.load
    }

    /// The share of arrivals that have to wait, from 0 to 1.
    #[must_use]
    pub fn waits(&self) -> f64 {
        1.0 - dot(&self.empty, &self.arrivals.arriving.row_sums()) / self.arrivals.rate
    }

    /// The mean number of those who wait.
    #[must_use]
    pub fn mean_waiting(&self) -> f64 {
        let once = self.sums.after(&self.ratio.after(&self.empty));
        dot(&self.ratio.after(&once), &self.sums.row_sums())
    }

    /// The mean wait, in the unit of time.
    #[must_use]
    pub fn mean_wait(&self) -> f64 {
        self.mean_waiting() / self.arrivals.rate
    }

    /// The share of time with more than `n` customers present.
    #[must_use]
    pub fn share_beyond(&self, n: u32) -> f64 {
        let level = (0..=n).fold(self.empty.clone(), |level, _| self.ratio.after(&level));
        dot(&level, &self.sums.row_sums())
    }
}

/// `G`: the phase in which one customer less is present for the first time, by logarithmic reduction.
fn first_passage(up: &Matrix, out: &Matrix, down: &Matrix) -> Option<Matrix> {
    let one = Matrix::diagonal(up.order, 1.0);
    let leave = out.inverse()?;
    let (mut rise, mut fall) = (leave.times(up), leave.times(down));
    let (mut found, mut path) = (fall.clone(), rise.clone());
    for _ in 0..MOST_REDUCTIONS {
        let back = rise.times(&fall).plus(&fall.times(&rise));
        let again = one.minus(&back).inverse()?;
        (rise, fall) = (again.times(&rise.times(&rise)), again.times(&fall.times(&fall)));
        let more = path.times(&fall);
        found = found.plus(&more);
        path = path.times(&rise);
        if more.largest() < STEP {
            return Some(found);
        }
    }
    None
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gaps, GiM1};

    fn poisson(rate: f64) -> Map {
        Map::new(&[vec![-rate]], &[vec![rate]]).expect("a process")
    }

    /// Gaps of `k` exponential phases.
    fn erlang(k: usize, rate: f64) -> Map {
        let phase = rate * k as f64;
        let row = |entry: &dyn Fn(usize) -> f64| (0..k).map(entry).collect::<Vec<_>>();
        let hidden = |i: usize| match i {
            i if i + 1 == k => row(&|j| if j == i { -phase } else { 0.0 }),
            i => row(&|j| [0.0, -phase, phase][usize::from(j == i) + 2 * usize::from(j == i + 1)]),
        };
        let last = |i: usize| row(&|j| if i + 1 == k && j == 0 { phase } else { 0.0 });
        Map::new(&(0..k).map(hidden).collect::<Vec<_>>(), &(0..k).map(last).collect::<Vec<_>>())
            .expect("a process")
    }

    #[test]
    fn one_phase_is_mm1() {
        for load in [0.01, 0.5, 0.99, 0.99999] {
            let queue = MapM1::new(&poisson(load * 3.0), 3.0).expect("a load");
            let expected = load / (3.0 * (1.0 - load));
            let error = (queue.mean_wait() / expected - 1.0).abs();
            assert!(error < 1e-14 / (1.0 - load).powi(2), "{load}: {error}");
            assert!((queue.waits() - load).abs() < 1e-10);
            assert!((queue.share_beyond(4) - load.powi(5)).abs() < 1e-9);
        }
    }

    #[test]
    fn gaps_of_phases_agree_with_the_root_of_gi_m_1() {
        for (k, load) in [(2_u32, 0.6), (5, 0.9), (20, 0.97)] {
            let queue = MapM1::new(&erlang(k as usize, load), 1.0).expect("a load");
            let root = GiM1::new(Gaps::Erlang(k), load, 1.0).expect("a load");
            assert!((queue.mean_wait() / root.mean_wait() - 1.0).abs() < 1e-10, "{k}");
            assert!((queue.waits() / root.waits() - 1.0).abs() < 1e-11, "{k}");
        }
    }

    /// The mean number waiting, and the share of time with nobody, of MMPP with two phases, step by step.
    fn by_steps(changes: [f64; 2], rates: [f64; 2]) -> (f64, f64) {
        const MOST: usize = 250;
        let fastest = changes[0].max(changes[1]) + rates[0].max(rates[1]) + 1.0;
        let mut now = vec![[0.0; 2]; MOST + 1];
        now[0] = [0.5, 0.5];
        for _ in 0..60_000 {
            let mut next = now.clone();
            for n in 0..=MOST {
                for phase in 0..2 {
                    let mut flow = |rate: f64, to: (usize, usize)| {
                        let moved = now[n][phase] * rate / fastest;
                        next[n][phase] -= moved;
                        next[to.0][to.1] += moved;
                    };
                    flow(changes[phase], (n, 1 - phase));
                    flow(rates[phase], ((n + 1).min(MOST), phase));
                    if n > 0 {
                        flow(1.0, (n - 1, phase));
                    }
                }
            }
            now = next;
        }
        let waiting = now.iter().enumerate().skip(1).map(|(n, by)| (n - 1) as f64 * (by[0] + by[1])).sum();
        (waiting, now[0][0] + now[0][1])
    }

    #[test]
    fn bursts_agree_with_their_chain() {
        let (changes, rates) = ([0.2, 0.1], [1.4, 0.3]);
        let generator = [vec![-0.2, 0.2], vec![0.1, -0.1]];
        let queue = MapM1::new(&Map::modulated(&generator, &rates).expect("a process"), 1.0).expect("a load");
        let (waiting, nobody) = by_steps(changes, rates);
        assert!((queue.mean_waiting() / waiting - 1.0).abs() < 1e-8, "{} {waiting}", queue.mean_waiting());
        assert!((1.0 - queue.share_beyond(0) - nobody).abs() < 1e-10);
        assert!((queue.load() - (1.0 - nobody)).abs() < 1e-10);
    }

    #[test]
    fn what_is_no_process_is_refused() {
        let bound = |hidden: &[Vec<f64>], arriving: &[Vec<f64>]| {
            Map::new(hidden, arriving).expect_err("refused").to_string()
        };
        assert!(bound(&[], &[]).contains("from 1 to 64"));
        assert!(bound(&[vec![-1.0, 0.5]], &[vec![0.5]]).contains("length of a row"));
        assert!(bound(&[vec![-1.0]], &[vec![1.5]]).contains("sum of a row of rates is 0.5"));
        assert!(bound(&[vec![-1.0]], &[vec![f64::NAN]]).contains("rate with an arrival"));
        let apart = [vec![-1.0, 0.0], vec![0.0, -1.0]];
        let own = [vec![1.0, 0.0], vec![0.0, 1.0]];
        assert_eq!(Map::new(&apart, &own), Err(NoForm::Matrix.into()));
        assert_eq!(MapM1::new(&poisson(2.0), 1.0).map(|_| ()), Err(TheoryError::Unstable(2.0)));
        assert!(MapM1::new(&poisson(2.0), f64::NAN).is_err());
        assert!(Map::modulated(&apart, &[1.0]).is_err());
    }
}
