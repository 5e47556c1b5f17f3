//! Rates of flows that follow the time: departures by hand, and their numbers against the curve.

use super::outcome_of;
use crate::build;
use crate::collector::Collector;
use crate::model::Tick;
use crate::plan::{Plan, exponential, seconds};
use crate::tests::busy_network;
use weir_core::units::{Instant, Nanos};
use weir_tg::Distribution;
use weir_workload::curve::Interpolation::{Constant, Linear};

const MILLISECOND: u64 = 1_000_000;

/// When the packets of the first flow leave, in nanoseconds.
pub(super) fn departures(plan: &Plan, replication: u32) -> Vec<u64> {
    let source = build::sources(&plan.0, replication).next().expect("a flow");
    let mut source = source.expect("a source").expect("an open loop");
    let (mut collector, mut taken) = (Collector::new(&plan.0, replication), Vec::new());
    while source.head(&mut collector) < Instant::NEVER {
        source.take(&mut taken);
    }
    taken.iter().map(|flight| flight.sent.get()).collect()
}

/// One flow that departs each millisecond in the mean.
fn plan(gap: Distribution, duration: f64) -> Plan {
    let mut plan = Plan::new(2, &["fifo"], duration);
    plan.link((0, 1), 8_000_000_000, None);
    plan.flow(&[0], Plan::drawn(gap, Distribution::Constant(1_000.0)));
    plan
}

fn equal_gaps(duration: f64) -> Plan {
    plan(Distribution::Constant(1e-3), duration)
}

fn follow(
    plan: &mut Plan,
    points: &[(u64, f64)],
    interpolation: weir_workload::curve::Interpolation,
    period: Option<u64>,
) {
    let traffic = plan.0.flows[0].traffic.clone();
    plan.0.flows[0].traffic = Plan::following(traffic, points, interpolation, period);
}

/// At half of the rate for 10 ms, and at three halves for as long: five and fifteen packets, from the start of the flow.
#[test]
fn equal_gaps_pass_at_the_rate_of_the_time() {
    let mut plan = equal_gaps(0.1);
    follow(&mut plan, &[(0, 1.0), (10, 3.0)], Constant, Some(20));
    plan.0.flows[0].start = Nanos::new(3 * MILLISECOND);
    let slow = |number: u64| 2 * MILLISECOND * number;
    let fast = |number: u64| 10 * MILLISECOND + 2 * MILLISECOND * (number - 5) / 3;
    let first = (1..=20).map(|number| if number < 5 { slow(number) } else { fast(number) });
    let second = (1..5).map(|number| 20 * MILLISECOND + slow(number));
    let expected: Vec<u64> = first.chain(second).map(|at| 3 * MILLISECOND + at).collect();
    assert_eq!(departures(&plan, 0)[..24], expected);
}

/// From 0 to twice the mean in a line: half of the packets after 1/√2 of the time, and none after the end.
#[test]
fn a_line_is_followed_and_where_the_rate_ends_so_does_the_flow() {
    let mut plan = equal_gaps(1.0);
    follow(&mut plan, &[(0, 0.0), (98, 2.0), (100, 0.0)], Linear, None);
    let sent = departures(&plan, 0);
    let after = |part: f64| (part.sqrt() * 98.0 * MILLISECOND as f64) as u64;
    // Of a hundred, 98 come on the way up.
    assert_eq!((sent[48], sent[97] < 98 * MILLISECOND + 1), (after(0.5), true));
    assert!((98..=100).contains(&sent.len()) && sent.iter().all(|&at| at <= 100 * MILLISECOND), "{sent:?}");
    let mut plan = equal_gaps(1.0);
    follow(&mut plan, &[(0, 1.0), (10, 0.0)], Constant, None);
    assert_eq!(departures(&plan, 0), (1..10).map(|number| number * MILLISECOND).collect::<Vec<_>>());
}

#[test]
fn departures_of_a_curve_wait_for_ticks() {
    let mut plan = equal_gaps(0.02);
    follow(&mut plan, &[(0, 1.0), (10, 3.0)], Constant, Some(20));
    plan.0.flows[0].tick = Some(Tick::aligned(seconds(0.005)));
    let sent = departures(&plan, 0).into_iter().map(|at| at / MILLISECOND).collect::<Vec<_>>();
    assert_eq!(sent[..5], [5, 5, 10, 10, 10]);
    assert!(sent[5..].iter().all(|&at| at == 15) && sent.len() == 12, "{sent:?}");
}

#[test]
fn a_curve_of_one_rate_changes_no_byte() {
    let mut level = busy_network();
    let expected = outcome_of(&level, 2);
    for flow in &mut level.0.flows {
        flow.traffic = Plan::following(flow.traffic.clone(), &[(0, 3.0), (70, 3.0)], Constant, None);
    }
    assert!(level.0.curves().count() > 0);
    let text = |outcome| serde_json::to_string(outcome).expect("text");
    assert_eq!(text(&outcome_of(&level, 2)), text(&expected));
}

/// Numbers of a non-homogeneous Poisson process in windows that do not overlap are independent, and have Poisson laws whose means
/// are the integrals of the rate (Cinlar, section 4.7): over many replications, their sums and their variances, each within
/// the interval that holds 99 % of χ².
#[test]
fn poisson_gaps_become_the_non_homogeneous_process() {
    const REPLICATIONS: u32 = 400;
    let mut plan = plan(exponential(1e-3), 0.16);
    // A tent of 60 ms in a period of 80 ms, in which 80 packets come.
    follow(&mut plan, &[(0, 0.0), (30, 4.0), (60, 0.0)], Linear, Some(80));
    let mean = |window: usize| 80.0 * [1.0, 3.0, 5.0, 5.0, 3.0, 1.0, 0.0, 0.0][window % 8] / 18.0;
    let (mut sums, mut apart) = ([0_u64; 16], 0.0);
    for replication in 0..REPLICATIONS {
        let mut counts = [0_u64; 16];
        departures(&plan, replication).iter().for_each(|at| counts[(at / (10 * MILLISECOND)) as usize] += 1);
        for (window, count) in counts.into_iter().enumerate() {
            sums[window] += count;
            apart +=
                if mean(window) > 0.0 { (count as f64 - mean(window)).powi(2) / mean(window) } else { 0.0 };
        }
    }
    let all = f64::from(REPLICATIONS);
    let squares = sums.iter().enumerate().filter(|(window, _)| mean(*window) > 0.0);
    let squares: f64 =
        squares.map(|(window, &sum)| (sum as f64 - all * mean(window)).powi(2) / (all * mean(window))).sum();
    // Twelve windows have packets; of as many degrees of freedom, and of 4,800.
    assert!((3.074..28.300).contains(&squares), "{squares} {sums:?}");
    assert!((4_551.4..5_055.8).contains(&apart), "{apart}");
    assert!([6, 7, 14, 15].iter().all(|&window| sums[window] == 0), "{sums:?}");
}
