//! The engine against queueing theory: means inside the intervals of 32 replications.
//!
//! | | |
//! |-|-|
//! | M/M/k | Erlang C: `W = C(k, a) S / (k - a)`, with the load `a` of all cores |
//! | M/D/k | Crommelin, *Delay probability formulae when the holding times are constant*, P.O. Electrical Engineers' Journal 25, 1932 |
//! | M/G/1 processor sharing | Kleinrock, *Time-shared systems: a theoretical treatment*, J. ACM 14, 1967: every response is `S / (1 - load)` in the mean, whatever the law |
//! | power of two choices, many cores | Mitzenmacher, *The power of two choices in randomized load balancing*, IEEE Trans. Parallel and Distributed Systems 12, 2001: a share `load^(2^i - 1)` of the queues has `i` requests or more |
//! | E_k/D/1 | what a core sees of Poisson arrivals dealt round: with equal services the same delays as M/D/k, request by request |

use super::{Told, delay, run, run_stepwise};
use crate::generators::{class, extreme_bimodal, scenario};
use crate::job::Job;
use crate::model::ServerScenario;
use crate::record::Done;
use weir_core::units::Nanos;
use weir_workload::duration::Law;

pub(super) const SERVICE: f64 = 10_000.0;
pub(super) const REPLICATIONS: u32 = 32;

pub(super) fn unimodal(spec: &str, cores: u32, load: f64, law: Law, requests: f64) -> ServerScenario {
    let mut made = scenario(&[spec], cores, vec![class("request", 1.0, law)], load).expect(spec);
    let gap = SERVICE / (load * f64::from(cores));
    made.stop.duration = Nanos::new((gap * requests) as u64);
    made.stop.warm_up = Nanos::new((gap * requests / 10.0) as u64);
    made
}

pub(super) fn constant() -> Law {
    Law::Constant(Nanos::new(SERVICE as u64))
}

pub(super) fn exponential() -> Law {
    Law::Exponential(Nanos::new(SERVICE as u64))
}

/// The mean of something of the requests that count in a replication.
pub(super) fn mean(scenario: &ServerScenario, replication: u32, of: fn(&Done) -> u64) -> f64 {
    let (mut told, _) = run_stepwise(scenario, Job { replication, discipline: 0 }).expect("goes well");
    told.done.retain(|done| done.arrived.get() >= scenario.stop.warm_up.get());
    told.mean(of)
}

/// As [`has_mean_of`], of delays.
pub(super) fn has_mean(scenario: &ServerScenario, expected: f64) {
    has_mean_of(scenario, delay, expected);
}

/// # Panics
/// The expected mean is outside 4 standard errors, which of 32 replications one interval in 2,700 is.
fn has_mean_of(scenario: &ServerScenario, of: fn(&Done) -> u64, expected: f64) {
    let means: Vec<f64> = (0..REPLICATIONS).map(|replication| mean(scenario, replication, of)).collect();
    let n = f64::from(REPLICATIONS);
    let mean = means.iter().sum::<f64>() / n;
    let variance = means.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!((mean - expected).abs() < 4.0 * error, "{mean} +- {error}, expected {expected}");
    assert!(error < 0.05 * expected, "the interval says something: {error} of {expected}");
}

/// Erlang's probability that all of `k` servers are busy, by the recursion of the loss formula.
fn erlang_c(k: u32, a: f64) -> f64 {
    let loss = (1..=k).fold(1.0, |loss, n| a * loss / (f64::from(n) + a * loss));
    let k = f64::from(k);
    k * loss / (k - a * (1.0 - loss))
}

/// The mean delay of M/D/k, in services: Poisson probabilities of at least `ik` arrivals in `i` services, for all `i`.
fn crommelin(k: u32, load: f64) -> f64 {
    let a = load * f64::from(k);
    let (mut sum, mut factorial) = (0.0, 0.0);
    for i in 1.. {
        let (mean, first) = (f64::from(i) * a, i * k);
        factorial += (first - k + 1..=first).map(|j| f64::from(j).ln()).sum::<f64>();
        let mut probability = (f64::from(first) * mean.ln() - mean - factorial).exp();
        let (mut from, mut after, mut j) = (probability, 0.0, first);
        while probability > 1e-18 {
            j += 1;
            probability *= mean / f64::from(j);
            (from, after) = (from + probability, after + probability);
        }
        let term = from - f64::from(k) / a * after;
        sum += term;
        if term < 1e-12 {
            break;
        }
    }
    sum
}

#[test]
fn the_formulae_agree_where_they_meet() {
    for load in [0.3, 0.7, 0.9] {
        assert!((crommelin(1, load) - load / (2.0 * (1.0 - load))).abs() < 1e-6);
        assert!((erlang_c(1, load) - load).abs() < 1e-12);
    }
}

#[test]
fn one_queue_is_m_m_k() {
    for (cores, load) in [(2, 0.7), (8, 0.8)] {
        let a = load * f64::from(cores);
        let expected = erlang_c(cores, a) * SERVICE / (f64::from(cores) - a);
        has_mean(&unimodal("cfcfs", cores, load, exponential(), 10_000.0), expected);
    }
}

