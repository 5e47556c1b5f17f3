//! What is told by hand, and what is made of it: the collector, the sampler, the timeline, figures and checks.

use weir_core::task::{Declared, Used};
use weir_core::units::{Instant, Nanos};

use crate::network::run::Frame;
use crate::node::collector::Collector;
use crate::node::job::{self, Job};
use crate::node::model::{Costs, DualQueue, Law, Measure, NodeScenario, Operation, Process, Program, Stop};
use crate::node::outcome::{NodeFigure, NodeOutcome};
use crate::node::record::{Path, Sink};
use crate::node::recorder::Recorder;
use crate::node::report;
use crate::node::summary::{Gathered, Summed};
use crate::node::tally::Epochs;
use crate::node::timeline::MOST_ROWS;
use crate::stats::testing::Noise;

fn nanos(count: u64) -> Nanos {
    Nanos::new(count)
}

fn at(count: u64) -> Instant {
    Instant::new(count)
}

fn process(name: &str, need: u64, deadline: Option<u64>, system: bool) -> Process {
    Process {
        name: name.to_owned(),
        node: 0,
        declared: Declared { need: nanos(need), ..Declared::default() },
        deadline: deadline.map(nanos),
        system,
        movable: true,
        starts: nanos(0),
        program: Program { operations: vec![Operation::Compute(Law::Constant(nanos(1)))] },
    }
}

/// Processes `a`, with a deadline, and `b`, and one of the system's; measured from 100 ns to 400 ns in epochs of 100
/// ns.
fn scenario(disciplines: &[&str], replications: u32) -> NodeScenario {
    NodeScenario {
        title: "by hand".to_owned(),
        seed: 1,
        disciplines: disciplines.iter().map(|&name| name.to_owned()).collect(),
        specs: Vec::new(),
        reference: 0,
        epoch: nanos(100),
        nodes: vec!["n".to_owned()],
        costs: Costs::default(),
        uncharged: nanos(0),
        switch_delay: nanos(0),
        queues: vec![DualQueue { name: "q".to_owned(), node: 0 }],
        events: Vec::new(),
        processes: vec![
            process("a", 50, Some(30), false),
            process("b", 0, None, false),
            process("s", 10, None, true),
        ],
        balance: None,
        stop: Stop { warm_up: nanos(100), duration: nanos(400), replications },
        measure: Measure { tails: true, verify: false, sample: None, timeline: None },
    }
}

fn with_chance(mut node: NodeScenario) -> NodeScenario {
    node.processes[0].program.operations = vec![Operation::Compute(Law::Exponential(nanos(1)))];
    node
}

/// What a job leaves besides.
fn left(node: &NodeScenario, used: Option<[Used; 2]>) -> job::Left {
    job::Left { used: vec![used; node.processes.len()], ..job::Left::default() }
}

/// The result of telling every job its own.
fn outcome(node: &NodeScenario, tell: impl Fn(Job, &mut Recorder) -> Option<[Used; 2]>) -> NodeOutcome {
    let mut gathered = Gathered::new(node);
    for replication in 0..node.stop.replications {
        for discipline in 0..node.disciplines.len() {
            let job = Job { replication, discipline };
            let mut recorder = Recorder::new(node, job);
            let used = tell(job, &mut recorder);
            let summed = Summed::new(node, &node.disciplines[discipline], recorder, left(node, used));
            gathered.add(job, summed);
        }
    }
    report::outcome(node, &Frame::default(), gathered.into_cells())
}

fn figure<'o>(outcome: &'o NodeOutcome, name: &str, metric: &str, statistic: &str) -> &'o NodeFigure {
    let wanted =
        |figure: &&NodeFigure| (&*figure.name, figure.metric, figure.statistic) == (name, metric, statistic);
    outcome.estimates.iter().find(wanted).expect("a figure")
}

/// Four epochs: `a` runs 60, 40, 50 and 30 ns in them, the rest is `b`'s, 10 of the system's, and idle in the last.
fn four_epochs(sink: &mut dyn Sink) {
    sink.woke(0, at(0));
    for (epoch, run) in [60, 40, 50, 30].into_iter().enumerate() {
        let begins = 100 * epoch as u64;
        sink.dispatched(0, 2, at(begins), None);
        sink.ran(0, 2, Some(3), at(begins), at(begins + 10));
        sink.dispatched(0, 0, at(begins + 10), None);
        sink.ran(0, 0, Some(1), at(begins + 10), at(begins + 10 + run));
        match epoch {
            3 => sink.nobody(0, false, at(begins + 10 + run), at(begins + 100)),
            _ => sink.ran(0, 1, Some(-3), at(begins + 10 + run), at(begins + 100)),
        }
        sink.path(0, at(begins), Path::Swap);
        sink.epoch(at(begins + 100), &|process| process == 0 && epoch < 3);
    }
}

