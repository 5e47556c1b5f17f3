//! Rates of arrivals that follow the time: constant or straight between points, once or again and again.
//!
//! A curve is a change of clock. A process runs on a clock of its own, at its mean rate, and [`CurveClock`] tells the time at
//! which that clock shows a given value: the inverse of the cumulative rate, exact for both kinds of pieces. So a Poisson
//! process becomes the non-homogeneous one, gaps of a renewal process are passed through at the rate of the time, and two
//! arrivals of a deterministic process always have the same number of expected arrivals between them.
//!
//! | | |
//! |-|-|
//! | Source | Cinlar, *Introduction to Stochastic Processes*, 1975, section 4.7: inversion of the cumulative rate; for renewal processes Gerhardt and Nelson, *INFORMS Journal on Computing* 21, 2009 |
//! | Units | times in nanoseconds; rates in any unit, since only their ratio to the mean counts ([`Curve::over_mean`]) |
//! | Work | O(points) once, O(log points) for an integral or its inverse, O(1) an arrival |
//! | Memory | 40 bytes a point, and 8 in a clock |
//!
//! The **mean** is that over the period, or where a curve does not repeat, up to its last point. After the last point the rate
//! stays, or the curve begins again; where it is straight between points and repeats, it goes from the last point to the
//! first.

mod clock;
mod file;
mod notes;
mod written;

pub use clock::CurveClock;
pub use file::RateUnit;
pub use notes::Measured;
pub use written::{CurveFile, CurveTable, Written, WrittenCurve, checked, checked_on};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weir_core::units::Nanos;

/// The most points.
pub const MAX_POINTS: usize = 1_000_000;
/// The most by which two rates of a curve that are above 0 may differ.
pub const MAX_RATIO: f64 = 1e9;
/// Why a run that does not measure whole periods of a curve is not made longer.
pub const MEASURED_IN_PART: &str =
    "cannot be combined with a curve that is measured in part, of which a longer run has another";

/// How the rate goes from one point to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// It stays until the next.
    #[default]
    Constant,
    /// In a straight line.
    Linear,
}

/// A rate that follows the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// In order of time, from 0 on; none is of length 0, and at least one has a rate above 0.
    pieces: Arc<[Piece]>,
    /// After how long it begins again, in nanoseconds.
    period: Option<u64>,
    /// The mean rate.
    mean: f64,
}

/// A straight piece of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    /// Where it begins, in nanoseconds.
    begin: u64,
    /// How long it lasts; `u64::MAX` of the last piece of a curve that does not repeat.
    lasts: u64,
    /// The rates where it begins and ends.
    rates: [f64; 2],
    /// The integral from 0 to where it begins.
    before: f64,
}

impl Piece {
    /// The integral of the whole piece.
    fn area(&self) -> f64 {
        self.lasts as f64 * (0.5 * (self.rates[0] + self.rates[1]))
    }

    fn slope(&self) -> f64 {
        (self.rates[1] - self.rates[0]) / self.lasts as f64
    }

    fn rate_after(&self, time: f64) -> f64 {
        self.rates[0] + self.slope() * time
    }

    /// The integral over its first `time` nanoseconds.
    fn area_of(&self, time: f64) -> f64 {
        time * (0.5 * (self.rates[0] + self.rate_after(time)))
    }

    /// Its first `lasts` nanoseconds, in two where the rate crosses another.
    fn split_at_rate(&self, rate: f64, lasts: f64) -> [(f64, f64); 2] {
        let slope = self.slope();
        let crossing = if slope.abs() > 0.0 { (rate - self.rates[0]) / slope } else { lasts };
        let crossing = crossing.clamp(0.0, lasts);
        [(0.0, crossing), (crossing, lasts)]
    }

    /// After how long the integral is `area`.
    fn time_of(&self, area: f64) -> f64 {
        let [first, last] = self.rates;
        if first.to_bits() == last.to_bits() {
            return area / first;
        }
        // The root that does not cancel.
        let root = (first * first + 2.0 * self.slope() * area).max(0.0).sqrt();
        if area > 0.0 { 2.0 * area / (first + root) } else { 0.0 }
    }
}

/// What is wrong with the points of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveError {
    /// Of which part of it.
    pub part: Part,
    /// What is wrong, with the bound.
    pub reason: String,
    /// What to do.
    pub remedy: &'static str,
}

/// A part of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The time of the point that was added last.
    Time,
    /// Its rate.
    Rate,
    /// All points together.
    All,
    /// The period.
    Period,
}

impl CurveError {
    fn of(part: Part, reason: impl Into<String>, remedy: &'static str) -> Self {
        Self { part, reason: reason.into(), remedy }
    }
}

/// The points of a curve, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Points {
    points: Vec<(u64, f64)>,
    /// The least and the largest rate above 0.
    extremes: Option<(f64, f64)>,
}

