//! Distributions of the language, over gaps in seconds and lengths in bytes.
//!
//! | | |
//! |-|-|
//! | Source | TG 2.0, grammar and release notes (McKenney, Lee, Denny, 2002) |
//! | Exponential | `-mean ln((r + 1) / 2^31)`, drawn again until within the bounds |
//! | Uniform | `min + (max - min) r / 2^31` |
//! | Markov of two states | a draw from the state's distribution, then the state is left with probability 1/n |
//! | Work per draw | one number, two for each level of a Markov distribution; more where bounds refuse |
//! | Departs from the source | bounds that accept fewer than one draw in 10,000 are refused |

use core::fmt;

use crate::random::Random;

/// How deep Markov distributions may be nested.
pub const MAX_NESTING: usize = 8;
/// Bounds of an exponential must accept at least this share of its draws.
const LEAST_ACCEPTED: f64 = 1e-4;
/// The number of draws outside the bounds after which the nearer bound is taken: a bound on time, whatever the generator.
const MAX_REDRAWS: u32 = 1_000_000;
/// Numbers are below this.
const RANGE: f64 = 2_147_483_648.0;

/// A distribution; its parameters are finite and not negative, bounds are in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(f64),
    /// Uniform from the first to the second.
    Uniform {
        /// The smallest value.
        min: f64,
        /// The largest.
        max: f64,
    },
    /// Exponential; with bounds, drawn again until within them.
    Exponential {
        /// The mean, without bounds.
        mean: f64,
        /// The smallest and the largest value.
        bounds: Option<(f64, f64)>,
    },
    /// Two states, each with a mean number of draws (at least 1) and a distribution; begins in the first.
    Markov2(Box<[(f64, Distribution); 2]>),
}

/// Why a distribution is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DistributionError {
    /// A parameter is negative, infinite or no number.
    Value(f64),
    /// The smallest value is above the largest.
    Order(f64, f64),
    /// The mean number of draws in a state is below 1.
    Stay(f64),
    /// The bounds accept so small a share of the draws that drawing would not end.
    Bounds(f64, f64),
    /// Markov distributions are nested too deep.
    Nesting,
}

impl DistributionError {
    /// What to write instead.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Value(_) => "write a number such as 0.5",
            Self::Order(..) => "write the smaller one first",
            Self::Stay(_) => "write how many draws a visit to the state has in the mean, such as 10",
            Self::Bounds(..) => "widen the bounds around the mean, or use `uniform`",
            Self::Nesting => "nest fewer of them",
        }
    }
}

impl fmt::Display for DistributionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "a parameter is {value}, must be finite and at least 0"),
            Self::Order(min, max) => {
                write!(f, "the smallest value is {min}, must be at most the largest, {max}")
            }
            Self::Stay(mean) => {
                write!(f, "the mean number of draws in a state is {mean}, must be at least 1")
            }
            Self::Bounds(min, max) => {
                write!(f, "the bounds {min} and {max} accept fewer than 1 draw in 10000")
            }
            Self::Nesting => write!(f, "markov2 is nested deeper than {MAX_NESTING}"),
        }
    }
}

impl core::error::Error for DistributionError {}

impl Distribution {
    /// Checks what the type's documentation promises, and that drawing takes a bounded time.
    ///
    /// # Errors
    /// The first parameter that is refused.
    pub fn check(&self) -> Result<(), DistributionError> {
        self.check_at(0)
    }

    fn check_at(&self, depth: usize) -> Result<(), DistributionError> {
        match self {
            Self::Constant(value) => check_value(*value),
            Self::Uniform { min, max } => check_order(*min, *max),
            Self::Exponential { mean, bounds: None } => check_value(*mean),
            Self::Exponential { mean, bounds: Some((min, max)) } => {
                check_value(*mean)?;
                check_order(*min, *max)?;
                let enough = accepted(*mean, *min, *max) >= LEAST_ACCEPTED;
                if enough { Ok(()) } else { Err(DistributionError::Bounds(*min, *max)) }
            }
            Self::Markov2(_) if depth == MAX_NESTING => Err(DistributionError::Nesting),
            Self::Markov2(states) => states.iter().try_for_each(|(stay, distribution)| {
                if !(stay.is_finite() && *stay >= 1.0) {
                    return Err(DistributionError::Stay(*stay));
                }
                distribution.check_at(depth + 1)
            }),
        }
    }

