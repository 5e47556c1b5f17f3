//! What the framework gives the bus stop.

use std::num::NonZeroUsize;

use new_model::{BusStop, outcome};
use serde_json::Value;
use weir_lab::scenario::testing::Texts;

const SCENARIO: &str = include_str!("../bus-stop.toml");
const TEXTS: Texts<BusStop> = Texts::new(&[]);

fn result(text: &str, threads: usize) -> String {
    let threads = NonZeroUsize::new(threads).expect("some");
    let outcome = outcome(&TEXTS.read(text).expect("a scenario"), threads).expect("a result");
    serde_json::to_string(&outcome).expect("JSON")
}

fn document(text: &str) -> Value {
    serde_json::from_str(&result(text, 2)).expect("JSON")
}

/// Value, low and high of a row.
fn row(document: &Value, section: &str, about: [(&str, &str); 4]) -> [f64; 3] {
    let is_it = |row: &&Value| about.iter().all(|&(key, value)| row[key] == value);
    let row = document[section].as_array().and_then(|rows| rows.iter().find(is_it)).expect("a row");
    ["value", "low", "high"].map(|key| row[key].as_f64().expect("a number"))
}

fn wait<'a>(discipline: &'a str, name: &'a str, statistic: &'a str) -> [(&'a str, &'a str); 4] {
    [("discipline", discipline), ("name", name), ("metric", "wait"), ("statistic", statistic)]
}

#[test]
fn refusals_have_line_and_column() {
    let refusal = |from: &str, to: &str| TEXTS.read(&SCENARIO.replace(from, to)).expect_err("refused");
    let told = [
        refusal("seats = 30", "seats = 0"),
        refusal("\"sf\"", "\"sff\""),
        refusal("seats", "seat"),
        refusal("\"86400s\"", "\"9s\""),
    ];
    let expected = [
        "s.toml:7:9: seats is 0, must be from 1 to 10000000: raise it",
        "s.toml:4:24: disciplines is \"sff\", not a discipline of messages: did you mean `sf`?",
        "s.toml:7:1: seat is not a key",
        "s.toml:10:12: duration is \"9s\", must let a bus come, every 600s, and at most 10000000",
    ];
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}");
    }
}

#[test]
fn no_thread_shows_and_nobody_is_lost() {
    let one = result(SCENARIO, 1);
    assert_eq!([2, 8].map(|threads| result(SCENARIO, threads)), [one.clone(), one.clone()]);
    let document: Value = serde_json::from_str(&one).expect("JSON");
    let checks = document["checks"].as_array().expect("checks");
    assert_eq!(checks.len(), 2);
    for check in checks {
        assert_eq!((&check["check"], &check["ok"]), (&Value::from("conservation"), &Value::from(true)));
        assert!(check["expected"].as_f64() > Some(50_000.0), "{check}");
    }
    let other = TEXTS.read(&format!("{SCENARIO}seed = 2")).expect("read");
    assert!(other.frame.fingerprint != document["fingerprint"]);
}

#[test]
fn with_seats_for_all_the_mean_wait_is_half_the_time_between_buses() {
    let text = SCENARIO.replace("seats = 30", "seats = 1000").replace("\"600s\"", "\"10s\"");
    let document = document(&text.replace("\"25s\"", "\"1s\""));
    for discipline in ["fifo", "sf"] {
        let [_, low, high] = row(&document, "estimates", wait(discipline, "all", "mean"));
        assert!(low < 5.0 && 5.0 < high && high - low < 0.1, "{low} {high}");
        assert!(row(&document, "estimates", wait(discipline, "all", "p99"))[0] < 10.0);
    }
    assert_eq!(row(&document, "differences", wait("sf", "all", "mean")), [0.0; 3]);
}

#[test]
fn shortest_first_favours_short_trips_at_the_cost_of_long_ones() {
    let document = document(SCENARIO);
    let [_, _, short] = row(&document, "differences", wait("sf", "short", "mean"));
    let [_, long, _] = row(&document, "differences", wait("sf", "long", "mean"));
    assert!(short < 0.0 && 0.0 < long, "{short} {long}");
}

#[test]
fn more_passengers_than_seats_are_no_steady_state() {
    let document = document(&SCENARIO.replace("seats = 30", "seats = 24"));
    assert!(document["unstable"].as_str().is_some_and(|why| why.starts_with("there are 1.000 passengers")));
}
