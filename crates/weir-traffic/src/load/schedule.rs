//! When each request is due, of which class it is, and over which flow it goes.
//!
//! The same plan gives the same schedule. Times and choices have sequences of random numbers of their own, so that
//! two plans that differ in their classes alone have requests at the same times.
//!
//! | | |
//! |-|-|
//! | Source | this project |
//! | Work per request | O(classes) |
//! | Units | nanoseconds since the start |
//! | Memory | a number for each flow |
//! | Departs from the source | times are whole nanoseconds; a Poisson process begins anew with each window, which makes no difference to it |

use weir_core::random::Random;
use weir_core::units::Nanos;

use super::plan::{Arrivals, Plan};

const SECOND: f64 = 1e9;
/// From one request of a burst to the next, in nanoseconds.
const BURST_GAP: u64 = 50;

/// A request that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When it is due, since the start.
    pub due: Nanos,
    /// Which request it is, of all.
    pub serial: u64,
    /// The window.
    pub window: u32,
    /// Its number in the flow.
    pub number: u32,
    /// The flow.
    pub flow: u16,
    /// The class.
    pub class: u8,
}

/// The requests of a plan, in the order in which they are due.
#[derive(Clone, Debug)]
pub struct Schedule<'p> {
    plan: &'p Plan,
    moments: Moments<'p>,
    choices: Random,
    serial: u64,
    numbers: Vec<u32>,
}

impl<'p> Schedule<'p> {
    /// The schedule of a plan that was checked.
    #[must_use]
    pub fn new(plan: &'p Plan) -> Self {
        let mut seeds = Random::new(plan.seed);
        let (times, choices) = (Random::new(seeds.bits()), Random::new(seeds.bits()));
        let numbers = vec![0; usize::from(plan.flows)];
        Self { plan, moments: Moments::new(plan, times), choices, serial: 0, numbers }
    }

    fn class(&mut self) -> u8 {
        let mut rest = unit(&mut self.choices);
        let classes = &self.plan.classes;
        let chosen = classes.iter().position(|class| {
            rest -= class.share;
            rest < 0.0
        });
        // Shares may add up to a little less than 1.
        let last = || classes.iter().rposition(|class| class.share > 0.0).unwrap_or(0);
        chosen.unwrap_or_else(last) as u8
    }
}

impl Iterator for Schedule<'_> {
    type Item = Departure;

    #[inline]
    fn next(&mut self) -> Option<Departure> {
        let Moment { window, due } = self.moments.next()?;
        let class = self.class();
        let flow = self.choices.pick(u32::from(self.plan.flows)) as u16;
        let next = &mut self.numbers[usize::from(flow)];
        let number = *next;
        *next = number.wrapping_add(1);
        let serial = self.serial;
        self.serial += 1;
        Some(Departure { due, serial, window, number, flow, class })
    }
}

/// When a request is due, and the window that it belongs to.
struct Moment {
    window: u32,
    due: Nanos,
}

/// The windows and times of requests.
#[derive(Clone, Debug)]
struct Moments<'p> {
    plan: &'p Plan,
    random: Random,
    window: u32,
    /// What is to come of the window: of a Poisson process the time since its begin, in nanoseconds; of equal gaps how
    /// many there were.
    next: f64,
    burst: Burst,
}

/// Where a schedule of bursts is.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    /// The begin of the period, in nanoseconds.
    begin: u64,
    /// How many requests of it have been and are to come.
    done: u64,
    left: u64,
    /// The part of a request that former periods have left over.
    owed: f64,
    /// Whether the period has begun.
    has_begun: bool,
}

impl<'p> Moments<'p> {
    fn new(plan: &'p Plan, mut random: Random) -> Self {
        let next = if plan.arrivals == Arrivals::Poisson { gap(plan, 0, &mut random) } else { 0.0 };
        Self { plan, random, window: 0, next, burst: Burst::default() }
    }

    fn next(&mut self) -> Option<Moment> {
        match self.plan.arrivals {
            Arrivals::Bursts(period) => self.of_burst(period.get()),
            Arrivals::Poisson | Arrivals::Constant => self.of_window(),
        }
    }

    /// The next request of the first window that has another.
    fn of_window(&mut self) -> Option<Moment> {
        while self.window < self.plan.windows {
            let (window, span) = (self.window, self.plan.window.get());
            let within = self.within(window);
            if within < span as f64 {
                self.advance();
                let due = Nanos::new(u64::from(window) * span + within as u64);
                return Some(Moment { window, due });
            }
            self.window += 1;
            self.next = 0.0;
            if self.window < self.plan.windows && self.plan.arrivals == Arrivals::Poisson {
                self.advance();
            }
        }
        None
    }

    /// How far in the window the next request is.
    fn within(&self, window: u32) -> f64 {
        match self.plan.arrivals {
            Arrivals::Constant => self.next * SECOND / self.plan.rate_of(window),
            _ => self.next,
        }
    }

    fn advance(&mut self) {
        self.next += match self.plan.arrivals {
            Arrivals::Constant => 1.0,
            _ => gap(self.plan, self.window, &mut self.random),
        };
    }

