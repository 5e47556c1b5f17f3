//! The statistics end to end: what a result says of a small fabric, and of one worked out by hand.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::collector::Collector;
use crate::job::Tally;
use crate::model::{FabricScenario, Size, Topology};
use crate::outcome::{FabricFigure, FabricOutcome};
use crate::record::{Delivery, Generation, Injection, Sink};
use crate::run::run;
use crate::summary::Left;
use crate::time::{TICKS_PER_SECOND, Ticks};
use crate::{report, testing};
use weir_core::units::{Bytes, Nanos};
use weir_lab::control::{Control, Progress};
use weir_lab::error::RunError;
use weir_lab::gathered::Gathered;
use weir_lab::provenance::Frame;
use weir_lab::runner::Model;
use weir_lab::scenario::Scenario;
use weir_lab::stats::Settled;
use weir_workload::Sizes;

/// One switch with four end-points, two channels, two disciplines, two loads, three replications of 0.3 ms.
pub(crate) fn small() -> FabricScenario {
    let mut fabric = testing::scenario();
    fabric.topology = Topology::Single { ports: 4 };
    fabric.channels.truncate(2);
    fabric.disciplines = ["drr:weights=3/1", "fifo"].map(str::to_owned).to_vec();
    fabric.specs = fabric.disciplines.iter().map(|name| name.parse().expect("a spec")).collect();
    fabric.reference = 1;
    fabric.traffic.loads = vec![0.9, 0.4];
    fabric.stop.duration = Nanos::new(300_000);
    fabric.stop.replications = 3;
    fabric.tails = true;
    fabric
}

pub(crate) fn run_on(fabric: &FabricScenario, threads: usize) -> Result<FabricOutcome, RunError> {
    let threads = NonZeroUsize::new(threads).expect("positive");
    let (cancel, progress) = (AtomicBool::new(false), &mut |_| ());
    run(fabric, &Frame::default(), &mut Control { threads, cancel: &cancel, progress, records: None })
}

pub(crate) fn text(outcome: &FabricOutcome) -> String {
    serde_json::to_string(outcome).expect("JSON")
}

pub(crate) fn figure<'o>(
    outcome: &'o FabricOutcome,
    (discipline, load, channel): (&str, f64, &str),
    (metric, statistic): (&str, &str),
) -> &'o FabricFigure {
    let is = |figure: &&FabricFigure| {
        figure.discipline.as_deref() == Some(discipline)
            && (figure.subject.load, figure.subject.channel.as_str()) == (load, channel)
            && (figure.metric, figure.statistic) == (metric, statistic)
    };
    let mut found = outcome.estimates.iter().filter(is);
    let one = found.next().unwrap_or_else(|| panic!("no {metric} {statistic} of {channel}"));
    assert!(found.next().is_none(), "one row each");
    one
}

#[test]
fn a_result_is_whole_and_its_checks_hold() {
    let fabric = small();
    let outcome = run_on(&fabric, 2).expect("a result");
    assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
    let kinds = ["conservation", "same packets", "Little's law", "verification"];
    assert!(kinds.iter().all(|kind| outcome.checks.iter().any(|check| check.check == *kind)));
    assert_eq!((outcome.provenance.replications, outcome.course.interrupted), (3, false));
    assert_eq!((outcome.size.hosts, outcome.size.switches, outcome.size.links), (4, 1, 8));
    assert_eq!(outcome.channels.iter().map(|row| row.share).collect::<Vec<_>>(), [0.5, 0.5]);
    // Three subjects with offered, throughput, accepted, and two latencies of six statistics each; four cells.
    assert_eq!(outcome.estimates.len(), 3 * (3 + 2 * 6) * 4);
    assert_eq!(outcome.distributions.len(), 3 * 2 * 4);
    // One discipline and the reference: all figures but `offered`, and improvements of the latencies.
    assert_eq!(outcome.differences.len(), 2 * 3 * (2 + 2 * 2 * 6));
    assert_eq!((outcome.totals.len(), outcome.saturation.len()), (4, 6));
    for row in &outcome.totals {
        assert!(row.delivered <= row.generated && row.traversals >= 2 * row.delivered, "{row:?}");
    }
    for row in &outcome.estimates {
        assert!(row.value.is_some() && row.reason.is_none() && row.count > 0, "{row:?}");
        let (Some(low), Some(high), Some(low_90), Some(high_90)) =
            (row.low, row.high, row.beside.low_90, row.beside.high_90)
        else {
            panic!("{row:?}")
        };
        assert!(low <= low_90 && low_90 <= high_90 && high_90 <= high, "{row:?}");
    }
}

