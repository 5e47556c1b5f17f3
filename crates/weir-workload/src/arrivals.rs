//! Arrivals from outside: a process in time, a distribution of lengths, and applications that send.
//!
//! | process | parameters | time between arrivals |
//! |---|---|---|
//! | `Poisson` | | exponential |
//! | `Deterministic` | | constant, not rounded: the k-th arrival is at `floor(k * gap)` |
//! | `Bursty` | `peak`, `burst`, `quiet` | of a Poisson process whose rate switches between two values (`bursty`) |
//! | `Renewal` | a law without its mean | independent, of that law |
//! | `Batches` | a process, a size | of the process, from batch to batch; 0 within one ([`batches`]) |
//! | `Superposition` | processes with shares | of all of them together ([`superposed`]) |
//! | `Markov` | rates over phases | of a Markovian arrival process ([`markov`]) |
//!
//! The first message arrives at time 0, unless a process is met at any instant, as where many begin together
//! ([`Times::from_any_instant`]). Times, lengths, phases and flows have streams of their own: a
//! change of one leaves the numbers of the others. Work: O(1) an arrival, and one step per change of state.

pub mod batches;
mod bursty;
pub mod fine;
mod key;
pub mod markov;
pub mod renewal;
pub mod superposed;
mod times;

use super::classes::MessageClasses;
use super::sizes::{SizeSampler, Sizes};
use crate::curve::Curve;
use crate::source::{ArrivalBlock, ArrivalSource, LengthTable, PoissonArrivals, SourceError};
use bursty::Phases;
use std::sync::Arc;
use weir_lab::stream::{Purpose, Stream, StreamKey, below};

pub use batches::{BatchSize, Batches};
pub use fine::FineTimes;
pub use markov::MarkovArrivals;
pub use renewal::Renewal;
pub use superposed::Part;
use times::Start;
pub use times::Times;

/// The longest table of lengths that is drawn from as such.
const MAX_TABLE: u64 = 1 << 16;
/// Arrivals of a curve end here: half of what a clock can hold, so that what is drawn ahead of a run stays within it.
pub const LATEST: u64 = 1 << 62;

/// The process of arrivals.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Exponential times between arrivals.
    Poisson,
    /// Equal times between arrivals.
    Deterministic,
    /// A Poisson process whose rate switches between two values.
    Bursty {
        /// The rate during a burst over the mean rate, above 1.
        peak: f64,
        /// The mean number of messages of a burst, at least 1.
        burst: f64,
        /// The rate between bursts over the mean rate, from 0 to below 1.
        quiet: f64,
    },
    /// Independent times between arrivals, of one law.
    Renewal(Renewal),
    /// Arrivals at a rate that depends on a hidden phase.
    Markov(Arc<MarkovArrivals>),
    /// Several messages at each instant of a process.
    Batches(Arc<Batches>),
    /// Those of several processes together.
    Superposition(Arc<Vec<Part>>),
}

impl Arrivals {
    /// The shortest and the longest mean time that the process draws, at this mean gap.
    #[must_use]
    pub fn drawn_means(&self, mean_gap: f64) -> (f64, f64) {
        let (peak, burst, quiet) = match self {
            Self::Bursty { peak, burst, quiet } => (*peak, *burst, *quiet),
            Self::Markov(process) => return process.stays(mean_gap),
            Self::Batches(batches) => return batches.of.drawn_means(batches.gap(mean_gap)),
            Self::Superposition(parts) => {
                let means = parts.iter().map(|part| part.arrivals.drawn_means(mean_gap / part.share));
                return means.fold((f64::INFINITY, 0.0), |all, own| (all.0.min(own.0), all.1.max(own.1)));
            }
            Self::Poisson | Self::Deterministic | Self::Renewal(_) => return (mean_gap, mean_gap),
        };
        Phases::new(peak, burst, quiet, mean_gap).drawn_means()
    }

