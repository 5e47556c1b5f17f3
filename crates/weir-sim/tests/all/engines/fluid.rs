//! Processor sharing in the limit: by hand, against exact fractions, and against ever smaller quanta.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::script::{Given, Log, fluid, whole};

fn ends(log: &Log) -> Vec<(u64, u64)> {
    log.departures.iter().map(|departure| (departure.index, departure.last.get())).collect()
}

#[test]
fn two_share_the_server() {
    // At 5 the first has 5 left: both at half speed until 15, when the second has 5 left.
    assert_eq!(ends(&fluid(&[(0, 10, 0), (5, 10, 0)])), [(0, 15), (1, 20)]);
    // 30 and 10 from the same instant: the short one takes 20, then 20 remain.
    assert_eq!(ends(&fluid(&[(0, 30, 0), (0, 10, 0)])), [(1, 20), (0, 40)]);
}

#[test]
fn a_departure_comes_before_an_arrival_at_the_same_instant() {
    let log = fluid(&[(0, 10, 0), (10, 10, 0), (20, 1, 0)]);
    assert_eq!(ends(&log), [(0, 10), (1, 20), (2, 21)]);
}

#[test]
fn equal_messages_depart_in_the_order_of_their_arrival() {
    assert_eq!(ends(&fluid(&[(0, 4, 0), (0, 4, 0), (0, 4, 0)])), [(0, 12), (1, 12), (2, 12)]);
}

#[test]
fn departures_are_rounded_up_and_the_rounding_does_not_add_up() {
    // 41, 40, … 1 arrive one nanosecond apart: fractions throughout, and in the end the server was busy for
    // their sum.
    let messages: Vec<Given> = (0..41).map(|at| (at, 41 - at as u32, 0)).collect();
    let last = fluid(&messages).departures.last().map(|departure| departure.last.get());
    assert_eq!(last, Some((1..=41).sum()));
}

/// A fraction in lowest terms, its denominator positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fraction(i128, i128);

impl Fraction {
    fn new(numerator: i128, denominator: i128) -> Self {
        let (mut a, mut b) = (numerator.abs(), denominator);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Self(numerator / a.max(1), denominator / a.max(1))
    }

    fn whole(number: u64) -> Self {
        Self(i128::from(number), 1)
    }

    fn plus(self, other: Self) -> Self {
        Self::new(self.0 * other.1 + other.0 * self.1, self.1 * other.1)
    }

    fn minus(self, other: Self) -> Self {
        self.plus(Self(-other.0, other.1))
    }

    fn times(self, factor: usize) -> Self {
        Self::new(self.0 * factor as i128, self.1)
    }

    fn over(self, divisor: usize) -> Self {
        Self::new(self.0, self.1 * divisor as i128)
    }

    fn compare(self, other: Self) -> Ordering {
        (self.0 * other.1).cmp(&(other.0 * self.1))
    }

    fn rounded_up(self) -> u64 {
        u64::try_from((self.0 + self.1 - 1).div_euclid(self.1)).expect("not negative")
    }
}

/// By number of message, the exact instant of its departure.
fn exactly(messages: &[Given]) -> Vec<Fraction> {
    let mut departures = vec![Fraction::whole(0); messages.len()];
    let mut present: Vec<(usize, Fraction)> = Vec::new();
    let (mut now, mut next) = (Fraction::whole(0), 0);
    while next < messages.len() || !present.is_empty() {
        let shortest = present.iter().map(|(_, left)| *left).min_by(|a, b| a.compare(*b));
        let departure = shortest.map(|left| now.plus(left.times(present.len())));
        let arrival = messages.get(next).map(|message| Fraction::whole(message.0));
        let until = match (departure, arrival) {
            (Some(departure), Some(arrival)) if arrival.compare(departure) == Ordering::Less => arrival,
            (Some(departure), _) => departure,
            (None, arrival) => arrival.expect("somebody arrives, or somebody is there"),
        };
        let share = until.minus(now).over(present.len().max(1));
        present.iter_mut().for_each(|(_, left)| *left = left.minus(share));
        now = until;
        for (index, _) in present.extract_if(.., |(_, left)| left.0 == 0) {
            departures[index] = now;
        }
        if departure != Some(until) {
            present.push((next, Fraction::whole(u64::from(messages[next].1))));
            next += 1;
        }
    }
    departures
}

fn messages(most: usize, gap: u64, length: u32) -> impl Strategy<Value = Vec<Given>> {
    prop::collection::vec((0..gap, 1..length), 1..most).prop_map(|gaps| {
        let mut now = 0;
        let absolute = |(gap, length)| {
            now += gap;
            (now, length, 0)
        };
        gaps.into_iter().map(absolute).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn departures_are_the_exact_ones_rounded_up(messages in messages(9, 30, 50)) {
        let exact = exactly(&messages);
        for departure in &fluid(&messages).departures {
            prop_assert_eq!(departure.last.get(), exact[departure.index as usize].rounded_up());
        }
    }

    #[test]
    fn quanta_converge_to_it(messages in messages(40, 4_000, 8_000)) {
        let limit = fluid(&messages);
        for quantum in [100_u64, 10, 1] {
            let turns = whole(&format!("ps:quantum={quantum}"), &messages);
            for index in 0..messages.len() as u64 {
                let apart = turns.of(index).last.get().abs_diff(limit.of(index).last.get());
                // Whoever is there has been served alike to within a quantum each, and later by what that moved.
                let bound = 4 * quantum * messages.len() as u64;
                prop_assert!(apart <= bound, "quantum {quantum}: message {index} departs {apart} apart");
            }
        }
    }
}
