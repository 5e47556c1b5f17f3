//! How long something takes: laws of time, and times that were measured.

use weir_core::units::Nanos;

/// How long something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Always this.
    Constant(Nanos),
    /// Exponentially distributed, with this mean.
    Exponential(Nanos),
    /// Evenly distributed, from the first to the second.
    Uniform(Nanos, Nanos),
}

impl Law {
    /// Whether it draws random numbers.
    #[must_use]
    pub fn is_random(self) -> bool {
        !matches!(self, Self::Constant(_))
    }
}

/// A wake-up and what is computed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// When it wakes, from the beginning of the simulation.
    pub wake: Nanos,
    /// What it computes.
    pub run: Nanos,
}
