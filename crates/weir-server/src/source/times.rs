//! When open-loop requests arrive: a process of the workload, or trains, at a rate that may follow the time.
//!
//! **Levels, a burst and a curve** are a change of clock ([`weir_workload::curve`]): the process runs at the rate of the first
//! level, outside of the burst, or at the mean rate, and its clock goes faster or slower. So a gap that crosses the boundary
//! of a level is continued at the new rate, a burst of the process has as many requests at every level, and equal gaps stay
//! equal within one.
//!
//! **Parts of a nanosecond** are counted where gaps are short ([`FineTimes`]); arrivals are reported in whole nanoseconds, rounded
//! down.
//!
//! **Trains** have as many requests as the rate at their beginning brings in a period, rounded down with the rest carried
//! over. One that is not over when the next is due delays that one.

use super::refused;
use crate::model::{Burst, Levels, Open, Process};
use weir_lab::error::RunError;
use weir_lab::stream::{Purpose, Stream};
use weir_workload::Curve;
use weir_workload::arrivals::FineTimes;

/// The shortest mean gap, in nanoseconds: faster than any clock tells apart.
const SHORTEST: f64 = 1e-3;
/// The most levels.
const MOST_LEVELS: u32 = 1 << 16;
/// The most periods of trains in a run.
const MOST_PERIODS: u64 = 1 << 32;

/// The instants of open-loop arrivals.
#[derive(Debug)]
pub(super) struct OpenTimes(Kind);

#[derive(Debug)]
enum Kind {
    Process(FineTimes),
    Trains(Trains),
}

impl OpenTimes {
    /// # Errors
    /// The process or its levels are senseless, or beyond the clock.
    pub(super) fn new(
        open: &Open,
        until: u64,
        stream: &dyn Fn(Purpose, u32) -> Stream,
    ) -> Result<Self, RunError> {
        if let Some(levels) = &open.levels {
            check_levels(levels, open.mean_gap)?;
        }
        if let Some(burst) = &open.burst {
            check_burst(burst, open.mean_gap)?;
        }
        if let Some(curve) = &open.curve {
            check_curve(curve, open.mean_gap)?;
        }
        let curve = open.changes();
        if open.mean_gap.is_nan() || open.mean_gap < SHORTEST {
            let reason = format!(
                "the mean time between arrivals is {}ns, must be at least {SHORTEST}ns",
                open.mean_gap
            );
            return Err(refused("arrivals", reason));
        }
        match &open.process {
            Process::Arrivals(arrivals) => {
                let times = FineTimes::new(arrivals, open.mean_gap, curve, stream);
                Ok(Self(Kind::Process(times.map_err(|error| refused("arrivals", error.to_string()))?)))
            }
            &Process::Trains { every, spacing } => {
                if every.get() == 0 || until / every.get() > MOST_PERIODS {
                    let reason = format!("trains come every {every}, must be at most {MOST_PERIODS} of them");
                    return Err(refused("arrivals", reason));
                }
                let brings = every.get() as f64 / open.mean_gap;
                let (every, spacing) = (every.get(), spacing.get());
                let trains = Trains { every, spacing, brings, curve, ..Trains::nothing(until) };
                Ok(Self(Kind::Trains(trains)))
            }
        }
    }

    /// Fills `out` with the next instants, in nanoseconds; they never decrease.
    pub(super) fn fill(&mut self, out: &mut [u64]) {
        match &mut self.0 {
            Kind::Trains(trains) => out.iter_mut().for_each(|at| *at = trains.next()),
            Kind::Process(times) => times.fill(out),
        }
    }
}

fn check_levels(levels: &Levels, mean_gap: f64) -> Result<(), RunError> {
    if levels.every.get() == 0 || levels.count == 0 || levels.count > MOST_LEVELS {
        let reason =
            format!("they are {} of {}, must be 1 to {MOST_LEVELS} above 0ns", levels.count, levels.every);
        return Err(refused("levels", reason));
    }
    let last = mean_gap / libm::pow(levels.factor, f64::from(levels.count - 1));
    if levels.factor > 0.0 && last >= SHORTEST && last.is_finite() {
        return Ok(());
    }
    let reason = format!(
        "at the last one the mean time between arrivals is {last}ns, must be at least {SHORTEST}ns: fewer levels, or a factor nearer to 1"
    );
    Err(refused("levels", reason))
}

fn check_burst(burst: &Burst, mean_gap: f64) -> Result<(), RunError> {
    let gap = mean_gap / burst.factor;
    if burst.factor > 0.0 && gap >= SHORTEST && gap.is_finite() {
        return Ok(());
    }
    let reason = format!(
        "in it the mean time between arrivals is {gap}ns, must be at least {SHORTEST}ns: a lower factor"
    );
    Err(refused("burst", reason))
}

