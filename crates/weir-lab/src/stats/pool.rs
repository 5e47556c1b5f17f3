//! The batches of several replications, from which every figure of a run is computed.
//!
//! The mean of a series is a ratio estimator, all sums over all counts, not a mean of batch means: batches
//! hold different numbers of observations. Its error is linear, to first order, in the residual of each
//! batch, `(S - R N) / sum of N` (Cochran, *Sampling Techniques*, ratio estimates; Asmussen and Glynn,
//! *Stochastic Simulation*, delta method), which is what a [`Linearised`] figure carries.
//!
//! Memory: at most [`MOST`] batches in all; beyond that neighbours are merged, down to one batch per
//! replication, which is independent of the others by construction.

use super::batch::{Batches, Total};
use super::estimate::Unavailable;
use super::linear::{Influence, Linearised};

/// The most batches that are held, as long as a replication has more than one.
pub const MOST: usize = 4096;

/// Batches of all replications, in the order of the replications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    replications: Vec<Batches>,
}

impl Pool {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next replication. Replications are added in their order, whichever was finished first:
    /// then figures are the same to the last bit for any number of threads.
    ///
    /// # Panics
    ///
    /// If its number of series differs from that of the pool.
    pub fn push(&mut self, mut replication: Batches) {
        if let Some(first) = self.replications.first() {
            assert_eq!(first.series(), replication.series(), "replications of one pool have the same series");
            while replication.size() < first.size() && replication.len() > 1 {
                replication.merge_neighbours();
            }
        }
        replication.shrink();
        self.replications.push(replication);
        while self.batches() > MOST && self.replications.iter().any(|batches| batches.len() > 1) {
            self.replications.iter_mut().for_each(Batches::merge_neighbours);
        }
    }

    /// The number of replications.
    #[must_use]
    pub fn replications(&self) -> usize {
        self.replications.len()
    }

    /// The number of batches of all replications.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.replications.iter().map(Batches::len).sum()
    }

    /// All observations of `series` together.
    #[must_use]
    pub fn total(&self, series: &[usize]) -> Total {
        let mut sum = Total::default();
        self.replications.iter().flat_map(|batches| batches.totals(series)).for_each(|total| sum.add(total));
        sum
    }

    /// The mean of all observations of `series` together, in their unit.
    pub fn mean(&self, series: &[usize]) -> Result<Linearised, Unavailable> {
        let all = self.total(series);
        let mean = all.mean()?;
        let influence = |batch: Total| Influence {
            on_value: (batch.sum as f64 - mean * batch.count as f64) / all.count as f64,
            count: batch.count,
        };
        let of_replication = |batches: &Batches| batches.totals(series).map(influence).collect();
        Ok(Linearised::new(mean, all.count, self.replications.iter().map(of_replication).collect()))
    }

    /// What the observations of `part` add up to, over those of `whole`, of which they are some.
    pub fn share(&self, part: &[usize], whole: &[usize]) -> Result<Linearised, Unavailable> {
        let (own, all) = (self.total(part), self.total(whole));
        if all.sum == 0 {
            return Err(Unavailable::NoObservations);
        }
        let share = own.sum as f64 / all.sum as f64;
        let influence = |(part, whole): (Total, Total)| Influence {
            on_value: (part.sum as f64 - share * whole.sum as f64) / all.sum as f64,
            count: whole.count,
        };
        let of_replication = |batches: &Batches| {
            batches.totals(part).zip(batches.totals(whole)).map(influence).collect::<Vec<_>>()
        };
        let replications = self.replications.iter().map(of_replication).collect();
        Ok(Linearised::new(share, own.count, replications))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::estimate::{Measure, Method};

    /// One replication whose batches of one tick hold the given values of one series.
    fn replication(batches: &[&[u64]]) -> Batches {
        let mut held = Batches::new(1, 0);
        for (tick, batch) in batches.iter().enumerate() {
            batch.iter().for_each(|&value| held.record(0, tick as u64, value));
        }
        held
    }

    #[test]
    fn ratio_estimator_by_hand() {
        let mut pool = Pool::new();
        pool.push(replication(&[&[1, 2, 3], &[6]]));
        pool.push(replication(&[&[4, 2]]));
        let measure = pool.mean(&[0]).expect("observations").estimate();
        let estimate = measure.as_estimate().expect("three batches");
        // Mean 18 / 6 = 3; residuals 6 - 9, 6 - 3, 6 - 6; variance (9 + 9 + 0) / 36 x 3/2.
        assert_eq!(estimate.value(), 3.0);
        assert!((estimate.standard_error() - 0.75_f64.sqrt()).abs() < 1e-12);
        assert_eq!(estimate.count(), 6);
        assert_eq!(estimate.method(), Method::BatchMeans { groups: 3 });
    }

    #[test]
    fn share_by_hand() {
        let mut batches = Batches::new(2, 0);
        for (series, tick, value) in [(0, 0, 3), (1, 0, 1), (0, 1, 1), (1, 1, 1)] {
            batches.record(series, tick, value);
        }
        let mut pool = Pool::new();
        pool.push(batches);
        let measure = pool.share(&[0], &[0, 1]).expect("observations").estimate();
        let estimate = measure.as_estimate().expect("two batches");
        // 4 of 6; residuals 3 - 8/3 and 1 - 4/3, over 6; variance of the two times 2.
        assert!((estimate.value() - 2.0 / 3.0).abs() < 1e-15);
        assert!((estimate.standard_error() - (2.0 * 2.0 / 9.0 / 36.0_f64).sqrt()).abs() < 1e-15);
        assert_eq!(estimate.count(), 2);
        assert_eq!(pool.share(&[0], &[]).unwrap_err(), Unavailable::NoObservations);
    }

    #[test]
    fn series_can_be_taken_together() {
        let mut batches = Batches::new(2, 0);
        batches.record(0, 0, 10);
        batches.record(1, 1, 20);
        let mut pool = Pool::new();
        pool.push(batches);
        assert_eq!(pool.mean(&[0, 1]).expect("observations").value(), 15.0);
        assert_eq!(pool.total(&[0, 1]), Total { count: 2, sum: 30 });
    }

    #[test]
    fn nothing_observed_is_a_reason() {
        assert_eq!(Pool::new().mean(&[0]).unwrap_err(), Unavailable::NoObservations);
        let mut pool = Pool::new();
        pool.push(Batches::new(2, 0));
        assert_eq!(Measure::from(pool.mean(&[1])), Unavailable::NoObservations.into());
    }

    #[test]
    fn one_batch_with_data_has_no_interval() {
        let mut pool = Pool::new();
        pool.push(replication(&[&[], &[], &[1, 2, 3], &[]]));
        assert_eq!(Measure::from(pool.mean(&[0])), Measure::observed(2.0, 3));
    }

    #[test]
    fn pool_is_bounded_and_keeps_the_mean() {
        let mut pool = Pool::new();
        for seed in 0..40_u64 {
            let mut batches = Batches::new(1, 0);
            (0..1_000).for_each(|tick| batches.record(0, tick, tick * 7 % (seed + 2)));
            pool.push(batches);
        }
        assert!(pool.batches() <= MOST && pool.batches() > MOST / 3, "{}", pool.batches());
        assert_eq!(pool.total(&[0]).count, 40_000);
        for _ in 0..MOST {
            pool.push(replication(&[&[1]]));
        }
        assert_eq!(pool.batches(), MOST + 40);
    }
}
