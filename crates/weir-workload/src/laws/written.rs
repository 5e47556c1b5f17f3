//! Laws of times as documents write them, and how they are checked: nanoseconds on the clock.
//!
//! What a law refuses is refused at the key of the parameter. A law of times must have a mean; a draw is rounded to a whole
//! nanosecond.

mod tables;

use super::{ContinuousLaw, Empirical, LawError, PhaseType};
use weir_core::units::Nanos;
use weir_document::quantity::Time;
use weir_document::{Checked, Checker, Located};

pub use tables::{
    BoundedPareto, Coxian, Erlang, Gamma, Hyperexponential, Lognormal, Pareto, Phases, Weibull,
};

/// The checks of laws of times, none of which is longer than `longest` in the mean.
pub trait LawChecks {
    /// A lognormal law.
    ///
    /// # Errors
    /// A parameter is missing, too many, or out of bounds; so for all of these.
    fn lognormal(&self, written: &Located<Lognormal>, longest: Nanos) -> Checked<ContinuousLaw>;
    /// A gamma law.
    ///
    /// # Errors
    /// As above.
    fn gamma(&self, written: &Located<Gamma>, longest: Nanos) -> Checked<ContinuousLaw>;
    /// An Erlang law.
    ///
    /// # Errors
    /// As above.
    fn erlang(&self, written: &Located<Erlang>, longest: Nanos) -> Checked<ContinuousLaw>;
    /// A Weibull law.
    ///
    /// # Errors
    /// As above.
    fn weibull(&self, written: &Located<Weibull>, longest: Nanos) -> Checked<ContinuousLaw>;
    /// A Pareto law.
    ///
    /// # Errors
    /// As above; or the mean is infinite.
    fn pareto(&self, written: &Located<Pareto>, longest: Nanos) -> Checked<ContinuousLaw>;
    /// A bounded Pareto law.
    ///
    /// # Errors
    /// As above.
    fn bounded_pareto(&self, written: &Located<BoundedPareto>, longest: Nanos) -> Checked<ContinuousLaw>;
    /// A hyperexponential law.
    ///
    /// # Errors
    /// As above.
    fn hyperexponential(&self, written: &Located<Hyperexponential>, longest: Nanos)
    -> Checked<ContinuousLaw>;
    /// A Coxian law.
    ///
    /// # Errors
    /// As above.
    fn coxian(&self, written: &Located<Coxian>, longest: Nanos) -> Checked<ContinuousLaw>;
    /// A phase-type law.
    ///
    /// # Errors
    /// As above.
    fn phases(&self, written: &Located<Phases>, longest: Nanos) -> Checked<ContinuousLaw>;
    /// An empirical law, of times with the probability of at most each.
    ///
    /// # Errors
    /// As above.
    fn points(
        &self,
        written: &Located<Vec<(Located<Time>, Located<f64>)>>,
        longest: Nanos,
    ) -> Checked<ContinuousLaw>;
}

/// A number that a law may refuse, with the name by which it does.
type Numbers<'n> = &'n [(&'static str, &'n Located<f64>)];

