//! Figures, their intervals and differences, and the order of gathering.

use super::{at, figure, four_epochs, left, noisy, outcome, responses, scenario, with_chance};
use crate::job::Job;
use crate::record::Sink;
use crate::recorder::Recorder;
use crate::report;
use crate::summary::Summed;
use weir_lab::gathered::Gathered;
use weir_lab::provenance::Frame;
use weir_lab::runner::Model;

#[test]
fn without_chance_figures_are_exact() {
    let outcome = outcome(&scenario(&["x"], 1), |_, recorder| {
        four_epochs(recorder);
        responses(recorder);
        None
    });
    let share = figure(&outcome, "a", "share", "mean");
    assert_eq!((share.value, share.low, share.high), (Some(0.4), Some(0.4), Some(0.4)));
    assert_eq!(share.method.as_deref(), Some("exact: nothing is random"));
    assert_eq!((share.standard_error, share.reason.as_ref()), (Some(0.0), None));
    let median = figure(&outcome, "a", "response", "p50");
    let (low, high) = (median.low.expect("low"), median.high.expect("high"));
    assert!(low < median.value.expect("a value") && high / low < 1.01);
}

#[test]
fn one_replication_of_chance_has_no_interval_and_says_why() {
    let outcome = outcome(&with_chance(scenario(&["x"], 1)), |_, recorder| {
        four_epochs(recorder);
        None
    });
    let share = figure(&outcome, "a", "share", "mean");
    assert_eq!((share.value, share.low, share.standard_error), (Some(0.4), None, None));
    assert!(share.reason.as_ref().is_some_and(|reason| reason.contains("at least 2")));
}

#[test]
fn differences_are_paired_by_replication() {
    let outcome = outcome(&with_chance(scenario(&["x", "y"], 8)), |job, recorder| {
        noisy(job, recorder);
        None
    });
    let share = figure(&outcome, "a", "share", "mean");
    assert_eq!(share.method.as_deref(), Some("8 replications"));
    assert!(share.high.expect("high") - share.low.expect("low") > 0.01);
    let apart = outcome.differences.iter().find(|row| row.subject.name == "a" && row.metric == "share");
    let apart = apart.expect("a difference");
    // What the replications have in common is gone: 5 of 100.
    let near = |value: Option<f64>| (value.expect("a value") - 0.05).abs() < 1e-12;
    assert!(near(apart.value) && near(apart.low) && near(apart.high), "{apart:?}");
    assert_eq!((apart.discipline.as_str(), apart.reference.as_str()), ("y", "x"));
    assert_eq!(outcome.differences.len() * 2, outcome.estimates.len());
}

#[test]
fn extremes_are_of_all_replications_and_have_no_interval() {
    let outcome = outcome(&with_chance(scenario(&["x", "y"], 8)), |job, recorder| {
        noisy(job, recorder);
        // Responses of 1 to 8 ns, under the second discipline of 2 ns more.
        let response = u64::from(job.replication) + 1 + 2 * job.discipline as u64;
        recorder.waits(0, at(200 + response), at(200));
        None
    });
    let (least, mean, most) =
        ["min", "mean", "max"].map(|each| figure(&outcome, "a", "epoch_run", each)).into();
    assert!(least.value < mean.value && mean.value < most.value);
    let longest = figure(&outcome, "a", "response", "max");
    assert_eq!(longest.value, Some(8e-9));
    assert!(longest.value >= figure(&outcome, "a", "response", "p99.9").value);
    for extreme in [least, most, longest] {
        assert_eq!((extreme.low, extreme.high, extreme.method.as_ref()), (None, None, None));
        assert!(extreme.reason.as_ref().is_some_and(|reason| reason.contains("extreme of all replications")));
    }
    let apart: Vec<_> = outcome
        .differences
        .iter()
        .filter(|row| row.subject.name == "a" && row.metric == "response")
        .collect();
    assert!(apart.iter().all(|row| row.statistic != "max"));
    let own = apart.iter().find(|row| row.statistic == "replication_max").expect("a difference");
    assert!((own.value.expect("a value") - 2e-9).abs() < 1e-18 && own.low.is_some());
}

#[test]
fn intervals_cover_at_about_their_level() {
    let node = with_chance(scenario(&["x"], 10));
    let covers = |trial: u64| {
        let outcome = outcome(&node, |job, recorder| {
            let replication = job.replication + 1000 * trial as u32;
            noisy(Job { replication, ..job }, recorder);
            None
        });
        let share = figure(&outcome, "a", "share", "mean");
        // Whole numbers from 20 to 59, evenly.
        share.low.expect("low") < 0.395 && 0.395 < share.high.expect("high")
    };
    let covered = (0..200).filter(|&trial| covers(trial)).count();
    assert!((180..=199).contains(&covered), "{covered} of 200");
}

#[test]
fn any_order_of_gathering_gives_the_same() {
    let node = with_chance(scenario(&["x", "y"], 3));
    let told = |order: &dyn Fn(&mut Vec<Job>)| {
        let mut gathered = Gathered::new(node.stop.replications, node.cells());
        let of = |replication| (0..2).map(move |discipline| Job { replication, discipline });
        let mut jobs: Vec<Job> = (0..3).flat_map(of).collect();
        order(&mut jobs);
        for job in jobs {
            let mut recorder = Recorder::new(&node, job);
            noisy(job, &mut recorder);
            gathered.add(
                job.replication,
                job.discipline,
                Summed::new(&node, "x", recorder, left(&node, None)),
            );
        }
        let outcome = report::outcome(&node, &Frame::default(), gathered.into_cells());
        serde_json::to_string(&outcome).expect("json")
    };
    let forth = told(&|_| ());
    assert_eq!(forth, told(&|jobs| jobs.reverse()));
    assert_eq!(forth, told(&|jobs| jobs.rotate_left(3)));
}

#[test]
fn what_was_finished_of_a_broken_off_run_counts() {
    let node = with_chance(scenario(&["x", "y"], 3));
    let mut gathered = Gathered::new(node.stop.replications, node.cells());
    for (replication, discipline) in [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1)] {
        let job = Job { replication, discipline };
        let mut recorder = Recorder::new(&node, job);
        noisy(job, &mut recorder);
        gathered.add(job.replication, job.discipline, Summed::new(&node, "x", recorder, left(&node, None)));
    }
    let outcome = report::outcome(&node, &Frame::default(), gathered.into_cells());
    assert!(outcome.course.interrupted);
    assert_eq!(outcome.provenance.replications, 2);
}

#[test]
fn nothing_finished_is_a_result_without_values() {
    let node = scenario(&["x", "y"], 1);
    let outcome = report::outcome(
        &node,
        &Frame::default(),
        Gathered::new(node.stop.replications, node.cells()).into_cells(),
    );
    assert!(outcome.course.interrupted && outcome.checks.is_empty());
    assert!(outcome.estimates.iter().all(|figure| figure.value.is_none() && figure.reason.is_some()));
}
