//! What is known of a queue in Kendall's notation: figures with a unit, a status and a source.
//!
//! | queue | what is given | source |
//! |-|-|-|
//! | M/M/c/K/N+M; LCFS and SIRO | [`MarkovQueue`](crate::MarkovQueue) | `markov.rs` |
//! | M/G/c/c, M/G/c/c/N, M/G/∞, G/G/∞ | the same for any law of service, or Little's law | `markov.rs` |
//! | M/G/1 and its disciplines | mean wait or response | `mg1.rs`, `general.rs` |
//! | M/D/c, M/D/1/K | mean wait; loss | `servers.rs` |
//! | D/M/1, E_k/M/1 | mean and quantiles of the wait | `renewal.rs` |
//! | M^X/G/1 | mean wait | `general.rs` |
//! | G/G/c | an upper bound and an approximation of the mean wait | `general.rs` |
//!
//! Of other queues nothing is given, and the error names the next that is known. A parameter that the notation asks for and that is not
//! given is an error, and so is one that the notation has no use for.
//!
//! Times are in the unit of time of the parameters, rates are its reciprocal.

mod family;
mod many;
mod single;

use core::fmt;

use super::kendall::{Arrivals, Kendall, Law};
use super::{NoForm, TheoryError};
use family::Family;

/// A parameter of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parameter {
    /// The rate of arrivals; of batches with `M^X`, of each source that has no customer here with a number of sources.
    Arrival,
    /// The mean service.
    Service,
    /// The mean patience.
    Patience,
    /// The squared coefficient of variation of gaps.
    ScvArrival,
    /// The squared coefficient of variation of services.
    ScvService,
    /// The mean number of customers in a batch.
    Batch,
    /// Its squared coefficient of variation.
    ScvBatch,
}

impl Parameter {
    /// All of them, in the order in which they are asked for.
    pub const ALL: [Self; 7] = [
        Self::Arrival,
        Self::Service,
        Self::Patience,
        Self::ScvArrival,
        Self::ScvService,
        Self::Batch,
        Self::ScvBatch,
    ];

    /// Its name in a document or on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrival => "arrival",
            Self::Service => "service",
            Self::Patience => "patience",
            Self::ScvArrival => "scv-arrival",
            Self::ScvService => "scv-service",
            Self::Batch => "batch",
            Self::ScvBatch => "scv-batch",
        }
    }

    /// What it is.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Arrival => "rate of arrivals",
            Self::Service => "rate or mean of service",
            Self::Patience => "rate or mean of patience",
            Self::ScvArrival => "squared coefficient of variation of the gaps between arrivals",
            Self::ScvService => "squared coefficient of variation of services",
            Self::Batch => "mean number of customers in a batch",
            Self::ScvBatch => "squared coefficient of variation of that number",
        }
    }
}

/// What is given of a queue: a rate, mean times, and numbers without a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Given {
    /// [`Parameter::Arrival`], in a unit of time.
    pub arrival: Option<f64>,
    /// [`Parameter::Service`], a mean time.
    pub service: Option<f64>,
    /// [`Parameter::Patience`], a mean time.
    pub patience: Option<f64>,
    /// [`Parameter::ScvArrival`].
    pub scv_arrival: Option<f64>,
    /// [`Parameter::ScvService`].
    pub scv_service: Option<f64>,
    /// [`Parameter::Batch`].
    pub batch: Option<f64>,
    /// [`Parameter::ScvBatch`].
    pub scv_batch: Option<f64>,
}

impl Given {
    fn get(&self, parameter: Parameter) -> Option<f64> {
        match parameter {
            Parameter::Arrival => self.arrival,
            Parameter::Service => self.service,
            Parameter::Patience => self.patience,
            Parameter::ScvArrival => self.scv_arrival,
            Parameter::ScvService => self.scv_service,
            Parameter::Batch => self.batch,
            Parameter::ScvBatch => self.scv_batch,
        }
    }
}

/// How far a figure may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is the figure.
    Exact,
    /// The figure is at most this.
    UpperBound,
    /// It is near this, as the source says.
    Approximation,
}

impl Status {
    /// How it is printed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::UpperBound => "upper bound",
            Self::Approximation => "approximation",
        }
    }
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// A span of time, in the unit of the parameters.
    Time,
    /// A share of a whole, from 0 to 1.
    Share,
    /// A number of customers.
    Customers,
}

/// One figure of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// What it is of, such as `mean_wait`.
    pub metric: &'static str,
    /// The figure.
    pub value: f64,
    /// What it counts.
    pub unit: Unit,
    /// How far it may be trusted.
    pub status: Status,
    /// Where it comes from.
    pub source: &'static str,
}

/// Why there are no figures.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FigureError {
    /// A parameter is needed.
    Missing(Parameter),
    /// A parameter is given that the queue does not have.
    Unused(Parameter),
    /// Nothing is known of the queue; the next of which something is, if one field or two are changed.
    Unknown(Option<Kendall>),
    /// What is known of it needs more than these parameters, and is a function of the library.
    InLibrary(&'static str),
    /// The parameters give no figures.
    Theory(TheoryError),
}

