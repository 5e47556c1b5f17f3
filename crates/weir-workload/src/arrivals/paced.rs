//! The instants of a process in nanoseconds, at a rate that may follow a curve.
//!
//! A process with a short mean gap counts parts of a nanosecond, so that rounding does not change its rate; instants are given in
//! whole nanoseconds, rounded down. Where the rate follows a curve, the process runs at the mean rate, and its clock goes by the
//! curve ([`crate::curve`]).
//!
//! Source: Cinlar, *Introduction to Stochastic Processes*, 1975, section 4.7. Work: O(1) an arrival, and O(log points) where a
//! point of the curve is passed.

use super::{Arrivals, Times};
use crate::Curve;
use crate::curve::CurveClock;
use crate::source::SourceError;
use weir_lab::stream::{Purpose, Stream};

/// The least number of ticks of the process in a mean gap, where parts of a nanosecond allow it.
const TICKS: f64 = 1024.0;
/// Binary digits of a nanosecond at most.
const MOST_DIGITS: u32 = 20;

/// The instants of a process in nanoseconds.
#[derive(Clone, Debug)]
pub struct PacedTimes {
    times: Times,
    /// Binary digits of a nanosecond that the process counts.
    digits: u32,
    clock: Option<CurveClock>,
}

impl PacedTimes {
    /// Those of a process with this mean gap in nanoseconds, whose rate may follow a curve; the first is at time 0, and streams are
    /// as [`Times::new`] has them.
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

    /// Those of a process that is met at any instant ([`Times::from_any_instant`]).
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

    /// Fills `out` with the next instants, in nanoseconds; they never decrease. `u64::MAX` is never.
    pub fn fill(&mut self, out: &mut [u64]) {
        self.times.fill(out);
        match &mut self.clock {
            Some(clock) => out.iter_mut().for_each(|at| *at = clock.at(*at)),
            None => out.iter_mut().for_each(|at| *at >>= self.digits),
        }
    }
}

/// The binary digits of a nanosecond that a process with this mean gap counts.
fn digits(mean_gap: f64) -> u32 {
    (0..MOST_DIGITS).find(|&digits| mean_gap * scale(digits) >= TICKS).unwrap_or(MOST_DIGITS)
}

fn clock(curve: Option<Curve>, digits: u32) -> Option<CurveClock> {
    curve.map(|curve| CurveClock::new(curve, scale(digits)))
}

/// `2^digits`.
fn scale(digits: u32) -> f64 {
    f64::from(1_u32 << digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{Interpolation, Points};
    use weir_lab::stream::StreamKey;

    fn draw(arrivals: &Arrivals, mean_gap: f64, curve: Option<Curve>, n: usize) -> Vec<u64> {
        let stream = |purpose, index| Stream::new(StreamKey { seed: 5, replication: 1, purpose, index });
        let mut out = vec![0; n];
        PacedTimes::new(arrivals, mean_gap, curve, &stream).expect("valid").fill(&mut out);
        out
    }

    #[test]
    fn short_gaps_keep_their_mean() {
        for mean in [0.37, 3.1, 24.0, 700.0] {
            let got = draw(&Arrivals::Poisson, mean, None, 200_000);
            let measured = *got.last().expect("drawn") as f64 / 199_999.0;
            assert!((measured / mean - 1.0).abs() < 0.01, "{measured} {mean}");
        }
    }

    #[test]
    fn a_curve_by_hand() {
        let mut points = Points::default();
        for (time, rate) in [(0, 1.0), (200, 3.0), (400, 0.0)] {
            points.add(time, rate).expect("a point");
        }
        let curve = points.curve(Interpolation::Constant, Some(800)).expect("a curve").over_mean();
        let equal = Arrivals::Deterministic;
        assert_eq!(draw(&equal, 50.0, None, 4), [0, 50, 100, 150]);
        // Sixteen in a period: four in the first quarter, twelve in the second.
        assert_eq!(draw(&equal, 50.0, Some(curve), 6), [0, 50, 100, 150, 200, 216]);
    }
}