#[test]
fn the_parts_make_up_the_whole() {
    let outcome = run_on(&small(), 1).expect("a result");
    for discipline in &outcome.course.disciplines {
        for load in [0.9, 0.4] {
            let value =
                |channel, of| figure(&outcome, (discipline, load, channel), of).value.expect("a value");
            let channels = || ["D2", "D4"].into_iter();
            for metric in ["offered", "throughput"] {
                let sum: f64 = channels().map(|channel| value(channel, (metric, "mean"))).sum();
                assert!((value("all", (metric, "mean")) - sum).abs() < 1e-12, "{metric}");
            }
            assert!((value("all", ("offered", "mean")) / load - 1.0).abs() < 0.2);
            let highest = channels().map(|channel| value(channel, ("latency", "max"))).fold(0.0, f64::max);
            assert!(value("all", ("latency", "max")) >= highest);
            for channel in ["all", "D2", "D4"] {
                let of = |statistic| value(channel, ("latency", statistic));
                let rising = ["p50", "p90", "p99", "p99.9"].map(of);
                assert!(rising.is_sorted(), "{rising:?}");
                assert!(of("mean") > 0.0 && of("mean") < of("max"));
                assert!(value(channel, ("total_latency", "mean")) >= of("mean"));
            }
        }
    }
    let counted = |row: &crate::outcome::FabricDistribution| row.bins.count.iter().sum::<u64>();
    for row in &outcome.distributions {
        let of = (row.metric, "mean");
        let figure = figure(&outcome, (&row.discipline, row.subject.load, &row.subject.channel), of);
        assert_eq!(counted(row), figure.count);
    }
}

#[test]
fn threads_do_not_show() {
    let fabric = small();
    let one = text(&run_on(&fabric, 1).expect("a result"));
    for threads in [2, 8] {
        assert!(one == text(&run_on(&fabric, threads).expect("a result")), "{threads} threads");
    }
}

#[test]
fn without_tails_there_are_no_quantiles_and_the_rest_is_the_same() {
    let mut fabric = small();
    let with = run_on(&fabric, 1).expect("a result");
    fabric.tails = false;
    let without = run_on(&fabric, 1).expect("a result");
    assert!(without.distributions.is_empty());
    // Whether a mean is settled is judged above the least time, which only tails know.
    let plain = |rows: Vec<_>| -> Vec<_> {
        rows.into_iter().map(|row| FabricFigure { settled: Settled::YES, ..row }).collect()
    };
    let kept: Vec<_> = with.estimates.into_iter().filter(|row| !row.statistic.starts_with('p')).collect();
    assert_eq!(plain(kept), plain(without.estimates));
}

#[test]
fn what_is_broken_off_keeps_whole_replications() {
    let mut fabric = small();
    fabric.verify = false;
    fabric.stop.replications = 4;
    let (cancel, whole) = (AtomicBool::new(false), fabric.stop.duration.get() * 4);
    let mut progress = |state: Progress| {
        assert!(state.done <= state.total && state.total == 4 * whole);
    };
    let mut control =
        Control { threads: NonZeroUsize::MIN, cancel: &cancel, progress: &mut progress, records: None };
    cancel.store(true, Ordering::Relaxed);
    let outcome = run(&fabric, &Frame::default(), &mut control).expect("a result");
    assert_eq!((outcome.provenance.replications, outcome.course.interrupted), (0, true));
    assert!(
        outcome.estimates.iter().all(|row| row.value.is_none() && row.reason.is_some() && row.count == 0)
    );
    assert!(!text(&outcome).contains("NaN"));
}

