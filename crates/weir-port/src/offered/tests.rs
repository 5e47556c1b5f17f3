//! Curves of a port: what they become, what is said of them, that all engines read the same, and figures against what is known
//! of M_t/M/1.

use crate::build::{self, Layout, Placed};
use crate::model::{Limit, PortScenario, WarmUp};
use crate::outcome::{Figure, Outcome};
use crate::run::tests::{scenario, told};
use crate::run::{plan, ticks_per_replication};
use crate::ticks::Ticks;
use crate::warmup::{self, WarmUpTicks};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use weir_core::units::Nanos;
use weir_lab::record::Departure;
use weir_lab::replicated::Replicated as _;
use weir_workload::source::ArrivalBlock;

type Scenario = weir_lab::scenario::Scenario<PortScenario>;

/// A rush, a pause and the rest: 1.0 in the mean.
const RUSH: &str =
    "curve = { factors = [[\"0u\", 2.0], [\"400u\", 0.0], [\"800u\", 1.0]], period = \"1600u\" }\n";
const BYTES: &str = "lengths = { constant = \"1000B\" }\n[service]\nrate = \"10Gbit\"\n";

fn played(disciplines: &str, rest: &str) -> Outcome {
    told(&scenario(disciplines, rest), &mut |_| ()).expect("a result")
}

fn port(disciplines: &str, rest: &str) -> PortScenario {
    scenario(disciplines, rest).0
}

fn read(rest: &str) -> Scenario {
    let text = format!("weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo\"]\n[workload]\n{rest}");
    Scenario::from_toml(&text, "test.toml", Path::new("")).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn figure<'o>(outcome: &'o Outcome, discipline: &str, what: (&str, &str)) -> &'o Figure {
    let is = |row: &&Figure| {
        row.discipline.as_deref() == Some(discipline)
            && row.subject.class == "all"
            && (row.metric, row.statistic) == what
    };
    outcome.estimates.iter().find(is).expect("a figure")
}

#[test]
fn a_load_a_gap_and_rates_give_the_mean() {
    let open = |rest: &str| {
        let port = port("\"fifo\"", rest);
        let (open, _) = port.curve().expect("a curve");
        (open.mean_gap, port.load.expect("a load"), port.stop)
    };
    let (gap, load, stop) = open(&format!("load = 0.5\n{RUSH}"));
    assert!((gap - 9.4e9).abs() < 1.0 && load == 0.5, "{gap}");
    // Run once by each of ten replications, from the beginning: 170 messages of 4.7 packets.
    assert_eq!((stop.limit, stop.replications, stop.warm_up), (Limit::Messages(1_700), 10, WarmUp::None));
    let (gap, load, _) = open(&format!("gap = \"4.7u\"\n{RUSH}"));
    assert!((gap - 4.7e9).abs() < 1e-3 && (load - 1.0).abs() < 1e-9, "{gap} {load}");
    // From 100,000 to 500,000 messages a second, each of 800 ns.
    let rates =
        "curve = { rates = [[\"0s\", \"100k/s\"], [\"1ms\", \"500k/s\"]], interpolation = \"linear\" }\n";
    let (gap, load, stop) = open(&format!("{rates}{BYTES}"));
    assert!((gap - 1e9 / 3e5).abs() < 1e-6 && (load - 0.24).abs() < 1e-9, "{gap} {load}");
    assert_eq!(stop.limit, Limit::Messages(3_000));
    let (_, load, _) = open(&format!("load = 0.6\n{rates}{BYTES}"));
    assert_eq!(load, 0.6);
}

#[test]
fn tokens_and_packets_of_bytes_follow_a_curve_too() {
    let curve = "curve = { factors = [[\"0s\", 2.0], [\"1ms\", 1.0]], period = \"2ms\" }\n";
    for (lengths, service) in
        [("5tok", "per_token = \"100ns\""), ("5pkt", "packet = { exponential = \"1us\" }")]
    {
        let rest =
            format!("load = 0.5\n{curve}lengths = {{ constant = \"{lengths}\" }}\n[service]\n{service}\n");
        let outcome = played("\"fifo\", \"hrrn\", \"sf\"", &rest);
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        assert!(outcome.messages > 1_900, "{}", outcome.messages);
    }
}

