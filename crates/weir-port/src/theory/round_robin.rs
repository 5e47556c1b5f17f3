//! The linear system of the round robins over messages.
//!
//! `D_j` is the mean time from the acceptance of packet `j - 1` of a message to that of packet `j` (`D_1`
//! from its arrival). During it the server passes once over the messages that share the ring: those found,
//! those that came in the meantime, and those that came during earlier rounds and are not finished.
//! `G(i) = P(L > i)`, `λ` the arrival rate, `b` the mean residual service found at an arrival.
//!
//! Newcomers last (RR):
//!
//! ```text
//! D_1 = b + λ Σ_{i>=0} G(i) D_{i+1}
//! D_j = 1 + λ Σ_{i>=0} G(i+j-1) D_{i+1} + λ Σ_{r=1}^{j-1} G(j-1-r) D_r
//! ```
//!
//! Newcomers first (RR'):
//!
//! ```text
//! D_1 = b / (1 - λ)
//! D_j = [1 + λ (G(j-1) + G(j-2)) D_1 + λ Σ_{i>=1} G(i+j-2) D_{i+1} + λ Σ_{r=2}^{j-1} G(j-r) D_r] / (1 - λ)
//! ```
//!
//! Both have the form `D = s + A D` with `A >= 0`, `s > 0`. Below load 1 the means are a positive solution,
//! so `A D < D`, the spectral radius of `A` is below 1 (Collatz-Wielandt), and so is that of the splitting
//! used here (Stein-Rosenberg): backward sums take the values of the running sweep, forward sums those of
//! the last. Near load 1 one slow component remains. It is the one that the conservation law fixes: the mean
//! number of packets waiting is the same under every order of service, and `λ Σ_i G(i) (D_1 + … + D_{i+1})`
//! under every order blind to length; so each sweep ends by scaling its result to that number, and some tens of sweeps suffice at any load. As `G`
//! only steps at the lengths that occur, a sum over `G` is a sum of prefix sums of `D`: a sweep costs
//! O(longest x lengths). The sweep that ends the iteration has a scale of 1 to the tolerance, or there is no
//! solution.

/// Where a newcomer joins the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Newcomers {
    /// At the end (RR).
    Last,
    /// Before all that have sent a packet (RR').
    First,
}

/// The relative change of a sweep at which the iteration ends.
const TOLERANCE: f64 = 1e-12;
/// How far from 1 the last scale may be.
const SCALE_TOLERANCE: f64 = 1e-9;
/// The iteration gives up here.
const MAX_SWEEPS: usize = 2_000;

/// The mean time from arrival to the acceptance of packets 1, 2, … up to the longest message; `None` if the
/// iteration does not converge.
pub(super) fn acceptance_times(system: &System<'_>, queue_length: f64) -> Option<Vec<f64>> {
    let longest = system.lengths.last().map_or(0, |last| last.0 as usize);
    let mut times = vec![0.0; longest + 1];
    for _ in 0..MAX_SWEEPS {
        let next = system.sweep(&times);
        let scale = queue_length / system.queue_length(&next);
        let scaled: Vec<f64> = next.iter().map(|time| time * scale).collect();
        if scaled.iter().zip(&times).all(|(new, old)| (new - old).abs() <= TOLERANCE * new) {
            return ((scale - 1.0).abs() <= SCALE_TOLERANCE).then(|| next[1..].to_vec());
        }
        times = scaled;
    }
    None
}

/// The coefficients of the system.
pub(super) struct System<'a> {
    /// Each length with its probability, in increasing order.
    pub(super) lengths: &'a [(u64, f64)],
    /// Messages per mean service.
    pub(super) rate: f64,
    /// The mean residual service found at an arrival.
    pub(super) residual: f64,
    /// Where a newcomer joins.
    pub(super) newcomers: Newcomers,
}

impl System<'_> {
    /// One sweep over prefix sums: `times[j] = D_1 + … + D_j`.
    fn sweep(&self, times: &[f64]) -> Vec<f64> {
        let mut next = Vec::with_capacity(times.len());
        next.extend([0.0, self.first(times)]);
        for j in 2..times.len() {
            let step = match self.newcomers {
                Newcomers::Last => self.step_last(j, times, &next),
                Newcomers::First => self.step_first(j, times, &next),
            };
            next.push(next[j - 1] + step);
        }
        next
    }

    /// `λ Σ_i G(i) times[i + 1]`: the mean number of packets waiting, if these are the means.
    pub(super) fn queue_length(&self, times: &[f64]) -> f64 {
        let (mut sum, mut from) = (0.0, 1);
        let packets = self.lengths.iter().map(|&(length, share)| {
            sum += times[from..=length as usize].iter().sum::<f64>();
            from = length as usize + 1;
            share * sum
        });
        self.rate * packets.sum::<f64>()
    }

    fn first(&self, times: &[f64]) -> f64 {
        match self.newcomers {
            Newcomers::Last => self.residual + self.rate * self.over(|length| times[length]),
            Newcomers::First => self.residual / (1.0 - self.rate),
        }
    }

    fn step_last(&self, j: usize, times: &[f64], next: &[f64]) -> f64 {
        let found = self.at_least(j, |length| times[length + 1 - j]);
        let came = next[j - 1] - self.below(j - 1, |length| next[j - 1 - length]);
        1.0 + self.rate * (found + came)
    }

    fn step_first(&self, j: usize, times: &[f64], next: &[f64]) -> f64 {
        let fresh = (self.at_least(j, |_| 1.0) + self.at_least(j - 1, |_| 1.0)) * next[1];
        let found = self.at_least(j, |length| times[length + 2 - j] - times[1]);
        let came = self.over(|length| next[j - 1] - next[j.saturating_sub(length).max(1)]);
        (1.0 + self.rate * (fresh + found + came)) / (1.0 - self.rate)
    }

    /// `E[f(L)]`.
    fn over(&self, f: impl Fn(usize) -> f64) -> f64 {
        self.lengths.iter().map(|&(length, share)| share * f(length as usize)).sum()
    }

    /// `E[f(L); L >= bound]`.
    fn at_least(&self, bound: usize, f: impl Fn(usize) -> f64) -> f64 {
        let from = self.lengths.partition_point(|&(length, _)| (length as usize) < bound);
        self.lengths[from..].iter().map(|&(length, share)| share * f(length as usize)).sum()
    }

    /// `E[f(L); L < bound]`.
    fn below(&self, bound: usize, f: impl Fn(usize) -> f64) -> f64 {
        let end = self.lengths.partition_point(|&(length, _)| (length as usize) < bound);
        self.lengths[..end].iter().map(|&(length, share)| share * f(length as usize)).sum()
    }
}