#[test]
fn one_replication_has_values_without_intervals() {
    let mut fabric = small();
    fabric.stop.replications = 1;
    let outcome = run_on(&fabric, 1).expect("a result");
    let mean = figure(&outcome, ("fifo", 0.4, "all"), ("latency", "mean"));
    assert!(
        mean.value.is_some() && mean.low.is_none() && mean.beside.low_90.is_none() && mean.method.is_none()
    );
    let expected = |name| if name == "offered load" { None } else { Some(true) };
    assert!(outcome.checks.iter().all(|check| check.ok == expected(check.check)), "{:#?}", outcome.checks);
}

#[test]
fn the_offered_load_is_checked_where_chance_leaves_something_to_check() {
    let mut fabric = small();
    fabric.verify = false;
    let checked = |fabric: &FabricScenario| {
        let outcome = run_on(fabric, 2).expect("a result");
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        let is_judged =
            |check: &&weir_lab::result::Check| check.check == "offered load" && check.ok.is_some();
        outcome.checks.iter().filter(is_judged).count()
    };
    assert_eq!(checked(&fabric), 0);
    fabric.stop.replications = 1;
    fabric.stop.duration = Nanos::new(12_000_000);
    assert_eq!(checked(&fabric), 2);
}

#[test]
fn saturation_is_what_the_replications_leave_no_doubt_of() {
    let mut fabric = small();
    fabric.traffic.loads = vec![0.3, 2.0];
    let loads = |fabric: &FabricScenario| {
        let rows = run_on(fabric, 2).expect("a result").saturation;
        rows.into_iter().map(|row| row.load).collect::<Vec<_>>()
    };
    assert_eq!(loads(&fabric), [Some(2.0); 6]);
    // What is on its way at the end is missing, by chance more or less: that alone saturates nothing.
    fabric.traffic.loads = vec![0.3];
    assert_eq!(loads(&fabric), [None; 6]);
    fabric.traffic.loads = vec![2.0];
    fabric.stop.replications = 1;
    assert_eq!(loads(&fabric), [None; 6]);
}

#[test]
fn messages_have_a_latency_of_their_own() {
    let mut fabric = small();
    fabric.channels[1].size = Size::Messages(Sizes::constant(5000).expect("a size").into());
    fabric.traffic.loads = vec![0.5];
    let outcome = run_on(&fabric, 1).expect("a result");
    let rows = |channel: &str| {
        let of = |row: &&FabricFigure| row.subject.channel == channel && row.metric == "message_latency";
        outcome.estimates.iter().filter(of).count()
    };
    assert_eq!((rows("D2"), rows("D4"), rows("all")), (0, 12, 12));
    let value = |metric| figure(&outcome, ("fifo", 0.5, "D4"), (metric, "mean")).value.expect("a value");
    // Three packets a message, the last of them last.
    assert!(value("message_latency") > value("total_latency"));
    let count = |metric| figure(&outcome, ("fifo", 0.5, "D4"), (metric, "mean")).count as f64;
    assert!((count("total_latency") / count("message_latency") - 3.0).abs() < 0.2);
}

const MICROSECOND: Ticks = TICKS_PER_SECOND / 1_000_000;

/// A packet of 250 bytes, a microsecond at 2 Gb/s, of channel 0: generated, entered and delivered at these microseconds.
fn passes(collector: &mut Collector, [generated, injected, delivered]: [u64; 3], end: u64) {
    let [generated, injected, delivered] = [generated, injected, delivered].map(|at| at * MICROSECOND);
    let (source, channel, size) = (0, 0, 250);
    collector.generated(&Generation { at: generated, source, channel, size });
    if injected < end * MICROSECOND {
        collector.injected(&Injection { at: injected, generated, source, channel, size });
    }
    if delivered < end * MICROSECOND {
        collector.delivered(&Delivery {
            generated,
            injected,
            delivered,
            source,
            destination: 1,
            flow: 0,
            sequence: 0,
            size,
            channel,
            last: true,
        });
    }
}

