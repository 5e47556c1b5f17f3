//! Figures whose error is, to first order, a sum of one influence per batch.
//!
//! A mean is one ([`super::Pool::mean`]); differences, ratios and affine functions of such figures are such
//! figures again (delta method: Asmussen and Glynn, *Stochastic Simulation*, 2007, chapter III). Because the
//! influences of the *same* batches are combined, what two series have in common cancels: this is what
//! makes the paired difference of two disciplines on common random numbers so much sharper than the
//! difference of two intervals.
//!
//! # The interval
//!
//! The variance is the sum of squared influences, times `m / (m - 1)` for `m` batches with data; batches
//! need not be of one size. It is right if batches are independent, so neighbours are merged until
//! [`independence::correlation`] no longer shows between them, or until a further merging would leave fewer
//! than [`FEWEST`] batches (Schmeiser, Operations Research 30(3), 1982: with fewer than 10 intervals get wide
//! and erratic, beyond 30 little is gained). Replications are never merged with each other. The interval is
//! Student's with `m - 1` degrees of freedom.
//!
//! A run too short for its correlation ends with correlated batches. Then the variance is multiplied by
//! `(1 + r) / (1 - r)`, as if they were a first-order autoregressive sequence with their correlation `r` at
//! lag one (the adjustment of ASAP3: Steiger and others, ACM TOMACS 15(1), 2005).
//!
//! Coverage of the 95 % interval is tested below on autoregressive processes, and measured on the port by the
//! example `coverage`. Where half an interval is a large part of the mean the estimate is skewed, and covered
//! less often.
//!
//! Each figure does its own merging: a short message's latency forgets sooner than a long one's.

use super::estimate::{Measure, Method, Unavailable};
use super::independence::{self, Correlation};

/// Merging goes on at most down to this many batches.
pub const FEWEST: usize = 20;

/// A correlation above this is no estimate any more: the run is a single excursion.
const MOST_CORRELATION: f64 = 0.8;

/// What one batch contributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Influence {
    /// By how much it moved the value.
    pub(super) on_value: f64,
    /// Observations in it; of several figures combined, the least.
    pub(super) count: u64,
}

impl Influence {
    fn merged(neighbours: &[Self]) -> Self {
        Self {
            on_value: neighbours.iter().map(|batch| batch.on_value).sum(),
            count: neighbours.iter().map(|batch| batch.count).sum(),
        }
    }
}

/// A figure of a run with the influence of each batch on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearised {
    value: f64,
    count: u64,
    replications: Vec<Vec<Influence>>,
}

impl Linearised {
    pub(super) fn new(value: f64, count: u64, replications: Vec<Vec<Influence>>) -> Self {
        Self { value, count, replications }
    }

    /// The point estimate.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Observations behind it; of several figures combined, the least.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// `self + constant`.
    #[must_use]
    pub fn plus_constant(mut self, constant: f64) -> Self {
        self.value += constant;
        self
    }

    /// `self x factor`.
    #[must_use]
    pub fn times(mut self, factor: f64) -> Self {
        self.value *= factor;
        self.replications.iter_mut().flatten().for_each(|batch| batch.on_value *= factor);
        self
    }

    /// `self + other`, both of the same pool.
    ///
    /// # Panics
    ///
    /// If the figures come from different pools.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.combined(other, self.value + other.value, |own, others| own + others)
    }

    /// The paired difference `self - other`, both of the same pool.
    ///
    /// # Panics
    ///
    /// If the figures come from different pools.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.combined(other, self.value - other.value, |own, others| own - others)
    }

    /// The paired ratio `self / other`, both of the same pool.
    ///
    /// # Panics
    ///
    /// If the figures come from different pools.
    pub fn over(&self, other: &Self) -> Result<Self, Unavailable> {
        if other.value == 0.0 {
            return Err(Unavailable::ZeroDenominator);
        }
        let ratio = self.value / other.value;
        Ok(self.combined(other, ratio, |own, others| (own - ratio * others) / other.value))
    }

    /// The figure `value` whose influences are `combine` of both figures' influences.
    fn combined(&self, other: &Self, value: f64, combine: impl Fn(f64, f64) -> f64) -> Self {
        let batch = |(own, others): (&Influence, &Influence)| Influence {
            on_value: combine(own.on_value, others.on_value),
            count: own.count.min(others.count),
        };
        let replication = |(own, others): (&Vec<Influence>, &Vec<Influence>)| {
            assert_eq!(own.len(), others.len(), "figures of one pool have the same batches");
            own.iter().zip(others).map(batch).collect()
        };
        assert_eq!(self.replications.len(), other.replications.len(), "figures of one pool");
        let replications = self.replications.iter().zip(&other.replications).map(replication).collect();
        Self { value, count: self.count.min(other.count), replications }
    }

    /// The value with its interval, by the rule in the head of this file.
    pub fn estimate(&self) -> Measure {
        match spread(self.replications.clone(), FEWEST) {
            Some((variance, groups)) => {
                Measure::estimate(self.value, variance.sqrt(), self.count, Method::BatchMeans { groups })
            }
            None => {
                let with_data = self.replications.iter().flatten().filter(|batch| batch.count > 0);
                let groups = with_data.count() as u64;
                Measure::estimate(self.value, 0.0, self.count, Method::BatchMeans { groups })
            }
        }
    }
}

