//! Draws.
//!
//! | law | how | numbers of the stream |
//! |---|---|---|
//! | uniform, exponential, lognormal, Weibull, Pareto, bounded Pareto, empirical | inversion | 1 |
//! | deterministic | | 0 |
//! | Erlang up to 16 stages | logarithm of the product of uniform numbers | as many as stages |
//! | gamma, Erlang of more | Marsaglia and Tsang, ACM TOMS 26 (2000), 363; shapes below 1 by a power of one more | 2 for each try, some 1.05 tries |
//! | hyperexponential | branch, then exponential | 2 |
//! | mixture | part, then its own | 1 and its own |
//! | phase type | by the chain | 1, and 2 for each phase visited |

use super::build::lognormal_quantile;
use super::{ContinuousLaw, Form};
use weir_lab::logarithm::ln;
use weir_lab::special::normal_quantile;
use weir_lab::stream::Stream;
#[cfg(test)]
use weir_lab::stream::{Purpose, StreamKey};

/// The longest draw in whole units: 2^52, of nanoseconds 52 days; a longer one is taken as that.
pub const LONGEST_DRAW: u64 = 1 << 52;
/// Up to this many stages the product of uniform numbers stays a normal number.
const PRODUCT_STAGES: u32 = 16;

impl ContinuousLaw {
    /// A draw.
    #[must_use]
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match &self.form {
            Form::Deterministic(value) => *value,
            Form::Uniform { low, high } => low + (high - low) * stream.next_uniform(),
            Form::Exponential { mean } => -ln(stream.next_uniform()) * mean,
            Form::Erlang { stages, mean } => erlang(*stages, stream) * (mean / f64::from(*stages)),
            Form::Gamma { shape, scale } => gamma(*shape, stream) * scale,
            Form::Lognormal { mu, sigma, .. } => lognormal_quantile(*mu, *sigma, stream.next_uniform()),
            Form::Weibull { shape, scale } => power(-ln(stream.next_uniform()), 1.0 / shape) * scale,
            Form::Pareto { alpha, minimum } => minimum * libm::exp(-ln(stream.next_uniform()) / alpha),
            Form::BoundedPareto { alpha, low, high, share } => {
                let left = 1.0 - share * stream.next_uniform();
                (low * libm::exp(-ln(left) / alpha)).min(*high)
            }
            Form::Hyperexponential(branches) => {
                let mean = chosen(branches, stream.next_uniform());
                -ln(stream.next_uniform()) * mean
            }
            Form::PhaseType(phases) => phases.draw(stream),
            Form::Mixture(parts) => chosen(parts, stream.next_uniform()).draw(stream),
            Form::Empirical(points) => points.quantile(stream.next_uniform()),
        }
    }

    /// A draw, rounded to the nearest whole number, and at most [`LONGEST_DRAW`].
    #[must_use]
    #[inline]
    pub fn draw_whole(&self, stream: &mut Stream) -> u64 {
        whole(self.draw(stream))
    }
}

/// The nearest whole number, at most [`LONGEST_DRAW`].
fn whole(value: f64) -> u64 {
    ((value + 0.5) as u64).min(LONGEST_DRAW)
}

/// The entry of a list of probabilities that a number in (0, 1) names; the last takes what rounding leaves.
fn chosen<T>(parts: &[(f64, T)], u: f64) -> &T {
    let mut sum = 0.0;
    let found = parts.iter().find(|part| {
        sum += part.0;
        u < sum
    });
    &found.unwrap_or(&parts[parts.len() - 1]).1
}

/// `x^y` of a positive `x`.
fn power(x: f64, y: f64) -> f64 {
    libm::exp(y * ln(x))
}

/// The sum of exponential times of mean 1.
fn erlang(stages: u32, stream: &mut Stream) -> f64 {
    if stages > PRODUCT_STAGES {
        return gamma(f64::from(stages), stream);
    }
    -ln((0..stages).map(|_| stream.next_uniform()).product())
}

/// A gamma variable of scale 1.
fn gamma(shape: f64, stream: &mut Stream) -> f64 {
    if shape < 1.0 {
        let one_more = gamma(shape + 1.0, stream);
        return one_more * power(stream.next_uniform(), 1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let (z, u) = (normal_quantile(stream.next_uniform()), stream.next_uniform());
        let v = 1.0 + c * z;
        if v <= 0.0 {
            continue;
        }
        let cube = v * v * v;
        if ln(u) < 0.5 * z * z + d - d * cube + d * ln(cube) {
            return d * cube;
        }
    }
}

/// As many draws of the stream of this index, for tests.
#[cfg(test)]
pub(crate) fn drawn(law: &ContinuousLaw, index: u32, count: usize) -> Vec<f64> {
    let mut stream = Stream::new(StreamKey { seed: 11, replication: 0, purpose: Purpose::Test, index });
    (0..count).map(|_| law.draw(&mut stream)).collect()
}
