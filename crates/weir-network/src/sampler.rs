//! Draws from the distributions of gaps and sizes, in whole numbers.
//!
//! Every draw takes its numbers of the stream one after the other, so that what is drawn does not depend on how many are drawn at
//! a time: one number, but for some laws of the textbooks. An exponential between bounds is drawn by inversion of its truncated law, which is that of drawing
//! again until the bounds hold. The two-state law takes its changes of state from a stream of their own: after
//! each draw it leaves a state of `n` draws on average with probability `1/n`.

use weir_lab::logarithm::ln;
use weir_lab::stream::{LONGEST_MEAN, Stream};
use weir_tg::Distribution;
use weir_workload::{ContinuousLaw, SizeSampler, Sizes};

/// A distribution in whole units.
#[derive(Clone, Debug)]
pub struct Sampler {
    law: Law,
    /// Where changes of state come from.
    phases: Option<Box<Stream>>,
}

#[derive(Clone, Debug)]
enum Law {
    Constant(u64),
    Uniform {
        least: f64,
        width: f64,
    },
    Exponential(f64),
    /// The truncated exponential: its mean before, its least value, and the probability of its range above that.
    Bounded {
        mean: f64,
        least: f64,
        share: f64,
    },
    Markov(Box<Markov>),
    /// Of the textbooks; it takes as many numbers of the stream as it says.
    Textbook(Box<ContinuousLaw>),
    Table(Box<SizeSampler>),
}

#[derive(Clone, Debug)]
struct Markov {
    second: bool,
    /// The probability to leave each state, after a draw.
    leave: [f64; 2],
    laws: [Law; 2],
}

/// The nearest whole number; 0 below it.
fn whole(value: f64) -> u64 {
    (value + 0.5) as u64
}

impl Law {
    fn new(distribution: &Distribution, scale: f64) -> Self {
        match distribution {
            Distribution::Constant(value) => Self::Constant(whole(value * scale)),
            Distribution::Uniform { min, max } => {
                Self::Uniform { least: min * scale, width: (max - min) * scale }
            }
            Distribution::Exponential { mean, .. } if *mean <= 0.0 => Self::Constant(0),
            Distribution::Exponential { mean, bounds: None } => Self::Exponential(mean * scale),
            Distribution::Exponential { mean, bounds: Some((low, high)) } => {
                let share = -libm::expm1(-(high - low) / mean);
                Self::Bounded { mean: mean * scale, least: low * scale, share }
            }
            Distribution::Markov2(states) => {
                let leave = [states[0].0, states[1].0].map(|draws| 1.0 / draws.max(1.0));
                let laws = [&states[0].1, &states[1].1].map(|law| Self::new(law, scale));
                Self::Markov(Box::new(Markov { second: false, leave, laws }))
            }
        }
    }

    fn draw(&mut self, stream: &mut Stream, phases: &mut Option<Box<Stream>>) -> u64 {
        match self {
            Self::Constant(value) => *value,
            Self::Uniform { least, width } => whole(*least + *width * stream.next_uniform()),
            Self::Exponential(mean) => stream.next_exponential(*mean),
            Self::Bounded { mean, least, share } => {
                whole(*least - *mean * ln(1.0 - *share * stream.next_uniform()))
            }
            Self::Textbook(law) => law.draw_whole(stream),
            Self::Table(sizes) => sizes.sample(stream.next_u64()),
            Self::Markov(markov) => {
                let state = usize::from(markov.second);
                let value = markov.laws[state].draw(stream, phases);
                let left = |phases: &mut Box<Stream>| phases.next_uniform() < markov.leave[state];
                markov.second ^= phases.as_mut().is_some_and(left);
                value
            }
        }
    }

    fn longest_mean(&self) -> f64 {
        match self {
            Self::Exponential(mean) => *mean,
            Self::Markov(markov) => markov.laws[0].longest_mean().max(markov.laws[1].longest_mean()),
            Self::Constant(_)
            | Self::Uniform { .. }
            | Self::Bounded { .. }
            | Self::Textbook(_)
            | Self::Table(_) => 0.0,
        }
    }
}

