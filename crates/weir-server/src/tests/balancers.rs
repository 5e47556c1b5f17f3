//! Dispatchers of many cores against their limits, with what they know and how old it is; cores of different speeds.
//!
//! | | |
//! |-|-|
//! | `d` choices, many cores | [`weir_theory::jsq_response`], with its sources |
//! | one choice and one remembered, many cores | Mitzenmacher, Prabhakar and Shah, *Load balancing with memory*, FOCS 2002, whose fixed point is computed here; Luczak and Norris, *Averaging over fast variables in the fluid limit for Markov chains*, Annals of Applied Probability 23, 2013 |
//! | join an idle queue, many cores and receivers | after Lu et al., *Join-Idle-Queue*, Performance Evaluation 68, 2011, section 3: independent lists and queues, computed here with the servers that leave a list |
//! | old views | Mitzenmacher, *How useful is old information?*, IEEE TPDS 11, 2000: with age the shortest queue does worse than chance, and two choices cross later |
//! | M/M/2 with two speeds | the balance equations of a birth and death process; Singh, *Two-server Markovian queues with balking: heterogeneous vs. homogeneous servers*, Operations Research 18, 1970 |

use super::queues::{REPLICATIONS, SERVICE, constant, exponential, has_mean, mean, unimodal};
use super::{delay, run};
use crate::model::{Fault, ServerScenario, Workload};
use weir_core::units::{Nanos, Speed};

/// Every request is received by any receiver.
fn received(made: &mut ServerScenario, receivers: u32) {
    made.site.receivers = receivers;
    if let Workload::Open(open) = &mut made.workload {
        open.flows = receivers;
    }
}

#[test]
fn d_choices_leave_what_the_limit_says() {
    for (spec, choices) in [("power_of_two:3", 3), ("power_of_two:5", 5)] {
        let response = weir_theory::jsq_response(choices, 0.7).expect("a load") * SERVICE;
        has_mean(&unimodal(spec, 512, 0.7, exponential(), 60_000.0), response - SERVICE);
    }
}

/// The mean response, in services, with one server drawn and one remembered.
///
/// A share `s_i` of the servers has `i` requests or more. Between two changes of these shares the length of the remembered
/// server is a chain that is in balance: with a length `j` drawn from the shares and `k` remembered, the next is the lesser
/// of the two after the lesser has got the request. Then `s_i = load s_(i-1) P(k >= i-1)`.
fn remembered_response(load: f64) -> f64 {
    const LONGEST: usize = 24;
    let mut shares = [0.0; LONGEST + 1];
    (0..=LONGEST).for_each(|i| shares[i] = load.powi(i as i32));
    for _ in 0..400 {
        let mut chain = [0.0; LONGEST + 1];
        chain[0] = 1.0;
        for _ in 0..400 {
            let mut next = [0.0; LONGEST + 1];
            for (k, of_k) in chain.iter().enumerate() {
                for j in 0..LONGEST {
                    let lesser = (j.max(k)).min(j.min(k) + 1);
                    next[lesser.min(LONGEST)] += of_k * (shares[j] - shares[j + 1]);
                }
            }
            chain = next;
        }
        for i in 1..=LONGEST {
            let at_least: f64 = chain[i - 1..].iter().sum();
            shares[i] = load * shares[i - 1] * at_least;
        }
    }
    shares[1..].iter().sum::<f64>() / load
}

#[test]
fn one_choice_with_a_memory_leaves_what_the_limit_says() {
    for load in [0.7, 0.85] {
        let response = remembered_response(load);
        let drawn = |choices| weir_theory::jsq_response(choices, load).expect("a load");
        assert!(drawn(2) < response && response < 0.8 * drawn(1), "{response}");
        let made = unimodal("power_of_two(1,memory=1)", 500, load, exponential(), 100_000.0);
        has_mean(&made, (response - 1.0) * SERVICE);
    }
}

