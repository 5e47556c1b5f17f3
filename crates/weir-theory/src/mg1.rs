//! The M/G/1 queue: Poisson arrivals, one server, whole messages.
//!
//! With `λ` the arrival rate, `F` the law of sizes, `ρ(x) = λ E[S; S <= x]`, `ρ(x-)` the same below `x`,
//! `m(x) = λ E[S^2; S <= x] / 2`, a message of size `x` has the mean response time `T(x)`:
//!
//! | Policy | `T(x)` | Source |
//! |-|-|-|
//! | FCFS | `m(∞) / (1 - ρ) + x` | Pollaczek 1930, Khinchine 1932 |
//! | PS | `x / (1 - ρ)` | Kleinrock 1967; Sakata, Noguchi and Oizumi 1971 |
//! | SJF | `m(∞) / ((1 - ρ(x-)) (1 - ρ(x))) + x` | Cobham 1954; Phipps 1956 |
//! | PSJF | `m(x) / ((1 - ρ(x-)) (1 - ρ(x))) + x / (1 - ρ(x-))` | preemptive-resume priorities, Jaiswal 1968 |
//! | SRPT | `(m(x) + λ x² P(S > x) / 2) / ((1 - ρ(x-)) (1 - ρ(x))) + ∫ dt / (1 - ρ(t))`, `t` from 0 to `x` | Schrage and Miller 1966 |
//! | LAS | `(λ E[min(S, x)²] / (2 (1 - r)) + x) / (1 - r)`, `r = λ E[min(S, x)]` | Schrage 1967 (foreground-background) |
//!
//! Messages of equal size are served first come first served; under PS, and under LAS where they have
//! attained the same service, they share the server.
//!
//! | | |
//! |-|-|
//! | Units | the unit of time is the service of one unit of size; slowdown is response over size |
//! | Work | O(pieces) for all means of a policy; 256 evaluations for each stretch of a density |
//! | Accuracy | atoms are summed exactly; densities by 16-node Gauss-Legendre on stretches over which neither the size nor `1 - ρ(x)` changes more than twofold: relative error below 1e-12 |

use super::law::{Moments, Piece, Shape, SizeLaw};
use super::quadrature::{integrals, narrow_integrals, total};
use super::{TheoryError, check_load};

/// An exponential density is cut after this many of its means; what is beyond has probability 1e-26.
const TAIL_MEANS: f64 = 60.0;

/// The order of service of an M/G/1 queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// First come first served.
    Fcfs,
    /// Processor sharing.
    Ps,
    /// Shortest job first, without preemption.
    Sjf,
    /// Shortest job first by original size, with preemption.
    Psjf,
    /// Shortest remaining processing time first, with preemption.
    Srpt,
    /// Least attained service first, with preemption.
    Las,
}

/// One stretch of the law, and what lies below it.
#[derive(Clone, Copy, Debug)]
struct Cell {
    piece: Piece,
    /// The moments of all smaller sizes.
    before: Moments,
    /// `∫ dt / (1 - ρ(t))` from 0 to the beginning of the stretch.
    residence: f64,
    /// Whether neither the size nor the slack changes by more than [`NARROW`] over the stretch.
    is_narrow: bool,
}

/// By how much sizes of a narrow stretch differ, as a share: the poles of the formulas are more than thirty times its length away.
const NARROW: f64 = 0.03;

/// What the formulas ask about one size.
struct At<'c> {
    below: Moments,
    up_to: Moments,
    /// The stretch that the size is in or above, and the moments of all smaller sizes.
    place: Option<(&'c Cell, Moments)>,
}

/// An M/G/1 queue at a load below 1.
///
/// ```
/// use weir_theory::{Mg1, Policy, SizeLaw};
/// let queue = Mg1::new(&SizeLaw::exponential(1.0), 0.5)?;
/// assert!((queue.mean_response(Policy::Fcfs) - 2.0).abs() < 1e-12);
/// # Ok::<(), weir_theory::TheoryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mg1 {
    load: f64,
    /// Arrivals per unit of time.
    rate: f64,
    total: Moments,
    largest: Option<f64>,
    cells: Vec<Cell>,
}

impl Mg1 {
    /// The queue of these sizes at this load, the fraction of time the server is busy.
    ///
    /// # Errors
    /// [`TheoryError::Unstable`] at a load of 1 or more, [`TheoryError::Load`] if it is no load.
    pub fn new(law: &SizeLaw, load: f64) -> Result<Self, TheoryError> {
        check_load(load)?;
        let total = law.moments();
        let rate = load / total.0[1];
        Ok(Self { load, rate, total, largest: law.largest(), cells: cells_of(law, rate) })
    }

    /// Arrivals per unit of time.
    #[must_use]
    pub fn arrival_rate(&self) -> f64 {
        self.rate
    }

    /// The mean size, which is the mean service time.
    #[must_use]
    pub fn mean_service(&self) -> f64 {
        self.total.0[1]
    }

    /// The mean of the unfinished work, the same for every work-conserving policy.
    #[must_use]
    pub fn mean_work(&self) -> f64 {
        self.residual() / (1.0 - self.load)
    }

