//! Processes on curves: by hand, against the integral of the rate, and against the same without a curve.

use crate::arrivals::{Arrivals, Paced, Renewal, arrival_source};
use crate::curve::{Curve, Interpolation, Points};
use crate::source::{ArrivalBlock, ArrivalSource};
use crate::{MessageClasses, Sizes};

fn curve(points: &[(u64, f64)], interpolation: Interpolation, period: Option<u64>) -> Curve {
    let mut all = Points::default();
    points.iter().for_each(|&(time, rate)| all.add(time, rate).expect("a point"));
    all.curve(interpolation, period).expect("a curve").over_mean()
}

fn source(paced: Paced, seed: u64) -> Box<dyn ArrivalSource + Send> {
    let sizes = Sizes::alpha_report();
    let classes = MessageClasses::by_length(&sizes, 100).expect("six lengths");
    arrival_source(paced, &sizes, 1, &classes, (seed, 0)).expect("valid")
}

/// The instants of the first `n` messages.
fn instants(paced: Paced, seed: u64, n: usize) -> Vec<u64> {
    let mut block = ArrivalBlock::default();
    source(paced, seed).fill(&mut block, n);
    block.at
}

/// Four of sixteen in the first quarter, twelve in the second, none in the rest.
fn steps() -> Curve {
    curve(&[(0, 1.0), (200, 3.0), (400, 0.0)], Interpolation::Constant, Some(800))
}

#[test]
fn equal_gaps_follow_a_curve_in_nanoseconds_and_in_parts_of_them() {
    let of = |mean_gap, curve| {
        let paced = Paced { arrivals: Arrivals::Deterministic, mean_gap, curve: Some(curve) };
        instants(paced, 1, 18)
    };
    let nanoseconds = of(50.0, steps());
    assert_eq!(nanoseconds[..6], [0, 50, 100, 150, 200, 216]);
    assert_eq!(nanoseconds[15..], [383, 800, 850]);
    let picoseconds = of(50_000.0, steps().in_parts(1000));
    assert_eq!(picoseconds[..6], [0, 50_000, 100_000, 150_000, 200_000, 216_666]);
    assert_eq!(picoseconds[15..], [383_333, 800_000, 850_000]);
    // A line from 0 to twice the mean: the k-th of ten comes where k/10 of the area is, at the root of it.
    let line = curve(&[(0, 0.0), (1_000_000, 2.0)], Interpolation::Linear, None);
    let paced = Paced { arrivals: Arrivals::Deterministic, mean_gap: 1e8, curve: Some(line.in_parts(1000)) };
    for (k, at) in instants(paced, 1, 10).into_iter().enumerate() {
        assert!((at as f64 - 1e9 * (k as f64 / 10.0).sqrt()).abs() < 2.0, "{k}: {at}");
    }
}

#[test]
fn parts_of_a_nanosecond_are_the_same_curve() {
    for interpolation in [Interpolation::Constant, Interpolation::Linear] {
        for period in [None, Some(900)] {
            let whole = curve(&[(0, 1.0), (200, 3.0), (700, 0.5)], interpolation, period);
            let parts = whole.in_parts(1000);
            assert_eq!((parts.period(), parts.extent()), (period.map(|at| at * 1000), whole.extent() * 1000));
            assert_eq!((parts.mean(), parts.highest()), (whole.mean(), whole.highest()));
            for time in [0.0, 130.0, 450.0, 880.0, 2_345.0] {
                let [own, expected] = [parts.before(1000.0 * time), 1000.0 * whole.before(time)];
                assert!((own - expected).abs() <= 1e-9 * expected, "{time}: {own} {expected}");
            }
            assert_eq!(parts.rate_at(450_000).to_bits(), whole.rate_at(450).to_bits());
            assert_eq!(whole.in_parts(1), whole);
        }
    }
}

#[test]
fn arrivals_end_where_the_rate_stays_0() {
    let ends = curve(&[(0, 1.0), (500, 0.0)], Interpolation::Constant, None);
    let paced = Paced { arrivals: Arrivals::Deterministic, mean_gap: 100.0, curve: Some(ends) };
    let (mut source, mut block) = (source(paced, 1), ArrivalBlock::default());
    assert_eq!((source.fill(&mut block, 3), source.fill(&mut block, 4)), (3, 2));
    assert_eq!((block.at.as_slice(), block.len()), (&[300, 400][..], block.length.len()));
    assert_eq!((source.fill(&mut block, 4), block.is_empty()), (0, true));
}

#[test]
fn block_size_does_not_change_the_numbers_of_a_curve() {
    let paced = || Paced { arrivals: Arrivals::Poisson, mean_gap: 7.0, curve: Some(steps()) };
    let whole = instants(paced(), 3, 300);
    let (mut pieces, mut block) = (source(paced(), 3), ArrivalBlock::default());
    let mut at: Vec<u64> = Vec::new();
    for _ in 0..6 {
        pieces.fill(&mut block, 50);
        at.extend(&block.at);
    }
    assert_eq!(at, whole);
}