/// The law with its mean in bounds, or its refusal: at the number that it names, or at the whole.
fn accepted<T>(
    checker: &Checker<'_>,
    (at, numbers): (&Located<T>, Numbers<'_>),
    law: Result<ContinuousLaw, LawError>,
    longest: Nanos,
) -> Checked<ContinuousLaw> {
    let law = match law {
        Ok(law) => law,
        Err(error) => {
            let named = numbers.iter().find(|(name, _)| *name == error.parameter);
            if let Some((_, number)) = named {
                return checker.refuse(number, format!("must be {}", error.bound), error.remedy);
            }
            let LawError { parameter, value, bound, remedy } = error;
            let reason = format!("is refused: {parameter} is {value}, must be {bound}");
            return checker.refuse(at, reason, remedy);
        }
    };
    match law.mean() {
        Some(mean) if mean >= 1.0 && mean <= longest.get() as f64 => Ok(law),
        Some(mean) => {
            let remedy = if mean < 1.0 { "lengthen it" } else { "shorten it" };
            checker.refuse(
                at,
                format!("has a mean of {mean:.3e} ns, must have one from 1ns to {longest}"),
                remedy,
            )
        }
        None => checker.refuse(at, "has an infinite mean, must have a finite one", "take `bounded_pareto`"),
    }
}

fn count(checker: &Checker<'_>, time: &Located<Time>, longest: Nanos) -> Checked<f64> {
    checker.some_span(time, longest).map(|span| span.get() as f64)
}

fn counts(checker: &Checker<'_>, times: &[Located<Time>], longest: Nanos) -> Checked<Vec<f64>> {
    times.iter().map(|time| count(checker, time, longest)).collect()
}

impl LawChecks for Checker<'_> {
    fn lognormal(&self, written: &Located<Lognormal>, longest: Nanos) -> Checked<ContinuousLaw> {
        let Lognormal { mean, cv, median, p99 } = &written.value;
        match (mean, cv, median, p99) {
            (Some(mean), Some(cv), None, None) => {
                let law = ContinuousLaw::lognormal(count(self, mean, longest)?, cv.value);
                accepted(self, (written, &[("cv", cv)]), law, longest)
            }
            (None, None, Some(median), Some(p99)) => {
                let (middle, far) = (count(self, median, longest)?, count(self, p99, longest)?);
                if far <= middle || far > 1e3 * middle {
                    let reason = format!(
                        "must be above median, which is {}, and at most 1000 times as long",
                        Nanos::new(middle as u64)
                    );
                    return self.refuse(p99, reason, "write one such as five times the median");
                }
                accepted(self, (written, &[]), ContinuousLaw::lognormal_of_median(middle, far), longest)
            }
            _ => {
                let reason = "must have `mean` and `cv`, or `median` and `p99`";
                self.refuse(written, reason, "write, for example, `lognormal = { mean = \"2ms\", cv = 1.5 }`")
            }
        }
    }

    fn gamma(&self, written: &Located<Gamma>, longest: Nanos) -> Checked<ContinuousLaw> {
        let Gamma { mean, cv, shape, scale } = &written.value;
        match (mean, cv, shape, scale) {
            (Some(mean), Some(cv), None, None) => {
                let law = ContinuousLaw::gamma_of_mean(count(self, mean, longest)?, cv.value);
                accepted(self, (written, &[("cv", cv)]), law, longest)
            }
            (None, None, Some(shape), Some(scale)) => {
                let law = ContinuousLaw::gamma(shape.value, count(self, scale, longest)?);
                accepted(self, (written, &[("shape", shape)]), law, longest)
            }
            _ => {
                let reason = "must have `mean` and `cv`, or `shape` and `scale`";
                self.refuse(written, reason, "write, for example, `gamma = { mean = \"2ms\", cv = 0.5 }`")
            }
        }
    }

    fn erlang(&self, written: &Located<Erlang>, longest: Nanos) -> Checked<ContinuousLaw> {
        let stages = self.whole(&written.value.stages, 1, u64::from(super::build::MAX_STAGES))? as u32;
        let mean = count(self, &written.value.mean, longest)?;
        accepted(self, (written, &[]), ContinuousLaw::erlang(stages, mean), longest)
    }

    fn weibull(&self, written: &Located<Weibull>, longest: Nanos) -> Checked<ContinuousLaw> {
        let Weibull { shape, mean, scale } = &written.value;
        let law = match (mean, scale) {
            (Some(mean), None) => ContinuousLaw::weibull_of_mean(shape.value, count(self, mean, longest)?),
            (None, Some(scale)) => ContinuousLaw::weibull(shape.value, count(self, scale, longest)?),
            _ => {
                let reason = "must have one of `mean` and `scale`";
                return self.refuse(
                    written,
                    reason,
                    "write, for example, `weibull = { shape = 0.7, mean = \"2ms\" }`",
                );
            }
        };
        accepted(self, (written, &[("shape", shape)]), law, longest)
    }

    fn pareto(&self, written: &Located<Pareto>, longest: Nanos) -> Checked<ContinuousLaw> {
        let Pareto { alpha, mean, minimum } = &written.value;
        if alpha.value <= 1.0 {
            let reason = "must be above 1, up to there the mean is infinite";
            return self.refuse(alpha, reason, "raise it, or take `bounded_pareto`");
        }
        let law = match (mean, minimum) {
            (Some(mean), None) => ContinuousLaw::pareto_of_mean(alpha.value, count(self, mean, longest)?),
            (None, Some(least)) => ContinuousLaw::pareto(alpha.value, count(self, least, longest)?),
            _ => {
                let reason = "must have one of `mean` and `minimum`";
                return self.refuse(
                    written,
                    reason,
                    "write, for example, `pareto = { alpha = 2.5, mean = \"2ms\" }`",
                );
            }
        };
        accepted(self, (written, &[("alpha", alpha)]), law, longest)
    }

    fn bounded_pareto(&self, written: &Located<BoundedPareto>, longest: Nanos) -> Checked<ContinuousLaw> {
        let BoundedPareto { alpha, low, high } = &written.value;
        let (from, to) = (self.some_span(low, longest)?, self.some_span(high, longest)?);
        if to <= from {
            return self.refuse(
                high,
                format!("must be above low, which is {from}"),
                "raise it, or swap the two",
            );
        }
        let law = ContinuousLaw::bounded_pareto(alpha.value, from.get() as f64, to.get() as f64);
        accepted(self, (written, &[("alpha", alpha)]), law, longest)
    }

    fn hyperexponential(
        &self,
        written: &Located<Hyperexponential>,
        longest: Nanos,
    ) -> Checked<ContinuousLaw> {
        let Hyperexponential { mean, cv, branches } = &written.value;
        match (mean, cv, branches) {
            (Some(mean), Some(cv), None) => {
                let law = ContinuousLaw::hyperexponential(count(self, mean, longest)?, cv.value);
                accepted(self, (written, &[("cv", cv)]), law, longest)
            }
            (None, None, Some(branches)) => {
                let of =
                    |(mean, p): &(Located<Time>, Located<f64>)| Ok((p.value, count(self, mean, longest)?));
                let branches: Vec<(f64, f64)> = branches.iter().map(of).collect::<Checked<_>>()?;
                accepted(self, (written, &[]), ContinuousLaw::hyperexponential_of(&branches), longest)
            }
            _ => {
                let reason = "must have `mean` and `cv`, or `branches`";
                let remedy = "write, for example, `hyperexponential = { mean = \"2ms\", cv = 3.0 }`";
                self.refuse(written, reason, remedy)
            }
        }
    }

    fn coxian(&self, written: &Located<Coxian>, longest: Nanos) -> Checked<ContinuousLaw> {
        let means = counts(self, &written.value.means, longest)?;
        let law = PhaseType::coxian(&means, &written.value.go_on).map(ContinuousLaw::phase_type);
        accepted(self, (written, &[]), law, longest)
    }

    fn phases(&self, written: &Located<Phases>, longest: Nanos) -> Checked<ContinuousLaw> {
        let Phases { initial, means, next } = &written.value;
        let means = counts(self, means, longest)?;
        let law = PhaseType::new(initial, &means, next).map(ContinuousLaw::phase_type);
        accepted(self, (written, &[]), law, longest)
    }

    fn points(
        &self,
        written: &Located<Vec<(Located<Time>, Located<f64>)>>,
        longest: Nanos,
    ) -> Checked<ContinuousLaw> {
        let of =
            |(time, p): &(Located<Time>, Located<f64>)| Ok((self.span(time, longest)?.get() as f64, p.value));
        let points: Vec<(f64, f64)> = written.value.iter().map(of).collect::<Checked<_>>()?;
        accepted(self, (written, &[]), Empirical::new(&points).map(ContinuousLaw::empirical), longest)
    }
}
