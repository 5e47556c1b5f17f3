use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::generators::{class, extreme_bimodal, scenario};
use crate::outcome::ServerOutcome;
use crate::run::run;
use weir_lab::control::Control;
use weir_lab::provenance::Frame;
use weir_workload::duration::Law;

fn exponential(names: &[&str], cores: u32, load: f64) -> ServerScenario {
    scenario(names, cores, vec![class("a", 1.0, Law::Exponential(Nanos::new(1_000)))], load).expect("specs")
}

fn length(server: &ServerScenario, place: usize) -> Length {
    Length::of(server, place).expect("a length")
}

fn near(found: f64, wanted: f64) -> bool {
    (found / wanted - 1.0).abs() < 1e-9
}

#[test]
fn relaxation_by_hand() {
    // M/M/1: 4 s / (1 - ρ)²; four cores that share are four times as fast, four that do not are not.
    assert!(near(length(&exponential(&["cfcfs"], 1, 0.9), 0).run.relaxation, 400_000.0));
    let four = exponential(&["cfcfs", "random", "rr"], 4, 0.9);
    assert!(near(length(&four, 0).run.relaxation, 100_000.0));
    assert!(near(length(&four, 1).run.relaxation, 400_000.0));
    // The gaps of each core are sums of four: a² + c² is 1.25.
    assert!(near(length(&four, 2).run.relaxation, 250_000.0));
    assert!(
        [0, 1, 2]
            .iter()
            .all(|&place| near(length(&four, place).run.variance, in_heavy_traffic(0.9, 100_000.0)))
    );
    // 99.5 % of 0.5 us and 0.5 % of 500 us: E[S²] is 1250.25 us², E[S] 2.9975 us.
    let bimodal = scenario(&["cfcfs"], 8, extreme_bimodal(), 0.8).expect("specs");
    let wanted = 2.0 * 1_250.248_75 / 2.997_5 / (8.0 * 0.04) * 1_000.0;
    assert!(near(length(&bimodal, 0).run.relaxation, wanted), "{wanted}");
    // Never below a service.
    assert!(near(length(&exponential(&["cfcfs"], 100, 0.1), 0).run.relaxation, 1_000.0));
}

#[test]
fn bounded_queues_forget_sooner() {
    let mut server = exponential(&["cfcfs"], 1, 0.999);
    let free = length(&server, 0).run.relaxation;
    server.site.queue = Some(1_000_000);
    assert!((length(&server, 0).run.relaxation / free - 1.0).abs() < 0.01);
    server.site.queue = Some(10);
    // 2 b² / (π² σ²): b is ten services, σ² two.
    let wanted = 2.0 * 10_000.0_f64.powi(2) / (core::f64::consts::PI.powi(2) * 2_000.0);
    assert!((length(&server, 0).run.relaxation / wanted - 1.0).abs() < 0.01);
}

#[test]
fn a_short_run_is_warned_of_with_its_remedy() {
    let mut server = exponential(&["cfcfs"], 1, 0.99);
    // τ is 40 ms; 10 ms are measured.
    let warning = length(&server, 0).warning("cfcfs").expect("a warning");
    for part in [
        "load 0.99",
        "some 40ms to forget",
        "1 x 10ms",
        "100 % too small",
        "at most 5.0 %",
        "at least 12s",
        "some 12000000 requests",
    ] {
        assert!(warning.text.contains(part), "{part}: {}", warning.text);
    }
    server.stop.duration = Nanos::new(12_000_000_000);
    assert_eq!(length(&server, 0).warning("cfcfs"), None);
    // As long together, but each too short to forget how it began.
    server.stop.replications = 300;
    server.stop.duration = Nanos::new(41_000_000);
    let warning = length(&server, 0).warning("cfcfs").expect("a warning");
    assert!(warning.text.contains("25 % too small") && !warning.text.contains("standard error"));
    server.stop.warm_up = Nanos::new(80_000_000);
    server.stop.duration = Nanos::new(121_000_000);
    assert_eq!(length(&server, 0).warning("cfcfs"), None);
}

#[test]
fn a_load_in_a_warning_ends_where_its_digits_do() {
    let load = 1.1 * 0.9;
    assert_eq!(load.to_string(), "0.9900000000000001");
    let warning = length(&exponential(&["cfcfs"], 1, load), 0).warning("cfcfs").expect("a warning");
    assert!(warning.text.contains("load 0.99:"), "{}", warning.text);
}

#[test]
fn what_is_needed_is_enough() {
    for (load, replications, warm_up) in
        [(0.5, 1, 0), (0.99, 1, 1_000_000), (0.95, 20, 500_000), (0.999, 3, 0)]
    {
        let mut server = exponential(&["cfcfs", "random"], 4, load);
        server.stop.replications = replications;
        server.stop.warm_up = Nanos::new(warm_up);
        server.stop.duration = Nanos::new(warm_up + 1_000);
        let short = length(&server, 1);
        assert!(short.is_short());
        let needed = short.needed_time();
        server.stop.duration = Nanos::new(needed.ceil() as u64);
        assert!(!length(&server, 1).is_short(), "{load}: {needed}");
    }
}

#[test]
fn nothing_is_said_where_there_is_no_steady_load() {
    assert_eq!(Length::of(&exponential(&["cfcfs"], 1, 1.0), 0), None);
    let mut server = exponential(&["cfcfs"], 1, 0.5);
    server.stop.warm_up = server.stop.duration;
    assert_eq!(Length::of(&server, 0), None);
}

fn played(server: &ServerScenario) -> ServerOutcome {
    let (cancel, threads) = (AtomicBool::new(false), NonZeroUsize::new(2).expect("threads"));
    let mut control = Control { threads, cancel: &cancel, progress: &mut |_| {}, records: None };
    run(server, &Frame::default(), &mut control).expect("a result")
}

/// The mean delay of M/M/1 over its limit, and the standard error of that of one replication.
fn simulated(load: f64, duration: u64, replications: u32) -> (f64, f64) {
    let mut server = exponential(&["cfcfs"], 1, load);
    server.stop.duration = Nanos::new(duration);
    server.stop.replications = replications;
    server.measure.tails = false;
    let outcome = played(&server);
    let row = outcome
        .estimates
        .iter()
        .find(|row| row.subject.name == "all" && row.metric == "delay")
        .expect("a delay");
    let limit = load / (1.0 - load) * 1e-6;
    let error = row.standard_error.expect("an error") * f64::from(replications).sqrt();
    (row.value.expect("a mean") / limit, error / limit)
}

#[test]
fn estimates_are_near_what_replications_show() {
    let mut server = exponential(&["cfcfs"], 1, 0.8);
    // τ is 100 us: 20 of them, then 2.
    server.stop.duration = Nanos::new(2_000_000);
    let (_, error) = simulated(0.8, 2_000_000, 300);
    assert!(
        (error / length(&server, 0).run.error() - 1.0).abs() < 0.25,
        "{error} {}",
        length(&server, 0).run.error()
    );
    server.stop.duration = Nanos::new(300_000);
    let (mean, _) = simulated(0.8, 300_000, 2_000);
    let bias = length(&server, 0).run.bias();
    assert!((1.0 - mean - bias).abs() < 0.04, "{mean} {bias}");
}
