//! The instants of a process that may count parts of a tick, and whose rate may follow a curve.
//!
//! **A curve** is a change of clock ([`crate::curve`]): the process runs at its mean rate on a clock of its own, which goes
//! faster or slower than the one of the run. **Parts of a tick**: where the mean gap is below 1024 ticks the process counts
//! parts of one, so that neither rounding nor a low rate of a curve changes its rate; instants are whole ticks, rounded down.
//!
//! A tick is whatever the caller's clock counts, a nanosecond or less; the curve is in the same ([`Curve::in_parts`]).
//! Source: the project's own. Work O(1) an arrival, and what the process itself takes.

use super::{Arrivals, Times};
use crate::curve::{Curve, CurveClock};
use crate::source::SourceError;
use weir_lab::stream::{Purpose, Stream};

/// The least number of parts in a mean gap, where a tick has as many.
const PARTS: f64 = 1024.0;
/// Binary digits of a tick at most.
const MOST_DIGITS: u32 = 20;

/// The instants of a process, in whole ticks.
#[derive(Clone, Debug)]
pub struct FineTimes {
    times: Times,
    /// Binary digits of a tick that the process counts.
    digits: u32,
    clock: Option<CurveClock>,
}

impl FineTimes {
    /// The instants of a process of this mean gap in ticks, which counts parts of a tick where that is short, at the rates of
    /// a curve over its mean where there is one; the first is at time 0, and the streams are those of [`Times::new`].
    ///
    /// # Errors
    /// [`SourceError`] for a mean that the clock cannot draw.
    pub fn new(
        arrivals: &Arrivals,
        mean_gap: f64,
        curve: Option<Curve>,
        stream: &dyn Fn(Purpose, u32) -> Stream,
    ) -> Result<Self, SourceError> {
        let digits = digits(mean_gap);
        let times = Times::new(arrivals, mean_gap * scale(digits), stream)?;
        Ok(Self { times, digits, clock: clock(curve, digits) })
    }

    /// The same of a process that is met at any instant ([`Times::from_any_instant`]).
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_any_instant(
        arrivals: &Arrivals,
        mean_gap: f64,
        curve: Option<Curve>,
        stream: &dyn Fn(Purpose, u32) -> Stream,
    ) -> Result<Self, SourceError> {
        let digits = digits(mean_gap);
        let times = Times::from_any_instant(arrivals, mean_gap * scale(digits), stream)?;
        Ok(Self { times, digits, clock: clock(curve, digits) })
    }

    /// Those of a process that counts whole ticks, at one rate.
    #[must_use]
    pub fn whole(times: Times) -> Self {
        Self { times, digits: 0, clock: None }
    }

    /// Whether they may end: [`u64::MAX`] then stands for those that never come.
    #[must_use]
    pub fn may_end(&self) -> bool {
        self.clock.is_some()
    }

    /// Fills `out` with the next instants; they never decrease.
    pub fn fill(&mut self, out: &mut [u64]) {
        let Self { times, digits, clock } = self;
        times.fill(out);
        match clock {
            Some(clock) => out.iter_mut().for_each(|at| *at = clock.at(*at)),
            None if *digits == 0 => {}
            None => out.iter_mut().for_each(|at| *at >>= *digits),
        }
    }
}

/// The binary digits of a tick that a process of this mean gap counts.
fn digits(mean_gap: f64) -> u32 {
    (0..MOST_DIGITS).find(|&digits| mean_gap * scale(digits) >= PARTS).unwrap_or(MOST_DIGITS)
}

fn clock(curve: Option<Curve>, digits: u32) -> Option<CurveClock> {
    curve.map(|curve| CurveClock::new(curve, scale(digits)))
}

/// `2^digits`.
fn scale(digits: u32) -> f64 {
    f64::from(1_u32 << digits)
}

#[cfg(test)]
mod tests;
