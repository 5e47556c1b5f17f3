//! How long something takes: laws of time, and times that were measured.

use std::sync::Arc;

use crate::ContinuousLaw;
use weir_core::units::Nanos;
use weir_lab::stream::Stream;

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

    /// How long it is this time; a constant draws nothing.
    #[must_use]
    #[inline]
    pub fn draw(self, stream: &mut Stream) -> Nanos {
        Nanos::new(match self {
            Self::Constant(span) => span.get(),
            Self::Exponential(mean) => stream.next_exponential(mean.get() as f64),
            Self::Uniform(low, high) => {
                let span = (high.get() - low.get()).saturating_add(1);
                low.get().saturating_add(stream.next_below(span))
            }
        })
    }
}

/// How long something takes, by any law.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyLaw {
    /// Constant, exponential or uniform.
    Plain(Law),
    /// One of the textbooks.
    Textbook(Arc<ContinuousLaw>),
}

impl AnyLaw {
    /// Whether it draws random numbers.
    #[must_use]
    pub fn is_random(&self) -> bool {
        match self {
            Self::Plain(law) => law.is_random(),
            Self::Textbook(_) => true,
        }
    }

    /// How long it is this time; a constant draws nothing.
    #[must_use]
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> Nanos {
        match self {
            Self::Plain(law) => law.draw(stream),
            Self::Textbook(law) => Nanos::new(law.draw_whole(stream)),
        }
    }
}

impl From<Law> for AnyLaw {
    fn from(law: Law) -> Self {
        Self::Plain(law)
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