impl Points {
    /// Adds the next: its time in nanoseconds, and its rate.
    ///
    /// # Errors
    /// The first is not at 0, it is not after the one before, its rate is negative, not finite or too far from the others, or
    /// there are too many.
    pub fn add(&mut self, time: u64, rate: f64) -> Result<(), CurveError> {
        match self.points.last() {
            None if time > 0 => {
                let reason = "must be 0, where the curve begins";
                return Err(CurveError::of(Part::Time, reason, "add the rate at 0s"));
            }
            Some(&(last, _)) if time <= last => {
                let reason = "is not after the time of the point before";
                return Err(CurveError::of(
                    Part::Time,
                    reason,
                    "sort the points by time, with one rate each",
                ));
            }
            _ => {}
        }
        if !(rate >= 0.0 && rate.is_finite()) {
            let reason = "must be a rate from 0 up";
            return Err(CurveError::of(Part::Rate, reason, "correct it; a rate is 0 where nobody arrives"));
        }
        self.within_ratio(rate)?;
        if self.points.len() == MAX_POINTS {
            let reason = format!("is beyond {MAX_POINTS} points");
            return Err(CurveError::of(Part::Time, reason, "take longer steps"));
        }
        self.points.push((time, rate));
        Ok(())
    }

    fn within_ratio(&mut self, rate: f64) -> Result<(), CurveError> {
        if rate <= 0.0 {
            return Ok(());
        }
        let (low, high) = self.extremes.unwrap_or((rate, rate));
        let (low, high) = (low.min(rate), high.max(rate));
        if high / low > MAX_RATIO {
            let reason = format!("differs by more than {MAX_RATIO} times from another rate of the curve");
            return Err(CurveError::of(Part::Rate, reason, "check its unit, or write 0"));
        }
        self.extremes = Some((low, high));
        Ok(())
    }

    /// The time of the last.
    #[must_use]
    pub fn last(&self) -> Nanos {
        Nanos::new(self.points.last().map_or(0, |point| point.0))
    }

    /// The curve through the points.
    ///
    /// # Errors
    /// There are fewer than two, all rates are 0 as far as the mean goes, or the period is shorter than the points.
    pub fn curve(&self, interpolation: Interpolation, period: Option<u64>) -> Result<Curve, CurveError> {
        let ([_, .., (last, _)], Some(_)) = (self.points.as_slice(), self.extremes) else {
            return Err(match self.points.len() {
                0 | 1 => CurveError::of(Part::All, "must have at least two points", "add another"),
                _ => CurveError::of(Part::All, "is 0 everywhere", "give it a rate above 0"),
            });
        };
        if period.is_some_and(|period| period < *last) {
            let last = Nanos::new(*last);
            let reason = format!("is shorter than the curve, whose last point is at {last}");
            return Err(CurveError::of(Part::Period, reason, "lengthen it, or leave out points"));
        }
        let mut curve = Curve { pieces: self.pieces(interpolation, period), period, mean: 0.0 };
        curve.mean = curve.before(period.unwrap_or(*last) as f64) / period.unwrap_or(*last) as f64;
        if curve.mean > 0.0 {
            return Ok(curve);
        }
        let reason = "is 0 up to its last point, so that it has no mean";
        Err(CurveError::of(Part::All, reason, "give it a period, or a last point where it ends"))
    }

    fn pieces(&self, interpolation: Interpolation, period: Option<u64>) -> Arc<[Piece]> {
        let after = period.map_or(u64::MAX, |period| period);
        let again = if period.is_some() { self.points[0].1 } else { self.points[self.points.len() - 1].1 };
        let next = self.points[1..].iter().copied().chain([(after, again)]);
        let spans = self.points.iter().zip(next).map(|(&(begin, rate), (end, next))| match interpolation {
            Interpolation::Constant => (begin, end - begin, [rate, rate]),
            Interpolation::Linear => (begin, end - begin, [rate, next]),
        });
        joined(spans)
    }
}

/// Pieces one after the other, with what has come before each.
fn joined(spans: impl Iterator<Item = (u64, u64, [f64; 2])>) -> Arc<[Piece]> {
    let mut before = 0.0;
    let spans = spans.filter(|(_, lasts, _)| *lasts > 0);
    spans
        .map(|(begin, lasts, rates)| {
            let piece = Piece { begin, lasts, rates, before };
            before += piece.area();
            piece
        })
        .collect()
}

impl Curve {
    /// A curve of steps that does not repeat, by where each begins, in nanoseconds, and its rate over what is called its
    /// mean; steps of no length are left out. `None` where there is no other.
    #[must_use]
    pub fn steps(steps: &[(u64, f64)]) -> Option<Self> {
        let ends = steps[1..].iter().map(|step| step.0).chain([u64::MAX]);
        let spans = steps.iter().zip(ends).map(|(&(begin, rate), end)| (begin, end - begin, [rate, rate]));
        let pieces = joined(spans);
        (!pieces.is_empty()).then_some(Self { pieces, period: None, mean: 1.0 })
    }