#[test]
fn random_is_m_d_1_at_every_core() {
    for load in [0.5, 0.8] {
        let expected = load * SERVICE / (2.0 * (1.0 - load));
        has_mean(&unimodal("random", 4, load, constant(), 10_000.0), expected);
    }
}

#[test]
fn round_robin_is_e_k_d_1_at_every_core() {
    for (cores, load) in [(3, 0.6), (7, 0.85)] {
        has_mean(&unimodal("rr", cores, load, constant(), 10_000.0), crommelin(cores, load) * SERVICE);
    }
}

#[test]
fn small_quanta_without_cost_share_the_core() {
    let response: fn(&Done) -> u64 = |done| (done.ended - done.arrived).get();
    for law in [exponential(), constant()] {
        let shared = unimodal("preemptive:quantum=50ns,cost=0ns", 1, 0.6, law, 4_000.0);
        has_mean_of(&shared, response, SERVICE / (1.0 - 0.6));
    }
}

#[test]
fn two_choices_leave_queues_that_are_doubly_exponential() {
    let load: f64 = 0.7;
    let response = (1..8).map(|i| load.powi((1 << i) - 2)).sum::<f64>() * SERVICE;
    let many = unimodal("power_of_two", 512, load, exponential(), 60_000.0);
    has_mean(&many, response - SERVICE);
}

fn delays(told: &Told) -> Vec<(u64, u64)> {
    let mut delays: Vec<(u64, u64)> =
        told.done.iter().map(|done| (done.arrived.get(), delay(done))).collect();
    delays.sort_unstable();
    delays
}

#[test]
fn equal_services_dealt_round_wait_as_long_as_in_one_queue() {
    let (dealt, _) = run(&unimodal("rr", 5, 0.9, constant(), 5_000.0));
    let (shared, _) = run(&unimodal("cfcfs", 5, 0.9, constant(), 5_000.0));
    assert_eq!(delays(&dealt), delays(&shared));
}

/// The delay that one request in a thousand exceeds.
fn tail(spec: &str, load: f64, law: Law) -> u64 {
    let (told, _) = run(&unimodal(spec, 8, load, law, 20_000.0));
    let mut delays: Vec<u64> = told.done.iter().map(delay).collect();
    delays.sort_unstable();
    delays[delays.len() * 999 / 1000]
}

#[test]
fn one_queue_is_best_and_chance_worst_and_all_meet_where_nobody_waits() {
    let tails = |law| ["cfcfs", "jsq", "rr", "random"].map(|spec| tail(spec, 0.8, law));
    let [central, shortest, dealt, random] = tails(exponential());
    assert!(
        central <= shortest && shortest <= dealt && dealt <= random,
        "{central} {shortest} {dealt} {random}"
    );
    assert!(random > 2 * central, "{random} {central}");
    // Equal services dealt round are as good as one queue; lengths do not say who is done first.
    let [central, shortest, dealt, random] = tails(constant());
    assert!(
        central == dealt && dealt <= shortest && shortest < random,
        "{central} {shortest} {dealt} {random}"
    );
    let alone = ["cfcfs", "jsq", "rr"].map(|spec| tail(spec, 0.001, constant()));
    assert_eq!(alone, [0; 3]);
}

#[test]
fn the_delay_of_a_saturated_core_is_that_of_a_full_queue() {
    let mut saturated = unimodal("rr", 1, 2.0, constant(), 20_000.0);
    saturated.site.queue = Some(64);
    let (mut told, left) = run(&saturated);
    told.done.retain(|done| done.arrived.get() >= saturated.stop.warm_up.get());
    let full = 64.0 * SERVICE;
    let mean = told.mean(delay);
    assert!((0.98 * full..=full).contains(&mean), "{mean} {full}");
    assert!((left.dropped as f64 / left.offered as f64 - 0.5).abs() < 0.02);
}

#[test]
fn every_level_has_its_share_of_work() {
    let (told, _) = run(&crate::generators::lab(&["rr"], false, Nanos::new(23_000_000)).expect("valid"));
    let in_level = |level: u64| {
        let within = level * 23_000_000..(level + 1) * 23_000_000;
        told.done.iter().filter(|done| within.contains(&done.arrived.get())).count() as f64
    };
    for level in 1..6 {
        assert!((in_level(level) / in_level(level - 1) - 2.0).abs() < 0.01, "{level}");
    }
    // Trains of 4,232 requests over seven cores at the last level: the last of one waits for 604 before it.
    assert!(told.done.iter().map(delay).max().is_some_and(|most| most > 1_700_000));
}

#[test]
fn a_mixture_has_the_share_of_its_classes() {
    let mut mixed = scenario(&["cfcfs"], 8, extreme_bimodal(), 0.5).expect("valid");
    mixed.stop.duration = Nanos::new(20_000_000);
    let (told, _) = run(&mixed);
    let long = told.done.iter().filter(|done| done.class == 1).count() as f64 / told.done.len() as f64;
    assert!((long - 0.005).abs() < 4.0 * (0.005 / told.done.len() as f64).sqrt(), "{long}");
    assert!(told.done.iter().all(|done| done.service.get() == [500, 500_000][usize::from(done.class)]));
}
