//! Cells of a sweep: what was kept of replications makes the result of a run, to the last byte.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use weir_sim::cell::NUMBERS;
use weir_sim::{Cell, Control, RunError, Scenario, ScenarioError, run};

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The scenarios of every model that are held byte for byte elsewhere, each with its name.
fn scenarios() -> Vec<(String, Scenario)> {
    let mut all = Vec::new();
    for model in weir_sim::NAMES {
        let path = root().join(format!("tests/frozen/scenarios/{model}.txt"));
        let text = std::fs::read_to_string(path).expect("the frozen scenarios");
        for block in text.split("\n==== ") {
            let Some((title, text)) = block.trim_start_matches("==== ").split_once('\n') else { continue };
            let file = Path::new(title.split(' ').next().expect("a word"));
            let folder = root().join(file.parent().expect("a folder"));
            // Some name files that only their own tests write.
            if let Ok(scenario) = Scenario::from_toml(text, &file.display().to_string(), &folder) {
                all.push((title.to_owned(), scenario));
            }
        }
    }
    all
}

fn played(cell: &Cell, replication: u32) -> Result<(u32, Vec<u8>), RunError> {
    let state = cell.play(replication, &AtomicBool::new(false))?;
    Ok((replication, state.expect("nobody breaks it off")))
}

/// The result of kept replications, as JSON.
fn gathered(cell: &Cell, kept: Vec<(u32, Vec<u8>)>) -> Result<String, RunError> {
    let outcome = cell.gather(&mut kept.into_iter())?;
    Ok(serde_json::to_string(&outcome).expect("JSON"))
}

fn ran(scenario: &Scenario) -> Result<String, RunError> {
    let cancel = AtomicBool::new(false);
    let mut control =
        Control { threads: NonZeroUsize::MIN, cancel: &cancel, progress: &mut |_| (), records: None };
    Ok(serde_json::to_string(&run(scenario, &mut control)?).expect("JSON"))
}

/// Plays the cell of a scenario replication by replication, in reverse.
fn by_cell(cell: &Cell) -> Result<String, RunError> {
    let kept: Result<Vec<_>, _> = (0..cell.replications()).rev().map(|at| played(cell, at)).collect();
    let mut kept = kept?;
    kept.reverse();
    gathered(cell, kept)
}

fn cell(scenario: &Scenario, replications: Option<u32>) -> Result<Cell, ScenarioError> {
    Cell::new(scenario.clone(), replications)
}

#[test]
fn a_result_of_what_was_kept_is_that_of_a_run() {
    let scenarios = scenarios();
    assert!(scenarios.len() > 350, "{}", scenarios.len());
    let mut same = 0;
    for (name, scenario) in &scenarios {
        let Ok(cell) = cell(scenario, None) else { continue };
        let (kept, whole) = (by_cell(&cell), ran(cell.scenario()));
        // Of several that cannot be played another may be met first.
        let same_failure = kept.is_err() && whole.is_err();
        assert!(kept == whole || same_failure, "{name}\n{kept:?}\n{whole:?}");
        same += usize::from(whole.is_ok());
    }
    assert!(same > 300, "{same}");
}

#[test]
fn more_replications_extend_what_was_kept() {
    for model in weir_sim::NAMES {
        let named = |(_, scenario): &(String, Scenario)| scenario.name() == *model;
        let mut tried = 0;
        for (name, scenario) in scenarios().into_iter().filter(named) {
            let (Ok(few), Ok(more)) = (cell(&scenario, None), cell(&scenario, Some(23))) else { continue };
            assert_eq!(few.key(), more.key(), "{name}");
            if more.replications() != 23 || few.replications() > 3 || tried == 6 {
                continue;
            }
            let Ok(mut kept) =
                (0..few.replications()).map(|at| played(&few, at)).collect::<Result<Vec<_>, _>>()
            else {
                continue;
            };
            let rest = (few.replications()..23).map(|at| played(&more, at).expect("a replication"));
            kept.extend(rest);
            assert_eq!(gathered(&more, kept).ok(), ran(more.scenario()).ok(), "{name}");
            // And the text of the scenario with that number reads as the same cell.
            let text = &more.scenario().frame().scenario;
            let folder =
                root().join(Path::new(name.split(' ').next().expect("a word")).parent().expect("one"));
            let again = Scenario::from_toml(text, "s.toml", &folder).expect("a scenario");
            assert_eq!(cell(&again, None).expect("a cell").key(), more.key(), "{name}");
            tried += 1;
        }
        assert!(tried > 0, "{model}");
    }
}

