//! Spans of time as parameters of pool disciplines.

use core::ops::RangeInclusive;

use crate::info::{Parameter, Takes};
use crate::units::Nanos;

/// The longest span.
pub(super) const A_SECOND: Nanos = Nanos::new(1_000_000_000);

/// A span that may be nothing.
pub(super) const TO_A_SECOND: RangeInclusive<Nanos> = Nanos::ZERO..=A_SECOND;

/// What the end of a quantum takes.
pub(super) const COST: Parameter = Parameter::new("cost", Takes::Span(TO_A_SECOND), "500ns")
    .meaning("how much time a preemption costs the server");
