//! A scenario that names a discipline of this crate: run, compared, refused.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use weir_sim::{Control, Scenario, run};

fn result(threads: usize, discipline: &str) -> Result<Value, String> {
    own_crate::add().map_err(|error| error.to_string())?;
    let text = include_str!("../counter.toml").replace("\"lottery\"", &format!("\"{discipline}\""));
    let scenario =
        Scenario::from_toml(&text, "counter.toml", Path::new("")).map_err(|error| error.to_string())?;
    let (threads, cancel) = (NonZeroUsize::new(threads).expect("positive"), AtomicBool::new(false));
    let mut control = Control { threads, cancel: &cancel, progress: &mut |_| (), records: None };
    let outcome = run(&scenario, &mut control).map_err(|error| error.to_string())?;
    serde_json::to_value(&outcome).map_err(|error| error.to_string())
}

fn rows<'a>(result: &'a Value, section: &str, discipline: &str) -> Vec<&'a Value> {
    let all = result[section].as_array().expect("a list");
    all.iter().filter(|row| row["discipline"] == discipline).collect()
}

#[test]
fn a_scenario_runs_it_and_compares_it() {
    let one = result(1, "lottery").expect("runs");
    assert_eq!(one["disciplines"], serde_json::json!(["fifo", "lottery", "sjf"]));
    assert!(!rows(&one, "estimates", "lottery").is_empty());
    assert!(!rows(&one, "differences", "lottery").is_empty());
    let checks = one["checks"].as_array().expect("a list");
    assert!(checks.iter().all(|check| check["ok"] != false), "{checks:?}");
    assert_eq!(one, result(2, "lottery").expect("runs"), "the same by two threads");
}

#[test]
fn its_mean_is_that_of_any_order_that_looks_at_no_size() {
    // The mean wait of M/G/1 is the same under every order that does not depend on sizes and interrupts nobody (Kleinrock 1965).
    let result = result(2, "lottery").expect("runs");
    let mean = |discipline: &str| {
        let rows = rows(&result, "estimates", discipline);
        let is_it =
            |row: &&&Value| row["class"] == "all" && row["metric"] == "wait" && row["statistic"] == "mean";
        let row = rows.iter().find(is_it).expect("a mean wait");
        (row["value"].as_f64().expect("a number"), row["low"].as_f64().expect("a number"))
    };
    let (fifo, low) = mean("fifo");
    let (lottery, _) = mean("lottery");
    assert!((lottery - fifo).abs() < 2.0 * (fifo - low), "{lottery} against {fifo}");
    assert!(mean("sjf").0 < low);
}

#[test]
fn a_wrong_argument_is_refused_by_its_name() {
    let refused = result(1, "lottery:seed=x").expect_err("no number");
    assert!(refused.contains("seed") && refused.contains("`x`"), "{refused}");
}