    /// The second moment of the wait under FCFS: `2 E[W]² + λ E[S³] / (3 (1 - ρ))` (Takács 1962).
    #[must_use]
    pub fn fcfs_wait_second_moment(&self) -> f64 {
        let wait = self.mean_work();
        2.0 * wait * wait + self.rate * self.total.0[3] / (3.0 * (1.0 - self.load))
    }

    /// `T(x)`: the mean response time of a message of size `size`.
    #[must_use]
    pub fn response(&self, policy: Policy, size: f64) -> f64 {
        self.response_at(policy, size, &self.at(size))
    }

    /// `E[T]`.
    #[must_use]
    pub fn mean_response(&self, policy: Policy) -> f64 {
        match policy {
            Policy::Fcfs => self.mean_work() + self.mean_service(),
            Policy::Ps => self.mean_service() / (1.0 - self.load),
            _ => {
                let [sum] = self.sum(0.0, f64::INFINITY, |x, at| [self.response_at(policy, x, at)]);
                sum / self.total.0[0]
            }
        }
    }

    /// `E[T / S]`; `None` where it is infinite, as under FCFS with sizes arbitrarily near 0.
    #[must_use]
    pub fn mean_slowdown(&self, policy: Policy) -> Option<f64> {
        let waits_at_zero = matches!(policy, Policy::Fcfs | Policy::Sjf);
        if waits_at_zero && self.cells[0].piece.from == 0.0 {
            return None;
        }
        let [sum] = self.sum(0.0, f64::INFINITY, |x, at| [self.response_at(policy, x, at) / x]);
        Some(sum / self.total.0[0])
    }

    /// `T(s) / s` of the largest size `s`; `None` where the law has no bound.
    #[must_use]
    pub fn largest_slowdown(&self, policy: Policy) -> Option<f64> {
        self.largest.map(|size| self.response(policy, size) / size)
    }

    /// Share, `E[T]` and `E[T / S]` of the sizes above `above` and up to `up_to`; `None` where there are none.
    #[must_use]
    pub fn class_means(&self, policy: Policy, above: f64, up_to: f64) -> Option<ClassMeans> {
        let low = above.next_up().max(0.0);
        let parts = self.cells.iter().filter_map(|cell| cell.piece.between(low, up_to));
        let share: f64 = parts.map(|part| part.share).sum();
        (share > 0.0).then(|| {
            let [response, slowdown] = self.sum(low, up_to, |x, at| {
                let response = self.response_at(policy, x, at);
                [response, response / x]
            });
            ClassMeans { share, response: response / share, slowdown: slowdown / share }
        })
    }

    /// `λ E[S²] / 2`: the mean residual work of the message in service.
    fn residual(&self) -> f64 {
        0.5 * self.rate * self.total.0[2]
    }

    fn slack(&self, moments: &Moments) -> f64 {
        1.0 - self.rate * moments.0[1]
    }

    fn response_at(&self, policy: Policy, x: f64, at: &At<'_>) -> f64 {
        let (below, up_to) = (self.slack(&at.below), self.slack(&at.up_to));
        let larger = (self.total.0[0] - at.up_to.0[0]).max(0.0);
        let own = 0.5 * self.rate * at.up_to.0[2];
        let pieces_of_larger = 0.5 * self.rate * x * x * larger;
        match policy {
            Policy::Fcfs => self.mean_work() + x,
            Policy::Ps => x / (1.0 - self.load),
            Policy::Sjf => self.residual() / (below * up_to) + x,
            Policy::Psjf => own / (below * up_to) + x / below,
            Policy::Srpt => (own + pieces_of_larger) / (below * up_to) + self.residence(x, at),
            Policy::Las => {
                let slack = up_to - self.rate * x * larger;
                ((own + pieces_of_larger) / slack + x) / slack
            }
        }
    }

    /// `∫ dt / (1 - ρ(t))` from 0 to a size.
    fn residence(&self, x: f64, at: &At<'_>) -> f64 {
        let Some((cell, here)) = &at.place else { return x.max(0.0) };
        if cell.piece.is_atom() && x == cell.piece.from {
            return cell.residence;
        }
        let end = x.min(cell.piece.to);
        cell.residence + residence(cell, self.rate, end) + (x - end) / self.slack(here)
    }

