//! Integrals, their inverse, and points that are refused.

use super::file::{Format, read};
use super::*;
use crate::trace::{Separator, TimeUnit};

fn points(points: &[(u64, f64)]) -> Points {
    let mut all = Points::default();
    points.iter().for_each(|&(time, rate)| all.add(time, rate).expect("a point"));
    all
}

#[test]
fn the_mean_is_over_the_period_or_up_to_the_last_point() {
    let all = points(&[(0, 1.0), (10, 3.0), (20, 0.0)]);
    let mean = |interpolation, period| all.curve(interpolation, period).expect("a curve").mean();
    assert!((mean(Interpolation::Constant, None) - 2.0).abs() < 1e-12);
    assert!((mean(Interpolation::Constant, Some(40)) - 1.0).abs() < 1e-12);
    assert!((mean(Interpolation::Linear, None) - 1.75).abs() < 1e-12);
    // On the way back to the first point, half of its rate.
    assert!((mean(Interpolation::Linear, Some(40)) - 1.125).abs() < 1e-12);
    assert!(
        (all.curve(Interpolation::Linear, Some(40)).expect("a curve").over_mean().mean() - 1.0).abs() < 1e-15
    );
}

#[test]
fn integral_and_inverse_agree_wherever_one_looks() {
    for interpolation in [Interpolation::Constant, Interpolation::Linear] {
        for period in [None, Some(5000), Some(9000)] {
            let all = points(&[(0, 0.5), (1000, 4.0), (2500, 0.0), (3000, 0.0), (3500, 7.0), (5000, 1.0)]);
            let curve = all.curve(interpolation, period).expect("a curve");
            let step = 0.25;
            let mut sum = 0.0;
            for at in 0..60_000 {
                let time = f64::from(at) * step;
                let found = curve.before(time);
                assert!((found - sum).abs() < 4.0, "{interpolation:?} {period:?} {time}: {found} {sum}");
                let back = curve.before(curve.time_of(found));
                assert!((back - found).abs() < 1e-6, "{time}: {back} {found}");
                sum += step * curve.rate_at((time + 0.5 * step) as u64);
            }
        }
    }
}

#[test]
fn what_waits_at_most_is_what_a_fluid_leaves() {
    // Three for 100 ns of which two go, then one: 100 wait, and are gone after as long again.
    let surge = points(&[(0, 3.0), (100, 1.0)]);
    let once = surge.curve(Interpolation::Constant, None).expect("a curve");
    assert!((once.waiting(2.0, 50.0) - 50.0).abs() < 1e-9);
    assert!((once.waiting(2.0, 1e6) - 100.0).abs() < 1e-9);
    let daily = surge.curve(Interpolation::Constant, Some(200)).expect("a curve");
    assert!((daily.waiting(2.0, 1e6) - 100.0).abs() < 1e-9);
    // Half of what comes beyond the mean of 1.5 in each period stays.
    assert!((daily.waiting(1.5, 200.0) - 150.0).abs() < 1e-9);
    assert!((daily.waiting(1.5, 2000.0) - (150.0 + 100.0 + 0.5 * 1600.0)).abs() < 1e-6);
    // A tent above the line is as large as its triangle.
    let tent =
        points(&[(0, 0.0), (100, 4.0), (200, 0.0)]).curve(Interpolation::Linear, None).expect("a curve");
    assert!((tent.waiting(2.0, 200.0) - 100.0).abs() < 1e-9);
}