/// The result of two replications of two end-points, warm-up 10 us, end 110 us, whose second discipline takes `slower`
/// times as long in all.
fn by_hand(slower: u64) -> FabricOutcome {
    let mut fabric = small();
    fabric.topology = Topology::Single { ports: 2 };
    fabric.disciplines = ["fifo", "scfq"].map(str::to_owned).to_vec();
    fabric.reference = 1;
    fabric.traffic.loads = vec![0.5];
    fabric.stop.warm_up = Nanos::new(10_000);
    fabric.stop.duration = Nanos::new(110_000);
    fabric.stop.replications = 2;
    fabric.verify = false;
    let mut gathered = Gathered::new(fabric.stop.replications, fabric.cells());
    for replication in [1, 0] {
        for discipline in [0, 1] {
            let mut collector = Collector::new(&fabric);
            let factor = if discipline == 1 { slower } else { 1 };
            let late = u64::from(replication) * 2;
            // Before the warm-up's end; across it; inside, twice; across the end; never entering.
            passes(&mut collector, [1, 2, 5], 110);
            passes(&mut collector, [6, 8, 12], 110);
            passes(&mut collector, [20, 20, 20 + (2 + late) * factor], 110);
            passes(&mut collector, [30, 35, 35 + (6 + late) * factor], 110);
            passes(&mut collector, [100, 105, 115], 110);
            passes(&mut collector, [108, 120, 130], 110);
            let tally = Tally { generated: 6, injected: 5, delivered: 4, ..Tally::default() };
            gathered.add(replication, discipline, Left::new(collector, tally));
        }
    }
    report::outcome(&fabric, &Frame::default(), &gathered.into_cells())
}

fn close(value: Option<f64>, expected: f64) {
    let value = value.expect("a value");
    assert!((value - expected).abs() <= 1e-9 * expected.abs(), "{value}, expected {expected}");
}

#[test]
fn figures_by_hand() {
    let outcome = by_hand(2);
    let of = |channel, metric, statistic| figure(&outcome, ("fifo", 0.5, channel), (metric, statistic));
    // In 100 us two interfaces carry 50,000 B: four packets are generated then, three are delivered.
    close(of("all", "offered", "mean").value, 1000.0 / 50_000.0);
    close(of("D2", "throughput", "mean").value, 750.0 / 50_000.0);
    close(of("all", "accepted", "mean").value, 0.75);
    // 4, 2 and 6 us; 4, 4 and 8 us: means 4 and 16/3.
    let mean = of("D2", "latency", "mean");
    close(mean.value, 14e-6 / 3.0);
    close(mean.standard_error, 2e-6 / 3.0);
    close(mean.high.map(|high| high - mean.value.expect("a value")), 12.706_204_736 * 2e-6 / 3.0);
    close(mean.beside.high_90.map(|high| high - mean.value.expect("a value")), 6.313_751_515 * 2e-6 / 3.0);
    assert_eq!((mean.count, mean.method.as_deref()), (6, Some("2 replications")));
    close(of("D2", "latency", "max").value, 7e-6);
    // From generation: 6, 2 and 11 us; 6, 4 and 13 us.
    close(of("D2", "total_latency", "mean").value, (19e-6 + 23e-6) / 6.0);
    let nothing = of("D4", "latency", "mean");
    assert_eq!((nothing.value, nothing.count), (None, 0));
    assert_eq!(nothing.reason.as_deref(), Some("no observations in this run"));
    assert!(
        outcome.checks.iter().all(|check| check.ok == Some(true) || check.check == "offered load"),
        "{:?}",
        outcome.checks
    );
    assert!(outcome.checks.iter().all(|check| check.check != "Little's law"), "the one channel saturates");
    let load =
        |channel: &str| outcome.saturation.iter().find(|row| row.channel == channel).expect("a row").load;
    assert_eq!((load("D2"), load("D4")), (Some(0.5), None));
}

#[test]
fn differences_and_improvements_by_hand() {
    let outcome = by_hand(2);
    let row = |kind, statistic| {
        let is = |row: &&crate::outcome::FabricDifference| {
            (row.subject.channel.as_str(), row.metric) == ("D2", "latency")
                && (row.comparison, row.statistic) == (Some(kind), statistic)
        };
        outcome.differences.iter().find(is).expect("a row")
    };
    let mean = row("difference", "mean");
    assert_eq!((mean.discipline.as_str(), mean.reference.as_str(), mean.unit), ("fifo", "scfq", "s"));
    // The reference: 4, 4 and 12 us; 4, 8 and 16 us.
    close(mean.value, -(8e-6 / 3.0 + 12e-6 / 3.0) / 2.0);
    let improvement = row("improvement", "mean");
    close(improvement.value, (100.0 * 8.0 / 20.0 + 100.0 * 12.0 / 28.0) / 2.0);
    assert_eq!(improvement.unit, "%");
    close(row("improvement", "max").value, 50.0);
    let same = by_hand(1);
    let zero = same.differences.iter().find(|row| row.subject.channel == "D2").expect("a row");
    assert_eq!((zero.value, zero.low, zero.beside.high_90), (Some(0.0), Some(0.0), Some(0.0)));
}