    fn at(&self, x: f64) -> At<'_> {
        let next = self.cells.partition_point(|cell| cell.piece.from <= x);
        match next.checked_sub(1) {
            Some(index) => self.at_or_after(&self.cells[index], x),
            None => At { below: Moments::default(), up_to: Moments::default(), place: None },
        }
    }

    /// The state at `x`, where `cell` is the last that begins at or below `x`.
    fn at_or_after<'c>(&self, cell: &'c Cell, x: f64) -> At<'c> {
        let Piece { from, to, .. } = cell.piece;
        if cell.piece.is_atom() && x == from {
            let up_to = cell.before.plus(cell.piece.moments());
            return At { below: cell.before, up_to, place: Some((cell, cell.before)) };
        }
        let end = x.min(to);
        let within = cell.piece.between(from, end).map_or(Moments::default(), |part| part.moments());
        let here = cell.before.plus(within);
        let density = if x <= to { cell.piece.density(x) } else { 0.0 };
        let half = self.half_grain(&cell.piece, density, x, self.slack(&here));
        let below = here.plus(Moments::of_density(density, x, x - half));
        At { below, up_to: here.plus(Moments::of_density(density, x, x + half)), place: Some((cell, here)) }
    }

    /// Half the grain of a density, or less where the messages of one size are more than half the slack.
    fn half_grain(&self, piece: &Piece, density: f64, x: f64, slack: f64) -> f64 {
        let load = self.rate * density * x;
        if load > 0.0 { (0.5 * piece.grain).min(0.25 * slack / load) } else { 0.0 }
    }

    /// `E[f(S); low <= S <= high]`, of several functions at once.
    fn sum<const N: usize>(&self, low: f64, high: f64, f: impl Fn(f64, &At<'_>) -> [f64; N]) -> [f64; N] {
        let cells = self.cells.iter().filter_map(|cell| Some((cell, cell.piece.between(low, high)?)));
        let weighted = |cell, x, weight: f64| f(x, &self.at_or_after(cell, x)).map(|value| weight * value);
        total(cells.map(|(cell, part)| match part.shape {
            Shape::Atom => weighted(cell, part.from, part.share),
            _ => over(cell, part.from, part.to, |x| weighted(cell, x, part.density(x))),
        }))
    }
}

/// What the messages of one class of sizes experience on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassMeans {
    /// The probability of the class.
    pub share: f64,
    /// The mean response time.
    pub response: f64,
    /// The mean of response over size.
    pub slowdown: f64,
}

/// `P(W > t)` of an M/M/1 queue under FCFS: `ρ exp(-(1 - ρ) t / mean service)` (Erlang 1909).
///
/// # Errors
/// As [`Mg1::new`].
pub fn mm1_wait_tail(load: f64, mean_service: f64, t: f64) -> Result<f64, TheoryError> {
    check_load(load)?;
    Ok(if t < 0.0 { 1.0 } else { load * libm::exp(-(1.0 - load) * t / mean_service) })
}

/// `∫ dt / (1 - ρ(t))` from the beginning of the stretch to `end`.
fn residence(cell: &Cell, rate: f64, end: f64) -> f64 {
    let Piece { from, .. } = cell.piece;
    if cell.piece.is_atom() || end <= from {
        return 0.0;
    }
    let below = |t| cell.piece.between(from, t).map_or(0.0, |part| part.moments().0[1]);
    let [time] = over(cell, from, end, |t| [1.0 / (1.0 - rate * (cell.before.0[1] + below(t)))]);
    time
}

/// Integrals over a part of a stretch.
fn over<const N: usize>(cell: &Cell, from: f64, to: f64, f: impl FnMut(f64) -> [f64; N]) -> [f64; N] {
    if cell.is_narrow { narrow_integrals(from, to, f) } else { integrals(from, to, f) }
}

/// Cuts the law into stretches over which the formulas are smooth, and sums up what lies below each.
fn cells_of(law: &SizeLaw, rate: f64) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(law.pieces.len());
    let (mut before, mut time, mut end) = (Moments::default(), 0.0, 0.0);
    for piece in law.pieces.iter().flat_map(finite) {
        let mut pending = vec![piece];
        while let Some(piece) = pending.pop() {
            let after = before.plus(piece.moments());
            if !piece.is_atom() && too_wide(&piece, 1.0 - rate * before.0[1], 1.0 - rate * after.0[1]) {
                pending.extend(piece.halves().into_iter().rev().flatten());
                continue;
            }
            time += (piece.from - end) / (1.0 - rate * before.0[1]);
            let is_narrow = changes_by(&piece, before, after, rate) <= 1.0 + NARROW;
            let cell = Cell { piece, before, residence: time, is_narrow };
            time += residence(&cell, rate, piece.to);
            (before, end) = (after, piece.to);
            cells.push(cell);
        }
    }
    cells
}

/// Whether the size or the slack `1 - ρ(x)` changes more than twofold; the poles of the formulas lie where
/// the slack would be 0, so they stay at least the stretch's own length away.
fn too_wide(piece: &Piece, slack_before: f64, slack_after: f64) -> bool {
    (piece.from > 0.0 && piece.to > 2.0 * piece.from) || slack_before > 2.0 * slack_after
}

/// The factor by which the size or the slack changes over a piece, whichever is larger.
fn changes_by(piece: &Piece, before: Moments, after: Moments, rate: f64) -> f64 {
    let slack = |moments: Moments| 1.0 - rate * moments.0[1];
    (piece.to / piece.from).max(slack(before) / slack(after))
}

/// The piece itself, or an unbounded one as stretches of one mean each.
fn finite(piece: &Piece) -> Vec<Piece> {
    match piece.shape {
        Shape::Exponential { rate } => {
            let edge = |k: u32| piece.from + f64::from(k) / rate;
            (0..TAIL_MEANS as u32).filter_map(|k| piece.between(edge(k), edge(k + 1))).collect()
        }
        _ => vec![*piece],
    }
}

#[cfg(test)]
mod tests;