#[test]
fn epochs_by_hand() {
    let mut collector = Collector::new(&scenario(&["x"], 1));
    four_epochs(&mut collector);
    let tally = collector.processes[0].tally;
    assert_eq!(tally.epochs, Epochs { count: 3, sum: 120, least: 30, most: 50 });
    // Ready throughout in the second and the third epoch; 40 of 50 in one of them.
    assert_eq!((tally.ready, tally.promised, tally.missed, tally.shortfall), (2, 2, 1, 10));
    assert_eq!((tally.run_time, tally.schedulings, tally.wakeups), (120, 3, 0));
    // The system's process is not among all: 40 + 50, 50 + 40, 30 + 0.
    assert_eq!(collector.together, Epochs { count: 3, sum: 210, least: 30, most: 90 });
    let node = collector.nodes[0];
    assert_eq!((node.run_time, node.idle, node.uncharged), (240, 60, 0));
    assert_eq!(node.paths, [0, 3, 0, 0, 0, 0]);
}

#[test]
fn spans_are_cut_at_the_ends_of_the_measured_time() {
    let mut collector = Collector::new(&scenario(&["x"], 1));
    collector.ran(0, 0, None, at(90), at(110));
    collector.nobody(0, true, at(390), at(420));
    collector.nobody(0, false, at(20), at(60));
    collector.path(0, at(99), Path::Restart);
    collector.path(0, at(100), Path::Restart);
    collector.path(0, at(399), Path::StayIdle);
    collector.path(0, at(400), Path::StayIdle);
    let node = collector.nodes[0];
    assert_eq!((node.run_time, node.idle, node.uncharged), (10, 0, 10));
    assert_eq!(node.paths, [1, 0, 0, 0, 0, 1]);
}

#[test]
fn an_epoch_that_is_partly_measured_does_not_count() {
    let mut node = scenario(&["x"], 1);
    node.stop.duration = nanos(350);
    let mut collector = Collector::new(&node);
    four_epochs(&mut collector);
    assert_eq!(collector.processes[0].tally.epochs.count, 2);
}

/// Responses of 20, 30 and 40 ns, the first of which begins before the measured time; waits of 5 and 0.
fn responses(sink: &mut dyn Sink) {
    for (woke, started, waits) in [(50, 60, 80), (95, 100, 115), (200, 200, 230), (390, 391, 399)] {
        sink.woke(0, at(woke));
        sink.dispatched(0, 0, at(started), Some(at(woke)));
        sink.waits(0, at(waits), at(woke));
    }
    sink.woke(0, at(399));
    sink.waits(0, at(400), at(399));
    sink.woke(0, at(300));
    sink.waits(0, at(340), at(300));
}

#[test]
fn responses_by_hand() {
    let outcome = outcome(&scenario(&["x"], 1), |_, recorder| {
        responses(recorder);
        None
    });
    let totals = &outcome.process_totals[0];
    assert_eq!((totals.wakeups, totals.waits, totals.late), (4, 4, Some(1)));
    let response = |statistic| figure(&outcome, "a", "response", statistic).value.expect("a value") * 1e9;
    // 20, 30, 9 and 40.
    assert!((response("mean") - 24.75).abs() < 1e-9 && (response("max") - 40.0).abs() < 1e-9);
    assert!((response("p50") - 20.0).abs() < 1e-9);
    let wait = figure(&outcome, "all", "wait", "mean");
    assert!((wait.value.expect("a value") * 1e9 - 2.0).abs() < 1e-9);
    assert_eq!((wait.count, wait.unit), (3, "s"));
    assert_eq!(figure(&outcome, "a", "late", "mean").value, Some(0.25));
    assert!(outcome.estimates.iter().all(|row| row.metric != "late" || row.name != "b"));
    let distribution = outcome.distributions.iter().find(|row| row.process == "a").expect("a distribution");
    assert_eq!((distribution.metric, distribution.count.iter().sum::<u64>()), ("response", 4));
    assert_eq!(outcome.process_totals[1].late, None);
}

