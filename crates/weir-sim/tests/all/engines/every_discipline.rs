//! Every discipline and wrapper of the registry, in both modes of the port.

use super::script::{all_checks_hold, mean, outcome, scenario};
use weir_core::registry::{MESSAGE, WRAPPER, info};
use weir_core::spec::Spec;
use weir_sim::Outcome;

/// The examples of the registry.
fn examples() -> Vec<String> {
    MESSAGE.iter().chain(WRAPPER).map(|info| info.example.to_owned()).collect()
}

/// The examples where costs are nanoseconds: turns of 0.1 ms instead of one nanosecond.
fn in_nanoseconds() -> Vec<String> {
    let has_turns = |spec: &Spec| {
        info(&spec.name).is_ok_and(|info| info.parameters.iter().any(|parameter| parameter.name == "quantum"))
    };
    let with_turns = |example: String| {
        let spec: Spec = example.parse().expect("an example");
        if has_turns(&spec) { format!("{}:quantum=100000", spec.name) } else { example }
    };
    examples().into_iter().map(with_turns).collect()
}

fn run(examples: &[String], rest: &str) -> Outcome {
    let names: Vec<&str> = examples.iter().map(String::as_str).collect();
    outcome(&scenario(&names, rest), 2)
}

/// Every figure is a finite number or says why it is none; nothing is negative.
fn finite(outcome: &Outcome) {
    for figure in &outcome.estimates {
        match figure.value {
            Some(value) => assert!(value.is_finite() && value >= 0.0, "{figure:?}"),
            None => assert!(figure.reason.is_some(), "{figure:?}"),
        }
    }
    let json = serde_json::to_string(outcome).expect("numbers and text");
    assert!(!json.contains("NaN") && !json.contains("inf,"));
}

#[test]
fn by_packets() {
    let examples = examples();
    let result = run(&examples, "[workload]\nload = 0.85\nflows = 3\n[stop]\npackets = 300_000\n");
    finite(&result);
    all_checks_hold(&result);
    let conserved =
        |check: &&weir_lab::result::Check| check.check == "work conservation" && check.expected > 0.0;
    assert_eq!(result.checks.iter().filter(conserved).count(), examples.len() - 1);
    for name in &result.disciplines {
        let latency = mean(&result, name, "latency").expect("a mean");
        assert!(latency > 5.0 && latency < 60.0, "{name}: {latency}");
    }
}

#[test]
fn by_whole_messages() {
    let rest = "[workload]\nload = 0.7\nlengths = { uniform = [\"100B\", \"3000B\"] }\nflows = 3\n\
                [service]\nrate = \"8Mbit\"\n[stop]\nmessages = 100_000\n";
    let result = run(&in_nanoseconds(), rest);
    finite(&result);
    all_checks_hold(&result);
    for name in &result.disciplines {
        let (response, wait) = (mean(&result, name, "response"), mean(&result, name, "wait"));
        let service = response.expect("a mean") - wait.expect("a mean");
        assert!((service / 1550e-6 - 1.0).abs() < 0.03, "{name}: a mean service of {service} s");
        assert!(mean(&result, name, "slowdown").is_some_and(|slowdown| slowdown > 1.5), "{name}");
    }
}

#[test]
fn by_whole_messages_without_preemption() {
    let rest = "[workload]\nload = 0.6\nlengths = { constant = \"1000B\" }\n\
                [service]\nrate = \"8Mbit\"\npreemption = false\n[stop]\nmessages = 10_000\n";
    let blind: Vec<String> =
        ["fifo", "sf", "psjf", "sjf", "hrrn", "alpha:10", "in_order(sf)"].map(str::to_owned).into();
    let result = run(&blind, rest);
    all_checks_hold(&result);
    // Messages of one length: all of these serve them in the order of arrival.
    let first = mean(&result, "fifo", "response");
    for name in &result.disciplines {
        assert_eq!(mean(&result, name, "response"), first, "{name}");
    }
}

#[test]
fn by_whole_messages_under_processor_sharing_itself() {
    let rest = "[workload]\nload = 0.7\nlengths = { uniform = [\"100B\", \"3000B\"] }\n\
                [service]\nrate = \"8Mbit\"\n[stop]\nmessages = 100_000\n";
    let result = run(&["ps".to_owned(), "ps:10000".to_owned()], rest);
    all_checks_hold(&result);
    assert_eq!(result.engines.iter().map(|used| used.engine).collect::<Vec<_>>(), ["fluid", "whole"]);
    let [limit, turns] = ["ps", "ps:10000"].map(|name| mean(&result, name, "response").expect("a mean"));
    assert!((turns / limit - 1.0).abs() < 0.01, "{turns} against {limit}");
}