    /// The mean rate, in the unit of the rates.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// After how long it begins again, in nanoseconds.
    #[must_use]
    pub fn period(&self) -> Option<u64> {
        self.period
    }

    /// The time over which its mean is taken, in nanoseconds: the period, or from 0 to the last point.
    #[must_use]
    pub fn extent(&self) -> u64 {
        self.period.unwrap_or_else(|| self.pieces.last().map_or(0, |piece| piece.begin))
    }

    /// Whether a time in nanoseconds is some whole periods of it.
    #[must_use]
    pub fn repeats_in(&self, span: u64) -> bool {
        self.period.is_some_and(|period| span > 0 && span.is_multiple_of(period))
    }

    /// The same with rates over its mean, so that a process runs at its mean rate in the mean.
    #[must_use]
    pub fn over_mean(mut self) -> Self {
        let scale = |rate: f64| rate / self.mean;
        let spans = self.pieces.iter().map(|piece| (piece.begin, piece.lasts, piece.rates.map(scale)));
        self.pieces = joined(spans);
        self.mean = 1.0;
        self
    }

    /// The same in parts of a nanosecond, of which one has this many.
    #[must_use]
    pub fn in_parts(&self, of_nanosecond: u32) -> Self {
        let parts = |time: u64| time.saturating_mul(u64::from(of_nanosecond));
        let spans = self.pieces.iter().map(|piece| {
            let (begin, end) = (parts(piece.begin), parts(piece.begin.saturating_add(piece.lasts)));
            (begin, end - begin, piece.rates)
        });
        Self { pieces: joined(spans), period: self.period.map(parts), mean: self.mean }
    }

    /// The highest rate.
    #[must_use]
    pub fn highest(&self) -> f64 {
        self.pieces.iter().flat_map(|piece| piece.rates).fold(0.0, f64::max)
    }

    /// The place of the last piece of which `is_reached` holds.
    fn place(&self, is_reached: impl Fn(&Piece) -> bool) -> usize {
        self.pieces.partition_point(is_reached).saturating_sub(1)
    }

    /// Of a quantity that grows by `of_period` in each period: the whole periods in it, and the rest.
    fn periods(quantity: f64, of_period: f64) -> (f64, f64) {
        let whole = (quantity / of_period).floor();
        (whole, (quantity - whole * of_period).clamp(0.0, of_period))
    }

    /// The integral from 0 to a time in nanoseconds.
    #[must_use]
    pub fn before(&self, time: f64) -> f64 {
        let (whole, rest) = self.period.map_or((0.0, time), |period| Self::periods(time, period as f64));
        let piece = &self.pieces[self.place(|piece| piece.begin as f64 <= rest)];
        let own = piece.before + piece.area_of(rest - piece.begin as f64);
        if whole > 0.0 { whole * self.of_period() + own } else { own }
    }

    /// The integral over a period.
    fn of_period(&self) -> f64 {
        self.pieces.last().map_or(0.0, |piece| piece.before + piece.area())
    }

    /// When the integral is `area`, in nanoseconds; infinite where it never is.
    #[must_use]
    pub fn time_of(&self, area: f64) -> f64 {
        let (whole, rest) = self.period.map_or((0.0, area), |_| Self::periods(area, self.of_period()));
        let piece = &self.pieces[self.place(|piece| piece.before <= rest)];
        let within = if rest > piece.before { piece.time_of(rest - piece.before) } else { 0.0 };
        whole * self.period.unwrap_or(0) as f64 + piece.begin as f64 + within
    }

    /// The rate at a time in nanoseconds.
    #[must_use]
    pub fn rate_at(&self, time: u64) -> f64 {
        let time = self.period.map_or(time, |period| time % period);
        let piece = &self.pieces[self.place(|piece| piece.begin <= time)];
        piece.rate_after((time - piece.begin) as f64)
    }

    /// The most that waits up to `until`, in nanoseconds, where what comes by the curve goes at the rate `goes`: a fluid queue
    /// that begins empty.
    #[must_use]
    pub fn waiting(&self, goes: f64, until: f64) -> f64 {
        // What is left of one period adds to the next; where nothing is, two show the most.
        let period = self.period.map(|period| period as f64);
        let begins = [Some(0.0), period].into_iter().flatten();
        let (mut waits, mut most) = (0.0_f64, 0.0_f64);
        for (begin, piece) in begins.flat_map(|begin| self.pieces.iter().map(move |piece| (begin, piece))) {
            let lasts = (piece.lasts as f64).min(until - begin - piece.begin as f64).max(0.0);
            for (from, to) in piece.split_at_rate(goes, lasts) {
                waits = (waits + piece.area_of(to) - piece.area_of(from) - goes * (to - from)).max(0.0);
                most = most.max(waits);
            }
        }
        let later = period.map_or(0.0, |period| (until - 2.0 * period).max(0.0));
        most + (self.mean - goes).max(0.0) * later
    }
}

#[cfg(test)]
mod tests;