#[test]
fn points_that_are_none_are_refused() {
    let refused = |add: &[(u64, f64)]| {
        let mut all = Points::default();
        let wrong = add.iter().find_map(|&(time, rate)| all.add(time, rate).err()).expect("refused");
        (wrong.part, wrong.reason)
    };
    assert_eq!(refused(&[(1, 1.0)]).0, Part::Time);
    assert_eq!(refused(&[(0, 1.0), (5, 1.0), (5, 2.0)]).0, Part::Time);
    assert_eq!(refused(&[(0, 1.0), (5, 1.0), (4, 2.0)]).0, Part::Time);
    assert_eq!(refused(&[(0, -1.0)]).0, Part::Rate);
    assert_eq!(refused(&[(0, f64::NAN)]).0, Part::Rate);
    assert_eq!(refused(&[(0, 1e-300), (1, 1e300)]).0, Part::Rate);
    let curve = |all: &[(u64, f64)], period| {
        points(all).curve(Interpolation::Constant, period).expect_err("refused").part
    };
    assert_eq!(curve(&[(0, 1.0)], Some(5)), Part::All);
    assert_eq!(curve(&[(0, 0.0), (5, 0.0)], None), Part::All);
    assert_eq!(curve(&[(0, 0.0), (5, 1.0)], None), Part::All);
    assert_eq!(curve(&[(0, 1.0), (5, 2.0)], Some(4)), Part::Period);
    assert!(points(&[(0, 0.0), (5, 1.0)]).curve(Interpolation::Linear, None).is_ok());
}

const FORMAT: Format<'_> = Format {
    time: "time",
    rate: "rate",
    time_unit: TimeUnit::S,
    uneven: false,
    header: true,
    separator: Separator::Comma,
};

fn file(text: &str, format: &Format<'_>) -> Result<Points, String> {
    read(text.as_bytes(), "day.csv", format).map_err(|refused| refused.to_string())
}

#[test]
fn a_file_counts_from_its_first_row() {
    let text = "# a day\ntime,note,rate\n2026-03-10 06:00:00,a,5\n2026-03-10 07:00:00,b,7.5e1\n";
    let dated = Format { time_unit: TimeUnit::Timestamp, ..FORMAT };
    assert_eq!(file(text, &dated).expect("points").points, [(0, 5.0), (3_600_000_000_000, 75.0)]);
    let uneven = Format { uneven: true, header: false, time: "1", rate: "2", ..FORMAT };
    assert_eq!(file("0,1\n1,2\n5,3\n", &uneven).expect("points").points.len(), 3);
}

#[test]
fn rows_that_are_none_are_refused_with_their_place() {
    for (text, expected) in [
        ("", "day.csv: has no points: give at least two"),
        ("time,rate\n", "day.csv: has no points: "),
        ("time,load\n0,1\n", "day.csv:1:1: rate is not a column of the file: "),
        (
            "time,rate\n0,1\n1,\n2,3\n",
            "day.csv:3:2: rate is empty, must be a rate from 0 up: fill the hole; write 0",
        ),
        (
            "time,rate\n0,1\n1\n",
            "day.csv:3:1: the row has 1 fields, must have 2 like the first: complete the row",
        ),
        ("time,rate\n0,1\n1,-2\n", "day.csv:3:2: rate is -2, must be a rate from 0 up: correct it"),
        ("time,rate\n0,1\n1,inf\n", "day.csv:3:2: rate is inf, must be a rate from 0 up: correct it"),
        (
            "time,rate\n-1,1\n",
            "day.csv:2:1: time is -1, must be a number of seconds from 0 up: correct the row",
        ),
        ("time,rate\n5,1\n4,2\n", "day.csv:3:1: time 4 is before the first row: sort the rows by time"),
        (
            "time,rate\n0,1\n2,2\n1,2\n",
            "day.csv:4:1: time 1 is not after the time of the point before: sort the points by time",
        ),
        (
            "time,rate\n0,1\n1,2\n3,2\n",
            "day.csv:4:1: time 3 is 2s after the row above, where the first step is 1s: add the rows that are missing",
        ),
        (
            "time,rate\n0,1\n1e19,2\n",
            "day.csv:3:1: time 1e19 is more than 9223372036854775808 ns after the first",
        ),
    ] {
        let refused = file(text, &FORMAT).expect_err(text);
        assert!(refused.starts_with(expected), "{refused}");
    }
}
