//! When delay says that servers are too few, or too many.
//!
//! | | |
//! |-|-|
//! | Source | Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, dynamic core allocation |
//! | Units | nanoseconds: means of the queueing delay over one period |
//! | Departs from the source | the source does not give the lower threshold; it is 0.4 times the upper one unless given |

use crate::info::{Arguments, Parameter, Takes};
use crate::spec::SpecError;
use crate::units::Nanos;

/// Above which delay a server is added.
pub(super) const ADD: Parameter = Parameter::new("add", Takes::Span(Nanos::ONE..=Nanos::MAX), "50us")
    .listed("a span of time such as `50us`, {}")
    .refused("a span of time such as 50us, {}")
    .meaning("a server is added where the mean queueing delay of a period is above this");

/// Below which delay a server is removed.
pub(super) const REMOVE: Parameter = Parameter::new("remove", Takes::Span(Nanos::ZERO..=Nanos::MAX), "auto")
    .or(&["auto"])
    .listed("a span of time, at most `add`; or `auto`")
    .refused("a span of time such as 20us, or `auto`")
    .meaning("a server is removed where the mean is below this; `auto`: 0.4 times `add`");

/// How often there is a step.
pub(super) const PERIOD: Parameter =
    Parameter::new("period", Takes::Span(Nanos::new(1_000)..=Nanos::MAX), "1s")
        .listed("a span of time, {}")
        .refused("a span of time such as 1s, {}")
        .meaning("how long delays are measured before each step");

/// The thresholds, and how often they are asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signal {
    /// Above it a server is added.
    pub add: Nanos,
    /// Below it a server is removed.
    pub remove: Nanos,
    /// Between two steps.
    pub period: Nanos,
}

impl Signal {
    /// As a spec names it, of a count that never falls below `least`.
    ///
    /// # Errors
    /// A span is none, or out of its bounds.
    pub(super) fn from_spec(arguments: &Arguments<'_>, least: u32) -> Result<Self, SpecError> {
        let add = arguments.span(ADD.name)?;
        let remove = match arguments.word(REMOVE.name)? {
            Some(_) => Nanos::new((u128::from(add.get()) * 2 / 5) as u64),
            None => arguments.span(REMOVE.name)?,
        };
        if remove > add {
            let calm =
                Nanos::new((u128::from(add.get()) * u128::from(least) / (u128::from(least) + 1)) as u64);
            let reason = format!(
                "is {remove}, must be at most add, which is {add}; above {calm}, which is add x \
                 {least}/({least} + 1), the count would oscillate"
            );
            return Err(arguments.error(REMOVE.name, reason));
        }
        let period = arguments.span(PERIOD.name)?;
        Ok(Self { add, remove, period })
    }
}
