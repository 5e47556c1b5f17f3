//! Renewal arrivals: independent times between arrivals of any law, whose mean comes from the load.
//!
//! A law is written by what remains where its mean is given: a coefficient of variation, a shape. The first message arrives
//! at time 0, so the process is an ordinary one. Gaps are rounded to whole ticks of the clock.
//!
//! Source: Cox, *Renewal Theory*, 1962, section 2.2. Work: O(1) a gap, or O(stages) where the law has stages.

use crate::laws::{ContinuousLaw, LawError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_document::{Checked, Checker, Located};
use weir_lab::stream::Stream;

/// The law of the times between arrivals, without its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Renewal {
    /// Lognormal, of this coefficient of variation.
    Lognormal(f64),
    /// Gamma, of this coefficient of variation.
    Gamma(f64),
    /// Erlang, with this many stages.
    Erlang(u32),
    /// Weibull, of this shape.
    Weibull(f64),
    /// Pareto, of this tail index.
    Pareto(f64),
    /// Hyperexponential of two branches with balanced means, of this coefficient of variation.
    Hyperexponential(f64),
}

impl Renewal {
    /// The law of this mean.
    ///
    /// # Errors
    /// The shape is out of the bounds of its law, or the mean not above 0.
    pub fn law(self, mean: f64) -> Result<ContinuousLaw, LawError> {
        match self {
            Self::Lognormal(cv) => ContinuousLaw::lognormal(mean, cv),
            Self::Gamma(cv) => ContinuousLaw::gamma_of_mean(mean, cv),
            Self::Erlang(stages) => ContinuousLaw::erlang(stages, mean),
            Self::Weibull(shape) => ContinuousLaw::weibull_of_mean(shape, mean),
            Self::Pareto(alpha) => ContinuousLaw::pareto_of_mean(alpha, mean),
            Self::Hyperexponential(cv) => ContinuousLaw::hyperexponential(mean, cv),
        }
    }

    /// The squared coefficient of variation; `None` where it is infinite or the law is none.
    #[must_use]
    pub fn scv(self) -> Option<f64> {
        self.law(1.0).ok()?.cv().map(|cv| cv * cv)
    }
}

/// The instants of renewal arrivals.
#[derive(Debug)]
pub(super) struct RenewalTimes {
    law: ContinuousLaw,
    next_at: u64,
    draws: Box<Stream>,
}

impl RenewalTimes {
    pub(super) fn new(law: ContinuousLaw, draws: Stream) -> Self {
        Self { law, next_at: 0, draws: Box::new(draws) }
    }

    pub(super) fn next(&mut self) -> u64 {
        let this = self.next_at;
        self.next_at = this.saturating_add(self.law.draw_whole(&mut self.draws));
        this
    }
}

/// The law of the times between arrivals; its mean comes from the load or the rate.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RenewalLaw {
    /// Lognormal.
    Lognormal(RenewalCv),
    /// Gamma.
    Gamma(RenewalCv),
    /// Hyperexponential of two branches that bring half of the mean each.
    Hyperexponential(RenewalCv),
    /// Erlang.
    Erlang(RenewalStages),
    /// Weibull.
    Weibull(RenewalShape),
    /// Pareto.
    Pareto(RenewalTail),
}

/// A law by its coefficient of variation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenewalCv {
    /// The coefficient of variation: of a lognormal law from 0.001 to 100, of a gamma law from 0.001 to 4.47, of a
    /// hyperexponential law from 1 to 100.
    pub cv: Located<f64>,
}

/// An Erlang law by its stages.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenewalStages {
    /// How many stages, from 1 to 1,000.
    pub stages: Located<u64>,
}

/// A Weibull law by its shape.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenewalShape {
    /// The shape, from 0.05 to 1,000,000.
    pub shape: Located<f64>,
}

/// A Pareto law by its tail index.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenewalTail {
    /// The tail index, above 1; up to 2 the variance is infinite.
    pub alpha: Located<f64>,
}

/// What a document says of renewal arrivals.
///
/// # Errors
/// A parameter is out of the bounds of its law.
pub fn checked(checker: &Checker<'_>, written: &RenewalLaw) -> Checked<Renewal> {
    let (law, at) = match written {
        RenewalLaw::Lognormal(law) => (Renewal::Lognormal(law.cv.value), &law.cv),
        RenewalLaw::Gamma(law) => (Renewal::Gamma(law.cv.value), &law.cv),
        RenewalLaw::Hyperexponential(law) => (Renewal::Hyperexponential(law.cv.value), &law.cv),
        RenewalLaw::Weibull(law) => (Renewal::Weibull(law.shape.value), &law.shape),
        RenewalLaw::Pareto(law) => (Renewal::Pareto(law.alpha.value), &law.alpha),
        RenewalLaw::Erlang(law) => {
            return checker.whole(&law.stages, 1, 1000).map(|stages| Renewal::Erlang(stages as u32));
        }
    };
    match law.law(1.0) {
        Ok(_) => Ok(law),
        Err(error) => checker.refuse(at, format!("must be {}", error.bound), error.remedy),
    }
}
