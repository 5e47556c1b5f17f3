//! Continuous laws by their textbook names: moments, distribution functions, quantiles, draws.
//!
//! | law | parameters | mean | squared coefficient of variation |
//! |---|---|---|---|
//! | deterministic | `value` | `value` | 0 |
//! | uniform | `low < high` | `(low + high)/2` | `(high - low)²/12 / mean²` |
//! | exponential | `mean` | `mean` | 1 |
//! | Erlang | `stages` k, `mean` | `mean` | `1/k` |
//! | gamma | `shape` k, `scale` θ | `kθ` | `1/k` |
//! | lognormal | `mu`, `sigma` of the logarithm | `exp(mu + sigma²/2)` | `exp(sigma²) - 1` |
//! | Weibull | `shape` k, `scale` λ | `λ Γ(1 + 1/k)` | `Γ(1 + 2/k)/Γ(1 + 1/k)² - 1` |
//! | Pareto | `alpha`, `minimum` m | `αm/(α-1)`, infinite for α ≤ 1 | `1/(α(α-2))`, infinite for α ≤ 2 |
//! | bounded Pareto | `alpha`, `low`, `high` | by its raw moments | by its raw moments |
//! | hyperexponential | probabilities and means of branches | `Σ p m` | `2 Σ p m² / mean² - 1` |
//! | phase type | see [`PhaseType`] | `a (-T)⁻¹ 1` | `2 a T⁻² 1 / mean² - 1` |
//! | mixture | probabilities and laws | `Σ p E` | of its raw moments |
//! | empirical | see [`Empirical`] | of its segments | of its segments |
//!
//! | | |
//! |-|-|
//! | Source | Law, *Simulation Modeling and Analysis*, 5th ed., chapters 6 and 8; Johnson, Kotz, Balakrishnan, *Continuous Univariate Distributions* |
//! | Units | whatever the caller counts; the same in parameters, values and moments |
//! | Moments | `None` where infinite |
//! | Draws | additions, multiplications, divisions, square roots, and logarithm and powers computed in software: the same on every machine |

mod build;
mod distribution;
mod empirical;
mod error;
pub mod facts;
mod moments;
mod phase;
mod sample;
pub mod written;

pub use empirical::Empirical;
pub use error::LawError;
pub use moments::Moments;
pub use phase::PhaseType;
pub use sample::LONGEST_DRAW;
#[cfg(test)]
pub(crate) use sample::drawn;

/// A law of non-negative numbers; built and checked by the functions of this type, such as [`ContinuousLaw::lognormal`].
///
/// ```
/// use weir_workload::ContinuousLaw;
/// let law = ContinuousLaw::lognormal(2.0, 1.5)?;
/// assert_eq!(law.mean(), Some(2.0));
/// assert!((law.cv().unwrap() - 1.5).abs() < 1e-12);
/// assert!(ContinuousLaw::pareto(0.9, 1.0)?.mean().is_none());
/// # Ok::<(), weir_workload::laws::LawError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuousLaw {
    form: Form,
}

/// The form of a law.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// Always this.
    Deterministic(f64),
    /// Evenly between two values.
    Uniform {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Without memory.
    Exponential {
        /// The mean.
        mean: f64,
    },
    /// The sum of exponential stages.
    Erlang {
        /// How many.
        stages: u32,
        /// The mean of the sum.
        mean: f64,
    },
    /// The gamma law.
    Gamma {
        /// The shape.
        shape: f64,
        /// The scale.
        scale: f64,
    },
    /// The exponential of a normal law; `mean` as it was asked for, so that it is exact.
    Lognormal {
        /// The mean of the logarithm.
        mu: f64,
        /// The standard deviation of the logarithm.
        sigma: f64,
        /// The mean.
        mean: f64,
    },
    /// The Weibull law.
    Weibull {
        /// The shape.
        shape: f64,
        /// The scale.
        scale: f64,
    },
    /// The Pareto law of the first kind.
    Pareto {
        /// The tail index.
        alpha: f64,
        /// The smallest value.
        minimum: f64,
    },
    /// The Pareto law cut off at both ends.
    BoundedPareto {
        /// The tail index.
        alpha: f64,
        /// The smallest value.
        low: f64,
        /// The largest value.
        high: f64,
        /// `1 - (low/high)^alpha`.
        share: f64,
    },
    /// One of several exponential laws: probabilities, which sum to 1, and means.
    Hyperexponential(Vec<(f64, f64)>),
    /// The time to absorption of a Markov chain.
    PhaseType(Box<PhaseType>),
    /// One of several laws: probabilities, which sum to 1, and laws.
    Mixture(Vec<(f64, ContinuousLaw)>),
    /// Points of a distribution function, with straight lines between them.
    Empirical(Box<Empirical>),
}

impl ContinuousLaw {
    /// The form.
    #[must_use]
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// The name by which documents and explanations call it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.form {
            Form::Deterministic(_) => "deterministic",
            Form::Uniform { .. } => "uniform",
            Form::Exponential { .. } => "exponential",
            Form::Erlang { .. } => "erlang",
            Form::Gamma { .. } => "gamma",
            Form::Lognormal { .. } => "lognormal",
            Form::Weibull { .. } => "weibull",
            Form::Pareto { .. } => "pareto",
            Form::BoundedPareto { .. } => "bounded_pareto",
            Form::Hyperexponential(_) => "hyperexponential",
            Form::PhaseType(_) => "phase_type",
            Form::Mixture(_) => "mixture",
            Form::Empirical(_) => "empirical",
        }
    }

    /// The law of `factor` times the value.
    ///
    /// # Errors
    /// The factor is not positive and finite.
    pub fn scaled(&self, factor: f64) -> Result<Self, LawError> {
        error::positive("factor", factor)?;
        let by = |value: f64| value * factor;
        let form = match &self.form {
            Form::Deterministic(value) => Form::Deterministic(by(*value)),
            Form::Uniform { low, high } => Form::Uniform { low: by(*low), high: by(*high) },
            Form::Exponential { mean } => Form::Exponential { mean: by(*mean) },
            Form::Erlang { stages, mean } => Form::Erlang { stages: *stages, mean: by(*mean) },
            Form::Gamma { shape, scale } => Form::Gamma { shape: *shape, scale: by(*scale) },
            Form::Lognormal { mu, sigma, mean } => {
                Form::Lognormal { mu: mu + libm::log(factor), sigma: *sigma, mean: by(*mean) }
            }
            Form::Weibull { shape, scale } => Form::Weibull { shape: *shape, scale: by(*scale) },
            Form::Pareto { alpha, minimum } => Form::Pareto { alpha: *alpha, minimum: by(*minimum) },
            Form::BoundedPareto { alpha, low, high, share } => {
                Form::BoundedPareto { alpha: *alpha, low: by(*low), high: by(*high), share: *share }
            }
            Form::Hyperexponential(branches) => {
                Form::Hyperexponential(branches.iter().map(|&(p, mean)| (p, by(mean))).collect())
            }
            Form::PhaseType(phases) => Form::PhaseType(Box::new(phases.scaled(factor))),
            Form::Mixture(parts) => {
                let scaled: Result<Vec<_>, LawError> =
                    parts.iter().map(|(p, law)| Ok((*p, law.scaled(factor)?))).collect();
                Form::Mixture(scaled?)
            }
            Form::Empirical(points) => Form::Empirical(Box::new(points.scaled(factor))),
        };
        Ok(Self { form })
    }
}

#[cfg(test)]
mod tests;