/// A curve is in nanoseconds, whatever the engine counts.
#[test]
fn instants_are_on_the_clock_of_the_engine() {
    let curve = "arrivals = \"deterministic\"\ncurve = { factors = [[\"0ns\", 1.0], [\"3200ns\", 3.0], [\"6400ns\", 0.0]], \
                 period = \"12800ns\" }\n";
    let instants = |rest: &str| {
        let port = port("\"fifo\"", rest);
        let mut block = ArrivalBlock::default();
        port.arrivals(0).expect("a source").expect("an open workload").fill(&mut block, 9);
        (port.ticks, block.at)
    };
    // A message takes 800 ns: two gaps of 1600 ns, then thirds of them.
    let (ticks, at) = instants(&format!("load = 0.5\n{curve}{}", BYTES.replace("10Gbit", "8Gbit")));
    assert_eq!(ticks, Ticks::NANOSECONDS);
    let (ticks, fine) = instants(&format!("gap = \"1600ns\"\n{curve}{BYTES}"));
    assert_eq!(ticks, Ticks::PICOSECONDS);
    let expected =
        [0, 1_600_000, 3_200_000, 3_733_333, 4_266_666, 4_800_000, 5_333_333, 5_866_666, 12_800_000];
    assert_eq!(fine, expected);
    assert_eq!(at[0], 0);
    assert!(at.is_sorted());
    // A run that the shorter clock cannot hold keeps the longer one, and so does a curve.
    let long = "curve = { factors = [[\"0s\", 1.0], [\"4000000s\", 3.0]], period = \"20000000s\" }\n";
    let port = port(
        "\"fifo\"",
        &format!("load = 0.5\n{long}[stop]\nmessages = 1000\n").replace("[stop]", &format!("{BYTES}[stop]")),
    );
    assert_eq!(port.ticks, Ticks::NANOSECONDS);
}

fn departures(mut placed: Placed, ticks: u64) -> Vec<Departure> {
    placed.lane.advance(ticks);
    placed.lane.finish();
    let mut collectors = placed.lane.collectors();
    collectors[0].records.take().expect("records")
}

fn layout(port: &PortScenario, records: bool) -> Layout {
    let none = WarmUpTicks { ticks: 0, rule: String::new() };
    Layout { plan: plan(port, ticks_per_replication(port), &none), records }
}

/// Engines of whole messages, against the one that goes through the contract, message by message.
#[test]
fn engines_of_their_own_read_the_same_messages() {
    let curve = "curve = { factors = [[\"0s\", 2.0], [\"20us\", 0.0], [\"60us\", 1.0]], interpolation = \"linear\", \
                 period = \"100us\" }\n";
    let bytes = "lengths = { uniform = [\"100B\", \"9kB\"] }\n[service]\nrate = \"40Gbit\"\n";
    for arrivals in ["\"poisson\"", "{ batches = { size = { geometric = 3.0 } } }"] {
        let rest = format!(
            "load = 0.8\narrivals = {arrivals}\n{curve}{bytes}[stop]\nmessages = 5000\nreplications = 1\n"
        );
        let port = port("\"fifo\", \"sf\", \"psjf\", \"sjf\", \"ps\"", &rest);
        let layout = layout(&port, true);
        for (at, placed) in build::lanes(&port, &layout, 0).expect("lanes").into_iter().enumerate() {
            let own = departures(placed, 5000);
            let contract = departures(build::contract(&port, &layout, 0, at).expect("a lane"), 5000);
            assert_eq!(own.len(), 5000);
            assert!(own == contract, "{}", port.disciplines[at].name);
        }
    }
}

