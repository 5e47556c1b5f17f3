//! Runs: stretches of equally likely sizes, the form in which every tabulated law is kept.

use super::{MAX_SIZE, SUM_TOLERANCE, SizesError};

/// The sizes `first..=last`, equally likely, with probability `share` together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The smallest size.
    pub first: u64,
    /// The largest size.
    pub last: u64,
    /// The probability of the whole run.
    pub share: f64,
}

impl Run {
    /// One size with probability `share`.
    #[must_use]
    pub const fn atom(size: u64, share: f64) -> Self {
        Self { first: size, last: size, share }
    }

    pub(super) fn count(self) -> f64 {
        (self.last - self.first + 1) as f64
    }

    /// `E[X^k; X in the run]`, in a form without cancellation.
    pub(super) fn moment(self, k: u32) -> f64 {
        let centre = 0.5 * (self.first as f64 + self.last as f64);
        let spread = (self.count() * self.count() - 1.0) / 12.0;
        self.share
            * match k {
                0 => 1.0,
                1 => centre,
                2 => centre * centre + spread,
                3 => centre * (centre * centre + 3.0 * spread),
                _ => {
                    // The fourth central moment of equally likely whole numbers.
                    let square = self.count() * self.count();
                    let fourth = (square - 1.0) * (3.0 * square - 7.0) / 240.0;
                    centre * centre * (centre * centre + 6.0 * spread) + fourth
                }
            }
    }

    /// The part of the run up to `size`; `None` where it begins above.
    pub(super) fn up_to(self, size: u64) -> Option<Self> {
        if size < self.first {
            return None;
        }
        let last = self.last.min(size);
        let share = self.share * ((last - self.first + 1) as f64 / self.count());
        Some(Self { first: self.first, last, share })
    }
}

/// Refuses what is no run.
pub(super) fn check_run(run: &Run) -> Result<(), SizesError> {
    if run.first == 0 {
        return Err(SizesError::ZeroSize);
    }
    if run.last > MAX_SIZE {
        return Err(SizesError::TooLarge(run.last));
    }
    if run.last < run.first {
        return Err(SizesError::Reversed(run.first, run.last));
    }
    if !(0.0..=1.0 + SUM_TOLERANCE).contains(&run.share) {
        return Err(SizesError::Probability(run.share));
    }
    Ok(())
}

/// Cuts runs where one begins or ends, adds what overlaps, and scales the sum to 1.
pub(super) fn disjoint(runs: &[Run], sum: f64) -> Vec<Run> {
    let mut sorted: Vec<Run> = runs.iter().copied().filter(|run| run.share > 0.0).collect();
    sorted.sort_by_key(|run| run.first);
    let mut cuts: Vec<u64> = sorted.iter().flat_map(|run| [run.first, run.last + 1]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let (mut waiting, mut active, mut out) = (sorted.into_iter().peekable(), Vec::<Run>::new(), Vec::new());
    for cut in cuts.windows(2) {
        active.retain(|run| run.last >= cut[0]);
        while let Some(run) = waiting.next_if(|run| run.first == cut[0]) {
            active.push(run);
        }
        let width = (cut[1] - cut[0]) as f64;
        let share: f64 = active.iter().map(|run| run.share * (width / run.count())).sum();
        if share > 0.0 {
            out.push(Run { first: cut[0], last: cut[1] - 1, share: share / sum });
        }
    }
    out
}

/// The packets that the sizes of one run fill: a first and a last number that may be partly covered, and
/// equally likely numbers between.
pub(super) fn packets_of(run: Run, packet: u64) -> Vec<Run> {
    let (first, last) = (run.first.div_ceil(packet), run.last.div_ceil(packet));
    if first == last {
        return vec![Run::atom(first, run.share)];
    }
    let share = |sizes: u64| run.share * (sizes as f64 / run.count());
    let head = Run::atom(first, share(first * packet - run.first + 1));
    let tail = Run::atom(last, share(run.last - (last - 1) * packet));
    let mut pieces = vec![head];
    if last - first > 1 {
        pieces.push(Run { first: first + 1, last: last - 1, share: share((last - first - 1) * packet) });
    }
    pieces.push(tail);
    pieces
}

/// The smallest size with at least the probability `p` up to it.
pub(super) fn table_quantile(runs: &[Run], p: f64) -> u64 {
    let mut below = 0.0;
    for run in runs {
        if below + run.share >= p {
            let within = ((p - below) / run.share * run.count()).ceil() as u64;
            return (run.first + within.max(1) - 1).min(run.last);
        }
        below += run.share;
    }
    // The shares sum to 1 but for rounding.
    runs[runs.len() - 1].last
}
