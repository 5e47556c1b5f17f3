//! Laws as documents write them, and how they are checked, in the units in which their quantities are counted: nanoseconds on the
//! clock, or bytes, packets or tokens.
//!
//! What a law refuses is refused at the key of the parameter. A law must have a mean; a draw is rounded to a whole unit.

mod counted;
mod key;
mod tables;

use super::{ContinuousLaw, Empirical, LawError, PhaseType};
use weir_document::{Checked, Checker, Located};

pub use counted::{Counted, Lengths};
pub use tables::{
    BoundedPareto, Coxian, Erlang, Gamma, Hyperexponential, Lognormal, Pareto, Phases, Weibull,
};

/// A number that a law may refuse, with the name by which it does.
type Numbers<'n> = &'n [(&'static str, &'n Located<f64>)];

/// Checks laws of quantities that are counted so.
pub struct Check<'c, Q> {
    /// Where refusals point.
    pub checker: &'c Checker<'c>,
    /// What quantities are counted in.
    pub counted: &'c dyn Counted<Q>,
}

impl<Q> Check<'_, Q> {
    fn count(&self, quantity: &Located<Q>) -> Checked<f64> {
        self.counted.some(self.checker, quantity)
    }

    fn counts(&self, quantities: &[Located<Q>]) -> Checked<Vec<f64>> {
        quantities.iter().map(|quantity| self.count(quantity)).collect()
    }

    fn refuse<T, V>(
        &self,
        at: &Located<T>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Checked<V> {
        self.checker.refuse(at, reason, remedy)
    }

    /// Refuses a law that lacks some of its parameters; `example` has a mean where `{}` stands.
    fn incomplete<T, V>(&self, at: &Located<T>, reason: &str, example: &str) -> Checked<V> {
        let example = example.replace("{}", self.counted.example());
        self.refuse(at, reason, format!("write, for example, `{example}`"))
    }

    /// The law with its mean in bounds, or its refusal: at the number that it names, or at the whole.
    fn accepted<T>(
        &self,
        at: &Located<T>,
        numbers: Numbers<'_>,
        law: Result<ContinuousLaw, LawError>,
    ) -> Checked<ContinuousLaw> {
        let law = match law {
            Ok(law) => law,
            Err(error) => {
                let named = numbers.iter().find(|(name, _)| *name == error.parameter);
                if let Some((_, number)) = named {
                    return self.refuse(number, format!("must be {}", error.bound), error.remedy);
                }
                let LawError { parameter, value, bound, remedy } = error;
                let reason = format!("is refused: {parameter} is {value}, must be {bound}");
                return self.refuse(at, reason, remedy);
            }
        };
        let (most, written) = (self.counted.most(), |count| self.counted.written(count));
        match law.mean() {
            Some(mean) if mean >= 1.0 && mean <= most as f64 => Ok(law),
            Some(mean) => {
                let remedy = if mean < 1.0 { "raise its mean" } else { "lower its mean" };
                let unit = self.counted.unit();
                let (least, most) = (written(1), written(most));
                let reason = format!("has a mean of {mean:.3e} {unit}, must have one from {least} to {most}");
                self.refuse(at, reason, remedy)
            }
            None => self.refuse(at, "has an infinite mean, must have a finite one", "take `bounded_pareto`"),
        }
    }

    /// A lognormal law.
    ///
    /// # Errors
    /// A parameter is missing, too many, or out of bounds.
    pub fn lognormal(&self, written: &Located<Lognormal<Q>>) -> Checked<ContinuousLaw> {
        let Lognormal { mean, cv, median, p99 } = &written.value;
        match (mean, cv, median, p99) {
            (Some(mean), Some(cv), None, None) => {
                let law = ContinuousLaw::lognormal(self.count(mean)?, cv.value);
                self.accepted(written, &[("cv", cv)], law)
            }
            (None, None, Some(median), Some(p99)) => {
                let (middle, far) = (self.count(median)?, self.count(p99)?);
                if far <= middle || far > 1e3 * middle {
                    let reason = format!(
                        "must be above median, which is {}, and at most 1000 times as long",
                        self.counted.written(middle as u64)
                    );
                    return self.refuse(p99, reason, "write one such as five times the median");
                }
                self.accepted(written, &[], ContinuousLaw::lognormal_of_median(middle, far))
            }
            _ => {
                let reason = "must have `mean` and `cv`, or `median` and `p99`";
                self.incomplete(written, reason, "lognormal = { mean = \"{}\", cv = 1.5 }")
            }
        }
    }

    /// A gamma law.
    ///
    /// # Errors
    /// A parameter is missing, too many, or out of bounds.
    pub fn gamma(&self, written: &Located<Gamma<Q>>) -> Checked<ContinuousLaw> {
        let Gamma { mean, cv, shape, scale } = &written.value;
        match (mean, cv, shape, scale) {
            (Some(mean), Some(cv), None, None) => {
                let law = ContinuousLaw::gamma_of_mean(self.count(mean)?, cv.value);
                self.accepted(written, &[("cv", cv)], law)
            }
            (None, None, Some(shape), Some(scale)) => {
                let law = ContinuousLaw::gamma(shape.value, self.count(scale)?);
                self.accepted(written, &[("shape", shape)], law)
            }
            _ => {
                let reason = "must have `mean` and `cv`, or `shape` and `scale`";
                self.incomplete(written, reason, "gamma = { mean = \"{}\", cv = 0.5 }")
            }
        }
    }

    /// An Erlang law.
    ///
    /// # Errors
    /// A parameter is missing, too many, or out of bounds.
    pub fn erlang(&self, written: &Located<Erlang<Q>>) -> Checked<ContinuousLaw> {
        let stages =
            self.checker.whole(&written.value.stages, 1, u64::from(super::build::MAX_STAGES))? as u32;
        let mean = self.count(&written.value.mean)?;
        self.accepted(written, &[], ContinuousLaw::erlang(stages, mean))
    }

    /// A Weibull law.
    ///
    /// # Errors
    /// A parameter is missing, too many, or out of bounds.
    pub fn weibull(&self, written: &Located<Weibull<Q>>) -> Checked<ContinuousLaw> {
        let Weibull { shape, mean, scale } = &written.value;
        let law = match (mean, scale) {
            (Some(mean), None) => ContinuousLaw::weibull_of_mean(shape.value, self.count(mean)?),
            (None, Some(scale)) => ContinuousLaw::weibull(shape.value, self.count(scale)?),
            _ => {
                let reason = "must have one of `mean` and `scale`";
                return self.incomplete(written, reason, "weibull = { shape = 0.7, mean = \"{}\" }");
            }
        };
        self.accepted(written, &[("shape", shape)], law)
    }

    /// A Pareto law.
    ///
    /// # Errors
    /// A parameter is missing, too many, or out of bounds.
    pub fn pareto(&self, written: &Located<Pareto<Q>>) -> Checked<ContinuousLaw> {
        let Pareto { alpha, mean, minimum } = &written.value;
        if alpha.value <= 1.0 {
            let reason = "must be above 1, up to there the mean is infinite";
            return self.refuse(alpha, reason, "raise it, or take `bounded_pareto`");
        }
        let law = match (mean, minimum) {
            (Some(mean), None) => ContinuousLaw::pareto_of_mean(alpha.value, self.count(mean)?),
            (None, Some(least)) => ContinuousLaw::pareto(alpha.value, self.count(least)?),
            _ => {
                let reason = "must have one of `mean` and `minimum`";
                return self.incomplete(written, reason, "pareto = { alpha = 2.5, mean = \"{}\" }");
            }
        };
        self.accepted(written, &[("alpha", alpha)], law)
    }

    /// A bounded Pareto law.
    ///
    /// # Errors
    /// A parameter is missing, too many, or out of bounds.
    pub fn bounded_pareto(&self, written: &Located<BoundedPareto<Q>>) -> Checked<ContinuousLaw> {
        let BoundedPareto { alpha, low, high } = &written.value;
        let (from, to) = (self.count(low)?, self.count(high)?);
        if to <= from {
            return self.refuse(
                high,
                format!("must be above low, which is {}", self.counted.written(from as u64)),
                "raise it, or swap the two",
            );
        }
        let law = ContinuousLaw::bounded_pareto(alpha.value, from, to);
        self.accepted(written, &[("alpha", alpha)], law)
    }

    /// A hyperexponential law.
    ///
    /// # Errors
    /// A parameter is missing, too many, or out of bounds.
    pub fn hyperexponential(&self, written: &Located<Hyperexponential<Q>>) -> Checked<ContinuousLaw> {
        let Hyperexponential { mean, cv, branches } = &written.value;
        match (mean, cv, branches) {
            (Some(mean), Some(cv), None) => {
                let law = ContinuousLaw::hyperexponential(self.count(mean)?, cv.value);
                self.accepted(written, &[("cv", cv)], law)
            }
            (None, None, Some(branches)) => {
                let of = |(mean, p): &(Located<Q>, Located<f64>)| Ok((p.value, self.count(mean)?));
                let branches: Vec<(f64, f64)> = branches.iter().map(of).collect::<Checked<_>>()?;
                self.accepted(written, &[], ContinuousLaw::hyperexponential_of(&branches))
            }
            _ => {
                let reason = "must have `mean` and `cv`, or `branches`";
                self.incomplete(written, reason, "hyperexponential = { mean = \"{}\", cv = 3.0 }")
            }
        }
    }

    /// A Coxian law.
    ///
    /// # Errors
    /// A parameter is missing, too many, or out of bounds.
    pub fn coxian(&self, written: &Located<Coxian<Q>>) -> Checked<ContinuousLaw> {
        let means = self.counts(&written.value.means)?;
        let law = PhaseType::coxian(&means, &written.value.go_on).map(ContinuousLaw::phase_type);
        self.accepted(written, &[], law)
    }

    /// A phase-type law.
    ///
    /// # Errors
    /// A parameter is missing, too many, or out of bounds.
    pub fn phases(&self, written: &Located<Phases<Q>>) -> Checked<ContinuousLaw> {
        let Phases { initial, means, next } = &written.value;
        let means = self.counts(means)?;
        let law = PhaseType::new(initial, &means, next).map(ContinuousLaw::phase_type);
        self.accepted(written, &[], law)
    }

    /// Values with their probabilities.
    ///
    /// # Errors
    /// A parameter is out of bounds.
    pub fn values<T>(
        &self,
        at: &Located<T>,
        written: &[(Located<Q>, Located<f64>)],
    ) -> Checked<ContinuousLaw> {
        let part = |(value, p): &(Located<Q>, Located<f64>)| {
            let law = ContinuousLaw::deterministic(self.count(value)?);
            Ok((p.value, self.accepted(value, &[], law)?))
        };
        let parts = written.iter().map(part).collect::<Checked<Vec<_>>>()?;
        self.accepted(at, &[], ContinuousLaw::mixture(parts))
    }

    /// An empirical law, of values with the probability of at most each.
    ///
    /// # Errors
    /// A parameter is missing, too many, or out of bounds.
    pub fn points(&self, written: &Located<Vec<(Located<Q>, Located<f64>)>>) -> Checked<ContinuousLaw> {
        let of =
            |(value, p): &(Located<Q>, Located<f64>)| Ok((self.counted.any(self.checker, value)?, p.value));
        let points: Vec<(f64, f64)> = written.value.iter().map(of).collect::<Checked<_>>()?;
        self.accepted(written, &[], Empirical::new(&points).map(ContinuousLaw::empirical))
    }
}