    /// The mean of many draws.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Uniform { min, max } => min + (max - min) / 2.0,
            Self::Exponential { mean, bounds: None } => *mean,
            Self::Exponential { mean, bounds: Some((min, max)) } => bounded_mean(*mean, *min, *max),
            Self::Markov2(states) => {
                let [(first, one), (second, two)] = &**states;
                (first * one.mean() + second * two.mean()) / (first + second)
            }
        }
    }

    /// The largest value that can be drawn; `None` where there is none.
    #[must_use]
    pub fn largest(&self) -> Option<f64> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Uniform { max, .. } => Some(*max),
            Self::Exponential { bounds: Some((_, max)), .. } => Some(*max),
            Self::Exponential { mean, bounds: None } => (*mean == 0.0).then_some(0.0),
            Self::Markov2(states) => {
                let [(_, one), (_, two)] = &**states;
                Some(one.largest()?.max(two.largest()?))
            }
        }
    }
}

fn check_value(value: f64) -> Result<(), DistributionError> {
    if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(DistributionError::Value(value)) }
}

fn check_order(min: f64, max: f64) -> Result<(), DistributionError> {
    check_value(min)?;
    check_value(max)?;
    if min <= max { Ok(()) } else { Err(DistributionError::Order(min, max)) }
}

/// The share of the draws of an exponential that are within bounds.
fn accepted(mean: f64, min: f64, max: f64) -> f64 {
    if mean == 0.0 {
        return if min == 0.0 { 1.0 } else { 0.0 };
    }
    (-min / mean).exp() - (-max / mean).exp()
}

/// The mean of an exponential given that it is within bounds.
fn bounded_mean(mean: f64, min: f64, max: f64) -> f64 {
    if mean == 0.0 {
        return 0.0;
    }
    let (below, above) = ((-min / mean).exp(), (-max / mean).exp());
    mean + (min * below - max * above) / (below - above)
}

/// A distribution with the state of its draws.
#[derive(Clone, Debug)]
pub struct Sampler(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Constant(f64),
    Uniform { min: f64, step: f64 },
    Exponential { mean: f64, bounds: Option<(f64, f64)> },
    Markov2 { second: bool, leaving: [f64; 2], states: Box<[Sampler; 2]> },
}

impl Sampler {
    /// A sampler at the beginning of its draws. The distribution has passed [`Distribution::check`].
    #[must_use]
    pub fn new(distribution: &Distribution) -> Self {
        Self(match distribution {
            Distribution::Constant(value) => Kind::Constant(*value),
            Distribution::Uniform { min, max } => Kind::Uniform { min: *min, step: (max - min) / RANGE },
            Distribution::Exponential { mean, bounds } => Kind::Exponential { mean: *mean, bounds: *bounds },
            Distribution::Markov2(states) => Kind::Markov2 {
                second: false,
                leaving: [RANGE / states[0].0, RANGE / states[1].0],
                states: Box::new([Self::new(&states[0].1), Self::new(&states[1].1)]),
            },
        })
    }

    /// The next draw.
    #[inline]
    pub fn draw(&mut self, random: &mut impl Random) -> f64 {
        match &mut self.0 {
            Kind::Constant(value) => *value,
            Kind::Uniform { min, step } => *min + *step * f64::from(random.next_31()),
            Kind::Exponential { mean, bounds: None } => exponential(*mean, random),
            Kind::Exponential { mean, bounds: Some(bounds) } => bounded(*mean, *bounds, random),
            Kind::Markov2 { second, leaving, states } => {
                let state = usize::from(*second);
                let value = states[state].draw_nested(random);
                *second ^= f64::from(random.next_31()) < leaving[state];
                value
            }
        }
    }

    /// [`Sampler::draw`] as a call: it recurs, and so cannot be inlined into itself.
    fn draw_nested(&mut self, random: &mut impl Random) -> f64 {
        self.draw(random)
    }
}