/// The accelerated engine against the plain one, which runs what has windows: the same figures to the last digit.
#[test]
fn the_accelerated_engine_has_the_figures_of_the_plain_one() {
    let windows = "[measure]\nwindow = \"100u\"\nover_time = true\n";
    for arrivals in ["\"poisson\"", "{ bursty = { peak = 3.0, burst = 20.0 } }"] {
        let rest =
            format!("load = 0.7\narrivals = {arrivals}\n{RUSH}[stop]\npackets = 40_000\nreplications = 4\n");
        let disciplines = "\"fifo\", \"rr\", \"rr_head\", \"sf\", \"alpha:10\"";
        let (fast, plain) = (played(disciplines, &rest), played(disciplines, &format!("{rest}{windows}")));
        assert!(fast.engines.iter().all(|used| used.engine == "accelerated"));
        assert!(plain.engines.iter().all(|used| used.engine == "plain"));
        let values = |outcome: &Outcome| -> Vec<(Option<f64>, Option<f64>)> {
            outcome.estimates.iter().map(|row| (row.value, row.low)).collect()
        };
        assert_eq!(values(&fast), values(&plain));
        for outcome in [&fast, &plain] {
            assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
        }
    }
}

#[test]
fn a_night_without_end_ends_a_run() {
    let rest = "load = 0.5\ncurve = { factors = [[\"0u\", 1.0], [\"2000u\", 0.0]] }\n";
    for disciplines in ["\"fifo\", \"sf\", \"rr\"", "\"hrrn\", \"las:quantum=1\""] {
        let outcome = played(disciplines, rest);
        assert!(!outcome.interrupted && outcome.unstable.is_none());
        assert!((1_800..=2_130).contains(&outcome.messages), "{}", outcome.messages);
        assert!(outcome.notes[0].ends_with("about from 0u to 2000u"), "{:?}", outcome.notes);
        assert!(outcome.checks.iter().all(|check| check.ok != Some(false)), "{:#?}", outcome.checks);
    }
    for discipline in ["\"fifo\"", "\"sf\"", "\"ps\"", "\"hrrn\""] {
        let rest = format!("load = 0.5\ncurve = {{ factors = [[\"0s\", 1.0], [\"2ms\", 0.0]] }}\n{BYTES}");
        let outcome = played(discipline, &rest);
        assert!((11_500..=12_600).contains(&outcome.messages), "{}", outcome.messages);
    }
}

#[test]
fn closed_forms_and_lengths_of_runs_are_not_offered() {
    let outcome = played("\"fifo\", \"sf\"", &format!("load = 0.5\n{RUSH}"));
    assert!(!outcome.theory.is_empty());
    for row in &outcome.theory {
        assert_eq!((row.value, row.agrees), (None, None));
        assert!(row.formula.contains("no closed form for arrivals whose rate follows a curve"), "{row:?}");
    }
    assert!(outcome.settling.is_none_or(|settling| settling.reason.is_none()));
    assert!(outcome.checks.iter().all(|check| check.check != "known formula"));
}

/// Parts of a curve are not alike: intervals are those of the replications, and one replication has none.
#[test]
fn intervals_are_those_of_the_replications() {
    let with = |replications: u32| {
        let rest = format!("load = 0.5\n{RUSH}[stop]\npackets = 32_000\nreplications = {replications}\n");
        played("\"fifo\"", &rest)
    };
    let (one, four, many) = (with(1), with(4), with(40));
    for statistic in ["mean", "p99"] {
        let row = |outcome| figure(outcome, "fifo", ("latency", statistic)).clone();
        assert!(row(&one).value.is_some() && row(&one).low.is_none(), "{:?}", row(&one));
        assert!(row(&four).low.is_some() && row(&many).low.is_some());
    }
    // Student's quantile of three degrees of freedom, not of as many as there are batches.
    let row = figure(&four, "fifo", ("latency", "mean"));
    let half = row.high.expect("an interval") - row.value.expect("a mean");
    assert!((half / row.standard_error.expect("an error") - 3.182).abs() < 1e-3, "{row:?}");
}

/// What was kept of replications, which has batches and sections of each, makes the result of a run.
#[test]
fn what_is_kept_of_a_curve_makes_the_result_of_a_run() {
    for replications in [1, 3, 25] {
        let rest = format!(
            "load = 0.5\n{RUSH}[stop]\npackets = 32_000\nreplications = {replications}\nwarm_up = \"200u\"\n"
        );
        let (port, frame) = scenario("\"fifo\", \"sf\", \"hrrn\"", &rest);
        let cancel = AtomicBool::new(false);
        let found = port.prepare(&cancel).expect("a warm-up");
        let play = |at| (at, port.play(&found, at, &cancel).expect("a replication").expect("finished"));
        let kept = port.gather(&frame, &mut (0..replications).map(play)).expect("a result");
        assert_eq!(format!("{kept:?}"), format!("{:?}", played("\"fifo\", \"sf\", \"hrrn\"", &rest)));
    }
}

