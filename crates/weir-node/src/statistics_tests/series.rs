//! The sampler and the timeline.

use super::{at, data, four_epochs, nanos, outcome, scenario};
use crate::record::Sink;
use crate::timeline::MOST_ROWS;

#[test]
fn samples_by_hand() {
    let mut node = scenario(&["x"], 2);
    node.measure.sample = Some(nanos(150));
    let outcome = outcome(&node, |_, recorder| {
        four_epochs(recorder);
        data(recorder);
        None
    });
    let values = |name: &str, metric: &str| {
        let row = outcome.samples.iter().find(|row| row.name == name && row.metric == metric);
        row.expect("a series").values.clone()
    };
    // Intervals from 0 to 150 and to 300; the rest is left out. `a` runs 60 + 40, then 50.
    let near = |found: Vec<f64>, expected: [f64; 2]| {
        let pairs = found.iter().zip(expected);
        found.len() == 2 && pairs.clone().all(|(found, expected)| (found - expected).abs() < 1e-6)
    };
    assert!(near(values("a", "run_time"), [100.0 / 0.15, 50.0 / 0.15]), "{:?}", values("a", "run_time"));
    assert!(near(values("a", "schedulings"), [2.0 / 150e-9, 1.0 / 150e-9]));
    assert!(near(values("n", "swap"), [2.0 / 150e-9, 1.0 / 150e-9]));
    assert_eq!(values("q", "length"), [2.0, 1.0]);
    assert!(near(values("q", "messages"), [0.0, 3.0 / 150e-9]));
    // One series each: of the first replication only.
    assert_eq!(outcome.samples.len(), 3 * 3 + 2 + 9);
}

#[test]
fn too_many_samples_are_refused() {
    let mut node = scenario(&["x"], 1);
    node.stop.duration = nanos(1_000_000_000_000);
    node.measure.sample = Some(nanos(1_000));
    let error = crate::sampler::check(&node).expect_err("too many").to_string();
    assert!(error.contains("measure.sample: is 1us, which makes 20000000000 values"), "{error}");
    node.measure.sample = Some(nanos(1_000_000_000));
    assert_eq!(crate::sampler::check(&node), Ok(()));
}

#[test]
fn a_timeline_by_hand() {
    let mut node = scenario(&["x"], 1);
    node.measure.timeline = Some((nanos(100), nanos(300)));
    let outcome = outcome(&node, |_, recorder| {
        recorder.critical(0, at(0), at(40));
        data(recorder);
        recorder.critical(0, at(120), at(140));
        recorder.critical(0, at(130), at(140));
        four_epochs(recorder);
        recorder.nobody(0, true, at(290), at(310));
        None
    });
    let timeline = &outcome.timelines[0];
    assert_eq!((timeline.from, timeline.until, timeline.truncated), (1e-7, 3e-7, false));
    assert_eq!(
        timeline.runs.process,
        [2, 0, 1, 2, 0, 1].map(Some).into_iter().chain([None]).collect::<Vec<_>>()
    );
    assert_eq!(timeline.runs.level[2], Some(-3));
    assert_eq!(timeline.runs.until.last(), Some(&3e-7));
    // What is there where it begins, then the changes.
    assert_eq!(timeline.lengths.length, [1, 2, 3, 2, 1, 2, 1]);
    assert_eq!(timeline.lengths.at[0], 1e-7);
    assert_eq!((timeline.critical.begins.as_slice(), timeline.critical.at[0]), (&[4e-8, 1.4e-7][..], 1e-7));
    assert_eq!(timeline.marks.what, ["epoch", "epoch"]);
}

#[test]
fn a_timeline_joins_what_goes_on_and_ends_where_it_is_full() {
    let mut node = scenario(&["x"], 1);
    node.stop.duration = nanos(1_000_000);
    node.measure.timeline = Some((nanos(0), nanos(1_000_000)));
    let outcome = outcome(&node, |_, recorder| {
        recorder.ran(0, 0, Some(1), at(0), at(5));
        recorder.ran(0, 0, Some(1), at(5), at(10));
        for step in 0..2 * MOST_ROWS as u64 {
            recorder.ran(0, (step % 2) as usize + 1, None, at(10 + step), at(11 + step));
            recorder.woke(1, at(10 + step));
        }
        None
    });
    let timeline = &outcome.timelines[0];
    assert!(timeline.truncated);
    assert_eq!((timeline.runs.from.len(), timeline.runs.until[0]), (MOST_ROWS, 1e-8));
    // The row that was not kept would have begun where the timeline ends now.
    assert_eq!(timeline.until, (10 + MOST_ROWS as u64 - 1) as f64 / 1e9);
    assert!(timeline.marks.at.iter().all(|&at| at < timeline.until));
}
