//! Section 9 of the report: no message submitted more than `alpha (l - l')` later slows one of length `l`.

use super::script::{Given, drawn, open, outcome, packets, scenario};
use weir_core::units::Nanos;
use weir_sim::port::audit::{Audited, SlopAudit};
use weir_sim::port::build::metrics;
use weir_sim::port::collector::{Collector, Plan};
use weir_sim::port::lane::{Lane, Verified};
use weir_sim::port::plain::Plain;

#[test]
fn alpha_keeps_its_bound() {
    let disciplines = ["fifo", "alpha:0.3", "alpha:1", "alpha:3", "alpha:10", "alpha:30", "alpha:100"];
    let rest = "[workload]\nload = 0.95\n[stop]\npackets = 200_000\n[measure]\nverify = true\n";
    let result = outcome(&scenario(&disciplines, rest), 2);
    let slop: Vec<_> = result.checks.iter().filter(|check| check.check == "slop").collect();
    assert_eq!(slop.len(), disciplines.len());
    for check in slop {
        assert!(check.ok == Some(true) && check.measured == 0.0, "{check:?}");
        // Under FIFO no message is ever served while an earlier one waits.
        let pairs = check.note.split_whitespace().rev().nth(1).expect("pairs are counted");
        let fewest = if check.discipline.as_deref() == Some("fifo") { 0 } else { 10_000 };
        assert!(pairs.parse::<u64>().expect("a number") >= fewest, "{check:?}");
    }
}

#[test]
fn only_alpha_has_a_bound_to_keep() {
    let rest = "[workload]\nload = 0.9\n[stop]\npackets = 10_000\n[measure]\nverify = true\n";
    let result = outcome(&scenario(&["sf", "rr", "alpha:5,update=recalculate", "psjf"], rest), 1);
    assert!(result.checks.iter().all(|check| check.check != "slop"));
}

/// Pairs compared and violations of the bound of `audited`, where alpha is `used`.
fn audit(used: u32, audited: u32) -> Audited {
    // More than the server can do: long messages wait, and short ones keep coming.
    let length = |number| if number % 6 == 0 { 12 } else { 2 };
    let messages: Vec<Given> = (0..1_000).map(|number| (number * 25, length(number), 0)).collect();
    let scenario = scenario(&["fifo"], "[workload]\nload = 0.5\n");
    let metrics = metrics(scenario.port().expect("a port"));
    let plan = Plan::means(metrics, 1);
    let engine = Plain::new(packets(&format!("alpha:{used}")), open(&messages), drawn(&[10]), Nanos::new(0));
    let mut lane =
        Verified::new(engine, Collector::new(plan, false), SlopAudit::new(u64::from(audited) << 16));
    lane.advance(u64::MAX);
    lane.audited().expect("it is audited")
}

#[test]
fn a_larger_alpha_than_audited_is_found_out() {
    for alpha in [1, 4, 10] {
        let Audited { compared, violated } = audit(alpha, alpha);
        assert!(compared > 900 && violated == 0, "alpha {alpha}: {violated} of {compared}");
    }
    assert!(audit(10, 1).violated > 100);
    assert!(audit(10, 5).violated > 0);
    assert!(audit(1, 0).violated > 0);
    assert_eq!(audit(1, 10).violated, 0);
}