#[test]
fn what_is_not_over_at_the_end_is_late_once_it_is_beyond_its_deadline() {
    let mut node = scenario(&["x"], 2);
    node.processes[2].program.operations.push(Operation::WaitAny);
    let outcome = outcome(&node, |job, recorder| {
        responses(recorder);
        recorder.responded(0, at(350), at(330));
        for process in 0..3 {
            recorder.unfinished(process, at(400), at(360 + 10 * u64::from(job.replication)));
        }
        None
    });
    let totals = &outcome.process_totals;
    // Of 5 responses one is longer than 30 ns; 40 and 30 are not over, and only 40 counts.
    assert_eq!((totals[0].waits, totals[0].late), (8, Some(3)));
    assert_eq!(figure(&outcome, "a", "late", "mean").count, 11);
    assert_eq!(figure(&outcome, "a", "response", "mean").count, 10);
    // `b` has no deadline and never waits, the system's process waits.
    let unfinished: Vec<_> = totals.iter().map(|row| row.unfinished).collect();
    assert_eq!(unfinished, [Some(4e-8), None, Some(4e-8)]);
}

/// Data put in at 50, 120, 150 and 200, taken out at 160, 180 and 260.
fn data(sink: &mut dyn Sink) {
    sink.enqueued(0, 0, at(50), 1);
    sink.enqueued(0, 0, at(120), 2);
    sink.enqueued(0, 0, at(150), 3);
    sink.dequeued(0, 1, at(160), 2, nanos(110));
    sink.dequeued(0, 1, at(180), 1, nanos(60));
    sink.enqueued(0, 0, at(200), 2);
    sink.dequeued(0, 1, at(260), 1, nanos(110));
}

#[test]
fn queues_by_hand() {
    let mut collector = Collector::new(&scenario(&["x"], 1));
    data(&mut collector);
    let tally = collector.queues[0].tally.closed(collector.window());
    assert_eq!((tally.enqueued, tally.dequeued, tally.first, tally.last), (3, 3, 1, 1));
    // 1 for 20, 2 for 30, 3 for 10, 2 for 20, 1 for 20, 2 for 60, 1 for 140.
    assert_eq!(tally.area, 20 + 60 + 30 + 40 + 20 + 120 + 140);
    // The first lay there for 60 ns of the measured time; the last of them was put in at 150.
    assert_eq!((tally.aged, tally.oldest), (60 + 60 + 110, 150));
    assert_eq!((collector.queues[0].age.sum, collector.queues[0].age.longest), (280, 110));
}

#[test]
fn the_books_of_a_queue_are_checked() {
    let checks = |told: fn(&mut dyn Sink)| {
        let outcome = outcome(&scenario(&["x"], 1), |_, recorder| {
            told(recorder);
            None
        });
        outcome.checks.into_iter().map(|check| (check.check, check.ok)).collect::<Vec<_>>()
    };
    // What is left over at the end is too much for Little's law to say anything.
    assert!(checks(data).contains(&("data", true)));
    assert!(checks(data).iter().all(|&(name, _)| name != "Little's law"));
    let emptied = |sink: &mut dyn Sink| {
        data(sink);
        sink.dequeued(0, 1, at(300), 0, nanos(100));
    };
    assert!(checks(emptied).contains(&("Little's law", true)));
    let wrong_age = |sink: &mut dyn Sink| {
        data(sink);
        sink.dequeued(0, 1, at(300), 0, nanos(90));
    };
    assert!(checks(wrong_age).contains(&("Little's law", false)));
    let lost = |sink: &mut dyn Sink| {
        sink.enqueued(0, 0, at(150), 2);
    };
    assert!(checks(lost).contains(&("data", false)));
}

fn check<'o>(outcome: &'o NodeOutcome, name: &str) -> &'o crate::port::outcome::Check {
    outcome.checks.iter().find(|check| check.check == name).expect("a check")
}

#[test]
fn time_is_conserved_or_the_result_says_so() {
    let whole = outcome(&scenario(&["x"], 2), |_, recorder| {
        four_epochs(recorder);
        None
    });
    let conserved = check(&whole, "conservation");
    assert!(conserved.ok && (conserved.expected - 6e-7).abs() < 1e-18, "{conserved:?}");
    let short = outcome(&scenario(&["x"], 1), |_, recorder| {
        four_epochs(recorder);
        recorder.ran(0, 0, None, at(390), at(391));
        None
    });
    assert!(!check(&short, "conservation").ok);
}