#[test]
fn a_warm_up_is_the_messages_of_the_integral() {
    let given = |rest: &str| {
        warmup::given(&port(
            "\"fifo\"",
            &format!(
                "load = 0.5\n{rest}[stop]\npackets = 64_000\nreplications = 1\n{}",
                "warm_up = \"400u\"\n"
            ),
        ))
    };
    // Twice the rate of the mean: as much work as fits. Without the curve it would be half.
    assert_eq!((given(RUSH), given("")), (400, 256));
    let whole = port(
        "\"fifo\"",
        &format!("load = 0.5\n{RUSH}[stop]\npackets = 2400\nreplications = 1\nwarm_up = \"1600u\"\n"),
    );
    // A period of 800 packets, then two of them.
    assert_eq!(warmup::given(&whole), 800);
    assert!(whole.measures_whole_periods());
}

#[test]
fn only_whole_periods_can_be_measured_for_longer() {
    let longer = |stop: &str| {
        let scenario = read(&format!("load = 0.5\n{RUSH}[stop]\n{stop}"));
        scenario.longer(3).map(|longer| longer.1).map_err(|refused| refused.to_string())
    };
    assert_eq!(longer(""), Ok("5,100 messages".to_owned()));
    assert!(longer("packets = 1_600\nreplications = 1\n").is_ok());
    assert!(longer("packets = 2_400\nreplications = 1\nwarm_up = \"1600u\"\n").is_ok());
    for part in
        ["packets = 1_200\nreplications = 1\n", "packets = 1_600\nwarm_up = \"200u\"\nreplications = 1\n"]
    {
        let refused = longer(part).expect_err("a part");
        assert!(refused.contains("a curve that is measured in part"), "{refused}");
    }
    let once = read("load = 0.5\ncurve = { factors = [[\"0u\", 2.0], [\"800u\", 1.0]] }\n");
    assert!(once.longer(3).is_err());
    // 64 times 170 messages, of which a period brings 170.2: what is rounded adds up, and still counts for nothing.
    let longer =
        port("\"fifo\"", &format!("load = 0.5\n{RUSH}[stop]\nmessages = 108_800\nreplications = 10\n"));
    assert!(longer.measures_whole_periods() && longer.notes(0).len() == 1, "{:?}", longer.notes(0));
}

#[test]
fn what_is_measured_of_a_curve_is_said() {
    let outcome = played("\"fifo\"", &format!("load = 0.5\n{RUSH}"));
    assert_eq!(
        outcome.notes,
        [
            "the rate follows workload.curve: the load is 0.5000 over its period of 1600u, at most 1.0000, and 0.5000 in the \
          measured time, about from 0u to 1600u"
        ]
    );
    let part = port("\"fifo\"", &format!("load = 0.5\n{RUSH}[stop]\npackets = 600\nreplications = 1\n"));
    let notes = part.notes(200);
    assert!(notes[0].ends_with("and 0.4000 in the measured time, about from 200u to 1200u"), "{notes:?}");
    assert!(notes.len() == 1, "{notes:?}");
    let part = port("\"fifo\"", &format!("load = 0.5\n{RUSH}[stop]\npackets = 1100\nreplications = 1\n"));
    assert!(
        part.notes(0)[1].starts_with("some 1900u are measured, 1.19 periods of workload.curve"),
        "{:?}",
        part.notes(0)
    );
    let once = read("load = 0.5\ncurve = { factors = [[\"0u\", 2.0], [\"800u\", 1.0]] }\n").model;
    assert!(once.notes(0)[0].contains("0.5000 up to its last point, at most 0.5000"), "{:?}", once.notes(0));
    assert!(played("\"fifo\"", "load = 0.5\n[stop]\npackets = 100\n").notes.is_empty());
}

