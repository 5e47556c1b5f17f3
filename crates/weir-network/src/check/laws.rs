//! Laws: what is drawn, as the engines take it.

use crate::check::Check;
use crate::document::{Law, StateLaw};
use weir_document::{Checked, Checker, Located};
use weir_tg::Distribution;

/// The most draws in one state, in the mean.
const MAX_DRAWS: f64 = 1e9;

/// How one kind of quantity is read.
pub(super) struct Reading<'r, Q> {
    /// The quantity in the unit of the engines, at least `least`.
    pub(super) value: &'r dyn Fn(&Located<Q>) -> Checked<f64>,
    /// The smallest that a constant and a uniform law may be, in words.
    pub(super) least: f64,
    /// That, as it is written.
    pub(super) written: &'static str,
}

impl<Q> Reading<'_, Q> {
    fn at_least(&self, checker: &Checker<'_>, written: &Located<Q>) -> Checked<f64> {
        let value = (self.value)(written)?;
        if value < self.least {
            return checker.refuse(written, format!("must be at least {}", self.written), "raise it");
        }
        Ok(value)
    }
}

impl Check<'_, '_> {
    pub(super) fn law<Q: Clone>(&self, law: &Law<Q>, reading: &Reading<'_, Q>) -> Checked<Distribution> {
        match law {
            Law::Constant(value) => self.constant(value, reading),
            Law::Uniform(min, max) => self.uniform(min, max, reading),
            Law::Exponential(mean) => self.exponential_law(mean, None, reading),
            Law::BoundedExponential(mean, min, max) => self.exponential_law(mean, Some((min, max)), reading),
            Law::Markov2(first, second) => {
                let states = [self.state(first, reading)?, self.state(second, reading)?];
                Ok(Distribution::Markov2(Box::new(states)))
            }
            _ => unreachable!("mixtures and laws of the textbooks are asked for before"),
        }
    }

    fn state<Q: Clone>(
        &self,
        (draws, law): &(Located<f64>, Located<StateLaw<Q>>),
        reading: &Reading<'_, Q>,
    ) -> Checked<(f64, Distribution)> {
        if !(1.0..=MAX_DRAWS).contains(&draws.value) {
            let reason = format!("must be a mean number of draws from 1 to {MAX_DRAWS}");
            return self.refuse(draws, reason, "write a number such as 20.0");
        }
        let law = match &law.value {
            StateLaw::Constant(value) => self.constant(value, reading),
            StateLaw::Uniform(min, max) => self.uniform(min, max, reading),
            StateLaw::Exponential(mean) => self.exponential_law(mean, None, reading),
            StateLaw::BoundedExponential(mean, min, max) => {
                self.exponential_law(mean, Some((min, max)), reading)
            }
        };
        Ok((draws.value, law?))
    }

    fn constant<Q>(&self, value: &Located<Q>, reading: &Reading<'_, Q>) -> Checked<Distribution> {
        reading.at_least(self, value).map(Distribution::Constant)
    }

    fn uniform<Q>(
        &self,
        min: &Located<Q>,
        max: &Located<Q>,
        reading: &Reading<'_, Q>,
    ) -> Checked<Distribution> {
        let (low, high) = (reading.at_least(self, min)?, (reading.value)(max)?);
        if low > high {
            return self.refuse(
                max,
                "is below the first, must be at least as large",
                "write the smaller first",
            );
        }
        Ok(Distribution::Uniform { min: low, max: high })
    }

    fn exponential_law<Q>(
        &self,
        mean: &Located<Q>,
        bounds: Option<(&Located<Q>, &Located<Q>)>,
        reading: &Reading<'_, Q>,
    ) -> Checked<Distribution> {
        let value = (reading.value)(mean)?;
        if value <= 0.0 {
            return self.refuse(mean, "must be above 0", "raise it");
        }
        let Some((min, max)) = bounds else {
            return Ok(Distribution::Exponential { mean: value, bounds: None });
        };
        let (low, high) = (reading.at_least(self, min)?, (reading.value)(max)?);
        if low > high {
            return self.refuse(
                max,
                "is below the second, must be at least as large",
                "write the smaller first",
            );
        }
        let law = Distribution::Exponential { mean: value, bounds: Some((low, high)) };
        if law.check().is_err() {
            let reason = "leaves hardly any of the draws, so that each would be repeated again and again";
            return self.refuse(max, reason, "move the bounds around the mean, or write a uniform law");
        }
        Ok(law)
    }
}