fn check_curve(curve: &Curve, mean_gap: f64) -> Result<(), RunError> {
    let gap = mean_gap / curve.highest();
    if gap >= SHORTEST {
        return Ok(());
    }
    let reason = format!(
        "where it is highest the mean time between arrivals is {gap}ns, must be at least {SHORTEST}ns: a lower rate"
    );
    Err(refused("curve", reason))
}

/// All requests of a period at its beginning.
#[derive(Debug)]
struct Trains {
    every: u64,
    spacing: u64,
    /// Requests of a period, at the first level.
    brings: f64,
    curve: Option<Curve>,
    /// No train begins from here on.
    until: u64,
    /// When the next period begins.
    begin: u64,
    /// Parts of a request that are carried over.
    carried: f64,
    /// Requests of this train that are still to come, and when the next one does.
    left: u64,
    next_at: u64,
}

impl Trains {
    fn nothing(until: u64) -> Self {
        Self {
            every: 0,
            spacing: 0,
            brings: 0.0,
            curve: None,
            until,
            begin: 0,
            carried: 0.0,
            left: 0,
            next_at: 0,
        }
    }

    fn next(&mut self) -> u64 {
        while self.left == 0 {
            if self.begin >= self.until {
                return u64::MAX;
            }
            self.carried += self.brings * self.rate();
            self.left = self.carried as u64;
            self.carried -= self.left as f64;
            self.next_at = self.next_at.max(self.begin);
            self.begin = self.begin.saturating_add(self.every);
        }
        self.left -= 1;
        let at = self.next_at;
        self.next_at = at.saturating_add(self.spacing);
        at
    }