#[test]
fn packets_inside_are_counted_by_hand() {
    let mut fabric = small();
    fabric.stop.warm_up = Nanos::new(10_000);
    let mut collector = Collector::new(&fabric);
    for times in [[1, 2, 5], [6, 8, 12], [20, 20, 26], [290, 295, 305], [299, 301, 302]] {
        passes(&mut collector, times, 300);
    }
    let counts = &collector.counts[0];
    // 2 us of the one across the warm-up's end, 6 us, and 5 us of the one across the end.
    let area = i128::from(13 * MICROSECOND);
    assert_eq!((counts.inside.area, counts.inside.first, counts.inside.last), (area, 1, 1));
    assert_eq!(counts.latencies[0].sum, u128::from(10 * MICROSECOND));
    assert_eq!((collector.generated, collector.injected, collector.delivered), (5, 4, 3));
}

#[test]
fn little_s_law_tells_of_wrong_times() {
    let fabric = small();
    let check = |wrong: u64| {
        let mut gathered = Gathered::new(fabric.stop.replications, fabric.cells());
        for place in 0..12 {
            let (replication, discipline, load) = (place / 4, place as usize / 2 % 2, place as usize % 2);
            let mut collector = Collector::new(&fabric);
            (60..250).for_each(|at| passes(&mut collector, [at, at, at + 10], 300));
            collector.counts[0].latencies[0].sum += u128::from(wrong * MICROSECOND);
            gathered.add(replication, discipline * 2 + load, Left::new(collector, Tally::default()));
        }
        let outcome = report::outcome(&fabric, &Frame::default(), &gathered.into_cells());
        outcome.checks.into_iter().find(|check| check.check == "Little's law").expect("a check").ok
            == Some(true)
    };
    assert!(check(0) && !check(1));
}

#[test]
fn a_document_runs_to_its_result() {
    let text = "weir = 1\nmodel = \"fabric\"\ndisciplines = [\"drr:quantum=2048B,weights=2/1\", \"scfq\"]\n\
        fabric.topology = { tree = { arity = 2, levels = 2 } }\n\
        [[channel]]\nname = \"a\"\n[[channel]]\nname = \"b\"\nshare = 3\nsize = { constant = \"256B\" }\n\
        [traffic]\nload = 0.6\n[stop]\nwarm_up = \"20us\"\nduration = \"120us\"\nreplications = 2\n\
        [measure]\nverify = true\n";
    let scenario = Scenario::<FabricScenario>::from_toml(text, "s.toml", Path::new(""))
        .unwrap_or_else(|error| panic!("{error}"));
    let (cancel, progress) = (AtomicBool::new(false), &mut |_| ());
    let threads = NonZeroUsize::MIN;
    let mut control = Control { threads, cancel: &cancel, progress, records: None };
    let outcome = run(&scenario.model, &scenario.frame, &mut control).expect("a result");
    assert_eq!((outcome.provenance.model, outcome.size.switches), ("fabric", 4));
    assert_eq!(
        (outcome.provenance.file.as_str(), &outcome.provenance.scenario),
        ("s.toml", &scenario.frame.scenario)
    );
    assert_eq!(outcome.provenance.fingerprint, scenario.frame.fingerprint);
    assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
    assert_eq!(outcome.course.engines.len(), 2);
}

#[test]
fn a_discipline_that_drops_ends_the_run() {
    let mut fabric = small();
    fabric.disciplines[1] = "fifo:limit=2pkt".to_owned();
    fabric.specs[1] = "fifo:limit=2pkt".parse().expect("a spec");
    fabric.interface_buffer = Bytes::new(65_536);
    let error = run_on(&fabric, 2).expect_err("packets are dropped");
    assert!(error.to_string().contains("fifo:limit=2pkt"), "{error}");
}
