//! Spans of time as parameters of pool disciplines.

use crate::info::{Arguments, Parameter, parse_nanos};
use crate::spec::SpecError;
use crate::units::Nanos;

/// What the end of a quantum takes.
pub(super) const COST: Parameter = Parameter {
    name: "cost",
    values: "a span from 0ns to 1s",
    default: Some("500ns"),
    meaning: "what a preemption takes of the server",
};

/// The longest span.
const LONGEST: Nanos = Nanos::new(1_000_000_000);

/// A span from `low` to a second.
pub(super) fn span(arguments: &Arguments<'_>, name: &'static str, low: Nanos) -> Result<Nanos, SpecError> {
    let expected = format!("a span from {low} to {LONGEST}");
    let within = |span: &Nanos| (low..=LONGEST).contains(span);
    arguments.parsed(name, &expected, |text| parse_nanos(text).filter(within))
}