/// The mean delay of join-idle-queue, in services, with many receivers and `ratio` servers for each.
///
/// A list is a birth and death process: servers report at a rate `b`, and leave since a request of the receiver takes one or
/// since one of them gets a request at random, at a rate `a` each. A server that is not idle gets requests at random alone,
/// so that its length, where it has one, is that of M/M/1 at the load `a`: `b = ratio load (1 - a)`, `a = load P(empty)`.
fn idle_queue_delay(ratio: f64, load: f64) -> f64 {
    let empty = |guess: f64| {
        let at_random = load * guess;
        let reports = ratio * load * (1.0 - at_random);
        let (mut weight, mut all) = (1.0, 1.0);
        for k in 1..2_000 {
            weight *= reports / (ratio * load + f64::from(k) * at_random);
            all += weight;
        }
        1.0 / all
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if empty(middle) > middle { low = middle } else { high = middle }
    }
    let at_random = load * low;
    at_random / (1.0 - at_random)
}

#[test]
fn join_idle_queue_has_the_delay_of_independent_lists() {
    for (receivers, load) in [(100, 0.9), (50, 0.8)] {
        let mut made = unimodal("jiq", 1_000, load, exponential(), 400_000.0);
        received(&mut made, receivers);
        has_mean(&made, idle_queue_delay(1_000.0 / f64::from(receivers), load) * SERVICE);
    }
}

