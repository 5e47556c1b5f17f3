//! Closed forms: what a discipline does to everybody's waiting time, without simulation.
//!
//! [`Mg1`] is one server that serves whole, in any of the orders of [`Policy`]; [`mmk_wait`] and its neighbours are several
//! servers. [`BirthDeath`] is the chain that queues without memory are, and [`MarkovQueue`] what M/M/c/K/N+M says by it.
//! A load of 1 or more has no means: it is an error that says so, never a number.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod birth_death;
mod figures;
mod fork_join;
mod general;
pub mod identities;
mod impatient;
mod kendall;
mod law;
mod map;
mod markov;
mod matrix;
mod mg1;
mod power_of_d;
mod preemptive;
mod quadrature;
mod redundancy;
mod renewal;
mod servers;
mod time_varying;

use core::fmt;

pub use birth_death::{BirthDeath, MOST_STATES};
pub use figures::{Figure, FigureError, Given, Parameter, Status, Unit, figures};
pub use fork_join::{fork_join, fork_join_pair};
pub use general::{Batch, General, batch_wait, mg1_wait};
pub use impatient::{ImpatientMeans, impatient, mean_up_to};
pub use kendall::{Arrivals, Kendall, Law, NotationError, Order};
pub use law::SizeLaw;
pub use map::{MOST_PHASES, Map, MapM1};
pub use markov::{Markov, MarkovMeans, MarkovQueue};
pub use mg1::{ClassMeans, Mg1, Policy, mm1_wait_tail};
pub use power_of_d::{jsq_response, jsq_share};
pub use preemptive::preemptive_responses;
pub use redundancy::redundancy;
pub use renewal::{Gaps, GiM1};
pub use servers::{PriorityClass, erlang_b, erlang_c, md1n_loss, mdk_wait, mmk_wait, priority_waits};
pub use time_varying::{Sinusoid, Stretch, present_after};

/// The largest load with means: nearer to 1 a floating-point number cannot tell it from saturation.
pub const MAX_LOAD: f64 = 1.0 - 1e-9;

/// How the port serves a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Packet by packet, one service each; sizes are lengths in packets.
    Packets,
    /// Whole, in a time proportional to its size.
    Whole,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Packets => "packet by packet",
            Self::Whole => "over whole messages",
        })
    }
}

/// Why there is no number.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TheoryError {
    /// The load is 1 or more (or within 1e-9 of it): the queue grows without bound.
    Unstable(f64),
    /// The load is 0, negative or not a number.
    Load(f64),
    /// The mean service is not positive and finite.
    MeanService(f64),
    /// The squared coefficient of variation of a service is negative or not finite.
    Scv(f64),
    /// Another parameter is out of its bounds.
    Parameter {
        /// What it is.
        name: &'static str,
        /// What it was given as.
        value: f64,
        /// What it must be.
        bound: &'static str,
    },
    /// No closed form is known, or it is out of reach.
    NoForm(NoForm),
}

/// Why there is no closed form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NoForm {
    /// Alpha is neither 0 nor infinite.
    Alpha(String),
    /// A parameter changes the order of service from the one that has a form.
    Parameters(String),
    /// The discipline has a form, but not in this mode.
    Mode(String, Mode),
    /// No form is known for this discipline.
    Discipline(String),
    /// The service of whole messages must be their size times a constant.
    RandomService,
    /// More than 2^20 different lengths in packets.
    TooManyLengths,
    /// The linear system of a round robin is too large.
    SystemTooLarge,
    /// The linear system of a round robin was not solved.
    NotConverged,
    /// A chain has more than 2^22 states.
    TooManyStates,
    /// A matrix of rates has no inverse, as far as numbers tell.
    Matrix,
    /// Rates lie so far apart that their ratios are beyond floating-point numbers.
    OutOfRange,
}

impl fmt::Display for NoForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alpha(spec) => {
                write!(
                    f,
                    "no closed form for 0 < alpha < infinity ({spec}); the means lie between fifo and sf"
                )
            }
            Self::Parameters(spec) => {
                write!(f, "no closed form for {spec}; only the plain discipline has one")
            }
            Self::Mode(name, mode) => write!(f, "no closed form for {name} {mode}"),
            Self::Discipline(name) => write!(f, "no closed form for {name}"),
            Self::RandomService => {
                write!(
                    f,
                    "no closed form for whole messages whose service is not their size times a constant"
                )
            }
            Self::TooManyLengths => {
                write!(
                    f,
                    "closed form not computed: more than 1048576 lengths in packets; use a larger packet"
                )
            }
            Self::SystemTooLarge => write!(
                f,
                "closed form not computed: longest message x number of lengths is above 16777216; use a larger packet"
            ),
            Self::NotConverged => {
                write!(
                    f,
                    "closed form not computed: the system of the round robin did not converge; lower the load"
                )
            }
            Self::OutOfRange => {
                write!(
                    f,
                    "closed form not computed: the rates lie too far apart for floating-point numbers; bring them closer together"
                )
            }
            Self::Matrix => {
                write!(
                    f,
                    "closed form not computed: the phases do not all reach each other, or their rates lie too far apart; change the rates"
                )
            }
            Self::TooManyStates => {
                write!(
                    f,
                    "closed form not computed: more than {MOST_STATES} customers may be present; lower the load or the number of places"
                )
            }
        }
    }
}

impl fmt::Display for TheoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unstable(load) if *load >= 1.0 => write!(
                f,
                "unstable: load {load} must be below 1; the queue grows without bound and has no mean, lower the load"
            ),
            Self::Unstable(load) => {
                write!(
                    f,
                    "unstable: load {load} must be at most {MAX_LOAD}; nearer to 1 no mean can be computed"
                )
            }
            Self::Load(load) => write!(f, "load is {load}, must be above 0 and below 1"),
            Self::MeanService(mean) => write!(f, "mean service is {mean}, must be positive and finite"),
            Self::Scv(scv) => {
                write!(
                    f,
                    "squared coefficient of variation of a service is {scv}, must be at least 0 and finite"
                )
            }
            Self::Parameter { name, value, bound } => write!(f, "{name} is {value}, must be {bound}"),
            Self::NoForm(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for NoForm {}
impl std::error::Error for TheoryError {}

impl From<NoForm> for TheoryError {
    fn from(reason: NoForm) -> Self {
        Self::NoForm(reason)
    }
}

/// Refuses what is no load, and loads without means.
pub fn check_load(load: f64) -> Result<(), TheoryError> {
    if load > MAX_LOAD {
        return Err(TheoryError::Unstable(load));
    }
    if load > 0.0 { Ok(()) } else { Err(TheoryError::Load(load)) }
}
