//! Bursts: a Poisson process whose rate switches between two values, at exponential times.
//!
//! With `g` the mean gap: bursts have rate `peak / g` and last `T = burst * g / peak` in the mean, so that `burst` messages
//! fall into one; between them the rate is `quiet / g`. The share of time in bursts is `s = (1 - quiet) / (peak - quiet)`, which keeps
//! the mean rate at `1 / g`; so the time between bursts is `T * (1 - s) / s` in the mean. An arrival finds a burst with probability
//! `s * peak`, time with probability `s`.
//!
//! Source: the two-state Markov modulated Poisson process of Fischer and Meier-Hellstern, *The Markov-modulated Poisson process
//! (MMPP) cookbook*, Performance Evaluation 18, 1993. Work: O(1) an arrival, and one step per change of state.

use super::times::Start;
use weir_lab::stream::Stream;

/// The two states of a bursty process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phases {
    /// The mean time between arrivals in a burst, and between bursts where there are any.
    gaps: [Option<f64>; 2],
    /// The mean length of a burst, and of the time between bursts.
    stays: [f64; 2],
    /// The probability that an arrival falls into a burst.
    arrival_in_burst: f64,
}

impl Phases {
    pub(super) fn new(peak: f64, burst: f64, quiet: f64, mean_gap: f64) -> Self {
        let share = (1.0 - quiet) / (peak - quiet);
        let stay = burst * mean_gap / peak;
        Self {
            gaps: [Some(mean_gap / peak), (quiet > 0.0).then(|| mean_gap / quiet)],
            stays: [stay, stay * (1.0 - share) / share],
            arrival_in_burst: share * peak,
        }
    }

    /// The shortest and the longest mean time that is drawn.
    pub(super) fn drawn_means(&self) -> (f64, f64) {
        let means = self.gaps.iter().flatten().chain(&self.stays);
        means.fold((f64::INFINITY, 0.0), |(low, high), mean| (low.min(*mean), high.max(*mean)))
    }
}

/// The instants of a bursty process.
#[derive(Clone, Debug)]
pub(super) struct BurstyTimes {
    phases: Phases,
    /// 0 in a burst, 1 between bursts.
    phase: usize,
    phase_ends: u64,
    next_at: u64,
    gaps: Stream,
    stays: Stream,
}

impl BurstyTimes {
    pub(super) fn new(phases: Phases, start: Start, gaps: Stream, mut stays: Stream) -> Self {
        let in_burst = match start {
            Start::Arrival => phases.arrival_in_burst,
            Start::AnyInstant => phases.stays[0] / (phases.stays[0] + phases.stays[1]),
        };
        let phase = usize::from(stays.next_uniform() >= in_burst);
        let phase_ends = stays.next_exponential(phases.stays[phase]);
        let mut times = Self { phases, phase, phase_ends, next_at: 0, gaps, stays };
        if start == Start::AnyInstant {
            // There is no arrival at time 0.
            times.next();
        }
        times
    }

    pub(super) fn next(&mut self) -> u64 {
        let this = self.next_at;
        let mut at = this;
        loop {
            // No memory: what is left of a gap at a change of state is drawn anew at the new rate.
            let gap = self.phases.gaps[self.phase].map(|mean| self.gaps.next_exponential(mean));
            match gap.map(|gap| at.saturating_add(gap)) {
                Some(next) if next <= self.phase_ends => {
                    self.next_at = next;
                    return this;
                }
                _ => at = self.change_phase(),
            }
        }
    }

    /// Enters the other state; the instant at which it does.
    fn change_phase(&mut self) -> u64 {
        let at = self.phase_ends;
        self.phase = 1 - self.phase;
        self.phase_ends = at.saturating_add(self.stays.next_exponential(self.phases.stays[self.phase]));
        at
    }
}