#[inline]
fn exponential(mean: f64, random: &mut impl Random) -> f64 {
    // Not below zero for the largest number, whose logarithm is that of 1 and whose product is -0.
    (-mean * ((f64::from(random.next_31()) + 1.0) / RANGE).ln()).max(0.0)
}

fn bounded(mean: f64, (min, max): (f64, f64), random: &mut impl Random) -> f64 {
    let mut value = exponential(mean, random);
    for _ in 0..MAX_REDRAWS {
        if (min..=max).contains(&value) {
            return value;
        }
        value = exponential(mean, random);
    }
    value.clamp(min, max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::BsdRandom;

    const DRAWS: u32 = 200_000;

    /// Mean and variance of many draws.
    fn moments(distribution: &Distribution) -> (f64, f64) {
        let mut sampler = Sampler::new(distribution);
        let mut random = BsdRandom::new();
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..DRAWS {
            let value = sampler.draw(&mut random);
            assert!(value >= 0.0 && distribution.largest().is_none_or(|largest| value <= largest));
            sum += value;
            squares += value * value;
        }
        let mean = sum / f64::from(DRAWS);
        (mean, squares / f64::from(DRAWS) - mean * mean)
    }

    /// Four standard errors of the mean of independent draws with this variance.
    fn tolerance(variance: f64) -> f64 {
        4.0 * (variance / f64::from(DRAWS)).sqrt()
    }

    #[test]
    fn means_and_variances_are_those_of_the_formulas() {
        // For an exponential within bounds: (mean, bounds) = (1, [0.5, 2]) has the mean and the variance below,
        // by integration of the truncated density.
        let cases = [
            (Distribution::Constant(3.0), 3.0, 0.0),
            (Distribution::Uniform { min: 2.0, max: 4.0 }, 3.0, 4.0 / 12.0),
            (Distribution::Exponential { mean: 2.0, bounds: None }, 2.0, 4.0),
            (
                Distribution::Exponential { mean: 1.0, bounds: Some((0.5, 2.0)) },
                TRUNCATED_MEAN,
                TRUNCATED_VARIANCE,
            ),
        ];
        for (distribution, mean, variance) in cases {
            let (found, spread) = moments(&distribution);
            assert!((found - mean).abs() <= tolerance(variance) + 1e-12, "{distribution:?}: {found}");
            assert!((spread - variance).abs() <= 0.03 * variance + 1e-12, "{distribution:?}: {spread}");
            assert!((distribution.mean() - mean).abs() < 1e-6, "{distribution:?}");
        }
    }

    const TRUNCATED_MEAN: f64 = 1.069_174_6;
    const TRUNCATED_VARIANCE: f64 = 0.168_151_4;

    #[test]
    fn states_are_visited_in_proportion_to_their_stays() {
        let states = [(20.0, Distribution::Constant(1.0)), (5.0, Distribution::Constant(0.0))];
        let (share, _) = moments(&Distribution::Markov2(Box::new(states)));
        // A draw depends on its neighbours: the variance of the mean is that of independent draws times
        // (1 + r) / (1 - r) with r = 1 - 1/20 - 1/5.
        assert!((share - 0.8).abs() < tolerance(0.16 * 1.75 / 0.25), "{share}");
    }

    #[test]
    fn what_would_not_end_or_has_no_meaning_is_refused() {
        let refused = [
            Distribution::Constant(-1.0),
            Distribution::Constant(f64::NAN),
            Distribution::Uniform { min: 2.0, max: 1.0 },
            Distribution::Uniform { min: 0.0, max: f64::INFINITY },
            Distribution::Exponential { mean: 1.0, bounds: Some((20.0, 30.0)) },
            Distribution::Exponential { mean: 1.0, bounds: Some((1.0, 1.0)) },
            Distribution::Exponential { mean: 0.0, bounds: Some((1.0, 2.0)) },
            Distribution::Markov2(Box::new([
                (0.5, Distribution::Constant(1.0)),
                (1.0, Distribution::Constant(1.0)),
            ])),
        ];
        for distribution in refused {
            let error = distribution.check().expect_err("refused");
            assert!(!error.to_string().is_empty() && !error.remedy().is_empty());
        }
        assert_eq!(Distribution::Exponential { mean: 0.0, bounds: Some((0.0, 2.0)) }.check(), Ok(()));
    }
}