#[test]
fn kinds_of_time_make_up_the_run_time() {
    // Each of three processes has used 80 ns of the 240.
    let used = |windfall: u64| {
        let before = Used { need: nanos(7), uncommitted: nanos(5), windfall: nanos(3) };
        let after = Used { need: nanos(27), uncommitted: nanos(45), windfall: nanos(3 + windfall) };
        Some([before, after])
    };
    let played = |windfall: u64| {
        outcome(&scenario(&["x"], 1), move |_, recorder| {
            four_epochs(recorder);
            used(windfall)
        })
    };
    assert!(check(&played(20), "kinds of time").ok);
    assert!(!check(&played(21), "kinds of time").ok);
    let outcome = played(20);
    let totals = &outcome.process_totals[0];
    let near = |value: Option<f64>, expected: f64| (value.expect("a value") - expected).abs() < 1e-15;
    assert!(near(totals.need_time, 2e-8) && near(totals.uncommitted_time, 4e-8));
    assert!(near(figure(&outcome, "a", "windfall", "mean").value, 20.0 / 300.0));
    assert!(near(figure(&outcome, "all", "uncommitted", "mean").value, 80.0 / 300.0));
}

#[test]
fn what_is_not_told_is_not_measured() {
    let outcome = outcome(&scenario(&["x"], 1), |_, recorder| {
        four_epochs(recorder);
        None
    });
    let windfall = figure(&outcome, "a", "windfall", "mean");
    assert_eq!((windfall.value, windfall.reason.as_deref()), (None, Some("not measured")));
    assert!(outcome.checks.iter().all(|check| check.check != "kinds of time"));
    let met = figure(&outcome, "b", "need_met", "mean");
    assert_eq!((met.value, met.count), (None, 0));
    assert_eq!(outcome.process_totals[0].windfall_time, None);
}

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

/// `a` runs a random time in each epoch, which differs from job to job by what the discipline adds.
fn noisy(job: Job, sink: &mut dyn Sink) {
    let mut random = Noise::new(u64::from(job.replication) + 1);
    for epoch in 0..4 {
        let run = 20 + random.bits() % 40 + 5 * job.discipline as u64;
        sink.ran(0, 0, None, at(100 * epoch), at(100 * epoch + run));
        sink.nobody(0, false, at(100 * epoch + run), at(100 * epoch + 100));
        sink.epoch(at(100 * epoch + 100), &|_| true);
    }
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
    let apart = outcome.differences.iter().find(|row| row.name == "a" && row.metric == "share");
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
    let apart: Vec<_> =
        outcome.differences.iter().filter(|row| row.name == "a" && row.metric == "response").collect();
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
        let mut gathered = Gathered::new(&node);
        let of = |replication| (0..2).map(move |discipline| Job { replication, discipline });
        let mut jobs: Vec<Job> = (0..3).flat_map(of).collect();
        order(&mut jobs);
        for job in jobs {
            let mut recorder = Recorder::new(&node, job);
            noisy(job, &mut recorder);
            gathered.add(job, Summed::new(&node, "x", recorder, left(&node, None)));
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
    let mut gathered = Gathered::new(&node);
    for (replication, discipline) in [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1)] {
        let job = Job { replication, discipline };
        let mut recorder = Recorder::new(&node, job);
        noisy(job, &mut recorder);
        gathered.add(job, Summed::new(&node, "x", recorder, left(&node, None)));
    }
    let outcome = report::outcome(&node, &Frame::default(), gathered.into_cells());
    assert!(outcome.interrupted);
    assert_eq!(outcome.replications, 2);
}

#[test]
fn nothing_finished_is_a_result_without_values() {
    let node = scenario(&["x", "y"], 1);
    let outcome = report::outcome(&node, &Frame::default(), Gathered::new(&node).into_cells());
    assert!(outcome.interrupted && outcome.checks.is_empty());
    assert!(outcome.estimates.iter().all(|figure| figure.value.is_none() && figure.reason.is_some()));
}

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
    let error = crate::node::sampler::check(&node).expect_err("too many").to_string();
    assert!(error.contains("measure.sample: is 1us, which makes 20000000000 values"), "{error}");
    node.measure.sample = Some(nanos(1_000_000_000));
    assert_eq!(crate::node::sampler::check(&node), Ok(()));
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