#[test]
fn a_mean_load_of_1_has_no_means_where_the_curve_repeats() {
    let statement = |rest: &str| port("\"fifo\"", rest).statement;
    let said = statement(&format!("load = 1.2\n{RUSH}")).expect("a statement");
    assert!(
        said.starts_with("offered load 1.2, the mean over workload.curve, is not below 1: more work"),
        "{said}"
    );
    assert!(
        said.ends_with("lower workload.load below 1, or raise workload.gap, or lower its rates"),
        "{said}"
    );
    // At the peak more comes than can be served, in the mean less.
    assert_eq!(statement(&format!("load = 0.9\n{RUSH}")), None);
    // Once: those of a burst.
    assert_eq!(statement("load = 1.2\ncurve = { factors = [[\"0u\", 2.0], [\"800u\", 1.0]] }\n"), None);
}

#[test]
fn the_queue_is_read_at_all_places_of_a_curve() {
    let period = |rest: &str| port("\"fifo\"", &format!("load = 0.5\n{rest}")).measure.queue_period;
    assert_eq!(period(""), Nanos::new(200_000_000_000));
    // Some 32 in a period, and not at the same places of the next.
    assert_eq!(period(RUSH).get() / 1_000_000, 49_442);
    let long = "curve = { factors = [[\"0u\", 1.0], [\"20000u\", 2.0]] }\n";
    assert_eq!(period(long), Nanos::new(200_000_000_000));
    assert_eq!(period(&format!("{RUSH}[measure]\nqueue_period = \"80u\"\n")), Nanos::new(80_000_000_000));
}

/// The mean number present in windows, in mean services, of M_t/M/1 that begins with one: forward equations of Kolmogorov, in
/// steps by the midpoint.
fn present(rate: &dyn Fn(f64) -> f64, windows: usize, length: f64) -> Vec<f64> {
    const STATES: usize = 120;
    const STEPS: usize = 2_000;
    let change = |p: &[f64; STATES], rate: f64| {
        let mut change = [0.0; STATES];
        for state in 0..STATES - 1 {
            let flow = rate * p[state] - p[state + 1];
            change[state] -= flow;
            change[state + 1] += flow;
        }
        change
    };
    let step = length / STEPS as f64;
    let moved = |p: &[f64; STATES], by: &[f64; STATES], step: f64| {
        let mut sum = *p;
        sum.iter_mut().zip(by).for_each(|(own, change)| *own += step * change);
        sum
    };
    let mut p = [0.0; STATES];
    p[1] = 1.0;
    let mut means = Vec::new();
    for window in 0..windows {
        let mut sum = 0.0;
        for number in 0..STEPS {
            let at = window as f64 * length + (number as f64 + 0.5) * step;
            let middle = moved(&p, &change(&p, rate(at - 0.25 * step)), 0.5 * step);
            let by = change(&middle, rate(at));
            p = moved(&p, &by, step);
            sum += middle.iter().enumerate().map(|(state, p)| state as f64 * p).sum::<f64>();
        }
        means.push(sum / STEPS as f64);
    }
    means
}

/// M_t/M/1 by its forward equations, which know nothing of an engine: who is inside, window by window, over a rush in which more
/// comes than can be served. A message of 10,000 bytes in the mean takes a microsecond; the engine counts picoseconds.
#[test]
fn as_many_are_inside_as_in_m_t_m_1() {
    const WINDOWS: usize = 12;
    const REPLICATIONS: u32 = 2_000;
    for interpolation in ["constant", "linear"] {
        let rest = format!(
            "load = 0.6\nlengths = {{ exponential = \"10000B\" }}\n\
             curve = {{ factors = [[\"0us\", 0.5], [\"10us\", 2.5], [\"20us\", 0.2]], \
             interpolation = \"{interpolation}\", period = \"30us\" }}\n[service]\nrate = \"80Gbit\"\n\
             [stop]\nmessages = {}\nreplications = {REPLICATIONS}\n\
             [measure]\nwindow = \"5us\"\nover_time = true\n",
            100 * REPLICATIONS
        );
        let scenario = scenario("\"fifo\"", &rest);
        assert_eq!(scenario.0.ticks, Ticks::PICOSECONDS);
        let (_, curve) = scenario.0.curve().expect("a curve");
        let expected = present(&|at| 0.6 * curve.rate_at((at * 1e3) as u64), WINDOWS, 5.0);
        let outcome = told(&scenario, &mut |_| ()).expect("a result");
        let inside = outcome.windows.iter().find(|row| row.metric == "inside").expect("a row");
        let mut apart = Vec::new();
        for (place, expected) in expected.iter().enumerate() {
            let [low, high] = [inside.low[place], inside.high[place]].map(|end| end.expect("an interval"));
            let error = (high - low) / 2.0 / 1.961;
            assert!(error < 0.05 * expected, "{place}: {error} {expected}");
            apart.push((inside.values[place].expect("a value") - expected) / error);
        }
        // One of twelve is beyond 3.35 deviations one time in a hundred at most, however they depend on each other.
        assert!(apart.iter().all(|apart| apart.abs() < 3.35), "{interpolation}: {apart:?} {expected:?}");
        let peak = expected.iter().copied().fold(0.0, f64::max);
        assert!(peak > 3.0 && expected.iter().any(|mean| *mean < 1.0), "{expected:?}");
    }
}