impl fmt::Display for FigureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(parameter) => {
                write!(f, "the {} is missing; give {}", parameter.meaning(), parameter.name())
            }
            Self::Unused(parameter) => {
                write!(
                    f,
                    "the queue has no use for {}, the {}; leave it out",
                    parameter.name(),
                    parameter.meaning()
                )
            }
            Self::Unknown(Some(next)) => {
                write!(f, "no closed form is known of this queue; the next that is known is {next}")
            }
            Self::Unknown(None) => f.write_str("no closed form is known of this queue; simulate it"),
            Self::InLibrary(function) => {
                write!(f, "the queue needs more than these parameters; use {function} of weir-theory")
            }
            Self::Theory(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FigureError {}

impl From<TheoryError> for FigureError {
    fn from(error: TheoryError) -> Self {
        Self::Theory(error)
    }
}

impl From<NoForm> for FigureError {
    fn from(reason: NoForm) -> Self {
        Self::Theory(reason.into())
    }
}

/// What is known of a queue with these parameters.
///
/// ```
/// use weir_theory::{Given, Status, figures};
/// let given = Given { arrival: Some(2.4), service: Some(1.0), ..Given::default() };
/// let found = figures(&"M/M/3".parse()?, &given)?;
/// let wait = found.iter().find(|figure| figure.metric == "mean_wait").expect("known");
/// assert!((wait.value - 1.0787).abs() < 1e-4 && wait.status == Status::Exact);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FigureError::Missing`] and [`FigureError::Unused`] parameters, [`FigureError::Unknown`] queues,
/// [`FigureError::InLibrary`] with more parameters, [`FigureError::Theory`] where there is no steady state or a parameter is out of its
/// bounds.
pub fn figures(queue: &Kendall, given: &Given) -> Result<Vec<Figure>, FigureError> {
    match queue.arrivals {
        Arrivals::Modulated => return Err(FigureError::InLibrary("`MapM1`")),
        Arrivals::Varying => return Err(FigureError::InLibrary("`Sinusoid` or `present_after`")),
        _ => {}
    }
    let family = Family::of(queue).ok_or_else(|| FigureError::Unknown(family::neighbour(queue)))?;
    for parameter in Parameter::ALL {
        match (need(queue, family, parameter), given.get(parameter)) {
            (Need::Asked, None) => return Err(FigureError::Missing(parameter)),
            (Need::None, Some(_)) => return Err(FigureError::Unused(parameter)),
            _ => {}
        }
    }
    check(given)?;
    let found = match family {
        Family::Markov | Family::Insensitive | Family::Unlimited => many::figures(queue, given, family),
        _ => single::figures(queue, given, family),
    }?;
    // Rates near the ends of the range of numbers, whose products leave it.
    let is_number = |figure: &Figure| figure.value.is_finite() && figure.value >= 0.0;
    if found.iter().all(is_number) { Ok(found) } else { Err(NoForm::OutOfRange.into()) }
}

/// Refuses rates and times out of bounds, whatever the queue.
fn check(given: &Given) -> Result<(), TheoryError> {
    let is_positive = |value: f64| value > 0.0 && value.is_finite();
    let bound = "positive and finite";
    match *given {
        Given { arrival: Some(value), .. } if !is_positive(value) => {
            Err(TheoryError::Parameter { name: "rate of arrivals", value, bound })
        }
        Given { service: Some(value), .. } if !is_positive(value) => Err(TheoryError::MeanService(value)),
        Given { patience: Some(value), .. } if !is_positive(value) => {
            Err(TheoryError::Parameter { name: "mean patience", value, bound })
        }
        _ => Ok(()),
    }
}

/// Whether a queue has a parameter, and whether its figures depend on it.
enum Need {
    None,
    May,
    Asked,
}

fn need(queue: &Kendall, family: Family, parameter: Parameter) -> Need {
    let asked = |is_asked: bool| if is_asked { Need::Asked } else { Need::None };
    let free = matches!(family, Family::Insensitive | Family::Unlimited) || family::is_insensitive(queue);
    match parameter {
        Parameter::Arrival | Parameter::Service => Need::Asked,
        Parameter::Patience => asked(queue.patience.is_some()),
        Parameter::ScvArrival if queue.arrivals == Arrivals::Single(Law::General) => {
            if family == Family::Unlimited { Need::May } else { Need::Asked }
        }
        Parameter::ScvService if queue.service == Law::General => {
            if free {
                Need::May
            } else {
                Need::Asked
            }
        }
        Parameter::ScvArrival | Parameter::ScvService => Need::None,
        Parameter::Batch | Parameter::ScvBatch => asked(queue.arrivals == Arrivals::Batches(None)),
    }
}

/// The squared coefficient of variation of a law.
fn scv_of(law: Law, given: Option<f64>) -> f64 {
    match law {
        Law::Exponential => 1.0,
        Law::Constant => 0.0,
        Law::Erlang(phases) => 1.0 / f64::from(phases),
        Law::General => given.unwrap_or(1.0),
    }
}

impl Figure {
    fn exact(metric: &'static str, value: f64, unit: Unit, source: &'static str) -> Self {
        Self { metric, value, unit, status: Status::Exact, source }
    }

    fn with(self, status: Status) -> Self {
        Self { status, ..self }
    }
}

#[cfg(test)]
mod tests;
