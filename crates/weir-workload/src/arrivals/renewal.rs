//! Renewal arrivals: independent times between arrivals of any law, whose mean comes from the load.
//!
//! A law is written by what remains where its mean is given: a coefficient of variation, a shape. Where the first message arrives
//! at time 0, the process is an ordinary one; where it is met at any instant, an equilibrium one: the time to the first arrival is a
//! uniform part of a gap that is drawn by its length. Gaps are rounded to whole ticks of the clock.
//!
//! Source: Cox, *Renewal Theory*, 1962, sections 2.2 and 5.4. Work: O(1) a gap, or O(stages) where the law has stages.

use super::Start;
use crate::laws::{ContinuousLaw, Form, LONGEST_DRAW, LawError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_document::{Checked, Checker, Located};
use weir_lab::logarithm::ln;
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

    /// A gap of this mean, drawn with a probability in proportion to its length.
    fn by_length(self, mean: f64, stream: &mut Stream) -> Result<f64, LawError> {
        let law = self.law(mean)?;
        let gamma = |shape, scale, stream: &mut Stream| Ok(ContinuousLaw::gamma(shape, scale)?.draw(stream));
        match (self, law.form()) {
            (_, Form::Lognormal { mu, sigma, .. }) => {
                Ok(ContinuousLaw::lognormal_of_logarithm(mu + sigma * sigma, *sigma)?.draw(stream))
            }
            (_, Form::Gamma { shape, scale }) => gamma(shape + 1.0, *scale, stream),
            (_, Form::Weibull { shape, scale }) => {
                Ok(scale * libm::pow(gamma(1.0 + 1.0 / shape, 1.0, stream)?, 1.0 / shape))
            }
            (_, Form::Pareto { alpha, minimum }) => {
                Ok(minimum * libm::exp(-ln(stream.next_uniform()) / (alpha - 1.0)))
            }
            (Self::Hyperexponential(cv), _) => {
                // Both branches bring half of the time.
                let square = cv * cv;
                let often = 0.5 * (1.0 + ((square - 1.0) / (square + 1.0)).sqrt());
                let share = if stream.next_uniform() < 0.5 { often } else { 1.0 - often };
                gamma(2.0, mean / (2.0 * share), stream)
            }
            (Self::Erlang(stages), _) => gamma(f64::from(stages) + 1.0, mean / f64::from(stages), stream),
            (_, _) => unreachable!("each has one of these forms"),
        }
    }

    /// The squared coefficient of variation; `None` where it is infinite or the law is none.
    #[must_use]
    pub fn scv(self) -> Option<f64> {
        self.law(1.0).ok()?.cv().map(|cv| cv * cv)
    }
}

/// The instants of renewal arrivals.
#[derive(Clone, Debug)]
pub(super) struct RenewalTimes {
    law: ContinuousLaw,
    next_at: u64,
    draws: Box<Stream>,
}

impl RenewalTimes {
    /// # Errors
    /// The shape is out of the bounds of its law, or the mean not above 0.
    pub(super) fn new(
        renewal: Renewal,
        mean: f64,
        start: Start,
        mut draws: Stream,
    ) -> Result<Self, LawError> {
        let next_at = match start {
            Start::Arrival => 0,
            Start::AnyInstant => {
                let part = renewal.by_length(mean, &mut draws)? * draws.next_uniform();
                part.min(LONGEST_DRAW as f64) as u64
            }
        };
        Ok(Self { law: renewal.law(mean)?, next_at, draws: Box::new(draws) })
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