/// Where the rate changes slowly the queue is that of M/M/1 at the rate of the time: a pointwise stationary one.
#[test]
fn a_slow_curve_is_stationary_at_each_rate() {
    let rest = "load = 0.5\nlengths = { constant = \"1pkt\" }\n\
                curve = { factors = [[\"0u\", 0.6], [\"20000u\", 1.4]], period = \"40000u\" }\n\
                [service]\npacket = { exponential = \"1u\" }\n\
                [stop]\npackets = 820_000\nreplications = 20\n[measure]\nwindow = \"2000u\"\nover_time = true\n";
    let outcome = played("\"fifo\"", rest);
    let row = |metric: &str, statistic: &str| {
        let is = |row: &&weir_lab::stats::windows::OverTimeRow| {
            (row.metric.as_str(), row.statistic.as_str(), row.name.as_deref()) == (metric, statistic, None)
        };
        outcome.windows.iter().find(is).expect("a row")
    };
    let (inside, left) = (row("inside", "mean"), row("departed", "count"));
    for (load, windows) in [(0.3, 2..10), (0.7, 12..20)] {
        let count = windows.len() as f64;
        let mean =
            |of: &[Option<f64>]| windows.clone().map(|at| of[at].expect("a value")).sum::<f64>() / count;
        let width = windows
            .clone()
            .map(|at| (inside.high[at].unwrap() - inside.low[at].unwrap()).powi(2))
            .sum::<f64>();
        // Windows are much longer than the queue remembers, so that they are independent; 2.093 of 19 degrees of freedom.
        let error = width.sqrt() / 2.0 / 2.093 / count;
        let expected = load / (1.0 - load);
        let apart = (mean(&inside.values) - expected).abs();
        assert!(apart < 2.9 * error && error < 0.02 * expected, "{load}: {apart} {error}");
        let messages = mean(&left.values) / (2_000.0 * load);
        assert!((messages - 1.0).abs() < 0.01, "{load}: {messages}");
    }
}

/// A curve of one rate is a port without one, whose mean is known: M/G/1 on packets.
#[test]
fn a_curve_of_one_rate_has_the_closed_form_of_none() {
    let level = "curve = { factors = [[\"0u\", 1.0], [\"1000u\", 1.0]], period = \"7000u\" }\n";
    let stop = "[stop]\npackets = 2_000_000\nreplications = 20\nwarm_up = \"2000u\"\n";
    let plain = played("\"fifo\", \"sf\"", &format!("load = 0.7\n{stop}"));
    let curved = played("\"fifo\", \"sf\"", &format!("load = 0.7\n{level}{stop}"));
    for discipline in ["fifo", "sf"] {
        let known = plain.theory.iter().find(|row| {
            (row.discipline.as_deref(), row.class.as_str(), row.metric)
                == (Some(discipline), "all", "latency")
        });
        let expected = known.and_then(|row| row.value).expect("a closed form");
        for outcome in [&plain, &curved] {
            let row = figure(outcome, discipline, ("latency", "mean"));
            let error = row.standard_error.expect("an error");
            let apart = row.value.expect("a mean") - expected;
            // The half-width of a 99 % interval with 19 degrees of freedom.
            assert!(apart.abs() < 2.861 * error && error < 0.02 * expected, "{discipline}: {apart} {error}");
        }
    }
}