    /// The variance of the number of arrivals over its mean, in the long run: 1 of a Poisson process. `None` where it is
    /// infinite.
    ///
    /// Of a rate that switches between two (Fischer and Meier-Hellstern 1993, section 3) it is
    /// `1 + 2 s (1 - s) (peak - quiet)² / (1 / T + 1 / T')`, with the share `s` of time in bursts and the mean times `T`, `T'`
    /// in the two states, in mean gaps. Of a renewal process it is the variance of gaps over their squared mean, and of
    /// several processes the mean over their shares.
    #[must_use]
    pub fn dispersion(&self) -> Option<f64> {
        match self {
            Self::Poisson => Some(1.0),
            Self::Deterministic => Some(0.0),
            Self::Renewal(renewal) => renewal.scv(),
            Self::Markov(process) => process.dispersion(),
            Self::Batches(batches) => batches.dispersion(),
            Self::Superposition(parts) => {
                parts.iter().map(|part| Some(part.share * part.arrivals.dispersion()?)).sum()
            }
            Self::Bursty { peak, burst, quiet } => {
                let share = (1.0 - quiet) / (peak - quiet);
                let (bursts, between) = (burst / peak, burst / peak * (1.0 - share) / share);
                let apart = (peak - quiet) * (peak - quiet);
                Some(1.0 + 2.0 * share * (1.0 - share) * apart / (1.0 / bursts + 1.0 / between))
            }
        }
    }
}

/// A process with its rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Paced {
    /// The process.
    pub arrivals: Arrivals,
    /// Its mean gap, in ticks of the clock.
    pub mean_gap: f64,
    /// How its rate follows the time, in ticks, over its mean; `None` where it stays.
    pub curve: Option<Curve>,
}

impl Paced {
    /// Its instants.
    fn times(self, stream: &dyn Fn(Purpose, u32) -> Stream) -> Result<FineTimes, SourceError> {
        match self.curve {
            None => Ok(FineTimes::whole(Times::new(&self.arrivals, self.mean_gap, stream)?)),
            curve => FineTimes::new(&self.arrivals, self.mean_gap, curve, stream),
        }
    }
}

/// The arrivals of one replication: a process with its rate, a distribution of lengths, a number of applications, and the key
/// (seed, replication) of the random streams.
///
/// Poisson arrivals at one rate of a table of lengths from one application come from [`PoissonArrivals`], the fastest
/// source; the general one would give the same numbers. Those of a curve end where its rate stays 0, and at [`LATEST`].
///
/// # Errors
/// [`SourceError`] for a mean that the clock cannot draw.
pub fn arrival_source(
    paced: Paced,
    lengths: &Sizes,
    flows: u32,
    classes: &MessageClasses,
    (seed, replication): (u64, u32),
) -> Result<Box<dyn ArrivalSource + Send>, SourceError> {
    let drawn = Lengths::new(lengths)?;
    let by_length = matches!(classes, MessageClasses::Lengths(_));
    match (&paced, drawn) {
        (Paced { arrivals: Arrivals::Poisson, mean_gap, curve: None }, Lengths::Table(table))
            if flows <= 1 && by_length =>
        {
            Ok(Box::new(PoissonArrivals::new(table, *mean_gap, seed, replication)?))
        }
        (_, drawn) => {
            let of = |purpose, index| Stream::new(StreamKey { seed, replication, purpose, index });
            let stream = |purpose| of(purpose, 0);
            Ok(Box::new(GeneralArrivals {
                times: paced.times(&of)?,
                lengths: drawn,
                classes: classes.clone(),
                flows,
                length_draws: stream(Purpose::Lengths),
                flow_draws: stream(Purpose::Flows),
                scratch: Vec::new(),
            }))
        }
    }
}

/// How lengths are drawn: a table by its alias columns, any other law by its sampler.
#[derive(Clone, Debug)]
enum Lengths {
    Table(LengthTable),
    Law(SizeSampler),
}

impl Lengths {
    fn new(sizes: &Sizes) -> Result<Self, SourceError> {
        let Some(atoms) = sizes.atoms(MAX_TABLE) else { return Ok(Self::Law(sizes.sampler())) };
        let short = |&(size, share): &(u64, f64)| (u32::try_from(size).unwrap_or(u32::MAX), share);
        LengthTable::new(&atoms.iter().map(short).collect::<Vec<_>>()).map(Self::Table)
    }