impl Sampler {
    /// Draws from `distribution`, whose values are `scale` whole units each; `phases` makes the stream of the
    /// changes of state.
    ///
    /// # Errors
    /// An exponential has a longer mean than the streams draw.
    pub fn new(
        distribution: &Distribution,
        scale: f64,
        phases: impl FnOnce() -> Stream,
    ) -> Result<Self, &'static str> {
        let law = Law::new(distribution, scale);
        if law.longest_mean() > LONGEST_MEAN {
            return Err("the mean of an exponential is above 19 hours (70368 s), shorten it");
        }
        let phases = matches!(law, Law::Markov(_)).then(|| Box::new(phases()));
        Ok(Self { law, phases })
    }

    /// Draws by a law in whole units.
    #[must_use]
    pub fn of_law(law: ContinuousLaw) -> Self {
        Self { law: Law::Textbook(Box::new(law)), phases: None }
    }

    /// Draws from a table of sizes.
    #[must_use]
    pub fn of_sizes(sizes: &Sizes) -> Self {
        Self { law: Law::Table(Box::new(sizes.sampler())), phases: None }
    }

    /// Fills `out` with the next draws.
    pub fn fill(&mut self, stream: &mut Stream, out: &mut [u64]) {
        match &mut self.law {
            Law::Constant(value) => out.fill(*value),
            Law::Exponential(mean) => stream.fill_exponential(*mean, 0, out),
            law => out.iter_mut().for_each(|value| *value = law.draw(stream, &mut self.phases)),
        }
    }

    /// Whether every draw is the same.
    #[must_use]
    pub fn constant(&self) -> Option<u64> {
        match self.law {
            Law::Constant(value) => Some(value),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_lab::stream::{Purpose, StreamKey};

    fn stream(index: u32) -> Stream {
        Stream::new(StreamKey { seed: 4, replication: 0, purpose: Purpose::Test, index })
    }

    fn drawn(distribution: &Distribution, count: usize) -> Vec<u64> {
        let mut sampler = Sampler::new(distribution, 1e9, || stream(1)).expect("a law");
        let mut out = vec![0; count];
        sampler.fill(&mut stream(0), &mut out);
        out
    }

    fn laws() -> Vec<Distribution> {
        let bounded = Distribution::Exponential { mean: 0.5, bounds: Some((0.2, 1.0)) };
        vec![
            Distribution::Constant(0.25),
            Distribution::Uniform { min: 0.1, max: 0.3 },
            Distribution::Exponential { mean: 0.5, bounds: None },
            bounded.clone(),
            Distribution::Markov2(Box::new([(3.0, Distribution::Constant(0.1)), (1.0, bounded)])),
        ]
    }

    #[test]
    fn draws_have_their_means() {
        for law in laws() {
            let draws = drawn(&law, 200_000);
            let average = draws.iter().sum::<u64>() as f64 / 2e5 / 1e9;
            assert!((average / law.mean() - 1.0).abs() < 0.01, "{law:?}: {average} for {}", law.mean());
        }
    }

    #[test]
    fn bounds_hold() {
        let law = Distribution::Exponential { mean: 0.5, bounds: Some((0.2, 1.0)) };
        assert!(drawn(&law, 10_000).iter().all(|value| (200_000_000..=1_000_000_000).contains(value)));
    }

    #[test]
    fn any_number_at_a_time_draws_the_same() {
        for law in laws() {
            let mut sampler = Sampler::new(&law, 1e9, || stream(1)).expect("a law");
            let mut random = stream(0);
            let mut pieces = Vec::new();
            for length in [1, 7, 64, 3, 100] {
                let mut piece = vec![0; length];
                sampler.fill(&mut random, &mut piece);
                pieces.extend(piece);
            }
            assert_eq!(pieces, drawn(&law, 175), "{law:?}");
        }
    }

    #[test]
    fn a_mean_beyond_the_streams_is_refused() {
        let law = Distribution::Exponential { mean: 1e6, bounds: None };
        assert!(Sampler::new(&law, 1e9, || stream(1)).is_err());
        assert_eq!(drawn(&Distribution::Exponential { mean: 0.0, bounds: None }, 2), [0, 0]);
    }
}
