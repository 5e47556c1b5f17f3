//! Timing: many short rounds, by the time the thread had a processor, and medians of them.
//!
//! What else runs on the machine takes the processor away, which the clock of the thread does not count
//! (where there is none, the clock on the wall does); but it also empties the caches, therefore rounds are
//! short and the median of the rounds of a repetition leaves the disturbed ones out. The figure is the
//! median of the repetitions, its range their least and largest: what is left of clock rates and neighbours.

use std::time::{Duration, Instant};

/// How long a benchmark is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetitions {
    count: u32,
    each: Duration,
}

impl Repetitions {
    /// What `weir bench` takes: seven repetitions, under half a second in all.
    pub const USUAL: Self = Self { count: 7, each: Duration::from_millis(50) };
    /// A single round, to see that a benchmark runs.
    pub const ONE_ROUND: Self = Self { count: 1, each: Duration::ZERO };
}

/// The least, the median and the largest time of a unit of work over the repetitions, in nanoseconds.
pub(super) fn nanoseconds_per_unit(round: &mut dyn FnMut() -> u64, repetitions: Repetitions) -> [f64; 3] {
    if repetitions != Repetitions::ONE_ROUND {
        repetition(round, repetitions.each);
    }
    let mut times: Vec<f64> = (0..repetitions.count).map(|_| repetition(round, repetitions.each)).collect();
    let middle = median(&mut times);
    [times[0], middle, times[times.len() - 1]]
}

/// The median over the rounds of a repetition, of which there is at least one.
fn repetition(round: &mut dyn FnMut() -> u64, duration: Duration) -> f64 {
    let clock = Clock::start();
    let mut times = Vec::new();
    while times.is_empty() || clock.elapsed() < duration {
        let clock = Clock::start();
        let units = round();
        times.push(clock.elapsed().as_nanos() as f64 / units.max(1) as f64);
    }
    median(&mut times)
}

/// The median; leaves the values sorted.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The time the thread has had a processor, or that on the wall where the system does not tell.
struct Clock {
    wall: Instant,
    thread: Option<Duration>,
}

impl Clock {
    fn start() -> Self {
        Self { wall: Instant::now(), thread: thread_time() }
    }

    fn elapsed(&self) -> Duration {
        match (self.thread, thread_time()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.wall.elapsed(),
        }
    }
}

#[cfg(target_os = "linux")]
fn thread_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
}

#[cfg(not(target_os = "linux"))]
fn thread_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_that_of_the_rounds() {
        assert_eq!(median(&mut [9.0, 1.0, 5.0]), 5.0);
        let mut rounds = 0;
        let mut round = || {
            rounds += 1;
            1
        };
        let times = nanoseconds_per_unit(&mut round, Repetitions { count: 5, each: Duration::ZERO });
        assert!(times.is_sorted() && rounds == 6, "{times:?}");
    }

    #[test]
    fn waiting_for_a_processor_is_not_counted() {
        let clock = Clock::start();
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(clock.elapsed() < Duration::from_millis(15), cfg!(target_os = "linux"));
    }
}