impl From<Linearised> for Measure {
    fn from(figure: Linearised) -> Self {
        figure.estimate()
    }
}

/// The variance of a sum of influences and the batches that it rests on, merged down to `fewest` where they are correlated;
/// `None` of fewer than two.
pub(super) fn spread(replications: Vec<Vec<Influence>>, fewest: usize) -> Option<(f64, u64)> {
    let (replications, left_over) = merged_until_independent(replications, fewest);
    let batches = || replications.iter().flatten();
    let groups = batches().filter(|batch| batch.count > 0).count() as u64;
    let squares: f64 = batches().map(|batch| batch.on_value * batch.on_value).sum();
    let variance = || squares * groups as f64 / (groups - 1) as f64 * (1.0 + left_over) / (1.0 - left_over);
    (groups >= 2).then(|| (variance(), groups))
}

/// The merged batches, and the correlation at lag one that is left between them; 0 if none shows.
///
/// Batches without data are left out first: they say nothing of their neighbours.
fn merged_until_independent(
    mut replications: Vec<Vec<Influence>>,
    fewest: usize,
) -> (Vec<Vec<Influence>>, f64) {
    replications.iter_mut().for_each(|batches| batches.retain(|batch| batch.count > 0));
    loop {
        let correlation = correlation_of(&replications);
        if !correlation.is_significant {
            return (replications, 0.0);
        }
        let left: usize = replications.iter().map(|batches| batches.len().div_ceil(2)).sum();
        if left < fewest {
            return (replications, correlation.at_lag_one.min(MOST_CORRELATION));
        }
        replications = replications.iter().map(|batches| halved(batches)).collect();
    }
}

fn halved(batches: &[Influence]) -> Vec<Influence> {
    batches.chunks(2).map(Influence::merged).collect()
}

