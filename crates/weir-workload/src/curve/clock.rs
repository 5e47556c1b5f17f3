//! The clock of a process whose rate follows a curve.
//!
//! Of each piece the process sees as many whole ticks as its integral has, at least one where the rate is above 0; so that
//! what is rounded does not add up with the length of a run, but with the pieces passed: by at most a tick each.

use std::sync::Arc;

use super::Curve;

/// Tells the time at a tick of a clock that goes by a curve. Ticks must not decrease. Copies share the points.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveClock {
    curve: Curve,
    /// Ticks of the process in a nanosecond at the mean rate: a power of two.
    scale: f64,
    /// The tick at which each piece begins, in its period, and that at which the last ends.
    starts: Arc<[u64]>,
    /// The piece that was reached.
    place: usize,
    /// Where its period begins: ticks and nanoseconds.
    begin: (u64, u64),
}

impl CurveClock {
    /// The clock of a process with `scale` ticks in a nanosecond at the mean rate, a power of two; rates of the curve are over
    /// that mean.
    #[must_use]
    pub fn new(curve: Curve, scale: f64) -> Self {
        let mut starts = vec![0_u64];
        for piece in curve.pieces.iter() {
            let ticks = match piece.rates {
                _ if piece.lasts == u64::MAX - piece.begin => u64::MAX,
                [first, last] if first + last > 0.0 => ((piece.area() * scale) as u64).max(1),
                _ => 0,
            };
            starts.push(starts[starts.len() - 1].saturating_add(ticks));
        }
        Self { curve, scale, starts: starts.into(), place: 0, begin: (0, 0) }
    }

    /// The curve that it goes by.
    #[must_use]
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// The time at a tick, in nanoseconds; `u64::MAX` where the clock never shows it.
    pub fn at(&mut self, tick: u64) -> u64 {
        let within = self.within_period(tick);
        if within >= self.starts[self.place + 1] {
            let reached = self.starts.partition_point(|start| *start <= within) - 1;
            self.place = reached.min(self.curve.pieces.len() - 1);
        }
        let piece = &self.curve.pieces[self.place];
        if piece.rates[0] + piece.rates[1] <= 0.0 {
            return u64::MAX;
        }
        let since = piece.time_of((within - self.starts[self.place]) as f64 / self.scale) as u64;
        self.begin.1.saturating_add(piece.begin).saturating_add(since.min(piece.lasts - 1))
    }

    /// How far into its period a tick is.
    fn within_period(&mut self, tick: u64) -> u64 {
        let within = tick - self.begin.0;
        let (Some(period), Some(&ticks)) = (self.curve.period, self.starts.last()) else { return within };
        if within < ticks {
            return within;
        }
        let whole = within / ticks;
        (self.place, self.begin) =
            (0, (self.begin.0 + whole * ticks, self.begin.1.saturating_add(whole.saturating_mul(period))));
        within % ticks
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Interpolation, Points};
    use super::*;

    fn curve(points: &[(u64, f64)], interpolation: Interpolation, period: Option<u64>) -> Curve {
        let mut all = Points::default();
        points.iter().for_each(|&(time, rate)| all.add(time, rate).expect("a point"));
        all.curve(interpolation, period).expect("a curve").over_mean()
    }

    fn times(clock: &mut CurveClock, ticks: &[u64]) -> Vec<u64> {
        ticks.iter().map(|&tick| clock.at(tick)).collect()
    }

    #[test]
    fn steps_repeat_and_nobody_arrives_where_the_rate_is_0() {
        // Rates over the mean: 0 for 1000 ns, 3 for 1000 ns, 0 for 1000 ns.
        let day = curve(&[(0, 0.0), (1000, 5.0), (2000, 0.0)], Interpolation::Constant, Some(3000));
        let mut clock = CurveClock::new(day.clone(), 1.0);
        assert_eq!(
            times(&mut clock, &[0, 30, 2999, 3000, 3030, 30_000]),
            [1000, 1010, 1999, 4000, 4010, 31_000]
        );
        // As the integral has it, wherever one looks.
        for area in [1.0, 30.0, 2999.0, 3030.0, 30_001.0] {
            let time = day.time_of(area);
            assert!((day.before(time) - area).abs() < 1e-6, "{area} {time}");
        }
    }

    #[test]
    fn a_line_is_inverted_exactly() {
        // From 0 up to 2 and down again: after a quarter of the way up, a sixteenth of the half is over.
        let tent = curve(&[(0, 0.0), (8000, 2.0), (16_000, 0.0)], Interpolation::Linear, Some(16_000));
        let mut clock = CurveClock::new(tent, 4.0);
        assert_eq!(
            times(&mut clock, &[0, 2000, 32_000, 62_000, 64_000, 66_000]),
            [0, 2000, 8000, 14_000, 16_000, 18_000]
        );
    }

    #[test]
    fn a_curve_that_ends_with_0_is_over() {
        let ends = curve(&[(0, 1.0), (500, 0.0)], Interpolation::Constant, None);
        let mut clock = CurveClock::new(ends.clone(), 1.0);
        assert_eq!(times(&mut clock, &[0, 499, 500, u64::MAX]), [0, 499, u64::MAX, u64::MAX]);
        assert_eq!(ends.time_of(501.0), f64::INFINITY);
        let stays = curve(&[(0, 1.0), (500, 2.0)], Interpolation::Constant, None);
        assert_eq!(times(&mut CurveClock::new(stays, 1.0), &[499, 500, 1500]), [499, 500, 1000]);
    }

    #[test]
    fn periods_much_shorter_than_gaps_are_passed_at_once() {
        let fast = curve(&[(0, 1.0), (50, 3.0)], Interpolation::Constant, Some(100));
        let mut clock = CurveClock::new(fast, 1.0);
        // 2^60 ends in 976: 25 ticks of the first half, and 51 of the second at 1.5 in a nanosecond.
        assert_eq!(times(&mut clock, &[1 << 60, (1 << 60) + 75]), [(1 << 60) + 8, (1 << 60) + 91]);
        assert_eq!(clock.at(u64::MAX), u64::MAX);
    }
}
