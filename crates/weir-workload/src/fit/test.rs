//! The Kolmogorov–Smirnov test with estimated parameters: p-values by parametric bootstrap.

use super::{Fitted, Sample};
use crate::laws::ContinuousLaw;
use weir_lab::stream::{Purpose, Stream, StreamKey};

/// The most values that are tested.
pub const TESTED: usize = 2_000;
/// The most replicates.
pub const MAX_REPLICATES: u32 = 10_000;

/// The largest distance of the steps of sorted values from the distribution function.
pub(super) fn distance(law: &ContinuousLaw, sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let of = |(i, x): (usize, &f64)| {
        let p = law.cdf(*x);
        (p - i as f64 / n).max((i + 1) as f64 / n - p)
    };
    sorted.iter().enumerate().map(of).fold(0.0, f64::max)
}

/// The p-value of a fit.
pub(super) fn p_value(sample: &Sample, fitted: &Fitted, replicates: u32, (seed, index): (u64, u32)) -> f64 {
    let key = StreamKey { seed, replication: 0, purpose: Purpose::Resampling, index };
    let mut stream = Stream::new(key);
    let tested = chosen(&sample.values, &mut stream);
    let again = |values: &[f64]| {
        let estimate = fitted.family.of(values, Some(&fitted.law))?;
        Some(distance(&estimate.law, values))
    };
    // Of a part of the sample, and of a sample whose fit was climbed to, begin as the replicates do.
    let Some(found) = again(&tested) else { return 1.0 / f64::from(1 + replicates) };
    let (mut more, mut made) = (0_u32, 0_u32);
    for _ in 0..replicates.min(MAX_REPLICATES) {
        let mut values: Vec<f64> = (0..tested.len()).map(|_| fitted.law.draw(&mut stream)).collect();
        values.sort_unstable_by(f64::total_cmp);
        if let Some(other) = again(&values) {
            made += 1;
            more += u32::from(other >= found);
        }
    }
    f64::from(1 + more) / f64::from(1 + made)
}

/// At most [`TESTED`] of the values, each as likely as any other, in increasing order.
fn chosen(values: &[f64], stream: &mut Stream) -> Vec<f64> {
    let (mut left, mut wanted) = (values.len() as u64, TESTED.min(values.len()) as u64);
    let mut out = Vec::with_capacity(wanted as usize);
    for value in values {
        // Knuth, The Art of Computer Programming 2, algorithm 3.4.2 S.
        if stream.next_below(left) < wanted {
            out.push(*value);
            wanted -= 1;
        }
        left -= 1;
    }
    out
}
