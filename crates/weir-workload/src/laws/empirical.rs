//! Empirical laws: points of a distribution function, straight lines between them.
//!
//! Values that repeat are atoms: where two points have one value, the probability between them is of that value, and so is
//! that of the first point. Of a sample the law is that of Law, *Simulation Modeling and Analysis*, section 6.2.4: the
//! i-th smallest of n values is the quantile of `(i - 1)/(n - 1)`.

use super::error::{LawError, refused, within};

/// The most points.
pub(super) const MAX_POINTS: usize = 1_000_000;

/// Points of a distribution function.
#[derive(Clone, Debug, PartialEq)]
pub struct Empirical {
    values: Vec<f64>,
    /// `P(X <= value)`, from the first point to 1.
    reached: Vec<f64>,
}

impl Empirical {
    /// From points `(value, P(X <= value))`.
    ///
    /// # Errors
    /// There is none or more than a million, values or probabilities fall, a value is negative, or the last probability is not 1.
    pub fn new(points: &[(f64, f64)]) -> Result<Self, LawError> {
        if points.is_empty() || points.len() > MAX_POINTS {
            let bound = format!("from 1 to {MAX_POINTS}");
            return refused("number of points", points.len() as f64, bound, "list as many");
        }
        let (mut value, mut reached) = (0.0, 0.0);
        for &(next, p) in points {
            if !(next >= value && next.is_finite()) {
                return refused("value", next, format!("at least that before, {value}"), "sort the points");
            }
            within("probability", p, reached, 1.0)?;
            (value, reached) = (next, p);
        }
        if reached < 1.0 {
            return refused("last probability", reached, "1", "add the largest value with 1");
        }
        Ok(Self {
            values: points.iter().map(|point| point.0).collect(),
            reached: points.iter().map(|point| point.1).collect(),
        })
    }

    /// From a sample, in any order.
    ///
    /// # Errors
    /// There are fewer than two values, or one is negative or not finite.
    pub fn of_sample(sample: &[f64]) -> Result<Self, LawError> {
        if sample.len() < 2 {
            return refused("number of values", sample.len() as f64, "at least 2", "give more");
        }
        let mut sorted = sample.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let last = (sorted.len() - 1) as f64;
        let points: Vec<(f64, f64)> =
            sorted.into_iter().enumerate().map(|(i, value)| (value, i as f64 / last)).collect();
        Self::new(&points)
    }

    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self { values: self.values.iter().map(|v| v * factor).collect(), reached: self.reached.clone() }
    }

    /// Each stretch: from where to where, with which probability.
    fn stretches(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let first = (self.values[0], self.values[0], self.reached[0]);
        let pairs = self.values.windows(2).zip(self.reached.windows(2));
        std::iter::once(first).chain(pairs.map(|(v, p)| (v[0], v[1], p[1] - p[0])))
    }

    /// `E[X]`, `E[X²]`, `E[X³]`.
    pub(super) fn raw_moments(&self) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for (a, b, p) in self.stretches() {
            sum[0] += p * (a + b) / 2.0;
            sum[1] += p * (a * a + a * b + b * b) / 3.0;
            sum[2] += p * (a + b) * (a * a + b * b) / 4.0;
        }
        sum
    }

    /// `P(X <= x)`.
    pub(super) fn cdf(&self, x: f64) -> f64 {
        let after = self.values.partition_point(|value| *value <= x);
        if after == 0 || after == self.values.len() {
            return if after == 0 { 0.0 } else { 1.0 };
        }
        let (low, high) = (self.values[after - 1], self.values[after]);
        let (from, to) = (self.reached[after - 1], self.reached[after]);
        from + (to - from) * (x - low) / (high - low)
    }

    /// The smallest value with `P(X <= x) >= p`.
    pub(super) fn quantile(&self, p: f64) -> f64 {
        let at = self.reached.partition_point(|reached| *reached < p);
        if at == 0 || at == self.values.len() {
            return self.values[at.min(self.values.len() - 1)];
        }
        let (from, to) = (self.reached[at - 1], self.reached[at]);
        self.values[at - 1] + (self.values[at] - self.values[at - 1]) * (p - from) / (to - from)
    }
}