/// By how much one discipline's mean delay is above another's, over the same requests, in services; and four standard errors.
fn above(one: &str, other: &str, of: impl Fn(&str) -> ServerScenario) -> (f64, f64) {
    let (one, other) = (of(one), of(other));
    let difference =
        |replication| (mean(&one, replication, delay) - mean(&other, replication, delay)) / SERVICE;
    let all: Vec<f64> = (0..REPLICATIONS).map(difference).collect();
    let n = f64::from(REPLICATIONS);
    let mean = all.iter().sum::<f64>() / n;
    let variance = all.iter().map(|each| (each - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, 4.0 * (variance / n).sqrt())
}

#[test]
fn an_old_view_of_all_is_worse_than_none() {
    let of = |spec: &str| unimodal(spec, 16, 0.8, exponential(), 4_000.0);
    // Against chance, by the age in services: the shortest of all crosses before the shorter of two does.
    for (spec, is_better) in [
        ("stale(jsq,every=1us)", true),
        ("stale(jsq,every=300us)", false),
        ("stale(power_of_two,every=10us)", true),
        ("stale(power_of_two,every=40us)", true),
        ("stale(jsq,delay=1us)", true),
        ("stale(jsq,delay=300us)", false),
    ] {
        let (above, interval) = above(spec, "random", of);
        let is_clear = if is_better { above < -interval } else { above > interval };
        assert!(is_clear, "{spec}: {above} +- {interval} services above random");
    }
    let (above, interval) = above("stale(power_of_two,every=100us)", "stale(jsq,every=100us)", of);
    assert!(above < -interval, "two choices against all, both old: {above} +- {interval}");
}

#[test]
fn a_view_of_ones_own_requests_is_between_all_and_none() {
    let of = |spec: &str| {
        let mut made = unimodal(spec, 8, 0.8, exponential(), 4_000.0);
        received(&mut made, 4);
        made
    };
    for (spec, than) in [("jsq", "local:jsq"), ("local:jsq", "random")] {
        let (above, interval) = above(spec, than, of);
        assert!(above < -interval, "{spec} against {than}: {above} +- {interval}");
    }
    // With one receiver, it is all there is.
    let delays = |spec: &str| {
        let (told, _) = run(&unimodal(spec, 5, 0.9, exponential(), 3_000.0));
        told.done
    };
    assert_eq!(delays("local:jsq"), delays("jsq"));
    assert_eq!(delays("subset(jsq,size=9)").len(), delays("jsq").len());
}

/// Cores of these speeds, in parts of 1, at a load of their sum.
fn with_speeds(spec: &str, speeds: &[f64], load: f64, requests: f64) -> ServerScenario {
    let sum: f64 = speeds.iter().sum();
    let cores = speeds.len() as u32;
    let mut made = unimodal(spec, cores, load * sum / f64::from(cores), exponential(), requests);
    made.site.speeds = speeds.iter().map(|speed| Speed::new((speed * 1e6) as u32)).collect();
    made.load = Some(load);
    made
}

/// The mean wait of M/M/2 with servers of these rates, of which the first is taken where both are idle.
fn two_speeds(arrival: f64, first: f64, second: f64) -> f64 {
    let both = first + second;
    // Weights of states: both busy and nobody waiting is 1.
    let only_second = first / (arrival + second);
    let only_first = both / arrival - only_second;
    let none = (first * only_first + second * only_second) / arrival;
    let load = arrival / both;
    let all = none + only_first + only_second + 1.0 / (1.0 - load);
    load / (1.0 - load).powi(2) / all / arrival
}

#[test]
fn one_queue_of_two_speeds_is_that_of_the_balance_equations() {
    assert!((two_speeds(1.4, 1.0, 1.0) - 0.49 / 0.51).abs() < 1e-12, "M/M/2 where both are alike");
    for speeds in [[1.0, 0.25], [0.25, 1.0], [0.5, 0.5]] {
        let load = 0.7;
        let arrival = load * (speeds[0] + speeds[1]);
        let expected = two_speeds(arrival, speeds[0], speeds[1]) * SERVICE;
        has_mean(&with_speeds("cfcfs", &speeds, load, 10_000.0), expected);
    }
}

#[test]
fn chance_over_two_speeds_is_m_m_1_at_each() {
    let (speeds, load) = ([1.0, 0.8], 0.6);
    let arrival = load * 1.8 / 2.0;
    let wait = |speed: f64| arrival / speed / (speed - arrival);
    let expected = f64::midpoint(wait(1.0), wait(0.8)) * SERVICE;
    has_mean(&with_speeds("random", &speeds, load, 10_000.0), expected);
}

#[test]
fn what_knows_the_speeds_does_better() {
    let of = |spec: &str| with_speeds(spec, &[1.0, 0.2, 1.0, 0.2], 0.7, 4_000.0);
    for (spec, than) in [
        ("weighted_rr", "weighted_rr:weights=1"),
        ("least_requests", "least_requests:weights=1"),
        ("least_work", "jsq"),
        ("peak_ewma(decay=1ms)", "random"),
    ] {
        let (above, interval) = above(spec, than, of);
        assert!(above < -interval, "{spec} against {than}: {above} +- {interval}");
    }
}

/// A core stands still while requests come: who sends round stays with it, who checks does not.
#[test]
fn health_checks_leave_a_core_that_stands_still() {
    let of = |spec: &str| {
        let mut made = unimodal(spec, 4, 0.5, constant(), 2_000.0);
        let (at, lasts) = (Nanos::new(500_000), Nanos::new(2_000_000));
        made.faults = vec![Fault { core: 1, at, lasts, speed: Speed::ZERO }];
        made.stop.warm_up = Nanos::ZERO;
        run(&made)
    };
    let longest = |told: &super::Told| told.done.iter().map(delay).max().expect("some");
    let (round, _) = of("rr");
    let (checked, left) = of("health(rr,after=50us)");
    // The first to wait there waits for the whole fault; with checks only those wait that came before they were noticed.
    assert!(longest(&round) > 1_900_000, "{}", longest(&round));
    let long = |told: &super::Told| told.done.iter().filter(|done| delay(done) > 500_000).count();
    assert!(long(&round) > 50 && long(&checked) <= 3, "{} {}", long(&round), long(&checked));
    assert!(left.moved > 50 && left.done == left.offered, "{left:?}");
}