/// A non-homogeneous Poisson process: the number in each window is Poisson, of the integral over it, and independent of the
/// others. The message at time 0 comes on top.
#[test]
fn numbers_of_messages_are_those_of_a_poisson_law_of_the_integral() {
    const WINDOWS: usize = 16;
    let (replications, mean_gap) = (400, 25_000.0);
    for interpolation in [Interpolation::Constant, Interpolation::Linear] {
        let day =
            curve(&[(0, 1.0), (300_000, 6.0), (400_000, 0.0)], interpolation, Some(800_000)).in_parts(10);
        let window = 1_000_000;
        let of_window = |place: usize| {
            let ends = [place, place + 1].map(|place| day.before((place * window) as f64));
            (ends[1] - ends[0]) / mean_gap
        };
        let (mut sums, mut squares, mut cells) = ([0.0; WINDOWS], 0.0, 0.0);
        for seed in 0..replications {
            let paced = Paced { arrivals: Arrivals::Poisson, mean_gap, curve: Some(day.clone()) };
            let mut counts = [0.0; WINDOWS];
            for at in &instants(paced, seed, 2_000)[1..] {
                if let Some(count) = counts.get_mut(*at as usize / window) {
                    *count += 1.0;
                }
            }
            for (place, count) in counts.into_iter().enumerate() {
                let mean = of_window(place);
                sums[place] += count;
                assert!(mean > 0.0 || count == 0.0, "{place}: {count}");
                if mean > 0.0 {
                    squares += (count - mean) * (count - mean) / mean;
                    cells += 1.0;
                }
            }
        }
        // Means: a sum of squares of as many normal variables as there are windows with messages.
        let all = replications as f64;
        let places = (0..WINDOWS).filter(|&place| of_window(place) > 0.0);
        let mean = |place: usize| all * of_window(place);
        let apart: f64 = places.clone().map(|place| (sums[place] - mean(place)).powi(2) / mean(place)).sum();
        let free = places.count() as f64;
        let within = |value: f64, free: f64| (value - free).abs() < 2.576 * (2.0 * free).sqrt();
        assert!(within(apart, free), "{interpolation:?}: {apart} of {free}");
        // Variances: as large as the means.
        assert!(within(squares, cells), "{interpolation:?}: {squares} of {cells}");
    }
}

/// A curve that stays at one rate is the process without one, in mean and variance of its gaps.
#[test]
fn a_curve_of_one_rate_is_none() {
    let level = || Some(curve(&[(0, 3.0), (1_000, 3.0)], Interpolation::Linear, Some(7_000)));
    for (arrivals, cv) in [
        (Arrivals::Poisson, 1.0),
        (Arrivals::Deterministic, 0.0),
        (Arrivals::Renewal(Renewal::Gamma(0.5)), 0.5),
    ] {
        let mean_gap = 4_700.0;
        let of = |curve| Paced { arrivals: arrivals.clone(), mean_gap, curve };
        let n = 200_000;
        for curve in [None, level()] {
            let at = instants(of(curve), 11, n);
            let gaps = at.windows(2).map(|two| (two[1] - two[0]) as f64 / mean_gap);
            let mean = *at.last().expect("drawn") as f64 / mean_gap / (n - 1) as f64;
            let variance = gaps.map(|gap| (gap - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
            // Within 99 % of its error, and a gap is rounded to whole ticks.
            assert!((mean - 1.0).abs() < 2.576 * cv / (n as f64).sqrt() + 1e-3, "{arrivals:?}: {mean}");
            assert!((variance.sqrt() - cv).abs() < 0.02, "{arrivals:?}: {variance}");
        }
    }
}

/// Gaps of a few ticks keep their mean where the rate is far below it, which whole ticks of the mean rate would not.
#[test]
fn short_gaps_keep_their_mean_where_the_rate_is_low() {
    let day = curve(&[(0, 100.0), (10_000, 1.0)], Interpolation::Constant, Some(1_010_000));
    // Half of the messages come in each part, a hundred gaps of 2 ticks apart in the second.
    let paced = Paced { arrivals: Arrivals::Poisson, mean_gap: 2.0, curve: Some(day.clone()) };
    let at = instants(paced, 5, 900_000);
    let expected = |from: f64, until: f64| (day.before(until) - day.before(from)) / 2.0;
    let counted = |from: u64, until: u64| at.iter().filter(|at| (from..until).contains(at)).count() as f64;
    for (from, until) in [(1, 10_000), (10_000, 500_000), (500_000, 1_010_000)] {
        let (own, mean) = (counted(from, until), expected(from as f64, until as f64));
        assert!((own - mean).abs() < 4.0 * mean.sqrt(), "{from}: {own} {mean}");
    }
    let distinct = at.iter().filter(|at| (10_000..20_000).contains(*at)).map(|at| at % 97).max();
    assert!(distinct > Some(90), "{distinct:?}");
}