fn correlation_of(replications: &[Vec<Influence>]) -> Correlation {
    let terms = |batches: &Vec<Influence>| batches.iter().map(|batch| batch.on_value).collect::<Vec<_>>();
    independence::correlation(&replications.iter().map(terms).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::Noise;
    use crate::stats::{Batches, Pool};

    /// One unit of a real process in recorded whole numbers, and what is added to keep them positive.
    const UNIT: f64 = 1e6;
    const OFFSET: f64 = 1e3;

    fn recorded(value: f64) -> u64 {
        ((value + OFFSET) * UNIT) as u64
    }

    fn pool_of(replications: Vec<Batches>) -> Pool {
        let mut pool = Pool::new();
        replications.into_iter().for_each(|batches| pool.push(batches));
        pool
    }

    /// A first-order autoregressive process of mean 0, from its stationary distribution.
    fn autoregressive(coefficient: f64, length: u64, random: &mut Noise) -> Batches {
        let mut batches = Batches::new(1, 0);
        let mut value = random.normal() / (1.0 - coefficient * coefficient).sqrt();
        for tick in 0..length {
            batches.record(0, tick, recorded(value));
            value = coefficient * value + random.normal();
        }
        batches
    }

    fn standard_error(figure: &Linearised) -> f64 {
        figure.estimate().as_estimate().expect("an estimate").standard_error()
    }

    #[test]
    fn intervals_of_an_autoregressive_process_cover_at_their_level() {
        let mut random = Noise::new(5);
        for (coefficient, replications, length) in
            [(0.0, 1, 4_000), (0.9, 1, 8_000), (0.9, 4, 2_000), (0.5, 30, 100), (0.99, 1, 2_000)]
        {
            let (trials, mut covered, mut variance) = (600, 0, 0.0);
            for _ in 0..trials {
                let run = |_| autoregressive(coefficient, length, &mut random);
                let pool = pool_of((0..replications).map(run).collect());
                let measure = pool.mean(&[0]).expect("observations").estimate().times(1.0 / UNIT);
                let estimate = measure.as_estimate().expect("an estimate");
                covered += i32::from(estimate.low() < OFFSET && OFFSET < estimate.high());
                variance += estimate.standard_error().powi(2) / f64::from(trials);
            }
            // The variance of the mean of n values tends to 1 / (n (1 - coefficient)^2).
            let known = 1.0 / ((length * replications) as f64 * (1.0 - coefficient).powi(2));
            let (coverage, ratio) = (f64::from(covered) / f64::from(trials), variance / known);
            let case = format!("{coefficient}, {replications} x {length}: {coverage}, variance {ratio}");
            assert!((0.905..0.98).contains(&coverage), "coverage {case}");
            assert!((0.85..1.35).contains(&ratio), "variance {case}");
        }
    }

    #[test]
    fn correlated_batches_are_merged_and_independent_ones_are_kept() {
        let mut random = Noise::new(9);
        let groups = |coefficient, random: &mut Noise| {
            let pool = pool_of(vec![autoregressive(coefficient, 4_096, random)]);
            let measure = pool.mean(&[0]).expect("observations").estimate();
            measure.as_estimate().expect("an estimate").method().groups()
        };
        let kept: Vec<u64> = (0..20).map(|_| groups(0.0, &mut random)).collect();
        assert!(kept.iter().filter(|&&groups| groups == 256).count() >= 12, "{kept:?}");
        let merged: Vec<u64> = (0..20).map(|_| groups(0.98, &mut random)).collect();
        assert!(merged.iter().all(|&groups| (FEWEST as u64..=64).contains(&groups)), "{merged:?}");
    }

    #[test]
    fn paired_difference_loses_what_is_common() {
        let mut random = Noise::new(21);
        let mut batches = Batches::new(2, 0);
        for tick in 0..5_000 {
            let common = random.normal() * 10.0;
            batches.record(0, tick, recorded(common + 5.0 + random.normal()));
            batches.record(1, tick, recorded(common + random.normal()));
        }
        let pool = pool_of(vec![batches]);
        let (a, b) = (pool.mean(&[0]).expect("observed"), pool.mean(&[1]).expect("observed"));
        let difference = a.minus(&b);
        let measure = difference.estimate().times(1.0 / UNIT);
        let estimate = measure.as_estimate().expect("an estimate");
        assert!((estimate.value() - 5.0).abs() < 5.0 * estimate.standard_error());
        // Two independent normal errors on 5000 pairs.
        assert!((estimate.standard_error() * (5_000.0_f64 / 2.0).sqrt() - 1.0).abs() < 0.15);
        assert!(standard_error(&a) > 5.0 * standard_error(&difference));
        assert!(standard_error(&a.plus(&b)) > 1.9 * standard_error(&a));
    }

    #[test]
    fn a_series_against_itself_has_no_error() {
        let pool = pool_of(vec![autoregressive(0.5, 2_000, &mut Noise::new(2))]);
        let mean = pool.mean(&[0]).expect("observed");
        let ratio = mean.over(&mean).expect("not zero");
        assert_eq!(ratio.value(), 1.0);
        assert!(standard_error(&ratio) < 1e-12);
        assert_eq!(standard_error(&mean.minus(&mean)), 0.0);
    }

    #[test]
    fn ratio_by_hand() {
        // Means 6 and 3 from two batches each: (4, 8) and (2, 4) give 2 exactly in each batch, (2, 8) do not.
        let ratio = |numerator: [u64; 2], denominator: [u64; 2]| {
            let mut batches = Batches::new(2, 0);
            for tick in 0..2 {
                batches.record(0, tick, numerator[tick as usize]);
                batches.record(1, tick, denominator[tick as usize]);
            }
            let pool = pool_of(vec![batches]);
            pool.mean(&[0]).expect("observed").over(&pool.mean(&[1]).expect("observed"))
        };
        let exact = ratio([4, 8], [2, 4]).expect("not zero");
        assert_eq!((exact.value(), standard_error(&exact)), (2.0, 0.0));
        // Residuals of the numerator -2, 2 (halved: per batch of a mean of two), of the denominator -0.5, 0.5.
        let spread = ratio([2, 10], [2, 4]).expect("not zero");
        let influence = (2.0 - 2.0 * 0.5) / 3.0;
        assert!((standard_error(&spread) - (2.0 * influence * influence * 2.0_f64).sqrt()).abs() < 1e-12);
        assert_eq!(ratio([1, 1], [0, 0]), Err(Unavailable::ZeroDenominator));
    }

    #[test]
    fn affine_figures_keep_their_relative_error() {
        let pool = pool_of(vec![autoregressive(0.0, 2_000, &mut Noise::new(4))]);
        let mean = pool.mean(&[0]).expect("observed");
        let derived = mean.clone().plus_constant(1.0).times(-0.25);
        assert!((derived.value() + (mean.value() + 1.0) / 4.0).abs() < 1e-6);
        assert!((standard_error(&derived) - standard_error(&mean) / 4.0).abs() < 1e-6);
        assert_eq!(derived.count(), mean.count());
    }

    #[test]
    fn batches_without_data_give_no_degrees_of_freedom() {
        let mut batches = Batches::new(2, 0);
        for tick in 0..200 {
            batches.record(0, tick, 1);
        }
        batches.record(1, 17, 5);
        batches.record(1, 150, 9);
        let measure = pool_of(vec![batches]).mean(&[1]).expect("observed").estimate();
        let estimate = measure.as_estimate().expect("two batches");
        assert_eq!((estimate.value(), estimate.method().groups()), (7.0, 2));
        // The same as the mean of two numbers: squares 4 + 4, over 2 x 1.
        assert!((estimate.standard_error() - 2.0).abs() < 1e-12);
    }
}