    /// The next request of the first burst that has another. A burst belongs to the window in which it begins.
    fn of_burst(&mut self, period: u64) -> Option<Moment> {
        while self.burst.left == 0 {
            let begin = if self.burst.has_begun { self.burst.begin + period } else { 0 };
            let window = begin / self.plan.window.get();
            self.window = u32::try_from(window).ok().filter(|window| *window < self.plan.windows)?;
            // A product that falls short of a whole number by rounding alone is that number.
            let owed = self.burst.owed + self.plan.rate_of(self.window) * period as f64 / SECOND + 1e-9;
            let left = owed.floor();
            self.burst = Burst { begin, done: 0, left: left as u64, owed: owed - left, has_begun: true };
        }
        let due = self.burst.begin + self.burst.done * BURST_GAP;
        self.burst.left -= 1;
        self.burst.done += 1;
        Some(Moment { window: self.window, due: Nanos::new(due) })
    }
}

/// A gap of a Poisson process, in nanoseconds.
fn gap(plan: &Plan, window: u32, random: &mut Random) -> f64 {
    -(1.0 - unit(random)).ln() * SECOND / plan.rate_of(window)
}

/// A number from 0 on, below 1.
fn unit(random: &mut Random) -> f64 {
    (random.bits() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::tests::{MILLISECOND, mix, plan};

    fn departures(plan: &Plan) -> Vec<Departure> {
        Schedule::new(plan).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_schedule_whatever_the_classes() {
        let (one, mixed) = (Plan { flows: 5, ..plan() }, Plan { flows: 5, classes: mix(), ..plan() });
        assert_eq!(departures(&one), departures(&one));
        let times = |plan: &Plan| departures(plan).iter().map(|each| each.due).collect::<Vec<_>>();
        assert_eq!(times(&one), times(&mixed));
        assert_ne!(times(&one), times(&Plan { seed: 2, ..one.clone() }));
    }

    #[test]
    fn constant_gaps_double_their_rate_in_each_window() {
        let window = Nanos::new(2 * MILLISECOND);
        let plan = Plan { arrivals: Arrivals::Constant, windows: 2, growth: 2.0, window, ..plan() };
        let due: Vec<_> = departures(&plan).iter().map(|each| (each.window, each.due.get() / 1000)).collect();
        assert_eq!(due, [(0, 0), (0, 1000), (1, 2000), (1, 2500), (1, 3000), (1, 3500)]);
    }

    #[test]
    fn bursts_carry_over_what_is_less_than_a_request() {
        let (window, period) = (Nanos::new(10 * MILLISECOND), Nanos::new(2_300_000));
        let plan = Plan { arrivals: Arrivals::Bursts(period), windows: 2, growth: 2.0, window, ..plan() };
        let due: Vec<_> = departures(&plan).iter().map(|each| (each.window, each.due.get())).collect();
        // 2.3 requests a period and then 4.6, of which the fractions add up.
        let sizes = |window, begin: u64| {
            due.iter().filter(|(of, due)| *of == window && due / 100_000 * 100_000 == begin).count()
        };
        let begins = |window| {
            (0..9).map(move |n| n * 2_300_000).map(move |begin| sizes(window, begin)).collect::<Vec<_>>()
        };
        assert_eq!(begins(0), [2, 2, 2, 3, 2, 0, 0, 0, 0]);
        assert_eq!(begins(1), [0, 0, 0, 0, 0, 5, 4, 5, 4]);
        assert_eq!(due[..3], [(0, 0), (0, 50), (0, 2_300_000)]);
        assert!(due.is_sorted());
    }

    #[test]
    fn a_poisson_process_has_the_rate_of_each_window_and_exponential_gaps() {
        let window = Nanos::new(20_000 * MILLISECOND);
        let plan = Plan { windows: 2, growth: 2.0, window, ..plan() };
        let all = departures(&plan);
        assert!(all.is_sorted_by_key(|each| each.due));
        for (index, expected) in [(0, 20_000.0_f64), (1, 40_000.0)] {
            let of_window: Vec<_> = all.iter().filter(|each| each.window == index).collect();
            let count = of_window.len() as f64;
            assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{count}");
            let gaps = of_window.windows(2).map(|pair| (pair[1].due - pair[0].due).get() as f64);
            let (mean, square) =
                gaps.fold((0.0, 0.0), |(sum, squares), gap| (sum + gap, squares + gap * gap));
            let (mean, square) = (mean / count, square / count);
            assert!((square / (mean * mean) - 2.0).abs() < 0.1, "{}", square / (mean * mean));
        }
    }

    #[test]
    fn classes_have_their_shares_and_flows_their_numbers() {
        let window = Nanos::new(20_000 * MILLISECOND);
        let plan = Plan { classes: mix(), flows: 4, window, ..plan() };
        let all = departures(&plan);
        let long = all.iter().filter(|each| each.class == 1).count() as f64;
        assert!((long / all.len() as f64 - 0.1).abs() < 0.01, "{long}");
        for flow in 0..4 {
            let numbers: Vec<u32> =
                all.iter().filter(|each| each.flow == flow).map(|each| each.number).collect();
            assert!(numbers.iter().copied().eq(0..numbers.len() as u32));
            assert!((numbers.len() as f64 / all.len() as f64 - 0.25).abs() < 0.02);
        }
        assert!(all.iter().enumerate().all(|(at, each)| each.serial == at as u64));
    }
}
