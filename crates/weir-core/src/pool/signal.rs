//! When delay says that servers are too few, or too many.
//!
//! | | |
//! |-|-|
//! | Source | Ouyang, *CS477 Advanced Operating Systems Lab1 Report*, EPFL, 2024, dynamic core allocation |
//! | Units | nanoseconds: means of the queueing delay over one period |
//! | Departs from the source | the source does not give the lower threshold; it is 0.4 times the upper one unless given |

use crate::info::{Arguments, Parameter, parse_nanos};
use crate::spec::SpecError;
use crate::units::Nanos;

/// Above which delay a server is added.
pub(super) const ADD: Parameter = Parameter {
    name: "add",
    values: "a span of time such as `50us`, at least 1ns",
    default: Some("50us"),
    meaning: "a server is added where the mean queueing delay of a period is above this",
};

/// Below which delay a server is removed.
pub(super) const REMOVE: Parameter = Parameter {
    name: "remove",
    values: "a span of time, at most `add`; or `auto`",
    default: Some("auto"),
    meaning: "a server is removed where the mean is below this; `auto`: 0.4 times `add`",
};

/// How often there is a step.
pub(super) const PERIOD: Parameter = Parameter {
    name: "period",
    values: "a span of time, at least 1us",
    default: Some("1s"),
    meaning: "how long delays are measured before each step",
};

/// The shortest period.
const LEAST_PERIOD: u64 = 1_000;

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
        let span = |name, expected: &str, least| {
            arguments.parsed(name, expected, |text| parse_nanos(text).filter(|span| span.get() >= least))
        };
        let add = span(ADD.name, "a span of time such as 50us, at least 1ns", 1)?;
        let remove = match arguments.text(REMOVE.name)? {
            "auto" => Nanos::new((u128::from(add.get()) * 2 / 5) as u64),
            _ => span(REMOVE.name, "a span of time such as 20us, or `auto`", 0)?,
        };
        if remove > add {
            let calm =
                Nanos::new((u128::from(add.get()) * u128::from(least) / (u128::from(least) + 1)) as u64);
            let reason = format!(
                "is {remove}, must be at most add, which is {add}; above {calm}, which is add x {least}/({least} + 1), \
                 the count goes to and fro"
            );
            return Err(arguments.error(REMOVE.name, reason));
        }
        let period = span(PERIOD.name, "a span of time such as 1s, at least 1us", LEAST_PERIOD)?;
        Ok(Self { add, remove, period })
    }
}
