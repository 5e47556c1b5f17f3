//! Latencies are kept under the scheduler that the target has, or the class is refused.

use super::common::asked;
use weir_plan::{Form, Plan, Scheduler, plan};

/// With its latency and its target.
fn planned(latency: &str, target: &str) -> Plan {
    plan(&asked(&format!(
        r#"
weir = 1
[table]
entries = 16
mtu = "2048B"
k = 2
w = 4
[link]
rate = "10Gbit"
coding = "8b/10b"
[[class]]
name = "control"
share = "5%"
latency = "{latency}"
[[class]]
name = "storage"
share = "50%"
[[class]]
name = "rest"
share = "30%"
{target}
"#
    )))
}

#[test]
fn a_distance_is_that_of_the_target() {
    let of = |target: &str| {
        let plan = planned("35us", target);
        let control = &plan.classes[0];
        (plan.scheduler, control.distance, control.bounds)
    };
    let (scheduler, distance, bounds) = of("");
    assert_eq!((scheduler, distance), (Scheduler::DeficitTable, 8));
    assert!(bounds.deficit_table.latency.get() <= 35_000 && bounds.weighted_table.latency.get() > 35_000);
    let (scheduler, distance, bounds) = of("[target]\nform = \"opensm\"");
    assert_eq!((scheduler, distance), (Scheduler::WeightedTable, 4));
    assert!(bounds.weighted_table.latency.get() <= 35_000);
}

#[test]
fn what_the_target_cannot_keep_is_refused() {
    for form in Form::ALL {
        let plan = planned("20us", &format!("[target]\nform = \"{form}\""));
        assert_eq!(plan.scheduler, form.scheduler());
        for class in &plan.classes {
            let bound = form.scheduler().of(&class.bounds).latency;
            assert!(class.requested.latency.is_none_or(|asked| bound <= asked), "{form}");
        }
        let is_refused = plan.refused.iter().any(|class| class.name == "control");
        let is_kept = plan.classes.iter().any(|class| class.name == "control");
        assert!(is_refused != is_kept, "{form} {:?}", plan.refused);
    }
    let plan = planned("20us", "[target]\nform = \"tc-drr\"");
    let told = &plan.refused[0];
    assert!(told.reason.contains("deficit round robin bounds it by "), "{}", told.reason);
    assert!(told.nearest[0].latency.get() > 20_000);
}