    /// The length that each 64 random bits name, in place of `lengths`; one that exceeds the counter is the largest.
    /// `sizes` is room for as many.
    fn of_all(&self, bits: &[u64], sizes: &mut [u64], lengths: &mut Vec<u32>) {
        lengths.clear();
        match self {
            Self::Table(table) => {
                lengths.extend(bits.iter().map(|&bits| table.lengths()[usize::from(table.class(bits))]));
            }
            Self::Law(sampler) => {
                sampler.sample_all(bits, sizes);
                lengths.extend(sizes.iter().map(|&size| u32::try_from(size).unwrap_or(u32::MAX)));
            }
        }
    }
}

/// Any process at any rate, any distribution of lengths, any number of applications.
#[derive(Clone, Debug)]
struct GeneralArrivals {
    times: FineTimes,
    lengths: Lengths,
    classes: MessageClasses,
    flows: u32,
    length_draws: Stream,
    flow_draws: Stream,
    /// What is drawn for a block.
    scratch: Vec<u64>,
}

impl ArrivalSource for GeneralArrivals {
    fn fill(&mut self, block: &mut ArrivalBlock, n: usize) -> usize {
        let Self { times, lengths, classes, flows, length_draws, flow_draws, scratch } = self;
        block.clear();
        scratch.resize(n, 0);
        length_draws.fill_u64(scratch);
        block.at.resize(n, 0);
        lengths.of_all(scratch, &mut block.at, &mut block.length);
        classes.classify(&block.length, &mut block.class);
        block.flow.resize(n, 0);
        if *flows > 1 {
            flow_draws.fill_u64(scratch);
            let drawn = scratch.iter().map(|&bits| below(bits, u64::from(*flows)) as u32);
            block.flow.iter_mut().zip(drawn).for_each(|(flow, drawn)| *flow = drawn);
        }
        times.fill(&mut block.at);
        if times.may_end() {
            block.truncate(block.at.partition_point(|&at| at < LATEST));
        }
        block.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: f64 = 4.7e9;

    fn steady(arrivals: Arrivals, mean_gap: f64) -> Paced {
        Paced { arrivals, mean_gap, curve: None }
    }

    fn source(arrivals: Arrivals, flows: u32) -> Box<dyn ArrivalSource + Send> {
        let sizes = Sizes::alpha_report();
        let classes = MessageClasses::by_length(&sizes, 100).expect("six lengths");
        arrival_source(steady(arrivals, GAP), &sizes, flows, &classes, (7, 2)).expect("valid")
    }

    fn draw(source: &mut dyn ArrivalSource, n: usize) -> ArrivalBlock {
        let mut block = ArrivalBlock::default();
        assert_eq!(source.fill(&mut block, n), n);
        block
    }

    const BURSTY: Arrivals = Arrivals::Bursty { peak: 4.0, burst: 10.0, quiet: 0.25 };

    #[test]
    fn the_general_source_gives_the_numbers_of_the_fast_one() {
        let (fast, general) =
            (draw(&mut *source(Arrivals::Poisson, 1), 5000), draw(&mut *source(Arrivals::Poisson, 3), 5000));
        assert_eq!((fast.at, fast.length, fast.class), (general.at, general.length, general.class));
        assert!((0..3).all(|flow| general.flow.iter().filter(|&&f| f == flow).count() > 1500));
    }

    #[test]
    fn block_size_does_not_change_the_numbers() {
        for arrivals in
            [Arrivals::Poisson, Arrivals::Deterministic, BURSTY, Arrivals::Renewal(Renewal::Gamma(2.0))]
        {
            let whole = draw(&mut *source(arrivals.clone(), 2), 300);
            let mut pieces = source(arrivals, 2);
            let pieces: Vec<u64> = (0..6).flat_map(|_| draw(&mut *pieces, 50).at).collect();
            assert_eq!(pieces, whole.at);
        }
    }

    #[test]
    fn every_process_keeps_its_mean_gap() {
        for arrivals in [Arrivals::Poisson, Arrivals::Deterministic, BURSTY] {
            let block = draw(&mut *source(arrivals.clone(), 1), 400_000);
            assert_eq!(block.at[0], 0);
            let mean = *block.at.last().expect("drawn") as f64 / 399_999.0;
            assert!((mean / GAP - 1.0).abs() < 0.03, "{arrivals:?}: {mean}");
        }
    }

    #[test]
    fn renewals_have_the_moments_of_their_law() {
        for (renewal, cv) in [
            (Renewal::Lognormal(1.5), 1.5),
            (Renewal::Gamma(0.5), 0.5),
            (Renewal::Erlang(4), 0.5),
            (Renewal::Weibull(1.0), 1.0),
            (Renewal::Pareto(4.0), 0.125_f64.sqrt()),
            (Renewal::Hyperexponential(2.0), 2.0),
        ] {
            let block = draw(&mut *source(Arrivals::Renewal(renewal), 1), 400_000);
            assert_eq!(block.at[0], 0);
            let gaps: Vec<f64> = block.at.windows(2).map(|two| (two[1] - two[0]) as f64 / GAP).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            assert!((mean - 1.0).abs() < 4.5 * cv / 400_000_f64.sqrt(), "{renewal:?}: {mean}");
            assert!((square.sqrt() / cv - 1.0).abs() < 0.05, "{renewal:?}: {square}");
            assert!((renewal.scv().expect("finite") - cv * cv).abs() < 1e-9);
        }
        assert_eq!(Renewal::Pareto(2.0).scv(), None);
        let sizes = Sizes::alpha_report();
        let classes = MessageClasses::by_decile(&sizes);
        let none = Arrivals::Renewal(Renewal::Pareto(1.0));
        assert!(arrival_source(steady(none, GAP), &sizes, 1, &classes, (1, 0)).is_err());
    }

    #[test]
    fn batches_and_processes_together_have_their_moments() {
        let table = [(1, 0.5), (8, 0.5)];
        let table = BatchSize::Table(LengthTable::new(&table).expect("sizes"), table.to_vec());
        let batches = |size| Arrivals::Batches(Arc::new(Batches { of: Arrivals::Poisson, size }));
        let part = |share, arrivals| Part { share, arrivals };
        let several = vec![
            part(0.5, Arrivals::Poisson),
            part(0.3, batches(BatchSize::Geometric(3.0))),
            part(0.2, BURSTY),
        ];
        for arrivals in [
            batches(BatchSize::Constant(3)),
            batches(BatchSize::Geometric(4.0)),
            batches(table),
            Arrivals::Superposition(Arc::new(several)),
        ] {
            let block = draw(&mut *source(arrivals.clone(), 1), 1_000_000);
            assert!(block.at[0] == 0 && block.at.is_sorted());
            let window = 500.0 * GAP;
            let mut counts = vec![0.0; (*block.at.last().expect("drawn") as f64 / window) as usize];
            for at in &block.at {
                if let Some(count) = counts.get_mut((*at as f64 / window) as usize) {
                    *count += 1.0;
                }
            }
            let mean = counts.iter().sum::<f64>() / counts.len() as f64;
            let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / counts.len() as f64;
            let expected = arrivals.dispersion().expect("finite");
            // As in bursts: of 2000 windows, the relative error of a variance is about sqrt(2/2000).
            assert!(
                (variance / mean / expected - 1.0).abs() < 0.15,
                "{arrivals:?}: {} {expected}",
                variance / mean
            );
            assert!((mean / 500.0 - 1.0).abs() < 4.5 * (expected / 1e6).sqrt(), "{arrivals:?}: {mean}");
        }
    }

    #[test]
    fn the_first_of_several_equal_processes_is_not_in_step_with_the_others() {
        let part = |share| Part { share, arrivals: Arrivals::Deterministic };
        let block = draw(&mut *source(Arrivals::Superposition(Arc::new(vec![part(0.75), part(0.25)])), 1), 9);
        assert_eq!(block.at[0], 0);
        // Of four in a row one is of the second process.
        let gap = (GAP / 0.75) as u64;
        let own = block.at.iter().filter(|at| *at % gap < 8).count();
        assert!((6..=7).contains(&own), "{:?}", block.at);
    }

    #[test]
    fn equal_gaps_do_not_drift() {
        let block = draw(&mut *source(Arrivals::Deterministic, 1), 1000);
        assert_eq!((block.at[1], block.at[999]), (4_700_000_000, 999 * 4_700_000_000));
    }

    /// The variance of counts over their mean tends to 1 + 2 s (1-s) (λ1-λ0)² / (λ (σ1+σ0)), with the rates
    /// λ of arrivals and σ of changes of state.
    #[test]
    fn bursts_have_the_dispersion_of_the_process() {
        let (peak, burst, quiet) = (4.0_f64, 10.0, 0.25);
        let share = (1.0 - quiet) / (peak - quiet);
        let stay = burst / peak;
        let switching = 1.0 / stay + share / (stay * (1.0 - share));
        let expected = 1.0 + 2.0 * share * (1.0 - share) * (peak - quiet).powi(2) / switching;
        let block = draw(&mut *source(BURSTY, 1), 1_000_000);
        let window = 500.0 * GAP;
        let mut counts = vec![0.0; (*block.at.last().expect("drawn") as f64 / window) as usize];
        for at in &block.at {
            if let Some(count) = counts.get_mut((*at as f64 / window) as usize) {
                *count += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / counts.len() as f64;
        // Of 2000 windows, the relative error of a variance is about sqrt(2/2000).
        assert!((variance / mean / expected - 1.0).abs() < 0.15, "{} {expected}", variance / mean);
    }

    /// Met at any instant, a process has as many arrivals in the first span of time as in any other, in the mean over 4,000 of
    /// them, within four standard errors; begun by an arrival, bursts have more.
    #[test]
    fn processes_that_are_met_at_any_instant_are_in_the_long_run_from_the_beginning() {
        let (batches, part) = (
            |of| Arrivals::Batches(Arc::new(Batches { of, size: BatchSize::Geometric(3.0) })),
            |share, arrivals| Part { share, arrivals },
        );
        let (changes, rates) = (vec![vec![-0.02, 0.02], vec![0.1, -0.1]], vec![0.4, 3.0]);
        let modulated = MarkovArrivals::modulated(&changes, &rates).expect("a process");
        let several = vec![part(0.5, Arrivals::Deterministic), part(0.5, BURSTY)];
        let mut all = vec![
            Arrivals::Poisson,
            Arrivals::Deterministic,
            BURSTY,
            batches(BURSTY),
            Arrivals::Markov(Arc::new(modulated)),
            Arrivals::Superposition(Arc::new(several)),
        ];
        all.extend(
            [
                Renewal::Lognormal(2.0),
                Renewal::Gamma(2.0),
                Renewal::Erlang(5),
                Renewal::Weibull(0.6),
                Renewal::Pareto(2.5),
                Renewal::Hyperexponential(3.0),
            ]
            .map(Arrivals::Renewal),
        );
        for arrivals in all {
            let (expected, runs) = (2.5, 4_000);
            let counts: Vec<f64> = (0..runs)
                .map(|replication| {
                    let key = |purpose, index| StreamKey { seed: 3, replication, purpose, index };
                    let stream = |purpose, index| Stream::new(key(purpose, index));
                    let mut times = Times::from_any_instant(&arrivals, GAP, &stream).expect("drawn");
                    let before = |at: u64| (at as f64) < expected * GAP;
                    std::iter::repeat_with(|| times.next_at()).take_while(|&at| before(at)).count() as f64
                })
                .collect();
            let mean = counts.iter().sum::<f64>() / f64::from(runs);
            let square = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / f64::from(runs);
            let error = (square / f64::from(runs)).sqrt();
            assert!((mean - expected).abs() < 4.0 * error, "{arrivals:?}: {mean} +- {error}");
        }
    }

    #[test]
    fn a_mean_beyond_the_clock_is_refused() {
        let sizes = Sizes::alpha_report();
        let classes = MessageClasses::by_decile(&sizes);
        for gap in [0.0, f64::NAN, 1e15] {
            assert!(arrival_source(steady(BURSTY, gap), &sizes, 1, &classes, (1, 0)).is_err(), "{gap}");
        }
    }
}
