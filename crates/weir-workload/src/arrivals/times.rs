//! The instants of a process, from its streams of random numbers.
//!
//! The first is at time 0, or the process is met at any instant, as where many begin together. Equal gaps are not rounded one by
//! one: the k-th instant is at `floor(begin + k * gap)`.
//!
//! Source: the processes', in their modules; Cox, *Renewal Theory*, 1962, section 2.2, for where time 0 lies. Work: O(1) an instant,
//! and what the process itself takes. Units: ticks of the caller's clock, a nanosecond or less.

use super::Arrivals;
use super::batches::BatchTimes;
use super::bursty::{BurstyTimes, Phases};
use super::markov::MarkovTimes;
use super::renewal::RenewalTimes;
use super::superposed::SuperposedTimes;
use crate::source::SourceError;
use weir_lab::stream::{Purpose, Stream};

/// Binary digits of a tick kept by equal gaps.
const GAP_BITS: u32 = 20;

/// Where time 0 lies in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// At an arrival, as an arrival finds the process.
    Arrival,
    /// At any instant, as time finds it.
    AnyInstant,
}

/// The instants of arrivals.
#[derive(Clone, Debug)]
pub struct Times(Process);

#[derive(Clone, Debug)]
enum Process {
    Poisson {
        mean_gap: f64,
        next_at: u64,
        draws: Box<Stream>,
    },
    /// The k-th is at `begin + k * gap`, in parts of a nanosecond.
    Equal {
        gap: u128,
        begin: u128,
        count: u64,
    },
    Bursty(Box<BurstyTimes>),
    Renewal(Box<RenewalTimes>),
    Markov(Box<MarkovTimes>),
    Batches(Box<BatchTimes>),
    Superposition(Box<SuperposedTimes>),
}

impl Times {
    /// The instants of a process of which the first is at time 0, from its streams: that of a purpose with the number 0, or
    /// where it is of several, with the number of each from 1 on.
    ///
    /// # Errors
    /// [`SourceError`] for a mean that the clock cannot draw.
    pub fn new(
        arrivals: &Arrivals,
        mean_gap: f64,
        stream: &dyn Fn(Purpose, u32) -> Stream,
    ) -> Result<Self, SourceError> {
        Self::numbered(arrivals, mean_gap, Start::Arrival, (stream, 0))
    }

    /// The instants of a process that is met at any instant: in the mean as many fall into the first span of time as into any
    /// other.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_any_instant(
        arrivals: &Arrivals,
        mean_gap: f64,
        stream: &dyn Fn(Purpose, u32) -> Stream,
    ) -> Result<Self, SourceError> {
        Self::numbered(arrivals, mean_gap, Start::AnyInstant, (stream, 0))
    }

    /// The instants of a process of this number.
    fn numbered(
        arrivals: &Arrivals,
        mean_gap: f64,
        start: Start,
        (stream, number): (&dyn Fn(Purpose, u32) -> Stream, u32),
    ) -> Result<Self, SourceError> {
        let (all, stream) = (stream, |purpose| stream(purpose, number));
        let (shortest, longest) = arrivals.drawn_means(mean_gap);
        let drawable = |mean: f64| mean > 0.0 && mean <= weir_lab::stream::LONGEST_MEAN;
        if let Some(mean) = [shortest, longest].into_iter().find(|&mean| !drawable(mean)) {
            return Err(SourceError::Mean(mean));
        }
        Ok(Self(match *arrivals {
            Arrivals::Poisson => Process::poisson(mean_gap, start, stream(Purpose::Arrivals)),
            Arrivals::Deterministic => Process::equal(mean_gap, start, || stream(Purpose::Arrivals)),
            Arrivals::Batches(ref batches) => {
                let times = Self::numbered(&batches.of, batches.gap(mean_gap), start, (all, number))?;
                let sizes = stream(Purpose::Batches);
                Process::Batches(Box::new(BatchTimes::new(times, batches.size.clone(), sizes)))
            }
            Arrivals::Superposition(ref parts) => {
                let mut begun = Vec::with_capacity(parts.len());
                let mut begins = stream(Purpose::Beginnings);
                for (number, part) in (1..).zip(parts.iter()) {
                    let gap = mean_gap / part.share;
                    let at_once = number == 1 || start == Start::AnyInstant;
                    let begin = if at_once { 0.0 } else { gap * begins.next_uniform() };
                    begun.push((Self::numbered(&part.arrivals, gap, start, (all, number))?, begin as u64));
                }
                Process::Superposition(Box::new(SuperposedTimes::new(begun.into_iter())))
            }
            Arrivals::Markov(ref process) => {
                let (gaps, changes) = (stream(Purpose::Arrivals), stream(Purpose::Phases));
                Process::Markov(Box::new(MarkovTimes::new(process, mean_gap, start, gaps, changes)))
            }
            Arrivals::Renewal(renewal) => {
                let times = RenewalTimes::new(renewal, mean_gap, start, stream(Purpose::Arrivals));
                Process::Renewal(Box::new(times.map_err(|_| SourceError::Mean(mean_gap))?))
            }
            Arrivals::Bursty { peak, burst, quiet } => {
                let phases = Phases::new(peak, burst, quiet, mean_gap);
                let (gaps, stays) = (stream(Purpose::Arrivals), stream(Purpose::Phases));
                Process::Bursty(Box::new(BurstyTimes::new(phases, start, gaps, stays)))
            }
        }))
    }

    /// Fills `out` with what as many calls of `next_at` would give.
    pub fn fill(&mut self, out: &mut [u64]) {
        let Process::Poisson { mean_gap, next_at, draws } = &mut self.0 else {
            return out.iter_mut().for_each(|at| *at = self.next_at());
        };
        draws.fill_exponential(*mean_gap, 0, out);
        for at in out {
            let gap = std::mem::replace(at, *next_at);
            *next_at = next_at.saturating_add(gap);
        }
    }

    /// The next instant.
    #[inline]
    pub fn next_at(&mut self) -> u64 {
        match &mut self.0 {
            Process::Poisson { mean_gap, next_at, draws } => {
                let this = *next_at;
                *next_at = this.saturating_add(draws.next_exponential(*mean_gap));
                this
            }
            Process::Equal { gap, begin, count } => {
                let at = (*begin + u128::from(*count) * *gap) >> GAP_BITS;
                *count += 1;
                u64::try_from(at).unwrap_or(u64::MAX)
            }
            Process::Bursty(times) => times.next(),
            Process::Renewal(times) => times.next(),
            Process::Markov(times) => times.next(),
            Process::Batches(times) => times.next(),
            Process::Superposition(times) => times.next(),
        }
    }
}

impl Process {
    fn poisson(mean_gap: f64, start: Start, mut draws: Stream) -> Self {
        let next_at = match start {
            Start::Arrival => 0,
            Start::AnyInstant => draws.next_exponential(mean_gap),
        };
        Self::Poisson { mean_gap, next_at, draws: Box::new(draws) }
    }

    fn equal(mean_gap: f64, start: Start, draws: impl FnOnce() -> Stream) -> Self {
        let parts = mean_gap * f64::from(1_u32 << GAP_BITS);
        let begin = match start {
            Start::Arrival => 0,
            Start::AnyInstant => (parts * draws().next_uniform()) as u128,
        };
        Self::Equal { gap: parts as u128, begin, count: 0 }
    }
}
