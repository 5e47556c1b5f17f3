//! The same scenario gives the same bytes, for any number of threads.

use super::script::{outcome, scenario};

/// The result of a scenario as it is written, for 1, 2 and 8 threads.
fn same_bytes(disciplines: &[&str], rest: &str) -> String {
    let scenario = scenario(disciplines, rest);
    let bytes = |threads| serde_json::to_string(&outcome(&scenario, threads)).expect("numbers and text");
    let one = bytes(1);
    assert_eq!(one, bytes(2));
    assert_eq!(one, bytes(8));
    one
}

const MIXED: [&str; 7] = ["fifo", "hrrn", "rr", "las:quantum=1", "alpha:10", "alpha:0.3", "in_order(sf)"];

#[test]
fn both_engines_with_tails_and_replications() {
    let rest = "[workload]\nload = 0.8\n[stop]\npackets = 160_000\nreplications = 8\nwarm_up = \"none\"\n";
    let result = same_bytes(&MIXED, rest);
    assert!(result.contains(r#""engine":"accelerated""#) && result.contains(r#""engine":"plain""#));
    assert!(result.contains(r#""replications":8"#) && result.contains(r#""distributions":[{"#));
}

#[test]
fn with_a_detected_warm_up() {
    let rest = "[workload]\nload = 0.9\n[stop]\npackets = 400_000\nreplications = 4\nwarm_up = \"mser\"\n";
    assert!(same_bytes(&MIXED, rest).contains("MSER-5"));
}

#[test]
fn stopped_at_a_precision() {
    let rest = "[workload]\nload = 0.6\n[stop]\npackets = 6_000_000\nreplications = 8\nprecision = \"4%\"\n";
    let result = same_bytes(&["sf", "hrrn"], rest);
    assert!(result.contains(r#""met":true"#));
}

#[test]
fn whole_messages_and_the_fluid_limit() {
    let rest = "[workload]\nload = 0.7\nlengths = { exponential = \"2000B\" }\nflows = 3\n\
                [service]\nrate = \"1Gbit\"\n[stop]\nmessages = 40_000\nreplications = 8\n";
    let result = same_bytes(&["fifo", "ps", "sf", "las:quantum=1000", "hrrn"], rest);
    assert!(result.contains(r#""engine":"fluid""#) && result.contains(r#""engine":"whole""#));
}

#[test]
fn a_closed_loop() {
    let rest = "[workload.closed]\napplications = 5\nthink = { exponential = \"20u\" }\n\
                [stop]\npackets = 80_000\nreplications = 8\n";
    same_bytes(&["fifo", "rr", "alpha:3"], rest);
}

#[test]
fn another_seed_gives_other_numbers() {
    let rest = "[workload]\nload = 0.8\n[stop]\npackets = 20_000\n";
    let of = |seed: u64| {
        let scenario = scenario(&["fifo"], rest).with_seed(seed).expect("the same scenario");
        serde_json::to_string(&outcome(&scenario, 1).estimates).expect("numbers and text")
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}