    /// The rate where the period begins, over that of the first level or over the mean.
    fn rate(&self) -> f64 {
        self.curve.as_ref().map_or(1.0, |curve| curve.rate_at(self.begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::units::Nanos;
    use weir_lab::stream::StreamKey;
    use weir_workload::Arrivals;
    use weir_workload::curve::{Interpolation, Points};

    const FOREVER: u64 = u64::MAX >> 1;

    fn times(process: Process, mean_gap: f64, levels: Option<Levels>) -> OpenTimes {
        changing(process, mean_gap, levels, None)
    }

    fn changing(process: Process, mean_gap: f64, levels: Option<Levels>, burst: Option<Burst>) -> OpenTimes {
        let open = Open { process, mean_gap, levels, burst, curve: None, flows: 1 };
        let stream = |purpose, index| Stream::new(StreamKey { seed: 5, replication: 1, purpose, index });
        OpenTimes::new(&open, 1_000_000_000, &stream).expect("valid")
    }

    fn draw(times: &mut OpenTimes, n: usize) -> Vec<u64> {
        let mut out = vec![0; n];
        times.fill(&mut out);
        out
    }

    fn doubling(every: u64, count: u32) -> Option<Levels> {
        Some(Levels { every: Nanos::new(every), count, factor: 2.0 })
    }

    #[test]
    fn equal_gaps_halve_at_each_level() {
        let process = Process::Arrivals(Arrivals::Deterministic);
        let got = draw(&mut times(process, 100.0, doubling(200, 3)), 14);
        assert_eq!(got, [0, 100, 200, 250, 300, 350, 400, 425, 450, 475, 500, 525, 550, 575]);
    }

    #[test]
    fn a_burst_is_at_another_rate_and_over_when_it_is_over() {
        let of = |factor: f64, at: u64| {
            let burst = Burst { at: Nanos::new(at), lasts: Nanos::new(200), factor };
            let process = Process::Arrivals(Arrivals::Deterministic);
            draw(&mut changing(process, 100.0, None, Some(burst)), 9)
        };
        assert_eq!(of(4.0, 200), [0, 100, 200, 225, 250, 275, 300, 325, 350]);
        assert_eq!(of(0.5, 100), [0, 100, 300, 400, 500, 600, 700, 800, 900]);
        assert_eq!(of(2.0, 0), [0, 50, 100, 150, 200, 300, 400, 500, 600]);
    }

    #[test]
    fn a_gap_that_crosses_a_boundary_is_continued_at_the_new_rate() {
        let process = Process::Arrivals(Arrivals::Deterministic);
        // At 200 half of the third gap is over; the other half takes a quarter of it.
        assert_eq!(draw(&mut times(process, 80.0, doubling(200, 2)), 5), [0, 80, 160, 220, 260]);
    }

    #[test]
    fn equal_gaps_follow_a_curve_and_trains_its_rate_where_they_begin() {
        let mut points = Points::default();
        for (time, rate) in [(0, 1.0), (200, 3.0), (400, 0.0)] {
            points.add(time, rate).expect("a point");
        }
        let curve = points.curve(Interpolation::Constant, Some(800)).expect("a curve").over_mean();
        let draw = |process, n| {
            let open = Open {
                process,
                mean_gap: 50.0,
                levels: None,
                burst: None,
                curve: Some(curve.clone()),
                flows: 1,
            };
            let stream = |purpose, index| Stream::new(StreamKey { seed: 5, replication: 1, purpose, index });
            draw(&mut OpenTimes::new(&open, 1_000_000, &stream).expect("valid"), n)
        };
        // Sixteen in a period: four in the first quarter, twelve in the second.
        let equal = draw(Process::Arrivals(Arrivals::Deterministic), 20);
        assert_eq!(equal[..6], [0, 50, 100, 150, 200, 216]);
        assert_eq!(equal[15..], [383, 800, 850, 900, 950]);
        let trains = Process::Trains { every: Nanos::new(200), spacing: Nanos::new(1) };
        let trains = draw(trains, 18);
        assert_eq!(trains[..5], [0, 1, 2, 3, 200]);
        assert_eq!(trains[14..], [210, 211, 800, 801]);
    }

    #[test]
    fn short_gaps_keep_their_mean() {
        for mean in [0.37, 3.1, 24.0, 700.0] {
            let got = draw(&mut times(Process::Arrivals(Arrivals::Poisson), mean, None), 200_000);
            let measured = *got.last().expect("drawn") as f64 / 199_999.0;
            assert!((measured / mean - 1.0).abs() < 0.01, "{measured} {mean}");
        }
    }

    #[test]
    fn every_level_of_a_random_process_has_its_rate() {
        let got =
            draw(&mut times(Process::Arrivals(Arrivals::Poisson), 100.0, doubling(2_000_000, 3)), 150_000);
        let within =
            |from: u64, until: u64| got.iter().filter(|at| (from..until).contains(*at)).count() as f64;
        for (level, expected) in [(0, 2e4), (1, 4e4), (2, 8e4)] {
            let counted = within(level * 2_000_000, (level + 1) * 2_000_000);
            assert!((counted / expected - 1.0).abs() < 0.03, "{level}: {counted}");
        }
        assert!(got.is_sorted());
    }

    #[test]
    fn trains_carry_the_rest_over_and_follow_the_levels() {
        let process = Process::Trains { every: Nanos::new(1000), spacing: Nanos::new(10) };
        // Two and a half requests in a period, then five.
        let got = draw(&mut times(process, 400.0, doubling(2000, 2)), 11);
        assert_eq!(got, [0, 10, 1000, 1010, 1020, 2000, 2010, 2020, 2030, 2040, 3000]);
    }

    #[test]
    fn a_train_waits_for_the_one_before_and_none_begins_after_the_end() {
        let process = Process::Trains { every: Nanos::new(100), spacing: Nanos::new(40) };
        let open = Open { process, mean_gap: 25.0, levels: None, burst: None, curve: None, flows: 1 };
        let stream = |purpose, index| Stream::new(StreamKey { seed: 5, replication: 1, purpose, index });
        let mut times = OpenTimes::new(&open, 150, &stream).expect("valid");
        assert_eq!(draw(&mut times, 9), [0, 40, 80, 120, 160, 200, 240, 280, u64::MAX]);
    }

    #[test]
    fn what_is_senseless_is_refused() {
        let stream = |purpose, index| Stream::new(StreamKey { seed: 5, replication: 1, purpose, index });
        let refused = |process, mean_gap, levels| {
            let open = Open { process, mean_gap, levels, burst: None, curve: None, flows: 1 };
            OpenTimes::new(&open, FOREVER, &stream).is_err()
        };
        let poisson = || Process::Arrivals(Arrivals::Poisson);
        assert!(
            refused(poisson(), f64::NAN, None)
                && refused(poisson(), 0.0, None)
                && refused(poisson(), 1e300, None)
        );
        assert!(
            refused(poisson(), 1.0, doubling(1, 4_000_000_000)) && refused(poisson(), 1.0, doubling(0, 1))
        );
        let mut points = Points::default();
        for (time, rate) in [(0, 1.0), (1, 1e9)] {
            points.add(time, rate).expect("a point");
        }
        let steep = points.curve(Interpolation::Constant, Some(1 << 50)).expect("a curve").over_mean();
        let steep = |mean_gap| {
            let open = Open {
                process: poisson(),
                mean_gap,
                levels: None,
                burst: None,
                curve: Some(steep.clone()),
                flows: 1,
            };
            OpenTimes::new(&open, FOREVER, &stream).is_err()
        };
        assert!(steep(1e-3) && !steep(1.0));
        assert!(refused(Process::Trains { every: Nanos::new(0), spacing: Nanos::new(0) }, 1.0, None));
        assert!(refused(Process::Trains { every: Nanos::new(1), spacing: Nanos::new(0) }, 1.0, None));
    }
}