const SHORT: &str = "weir = 1\nmodel = \"port\"\ndisciplines = [\"fifo\", \"sf\"]\n[workload]\nload = 0.8\n\
                     [stop]\npackets = 3000\nreplications = 3\n";

fn short(text: &str) -> Scenario {
    Scenario::from_toml(text, "s.toml", Path::new("")).unwrap_or_else(|refused| panic!("{refused}"))
}

#[test]
fn the_key_is_of_what_a_replication_depends_on() {
    let key = |text: &str| cell(&short(text), None).expect("a cell").key().clone();
    let same = |from: &str, to: &str| key(&SHORT.replace(from, to)) == key(SHORT);
    assert!(same("packets = 3000\nreplications = 3", "packets = 5000\nreplications = 5"));
    assert!(same("replications = 3", "replications = 3\nprecision = \"1%\""));
    let needs = "replications = 3\n[[need]]\nmetric = \"latency\"\nbound = \"20u\"";
    assert!(same("replications = 3", needs), "needs judge numbers and change none");
    assert_ne!(
        short(SHORT).frame().fingerprint,
        short(&SHORT.replace("replications = 3", needs)).frame().fingerprint
    );
    assert!(!same("packets = 3000", "packets = 6000"));
    assert!(!same("load = 0.8", "load = 0.9"));
    assert!(!same("weir = 1", "weir = 1\nseed = 7"));
    assert_eq!(key(&SHORT.replace("weir = 1", "weir = 1\nseed = 7")).content, key(SHORT).content);
}

#[test]
fn runs_as_long_as_it_takes_are_no_cells() {
    let settling = SHORT.replace("replications = 3", "settle = true");
    let refused = cell(&short(&settling), None).expect_err("refused");
    assert_eq!(refused.key.as_deref(), Some("stop.settle"));
}

#[test]
fn what_is_kept_of_another_scenario_is_refused() {
    let own = cell(&short(SHORT), None).expect("a cell");
    let other = cell(&short(&SHORT.replace(", \"sf\"", "")), None).expect("a cell");
    let state = played(&own, 0).expect("a state").1;
    let stranger =
        |cell: &Cell, number, state: &[u8]| gathered(cell, vec![(number, state.to_vec())]).is_err();
    assert!(stranger(&other, 0, &state) && stranger(&own, 3, &state));
    // Cut anywhere it is refused, and changed anywhere it is refused or read.
    assert!((0..state.len()).step_by(7).all(|at| stranger(&own, 0, &state[..at])));
    for at in (0..state.len()).step_by(11) {
        let mut changed = state.clone();
        changed[at] ^= 0x55;
        let _ = gathered(&own, vec![(0, changed)]);
    }
}

#[test]
fn an_unstable_cell_plays_nothing_and_says_why() {
    let unstable = cell(&short(&SHORT.replace("load = 0.8", "load = 1.5")), None).expect("a cell");
    assert_eq!(unstable.replications(), 0);
    assert!(gathered(&unstable, Vec::new()).expect("a result").contains("not below 1"));
}

/// A value-breaking change has a line in the changelog, and raises the version of the numbers.
#[test]
fn the_version_of_the_numbers_counts_what_the_changelog_lists() {
    let text = std::fs::read_to_string(root().join("CHANGELOG.md")).expect("the changelog");
    let mut listed = 0;
    let mut inside = false;
    for line in text.lines() {
        inside = if line.starts_with('#') { line.contains("Value-breaking") } else { inside };
        listed += u32::from(inside && line.starts_with("- "));
    }
    assert_eq!(NUMBERS, listed, "a line under Value-breaking raises `weir_sim::cell::NUMBERS`");
}
